"""SentenceEncoder: a pretrained sentence encoder, the teacher of a base.

`embed_with_teacher` caches its embeddings of texts in float16 shards on disk, so that no text is encoded
twice.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headwise.nn.embeddings.pretrained.hub import load_pretrained
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.work_folder import write_array

_POOLING = Path("1_Pooling", "config.json")
_CELLS = 2048  # word pieces per batch
_FASTER = 1.2


class SentenceEncoder:
    """A sentence encoder: mean (or first) state of a pretrained encoder, normalised to length 1.

    Args:
        config: The name of the encoder, and its pooling.

    Attributes:
        size: Dimensions of its vectors.
        fingerprint: Hash of weights, pooling and maximum length.

    Raises:
        PretrainedError: HW701 to HW706, it cannot be loaded.
    """

    def __init__(self, config: TeacherConfig):
        source = load_pretrained(config.name, revision=config.revision)
        self._encoder: Any = source.encoder.eval()
        self._tokenizer = source.tokenizer
        ends = len(source.tokenizer.prefix) + len(source.tokenizer.suffix)
        self._room = max(1, min(config.max_pieces, source.window) - ends)
        self._first = _pooling(config) == "first"
        self.size: int = self._encoder.config.hidden_size
        self.fingerprint = self._fingerprint()

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(f"{self._room} {self._first}".encode())
        for name, weights in sorted(self._encoder.state_dict().items()):
            digest.update(name.encode())
            digest.update(weights.contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]

    def try_bfloat16(self, texts: Sequence[str]) -> bool:
        """Switch to bfloat16 if that is faster on this machine (its precision suffices for distillation).

        Args:
            texts: Texts for the measurement.
        """
        took = []
        for kind in (torch.float32, torch.bfloat16):
            self._encoder.to(kind)
            best = float("inf")
            for _ in range(3):
                start = time.perf_counter()
                self.read(texts)
                best = min(best, time.perf_counter() - start)
            took.append(best)
        faster = took[0] > _FASTER * took[1]
        if not faster:
            self._encoder.float()
        return faster

    def pieces(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Number of word pieces of each text, `[texts]`."""
        encodings = self._tokenizer.pieces([text.split() for text in texts])
        return np.array([len(encoding.ids) for encoding in encodings], np.int64)

    def read(self, texts: Sequence[str]) -> NDArray[np.float16]:
        """Embeddings of texts, float16 `[texts, size]`; texts are truncated to the maximum length."""
        tokenizer = self._tokenizer
        ids = [
            [*tokenizer.prefix, *encoding.ids[: self._room].tolist(), *tokenizer.suffix]
            for encoding in tokenizer.pieces([text.split() for text in texts])
        ]
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        out = np.zeros((len(texts), self.size), np.float16)
        place = 0
        while place < len(order):
            longest = len(ids[order[min(place + 63, len(order) - 1)]])
            rows = order[place : place + max(8, min(64, _CELLS // max(longest, 1)))]
            place += len(rows)
            out[rows] = self._states([ids[row] for row in rows])
        return out

    @torch.inference_mode()
    def _states(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float16]:
        lengths = torch.tensor([len(row) for row in ids])
        mask = (torch.arange(max(1, int(lengths.max()))) < lengths[:, None]).long()
        numbers = torch.zeros_like(mask)
        numbers[mask.bool()] = torch.tensor([piece for row in ids for piece in row], dtype=torch.long)
        states = self._encoder(input_ids=numbers, attention_mask=mask).last_hidden_state.float()
        if self._first:
            vectors = states[:, 0]
        else:
            vectors = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return torch.nn.functional.normalize(vectors, dim=1).half().numpy()


def _pooling(config: TeacherConfig) -> str:
    """The pooling of the encoder, first or mean; folders of sentence-transformers specify it."""
    if config.pooling != "auto":
        return config.pooling
    try:
        settings = json.loads((Path(config.name).expanduser() / _POOLING).read_text(encoding="utf-8"))
        return "first" if settings.get("pooling_mode_cls_token") is True else "mean"
    except (OSError, ValueError, AttributeError):
        return "mean"


SHARD = 8192
"""Number of texts per file."""


def missing_shards(texts: int, folder: Path, size: int = SHARD) -> list[int]:
    """Index of the first text of each missing shard."""
    return [start for start in range(0, texts, size) if not _shard(folder, start // size).exists()]


def embed_with_teacher(
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
    left = missing_shards(len(texts), folder, size)
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
