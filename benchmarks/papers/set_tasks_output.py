"""What set_tasks.py writes: a JSON file and a small picture for each run, and the table."""

import json
import os
import statistics
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

MOST_POINTS = 60  # of a curve
WIDTH, HEIGHT, MARGIN = 520, 260, 48
COLOURS = ("#1f6feb", "#d97706")


def file_name(task: str, model: str, seed: int) -> str:
    return f"{task}-{model}-{seed}"


def write_result(
    task: Any,
    settings: Any,
    counters: Any,
    references: Mapping[str, Mapping[str, float]],
    environment: Mapping[str, Any],
    results: Path,
    *,
    finished: bool,
) -> Path:
    """Write curve and scores of a run, which may go on, as JSON and SVG; the path of the JSON file."""
    paper = dict(zip(task.metrics, task.paper.get(settings.model, ()), strict=False))
    result = {
        "task": task.name,
        **settings.identity,
        "steps": counters.step,
        "finished": finished,
        "rate": task.rate,
        "decay_at": settings.decay_at,
        "seconds": round(counters.seconds, 1),
        "processor_seconds": round(counters.processor_seconds, 1),
        "scores": {metric: counters.curve[-1][metric] for metric in task.metrics},
        "paper": paper,
        "references": references,
        "evaluation_sets": task.evaluation_sets,
        **environment,
        "curve": thinned(counters.curve),
    }
    path = results / "set_tasks" / f"{file_name(task.name, settings.model, settings.seed)}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, json.dumps(result, indent=1) + "\n")
    _replace(path.with_suffix(".svg"), picture(result))
    return path


def _replace(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def thinned(curve: list[dict[str, float]]) -> list[dict[str, float]]:
    """At most `MOST_POINTS` points of a curve, evenly, with the last."""
    stride = -(-len(curve) // MOST_POINTS)
    return curve[::-1][::stride][::-1]


def picture(result: Mapping[str, Any]) -> str:
    """The scores over the steps as SVG, with lines for the paper and the references."""
    curve, metrics = result["curve"], list(result["scores"])
    levels = {f"paper {metric}": value for metric, value in result["paper"].items()}
    levels |= {
        f"{name} {metric}": value
        for name, scores in result["references"].items()
        if name == "oracle"
        for metric, value in scores.items()
    }
    # The first scores are far off and would flatten the rest.
    shown = [point[metric] for point in curve[len(curve) // 10 :] for metric in metrics]
    low, high = min(shown + list(levels.values())), max(shown + list(levels.values()))
    slack = 0.05 * (high - low) or 1.0
    low, high, last = low - slack, high + slack, curve[-1]["step"]

    def x(step: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * step / last

    def y(value: float) -> float:
        return HEIGHT - MARGIN + (2 * MARGIN - HEIGHT) * (min(max(value, low), high) - low) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="10">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="20" font-size="12">{escape(result["task"])}, {escape(result["model"])}, '
        f"seed {result['seed']}: {', '.join(f'{m} {v:.4f}' for m, v in result['scores'].items())}</text>",
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 28}" text-anchor="end">{last:,} steps</text>',
    ]
    parts += [
        f'<text x="{MARGIN - 4}" y="{y(value) + 3:.1f}" text-anchor="end">{value:.3f}</text>'
        for value in (low, high)
    ]
    for name, value in levels.items():
        parts.append(
            f'<path d="M{MARGIN} {y(value):.1f}H{WIDTH - MARGIN}" stroke="#888" stroke-dasharray="4 3"/>'
            f'<text x="{WIDTH - MARGIN}" y="{y(value) - 3:.1f}" text-anchor="end" fill="#555">'
            f"{escape(name)} {value:.4f}</text>"
        )
    for metric, colour in zip(metrics, COLOURS, strict=False):
        points = " ".join(f"{x(point['step']):.1f},{y(point[metric]):.1f}" for point in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    for n, (metric, colour) in enumerate(zip(metrics, COLOURS, strict=False)):
        parts.append(
            f'<text x="{MARGIN + 60 * n}" y="{HEIGHT - 28}" fill="{colour}">{escape(metric)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def print_table(tasks: Mapping[str, Any], results: Path) -> None:
    """Print the stored results and the paper's, in Markdown."""
    runs = [json.loads(path.read_text()) for path in sorted((results / "set_tasks").glob("*.json"))]
    for name, task in tasks.items():
        task_runs = [result for result in runs if result["task"] == name]
        header = ["model", *(f"{m}{part}" for m in task.metrics for part in ("", ", paper"))]
        header += ["seeds", "steps", "minutes (of the processor)", "parameters"]
        print(f"\n{name}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
        for model in dict.fromkeys([*task.paper, *(result["model"] for result in task_runs)]):
            print(f"| {' | '.join(_row(task, model, [r for r in task_runs if r['model'] == model]))} |")
        for reference, scores in (task_runs[0]["references"] if task_runs else {}).items():
            cells = [reference, *(c for m in task.metrics for c in (_number(scores.get(m)), "-"))]
            print(f"| {' | '.join(cells)} | - | - | - | - |")


def _row(task: Any, model: str, runs: list[dict[str, Any]]) -> list[str]:
    cells = [model]
    paper = dict(zip(task.metrics, task.paper.get(model, ()), strict=False))
    for metric in task.metrics:
        values = [run["scores"][metric] for run in runs]
        spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
        cells += [_number(statistics.mean(values)) + spread if runs else "-", _number(paper.get(metric))]
    if not runs:
        return [*cells, "-", "-", "-", "-"]
    steps, wall, processor = (
        statistics.mean(run[key] for run in runs) for key in ("steps", "seconds", "processor_seconds")
    )
    minutes = f"{wall / 60:.1f} ({processor / 60:.1f})"
    return [*cells, str(len(runs)), f"{steps:,.0f}", minutes, f"{runs[0]['parameters']:,}"]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
