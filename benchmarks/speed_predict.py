"""`headwise predict` from a csv file to a csv file, and what else people use, on the same file.

Imports, training and loading are not timed, except that headwise loads its model. Run with a folder of a
model, a file and an output, this is the process that `headwise predict` is timed in.
"""

import csv
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headwise.bench import which_clock
from speed_table import Result, Row
from speed_texts import DOMAINS, missing_data, read_domain

TEXTS, TEXTS_QUICK = 100_000, 4_000
TRAINING = 2_000  # texts that everything learns from; speed depends on them through the vocabulary alone
SLOW, SLOW_QUICK = 2_000, 100  # texts for what reads fewer than some hundreds in a second
CHUNK = 1024
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
PAPER = {"encoder.width": 300, "encoder.layers": 3, "encoder.heads": 10, "encoder.head-size": 30}
MODELS = {  # name -> flags of `headwise train`
    "headwise (default)": {},
    "headwise (the paper's sizes)": {**PAPER, "words.vector-size": 300, "readout": "node+max"},
}

Labels = Callable[[Sequence[str]], Sequence[str]]  # texts -> their labels


def run(*, quick: bool, minilm: str, folder: Path) -> Result | str:
    """Texts in a second of everything that is installed; or why not.

    Args:
        quick: Fewer texts.
        minilm: Name or folder of the MiniLM model.
        folder: Where models and files are kept.
    """
    if (reason := missing_data()) is not None:
        return reason
    folder.mkdir(parents=True, exist_ok=True)
    train, test = (
        [example for domain in DOMAINS for example in read_domain(domain, part)]
        for part in ("train", "test")
    )
    texts = TEXTS_QUICK if quick else TEXTS
    learn, source = folder / "learn.csv", folder / f"texts-{texts}.csv"
    step = len(train) / TRAINING
    learnt = [train[int(place * step)] for place in range(TRAINING)]
    write_csv(learn, [(example.text, example.label or "") for example in learnt])
    everything = [*test, *train]
    if quick:  # evenly from all domains
        everything = everything[:: len(everything) // texts]
    write_csv(source, [(e.text, e.label or "") for e in islice(cycle(everything), texts)])

    speeds: dict[str, float] = {}
    shares: dict[str, dict[str, float]] = {}
    notes = [f"predict: {texts:,} MTL-16 texts, csv in and csv out"]
    for name, options in MODELS.items():
        found = time_headwise(name, options, learn, source, folder)
        speeds[name], shares[name] = texts / found["seconds"], found
        _tell(name, speeds[name])
    fewer = SLOW_QUICK if quick else SLOW
    for name, (module, make, most) in {
        "TF-IDF + linear SVM": ("sklearn", tfidf, texts),
        "fastText": ("fasttext", fasttext, texts),
        "spaCy textcat, bag of words": ("spacy", spacy_bow, min(texts, 10 * fewer)),
        "spaCy textcat, CNN": ("spacy", spacy_cnn, min(texts, 5 * fewer)),
        "MiniLM + logistic regression": (
            "sentence_transformers",
            lambda learnt: sentence_vectors(learnt, minilm),
            min(texts, fewer),
        ),
    }.items():
        if importlib.util.find_spec(module) is None:
            notes.append(f"{name} is absent: the package {module} is not installed")
            continue
        try:
            labels = make(read_csv(learn))
        except Exception as error:  # whatever a rival may raise: a model that is not there, another API
            notes.append(f"{name} is absent: {type(error).__name__}: {str(error).splitlines()[0][:120]}")
            continue
        speeds[name] = most / time_rival(labels, source, folder / "rival.csv", most)
        if most < texts:
            notes.append(f"{name} reads the first {most:,} texts only")
        _tell(name, speeds[name])
    return Result(rows(speeds, shares), {"texts_per_second": speeds, "headwise": shares}, notes)


def _tell(name: str, speed: float) -> None:
    print(f"  {name}: {speed:,.0f} texts/s", file=sys.stderr, flush=True)


def rows(speeds: dict[str, float], shares: dict[str, dict[str, float]]) -> list[Row]:
    """Ratios first, then texts in a second."""
    first, *_ = MODELS
    found = []
    for name, speed in speeds.items():
        if name not in MODELS:
            bar = ">= 10" if name.startswith("MiniLM") else ""
            found.append(Row(f"predict, csv to csv: {first} / {name}, texts/s", speeds[first] / speed, bar))
    for name, own in shares.items():
        share = own["model"] / own["seconds"]
        found.append(Row(f"predict: the model's share of the time, {name}", share, ">= 0.5", ""))
    found += [Row(f"predict, csv to csv: {name}", speed, "", "texts/s") for name, speed in speeds.items()]
    return found


def write_csv(path: Path, rows: Sequence[tuple[str, str]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(rows)


def read_csv(path: Path) -> Iterator[tuple[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield row["text"], row["label"]


def time_rival(labels: Labels, source: Path, target: Path, texts: int) -> float:
    """Seconds to read texts from a csv file, to label them and to write them with their labels."""
    clock = which_clock()[1]
    begin = clock()
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "prediction"])
        stream = islice(read_csv(source), texts)
        while chunk := list(islice(stream, CHUNK)):
            found = labels([text for text, _ in chunk])
            writer.writerows((*row, label) for row, label in zip(chunk, found, strict=True))
    return clock() - begin


def time_headwise(
    name: str, options: dict[str, Any], learn: Path, source: Path, folder: Path
) -> dict[str, Any]:
    """Train a model for an epoch unless there is one, and label the file in a process of its own.

    Returns:
        Seconds in all, of the model, and of its encoder within it (with embedding and classifier).
    """
    model = folder / f"model-{list(MODELS).index(name)}"
    threads = str(torch.get_num_threads())
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "PASSIVE"}
    if not (model / "config.json").exists():
        command = [sys.executable, "-m", "headwise", "train", str(learn), "--output", str(model)]
        command += ["--epochs", "1", "--no-baseline", "--overwrite"]
        command += [f"--{flag}={value}" for flag, value in options.items()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"headwise train failed:\n{done.stderr}")
    command = [sys.executable, __file__, str(model), str(source), str(folder / "predicted.csv")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"headwise predict failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def predict_here(model: str, source: str, target: str) -> dict[str, float]:
    """`headwise predict` in this process, with a stopwatch on the model."""
    from headwise.cli import main
    from headwise.cli.predict_texts import Model  # with all that takes its time to import

    clock = which_clock()[1]
    seconds = {"model": 0.0, "encoder": 0.0}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            begin = clock()
            try:
                return function(*arguments, **named)
            finally:
                seconds[name] += clock() - begin

        return run

    Model.logits = timed("model", Model.logits)
    Model.forward = timed("encoder", Model.forward)
    began, clock_began = time.perf_counter(), clock()
    code = main(["predict", model, source, "--output", target, "--overwrite"])
    if code:
        sys.exit(code)
    return {"seconds": clock() - clock_began, "wall_seconds": time.perf_counter() - began, **seconds}


def tfidf(learnt: Iterator[tuple[str, str]]) -> Labels:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    texts, labels = zip(*learnt, strict=True)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, dtype=np.float32)  # pyright: ignore
    classifier = LinearSVC().fit(vectorizer.fit_transform(texts), labels)
    return lambda chunk: list(classifier.predict(vectorizer.transform(chunk)))


def fasttext(learnt: Iterator[tuple[str, str]]) -> Labels:
    import tempfile

    import fasttext as library  # pyright: ignore

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for text, name in learnt:
            file.write(f"__label__{name} {' '.join(text.split())}\n")
        file.flush()
        model = library.train_supervised(file.name, wordNgrams=2, epoch=5, verbose=0)

    def label(chunk: Sequence[str]) -> list[str]:
        found, _ = model.predict([" ".join(text.split()) for text in chunk])
        return [best[0].removeprefix("__label__") for best in found]

    return label


def spacy_bow(learnt: Iterator[tuple[str, str]]) -> Labels:
    return _spacy(
        learnt,
        {
            "@architectures": "spacy.TextCatBOW.v3",
            "exclusive_classes": True,
            "ngram_size": 2,
            "no_output_layer": False,
        },
    )


def spacy_cnn(learnt: Iterator[tuple[str, str]]) -> Labels:
    vectors = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 96,
        "depth": 4,
        "embed_size": 2000,
        "window_size": 1,
        "maxout_pieces": 3,
        "subword_features": True,
    }
    return _spacy(
        learnt,
        {
            "@architectures": "spacy.TextCatReduce.v1",
            "exclusive_classes": True,
            "use_reduce_first": False,
            "use_reduce_last": False,
            "use_reduce_max": False,
            "use_reduce_mean": True,
            "tok2vec": vectors,
        },
    )


def _spacy(learnt: Iterator[tuple[str, str]], model: dict[str, Any]) -> Labels:
    import spacy
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("textcat", config={"model": model})
    rows = list(islice(learnt, 200))
    names = sorted({label for _, label in rows})
    examples = [
        Example.from_dict(nlp.make_doc(text), {"cats": {name: float(name == label) for name in names}})
        for text, label in rows
    ]
    nlp.initialize(lambda: examples)
    return lambda chunk: [max(doc.cats, key=doc.cats.__getitem__) for doc in nlp.pipe(chunk)]


def sentence_vectors(learnt: Iterator[tuple[str, str]], name: str) -> Labels:
    """MiniLM reads the first 256 word pieces of a text, which is less than headwise does."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer
    from sklearn.linear_model import LogisticRegression

    model = SentenceTransformer(name, device="cpu")
    texts, labels = zip(*islice(learnt, 64), strict=True)
    classifier = LogisticRegression().fit(model.encode(list(texts)), labels)
    return lambda chunk: classifier.predict(model.encode(list(chunk), batch_size=32)).tolist()


if __name__ == "__main__":
    print(json.dumps(predict_here(*sys.argv[1:4])))
