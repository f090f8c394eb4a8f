"""Text pairs with a label, and the options for reading files of them."""

from dataclasses import dataclass
from typing import Literal

from headwise.data.example import Parse
from headwise.data.options import ReadOptions, WeightOptions


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts with a label or score.

    Attributes:
        first: The first text (premise, question), exactly as it stands in the file.
        second: The second text (hypothesis, answer).
        label: The label, or the score as it is written; None where the file has none (prediction).
        line: The line of the file, from 1, on which the record starts.
        first_heads: The dependency head of each word of the first text, if it is parsed.
        second_heads: The dependency head of each word of the second text, if it is parsed.
        weight: The training weight of the pair.
    """

    first: str
    second: str
    label: str | None = None
    line: int = 0
    first_heads: Parse | None = None
    second_heads: Parse | None = None
    weight: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """A tuple of the label; empty for a pair without one."""
        return () if self.label is None else (self.label,)


@dataclass(frozen=True)
class PairOptions:
    """How files of text pairs are read. What is not given is guessed, and the guess is told."""

    format: Literal["csv", "tsv", "jsonl", "xlsx", "parquet"] | None = None
    """The files' format; guessed from the name and the first lines by default."""

    first_column: str | None = None
    """The column of the first texts: its name, or its number from 1."""

    second_column: str | None = None
    """The column of the second texts: its name, or its number from 1."""

    label_column: str | None = None
    """The column of the labels or scores: its name, or its number from 1."""

    weight_column: str | None = None
    """The column that says how much a pair counts in training; or none."""

    no_label: str = "-"
    """The label of pairs on which annotators did not agree (SNLI); they are left out, and counted."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with rows whose label is empty: stop, or leave them out and say how many."""

    header: bool | None = None
    """Whether the first row of a csv or tsv file names the columns."""

    delimiter: str | None = None
    """What separates the fields of a csv file; "\\\\t" is a tab."""

    encoding: str = "utf-8"
    """The character encoding, such as utf-8, utf-16, latin-1 or cp1252."""

    encoding_errors: Literal["strict", "replace"] = "strict"
    """What to do with bytes that cannot be decoded: stop, or read them as U+FFFD."""

    def reading(self) -> ReadOptions:
        """The options that the reader of tables needs."""
        return WeightOptions(
            format=self.format,
            text_column=self.first_column or self.second_column,
            label_column=self.label_column,
            header=self.header,
            delimiter=self.delimiter,
            encoding=self.encoding,
            encoding_errors=self.encoding_errors,
            empty_labels=self.empty_labels,
        )


DEFAULT = PairOptions()
