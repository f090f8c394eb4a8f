"""The items of data files, with their labels and where they came from: texts, pairs,
tagged sentences, and texts with any number of labels. `DisplayNames` is how messages name
them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import DEFAULT_LABEL_SEPARATOR, MultiLabelOptions
from headwise.data.columns.tabular_columns import TabularRow
from headwise.data.items.labels import SoftLabel


@dataclass(frozen=True)
class DisplayNames:
    """How messages name items.

    Attributes:
        one: Singular.
        many: Plural.
        length: The unit of an item's length.
        numbers: The task that learns numbers instead of classes for such items, for advice; or "".
    """

    one: str = "text"
    many: str = "texts"
    length: str = "words"
    numbers: str = ""

    def count(self, number: int) -> str:
        """`1 pair`, `2,000 pairs`."""
        return f"{number:,} {self.one if number == 1 else self.many}"


TEXTS = DisplayNames(numbers="the task regress (in Python TextRegressor)")


Parse = Sequence[int] | NDArray[np.int64]
"""The head of each word in the dependency tree, `[words]` (see `headwise.text.syntax`)."""


def first_heads(parse: Parse | None, count: int) -> NDArray[np.int64] | None:
    """The heads of the first `count` words; words whose head comes later become roots."""
    if parse is None:
        return None
    heads = np.asarray(parse, dtype=np.int64)[:count]
    return np.where(heads <= count, heads, 0)


@renamed_parameters(heads="parse")
@dataclass(frozen=True, slots=True)
class Example:
    """One text.

    Attributes:
        text: The text exactly as it stands in the file (after decoding and unquoting).
        label: The label's name, or None where the file has none (prediction).
        line: The line of the file, from 1, on which the record starts.
        parse: Its dependency parse, if there is one.
        shares: Soft labels: the probabilities of labels, where the label is not certain (`label` is the
            likeliest).
        weight: How much the text counts in training.
        tabular: The values of the columns beside the text; None without.
    """

    text: str
    label: str | None = None
    line: int = 0
    parse: Parse | None = None
    shares: SoftLabel | None = None
    weight: float = 1.0
    tabular: TabularRow | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The label, if there is one."""
        return () if self.label is None else (self.label,)


def as_example(text: str | Example) -> Example:
    """A text as an example.

    Raises:
        ConfigError: It is neither a text nor an example.
    """
    if isinstance(text, Example):
        return text
    if not isinstance(text, str):
        raise ConfigError(f"expected a text, got {text!r:.80}; write '' where there is none")
    return Example(text)


@renamed_parameters(first_heads="first_parse", second_heads="second_parse")
@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts with a label or score.

    Attributes:
        first: The first text (premise, question), exactly as it stands in the file.
        second: The second text (hypothesis, answer).
        label: The label, or the score as it is written; None where the file has none (prediction).
        line: The line of the file, from 1, on which the record starts.
        first_parse: The dependency head of each word of the first text, if it is parsed.
        second_parse: The dependency head of each word of the second text, if it is parsed.
        weight: The training weight of the pair.
    """

    first: str
    second: str
    label: str | None = None
    line: int = 0
    first_parse: Parse | None = None
    second_parse: Parse | None = None
    weight: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """A tuple of the label; empty for a pair without one."""
        return () if self.label is None else (self.label,)


@renamed_parameters(heads="parse")
@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """A tagged sentence.

    Attributes:
        tokens: The tokens; at least one if there are tags.
        tags: One tag per token; empty if the file has no tags (prediction).
        line: The line of the file, from 1, on which the first token stands.
        parse: The dependency head of each token: its number from 1, or 0 for a root; None without a parse.
        columns: The further columns of the file by name, with one value per token.
        text: The original text of the sentence, if the file has it.
        spans: The character span of each token in `text`: start, and end (exclusive). Words of one written
            token ("du" for "de le") that cannot be separated share its span.
        starts_document: Whether a document starts with this sentence.
        fields: All fields of the record, if it is read for prediction.
        weight: The training weight of the sentence.
    """

    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    line: int = 0
    parse: tuple[int, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    text: str | None = None
    spans: tuple[tuple[int, int], ...] | None = None
    starts_document: bool = False
    fields: Mapping[str, object] = field(default_factory=dict, hash=False)
    weight: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags."""
        return self.tags


def as_sentence(words: TaggedSentence | Sequence[str]) -> TaggedSentence:
    """A `TaggedSentence` sentence without tags, made from a list of words; a `TaggedSentence` sentence is
    returned as is.

    Raises:
        ConfigError: The argument is neither.
    """
    if isinstance(words, TaggedSentence):
        return words
    listed = (
        hasattr(words, "__len__") and hasattr(words, "__getitem__") and not isinstance(words, str | Mapping)
    )
    if not listed or not all(isinstance(word, str) for word in words):
        raise ConfigError(
            f"expected a sentence as a list of words, got {words!r:.80}; running texts are for predict"
        )
    return TaggedSentence(tuple(words), ())


def align(tokens: Sequence[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """The character span of each token in the text: start, and end (exclusive).

    None if the text is not the sequence of the tokens, with optional white space between them.
    """
    spans, at = [], 0
    for token in tokens:
        while text[at : at + 1].isspace():
            at += 1
        if not text.startswith(token, at):
            return None
        spans.append((at, at + len(token)))
        at += len(token)
    return None if text[at:].strip() else tuple(spans)


@dataclass(frozen=True, slots=True)
class MultiLabelExample(Example):
    """One text with its labels, in the file's order, each once; `label` is None."""

    labels: tuple[str, ...] = ()


def separator_for(options: MultiLabelOptions, labels: Sequence[str], read: str | None = None) -> str:
    """The separator that a model writes between labels: the one in the options, or the one `read` from its
    training file; without these, the first of the usual ones that no label contains."""
    requested = options.label_separator or read
    candidates = [requested] if requested else [DEFAULT_LABEL_SEPARATOR, ";", ",", "||", ";;"]
    free = [mark for mark in candidates if not any(mark in label for label in labels)]
    return (free or candidates)[0]


def writable_separator(data: Any) -> str:
    """A separator for writing the label sets of a file, which may have a column for each label."""
    labels = {label for item in data.items for label in item.labels}
    return separator_for(MultiLabelOptions(), sorted(labels), getattr(data.columns, "separator", None))


def parse_field(heads: Parse | None) -> tuple[str, ...]:
    """A dependency parse as one text of numbers; nothing if there is none."""
    return () if heads is None else (" ".join(map(str, heads)),)


def weight_field(weight: float) -> tuple[str, ...]:
    """The weight of an item as text; nothing for the weight 1."""
    return () if weight == 1 else (f"{weight:.6g}",)
