"""A base as a folder of JSON and safetensors, validated on loading; loading runs no code from it.

base.json          metadata: format, name, sizes, sources; hashes of the other files
words.json         the listed words in order
base.safetensors   the 8-bit tables, the weights of the words
README.md          the card, for people

Choice of the base that a training run starts from.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.text.static_embeddings.base_vectors import BaseError, QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.word_groups import WordClusters

FORMAT = "headwise-base-1"
DEFAULT = "english"
ABOUT, WORDS, TENSORS, CARD = "base.json", "words.json", "base.safetensors", "README.md"
FILES = (ABOUT, WORDS, TENSORS, CARD)
_LARGEST = {ABOUT: 1 << 20, WORDS: 1 << 26, TENSORS: 1 << 30}


def shipped() -> dict[str, Path]:
    """The bases that come with headwise, by name."""
    root = Path(str(files("headwise"))) / "text" / "bases"
    return {path.parent.name: path.parent for path in sorted(root.glob(f"*/{ABOUT}"))}


def find_base(name: str) -> Path:
    """The folder of a base: one that comes with headwise, or a path.

    Raises:
        BaseError: HW801, there is none.
    """
    bases = shipped()
    if name in bases:
        return bases[name]
    folder = Path(name)
    if (folder / ABOUT).is_file():
        return folder
    names = ", ".join(bases) or "none"
    hint = (
        f"there is no {ABOUT} in this folder"
        if folder.is_dir()
        else "there is none of this name, and no such folder"
    )
    raise BaseError(
        f"base {name!r}: {hint}; bases that come with headwise: {names}; headwise pretrain makes others",
        code="HW801",
    )


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
    about = _json(folder / ABOUT, _read(folder / ABOUT, ABOUT))
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        actual = about.get("format") if isinstance(about, dict) else about
        raise BaseError(f"{folder / ABOUT}: expected the format {FORMAT!r}, found {actual!r:.80}")
    contents = {}
    for name in (WORDS, TENSORS):
        contents[name] = _read(folder / name, name)
        match about.get("files"):
            case {**entries} if entries.get(name) == hashlib.sha256(contents[name]).hexdigest():
                pass
            case _:
                raise BaseError(f"{folder / name}: damaged, or of another base; copy all of it again")
    words = _json(folder / WORDS, contents[WORDS])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BaseError(f"{folder / WORDS}: expected a list of words", code="HW803")
    if len(set(words)) < len(words):
        raise BaseError(f"{folder / WORDS}: a word stands there twice", code="HW803")
    try:
        tensors = load(contents[TENSORS])
    except (SafetensorError, ValueError, KeyError) as error:
        raise BaseError(f"{folder / TENSORS}: cannot be read: {error}") from None
    return _base(about, words, tensors, folder)


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
        )
    except ConfigError as error:
        raise BaseError(f"{folder}: {error.args[0]}", code="HW803") from None


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
    complete."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).unlink(missing_ok=True)
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


def _read(path: Path, name: str) -> bytes:
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


AUTO, NONE = "auto", "none"
MIN_COVERAGE = 0.4
"""Least token coverage with which `auto` takes the default base. English texts have 0.9 and more, lists of
English names 0.5, German texts 0.3 to 0.5, where the base neither helps nor harms."""
_SAMPLED_TEXTS = 2_000  # texts


def choose_base(name: str, texts: Iterable[Sequence[str]]) -> tuple[StaticEmbeddings | None, str]:
    """The base for a setting, and a message about the choice.

    Args:
        name: `auto`, `none`, or a name or path for `find_base`.
        texts: The tokenised training texts.

    Raises:
        BaseError: There is no such base, or it is damaged.
    """
    if name == NONE or (name == AUTO and DEFAULT not in shipped()):
        return None, ""
    base = load_base(find_base(DEFAULT if name == AUTO else name))
    counts = Counter(
        word for words in islice(texts, _SAMPLED_TEXTS) for word in words if any(map(str.isalpha, word))
    )
    share = base.token_coverage(counts)
    if name != AUTO:
        return base, f"base {base.name}: it lists {share:.0%} of the words"
    if share < MIN_COVERAGE:
        return None, (
            f"no base: {base.name}, which comes with headwise, lists only {share:.0%} of the words "
            f"(--base {base.name} takes it even so; headwise pretrain makes one from texts of your own)"
        )
    return (
        base,
        f"begins with the base {base.name}, which lists {share:.0%} of the words (--base none: without)",
    )


def vectors_of_texts(texts: Iterable[str], base: str) -> tuple[np.ndarray | None, str]:
    """The vectors of texts, `[texts, size]`, by static embeddings that `choose_base` chooses, and its
    message; None without static embeddings."""
    words = [get_tokenizer("penn").words(text) for text in texts]
    chosen, note = choose_base(base, words)
    return None if chosen is None else chosen.texts(words), note


def choose_word_groups(sentences: Iterable[Sequence[str]], base: str) -> tuple[WordClusters | None, str]:
    """The word clusters of the static embeddings that `choose_base` chooses for sentences, and its message;
    None where there are none."""
    chosen, note = choose_base(base, sentences)
    return None if chosen is None else chosen.groups, note


def check_single_vector_source(*sources: str | None) -> None:
    """Check that no other source of word vectors is requested together with a base.

    Raises:
        ConfigError: One of the sources is given.
    """
    for source in sources:
        if source:
            raise ConfigError(f"a base and {source} exclude each other; give one of them")
