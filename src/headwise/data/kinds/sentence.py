"""The item type of tagged sentences (sequence labelling)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, ClassVar

from headwise.config import from_dict
from headwise.data.answers import TAGS, Answer
from headwise.data.doctor.file import BetweenCheck, Check
from headwise.data.doctor.tags import few_spans, long, one_tag, other_tags, scheme, torn
from headwise.data.doctor.texts import nearly_repeated, repeated, shared
from headwise.data.errors import DataError, OnError, stop
from headwise.data.example import Example, Parse
from headwise.data.fingerprint import heads_field, weight_field
from headwise.data.head import Head, read_head
from headwise.data.kind import Kind
from headwise.data.nouns import Nouns
from headwise.data.options import ReadOptions
from headwise.data.read import read_rows
from headwise.data.rows import Row, Rows
from headwise.data.sentence import Tagged
from headwise.data.tag_options import DEFAULT, TagOptions
from headwise.data.tag_sniff import RECOGNISERS, gives_words, looks_tagged
from headwise.data.tagged import TaggedData, read_tagged

FORMATS = frozenset(RECOGNISERS)
_COLUMNS = {"tag_column", "token_column", "head_column"}
_LOOKED_AT = 400  # lines
_OTHERS = ("csv", "tsv", "jsonl", "xlsx", "parquet", "fasttext", "sst", "label-text")


class SentenceKind(Kind[Tagged]):
    """Sentences of tagged words.

    Args:
        answer: The label type.
        tokenizer: The model's tokenizer, for texts with character spans.
    """

    nouns: ClassVar[Nouns] = Nouns("sentence", "sentences")
    options = TagOptions
    sides: ClassVar[int] = 1
    checks: ClassVar[tuple[Check, ...]] = (
        one_tag,
        scheme,
        torn,
        repeated,
        nearly_repeated,
        long,
        few_spans,
    )
    between: ClassVar[tuple[BetweenCheck, ...]] = (shared, other_tags)

    def __init__(self, answer: Answer = TAGS, tokenizer: str = "penn"):
        super().__init__(answer)
        self.tokenizer = tokenizer

    def read(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> TaggedData:
        return read_tagged(path, options or DEFAULT, on_error, tokenizer=self.tokenizer)

    def rows(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> Rows[Tagged]:
        """The sentences of a file of tokenized sentences, tagged or not. Only those in JSON have fields."""
        options = options or DEFAULT
        data = read_tagged(path, options, on_error, labelled=False, tokenizer=self.tokenizer)
        if not data.items:
            raise DataError("HW103", "no sentences", expected="one word or more", path=data.path)
        rows = (Row(item.line, dict(item.fields), item) for item in data.items)
        return Rows(rows, data.path, data.format, data.columns, data.notes)

    def rows_or_texts(self, path: str, reading: Mapping[str, Any]) -> Rows[Tagged] | Rows[Example]:
        """The sentences of a file to predict, if it is tokenized; otherwise its running texts.

        Args:
            path: The file; "-" is standard input.
            reading: The user's reading settings.

        Raises:
            DataError: HW259, standard input could be either.
        """
        if words_are_given(path, reading):
            return self.rows(path, from_dict(TagOptions, reading))
        rows = read_rows(path, from_dict(ReadOptions, reading))
        if path != "-" or "format" in reading or rows.format not in ("text", "tsv", "label-text"):
            return rows
        head = [*islice(rows.rows, _LOOKED_AT)]  # standard input can only be read once
        lines = {row.line: "\t".join(map(str, row.fields.values())) for row in head}
        if why := looks_tagged([lines.get(number, "") for number in range(1, _LOOKED_AT)]):
            advice = "give --format columns, or --format text if they are texts"
            raise DataError("HW259", f"tagged words: {why}", advice=advice, path=path)
        return replace(rows, rows=chain(head, rows.rows))

    def key(self, item: Tagged) -> str:
        return " ".join(item.tokens)

    def fields(self, item: Tagged) -> Iterable[str | None]:
        optional = *heads_field(item.heads), *weight_field(item.weight)
        return "\n".join(item.tokens), "\n".join(item.tags), *optional

    def words(self, item: Tagged, cut: Callable[[str], Sequence[str]]) -> tuple[Sequence[str], ...]:
        return (item.tokens,)

    def with_heads(self, item: Any, heads: Sequence[Parse]) -> Any:
        """A sentence, or a running text, with its parse attached."""
        parse = tuple(map(int, heads[0])) if isinstance(item, Tagged) else heads[0]
        return replace(item, heads=parse)

    def has_heads(self, item: Tagged) -> bool:
        return item.heads is not None

    def size(self, item: Tagged) -> int:
        return len(item.tokens)

    def columns_of(self, data: Any) -> tuple[str, str | None]:
        return data.columns.token, data.columns.tag

    def classes_of(self, data: Any) -> tuple[tuple[str, int, float], ...]:
        """The span types, or the tags if these mark no spans, with counts and fractions."""
        counts = data.entities or data.labels
        total = max(sum(counts.values()), 1)
        return tuple((kind or "span", n, n / total) for kind, n in counts.items())

    def show(self, item: Tagged) -> str:
        return " ".join(item.tokens)

    def implied_by(self, reading: Mapping[str, Any]) -> str | None:
        if _COLUMNS & set(reading):
            return "a column of tokens, tags or heads is named"
        form = reading.get("format")
        return f"the format {form} is one of tagged sentences" if form in FORMATS else None

    def recognise(self, head: Head, reading: Mapping[str, Any]) -> str | None:
        return None if reading.get("format") in _OTHERS else looks_tagged(head.texts)


def words_are_given(path: str, reading: Mapping[str, Any], head: Head | None = None) -> bool:
    """Whether a file to predict holds tokenized sentences, rather than running texts.

    Args:
        path: The file.
        reading: The user's reading settings.
        head: The beginning of the file, if it has been read.
    """
    form = reading.get("format")
    if form is not None:
        return form in FORMATS
    if _COLUMNS & set(reading):
        return True
    if path == "-" or {"text_column", "label_column"} & set(reading):
        return False
    return gives_words((head or read_head(path)).texts)
