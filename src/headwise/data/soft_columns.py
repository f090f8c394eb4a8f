"""Find and read columns of labels that are not certain: probabilities, one column a label; a label and how
sure it is; and how much a text counts.

Codes: HW111, HW125, HW126.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwise.data.columns import Columns, choose_columns, choose_text, find_column, names_in
from headwise.data.errors import DataError
from headwise.data.formats.jsonl import as_text
from headwise.data.label_flags import NO, YES, columns_named, guess_flags
from headwise.data.names import LABEL_NAMES, normal_name, rank
from headwise.data.options import SoftOptions, WeightOptions, listed
from headwise.data.shares import TOLERANCE, Shares
from headwise.data.source import Record, Source

PREFIX, OBJECT = "probability:", "probabilities"
"""What `headwise predict` calls the probabilities of labels in tables, and in jsonl."""
PREDICTION = "prediction"
"""What it calls the label that it chose, whose probability stands beside it."""
CONFIDENCE_NAMES = ("confidence", "probability", "prob", "certainty")
WEIGHT_NAMES = ("weight", "sample_weight")
USUAL = 0.5
"""Share of the first records that must hold probabilities for columns to be taken for some; the others are
told as errors."""


@dataclass(frozen=True)
class SoftColumns(Columns):
    """The same where labels are not certain.

    Attributes:
        shares: Columns of probabilities, or one of objects.
        names: The labels that these are of; none for objects, which name theirs.
        confidence: The column of the probability of the label.
    """

    shares: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    confidence: str | None = None


def choose_soft_columns(
    sample: Sequence[Record], source: Source, *, labelled: bool, answers: bool = False
) -> Columns:
    """Choose as `choose_columns` does, and the columns of probabilities, confidence and weight: by the
    options, else by their names; without a column of labels, also numbers that add up to 1.

    Args:
        sample: The first records.
        source: The file and its options.
        labelled: Whether labels are needed.
        answers: Take what `headwise predict` has written before a column of labels.

    Raises:
        DataError: HW111, HW131.
    """
    options = source.options
    if not labelled or not isinstance(options, WeightOptions):
        return choose_columns(sample, source, labelled=labelled)
    names = names_in(sample)
    soft = isinstance(options, SoftOptions)
    shares = _shares(sample, source, names, answers) if soft else ()
    if shares:
        own = tuple(name.removeprefix(PREFIX) for name in shares)
        is_object = isinstance(sample[0].fields.get(shares[0]), dict)
        found = SoftColumns(
            choose_text(sample, source, without=shares), None, shares, () if is_object else own
        )
        say = "objects" if is_object else f"{len(own):,} columns"
        source.notes.append(
            f"probabilities of labels from the {say} {', '.join(map(repr, shares[:8]))}"
            f"{', ...' if len(shares) > 8 else ''} - override with --probability-columns; "
            "where one label is needed (dev, test), it is the likeliest"
        )
    else:
        asked = options
        if answers and not options.label_column and PREDICTION in names:
            asked = replace(options, label_column=PREDICTION)
        try:
            plain = choose_columns(sample, replace(source, options=asked), labelled=True, numbers=not soft)
        except DataError:
            if answers and not asked.label_column:
                _refuse_sets(sample, source)
            raise
        if answers and not asked.label_column:
            _refuse_sets(sample, source, plain.label)
        found = SoftColumns(plain.text, plain.label)
        given, named = None, getattr(options, "confidence_column", None)
        if soft:
            given = _named(named, CONFIDENCE_NAMES, "confidence", sample, source)
        if given and not named and PREDICTION in names and found.label != PREDICTION:
            told = f"the column {given!r} is taken for how sure {PREDICTION!r} was, not {found.label!r}"
            source.notes.append(f"{told} - override with --confidence-column")
        elif given:
            source.notes.append(f"how sure labels are from the column {given!r} (--confidence-column)")
            found = replace(found, confidence=given)
    found = replace(
        found, weight=choose_weight(sample, source, options.weight_column, without=[found.label])
    )
    more = found.shares or found.confidence
    return found if more else Columns(found.text, found.label, weight=found.weight)


def _shares(
    sample: Sequence[Record], source: Source, names: Sequence[str], answers: bool
) -> tuple[str, ...]:
    """The columns of probabilities, if there are any."""
    options: Any = source.options
    if options.probability_columns is not None:
        asked = listed(options.probability_columns)
        return columns_named(asked, sample, source, "--probability-columns")
    if options.label_column or options.confidence_column:
        return ()
    labels = any(rank(name, LABEL_NAMES) is not None for name in names)
    if labels and not answers:
        return ()
    written = tuple(name for name in names if name.startswith(PREFIX))
    if len(written) > 1:
        return written
    if OBJECT in names and isinstance(sample[0].fields.get(OBJECT), dict):
        return (OBJECT,)
    if labels:
        return ()
    rows = [[_share(record.fields.get(name)) for name in names] for record in sample]
    values = np.array(rows, dtype=np.float64)
    within = (values >= 0) & (values <= 1)
    between = (within.mean(axis=0) >= USUAL) & (within & (values != np.round(values))).any(axis=0)
    # Some or all labels may be certain: 0 and 1 alone, which of a file to train on are sets of labels.
    certain: np.ndarray = np.all(within, axis=0)
    if (answers or between.any()) and _adding_up(values, certain) == 1:
        chosen = certain
    elif _adding_up(values, between) >= USUAL:
        chosen = between
    else:
        return ()
    return tuple(name for name, own in zip(names, chosen, strict=True) if own)


def _adding_up(values: np.ndarray, columns: np.ndarray) -> float:
    """The share of the records in which several columns add up to 1."""
    if columns.sum() < 2:
        return 0.0
    return float((np.abs(values[:, columns].sum(axis=1) - 1) <= TOLERANCE).mean())


def _refuse_sets(sample: Sequence[Record], source: Source, label: str | None = None) -> None:
    """Refuse a teacher's file with a column for each label where texts have several or none; `label` is the
    column that would be taken, where one would.

    Raises:
        DataError: HW131.
    """
    flags = guess_flags(sample)
    if len(flags) < 2 or (label is not None and label not in flags):
        return
    given = [sum(_share(record.fields.get(name)) == 1 for name in flags) for record in sample]
    bare, several = sum(own == 0 for own in given), sum(own > 1 for own in given)
    raise source.error(
        "HW131",
        f"the columns {', '.join(map(repr, flags[:8]))} hold yes and no, but of the first {len(sample):,} "
        f"texts {bare:,} have none of these labels and {several:,} have several",
        expected="one label for each text, or probabilities that add up to 1",
        advice="write the label of each text into a column 'label'",
    )


def _named(
    asked: str | None, usual: Sequence[str], what: str, sample: Sequence[Record], source: Source
) -> str | None:
    """The column of a number that is asked for, or that has a usual name and holds what it may."""
    if asked == "none":
        return None
    names = names_in(sample)
    if asked:
        return names[find_column(asked, names, source, f"--{what}-column")]
    most = 1.0 if what == "confidence" else float("inf")
    for name in names:
        if normal_name(name) in usual:
            if all(0 <= _number(record.fields.get(name)) <= most for record in sample):
                return name
            wanted = "from 0 to 1" if most == 1 else "of 0 or more"
            source.notes.append(f"the column {name!r} is passed over, as it has not only numbers {wanted}")
    return None


def choose_weight(
    sample: Sequence[Record],
    source: Source,
    asked: str | None,
    *,
    without: Sequence[str | None] = (),
    many: str = "texts",
) -> str | None:
    """The column that says how much each of the `many` counts, which is told; None where there is none.

    Args:
        sample: The first records.
        source: The file.
        asked: The column that was asked for, or "none".
        without: Columns that say something else, whatever their names.
        many: What the records are called.

    Raises:
        DataError: HW111.
    """
    found = _named(asked, WEIGHT_NAMES, "weight", sample, source)
    if found is None or (found in without and not asked):
        return None
    source.notes.append(f"weights of {many} from the column {found!r} (--weight-column)")
    return found


def _number(value: object) -> float:
    """A number, or NaN."""
    try:
        return float("nan") if isinstance(value, bool) else float(as_text(value))
    except ValueError:
        return float("nan")


def _share(value: object) -> float:
    """The same of a probability, which may be spelt as yes or no."""
    said = as_text(value).strip().lower()
    return float(said in YES) if said in YES | NO else _number(value)


def soft_label(record: Record, columns: SoftColumns, label: str | None, source: Source) -> Shares | None:
    """The probabilities of a record's labels; None, and reported, where it has none that make sense.

    Args:
        record: The record.
        columns: Those of probabilities, or that of confidence.
        label: The label that the confidence is of.
        source: The file.
    """
    if columns.confidence:
        names, values = (label or "",), [record.fields.get(columns.confidence)]
    elif columns.names:
        names, values = columns.names, [record.fields.get(name) for name in columns.shares]
    else:
        own = record.fields.get(columns.shares[0])
        own = own if isinstance(own, dict) else {}
        names, values = tuple(map(str, own)), list(own.values())
    raw = [as_text(value).strip() for value in values]
    read = _number if columns.confidence else _share
    found = np.array([read(value) for value in values], dtype=np.float64)
    wrong = ~((found >= 0) & (found <= 1 + TOLERANCE))  # NaN too
    problem = ""
    if not len(found):
        problem = "no probabilities"
    elif wrong.any():
        place = int(wrong.argmax())
        problem = f"the probability of {names[place]!r} is {raw[place][:40] or 'missing'}"
    elif not columns.confidence and abs(found.sum() - 1) > TOLERANCE:
        problem = f"the probabilities of {len(found)} labels add up to {found.sum():.3f}"
    if problem:
        expected = "numbers from 0 to 1" + ("" if columns.confidence else " that add up to 1")
        advice = "name the columns with --probability-columns (or --label-column for certain labels)"
        if columns.confidence:
            advice = "--confidence-column none passes the column over"
        source.refuse("HW125", problem, record.line, expected=expected, advice=advice)
        return None
    return Shares(names, found.astype(np.float32))


def weight_of(record: Record, name: str | None, source: Source) -> float | None:
    """How much a record counts, 1 without a column of that name; None, and reported, where it does not
    say."""
    if name is None:
        return 1.0
    weight = _number(record.fields.get(name))
    if 0 <= weight < float("inf"):
        return weight
    found = f"the weight is {as_text(record.fields.get(name))[:40]!r}"
    advice = "--weight-column none passes the column over"
    source.refuse("HW126", found, record.line, expected="a number, 0 or more", advice=advice)
    return None
