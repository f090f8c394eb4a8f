"""A cache of teacher embeddings of texts, in float16 shards on disk, so that no text is encoded twice."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwise.pretrain.sentence_encoder import SentenceEncoder
from headwise.pretrain.work import write_array

SHARD = 8192
"""Number of texts per file."""


def missing(texts: int, folder: Path, size: int = SHARD) -> list[int]:
    """Index of the first text of each missing shard."""
    return [start for start in range(0, texts, size) if not _shard(folder, start // size).exists()]


def ask(
    teacher: SentenceEncoder,
    texts: Sequence[str],
    folder: Path,
    report: Callable[[int, int], None],
    *,
    size: int = SHARD,
) -> NDArray[np.float16]:
    """The teacher's vectors of texts, float16 `[texts, size]`; cached shards are reused.

    Args:
        teacher: Encodes the texts of missing shards.
        texts: The texts; a folder must always be used with the same texts in the same order.
        folder: Folder of the shards. Shards are written atomically.
        report: Called with the number of texts done, and of all.
        size: Number of texts per file; a folder must always be used with the same size.
    """
    folder.mkdir(parents=True, exist_ok=True)
    left = missing(len(texts), folder, size)
    done = len(texts) - sum(min(size, len(texts) - start) for start in left)
    for start in left:
        shard_texts = texts[start : start + size]
        vectors = np.zeros((len(shard_texts), teacher.size), np.float16)
        for place in range(0, len(shard_texts), 1024):
            vectors[place : place + 1024] = teacher.read(shard_texts[place : place + 1024])
            report(done + min(place + 1024, len(shard_texts)), len(texts))
        write_array(vectors, _shard(folder, start // size))
        done += len(shard_texts)
    shards = [np.load(_shard(folder, number)) for number in range(-(-len(texts) // size))]
    return np.concatenate([np.zeros((0, teacher.size), np.float16), *shards])


def _shard(folder: Path, number: int) -> Path:
    return folder / f"{number:06d}.npy"
