"""Choose the columns of both texts and of the label of text pairs, and say why.

Code: HW285, if they cannot be guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.data.columns import find_column
from headwise.data.errors import DataError
from headwise.data.formats.csv import Cells
from headwise.data.formats.header import has_header
from headwise.data.formats.jsonl import as_text
from headwise.data.names import LABEL_NAMES, normal_name
from headwise.data.pair import PairOptions
from headwise.data.source import Record, Source

PAIR_NAMES = (
    ("premise", "hypothesis"),
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("text_1", "text_2"),
    ("question1", "question2"),
    ("s1", "s2"),
    ("question", "answer"),
    ("question", "sentence"),
    ("query", "document"),
    ("query", "passage"),
)
"""Names of the columns of both texts, the surest first."""

PAIR_LABEL_NAMES = (
    *("gold_label", "label", "entailment_judgment", "is_duplicate", "relatedness_score", "similarity"),
    *("similarity_score", "relevance", "relation", "score", *LABEL_NAMES),
)


@dataclass(frozen=True)
class PairColumns:
    """The names of the chosen columns; no label column where there is none."""

    first: str
    second: str
    label: str | None = None


def names_pairs(first_row: Sequence[str]) -> bool:
    """Whether the cells of a row are usual names of the columns of pairs."""
    names = {normal_name(cell) for cell in first_row}
    return any(names.issuperset(pair) for pair in PAIR_NAMES)


def is_header(head: Sequence[Cells], source: Source, options: PairOptions) -> bool:
    """Guess whether the first row names the columns."""
    asked = (options.first_column, options.second_column)
    named = any(name and not name.isdecimal() for name in asked)
    return bool(head) and (
        named or names_pairs(head[0][1]) or has_header([c for _, c in head], source.options)
    )


def choose_pair_columns(
    sample: Sequence[Record], source: Source, options: PairOptions, *, labelled: bool
) -> PairColumns:
    """Choose by the options, else by the columns' names, else by what is in them.

    What was guessed is added to `source.notes`.

    Args:
        sample: The first records.
        source: The file.
        options: What is not to be guessed.
        labelled: Whether a label column is needed; if not, it is None when in doubt.

    Raises:
        DataError: HW111 (no such column), HW285 (cannot be guessed).
    """
    names = list(dict.fromkeys(name for record in sample for name in record.fields))

    def find(asked: str | None, flag: str) -> str | None:
        return names[find_column(asked, names, source, flag)] if asked else None

    first = find(options.first_column, "--first-column")
    second = find(options.second_column, "--second-column")
    try:
        label = find(options.label_column, "--label-column")
    except DataError:
        if labelled:
            raise
        label = None
    values = {name: [as_text(record.fields.get(name)) for record in sample] for name in names}
    guessed = []
    if first is None or second is None:
        texts = _texts(names, values, label)
        if first is None and second is None and texts:
            first, second = texts
            guessed += [f"first={first!r}", f"second={second!r}"]
        elif texts and (first or second) in texts:
            other = texts[1 - texts.index(first or second or "")]
            guessed.append(f"{'second' if first else 'first'}={other!r}")
            first, second = first or other, second or other
    if first is None or second is None:
        raise _unsure("texts", "--first-column and --second-column", values, source)
    if options.label_column is None:
        label = _label([name for name in names if name not in (first, second)], values)
        if label is not None:
            guessed.append(f"label={label!r}")
        elif labelled:
            raise _unsure("labels", "--label-column", values, source)
    if guessed:
        override = " - override with --first-column/--second-column/--label-column"
        source.notes.append(f"columns guessed: {', '.join(guessed)}{override}")
    return PairColumns(first, second, label)


def _texts(names: Sequence[str], values: dict[str, list[str]], label: str | None) -> tuple[str, str] | None:
    """The columns with usual names, else the only two that hold texts of several words."""
    normal = {normal_name(name): name for name in reversed(names)}
    for one, other in PAIR_NAMES:
        if one in normal and other in normal:
            return normal[one], normal[other]
    texts = [name for name in names if name != label and _is_text(values[name])]
    return (texts[0], texts[1]) if len(texts) == 2 else None


def _is_text(column: list[str]) -> bool:
    words = sum(len(value.split()) for value in column) / len(column)
    return words >= 2 and not _is_categorical(column)


def _is_categorical(column: list[str]) -> bool:
    """Few, short, recurring values, none missing."""
    few = 1 if len(column) < 4 else len(column) // 2
    short = all(value.strip() and len(value.split()) <= 3 for value in column)
    return short and len(set(column)) <= few


def _label(names: Sequence[str], values: dict[str, list[str]]) -> str | None:
    normal = {normal_name(name): name for name in reversed(names)}
    for name in PAIR_LABEL_NAMES:
        if name in normal:
            return normal[name]
    found = [name for name in names if _is_categorical(values[name])]
    return found[0] if len(found) == 1 else None


def _unsure(what: str, flags: str, values: dict[str, list[str]], source: Source) -> DataError:
    shown = []
    for number, (name, column) in enumerate(values.items(), start=1):
        some = [repr(value if len(value) <= 40 else value[:39] + "…") for value in dict.fromkeys(column)][
            :3
        ]
        shown.append(f"\n  {number} {name!r}: {', '.join(some)}")
    advice = f"give {flags} with names or numbers of these:{''.join(shown)}"
    return source.error("HW285", f"the columns of the {what} cannot be guessed", advice=advice)
