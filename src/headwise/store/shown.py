"""The notebook display of a model: its description, and its scores next to the baseline."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headwise.report.document import Material, piece
from headwise.report.rival import Rival
from headwise.report.sheet import is_number, lookup, section
from headwise.store.card import reads
from headwise.tasks import find_task

_LABELS = 12  # the most labels that are listed
_PARTS = ("train", "dev", "test")


def model_html(model: Any, info: Mapping[str, Any]) -> str:
    """A small HTML fragment without scripts. Everything is escaped.

    Args:
        model: A headwise model.
        info: The metadata of its folder, see `read_info`; `data` and `metrics` are untrusted and may be
            missing.
    """
    task = find_task(model.config.task)
    data, metrics = (section(info, name) for name in ("data", "metrics"))
    part = "test" if isinstance(metrics.get("test"), Mapping) else "dev"
    scores = section(metrics, part)
    sheet = task.sheet(scores)
    sizes = {name: lookup(data, f"{name}.texts") for name in _PARTS}
    counted = [f"{size:,.0f} {name}" for name, size in sizes.items() if is_number(size)]
    per_class = sheet.per_class
    names = [str(row.get(per_class.name)) for row in per_class.rows(scores)] if per_class else []
    if per_class and per_class.name == "label":  # for a tagger these would be its internal tags
        names = model.outputs_json()["labels"]
    more = f" and {len(names) - _LABELS:,} more" if len(names) > _LABELS else ""
    shown_names = ", ".join(names[:_LABELS]) + more
    tensors = model.state_dict().values()
    size = sum(tensor.numel() * tensor.element_size() for tensor in tensors) / 1e6
    facts = [
        *([(f"{len(names):,} {per_class.title}s", shown_names)] if per_class and names else []),
        *((name.lower(), value) for name, value in reads(model)),
        *([(sheet.of, ", ".join(counted))] if counted else []),
        ("size", f"{size:.1f} MB in memory"),
    ]
    speed = lookup(metrics, "teaching.texts_per_second.model")
    if is_number(speed):
        facts.append(("speed", f"{speed:,.0f} {sheet.of} a second when it was trained"))
    baseline = Rival.all_of(metrics).get("baseline")
    headline = replace(sheet.headline, title=f"{sheet.headline.title} on {part}")
    small = replace(sheet, lines=(headline,), per_class=None)
    return piece(
        Material(f"A headwise {task.title}", "", small, scores, [baseline] if baseline else [], facts=facts)
    )
