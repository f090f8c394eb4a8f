"""Encoders that have read reviews without labels before they see one: the task `masked-words`.

    python -m benchmarks.papers.reviews_encoder ms-transformer     # into build/reviews-ms-transformer
    python -m benchmarks.papers.accuracy --systems "ms-transformer + masked words" --seeds 1

The texts are the unlabelled ones of MTL-16 and IMDB (18 million words), without those that are dev or test
texts of a domain; with --more the training texts of both as well, each text once (26 million words), and
three epochs in place of two. The encoder is that of the recipe `mtl16-ENCODER`; the word vectors are those
of all systems and stay as they are. Interrupted, the same command goes on.
"""

import argparse
import os
import sys
from itertools import chain
from pathlib import Path

import torch

from benchmarks import DATA
from benchmarks.common.runs import listening, read_recipe, show_epochs
from benchmarks.papers import accuracy
from benchmarks.papers.reviews_base import reviews
from headwise.app.workflows.train import train_files
from headwise.core.allocator import keep_freed_memory
from headwise.core.folder_layout import MANIFEST, RUN_FOLDER, RUN_STATE
from headwise.core.tokenizer import PennTokenizer
from headwise.data.splits.duplicates import normal_text

VECTORS = "vectors/reviews_300d.txt.gz"
TRAIN = {
    "epochs": 2,
    "batch_texts": 64,
    "batch_tokens": 4_096,
    "learning_rate": 1e-3,
    "warmup": 0.03,
    "patience": 0,
    "score": "loss",
    "precision": "bfloat16",
}


def settings(encoder: str, *, more: bool = False) -> dict[str, dict]:
    """The sections of a training run."""
    return {
        "model": {"task": "masked-words"},
        "encoder": read_recipe(f"mtl16-{encoder}")["encoder"],
        "words": {"tokenizer": "whitespace", "dropout": 0.1, "word_dropout": 0.0, "train_vectors": False},
        "vectors": {"file": str(DATA / VECTORS), "extra_words": 48_000},
        "data": {"format": "text"},
        "split": {"test": 0.0},
        "train": TRAIN | ({"epochs": 3} if more else {}),
    }


def write_texts(path: Path, *, more: bool = False) -> None:
    """The texts, with spaces between words, a line each; with training texts each once."""
    bench, held, train = accuracy.Accuracy(), set[str](), list[str]()
    for task in (name for name in bench.paper if name.startswith("mtl16/")):
        parts = bench.load(task).parts
        held |= {normal_text(e.text) for e in (*parts.dev, *parts.test)}
        train += [e.text for e in parts.train]
    if more:
        train += [e.text for label in ("neg", "pos") for e in accuracy.read_imdb("train", label)]
    cut = PennTokenizer().words
    partial = path.with_suffix(".partial")
    with open(partial, "w", encoding="utf-8") as file:
        for text in chain(train if more else (), reviews()):
            spaced = " ".join(text.split())
            key = normal_text(spaced)
            if key not in held and (words := cut(spaced)):
                file.write(" ".join(words) + "\n")
            if more:
                held.add(key)
    os.replace(partial, path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("encoder", help="ms-transformer, bilstm, ...: one of the recipes mtl16-ENCODER")
    parser.add_argument("--more", action="store_true", help="training texts too, without their labels")
    parser.add_argument("--threads", type=int, help="of PyTorch")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    output = accuracy.encoder_folder(options.encoder, more=options.more)
    texts = accuracy.FOLDER / ("reviews-more.txt" if options.more else "reviews.txt")
    if (output / MANIFEST).exists():
        sys.exit(f"{output} is there; remove it to make it again")
    keep_freed_memory()
    accuracy.FOLDER.mkdir(exist_ok=True)
    if not texts.exists():
        write_texts(texts, more=options.more)
    train_files(
        texts,
        output,
        settings=settings(options.encoder, more=options.more),
        resume=(output / RUN_FOLDER / RUN_STATE).exists(),
        reporter=listening(show_epochs("texts")),
    )


if __name__ == "__main__":
    main()
