"""Labels of other files, compared with the labels of a training file or of a model."""

from collections import Counter
from collections.abc import Sequence

from headwise.core.errors import close_names
from headwise.data.errors import DataError
from headwise.data.findings import abbreviate
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import DisplayNames
from headwise.data.items.labels import rename_labels, training_spellings


def respell_labels(training_labels: Sequence[str], data: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """Rename labels as they are spelled in training; see `LabelType.respell_as_training`."""
    names = training_spellings({label for item in data.items for label in item.labels}, training_labels)
    if not names:
        return data, ()
    shown = abbreviate([f"{label!r} as {training_label!r}" for label, training_label in names.items()])
    message = f"labels that are numbers or truth values are read as training spells them: {shown}"
    return data.with_items([rename_labels(item, names) for item in data.items]), (message,)


def drop_unknown_labels(
    training_labels: Sequence[str], data: Dataset, nouns: DisplayNames
) -> tuple[Dataset, tuple[str, ...]]:
    """Leave out items with other labels; see `LabelType.without_unknown_labels`."""
    names = set(training_labels)
    items = [item for item in data.items if names.issuperset(item.labels)]
    if not items or len(items) == len(data.items):
        return data, ()
    every = Counter(label for item in data.items for label in item.labels if label not in names)
    shown = abbreviate([f"{name!r} ({n:,})" for name, n in every.most_common()])
    left = nouns.count(len(data.items) - len(items))
    return data.with_items(items), (f"{left} left out, with labels that the model does not know: {shown}",)


def check_label_names(
    training_labels: Sequence[str] | dict[str, int], data: Dataset, where: str, otherwise: str = ""
) -> None:
    """Check that all labels of a file are training labels.

    Args:
        training_labels: The labels of a training file or of a model.
        where: Where the training labels come from, for the message.
        otherwise: More advice for the message.

    Raises:
        DataError: HW140 at the first item with another label.
    """
    names = set(training_labels)
    strange = [(item, label) for item in data.items for label in item.labels if label not in names]
    if not strange:
        return
    first, label = strange[0]
    items = len({id(item) for item, _ in strange})
    every = [f"{name!r} ({n:,})" for name, n in Counter(name for _, name in strange).most_common()]
    close = [name for name in training_labels if name.casefold() == label.casefold()]
    close = close or close_names(label, training_labels, cutoff=0.51)
    first_few = ", ".join(map(repr, list(training_labels)[:10])) + (", ..." if len(names) > 10 else "")
    raise DataError(
        "HW140",
        f"the label {label!r} does not occur in {where}"
        + (f" ({items:,} have such labels: {abbreviate(every)})" if items > 1 else ""),
        expected=f"one of {first_few}",
        advice="; ".join(filter(None, (_advice(label, close), otherwise))),
        path=data.path,
        line=first.line,
    )


def _advice(label: str, close: Sequence[str]) -> str:
    if label.isdecimal():
        return "leave it out, or, where labels are meant as numbers, --task regress (of pairs pair-score)"
    return (
        f"did you mean {close[0]!r}?"
        if close
        else "leave out what has it, or train on texts with this label"
    )


def check_labelled(data: Dataset) -> None:
    """Check that the items of a file have labels.

    Raises:
        DataError: HW163, its format has no labels.
    """
    if hasattr(data, "columns") and getattr(data.columns, "label", "") is None and not data.labels:
        problem, advice = f"the format {data.format} has no labels", "headwise predict labels them"
        raise DataError("HW163", problem, expected="labelled texts", advice=advice, path=data.path)


def check_labels_of_model(labels: Sequence[str], data: Dataset, where: str) -> None:
    """Check that the items of a file have labels, and only those of a model.

    Raises:
        DataError: Its format has no labels (HW163), or it has others.
    """
    check_labelled(data)
    otherwise = "headwise evaluate --unknown-labels skip leaves out what has such labels"
    check_label_names(labels, data, where, otherwise)
