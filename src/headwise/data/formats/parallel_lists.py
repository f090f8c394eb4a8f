"""Fields of records that are lists of one length: the words of a sentence, and their tags.

A list may be written as a text, such as `DT NN` or `O,B-PER`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import TEXT_NAMES, name_rank, normal_name
from headwise.data.columns.file_source import most_true
from headwise.data.formats.record_fields import field_names
from headwise.data.formats.tag_checks import marks_entities

TOKEN_NAMES = ("tokens", "words")
TAG_NAMES = (
    *("ner_tags", "named_entities", "tags", "labels", "ner", "tag", "bio_tags", "iob_tags", "slots"),
    "slot_labels",
    *("upos", "pos_tags", "pos"),
)
"""Usual names of the list of tags, the most certain first."""

_OUTSIDE = "O"  # the tag of words outside of all spans
_MAX_COLUMNS = 100  # in which two lists of equal length are searched
_UNTAGGED, _NO_LIST, _NO_WORDS = -1, -2, -3  # in place of a length


def words_of(value: object) -> object:
    """The words of a sentence that a field holds as a list, or as a text with spaces between them."""
    return value.split() if isinstance(value, str) else value


def pieces_of(value: object) -> object:
    """The tags of a sentence that a field holds as a list, or as a text such as `DT NN` or `O,B-PER`."""
    if isinstance(value, str) and len(words := value.split()) < 2:
        return value.strip().split(",") if words else []
    return words_of(value)


def has_words(value: object) -> bool:
    """Whether a value is a list or a text of several words."""
    words = words_of(value)
    return isinstance(words, list) and len(words) > 1 and all(isinstance(word, str) for word in words)


def is_untagged(tags: object) -> bool:
    """Whether tags are missing, or all are."""
    return tags in (None, "", []) or (isinstance(tags, list) and all(tag in (None, "") for tag in tags))


def is_parallel(tags: object, words: object) -> TypeGuard[list[object]]:
    """Whether the values are lists with one tag per word."""
    if not isinstance(tags, list) or not isinstance(words, list) or len(tags) != len(words):
        return False
    return None not in tags and not _has_structure((*tags, *words))


def _has_structure(elements: Sequence[object]) -> bool:
    return any(isinstance(element, list | dict) for element in elements)


@dataclass(frozen=True)
class _TagFacts:
    """What is asked of a field again and again in the search for words and their tags.

    Attributes:
        lengths: The number of its elements in each record; `_UNTAGGED` or `_NO_LIST` instead where it holds
            no tags, `[records]`.
        distinct_lengths: The number of different lengths of its lists.
        has_outside: Whether an element is the tag of words outside of all spans.
        has_text: Whether some values are texts.
    """

    lengths: Sequence[int]
    distinct_lengths: int
    has_outside: bool
    has_text: bool

    @classmethod
    def of(cls, values: Sequence[object]) -> "_TagFacts":
        """The facts of the values of a field."""
        pieces = [pieces_of(value) for value in values]
        lists = [one for one in pieces if isinstance(one, list)]
        return cls(
            [*map(_tag_count, values, pieces)],
            len({*map(len, lists)}),
            any(_OUTSIDE in one for one in lists),
            any(isinstance(value, str) for value in values),
        )


def _tag_count(value: object, pieces: object) -> int:
    if is_untagged(value):
        return _UNTAGGED
    if not isinstance(pieces, list):
        return _NO_LIST
    sound = isinstance(value, str) or (None not in pieces and not _has_structure(pieces))
    return len(pieces) if sound else _NO_LIST


@dataclass(frozen=True)
class ParallelLists:
    """The fields of the first records, among which words and their tags are searched.

    Attributes:
        rows: The fields of each record.
    """

    rows: Sequence[dict[str, object]]
    _varieties: dict[str, int] = field(default_factory=dict)

    def token_field(self) -> str | None:
        """The field of the words: by its usual name, else the most varied one that has tags."""
        rows = self.rows
        names = field_names(rows)[:_MAX_COLUMNS]
        usual = [name for name in names if normal_name(name) in TOKEN_NAMES]
        texts = [name for name in names if name_rank(name, TEXT_NAMES) is not None]
        if usual and (not texts or self.tag_fields(usual[0])):
            return usual[0]
        varied = [name for name in names if most_true(has_words(row.get(name)) for row in rows)]
        for name in sorted(varied, key=lambda name: -self._variety(name)):
            tags = [tag for tag in self.tag_fields(name) if self._variety(name) > self._variety(tag)]
            if any(self._look_like_tags(tag, name) for tag in tags):
                return name
        return None

    def tag_fields(self, token: str) -> list[str]:
        """The names of the lists that are as long as the list of tokens in most records, usual names first.
        Of texts, those that may hold tags."""
        names = list(self._facts)
        words = np.array([self._word_count(row.get(token)) for row in self.rows], dtype=np.int64)
        equal = 2 * (self._lengths == words).sum(axis=1) > (self._lengths != _UNTAGGED).sum(axis=1)
        as_long = [names[number] for number in np.flatnonzero(equal).tolist() if names[number] != token]
        as_long = [
            name for name in as_long if not self._facts[name].has_text or self._look_like_tags(name, token)
        ]
        places = {name: name_rank(name, TAG_NAMES) for name in as_long}
        return sorted(as_long, key=lambda name: len(TAG_NAMES) if (at := places[name]) is None else at)

    def _elements(self, name: str | None) -> list[str]:
        """The elements of the lists of a field."""
        lists = (value for row in self.rows if isinstance(value := pieces_of(row.get(name or "")), list))
        return [as_text(element) for value in lists for element in value]

    def holds_numbers(self, name: str | None) -> bool:
        """Whether the lists of a field hold nothing but whole numbers."""
        elements = self._elements(name)
        return bool(elements) and all(map(str.isdecimal, elements))

    def marks_spans(self, name: str) -> bool:
        """Whether the lists of a field hold tags that mark spans."""
        return marks_entities(Counter(self._elements(name)))

    @cached_property
    def _facts(self) -> dict[str, _TagFacts]:
        """The facts of the fields of the first record, by name."""
        names = self.rows[0] if self.rows else {}
        return {name: _TagFacts.of([row.get(name) for row in self.rows]) for name in names}

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        """The lengths of these fields, `[fields, records]`."""
        lengths = [facts.lengths for facts in self._facts.values()]
        return np.array(lengths, dtype=np.int64).reshape(len(lengths), len(self.rows))

    @staticmethod
    def _word_count(value: object) -> int:
        words = words_of(value)
        return len(words) if isinstance(words, list) and not _has_structure(words) else _NO_WORDS

    def _look_like_tags(self, tag: str, token: str) -> bool:
        """Whether lists as long as the words are no label sets that happen to be so: a tag is O, or all
        lists are as long as the words, of three lengths or more. Texts must have fewer different tags than
        words, and not only numbers, unless they are named like tags."""
        facts = self._facts[tag]
        if facts.has_outside:
            return True
        if facts.distinct_lengths < 3:
            return False
        pairs = [(pieces_of(row.get(tag)), words_of(row.get(token))) for row in self.rows]
        tagged = [(tags, words) for tags, words in pairs if isinstance(tags, list)]
        if not all(is_parallel(*pair) for pair in tagged):
            return False
        if not facts.has_text:
            return True
        numbers = all(str(element).isdecimal() for tags, _ in tagged for element in tags)
        if numbers and name_rank(tag, TAG_NAMES) is None:  # such as the heads of a parse
            return False
        return 2 * self._variety(tag) <= self._variety(token)

    def _variety(self, name: str) -> int:
        """The number of different elements of a list, or words of a text."""
        if name not in self._varieties:
            lists = (value for row in self.rows if isinstance(value := pieces_of(row.get(name)), list))
            self._varieties[name] = len({as_text(element) for value in lists for element in value})
        return self._varieties[name]
