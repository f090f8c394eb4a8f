"""The item types of unlabelled text: streams of characters, words or bytes for language
modelling, and texts for masked-word pretraining.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import FileHead
from headwise.data.columns.item_options import DEFAULT_STREAM_OPTIONS, StreamOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.files.compression import read_once
from headwise.data.files.fingerprint import Fingerprint
from headwise.data.items.dataset import Dataset, InputRows
from headwise.data.items.examples import DisplayNames, Example, parse_field
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import MASKED_WORD_TYPE, NEXT_SYMBOL, LabelType
from headwise.data.items.symbols import SymbolVocabulary, choose_symbols
from headwise.data.items.text_items import TextItems
from headwise.data.readers.file_preview import looks_like_table, read_preview
from headwise.data.readers.labelled_files import read_rows
from headwise.data.readers.streams import (
    LineData,
    SymbolStreamData,
    count_symbols,
    read_line_data,
    read_stream,
    split_stream,
)
from headwise.data.splits.splitting import Split
from headwise.metrics.perplexity import Unit

NO_LABELS = (
    "a language model gives texts no labels; headwise sample lets it write, and headwise evaluate says how "
    "well it predicts a text"
)


class SymbolStreamItems(ItemType[int]):
    """A text as one long sequence of symbol ids.

    Args:
        max_symbols: The largest size of the vocabulary; ignored for bytes.
        min_count: The least count of a symbol in the training file.
    """

    nouns: ClassVar[DisplayNames] = DisplayNames("symbol", "symbols")
    options = StreamOptions
    has_keys: ClassVar[bool] = False
    columns_heading: ClassVar[str] = ""
    class_noun: ClassVar[str] = "character"
    lines: ClassVar[str] = "lines"

    def __init__(
        self,
        label_type: LabelType = NEXT_SYMBOL,
        *,
        unit: Unit = "characters",
        max_symbols: int | None = None,
        min_count: int = 1,
    ):
        super().__init__(label_type)
        self.unit: Unit = unit
        self.max_symbols, self.min_count = max_symbols, min_count

    def prepare(self, paths: Sequence[str], options) -> SymbolVocabulary:
        """The vocabulary of the training file; for bytes all 256, so that any file can be read."""
        options, counts = options or DEFAULT_STREAM_OPTIONS, Counter[str]()
        for path in paths[:1]:
            if read_once(path):
                raise ConfigError(
                    f"{path}: the text is read twice, which standard input and pipes cannot be; write it "
                    "to a file, and name that"
                )
            counts += count_symbols(path, self.unit, options.encoding, options.encoding_errors)
        if self.unit == "bytes":
            names = sorted(map(chr, range(256)), key=lambda name: (-counts[name], name))
            return SymbolVocabulary(self.unit, tuple(names), tuple(counts[name] for name in names))
        return choose_symbols(self.unit, counts, size=self.max_symbols, min_count=self.min_count)

    def read(
        self, path: str, options=None, on_error: OnError = raise_error, *, schema=None
    ) -> SymbolStreamData:
        """Read a text as symbol ids; `schema` is the vocabulary, by default that of the file."""
        options = options or DEFAULT_STREAM_OPTIONS
        symbols = self.prepare([path], options) if schema is None else schema
        text = read_stream(path, symbols, options.encoding, options.encoding_errors)
        return SymbolStreamData(text, text.path)

    def rows(self, path: str, options=None, *, schema=None):
        raise ConfigError(NO_LABELS)

    def split(
        self, items: Any, dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""
    ) -> Any:
        """Cut the dev part, and the test part after it, off the end of the text."""
        length = len(items)
        sizes = {"dev": dev, "test": test}
        lengths = {name: round(n * length) if n < 1 else int(n) for name, n in sizes.items() if n}
        if not min(lengths.values()) or sum(lengths.values()) >= length:
            advice = "that is too few to cut off dev and test texts; give them as files"
            raise DataError("HW282", f"{length:,} {self.unit}", advice=advice, path=path)
        cut = split_stream(items, [length - sum(lengths.values()), *lengths.values()])
        parts = dict(zip(("train", *lengths), cut, strict=True))
        what = " and ".join(f"{size:,} for {name}" for name, size in lengths.items())
        note = f"of its last {self.unit}, {what} are cut off"
        nothing = items[:0]
        return Split(parts["train"], parts.get("dev", nothing), parts.get("test", nothing), (note,))

    def part_notes(self, parts) -> tuple[str, ...]:
        notes = [f"{len(parts['train'].symbols):,} different {self.unit}"]
        path = parts["train"].path
        if not read_once(path) and (odd := looks_like_table(path, read_preview(path).lines)):
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

    def examine(self, path: str, options=None, on_error: OnError = raise_error, *, schema=None) -> LineData:
        return read_line_data(path, options or DEFAULT_STREAM_OPTIONS)

    def classes_of(self, data) -> tuple[tuple[str, int, float], ...]:
        total = max(data.characters.total(), 1)
        return tuple((repr(name), n, n / total) for name, n in data.characters.most_common())

    def columns_of(self, data) -> tuple[str, str | None]:
        return "all", None

    def key(self, item: Any) -> str:
        """The text of a line, for the data doctor, whose items are lines."""
        return item.text

    def size(self, item: Any) -> int:
        """The number of words of a line."""
        return len(item.text.split())

    def no_parses_error(self) -> ConfigError:
        return ConfigError("parses are the syntax of labelled texts, which language models do not read")

    def show(self, item: int) -> str:
        return str(item)


MAX_HELD_OUT = 2_000
"""Largest number of texts split off for dev and for test each; the rest is for training."""
NO_ANSWERS = (
    "a model of masked words gives texts no labels; headwise train FILE --base MODEL goes on from it"
)


class UnlabelledTextItems(TextItems):
    """Texts whose masked words are predicted from the rest; labels are ignored."""

    def __init__(self, label_type: LabelType = MASKED_WORD_TYPE):
        super().__init__(label_type)
        self.options = ReadOptions

    def read(self, path: str, options=None, on_error: OnError = raise_error, *, schema=None) -> Dataset:
        rows = read_rows(path, options or ReadOptions(), on_error)
        texts = [Example(row.item.text, line=row.line) for row in rows]
        empty = sum(not example.text.strip() for example in texts)
        columns = replace(rows.columns, label=None)
        return Dataset(texts, rows.path, rows.format, columns, rows.notes, empty)

    def rows(self, path: str, options=None, *, schema=None) -> InputRows[Example]:
        raise ConfigError(NO_ANSWERS)

    def split(
        self,
        items: Sequence[Example],
        dev: float | int,
        test: float | int = 0,
        seed: int = 0,
        path: str = "",
    ) -> Split[list[Example]]:
        """Split texts, with at most `MAX_HELD_OUT` of them for dev and for test each.

        Raises:
            DataError: HW141, there are too few texts.
        """
        most = MAX_HELD_OUT / max(len(items), 1)
        dev, test = (size if size >= 1 else min(size, most) for size in (dev, test))
        return super().split(items, dev, test, seed, path)

    def fields(self, item: Example) -> Iterable[str | None]:
        return item.text, *parse_field(item.parse)

    def implied_by(self, reading: Mapping[str, object]) -> str | None:
        return None

    def recognise(self, head: FileHead, reading: Mapping[str, object]) -> str | None:
        return None
