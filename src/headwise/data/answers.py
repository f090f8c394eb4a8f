"""What the answers of items may be: a label, a set of labels, a number, tags, the next symbol, own words.

The same kind of item comes with different answers; an answer knows what a training file must have, what
another file must fit, and which share of a split an item belongs to.
"""

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.data.diagnosis import some
from headwise.data.doctor.classes import doubtful, missing, no_labels, one_class, rare, spellings, strange
from headwise.data.doctor.file import BetweenCheck, Check
from headwise.data.doctor.label_sets import bare, everywhere, instead, together
from headwise.data.doctor.leaks import leaks
from headwise.data.doctor.numbers import far, not_numbers, one_number
from headwise.data.doctor.texts import clashes
from headwise.data.doctor.weights import lopsided
from headwise.data.errors import DataError
from headwise.data.labels import all_labels, respelt, spelt_otherwise
from headwise.data.nouns import Nouns
from headwise.data.numbers import numbers_of
from headwise.errors import HeadwiseError


class Answer:
    """What an item is labelled with."""

    classes: ClassVar[bool] = True
    """Whether answers are names that recur, rather than numbers."""

    column: ClassVar[str] = "--label-column"
    """The flag that names where the answers stand."""

    noun: ClassVar[str] = "class"
    """What the doctor calls one of the answers that recur."""

    checks: ClassVar[tuple[Check, ...]] = ()
    """What the doctor looks at in each file."""

    warned: ClassVar[tuple[Check, ...]] = ()
    """What of that training looks at, too."""

    between: ClassVar[tuple[BetweenCheck, ...]] = ()
    """What the doctor looks at in several files."""

    def strata(self, items: Sequence[Any]) -> list[str | None]:
        """What each part of a split has its share of, for each item."""
        return [None] * len(items)

    def lacking(self, item: Any) -> bool:
        """Whether an item has no such answer."""
        return False

    def check_items(self, items: Sequence[Any], part: str, nouns: Nouns) -> None:
        """Check that all items of a part of the data are answered, wherever they come from.

        Raises:
            DataError: HW120 at the first that is not.
        """
        for place, item in enumerate(items):
            if self.lacking(item):
                answer = getattr(item, "label", None) if not item.labels else item.labels
                found = f"{nouns.one} {place + 1} of {part} has {answer!r} as its answer"
                advice = f"leave it out, or name the answers' column with {self.column}"
                raise DataError("HW120", found, expected="a text", advice=advice, line=item.line or None)

    def check(self, data: Any, nouns: Nouns) -> None:
        """Check that a file can be trained on.

        Raises:
            HeadwiseError: HW406, there is nothing to tell apart.
            DataError: An answer is not of this kind.
        """

    def spelt(self, known: Sequence[str], data: Any) -> tuple[Any, tuple[str, ...]]:
        """A file with answers that are spelt as those that training or a model knows, and what there is to
        tell of that."""
        return data, ()

    def with_known(self, known: Sequence[str], data: Any, nouns: Nouns) -> tuple[Any, tuple[str, ...]]:
        """A file without the items that have labels which a model does not know, and what there is to tell
        of them; as it is, where none would be left."""
        return data, ()

    def check_other(self, train: Any, other: Any) -> tuple[str, ...]:
        """Check that another file fits what there is in training; what there is to tell.

        Raises:
            DataError: HW140 at the first item with an answer that training does not have; HW287.
        """
        return ()

    def tell(self, train: Sequence[Any], labels: Sequence[str]) -> tuple[str, ...]:
        """What there is to tell of the training part of a file that has these labels."""
        return ()

    def fields(self, item: Any) -> str | None:
        """The answer of an item, for its fingerprint."""
        return item.label


_SCALE = 4
"""Labels that are whole numbers from which on they may be meant as numbers."""


def too_few(data: Any, found: str, needed: str, nouns: Nouns, column: str) -> HeadwiseError:
    """HW406: a file that no model can be trained on."""
    return HeadwiseError(
        f"{data.path}: {found} in {nouns.count(len(data.items))} (read as {data.format}); {needed}. If "
        f"another column holds them, name it with {column}",
        code="HW406",
    )


def check_several(data: Any, one: str, nouns: Nouns, column: str) -> None:
    """Check that a file has two or more labels, or tags: what `one` of them is called."""
    if len(data.labels) < 2:
        found = f"only the {one} {next(iter(data.labels))!r}" if data.labels else f"no {one}s"
        raise too_few(data, found, f"two or more {one}s are needed", nouns, column)


class Label(Answer):
    """One of two or more labels."""

    checks: ClassVar[tuple[Check, ...]] = (
        *(no_labels, one_class, clashes, rare, spellings, missing, doubtful, lopsided, leaks),
    )
    warned: ClassVar[tuple[Check, ...]] = (clashes, rare, spellings, missing, doubtful, lopsided)
    between: ClassVar[tuple[BetweenCheck, ...]] = (strange,)

    def lacking(self, item: Any) -> bool:
        return not isinstance(item.label, str)

    def strata(self, items: Sequence[Any]) -> list[str | None]:
        return [item.label for item in items]

    def check(self, data: Any, nouns: Nouns) -> None:
        if len(all_labels(data.items)) < 2:  # one of several may be the likeliest of all
            check_several(data, "label", nouns, self.column)

    def spelt(self, known: Sequence[str], data: Any) -> tuple[Any, tuple[str, ...]]:
        return spelt_labels(known, data)

    def with_known(self, known: Sequence[str], data: Any, nouns: Nouns) -> tuple[Any, tuple[str, ...]]:
        return with_known_labels(known, data, nouns)

    def check_other(self, train: Any, other: Any) -> tuple[str, ...]:
        known = dict.fromkeys([*train.labels, *all_labels(train.items)])
        check_known(list(known), other, train.path)
        return ()

    def tell(self, train: Sequence[Any], labels: Sequence[str]) -> tuple[str, ...]:
        found = sorted(int(label) for label in labels if label.isascii() and label.isdecimal())
        if len(found) < max(len(labels), _SCALE) or found[-1] - found[0] >= 2 * len(found):
            return ()
        told = f"labels are whole numbers, {found[0]} to {found[-1]}, read as classes"
        return (f"{told}; --task regress (of pairs pair-score) takes numbers",)


class LabelSet(Answer):
    """Any number of labels, none included."""

    noun = "label"
    checks: ClassVar[tuple[Check, ...]] = (
        *(no_labels, bare, clashes, rare, everywhere, instead, together, spellings, lopsided, leaks),
    )
    warned: ClassVar[tuple[Check, ...]] = (instead, lopsided)
    between: ClassVar[tuple[BetweenCheck, ...]] = (strange,)

    def lacking(self, item: Any) -> bool:
        return not all(isinstance(label, str) for label in item.labels)

    def strata(self, items: Sequence[Any]) -> list[str | None]:
        """The rarest of the labels of each, so that the rare ones too have their share in every part."""
        counts = Counter(label for item in items for label in item.labels)
        return [min(item.labels, key=lambda label: (counts[label], label), default="") for item in items]

    def check(self, data: Any, nouns: Nouns) -> None:
        if not data.labels:
            raise too_few(data, "no labels", "one or more are needed", nouns, self.column)

    def spelt(self, known: Sequence[str], data: Any) -> tuple[Any, tuple[str, ...]]:
        return spelt_labels(known, data)

    def with_known(self, known: Sequence[str], data: Any, nouns: Nouns) -> tuple[Any, tuple[str, ...]]:
        return with_known_labels(known, data, nouns)

    def check_other(self, train: Any, other: Any) -> tuple[str, ...]:
        check_known(train.labels, other, train.path)
        return ()

    def tell(self, train: Sequence[Any], labels: Sequence[str]) -> tuple[str, ...]:
        known = {label for item in train for label in item.labels}
        lost = [repr(label) for label in labels if label not in known]
        return (f"labels that only dev or test has, which cannot be learnt: {some(lost)}",) if lost else ()


class Number(Answer):
    """A number, such as a score or a price."""

    classes = False
    checks: ClassVar[tuple[Check, ...]] = (no_labels, not_numbers, one_number, far, lopsided)
    warned: ClassVar[tuple[Check, ...]] = (far, lopsided)

    def lacking(self, item: Any) -> bool:
        return item.label is None

    def check(self, data: Any, nouns: Nouns) -> None:
        if len(data.labels) < 2:
            found = f"only the number {next(iter(data.labels))}" if data.labels else "no numbers"
            raise too_few(data, found, "two or more different ones are needed", nouns, self.column)
        self.numbers(data.items, data.path)

    def check_other(self, train: Any, other: Any) -> tuple[str, ...]:
        self.numbers(other.items, other.path)
        return ()

    def numbers(self, items: Sequence[Any], path: str = "") -> np.ndarray:
        """The numbers of items, `[items]`, float64.

        Raises:
            DataError: HW287, one is not a number.
        """
        return numbers_of([item.label for item in items], [item.line for item in items], path)


class Tags(Answer):
    """A tag for each word."""

    column = "--tag-column"

    def lacking(self, item: Any) -> bool:
        return len(item.tags) != len(item.tokens)

    def check(self, data: Any, nouns: Nouns) -> None:
        check_several(data, "tag", nouns, self.column)

    def check_other(self, train: Any, other: Any) -> tuple[str, ...]:
        strange = [tag for tag in other.labels if tag not in train.labels]
        return (f"tags that training does not have: {', '.join(strange[:8])}",) if strange else ()

    def fields(self, item: Any) -> str | None:
        return "\n".join(item.tags)


class NextSymbol(Answer):
    """The symbol that comes next in a text."""

    classes = False

    def check_items(self, items: Sequence[Any], part: str, nouns: Nouns) -> None:
        """Every symbol but the last has one."""


class OwnWords(Answer):
    """The text's own words, of which some are hidden."""

    classes = False

    def check(self, data: Any, nouns: Nouns) -> None:
        if not any(item.text.strip() for item in data.items):
            raise HeadwiseError(
                f"{data.path}: none of {len(data.items):,} {nouns.many} has words", code="HW406"
            )


def spelt_labels(known: Sequence[str], data: Any) -> tuple[Any, tuple[str, ...]]:
    """See `Answer.spelt`."""
    names = spelt_otherwise({label for item in data.items for label in item.labels}, known)
    if not names:
        return data, ()
    shown = some([f"{own!r} as {other!r}" for own, other in names.items()])
    told = f"labels that are numbers are read as training spells them: {shown}"
    return data.with_items([respelt(item, names) for item in data.items]), (told,)


def with_known_labels(known: Sequence[str], data: Any, nouns: Nouns) -> tuple[Any, tuple[str, ...]]:
    """See `Answer.with_known`."""
    names = set(known)
    kept = [item for item in data.items if names.issuperset(item.labels)]
    if not kept or len(kept) == len(data.items):
        return data, ()
    every = Counter(label for item in data.items for label in item.labels if label not in names)
    shown = some([f"{name!r} ({n:,})" for name, n in every.most_common()])
    left = nouns.count(len(data.items) - len(kept))
    return data.with_items(kept), (f"{left} left out, with labels that the model does not know: {shown}",)


def check_known(known: Sequence[str] | dict[str, int], data: Any, where: str, otherwise: str = "") -> None:
    """Check that all labels of a file are known.

    Args:
        known: The labels of a training file or of a model.
        data: The file.
        where: What knows the labels, for the message.
        otherwise: What else there is to do.

    Raises:
        DataError: HW140 at the first item with a label that is not.
    """
    names = set(known)
    strange = [(item, label) for item in data.items for label in item.labels if label not in names]
    if not strange:
        return
    first, label = strange[0]
    items = len({id(item) for item, _ in strange})
    every = [f"{name!r} ({n:,})" for name, n in Counter(name for _, name in strange).most_common()]
    close = [name for name in known if name.casefold() == label.casefold()]
    close = close or difflib.get_close_matches(label, list(known), n=1, cutoff=0.51)
    first_few = ", ".join(map(repr, list(known)[:10])) + (", ..." if len(names) > 10 else "")
    raise DataError(
        "HW140",
        f"the label {label!r} does not occur in {where}"
        + (f" ({items:,} have such labels: {some(every)})" if items > 1 else ""),
        expected=f"one of {first_few}",
        advice="; ".join(filter(None, (_advice(label, close), otherwise))),
        path=data.path,
        line=first.line,
    )


def _advice(label: str, close: Sequence[str]) -> str:
    """What to do about a label that is not known."""
    if label.isdecimal():
        return "leave it out, or, where labels are meant as numbers, --task regress (of pairs pair-score)"
    return (
        f"did you mean {close[0]!r}?"
        if close
        else "leave out what has it, or train on texts with this label"
    )


LABEL, LABEL_SET, NUMBER, TAGS, NEXT_SYMBOL = Label(), LabelSet(), Number(), Tags(), NextSymbol()
OWN_WORDS = OwnWords()
