"""A base as a folder of JSON and safetensors, validated on loading; loading runs no code from it.

base.json          metadata: format, name, sizes, sources; hashes of the other files
words.json         the listed words in order
base.safetensors   the 8-bit tables, the weights of the words
encoder.safetensors   the weights of its encoder, if it has one (see `base_encoder` beside this file)
README.md          the card, for people
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.text.static_embeddings.base_vectors import BaseError, QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.word_groups import WordClusters

FORMAT = "headwise-base-1"
ABOUT, WORDS, TENSORS, CARD = "base.json", "words.json", "base.safetensors", "README.md"
ENCODER = "encoder.safetensors"
FILES = (ABOUT, WORDS, TENSORS, ENCODER, CARD)
_LARGEST = {ABOUT: 1 << 20, WORDS: 1 << 26, TENSORS: 1 << 30, ENCODER: 1 << 28}


def load_base(folder: Path | str) -> StaticEmbeddings:
    """Load a base; the last one loaded is cached until its files change.

    Raises:
        BaseError: HW802 a file is missing, damaged or too large; HW803 the files contradict each other.
    """
    stamps = []
    for name in (ABOUT, WORDS, TENSORS):
        with suppress(OSError):  # _load reports the problem
            status = (Path(folder) / name).stat()
            stamps.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return _load(Path(folder), tuple(stamps))


@lru_cache(maxsize=1)
def _load(folder: Path, _files: tuple[tuple[int, int, int], ...]) -> StaticEmbeddings:
    about = read_about(folder)
    words = _read_words(folder / WORDS, _verified(folder, WORDS, about))
    return _base(about, words, read_tensors(folder, TENSORS, about), folder)


def read_about(folder: Path) -> JsonObject:
    """The metadata of a base.

    Raises:
        BaseError: HW802 they are missing or damaged.
    """
    about = _json(folder / ABOUT, _read_file(folder / ABOUT, ABOUT))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        actual = about.get("format") if isinstance(about, dict) else about
        raise BaseError(f"{folder / ABOUT}: expected the format {FORMAT!r}, found {actual!r:.80}")
    return about


def read_tensors(folder: Path, name: str, about: JsonObject) -> dict[str, np.ndarray]:
    """The tensors of a file of a base with these metadata.

    Raises:
        BaseError: HW802 the file is missing, damaged or too large.
    """
    content = _verified(folder, name, about)
    try:
        return load(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise BaseError(f"{folder / name}: cannot be read: {error}") from None


def _verified(folder: Path, name: str, about: JsonObject) -> bytes:
    """The content of a file, whose hash the metadata name."""
    content = _read_file(folder / name, name)
    match about.get("files"):
        case {**entries} if entries.get(name) == hashlib.sha256(content).hexdigest():
            return content
        case _:
            raise BaseError(f"{folder / name}: damaged, or of another base; copy all of it again")


def read_word_list(folder: Path) -> list[str]:
    """The listed words of a base in order, without its vectors.

    Raises:
        BaseError: HW802 the list is missing or damaged; HW803 it is not a list of distinct words.
    """
    return _read_words(folder / WORDS, _read_file(folder / WORDS, WORDS))


def _read_words(path: Path, content: bytes) -> list[str]:
    words = _json(path, content)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BaseError(f"{path}: expected a list of words", code="HW803")
    if len(set(words)) < len(words):
        raise BaseError(f"{path}: a word stands there twice", code="HW803")
    return words


def _base(
    about: JsonObject, words: list[str], tensors: dict[str, np.ndarray], folder: Path
) -> StaticEmbeddings:
    def tensor(name: str, kind: type, dimensions: int) -> np.ndarray:
        array = tensors.get(name)
        if array is None or array.ndim != dimensions or not np.issubdtype(array.dtype, kind):
            raise BaseError(f"{folder / TENSORS}: {name} is missing or of another kind", code="HW803")
        if not np.isfinite(array).all():
            raise BaseError(f"{folder / TENSORS}: {name} holds NaN or infinite numbers", code="HW803")
        return array.astype(np.int8 if kind is np.int8 else np.float32)

    def table(name: str) -> QuantizedMatrix:
        values, scales = tensor(f"{name}.values", np.int8, 2), tensor(f"{name}.scales", np.floating, 1)
        if len(values) != len(scales):
            raise BaseError(f"{folder / TENSORS}: {name} has not one scale a row", code="HW803")
        return QuantizedMatrix(values, scales)

    name, card = about.get("name"), about.get("about")
    try:
        return StaticEmbeddings(
            name if isinstance(name, str) else folder.name,
            tuple(words),
            table("words"),
            table("subwords"),
            tensor("weights", np.floating, 1),
            card if isinstance(card, dict) else {},
            _groups(tensors),
            _encoder_settings(about, folder),
        )
    except ConfigError as error:
        raise BaseError(f"{folder}: {error.args[0]}", code="HW803") from None


def _encoder_settings(about: JsonObject, folder: Path) -> dict[str, JsonObject]:
    """The settings of the encoder, sections of a recipe; empty for a base without one."""
    match about.get("encoder", {}):
        case {**sections} if all(isinstance(section, dict) for section in sections.values()):
            return sections
    raise BaseError(f"{folder / ABOUT}: encoder: expected the sections of a recipe", code="HW803")


def _groups(tensors: Mapping[str, np.ndarray]) -> WordClusters | None:
    """The word clusters; None for bases of earlier versions, which have none."""
    keys, numbers = (tensors.get(f"groups.{name}") for name in ("keys", "numbers"))
    if keys is None and numbers is None:
        return None
    if keys is None or numbers is None or (keys.dtype, numbers.dtype) != (np.uint32, np.int16):
        raise ConfigError(f"{TENSORS}: groups.keys or groups.numbers is missing or of another kind")
    return WordClusters(keys, numbers)


def save_base(base: StaticEmbeddings, folder: Path | str, card: str) -> None:
    """Write a base to a folder, which is created if needed. `base.json` comes last and marks it
    complete. An encoder that is there is removed."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (ABOUT, ENCODER):  # the encoder is that of other vectors
        (folder / name).unlink(missing_ok=True)
    tensors: dict[str, np.ndarray] = {"weights": base.weights.astype(np.float16)}
    for name, rows in (("words", base.table), ("subwords", base.subwords)):
        tensors |= {f"{name}.values": rows.values, f"{name}.scales": rows.scales.astype(np.float32)}
    if base.groups is not None:
        tensors |= {"groups.keys": base.groups.keys, "groups.numbers": base.groups.numbers}
    contents = {
        WORDS: json.dumps(list(base.words), ensure_ascii=False).encode("utf-8", "surrogatepass"),
        TENSORS: save(tensors),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / CARD).write_text(card, encoding="utf-8")
    about: JsonMapping = {
        "format": FORMAT,
        "name": base.name,
        "size": base.size,
        "words": len(base.words),
        "subwords": len(base.subwords),
        "groups": 0 if base.groups is None else len(base.groups),
        "about": dict(base.about),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
    }
    (folder / ABOUT).write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _read_file(path: Path, name: str) -> bytes:
    try:
        if path.stat().st_size > _LARGEST[name]:
            raise BaseError(f"{path}: larger than such a file can be ({_LARGEST[name]:,} bytes)")
        return path.read_bytes()
    except OSError as error:
        raise BaseError(f"{path}: cannot be read: {error.strerror}") from None


def _json(path: Path, content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise BaseError(f"{path}: not JSON") from None
