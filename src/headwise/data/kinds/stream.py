"""Streams of symbols: plain texts as characters, words or bytes, in which the next is to be told."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from headwise.data.answers import NEXT_SYMBOL, Answer
from headwise.data.compression import read_once
from headwise.data.doctor.file import BetweenCheck, Check
from headwise.data.doctor.streams import few, strange_characters, tables, unlike_training
from headwise.data.errors import DataError, OnError, stop
from headwise.data.fingerprint import Fingerprint
from headwise.data.head import Head, read_head
from headwise.data.kind import Kind
from headwise.data.nouns import Nouns
from headwise.data.sniff import looks_like_table
from headwise.data.split import Split
from headwise.data.stream_options import DEFAULT, StreamOptions
from headwise.data.streams import (
    LineData,
    StreamData,
    count_symbols,
    read_line_data,
    read_stream,
    split_stream,
)
from headwise.data.symbols import Symbols, Unit, choose_symbols
from headwise.errors import ConfigError

NO_LABELS = (
    "a language model gives texts no labels; headwise sample lets it write, and headwise evaluate says how "
    "well it predicts a text"
)


class StreamKind(Kind[int]):
    """A text as one long row of symbols, as numbers.

    Args:
        unit: What a symbol is.
        max_symbols: How many symbols the vocabulary of a training file has at most; bytes are all kept.
        min_count: How often a symbol has to occur there at least.
    """

    nouns: ClassVar[Nouns] = Nouns("symbol", "symbols")
    options = StreamOptions
    has_keys: ClassVar[bool] = False
    checks: ClassVar[tuple[Check, ...]] = (few, strange_characters, tables)
    between: ClassVar[tuple[BetweenCheck, ...]] = (unlike_training,)
    columns_are: ClassVar[str] = ""
    classes_are: ClassVar[str] = "character"
    lines: ClassVar[str] = "lines"

    def __init__(
        self,
        answer: Answer = NEXT_SYMBOL,
        *,
        unit: Unit = "characters",
        max_symbols: int | None = None,
        min_count: int = 1,
    ):
        super().__init__(answer)
        self.unit: Unit = unit
        self.max_symbols, self.min_count = max_symbols, min_count

    def prepare(self, paths: Sequence[str], options: Any) -> Symbols:
        """The vocabulary: that of the training file; of bytes all, so that any file can be read."""
        own, counts = options or DEFAULT, Counter[str]()
        for path in paths[:1]:
            if read_once(path):
                raise ConfigError(
                    f"{path}: the text is read twice, which standard input and pipes cannot be; write it "
                    "to a file, and name that"
                )
            counts += count_symbols(path, self.unit, own.encoding, own.encoding_errors)
        if self.unit == "bytes":
            names = sorted(map(chr, range(256)), key=lambda name: (-counts[name], name))
            return Symbols(self.unit, tuple(names), tuple(counts[name] for name in names))
        return choose_symbols(self.unit, counts, size=self.max_symbols, min_count=self.min_count)

    def read(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> StreamData:
        """Read a text as numbers; `like` is the vocabulary."""
        own = options or DEFAULT
        symbols = self.prepare([path], own) if like is None else like
        text = read_stream(path, symbols, own.encoding, own.encoding_errors)
        return StreamData(text, text.path)

    def rows(self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None) -> Any:
        raise ConfigError(NO_LABELS)

    def split(
        self, items: Any, dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""
    ) -> Any:
        """Cut dev, and test after it, off the end of the text."""
        length = len(items)
        wanted = {"dev": dev, "test": test}
        asked = {name: round(n * length) if n < 1 else int(n) for name, n in wanted.items() if n}
        if not min(asked.values()) or sum(asked.values()) >= length:
            raise DataError(
                "HW282",
                f"{length:,} {self.unit}",
                advice="that is too few to cut off dev and test texts; give them as files",
                path=path,
            )
        cut = split_stream(items, [length - sum(asked.values()), *asked.values()])
        parts = dict(zip(("train", *asked), cut, strict=True))
        what = " and ".join(f"{size:,} for {name}" for name, size in asked.items())
        note = f"of its last {self.unit}, {what} are cut off"
        nothing = items[:0]
        return Split(parts["train"], parts.get("dev", nothing), parts.get("test", nothing), (note,))

    def tell(self, parts: Mapping[str, Any]) -> tuple[str, ...]:
        found = [f"{len(parts['train'].symbols):,} different {self.unit}"]
        path = parts["train"].path
        if not read_once(path) and (odd := looks_like_table(path, read_head(path).lines)):
            found.append(f"{path} {odd} (HW283)")
        for name, part in parts.items():
            if part.unknown:
                found.append(f"{name}: {part.unknown:,} {self.unit} that the vocabulary does not have")
        return tuple(found)

    def fields(self, item: int) -> Iterable[str | None]:
        raise NotImplementedError

    def fingerprint(self, items: Any) -> Fingerprint:
        """Size and SHA-256 of a text as the model reads it."""
        digest = hashlib.sha256(json.dumps(items.symbols.names).encode())
        digest.update(items.ids.tobytes())
        return Fingerprint(digest.hexdigest(), len(items), {})

    def examine(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> LineData:
        return read_line_data(path, options or DEFAULT)

    def classes_of(self, data: Any) -> tuple[tuple[str, int, float], ...]:
        total = max(data.characters.total(), 1)
        return tuple((repr(name), n, n / total) for name, n in data.characters.most_common())

    def columns_of(self, data: Any) -> tuple[str, str | None]:
        return "all", None

    def key(self, item: Any) -> str:
        """That of a line, which is what the doctor looks at."""
        return item.text

    def size(self, item: Any) -> int:
        """The words of a line."""
        return len(item.text.split())

    def refuse_parses(self) -> ConfigError:
        return ConfigError("parses are the syntax of labelled texts, which language models do not read")

    def show(self, item: int) -> str:
        return str(item)

    def recognise(self, head: Head, reading: Mapping[str, Any]) -> str | None:
        return None
