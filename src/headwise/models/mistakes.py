"""The list of wrong predictions in a report."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from headwise.core.html import render

_EXCERPT = 600  # characters of a text without an explanation


@dataclass(frozen=True)
class Mistake:
    """A wrong prediction.

    Attributes:
        where: The position of the item, such as file and line.
        description: What is wrong, in words.
        text: The text of the item.
        label: The true label; empty where it has no single name.
        predicted: The predicted label; empty where it has no single name.
        why: The explanation of the prediction as HTML; empty where there is none.
    """

    where: str
    description: str
    text: str
    label: str = ""
    predicted: str = ""
    why: str = ""


def mistakes_list(
    mistakes: Sequence[Mistake], wrong: int, on: str, *, parts: str = "", numbers: bool = False
) -> Markup:
    """The list as HTML; "" where `mistakes` is empty.

    Args:
        mistakes: The wrong predictions, the most confident first.
        wrong: The number of wrong predictions in all.
        on: The evaluation set in words.
        parts: The plural noun of the unit that is right or wrong, where it is a part of an item (`words`).
        numbers: Whether the model predicts numbers, which have errors of any size.
    """
    if not mistakes:
        return Markup()
    one = {"words": "tag", "spans": "type"}.get(parts, "label")
    labels, predicted = (
        sorted({getattr(mistake, field) for mistake in mistakes} - {""}) for field in ("label", "predicted")
    )
    if numbers:
        note, ways = f"The {len(mistakes):,} largest errors, of {on}.", ("raise", "lower")
    else:
        more = f" ({len(mistakes):,} shown)" if wrong > len(mistakes) else ""
        often = "The most confident come first; label errors show there"
        what = f"{wrong:,} {parts} in {on}" if parts else f"{wrong:,} of {on}"
        note = f"{what} are wrong{more}. {often}."
        ways = "support", "oppose"
    if any(mistake.why for mistake in mistakes):
        note += f" Words that {ways[0]} the prediction are blue, words that {ways[1]} it orange."
    return render(
        "mistakes.html.jinja",
        note=note,
        choices=[(one, "a", labels), ("predicted", "b", predicted)],
        mistakes=mistakes,
        excerpt=_EXCERPT,
    )
