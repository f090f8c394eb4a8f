"""The item type of symbol streams for language modelling: texts as characters, words or bytes."""

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
from headwise.data.symbols import Symbols, choose_symbols
from headwise.errors import ConfigError
from headwise.scores.language import Unit

NO_LABELS = (
    "a language model gives texts no labels; headwise sample lets it write, and headwise evaluate says how "
    "well it predicts a text"
)


class StreamKind(Kind[int]):
    """A text as one long sequence of symbol ids.

    Args:
        unit: The unit of symbols.
        max_symbols: The largest size of the vocabulary; ignored for bytes.
        min_count: The least count of a symbol in the training file.
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
        """The vocabulary of the training file; for bytes all 256, so that any file can be read."""
        options, counts = options or DEFAULT, Counter[str]()
        for path in paths[:1]:
            if read_once(path):
                raise ConfigError(
                    f"{path}: the text is read twice, which standard input and pipes cannot be; write it "
                    "to a file, and name that"
                )
            counts += count_symbols(path, self.unit, options.encoding, options.encoding_errors)
        if self.unit == "bytes":
            names = sorted(map(chr, range(256)), key=lambda name: (-counts[name], name))
            return Symbols(self.unit, tuple(names), tuple(counts[name] for name in names))
        return choose_symbols(self.unit, counts, size=self.max_symbols, min_count=self.min_count)

    def read(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> StreamData:
        """Read a text as symbol ids; `like` is the vocabulary, by default that of the file."""
        options = options or DEFAULT
        symbols = self.prepare([path], options) if like is None else like
        text = read_stream(path, symbols, options.encoding, options.encoding_errors)
        return StreamData(text, text.path)

    def rows(self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None) -> Any:
        raise ConfigError(NO_LABELS)

    def split(
        self, items: Any, dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""
    ) -> Any:
        """Cut the dev part, and the test part after it, off the end of the text."""
        length = len(items)
        sizes = {"dev": dev, "test": test}
        lengths = {name: round(n * length) if n < 1 else int(n) for name, n in sizes.items() if n}
        if not min(lengths.values()) or sum(lengths.values()) >= length:
            raise DataError(
                "HW282",
                f"{length:,} {self.unit}",
                advice="that is too few to cut off dev and test texts; give them as files",
                path=path,
            )
        cut = split_stream(items, [length - sum(lengths.values()), *lengths.values()])
        parts = dict(zip(("train", *lengths), cut, strict=True))
        what = " and ".join(f"{size:,} for {name}" for name, size in lengths.items())
        note = f"of its last {self.unit}, {what} are cut off"
        nothing = items[:0]
        return Split(parts["train"], parts.get("dev", nothing), parts.get("test", nothing), (note,))

    def tell(self, parts: Mapping[str, Any]) -> tuple[str, ...]:
        notes = [f"{len(parts['train'].symbols):,} different {self.unit}"]
        path = parts["train"].path
        if not read_once(path) and (odd := looks_like_table(path, read_head(path).lines)):
            notes.append(f"{path} {odd} (HW283)")
        for name, part in parts.items():
            if part.unknown:
                notes.append(f"{name}: {part.unknown:,} {self.unit} that the vocabulary does not have")
        return tuple(notes)

    def fields(self, item: int) -> Iterable[str | None]:
        raise NotImplementedError

    def fingerprint(self, items: Any) -> Fingerprint:
        """The fingerprint of a text: the SHA-256 of its vocabulary and ids, and its length."""
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
        """The text of a line, for the data doctor, whose items are lines."""
        return item.text

    def size(self, item: Any) -> int:
        """The number of words of a line."""
        return len(item.text.split())

    def refuse_parses(self) -> ConfigError:
        return ConfigError("parses are the syntax of labelled texts, which language models do not read")

    def show(self, item: int) -> str:
        return str(item)

    def recognise(self, head: Head, reading: Mapping[str, Any]) -> str | None:
        return None
