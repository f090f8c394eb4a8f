"""What a notebook shows of a model: what it knows, and how good it is beside the baseline."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headwise.report.document import Material, piece
from headwise.report.rival import Rival
from headwise.report.sheet import is_number, lookup, section
from headwise.store.card import reads
from headwise.tasks import find_task

_LABELS = 12  # that are named
_PARTS = ("train", "dev", "test")


def model_html(model: Any, info: Mapping[str, Any]) -> str:
    """A piece of a page, small and without scripts. Everything is escaped.

    Args:
        model: Any of ours.
        info: What its folder says of it, see `read_info`; `data` and `metrics` are shown as far as they are
            there, and nothing in them is believed.
    """
    task = find_task(model.config.task)
    data, metrics = (section(info, name) for name in ("data", "metrics"))
    part = "test" if isinstance(metrics.get("test"), Mapping) else "dev"
    scores = section(metrics, part)
    sheet = task.sheet(scores)
    sizes = {name: lookup(data, f"{name}.texts") for name in _PARTS}
    counted = [f"{size:,.0f} {name}" for name, size in sizes.items() if is_number(size)]
    each = sheet.each
    names = [str(row.get(each.name)) for row in each.rows(scores)] if each else []
    if each and each.name == "label":  # of tags these are what a model computes with
        names = model.outputs_json()["labels"]
    more = f" and {len(names) - _LABELS:,} more" if len(names) > _LABELS else ""
    some = ", ".join(names[:_LABELS]) + more
    tensors = model.state_dict().values()
    size = sum(own.numel() * own.element_size() for own in tensors) / 1e6
    facts = [
        *([(f"{len(names):,} {each.title}s", some)] if each and names else []),
        *((name.lower(), value) for name, value in reads(model)),
        *([(sheet.of, ", ".join(counted))] if counted else []),
        ("size", f"{size:.1f} MB in memory"),
    ]
    speed = lookup(metrics, "teaching.texts_per_second.model")
    if is_number(speed):
        facts.append(("speed", f"{speed:,.0f} {sheet.of} a second when it was trained"))
    baseline = Rival.all_of(metrics).get("baseline")
    headline = replace(sheet.headline, title=f"{sheet.headline.title} on {part}")
    small = replace(sheet, lines=(headline,), each=None)
    return piece(
        Material(f"A headwise {task.title}", "", small, scores, [baseline] if baseline else [], facts=facts)
    )
