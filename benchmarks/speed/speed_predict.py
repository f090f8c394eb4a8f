"""`headwise predict` from a csv file to a csv file, and what else people use, on the same file.

Imports and training are not timed, nor is loading, except that headwise loads its model and its kernels.
All take turns, round by round. The file is shuffled, so that what reads few texts in a second can read the
first part of it and be compared all the same. Run with a folder of a model, a file and an output, this is
the process that `headwise predict` is timed in.
"""

import csv
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import packages_distributions, version
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import ROOT
from benchmarks.common.timing import choose_clock
from benchmarks.speed.speed_table import Result, Row
from benchmarks.speed.speed_texts import DOMAINS, missing_data, read_domain

TEXTS, TEXTS_QUICK = 100_000, 4_000
TRAINING = 2_000  # texts that everything learns from; speed depends on them through the vocabulary alone
CHUNK = 1024
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
PAPER = {"encoder.width": 300, "encoder.layers": 3, "encoder.heads": 10, "encoder.head-size": 30}
ALONE = {
    "base": "none",
    "linear_model.kind": "none",
    "epochs": 1,
}  # its speed does not depend on how well it learns
THIS = ["-m", "benchmarks.speed.speed_predict"]
MODELS: dict[str, tuple[dict[str, Any], int]] = {
    # name -> flags of `headwise train`; it reads one of so many texts of the file
    "headwise, the linear model alone": ({"base.encoder": "off"}, 1),  # its own encoder gets no weight
    "headwise": ({}, 20),
    "headwise, an encoder alone": (ALONE, 5),
    "headwise, an encoder alone, the paper's sizes": (
        {**ALONE, **PAPER, "words.vector-size": 300, "readout": "node+max"},
        50,
    ),
}

Labels = Callable[[Sequence[str]], Sequence[str]]  # texts -> their labels
Rows = Iterator[tuple[str, str]]  # texts and their labels


def run(*, quick: bool, rounds: int, minilm: str, folder: Path) -> Result | str:
    """Texts in a second of everything that is installed; or why not.

    Args:
        quick: Fewer texts.
        rounds: Of which the median is taken.
        minilm: Name or folder of the MiniLM model.
        folder: Of models and files.
    """
    if (reason := missing_data()) is not None:
        return reason
    folder.mkdir(parents=True, exist_ok=True)
    texts = TEXTS_QUICK if quick else TEXTS
    learn = write_files(folder, texts)
    notes = [f"predict: {texts:,} MTL-16 texts, csv in and csv out"]
    systems, reads = {}, {}
    for name, (flags, part) in MODELS.items():
        reads[name] = texts // part
        systems[name] = headwise(name, flags, learn, first_texts(folder, texts, reads[name]))
    for name, (module, make, part) in rivals(minilm).items():
        if importlib.util.find_spec(module) is None:
            notes.append(f"{name} is absent: the package {module} is not installed")
            continue
        try:
            labels = make(read_csv(learn))
        except Exception as error:  # whatever a rival may raise: a model that is not there, another API
            notes.append(f"{name} is absent: {type(error).__name__}: {str(error).splitlines()[0][:120]}")
            continue
        reads[name] = texts // part
        systems[name] = rival(labels, first_texts(folder, texts, reads[name]), folder / "rival.csv")
        package = packages_distributions()[module][0]
        notes.append(f"{name}: {package} {version(package)}")
    notes += [f"{name} reads the first {n:,} texts" for name, n in reads.items() if n < texts]

    times: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, system in systems.items():
            times[name].append(system())
            print(f"  {name}: {reads[name] / times[name][-1]:,.0f} texts/s", file=sys.stderr, flush=True)
    speeds = {name: reads[name] / statistics.median(seconds) for name, seconds in times.items()}
    details = {"texts_per_second": speeds, "texts": reads, "rounds": times}
    return Result(rows(speeds), details, notes)


def rivals(minilm: str) -> dict[str, tuple[str, Callable[[Rows], Labels], int]]:
    """The module that each needs, how it is made from labelled texts, and that it reads one of so many
    texts of the file."""
    return {
        "TF-IDF + linear SVM": ("sklearn", tfidf, 5),
        "fastText": ("fasttext", fasttext, 2),
        "spaCy textcat, bag of words": ("spacy", spacy_bow, 10),
        "spaCy textcat, CNN": ("spacy", spacy_cnn, 50),
        "MiniLM + logistic regression": (
            "sentence_transformers",
            lambda learnt: sentence_vectors(learnt, minilm),
            400,
        ),
    }


def write_files(folder: Path, texts: int) -> Path:
    """Write the file to predict, shuffled, and the one to learn from, whose path is returned."""
    train, test = (
        [example for domain in DOMAINS for example in read_domain(domain, part)]
        for part in ("train", "test")
    )
    step = len(train) / TRAINING
    learnt = [train[int(place * step)] for place in range(TRAINING)]
    write_csv(folder / "learn.csv", [(example.text, example.label or "") for example in learnt])
    everything = [*test, *train]
    random.Random(0).shuffle(everything)
    chosen = islice(cycle(everything), texts)
    write_csv(folder / f"texts-{texts}.csv", [(example.text, example.label or "") for example in chosen])
    return folder / "learn.csv"


def first_texts(folder: Path, texts: int, count: int) -> Path:
    """A file with the first texts of the one to predict."""
    path = folder / f"texts-{count}.csv"
    if count < texts:
        write_csv(path, list(islice(read_csv(folder / f"texts-{texts}.csv"), count)))
    return path


def rows(speeds: dict[str, float]) -> list[Row]:
    """Ratios first, then texts in a second."""
    first, *_ = MODELS
    result = []
    for name, speed in speeds.items():
        if name not in MODELS:
            bar = ">= 10" if name.startswith("MiniLM") else ""
            result.append(
                Row(f"predict, csv to csv: {first} / {name}, texts/s", speeds[first] / speed, bar)
            )
    result += [Row(f"predict, csv to csv: {name}", speed, "", "texts/s") for name, speed in speeds.items()]
    return result


def write_csv(path: Path, rows: Sequence[tuple[str, str]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows(rows)


def read_csv(path: Path) -> Rows:
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield row["text"], row["label"]


def rival(labels: Labels, source: Path, target: Path) -> Callable[[], float]:
    """A function that reads texts from a csv file, labels them, writes them with their labels, and returns
    the seconds."""

    def run() -> float:
        clock = choose_clock()[1]
        begin = clock()
        with open(target, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label", "prediction"])
            stream = read_csv(source)
            while chunk := list(islice(stream, CHUNK)):
                predictions = labels([text for text, _ in chunk])
                writer.writerows((*row, label) for row, label in zip(chunk, predictions, strict=True))
        return clock() - begin

    return run


def headwise(name: str, flags: dict[str, Any], learn: Path, source: Path) -> Callable[[], float]:
    """Train a model; a function that labels the file in a process of its own and returns the seconds."""
    folder = learn.parent
    model = folder / f"model-{list(MODELS).index(name)}"
    threads = str(torch.get_num_threads())
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "PASSIVE"}

    def last_line(command: list[str]) -> str:
        done = subprocess.run(
            [sys.executable, *command],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
        return done.stdout.splitlines()[-1] if done.stdout else ""

    model_flags = [f"--{flag}={value}" for flag, value in flags.items()]
    settings = ["--no-baseline", "--overwrite", *model_flags]
    last_line(["-m", "headwise", "train", str(learn), "--output", str(model), *settings])
    return lambda: json.loads(last_line([*THIS, str(model), str(source), str(folder / "predicted.csv")]))


def predict_here(model: str, source: str, target: str) -> float:
    """`headwise predict` in this process; returns its seconds."""
    from headwise.app.cli import main

    clock = choose_clock()[1]
    began = clock()
    code = main(["predict", model, source, "--output", target, "--overwrite"])
    if code:
        sys.exit(code)
    return clock() - began


def tfidf(learnt: Rows) -> Labels:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    texts, labels = zip(*learnt, strict=True)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, dtype=np.float32)
    classifier = LinearSVC().fit(vectorizer.fit_transform(texts), labels)
    return lambda chunk: list(classifier.predict(vectorizer.transform(chunk)))


def fasttext(learnt: Rows) -> Labels:
    import tempfile

    import fasttext as library

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        for text, name in learnt:
            file.write(f"__label__{name} {' '.join(text.split())}\n")
        file.flush()
        model = library.train_supervised(file.name, wordNgrams=2, epoch=5, verbose=0)

    def label(chunk: Sequence[str]) -> list[str]:
        predictions, _ = model.predict([" ".join(text.split()) for text in chunk])
        return [best[0].removeprefix("__label__") for best in predictions]

    return label


def spacy_bow(learnt: Rows) -> Labels:
    return _spacy(
        learnt,
        {
            "@architectures": "spacy.TextCatBOW.v3",
            "exclusive_classes": True,
            "ngram_size": 2,
            "no_output_layer": False,
        },
    )


def spacy_cnn(learnt: Rows) -> Labels:
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


def _spacy(learnt: Rows, model: dict[str, Any]) -> Labels:
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


def sentence_vectors(learnt: Rows, name: str) -> Labels:
    """MiniLM reads the first 256 word pieces of a text, which is less than headwise does."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    from sentence_transformers import SentenceTransformer
    from sklearn.linear_model import LogisticRegression

    model = SentenceTransformer(name, device="cpu")
    texts, labels = zip(*islice(learnt, 64), strict=True)
    classifier = LogisticRegression().fit(model.encode(list(texts)), labels)
    return lambda chunk: classifier.predict(model.encode(list(chunk), batch_size=32)).tolist()


if __name__ == "__main__":
    print(json.dumps(predict_here(*sys.argv[1:4])))
