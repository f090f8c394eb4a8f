"""Sentences whose words stand beside their tags one by one, in lists or in objects:

    [["EU", "B-ORG"], ["rejects", "O"]]
    {"tokens": [{"text": "EU", "tag": "B-ORG"}, {"text": "rejects", "tag": "O"}]}

They become two lists, of words and of tags, and further ones for what else stands beside the words.

Code: HW251 a word without a tag.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import TEXT_NAMES, name_rank, normal_name
from headwise.data.columns.file_source import DataSource, Record, most_true
from headwise.data.formats.record_fields import Flatten, Rows, field_names, list_of, without_fields
from headwise.data.formats.tag_checks import marks_entities

TOKENS, TAGS = "tokens", "tags"
"""The fields of the words and of their tags that the records get."""

_LIST_NAMES = {
    *("tokens", "words", "sentence", "tagged", "tags", "pairs", "labels", "ner", "ner_tags", "data")
}
_WORD_NAMES = ("token", "word", "text", "form", "orth", "surface", "value")
_TAG_NAMES = (
    *("ner_tag", "ner", "tag", "label", "bio", "iob", "entity", "slot", "upos", "pos", "pos_tag", "xpos"),
    *("type", "class", "category"),
)
_MOST_PARTS = 6  # of a word and what stands beside it
_MOST_WORDS = 100  # of a file of one sentence
_EXPECTED = 'a word with its tag, such as ["EU", "B-ORG"] or {"token": "EU", "tag": "B-ORG"}'


def sentence_object(row: object) -> object:
    """An object with the field of the words for a list of words with tags; another value itself."""
    return {TOKENS: row} if isinstance(row, list) and _parts_of(row[0] if row else None) else row


def are_sentences(rows: Sequence[object]) -> bool:
    """Whether most lines are sentences of words with tags, and no tables of texts and labels: all words
    are single ones, and tags mark spans, or recur in several lists of lists."""
    complete = [words for row in rows if (words := _words_of(row))]
    if 2 * len(complete) <= len(rows) or (layout := _layout(complete)) is None:
        return False
    words = [*chain.from_iterable(complete)]
    if not all(map(layout.has_one_word, words)):
        return False
    if len(rows) == 1 and (len(words) > _MOST_WORDS or "1" not in words[0]):
        return False  # a table with a word in each row
    tags = layout.count_tags(words)
    recur = len(rows) > 1 and "1" in words[0] and 2 * len(tags) <= len(words)
    return marks_entities(tags) or recur


@dataclass(frozen=True)
class _Layout:
    """The keys of the word, of its tag, and of what else stands beside them."""

    word: str
    tag: str
    extra: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The keys, for a note."""
        pair = f"{self.word} and {self.tag}"
        return f"{pair} of each list" if self.word.isdecimal() else f"the fields {pair}"

    def has_one_word(self, parts: Mapping[str, str | None]) -> bool:
        """Whether the word holds no spaces."""
        return len(as_text(parts.get(self.word)).split()) < 2

    def count_tags(self, words: Iterable[Mapping[str, str | None]]) -> Counter[str]:
        """How often each tag occurs."""
        return Counter(tag for parts in words if (tag := parts.get(self.tag)))

    def text_of(self, words: Iterable[Mapping[str, str | None]]) -> str:
        """The words without spaces between them."""
        return "".join("".join(as_text(parts.get(self.word)).split()) for parts in words)


def _words_of(row: object) -> list[dict[str, str | None]] | None:
    """What stands beside each word of a list; None unless it is a list of words."""
    words = [_parts_of(raw) for raw in row] if isinstance(row, list) else [None]
    return None if None in words else [parts for parts in words if parts]


def _parts_of(raw: object) -> dict[str, str | None] | None:
    """What stands side by side for a word: the texts of a list, by number, or of an object, by name; None
    of another value."""
    if isinstance(raw, list):
        pairs = [(str(number), part) for number, part in enumerate(raw, start=1)]
    elif isinstance(raw, dict):
        pairs = [(str(name), part) for name, part in raw.items() if isinstance(part, str | None)]
    else:
        return None
    if not 2 <= len(pairs) <= _MOST_PARTS * (1 + isinstance(raw, dict)):
        return None
    parts = {name: part for name, part in pairs if isinstance(part, str | None)}
    if len(parts) < len(pairs) or not any(parts.values()):
        return None
    if isinstance(raw, dict) and (_named(parts, _WORD_NAMES) is None or _named(parts, _TAG_NAMES) is None):
        return None
    return parts


def _named(parts: Mapping[str, object], names: Sequence[str]) -> str | None:
    """The name of a part that comes first in `names`."""
    usual = {normal_name(name): name for name in reversed([*parts])}
    return next((usual[name] for name in names if name in usual), None)


def _layout(sentences: Sequence[Sequence[Mapping[str, str | None]]]) -> _Layout | None:
    """The layout of words with tags; None if they have no common one."""
    words = [*chain.from_iterable(sentences)]
    keys = [*dict.fromkeys(key for word in words for key in word)]
    values = {key: Counter(as_text(word.get(key)) for word in words if word.get(key)) for key in keys}
    spans = [key for key in keys if marks_entities(values[key])]
    if "1" in keys:  # lists: the tag comes last, or first
        by_variety = sorted(keys, key=lambda key: -len(values[key]))
        tag = spans[-1] if spans else keys[0] if by_variety[0] == keys[-1] != keys[0] else keys[-1]
        word = next((key for key in keys if key not in spans and key != tag), None)
    else:
        named = [key for key in keys if normal_name(key) in _TAG_NAMES]
        word = _named(dict.fromkeys(keys), _WORD_NAMES)
        tag = next((key for key in named if key in spans), None) or _named(dict.fromkeys(named), _TAG_NAMES)
    if word is None or tag is None or word == tag:
        return None
    return _Layout(word, tag, tuple(key for key in keys if key not in (word, tag)))


def recognise(rows: Rows) -> Flatten | None:
    """The reader of lists of words with tags: all words of their text if there is one, and tags that mark
    spans unless the name of the list is a usual one."""
    listed = [name for name in field_names(rows) if any(isinstance(row.get(name), list) for row in rows)]
    for name in sorted(listed, key=lambda name: normal_name(name) not in _LIST_NAMES):
        if flatten := _reader_of_field(name, rows):
            return flatten
    return None


def _reader_of_field(name: str, rows: Rows) -> Flatten | None:
    """The reader of a field, if its values are words with tags."""
    lists = [value for row in rows if isinstance(value := row.get(name), list) and value]
    nested = most_true(bool(_words_of(value[0])) for value in lists)
    sentences = [_words_of(row) for row in (chain.from_iterable(lists) if nested else lists)]
    complete = [words for words in sentences if words is not None]
    layout = _layout(complete)
    if layout is None or 2 * len(complete) <= len(sentences):
        return None
    words = [*chain.from_iterable(complete)]
    tags = layout.count_tags(words)
    if not marks_entities(tags):  # perhaps entities, or texts with labels
        usual = normal_name(name) in _LIST_NAMES and 2 * len(tags) <= len(words)
        if not usual or not all(map(layout.has_one_word, words)):
            return None
    if any(_holds_words(value) for row in rows for key, value in row.items() if key != name):
        return None
    texts = [
        (text, _words_of(row.get(name)))
        for row in rows
        for key, text in row.items()
        if isinstance(text, str) and key != name and name_rank(key, TEXT_NAMES) is not None and not nested
    ]
    fits = [layout.text_of(words or ()) == "".join(text.split()) for text, words in texts]
    if fits and not most_true(fits):
        return None
    return partial(_parallel_lists, field=name, layout=layout, nested=nested)


def _holds_words(value: object) -> bool:
    """Whether a value is a list of words, beside which others name entities."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(word, str) for word in value)


def _parallel_lists(
    records: Iterator[Record], source: DataSource, field: str, layout: _Layout, *, nested: bool
) -> Iterator[Record]:
    """The records with lists of words and of tags in place of those of words with tags, one for each
    sentence, of which a record has several if they are `nested`."""
    source.notes.append(f"the words of {field!r} stand beside their tags: {layout.shown}")
    for record in records:
        value = record.fields.get(field)
        neighbours = without_fields(record.fields, field)
        for sentence in value if nested and isinstance(value, list) else [value]:
            words = _words_of(sentence)
            if words is not None:
                yield record._replace(fields={**neighbours, **_lists(words, layout, neighbours)})
            elif sentence is None:
                yield record._replace(fields={**neighbours, TOKENS: None, TAGS: None})
            else:
                bad = next((raw for raw in list_of(sentence) if _parts_of(raw) is None), sentence)
                problem = f"a word without a tag in {field!r}: {as_text(bad)[:60]}"
                source.report_error("HW251", problem, record.line, expected=_EXPECTED)


def _lists(
    words: Sequence[Mapping[str, str | None]], layout: _Layout, neighbours: Mapping[str, object]
) -> dict[str, object]:
    """The words, their tags, and the lists of what else stands beside them."""
    lists: dict[str, object] = {TOKENS: [word.get(layout.word) for word in words]}
    lists[TAGS] = [word.get(layout.tag) for word in words]
    for key in layout.extra:
        if (column := [word.get(key) for word in words]) and None not in column:
            name = f"column {key}" if key.isdecimal() else key
            lists |= {} if name in neighbours or name in lists else {name: column}
    return lists
