"""The model card: a Markdown page with the description, the scores and the usage of a model.

`model_html` is the short form for notebooks: the description, and the scores next to the baseline.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from headwise.artifacts.model_info import DataInfo, MetricsInfo, ModelInfo, PartInfo
from headwise.core.config import JsonMapping, JsonObject, is_number, section_of
from headwise.core.version import __version__
from headwise.metrics.metric_keys import NOVELTY
from headwise.models.metric_table import MISSING, MetricTable, format_number
from headwise.models.report_page import ReportContents, scores_fragment
from headwise.models.tasks import find_task
from headwise.models.tasks.task import TaskPresentation

_MOST_LABELS = 50  # listed one by one
_MOST_FILES = 6
_LONGEST = 80  # characters of a name
_JOINERS = "\u200c\u200d"  # invisible, but part of words and emoji


def model_card(
    model: Any, *, data: JsonObject, metrics: JsonObject, dtype: str, training: JsonMapping | None = None
) -> str:
    """The model card in Markdown. `data`, `metrics` and `training` are plain data, see `save_model`;
    missing entries are left out."""
    parts = {"data": data, "metrics": metrics, "training": training or {}}
    task, info = find_task(model.config.task), ModelInfo(parts)
    metric_table = task.metric_table(info.metrics.test or info.metrics.dev)
    sections = [
        _summary(model, task, dtype, info),
        _labels(model, metric_table, info),
        _data(info.data, info.metrics, metric_table.of),
        _quality(info.metrics, metric_table),
        _use(task, tabular=bool(model.config.linear_model.tabular)),
        _limits(info.metrics) if metric_table.confusion and task.in_python else "",
        f"Written by headwise {__version__}. The JSON files beside this one say more.\n",
    ]
    return "\n".join(section for section in sections if section)


def escape(text: Any) -> str:
    """Text escaped for Markdown, Markdown tables and HTML: it creates no markup, links or line breaks."""
    shown = str(text)
    if len(shown) > _LONGEST:
        shown = shown[:_LONGEST] + "…"
    return "".join(map(_escape_character, shown))


def _escape_character(character: str) -> str:
    if character.isalnum() or character in " -+/%…" + _JOINERS:
        return character
    if unicodedata.category(character)[0] in "CZ":
        return f"&#92;u{ord(character):04x}"  # line ends, direction marks: visible, without effect
    return character if not character.isascii() else f"&#{ord(character)};"


def _summary(model: Any, task: TaskPresentation, dtype: str, info: ModelInfo) -> str:
    parameters = sum(parameter.numel() for parameter in model.parameters())
    rows = [
        ("Task", task.purpose),
        *([("Labels", f"{len(_labels_of(model))}")] if _labels_of(model) else []),
        *task.input_description(model),
        *_tabular(model, escape),
        ("Parameters", f"{parameters:,} ({escape(dtype)})"),
    ]
    if "temperature" in model.FITTED.numbers:
        rows.append(("Temperature of the probabilities", f"{model.temperature:.3f}"))
    detector = section_of(info.metrics.dev, NOVELTY)
    keep, threshold, texts = (detector.get(name) for name in ("keep", "threshold", "texts"))
    if is_number(keep) and is_number(threshold) and is_number(texts):
        share = f"{100 * keep:.4g} % of {texts:,.0f} held-out texts are below"
        rows.append(("Unknown texts", f"novelty score above {threshold:.3f}; {share}"))
    if info.training.finished is not None:
        rows.append(("Training finished", escape(info.training.finished)))
    if info.training.previous is not None:
        rows.append(("Started from the model", escape(info.training.previous)))
    return f"# A headwise {task.title}\n\n" + _markdown_table(("", ""), rows)


def _tabular(model: Any, escaped: Callable[[str], str]) -> list[tuple[str, str]]:
    """The columns beside the text with their types, if the model reads some."""
    columns = model.config.linear_model.tabular or ()
    shown = ", ".join(f"{escaped(column.name)} ({column.type})" for column in columns)
    return [("Columns beside the text", shown)] if columns else []


def _labels_of(model: Any) -> list[str]:
    """The labels of the model; empty if it has none."""
    return model.outputs_json().get("labels", [])


def _labels(model: Any, metric_table: MetricTable, info: ModelInfo) -> str:
    names, per_class = _labels_of(model), metric_table.per_class
    # The outputs of a tagger are its internal tags, not those of its training file.
    if not names or per_class is None or per_class.name != "label":
        return ""
    counts, metrics = info.data.train.labels, info.metrics
    where = metrics.scored_part
    rows_of_part = per_class.rows(metrics.test or metrics.dev)
    scores = {str(row.get(per_class.name)): row for row in rows_of_part}
    rows = [
        (
            escape(label),
            format_number(counts.get(label), "count") or MISSING,
            *(line.shown(scores.get(label, {})) or MISSING for line in per_class.lines[:3]),
        )
        for label in names[:_MOST_LABELS]
    ]
    head = (
        "label",
        f"training {metric_table.of}",
        *(f"{line.title} ({where})" for line in per_class.lines[:3]),
    )
    more = len(names) - _MOST_LABELS
    rest = f"\nand {more} more, in `labels.json`.\n" if more > 0 else ""
    return "## Labels\n\n" + _markdown_table(head, rows) + rest


def _data(data: DataInfo, metrics: MetricsInfo, of: str) -> str:
    rows = [
        (name, format_number(part.items, "count") or MISSING, escape(part.sha256 or MISSING))
        for name, part in (("train", data.train), ("dev", data.dev), ("test", data.test))
        if part != PartInfo()
    ]
    if not rows:
        return ""
    table = _markdown_table(("part", of, f"SHA-256 of {of} and answers"), rows)
    folds = metrics.dev.get("folds")
    note = _FOLDS.format(folds=folds, of=of) if is_number(folds) and folds else ""
    files = [f"{name}: {_file_list(names)}" for name, names in data.files.items() if names]
    listed = f"\nFiles: {'; '.join(files)}.\n" if files else ""
    return "## Data\n\n" + table + note + listed


def _file_list(names: list[str]) -> str:
    """The first and last of many names of files."""
    shown = names if len(names) <= _MOST_FILES else [*names[:2], f"{len(names) - 3:,} more", names[-1]]
    return ", ".join(map(escape, shown))


def _quality(metrics: MetricsInfo, metric_table: MetricTable) -> str:
    """The table of the scores that are marked for the card, with their intervals."""
    baseline, unseen, of = metrics.baseline, metrics.systems.get("unseen"), metric_table.of
    named: list[tuple[str, str, JsonMapping]] = [
        ("this model", metrics.held_out_part, metrics.dev),
        ("this model", "test", metrics.test or {}),
    ]
    if unseen is not None:
        named.append(("this model", f"test, {of} that are in no other part", unseen.scores))
    if baseline is not None:
        named.append((baseline.name, "test", baseline.scores))
    lines = [line for line in metric_table.lines if line.card]
    filled = [(name, part, scores) for name, part, scores in named if scores]
    if not filled:
        return ""
    test_size = None if metrics.test is None else metrics.test.get("texts")
    counts = [scores.get("texts", test_size if part == "test" else None) for _, part, scores in filled]
    head, cells = ["", "part"], [[escape(name), part] for name, part, _ in filled]
    if any(map(is_number, counts)):
        head.append(of)
        for row, count in zip(cells, counts, strict=True):
            row.append(format_number(count, "count") or MISSING)
    for line in lines:
        values = [line.shown(scores) or MISSING for _, _, scores in filled]
        head.append(line.title)
        for row, value in zip(cells, values, strict=True):
            row.append(value)
        intervals = [line.shown_interval(scores) or MISSING for _, _, scores in filled]
        if any(interval != MISSING for interval in intervals):
            head.append("95 % interval")
            for row, interval in zip(cells, intervals, strict=True):
                row.append(interval)
    table = _markdown_table(tuple(head), [tuple(row) for row in cells])
    difference = None if baseline is None else baseline.difference
    notes = _difference(metric_table, difference) + _calibration(metrics)
    return "## Quality\n\n" + table + notes


def _difference(metric_table: MetricTable, difference: Any) -> str:
    gap = metric_table.ahead.formatted(difference)
    if gap is None:
        return ""
    value, interval, p = gap
    one = metric_table.of.removesuffix("s")
    chance = f", {metric_table.ahead.test} {p if p.startswith('<') else f'= {p}'}" if p else ""
    of = f"This model is ahead of the baseline, {one} by {one}, by {value}"
    return f"\n{of} (95 % interval {interval}{chance}).\n"


def _calibration(metrics: MetricsInfo) -> str:
    errors = [metrics.calibration.get(f"expected_calibration_error_{when}") for when in ("before", "after")]
    if not all(map(is_number, errors)):
        return ""
    before, after = (format_number(error, "percent") for error in errors)
    where = f"on {part}" if (part := metrics.held_out_part) == "dev" else part
    return f"\nExpected calibration error {where}: {before} before, {after} after temperature scaling.\n"


def _use(task: TaskPresentation, *, tabular: bool) -> str:
    folder = "PATH/OF/THIS/FOLDER"
    if tabular:
        usage = "On the command line, a table that has the columns beside the text, too:"
        return f"## Use\n\n{usage}\n\n```\nheadwise predict {folder} table.csv\n```\n"
    verb = "evaluate" if task.predictor is None else "predict"
    command = f"headwise {verb} {folder} {task.example_file}"
    return f"## Use\n\n{task.usage}\n\n```\n{command}\n```\n" + (_IN_PYTHON if task.in_python else "")


_IN_PYTHON = """
In Python:

```python
from headwise import load_model

model = load_model("PATH/OF/THIS/FOLDER")
for prediction in model.predict(["a text", "another one"]):
    print(prediction)
```
"""

_FOLDS = """
Train and dev {of} were learned from together, in {folds} folds: scores out of fold are those of models that
were not trained on the {of} they score.
"""


def _limits(metrics: MetricsInfo) -> str:
    held_out = "held-out" if metrics.dev.get("folds") else "dev"
    where = "out of fold" if metrics.dev.get("folds") else "on dev texts"
    return _LIMITS.format(held_out=held_out, where=where)


_LIMITS = """\
## Limits

- The model knows only the texts that it was trained on: other topics, other times or another language make
  it worse, and no number above says by how much. Measure it on texts of your own first.
- It gives every text one of its labels, also a text to which none applies.
- Probabilities were adjusted on {held_out} texts and hold for texts like those. A large share of unknown
  words is a sign that a text is not.
- Scores {where} look a little too good, as the model was chosen by them; those on test texts do not.
"""


def _markdown_table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


_LABELS = 12  # the most labels that are listed


def model_html(model: Any, info: ModelInfo) -> str:
    """A small HTML fragment without scripts. Everything is escaped.

    Args:
        model: A headwise model.
        info: The metadata of its folder, see `read_info`; data and metrics may be missing.
    """
    task, data, metrics = find_task(model.config.task), info.data, info.metrics
    part, scores = metrics.scored_part, metrics.scores
    where = part if part == "out of fold" else f"on {part}"
    metric_table = task.metric_table(scores)
    sizes = {"train": data.train.items, "dev": data.dev.items, "test": data.test.items}
    counted = [f"{size:,.0f} {name}" for name, size in sizes.items() if size is not None]
    per_class = metric_table.per_class
    names = [str(row.get(per_class.name)) for row in per_class.rows(scores)] if per_class else []
    if per_class and per_class.name == "label":  # for a tagger these would be its internal tags
        names = model.outputs_json()["labels"]
    more = f" and {len(names) - _LABELS:,} more" if len(names) > _LABELS else ""
    shown_names = ", ".join(names[:_LABELS]) + more
    tensors = model.state_dict().values()
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors) / 1e6
    facts = [
        *([(f"{len(names):,} {per_class.title}s", shown_names)] if per_class and names else []),
        *((name.lower(), value) for name, value in (*task.input_description(model), *_tabular(model, str))),
        *([(metric_table.of, ", ".join(counted))] if counted else []),
        ("size", f"{size:.1f} MB in memory"),
    ]
    if metrics.texts_per_second is not None:
        speed = f"{metrics.texts_per_second:,.0f} {metric_table.of} per second when it was trained"
        facts.append(("speed", speed))
    baseline = metrics.systems.get("baseline")
    primary_metric = replace(
        metric_table.primary_metric, title=f"{metric_table.primary_metric.title} {where}"
    )
    small = replace(metric_table, lines=(primary_metric,), per_class=None)
    return scores_fragment(
        ReportContents(
            f"A headwise {task.title}", "", small, scores, [baseline] if baseline else [], facts=facts
        )
    )
