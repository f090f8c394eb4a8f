"""The model card: a page that says what a model is, how good it is and how to use it."""

import unicodedata
from typing import Any

from headwise import __version__
from headwise.models.bag_model import BagModel
from headwise.models.language_model import LanguageModel
from headwise.models.model_config import encoder_name
from headwise.models.table import SavedModel

_MOST_LABELS = 50  # listed one by one
_JOINERS = "\u200c\u200d"  # invisible, but part of words and emoji


def model_card(model: SavedModel, *, data: dict[str, Any], metrics: dict[str, Any], dtype: str) -> str:
    """The page, in Markdown. `data` and `metrics` are plain data, see `save_model`; what is not there is
    left out."""
    sections = [
        _summary(model, dtype),
        _labels(model, data, metrics),
        _data(data, _unit(model)),
        _quality(metrics, _unit(model)),
        _use(model),
        _LIMITS if model.config.task == "classify" else "",
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


def _summary(model: SavedModel, dtype: str) -> str:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    kind, task = _KINDS.get(model.config.task, ("headwise model", model.config.task))
    rows = [
        ("Task", task),
        *([("Labels", f"{len(_names(model))}")] if _names(model) else []),
        *_reads(model),
        ("Parameters", f"{parameters:,} ({escape(dtype)})"),
    ]
    if "temperature" in model.FACTORS:
        rows.append(("Temperature of the probabilities", f"{model.temperature:.3f}"))
    return f"# A headwise {kind}\n\n" + _table(("", ""), rows)


def _reads(model: SavedModel) -> list[tuple[str, str]]:
    """What the model reads, and with what."""
    if isinstance(model, BagModel):
        return [
            ("Model of sets", escape(model.config.bags.model)),
            ("Features", f"{len(model.features.names):,}"),
        ]
    encoder = escape(encoder_name(model.config.encoder))
    if isinstance(model, LanguageModel):
        known = f"{len(model.symbols):,} {model.symbols.unit}"
        return [("Encoder", encoder), ("Vocabulary", known), ("Context", f"{model.context:,}")]
    rows = [("Encoder", encoder), ("Words known", f"{len(model.features.vocabulary) - 1:,}")]
    if words := model.window[0]:
        rest = {"split": "read in windows", "truncate": "cut short", "error": "refused"}[
            model.config.windows.long
        ]
        rows.append(("Words read at once", f"{words:,} (longer texts are {rest})"))
    return rows


def _names(model: SavedModel) -> list[str]:
    """The names of the outputs, if they have some."""
    return model.outputs_json().get("labels", [])


def _labels(model: SavedModel, data: dict[str, Any], metrics: dict[str, Any]) -> str:
    counts = _dict(_dict(data, "train"), "labels")
    scores = {
        row.get("label"): row
        for row in _list(_dict(metrics, "test") or _dict(metrics, "dev"), "labels")
        if isinstance(row, dict) and isinstance(row.get("label"), str)
    }
    names = _names(model)
    if not names or model.config.task == "tag":
        return ""
    rows = [
        (
            escape(label),
            _count(counts.get(label)),
            *(_percent(scores.get(label, {}).get(key)) for key in ("precision", "recall", "f1")),
        )
        for label in names[:_MOST_LABELS]
    ]
    where = "test" if _dict(metrics, "test") else "dev"
    head = (
        "label",
        f"training {_unit(model)}",
        *(f"{name} ({where})" for name in ("precision", "recall", "F1")),
    )
    more = len(names) - _MOST_LABELS
    rest = f"\nand {more} more, in `labels.json`.\n" if more > 0 else ""
    return "## Labels\n\n" + _table(head, rows) + rest


def _unit(model: SavedModel) -> str:
    """What has a label; of a language model, what it predicts."""
    if isinstance(model, LanguageModel):
        return model.symbols.unit
    return "bags" if model.config.task == "bags" else "texts"


def _data(data: dict[str, Any], unit: str) -> str:
    rows = [
        (name, _count(part.get("texts", part.get("symbols"))), escape(part.get("sha256", "–")))
        for name in ("train", "dev", "test")
        if (part := _dict(data, name))
    ]
    what = f"SHA-256 of {unit}" + (" and labels" if unit in ("texts", "bags") else "")
    return "## Data\n\n" + _table(("part", unit, what), rows) if rows else ""


def _quality(metrics: dict[str, Any], unit: str) -> str:
    if any(_dict(_dict(metrics, part), "tokens") for part in ("dev", "test")):
        return _tag_quality(metrics)
    if isinstance(_dict(metrics, "dev").get("unit"), str):
        return _language_quality(metrics)
    if _is_number(_dict(metrics, "dev").get("mae")):
        return _number_quality(metrics)
    if _is_number(_dict(metrics, "dev").get("micro_f1")):
        return _label_set_quality(metrics)
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
    notes = _difference(_dict(baseline, "difference"), unit.removesuffix("s"))
    notes += _calibration(_dict(metrics, "calibration"))
    return "## Quality\n\n" + _table(head, rows) + notes


def _language_quality(metrics: dict[str, Any]) -> str:
    """The same of a language model."""
    rows = []
    for name, part, of in (
        ("this model", "dev", "dev"),
        ("this model", "test", "test"),
        (_dict(metrics, "baseline").get("name", "baseline"), "test", "baseline"),
    ):
        found = _dict(metrics, of)
        unit = str(found.get("unit")).removesuffix("s")
        for measure in ("bits", "perplexity"):
            if _is_number(found.get(f"{measure}_per_{unit}")):
                value = f"{_figure(found[f'{measure}_per_{unit}'])} {measure} per {escape(unit)}"
                rows.append((escape(name), part, value, _count(found.get("symbols"))))
    return "## Quality\n\n" + _table(("", "part", "score", "predicted"), rows) if rows else ""


def _tag_quality(metrics: dict[str, Any]) -> str:
    """The same of a tagger."""
    rows = []
    for part in ("dev", "test"):
        found = _dict(metrics, part)
        tokens, entities = _dict(found, "tokens"), _dict(found, "entities")
        if not tokens:
            continue
        interval = _list(entities, "f1_interval") if entities else _list(tokens, "accuracy_interval")
        rows.append(
            (
                part,
                _percent(entities.get("f1")),
                _percent(tokens.get("accuracy")),
                " to ".join(map(_percent, interval)) or "–",
            )
        )
    head = ("part", "F1 of spans", "accuracy of words", "95 % interval of the first")
    return "## Quality\n\n" + _table(head, rows)


def _number_quality(metrics: dict[str, Any]) -> str:
    """The same of a model of numbers."""
    baseline = _dict(metrics, "baseline")
    named = (
        ("this model", "dev", _dict(metrics, "dev")),
        ("this model", "test", _dict(metrics, "test")),
        (baseline.get("name", "linear baseline"), "test", baseline),
    )
    rows = [
        (escape(name), part, *(_figure(scores.get(key)) for key in ("mae", "rmse", "pearson", "spearman")))
        for name, part, scores in named
        if scores
    ]
    head = ("", "part", "mean absolute error", "root mean squared error", "Pearson", "Spearman")
    return "## Quality\n\n" + _table(head, rows)


def _label_set_quality(metrics: dict[str, Any]) -> str:
    """The same of a model of label sets."""
    keys = ("micro_f1", "macro_f1", "subset_accuracy", "mean_average_precision")
    baseline = _dict(metrics, "baseline")
    rows = [
        (
            escape(name),
            part,
            _percent(scores.get("micro_f1")),
            " to ".join(map(_percent, _list(scores, "micro_f1_interval"))) or "–",
            *(_percent(scores.get(key)) for key in keys[1:]),
        )
        for name, part, scores in (
            ("this model", "dev", _dict(metrics, "dev")),
            ("this model", "test", _dict(metrics, "test")),
            (baseline.get("name", "linear baseline"), "test", baseline),
        )
        if scores
    ]
    head = (
        "",
        "part",
        "micro F1",
        "95 % interval",
        "macro F1",
        "all labels right",
        "mean average precision",
    )
    return "## Quality\n\n" + _table(head, rows) + _calibration(_dict(metrics, "calibration"))


def _difference(difference: dict[str, Any], unit: str) -> str:
    bounds = _list(difference, "interval")
    if not _is_number(difference.get("accuracy")) or len(bounds) != 2 or not all(map(_is_number, bounds)):
        return ""
    gap, low, high = (f"{100 * value:+.1f}" for value in (difference["accuracy"], *bounds))
    chance = difference.get("p_value")
    p = ""
    if isinstance(chance, int | float):
        p = f", McNemar p = {chance:.3f}" if chance >= 0.001 else ", McNemar p < 0.001"
    interval = f"95 % interval {low} to {high}{p}"
    return f"\nThis model minus the baseline, {unit} by {unit}: {gap} points ({interval}).\n"


def _calibration(calibration: dict[str, Any]) -> str:
    errors = [calibration.get(f"expected_calibration_error_{when}") for when in ("before", "after")]
    if not all(map(_is_number, errors)):
        return ""
    before, after = map(_percent, errors)
    return f"\nExpected calibration error on dev: {before} before, {after} after temperature scaling.\n"


_KINDS = {
    "classify": ("text classifier", "text classification"),
    "multi-label": ("multi-label text classifier", "any number of labels for each text"),
    "tag": ("tagger", "sequence labelling"),
    "pair": ("classifier of text pairs", "classification of text pairs"),
    "pair-score": ("model of text pairs", "a score for each pair of texts"),
    "regress": ("regressor of texts", "a number for each text"),
    "bags": ("classifier of bags", "multiple-instance learning"),
    "language-model": ("language model", "language modelling"),
}
"""What to call the models of the tasks, and the tasks."""


def _use(model: SavedModel) -> str:
    if isinstance(model, BagModel):
        return _USE_BAGS
    if isinstance(model, LanguageModel):
        return _USE_LANGUAGE
    if model.config.task in ("pair", "pair-score"):
        return _USE_PAIRS
    return _USE + (_IN_PYTHON if model.config.task == "classify" else "")


_USE = """\
## Use

On the command line, one text a line:

```
headwise predict PATH/OF/THIS/FOLDER texts.txt
```
"""

_USE_PAIRS = """\
## Use

On the command line, a csv, tsv or jsonl file with two columns of texts, named as in the training file or as
usual (`premise` and `hypothesis`, say):

```
headwise predict PATH/OF/THIS/FOLDER pairs.csv
```
"""

_USE_BAGS = """\
## Use

On the command line, a csv file with a bag's name and the features of one of its instances in each row:

```
headwise predict PATH/OF/THIS/FOLDER bags.csv
```
"""

_USE_LANGUAGE = """\
## Use

On the command line, a text of its own, and how well it predicts a plain text:

```
headwise sample PATH/OF/THIS/FOLDER --prompt "Once upon a time"
headwise evaluate PATH/OF/THIS/FOLDER text.txt
```
"""

_IN_PYTHON = """
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


def _figure(value: Any) -> str:
    return f"{value:.4g}" if _is_number(value) else "–"


def _percent(value: Any) -> str:
    return f"{100 * value:.1f} %" if _is_number(value) else "–"
