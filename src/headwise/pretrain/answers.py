"""What a teacher says of texts, kept on disk: half-precision shards, so that no text is read twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwise.pretrain.sentence_encoder import SentenceEncoder
from headwise.pretrain.work import write_array

SHARD = 8192
"""Texts of a file."""


def missing(texts: int, folder: Path, size: int = SHARD) -> list[int]:
    """The first texts of the shards that are still to be read."""
    return [start for start in range(0, texts, size) if not _shard(folder, start // size).exists()]


def ask(
    teacher: SentenceEncoder,
    texts: Sequence[str],
    folder: Path,
    report: Callable[[int, int], None],
    *,
    size: int = SHARD,
) -> NDArray[np.float16]:
    """The teacher's vectors of texts, from the folder as far as they are there.

    Args:
        teacher: Reads the rest.
        texts: The same, in the same order, whenever the folder is the same.
        folder: Of the shards; each is whole or not there.
        report: Called with the texts that are done, and all.
        size: Texts of a file; the same whenever the folder is the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    left = missing(len(texts), folder, size)
    done = len(texts) - sum(min(size, len(texts) - start) for start in left)
    for start in left:
        own = texts[start : start + size]
        vectors = np.zeros((len(own), teacher.size), np.float16)
        for place in range(0, len(own), 1024):
            vectors[place : place + 1024] = teacher.read(own[place : place + 1024])
            report(done + min(place + 1024, len(own)), len(texts))
        write_array(vectors, _shard(folder, start // size))
        done += len(own)
    shards = [np.load(_shard(folder, number)) for number in range(-(-len(texts) // size))]
    return np.concatenate([np.zeros((0, teacher.size), np.float16), *shards])


def _shard(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.npy"
