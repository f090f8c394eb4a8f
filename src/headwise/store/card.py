"""The model card: a page that says what a model is, how good it is and how to use it."""

import unicodedata
from typing import Any

from headwise import __version__
from headwise.model import Model, encoder_name

_MOST_LABELS = 50  # listed one by one
_JOINERS = "\u200c\u200d"  # invisible, but part of words and emoji


def model_card(model: Model, *, data: dict[str, Any], metrics: dict[str, Any], dtype: str) -> str:
    """The page, in Markdown. `data` and `metrics` are plain data, see `save_model`; what is not there is
    left out."""
    sections = [
        _summary(model, dtype),
        _labels(model, data, metrics),
        _data(data),
        _quality(metrics),
        _USE,
        _LIMITS,
        f"Written by headwise {__version__}. The JSON files beside this one say more.\n",
    ]
    return "\n".join(section for section in sections if section)


def escape(text: Any, longest: int = 80) -> str:
    """Text as it is in Markdown, tables and HTML: nothing in it makes markup, a link or a new line."""
    shown = str(text)
    if len(shown) > longest:
        shown = shown[:longest] + "…"
    return "".join(map(_escape_character, shown))


def _escape_character(character: str) -> str:
    if character.isalnum() or character in " -+/%…" + _JOINERS:
        return character
    if unicodedata.category(character)[0] in "CZ":
        return f"&#92;u{ord(character):04x}"  # line ends, direction marks: visible, without effect
    return character if not character.isascii() else f"&#{ord(character)};"


def _summary(model: Model, dtype: str) -> str:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    rows = [
        ("Task", "text classification"),
        ("Labels", f"{len(model.labels)}"),
        ("Encoder", escape(encoder_name(model.config.encoder))),
        ("Words known", f"{len(model.features.vocabulary) - 1:,}"),
        ("Parameters", f"{parameters:,} ({escape(dtype)})"),
        ("Temperature of the probabilities", f"{model.temperature:.3f}"),
    ]
    return "# A headwise text classifier\n\n" + _table(("", ""), rows)


def _labels(model: Model, data: dict[str, Any], metrics: dict[str, Any]) -> str:
    counts = _dict(_dict(data, "train"), "labels")
    scores = {
        row.get("label"): row
        for row in _list(_dict(metrics, "test") or _dict(metrics, "dev"), "labels")
        if isinstance(row, dict) and isinstance(row.get("label"), str)
    }
    rows = [
        (
            escape(label),
            _count(counts.get(label)),
            *(_percent(scores.get(label, {}).get(key)) for key in ("precision", "recall", "f1")),
        )
        for label in model.labels[:_MOST_LABELS]
    ]
    where = "test" if _dict(metrics, "test") else "dev"
    head = ("label", "training texts", *(f"{name} ({where})" for name in ("precision", "recall", "F1")))
    more = len(model.labels) - _MOST_LABELS
    rest = f"\nand {more} more, in `labels.json`.\n" if more > 0 else ""
    return "## Labels\n\n" + _table(head, rows) + rest


def _data(data: dict[str, Any]) -> str:
    rows = [
        (name, _count(part.get("texts")), escape(part.get("sha256", "–")))
        for name in ("train", "dev", "test")
        if (part := _dict(data, name))
    ]
    return "## Data\n\n" + _table(("part", "texts", "SHA-256 of texts and labels"), rows) if rows else ""


def _quality(metrics: dict[str, Any]) -> str:
    baseline = _dict(metrics, "baseline")
    rows = [
        (
            escape(name),
            part,
            _percent(scores.get("accuracy")),
            " to ".join(map(_percent, _list(scores, "accuracy_interval"))) or "–",
            _percent(scores.get("macro_f1")),
        )
        for name, part, scores in (
            ("this model", "dev", _dict(metrics, "dev")),
            ("this model", "test", _dict(metrics, "test")),
            (baseline.get("name", "linear baseline"), "test", baseline),
        )
        if scores
    ]
    if not rows:
        return ""
    head = ("", "part", "accuracy", "95 % interval", "macro F1")
    notes = _difference(_dict(baseline, "difference")) + _calibration(_dict(metrics, "calibration"))
    return "## Quality\n\n" + _table(head, rows) + notes


def _difference(difference: dict[str, Any]) -> str:
    bounds = _list(difference, "interval")
    if not _is_number(difference.get("accuracy")) or len(bounds) != 2 or not all(map(_is_number, bounds)):
        return ""
    gap, low, high = (f"{100 * value:+.1f}" for value in (difference["accuracy"], *bounds))
    chance = difference.get("p_value")
    p = ""
    if isinstance(chance, int | float):
        p = f", McNemar p = {chance:.3f}" if chance >= 0.001 else ", McNemar p < 0.001"
    return (
        f"\nThis model minus the baseline, text by text: {gap} points (95 % interval {low} to {high}{p}).\n"
    )


def _calibration(calibration: dict[str, Any]) -> str:
    errors = [calibration.get(f"expected_calibration_error_{when}") for when in ("before", "after")]
    if not all(map(_is_number, errors)):
        return ""
    before, after = map(_percent, errors)
    return f"\nExpected calibration error on dev: {before} before, {after} after temperature scaling.\n"


_USE = """\
## Use

On the command line, one text a line:

```
headwise predict PATH/OF/THIS/FOLDER texts.txt
```

In Python:

```python
from headwise.store import load_model

model = load_model("PATH/OF/THIS/FOLDER")
for prediction in model.predict(["a text", "another one"]):
    print(prediction.label, max(prediction.probabilities), prediction.unknown_words)
```
"""

_LIMITS = """\
## Limits

- The model knows only the texts that it was trained on: other topics, other times or another language make
  it worse, and no number above says by how much. Measure it on texts of your own first.
- It gives every text one of its labels, also a text to which none applies.
- Probabilities were adjusted on dev texts and hold for texts like those. A large share of unknown words
  is a sign that a text is not.
- Scores on dev texts look a little too good, as the model was chosen by them; those on test texts do not.
"""


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _dict(data: dict[str, Any], key: str) -> dict[str, Any]:
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> str:
    return f"{value:,}" if _is_number(value) else "–"


def _percent(value: Any) -> str:
    return f"{100 * value:.1f} %" if _is_number(value) else "–"
