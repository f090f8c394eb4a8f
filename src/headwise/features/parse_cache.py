"""Keep parses on disk, so that no text is parsed twice."""

import json
import os
import re
import sqlite3
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from headwise.features.parse import Parser, Progress, SpacyParser, SyntaxConfig
from headwise.features.syntax import Heads, checked_heads

CHUNK = 500  # texts that are looked up, parsed and kept at a time
WAIT = 60.0  # seconds for other processes that write
TABLE = "CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, heads BLOB) WITHOUT ROWID"


def new_parser(config: SyntaxConfig) -> Parser | None:
    """The parser of a configuration, or None if it names none."""
    if config.pipeline is None:
        return None
    parser = SpacyParser(config.pipeline)
    return CachedParser(parser) if config.cache else parser


def trouble_of(model: Any) -> str | None:
    """What to say where the parses of a model's texts could not be kept; None where nothing is wrong."""
    parser = getattr(getattr(model, "features", None), "parser", None)
    if not isinstance(parser, CachedParser) or parser.trouble is None:
        return None
    return f"the parses could not be kept, and will be made again next time: {parser.trouble}"


def cache_folder() -> Path:
    """Where parses are kept: `parses` in the folder `HEADWISE_CACHE`, or in headwise's folder among the
    caches of the platform (`XDG_CACHE_HOME`)."""
    if own := os.environ.get("HEADWISE_CACHE"):
        return Path(own) / "parses"
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "headwise" / "parses"


class CachedParser:
    """A parser that remembers: parses are kept by their words, in a file for each parser.

    The file is an SQLite database: several processes may use it at once, and whoever is killed leaves it
    whole. What is damaged is parsed anew. Where nothing can be kept (a full disk, no permission) texts are
    parsed all the same, and `trouble` says why. The cache holds numbers and hashes, no texts, and may be
    deleted while it is not in use.

    Args:
        parser: Parses what is not yet known.
        folder: Where the files are; `cache_folder()` by default.

    Attributes:
        hits: Texts that need not be parsed, so far.
        misses: Texts that had to be.
        trouble: Why parses are not kept, if they are not.
    """

    def __init__(self, parser: Parser, folder: str | Path | None = None):
        self.parser = parser
        self.folder = cache_folder() if folder is None else Path(folder)
        self.hits = self.misses = 0
        self.trouble: str | None = None

    @property
    def identity(self) -> str:
        """That of the parser."""
        return self.parser.identity

    @property
    def path(self) -> Path:
        """The file of this parser."""
        readable = re.sub(r"[^A-Za-z0-9.]+", "-", self.identity).strip("-")[:60]
        return self.folder / f"{readable}-{_hash(self.identity).hex()[:8]}.sqlite"

    def __call__(self, texts: Sequence[Sequence[str]], progress: Progress | None = None) -> list[Heads]:
        """The heads of the words of each text, from the cache or from the parser.

        What has been parsed is kept even if a later text fails.

        Raises:
            HeadsError: HW231 to HW234, the parser gave heads that make no tree.
        """
        found: list[Heads] = []
        for start in range(0, len(texts), CHUNK):
            found += self._chunk(texts[start : start + CHUNK])
            if progress is not None:
                progress(len(found))
        return found

    def _chunk(self, texts: Sequence[Sequence[str]]) -> list[Heads]:
        keys = [_hash(list(words)) for words in texts]
        sizes = dict(zip(keys, map(len, texts), strict=True))
        known = self._look_up(sizes)
        missing = {key: words for key, words in zip(keys, texts, strict=True) if key not in known}
        self.misses += len(missing)
        self.hits += len(texts) - len(missing)
        if missing:
            parsed = self.parser(list(missing.values()))
            new = {
                key: checked_heads(heads, sizes[key]) for key, heads in zip(missing, parsed, strict=True)
            }
            self._keep(new)
            known |= new
        return [known[key] for key in keys]

    def _look_up(self, sizes: Mapping[bytes, int]) -> dict[bytes, Heads]:
        known = {}

        def read(database: sqlite3.Connection) -> None:
            for key, size in sizes.items():
                row = database.execute("SELECT heads FROM parses WHERE key = ?", (key,)).fetchone()
                if row is not None and (heads := unpacked(row[0], key, size)) is not None:
                    known[key] = heads

        self._use(read)
        return known

    def _keep(self, parses: Mapping[bytes, Heads]) -> None:
        rows = [(key, packed(heads, key)) for key, heads in parses.items()]
        self._use(
            lambda database: database.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?)", rows)
        )

    def _use(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Do some work as one transaction, or note why that is impossible."""
        if self.trouble is not None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # A connection for a moment only: threads and forks cannot share one.
            with closing(sqlite3.connect(self.path, timeout=WAIT)) as database, database:
                database.execute(TABLE)
                work(database)
        except (sqlite3.Error, OSError) as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        # Damage is a bare DatabaseError; all else (locked, full, read-only) is one of its subclasses.
        if type(error) is sqlite3.DatabaseError:
            with suppress(OSError):
                self.path.unlink()
                return
        self.trouble = f"{self.path}: {error}"


def packed(heads: Heads, key: bytes) -> bytes:
    """A checksum, and the heads in two bytes each, in four if the text has more than 32,767 words."""
    data = heads.astype("<i2" if len(heads) < 1 << 15 else "<i4").tobytes()
    return zlib.crc32(key + data).to_bytes(4, "little") + data


def unpacked(entry: object, key: bytes, words: int) -> Heads | None:
    """The inverse of `packed` for a text of so many words; None if the entry is damaged."""
    kind = np.dtype("<i2" if words < 1 << 15 else "<i4")
    if not isinstance(entry, bytes) or len(entry) != 4 + words * kind.itemsize:
        return None
    if zlib.crc32(key + entry[4:]) != int.from_bytes(entry[:4], "little"):
        return None
    return np.frombuffer(entry, kind, offset=4).astype(np.int64)


def _hash(content: str | list[str]) -> bytes:
    return blake2b(json.dumps(content).encode(), digest_size=16).digest()
