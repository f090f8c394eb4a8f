"""Find and read the columns of soft labels (one probability column per label, or a label with its
confidence) and of training weights.

Codes: HW111, HW125, HW126.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_NAMES, has_usual_name, name_rank, normal_name
from headwise.data.columns.file_source import DataSource, Record, fraction_true
from headwise.data.columns.multi_hot_columns import NO, YES, columns_named, guess_multi_hot_columns
from headwise.data.columns.named_columns import find_column, names_in, tabular_names
from headwise.data.columns.reading_options import SoftLabelOptions, WeightOptions, split_names
from headwise.data.columns.text_columns import Columns, choose_columns, choose_text
from headwise.data.errors import DataError
from headwise.data.items.labels import TOLERANCE, SoftLabel

PROBABILITY_PREFIX, PROBABILITIES_FIELD = "probability:", "probabilities"
"""Prefix of columns (tables) and field (jsonl) of the label probabilities from `headwise predict`."""
_MEASURE = "(prob|proba|probability|p|score|confidence)"
_BEFORE_LABEL = lazy_pattern(rf"^{_MEASURE}[_:. -]+", re.IGNORECASE)
_AFTER_LABEL = lazy_pattern(rf"[_:. -]+{_MEASURE}$", re.IGNORECASE)
_WRITTEN = (PROBABILITY_PREFIX, PROBABILITIES_FIELD)
PREDICTION = "prediction"
"""The column of the predicted label that `headwise predict` writes."""
CONFIDENCE_NAMES = ("confidence", "probability", "prob", "certainty")
WEIGHT_NAMES = ("weight", "sample_weight")
MIN_VALID_FRACTION = 0.5
"""Fraction of the first records that must hold probabilities for columns to be recognised as such; the
remaining records are reported as errors."""


@dataclass(frozen=True)
class SoftLabelColumns(Columns):
    """The columns of texts with soft labels.

    Attributes:
        shares: The columns of probabilities, or one field of JSON objects.
        names: The label of each of these columns; empty for JSON objects, whose keys are the labels.
        confidence: The column of the probability of the label.
        correction: The column of the labels that somebody wrote beside the predictions of a model.
    """

    shares: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    confidence: str | None = None
    correction: str | None = None


def choose_soft_columns(
    sample: Sequence[Record], source: DataSource, *, labelled: bool, answers: bool = False
) -> Columns:
    """Choose the text and label columns (see `choose_columns`), and those of probabilities, confidence and
    weight.

    The options decide, otherwise the column names. In a table without a label column, numeric columns that
    sum to 1 are probabilities.

    Args:
        answers: Prefer the columns that `headwise predict` writes over a column of labels.

    Raises:
        DataError: HW111, HW131.
    """
    options = source.options
    if not labelled or not isinstance(options, WeightOptions):
        return choose_columns(sample, source, labelled=labelled)
    tabular = tabular_names(sample, source)
    names = [name for name in names_in(sample) if name not in tabular]
    soft = isinstance(options, SoftLabelOptions)
    shares = _probability_columns(sample, source, names, answers) if soft else ()
    if shares:
        label_names = _labels_of_columns(shares)
        is_object = isinstance(sample[0].fields.get(shares[0]), dict)
        chosen = SoftLabelColumns(
            choose_text(sample, source, without=shares), None, shares, () if is_object else label_names
        )
        requested, written = getattr(options, "probability_columns", None), ""
        if not answers and not requested and shares[0].startswith(_WRITTEN):
            written = "; a model wrote them, so scores on these texts say how far models agree"
            of_model = tuple(sample[0].fields[shares[0]]) if is_object else label_names  # type: ignore[arg-type]
            if correction := _correction_column(sample, {*names} - {*shares}, of_model):
                chosen, written = replace(chosen, correction=correction), ""
                source.notes.append(
                    f"labels from the column {correction!r}, where it has some - override with "
                    "--probability-columns"
                )
        say = "objects" if is_object else f"{len(label_names):,} columns"
        source.notes.append(
            f"probabilities of labels from the {say} {', '.join(map(repr, shares[:8]))}"
            f"{', ...' if len(shares) > 8 else ''} - override with --probability-columns; "
            f"where one label is needed (dev, test), it is the likeliest{written}"
        )
    else:
        effective = options
        if answers and not options.label_column and PREDICTION in names:
            effective = replace(options, label_column=PREDICTION)
        try:
            plain = choose_columns(
                sample, replace(source, options=effective), labelled=True, numbers=not soft
            )
        except DataError:
            if answers and not effective.label_column:
                _reject_label_sets(sample, source)
            raise
        if answers and not effective.label_column:
            _reject_label_sets(sample, source, plain.label)
        chosen = SoftLabelColumns(plain.text, plain.label)
        confidence, named = None, getattr(options, "confidence_column", None)
        if soft:
            confidence = _numeric_column(named, CONFIDENCE_NAMES, "confidence", sample, source)
        if confidence and not named and PREDICTION in names and chosen.label != PREDICTION:
            note = (
                f"the column {confidence!r} is taken for how sure {PREDICTION!r} was, not {chosen.label!r}"
            )
            source.notes.append(f"{note} - override with --confidence-column")
        elif confidence:
            source.notes.append(f"how sure labels are from the column {confidence!r} (--confidence-column)")
            chosen = replace(chosen, confidence=confidence)
    chosen = replace(
        chosen,
        weight=choose_weight(sample, source, options.weight_column, without=[chosen.label, *tabular]),
    )
    more = chosen.shares or chosen.confidence
    return chosen if more else Columns(chosen.text, chosen.label, weight=chosen.weight)


def _probability_columns(
    sample: Sequence[Record], source: DataSource, names: Sequence[str], answers: bool
) -> tuple[str, ...]:
    """The columns of probabilities, or the field of JSON objects; empty if there are none."""
    options: Any = source.options
    if options.probability_columns is not None:
        requested = split_names(options.probability_columns)
        return columns_named(requested, sample, source, "--probability-columns")
    if options.label_column or options.confidence_column:
        return ()
    labels = any(name_rank(name, LABEL_NAMES) is not None for name in names)
    if labels and not answers:
        return ()
    written = tuple(name for name in names if name.startswith(PROBABILITY_PREFIX))
    if len(written) > 1:
        return written
    if PROBABILITIES_FIELD in names and isinstance(sample[0].fields.get(PROBABILITIES_FIELD), dict):
        return (PROBABILITIES_FIELD,)
    if labels:
        return ()
    rows = [[_probability(record.fields.get(name)) for name in names] for record in sample]
    values = np.array(rows, dtype=np.float64)
    within = (values >= 0) & (values <= 1)
    between = (within.mean(axis=0) >= MIN_VALID_FRACTION) & (within & (values != np.round(values))).any(
        axis=0
    )
    fractions = zip(names, between.tolist(), strict=True)
    if not answers and any(
        has_usual_name(name, LABEL_NAMES) for name, fraction in fractions if not fraction
    ):
        return ()
    # Columns may hold 0 and 1 only (certain labels); without a teacher these are label sets instead.
    certain: np.ndarray = np.all(within, axis=0)
    if (answers or between.any()) and _summing_to_one(values, certain) == 1:
        chosen = certain
    elif _summing_to_one(values, between) >= MIN_VALID_FRACTION:
        chosen = between
    else:
        return ()
    probabilities = tuple(name for name, is_chosen in zip(names, chosen, strict=True) if is_chosen)
    return () if _are_ranked(probabilities, names) else probabilities


def _are_ranked(probabilities: Sequence[str], names: Sequence[str]) -> bool:
    """Whether columns have the probabilities of labels that stand in columns of the same numbers, the
    likeliest first: `Confidence 1` beside `Class 1`."""
    labels = {*_labels_of_columns(probabilities)}
    rest = [name for name in names if name not in probabilities]
    numbers = {name[len(name.rstrip("0123456789")) :] for name in rest}
    return all(map(str.isdecimal, labels)) and labels <= numbers


def _labels_of_columns(names: Sequence[str]) -> tuple[str, ...]:
    """The labels whose probabilities stand in columns: `billing` for `probability:billing`, and for
    `prob_billing` or `billing_score` if all names are such."""
    names = [name.removeprefix(PROBABILITY_PREFIX) for name in names]
    for affix in (_BEFORE_LABEL, _AFTER_LABEL):
        labels = [affix.sub("", name) for name in names]
        if all(labels) and all(map(affix.search, names)) and len({*labels}) == len(names):
            return tuple(labels)
    return tuple(names)


def _summing_to_one(values: np.ndarray, columns: np.ndarray) -> float:
    """The fraction of the records in which at least two columns sum to 1."""
    if columns.sum() < 2:
        return 0.0
    return float((np.abs(values[:, columns].sum(axis=1) - 1) <= TOLERANCE).mean())


def _reject_label_sets(sample: Sequence[Record], source: DataSource, label: str | None = None) -> None:
    """Reject a teacher's file with multi-hot label columns if some texts have several labels or none.

    `label` is the column that would be read as the label, if any."""
    flags = guess_multi_hot_columns(sample)
    if len(flags) < 2 or (label is not None and label not in flags):
        return
    label_counts = [sum(_probability(record.fields.get(name)) == 1 for name in flags) for record in sample]
    unlabelled, multiple = (
        sum(label_count == 0 for label_count in label_counts),
        sum(label_count > 1 for label_count in label_counts),
    )
    raise source.error(
        "HW131",
        f"the columns {', '.join(map(repr, flags[:8]))} hold yes and no, but of the first {len(sample):,} "
        f"texts {unlabelled:,} have none of these labels and {multiple:,} have several",
        expected="one label for each text, or probabilities that add up to 1",
        advice="write the label of each text into a column 'label'",
    )


def _numeric_column(
    requested: str | None, usual: Sequence[str], what: str, sample: Sequence[Record], source: DataSource
) -> str | None:
    """The requested numeric column, or the first with a usual name and numbers in the valid range."""
    if requested == "none":
        return None
    names = names_in(sample)
    if requested:
        return names[find_column(requested, names, source, f"--{what}-column")]
    most = 1.0 if what == "confidence" else float("inf")
    tabular = tabular_names(sample, source)
    for name in names:
        if normal_name(name) in usual and name not in tabular:
            if all(0 <= number_or_nan(record.fields.get(name)) <= most for record in sample):
                return name
            bounds = "from 0 to 1" if most == 1 else "of 0 or more"
            source.notes.append(f"the column {name!r} is passed over, as it has not only numbers {bounds}")
    return None


def choose_weight(
    sample: Sequence[Record],
    source: DataSource,
    requested: str | None,
    *,
    without: Sequence[str | None] = (),
    many: str = "texts",
) -> str | None:
    """The column of training weights, after adding a note on it; None if there is none.

    Args:
        requested: The name or number of the column, or "none".
        without: Columns with another role, which are not weights.
        many: The plural noun for the records.

    Raises:
        DataError: HW111.
    """
    column = _numeric_column(requested, WEIGHT_NAMES, "weight", sample, source)
    if column is None or (column in without and not requested):
        return None
    source.notes.append(f"weights of {many} from the column {column!r} (--weight-column)")
    return column


_DECIMAL_COMMA = lazy_pattern(r"\s*(?:0,\d+|\d+,(?!\d{3}\s*$)\d+)(?:[eE][+-]?\d+)?\s*")


def number_or_nan(value: object) -> float:
    """A number, or NaN. It may have a decimal comma; the comma of `1,500` may separate thousands."""
    text = as_text(value)
    text = text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text
    try:
        return float("nan") if isinstance(value, bool) else float(text)
    except ValueError:
        return float("nan")


def _probability(value: object) -> float:
    """A probability, which may be spelt as yes or no; NaN for anything else."""
    spelling = as_text(value).strip().lower()
    return float(spelling in YES) if spelling in YES | NO else number_or_nan(value)


def read_soft_label(
    record: Record, columns: SoftLabelColumns, label: str | None, source: DataSource
) -> SoftLabel | None:
    """The soft label of a record; None, after reporting an error, if its probabilities are invalid.

    Args:
        columns: The columns of probabilities, or of the confidence.
        label: The label that the confidence belongs to.
    """
    if columns.confidence:
        names, values = (label or "",), [record.fields.get(columns.confidence)]
    elif columns.names:
        names, values = columns.names, [record.fields.get(name) for name in columns.shares]
    else:
        by_label = record.fields.get(columns.shares[0])
        by_label = by_label if isinstance(by_label, dict) else {}
        names, values = tuple(map(str, by_label)), list(by_label.values())
    raw = [as_text(value).strip() for value in values]
    read = number_or_nan if columns.confidence else _probability
    probabilities = np.array([read(value) for value in values], dtype=np.float64)
    wrong = ~((probabilities >= 0) & (probabilities <= 1 + TOLERANCE))  # NaN too
    problem = ""
    if not len(probabilities):
        problem = "no probabilities"
    elif wrong.any():
        place = int(wrong.argmax())
        problem = f"the probability of {names[place]!r} is {raw[place][:40] or 'missing'}"
    elif not columns.confidence and abs(probabilities.sum() - 1) > TOLERANCE:
        problem = f"the probabilities of {len(probabilities)} labels add up to {probabilities.sum():.3f}"
    if problem:
        expected = "numbers from 0 to 1" + ("" if columns.confidence else " that add up to 1")
        advice = "name the columns with --probability-columns (or --label-column for certain labels)"
        if columns.confidence:
            advice = "--confidence-column none passes the column over"
        source.report_error("HW125", problem, record.line, expected=expected, advice=advice)
        return None
    if corrected := _corrected_prediction(record, columns, names, probabilities, source):
        source.counts.corrected += 1
        return SoftLabel((corrected,), np.ones(1, dtype=np.float32))
    return SoftLabel(names, probabilities.astype(np.float32))


def _correction_column(
    sample: Sequence[Record], names: Collection[str], labels: Collection[str]
) -> str | None:
    """The only column besides the predictions whose cells are empty or labels, most of them of these; None
    without one."""
    candidates = list[str]()
    for name in sorted(names):
        cells = [*filter(None, (as_text(record.fields.get(name)).strip() for record in sample))]
        if not name.startswith(PREDICTION) and fraction_true(cell in labels for cell in cells) > 0.5:
            candidates.append(name)
    return candidates[0] if len(candidates) == 1 else None


def _corrected_prediction(
    record: Record,
    columns: SoftLabelColumns,
    names: Sequence[str],
    probabilities: np.ndarray,
    source: DataSource,
) -> str:
    """The label that somebody wrote beside the prediction of a record of `headwise predict`; or the
    prediction, if another label has the probability beside it, as it was corrected. "" for others."""
    if columns.correction and (label := as_text(record.fields.get(columns.correction)).strip()):
        return label
    predicted = as_text(record.fields.get(PREDICTION)).strip()
    requested = getattr(source.options, "probability_columns", None)
    if not predicted or requested or not any(name.startswith(_WRITTEN) for name in columns.shares):
        return ""
    distances = np.abs(probabilities - number_or_nan(record.fields.get("probability")))
    if predicted in names and not distances[names.index(predicted)] > distances.min() + 1e-6:
        return ""
    return "" if np.isnan(distances).any() else predicted


def read_weight(record: Record, name: str | None, source: DataSource) -> float | None:
    """The training weight of a record, 1 without a weight column; None, after reporting an error, if it is
    invalid."""
    if name is None:
        return 1.0
    weight = number_or_nan(record.fields.get(name))
    if 0 <= weight < float("inf"):
        return weight
    problem = f"the weight is {as_text(record.fields.get(name))[:40]!r}"
    advice = "--weight-column none passes the column over"
    source.report_error("HW126", problem, record.line, expected="a number, 0 or more", advice=advice)
    return None
