"""The item type of tagged sentences (sequence labelling)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import ClassVar, Self

from headwise.core.config import from_dict
from headwise.core.tokenizer import Tokenizer, get_tokenizer, normalize_tokens
from headwise.data.columns.file_source import FileHead
from headwise.data.columns.item_options import DEFAULT_TAG_OPTIONS, TagOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.findings import abbreviate
from headwise.data.items.dataset import InputRow, InputRows
from headwise.data.items.examples import (
    DisplayNames,
    Example,
    Parse,
    TaggedSentence,
    first_heads,
    parse_field,
    weight_field,
)
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import TAGS, LabelType
from headwise.data.readers.file_preview import read_preview
from headwise.data.readers.labelled_files import read_rows
from headwise.data.readers.tag_format_guess import RECOGNISERS, looks_tagged, looks_tokenized
from headwise.data.readers.tagged_files import TaggedData, read_tagged

FORMATS = frozenset(RECOGNISERS)
_COLUMNS = {"tag_column", "token_column", "head_column"}
_LOOKED_AT = 400  # lines
_UNBROKEN = 512  # words from which on a file of one sentence surely lacks the blank lines
_EXPECTED_SPANS = 5  # of a type in a file, going by the other files, from which on their absence is told
_OUTSIDE = "O"  # the tag of words in no span
_TEXT_FORMATS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "fasttext", "sst", "label-text")


class TaggedSentenceItems(ItemType[TaggedSentence]):
    """Sentences of tagged words.

    Args:
        label_type: The label type.
        tokenizer: The model's tokenizer, for texts with character spans.
    """

    nouns: ClassVar[DisplayNames] = DisplayNames("sentence", "sentences")
    options, prediction_options = TagOptions, (ReadOptions,)
    sides: ClassVar[int] = 1
    has_tags: ClassVar[bool] = True

    def __init__(self, label_type: LabelType = TAGS, tokenizer: str = "penn"):
        super().__init__(label_type)
        self.tokenizer = tokenizer

    def read(self, path: str, options=None, on_error: OnError = raise_error, *, schema=None) -> TaggedData:
        return read_tagged(path, options or DEFAULT_TAG_OPTIONS, on_error, tokenizer=self.tokenizer)

    def rows(self, path: str, options=None, *, schema=None) -> InputRows[TaggedSentence]:
        """The sentences of a file of tokenised sentences, tagged or not. Only those in JSON have fields."""
        options = options or DEFAULT_TAG_OPTIONS
        data = read_tagged(path, options, labelled=False, tokenizer=self.tokenizer)
        if not data.items:
            raise DataError("HW103", "no sentences", expected="one word or more", path=data.path)
        rows = (InputRow(item.line, dict(item.fields), item) for item in data.items)
        return InputRows(rows, data.path, data.format, data.columns, data.notes)

    def with_tokenizer(self, tokenizer: str) -> Self:
        return type(self)(self.label_type, tokenizer)

    def rows_to_predict(
        self, path: str, reading: Mapping[str, object], *, schema=None
    ) -> InputRows[TaggedSentence] | InputRows[Example]:
        """The sentences of a file to predict, if it is tokenised; otherwise its running texts.

        Raises:
            DataError: HW259, standard input could be either.
        """
        if is_tokenized_file(path, reading):
            return self.rows(path, from_dict(TagOptions, reading))
        rows = read_rows(path, from_dict(ReadOptions, reading))
        if path != "-" or "format" in reading or rows.format not in ("text", "csv", "tsv", "label-text"):
            return rows
        head = [*islice(rows.rows, _LOOKED_AT)]  # standard input can only be read once
        lines = {row.line: "\t".join(map(str, row.fields.values())) for row in head}
        written = [lines.get(number, "") for number in range(1, _LOOKED_AT)]
        header = ["\t".join(head[0].fields)] if head else []
        if why := looks_tagged(written) or looks_tagged([*header, *filter(None, written)]):
            advice = "give --format columns (or table, lists), or --format text (or csv) if they are texts"
            raise DataError("HW259", f"tagged words: {why}", advice=advice, path=path)
        return replace(rows, rows=chain(head, rows.rows))

    def split(self, items, dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""):
        if len(items) == 1 and (words := len(items[0].tokens)) >= _UNBROKEN:
            problem, expected = f"one sentence of {words:,} words", "sentences"
            advice = "put a blank line after each sentence"
            raise DataError("HW141", problem, expected=expected, advice=advice, path=path)
        return super().split(items, dev, test, seed, path)

    def file_set_notes(self, data_sets: Sequence[TaggedData]) -> list[str]:
        """Types of spans that a file lacks although others suggest several.

        Nobody may have tagged them there, and their words count as outside of all spans."""
        notes = []
        for data in data_sets:
            rest = [data_set for data_set in data_sets if data_set is not data]
            sentences = sum(len(data_set.items) for data_set in rest)
            counts = sum((Counter(data_set.entities) for data_set in rest), Counter[str]())
            lacking = sorted(
                kind or "spans"
                for kind, count in counts.items()
                if kind not in data.entities and count * len(data.items) >= _EXPECTED_SPANS * sentences
            )
            if lacking:
                notes.append(
                    f"{data.path} has no {abbreviate(lacking)}, unlike the other files: if they were not "
                    "tagged there, the model learns that such words are in no span"
                )
        return notes

    def key(self, item: TaggedSentence) -> str:
        return " ".join(item.tokens)

    def fields(self, item: TaggedSentence) -> Iterable[str | None]:
        optional = *parse_field(item.parse), *weight_field(item.weight)
        return "\n".join(item.tokens), "\n".join(item.tags), *optional

    def words(self, item: TaggedSentence, cut: Callable[[str], Sequence[str]]) -> tuple[Sequence[str], ...]:
        return (normalize_tokens(get_tokenizer(self.tokenizer), item.tokens),)

    def first_words(self, item: TaggedSentence, count: int, tokenizer: Tokenizer) -> TaggedSentence:
        """The first words with their tags: at most `count`, without a span that begins there and ends
        later."""
        if len(item.tokens) <= count:
            return item
        tags = item.tags
        if _OUTSIDE in tags:
            count = next((n for n in range(count, 0, -1) if tags[n] == _OUTSIDE), count)
        spans = None if item.spans is None else item.spans[:count]
        parse = first_heads(item.parse, count)
        return replace(
            item,
            tokens=item.tokens[:count],
            tags=tags[:count],
            parse=None if parse is None else tuple(map(int, parse)),
            columns={name: values[:count] for name, values in item.columns.items()},
            text=item.text[: spans[-1][1]] if item.text and spans else item.text,
            spans=spans,
        )

    def characters(self, item: TaggedSentence) -> int:
        return sum(map(len, item.tokens))

    def with_parses(self, item, heads: Sequence[Parse]):
        """A sentence, or a running text, with its parse attached."""
        parse = tuple(map(int, heads[0])) if isinstance(item, TaggedSentence) else heads[0]
        return replace(item, parse=parse)

    def has_parses(self, item: TaggedSentence) -> bool:
        return item.parse is not None

    def size(self, item: TaggedSentence) -> int:
        return len(item.tokens)

    def columns_of(self, data) -> tuple[str, str | None]:
        return data.columns.token, data.columns.tag

    def classes_of(self, data) -> tuple[tuple[str, int, float], ...]:
        """The span types, or the tags if these mark no spans, with counts and fractions."""
        counts = data.entities or data.labels
        total = max(sum(counts.values()), 1)
        return tuple((kind or "span", n, n / total) for kind, n in counts.items())

    def show(self, item: TaggedSentence) -> str:
        return " ".join(item.tokens)

    def implied_by(self, reading: Mapping[str, object]) -> str | None:
        if _COLUMNS & set(reading):
            return "a column of tokens, tags or heads is named"
        form = reading.get("format")
        return f"the format {form} is one of tagged sentences" if form in FORMATS else None

    def recognise(self, head: FileHead, reading: Mapping[str, object]) -> str | None:
        return None if reading.get("format") in _TEXT_FORMATS else looks_tagged(head.texts)


def is_tokenized_file(path: str, reading: Mapping[str, object], head: FileHead | None = None) -> bool:
    """Whether a file to predict holds tokenised sentences, rather than running texts."""
    form = reading.get("format")
    if form is not None:
        return form in FORMATS
    if _COLUMNS & set(reading):
        return True
    if path == "-" or {"text_column", "label_column"} & set(reading):
        return False
    return looks_tokenized((head or read_preview(path)).texts)
