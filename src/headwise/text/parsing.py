"""Dependency parsing: from tokenised texts to the head of each word.

A `CachedParser` keeps parses on disk, so that no text is parsed twice.
"""

import hashlib
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from headwise.core.errors import HeadwiseError
from headwise.core.extras import install_line
from headwise.core.lazy_pattern import lazy_pattern
from headwise.text.syntax import DependencyHeads, joined_heads, validate_heads
from headwise.text.text_configs import SyntaxConfig

if TYPE_CHECKING:
    import sqlite3

BATCH = 10_000  # words that are parsed at once; a longer text is cut
SENTENCE_ENDS = frozenset(".!?")

# Components that other tasks need. Those of other names are recognised after loading.
EXCLUDED_COMPONENTS = (
    *("tagger", "morphologizer", "attribute_ruler", "lemmatizer", "trainable_lemmatizer", "senter"),
    *("sentencizer", "ner", "beam_ner", "entity_ruler", "span_ruler", "entity_linker", "spancat"),
    *("spancat_singlelabel", "span_finder", "textcat", "textcat_multilabel"),
)
# The parser itself, and what it may listen to.
PARSER_ATTRIBUTES = frozenset({"token.head", "doc.tensor", "doc._.trf_data"})

_DOWNLOAD = "python -m spacy download"
_PUBLISHED = lazy_pattern(r"[a-z]{2,3}_[a-z]+_[a-z]+_(sm|md|lg|trf)")  # the names of spaCy's pipelines
_ONE_AT_A_TIME = Lock()  # a spaCy vocabulary has one memory zone


class ParserError(HeadwiseError):
    """The dependency parser cannot be used.

    Codes: HW260 spaCy is not installed, HW261 a pipeline cannot be loaded, HW262 it has no parser.
    """

    code = "HW260"


class Parser(Protocol):
    """A dependency parser."""

    @property
    def identity(self) -> str:
        """A text that differs between parsers that may give different parses."""
        ...

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[DependencyHeads]:
        """The heads of the words of each text, counted through the text."""
        ...


class SpacyParser:
    """Any spaCy pipeline with a dependency parser, loaded on first use.

    The parser receives our tokens, so no alignment is needed, and segments sentences itself: each has a
    root. Only the parser and the components that it depends on are kept. Loading a pipeline runs code of
    its package, so only pipelines that the user names are loaded.

    Words are parsed in batches of about 10,000. A longer text is cut after the last full stop (question or
    exclamation mark) that fits, else between two words, and its parts are parsed separately.

    Args:
        pipeline: The name of an installed pipeline, or the path of a folder.
    """

    def __init__(self, pipeline: str | Path):
        self.pipeline = pipeline

    @cached_property
    def nlp(self) -> Any:
        """The pipeline, a `spacy.Language`.

        Raises:
            ParserError: HW260 to HW262.
        """
        spacy = _spacy()
        try:
            nlp = spacy.load(self.pipeline, exclude=EXCLUDED_COMPONENTS)
        except Exception as error:  # whatever the code of a pipeline raises
            name = str(self.pipeline) if _PUBLISHED.fullmatch(str(self.pipeline)) else "en_core_web_sm"
            raise ParserError(
                f"the spaCy pipeline '{self.pipeline}' cannot be loaded: {_first_line(error)}. Give the "
                f"name of one that is installed ({_DOWNLOAD} {name}), or its folder",
                code="HW261",
            ) from error
        for name in nlp.pipe_names:
            if PARSER_ATTRIBUTES.isdisjoint(nlp.get_pipe_meta(name).assigns):
                nlp.remove_pipe(name)
        if not any("token.head" in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names):
            raise ParserError(
                f"the spaCy pipeline '{self.pipeline}' has no dependency parser; choose one that has, "
                "such as en_core_web_sm",
                code="HW262",
            )
        return nlp

    @property
    def identity(self) -> str:
        """Name, version and hash of the weights: `en_core_web_sm 3.8.0 (spaCy 3.8.2, 0f3c...)`."""
        meta = self.nlp.meta
        name = f"{meta['lang']}_{meta['name']} {meta['version']}"
        return f"{name} (spaCy {_spacy().__version__}, {self._digest})"

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for _, component in self.nlp.pipeline:
            if hasattr(component, "to_bytes"):  # a plain function may parse, too
                # Without the vocabulary, which grows with every text.
                digest.update(component.to_bytes(exclude=["vocab"]))
        return digest.hexdigest()[:16]

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[DependencyHeads]:
        """The heads of the words of each text, counted through the text; 0 for roots.

        Raises:
            ParserError: HW260 to HW262.
        """
        parses: list[DependencyHeads] = []
        parts: list[DependencyHeads] = []
        for batch in _part_batches(texts):
            for heads, (_, last) in zip(self._parse(words for words, _ in batch), batch, strict=True):
                parts.append(heads)
                if last:
                    parses.append(joined_heads(parts))
                    parts = []
        return parses

    def _parse(self, texts: Iterable[Sequence[str]]) -> list[DependencyHeads]:
        nlp = self.nlp
        new = import_module("spacy.tokens").Doc
        # What the vocabulary learns of new words is freed with the zone; no document must outlive it.
        with _ONE_AT_A_TIME, nlp.memory_zone():
            docs = nlp.pipe(new(nlp.vocab, words=[*map(_valid_spacy_word, words)]) for words in texts)
            offsets = [doc.to_array("HEAD").astype(np.int64) for doc in docs]  # 0 for a root
        return [np.where(steps == 0, 0, steps + np.arange(1, len(steps) + 1)) for steps in offsets]


def _spacy() -> Any:
    try:
        return import_module("spacy")
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "spacy"
        what = "is not installed" if missing else f"cannot be imported ({_first_line(error)})"
        raise ParserError(
            f"parsing needs spaCy, which {what}: {install_line('spacy')}, and a pipeline with a parser "
            f"({_DOWNLOAD} en_core_web_sm). Or give the parses in a file (--parses)",
            code="HW260",
        ) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _valid_spacy_word(word: str) -> str:
    """A word that spaCy accepts: not empty, without lone surrogates."""
    return word.encode("utf-8", "replace").decode() or " "


def _part_batches(texts: Iterable[Sequence[str]]) -> Iterator[list[tuple[Sequence[str], bool]]]:
    """Batches of parts of texts, of about `BATCH` words; each part with whether it is the last of its
    text."""
    batch: list[tuple[Sequence[str], bool]] = []
    size = 0
    for text in texts:
        start = 0
        while True:
            end = _part_end(text, start)
            part = text[start:end]
            if batch and size + len(part) > BATCH:
                yield batch
                batch, size = [], 0
            batch.append((part, end == len(text)))
            size += len(part)
            if end == len(text):
                break
            start = end
    if batch:
        yield batch


def _part_end(text: Sequence[str], start: int) -> int:
    """The end of the part of a text that begins at `start`."""
    end = start + BATCH
    if end >= len(text):
        return len(text)
    full_stops = (place for place in range(end, start + BATCH // 2, -1) if text[place - 1] in SENTENCE_ENDS)
    return next(full_stops, end)


CHUNK = 500  # texts that are looked up, parsed and stored at a time
WAIT = 60.0  # seconds for other processes that write
TABLE = "CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, heads BLOB) WITHOUT ROWID"


def new_parser(config: SyntaxConfig) -> Parser | None:
    """The parser of a configuration, or None if it names none."""
    if config.pipeline is None:
        return None
    parser = SpacyParser(config.pipeline)
    return CachedParser(parser) if config.cache else parser


def cache_warning(model: Any) -> str | None:
    """A warning if the parses of a model's texts could not be cached; None otherwise."""
    parser = getattr(getattr(model, "features", None), "parser", None)
    if not isinstance(parser, CachedParser) or parser.trouble is None:
        return None
    return f"the parses could not be kept, and will be made again next time: {parser.trouble}"


def cache_folder() -> Path:
    """The cache folder: `parses` in `HEADWISE_CACHE`, else in headwise's folder of the platform's cache
    folder (`XDG_CACHE_HOME`)."""
    if folder := os.environ.get("HEADWISE_CACHE"):
        return Path(folder) / "parses"
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "headwise" / "parses"


class CachedParser:
    """A parser with a cache on disk, in one file for each parser, keyed by the words of a text.

    The file is an SQLite database: several processes may use it at once, and killing one does not damage
    it. Damaged entries are parsed again. If the cache cannot be written (a full disk, no permission), texts
    are parsed without it, and `trouble` holds the reason. The cache holds hashes and numbers, no texts, and
    may be deleted while it is not in use.

    Args:
        parser: Parses texts that are not in the cache.
        folder: Folder of the cache files; `cache_folder()` by default.

    Attributes:
        trouble: The reason why parses are not cached, or None.
    """

    def __init__(self, parser: Parser, folder: str | Path | None = None):
        self.parser = parser
        self.folder = cache_folder() if folder is None else Path(folder)
        self.trouble: str | None = None

    @property
    def identity(self) -> str:
        """Identity of the wrapped parser."""
        return self.parser.identity

    @property
    def path(self) -> Path:
        """The cache file of this parser."""
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", self.identity).strip("-")[:60]
        return self.folder / f"{readable}-{_hash(self.identity).hex()[:8]}.sqlite"

    def __call__(self, texts: Sequence[Sequence[str]]) -> list[DependencyHeads]:
        """The heads of the words of each text, from the cache or from the parser.

        Parses are stored chunk by chunk, so they remain even if a later text fails.

        Raises:
            ParseError: HW231 to HW234, the parser gave heads that make no tree.
        """
        chunks = (self._chunk(texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK))
        return [*chain.from_iterable(chunks)]

    def _chunk(self, texts: Sequence[Sequence[str]]) -> list[DependencyHeads]:
        keys = [_hash(list(words)) for words in texts]
        sizes = dict(zip(keys, map(len, texts), strict=True))
        parses = self._look_up(sizes)
        missing = {key: words for key, words in zip(keys, texts, strict=True) if key not in parses}
        if missing:
            parsed = self.parser(list(missing.values()))
            new = {
                key: validate_heads(heads, sizes[key]) for key, heads in zip(missing, parsed, strict=True)
            }
            self._keep(new)
            parses |= new
        return [parses[key] for key in keys]

    def _look_up(self, sizes: Mapping[bytes, int]) -> dict[bytes, DependencyHeads]:
        parses = {}

        def read(database: "sqlite3.Connection") -> None:
            for key, size in sizes.items():
                row = database.execute("SELECT heads FROM parses WHERE key = ?", (key,)).fetchone()
                if row is not None and (heads := unpacked(row[0], key, size)) is not None:
                    parses[key] = heads

        self._transaction(read)
        return parses

    def _keep(self, parses: Mapping[bytes, DependencyHeads]) -> None:
        rows = [(key, packed(heads, key)) for key, heads in parses.items()]
        self._transaction(
            lambda database: database.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?)", rows)
        )

    def _transaction(self, work: "Callable[[sqlite3.Connection], object]") -> None:
        """Run `work` in one transaction; a failure is recorded in `trouble`."""
        if self.trouble is not None:
            return
        import sqlite3  # slow to load

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # A connection for a moment only: threads and forks cannot share one.
            with closing(sqlite3.connect(self.path, timeout=WAIT)) as database, database:
                database.execute(TABLE)
                work(database)
        except (sqlite3.Error, OSError) as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        import sqlite3

        # Damage is a bare DatabaseError; all else (locked, full, read-only) is one of its subclasses.
        if type(error) is sqlite3.DatabaseError:
            with suppress(OSError):
                self.path.unlink()
                return
        self.trouble = f"{self.path}: {error}"


def packed(heads: DependencyHeads, key: bytes) -> bytes:
    """Serialise heads: a checksum, then two bytes for each head, four if there are more than 32,767
    words."""
    data = heads.astype("<i2" if len(heads) < 1 << 15 else "<i4").tobytes()
    return zlib.crc32(key + data).to_bytes(4, "little") + data


def unpacked(entry: object, key: bytes, words: int) -> DependencyHeads | None:
    """The inverse of `packed` for a text of `words` words; None if the entry is damaged."""
    kind = np.dtype("<i2" if words < 1 << 15 else "<i4")
    if not isinstance(entry, bytes) or len(entry) != 4 + words * kind.itemsize:
        return None
    if zlib.crc32(key + entry[4:]) != int.from_bytes(entry[:4], "little"):
        return None
    return np.frombuffer(entry, kind, offset=4).astype(np.int64)


def _hash(content: str | list[str]) -> bytes:
    return blake2b(json.dumps(content).encode(), digest_size=16).digest()
