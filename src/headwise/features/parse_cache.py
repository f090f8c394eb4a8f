"""A cache of dependency parses on disk, so that no text is parsed twice."""

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

CHUNK = 500  # texts that are looked up, parsed and stored at a time
WAIT = 60.0  # seconds for other processes that write
TABLE = "CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, heads BLOB) WITHOUT ROWID"


def new_parser(config: SyntaxConfig) -> Parser | None:
    """The parser of a configuration, or None if it names none."""
    if config.pipeline is None:
        return None
    parser = SpacyParser(config.pipeline)
    return CachedParser(parser) if config.cache else parser


def trouble_of(model: Any) -> str | None:
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
        hits: Number of texts found in the cache so far.
        misses: Number of texts that were parsed so far.
        trouble: The reason why parses are not cached, or None.
    """

    def __init__(self, parser: Parser, folder: str | Path | None = None):
        self.parser = parser
        self.folder = cache_folder() if folder is None else Path(folder)
        self.hits = self.misses = 0
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

    def __call__(self, texts: Sequence[Sequence[str]], progress: Progress | None = None) -> list[Heads]:
        """The heads of the words of each text, from the cache or from the parser.

        Parses are stored chunk by chunk, so they remain even if a later text fails.

        Raises:
            HeadsError: HW231 to HW234, the parser gave heads that make no tree.
        """
        parses: list[Heads] = []
        for start in range(0, len(texts), CHUNK):
            parses += self._chunk(texts[start : start + CHUNK])
            if progress is not None:
                progress(len(parses))
        return parses

    def _chunk(self, texts: Sequence[Sequence[str]]) -> list[Heads]:
        keys = [_hash(list(words)) for words in texts]
        sizes = dict(zip(keys, map(len, texts), strict=True))
        parses = self._look_up(sizes)
        missing = {key: words for key, words in zip(keys, texts, strict=True) if key not in parses}
        self.misses += len(missing)
        self.hits += len(texts) - len(missing)
        if missing:
            parsed = self.parser(list(missing.values()))
            new = {
                key: checked_heads(heads, sizes[key]) for key, heads in zip(missing, parsed, strict=True)
            }
            self._keep(new)
            parses |= new
        return [parses[key] for key in keys]

    def _look_up(self, sizes: Mapping[bytes, int]) -> dict[bytes, Heads]:
        parses = {}

        def read(database: sqlite3.Connection) -> None:
            for key, size in sizes.items():
                row = database.execute("SELECT heads FROM parses WHERE key = ?", (key,)).fetchone()
                if row is not None and (heads := unpacked(row[0], key, size)) is not None:
                    parses[key] = heads

        self._use(read)
        return parses

    def _keep(self, parses: Mapping[bytes, Heads]) -> None:
        rows = [(key, packed(heads, key)) for key, heads in parses.items()]
        self._use(
            lambda database: database.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?)", rows)
        )

    def _use(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Run `work` in one transaction; a failure is recorded in `trouble`."""
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
    """Serialise heads: a checksum, then two bytes for each head, four if there are more than 32,767
    words."""
    data = heads.astype("<i2" if len(heads) < 1 << 15 else "<i4").tobytes()
    return zlib.crc32(key + data).to_bytes(4, "little") + data


def unpacked(entry: object, key: bytes, words: int) -> Heads | None:
    """The inverse of `packed` for a text of `words` words; None if the entry is damaged."""
    kind = np.dtype("<i2" if words < 1 << 15 else "<i4")
    if not isinstance(entry, bytes) or len(entry) != 4 + words * kind.itemsize:
        return None
    if zlib.crc32(key + entry[4:]) != int.from_bytes(entry[:4], "little"):
        return None
    return np.frombuffer(entry, kind, offset=4).astype(np.int64)


def _hash(content: str | list[str]) -> bytes:
    return blake2b(json.dumps(content).encode(), digest_size=16).digest()
