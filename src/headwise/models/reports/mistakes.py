"""The wrong predictions of a model as a filterable HTML list."""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.core.html import escape_html

_EXCERPT = 600  # characters of a text without an explanation

# The rows are blocks: as list items they would be renumbered whenever some are hidden, which takes 10 s.
STYLE = """\
.hw-filter { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
.hw select, .hw input { font: inherit; max-width: 100%; }
.hw-errors { border: 1px solid var(--line); list-style: none; max-height: 40rem; overflow-y: auto;
  padding: .5rem; }
.hw-errors li { content-visibility: auto; contain-intrinsic-size: auto 6rem; padding-bottom: .5rem; }
.hw-errors li:not([hidden]) { display: block; }
.hw-errors h3 { display: inline; margin-right: 1rem; }
.hw-errors .hw-why { border: 0; } .hw-errors .hw-why h3 { display: none; }
@media print { .hw-errors { max-height: none; } .hw-filter { display: none; } }
"""

SCRIPT = """{
const form = document.querySelector('.hw-filter'), rows = document.querySelectorAll('.hw-errors > li');
if (form) {
  const texts = Array.from(rows, row => row.textContent.toLowerCase());
  const filter = () => {
    const is = name => form.elements[name] ? form.elements[name].value : '';
    const a = is('a'), b = is('b'), q = is('q').toLowerCase();
    let shown = 0;
    rows.forEach((row, n) => {
      row.hidden = (a && row.dataset.a !== a) || (b && row.dataset.b !== b) || (q && !texts[n].includes(q));
      shown += !row.hidden;
    });
    form.querySelector('output').textContent = shown.toLocaleString('en') + ' shown';
  };
  form.addEventListener('input', filter);
  form.addEventListener('submit', event => event.preventDefault());
  filter();
}
}"""


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
) -> str:
    """The list as HTML; "" where `mistakes` is empty.

    Args:
        mistakes: The wrong predictions, the most confident first.
        wrong: The number of wrong predictions in all.
        on: The evaluation set in words.
        parts: The plural noun of the unit that is right or wrong, where it is a part of an item (`words`).
        numbers: Whether the model predicts numbers, which have errors of any size.
    """
    if not mistakes:
        return ""
    rows = []
    for mistake in mistakes:
        text = mistake.text if len(mistake.text) <= _EXCERPT else mistake.text[:_EXCERPT] + "…"
        inner = mistake.why or f'<p class="hw-text">{escape_html(text)}</p>'
        rows.append(
            f'<li data-a="{escape_html(mistake.label)}" data-b="{escape_html(mistake.predicted)}">'
            f"<h3>{escape_html(mistake.description)}</h3><small>{escape_html(mistake.where)}</small>{inner}</li>"
        )
    one = "tag" if parts else "label"
    choices = "".join(
        _choice(title, name, sorted({getattr(mistake, field) for mistake in mistakes} - {""}))
        for title, name, field in ((one, "a", "label"), ("taken for", "b", "predicted"))
    )
    if numbers:
        note, ways = f"The {len(rows):,} that are farthest off, of {on}.", ("add to", "take from")
    else:
        more = f", the surest {len(rows):,} of them" if wrong > len(rows) else ""
        often = "the surest come first, where true labels are wrong most often"
        what = f"{wrong:,} {parts} in {on}" if parts else f"{wrong:,} of {on}"
        note = f"{what} are wrong{more}; {often}."
        ways = "speak for", "speak against"
    if any(mistake.why for mistake in mistakes):
        note += f" Words that {ways[0]} what the model says are blue, those that {ways[1]} it orange."
    return (
        f"<p>{escape_html(note)}</p>"
        f'<form class="hw-filter" role="search">{choices}'
        '<label>text <input type="search" name="q"></label> '
        f'<output aria-live="polite">{len(rows):,} shown</output></form>'
        f'<ol class="hw-errors" tabindex="0">{"".join(rows)}</ol>'
    )


def _choice(title: str, name: str, values: Sequence[str]) -> str:
    if len(values) < 2:
        return ""
    options = "".join(
        f'<option value="{escape_html(value)}">{escape_html(value)}</option>' for value in values
    )
    return f'<label>{title} <select name="{name}"><option value="">any</option>{options}</select></label> '
