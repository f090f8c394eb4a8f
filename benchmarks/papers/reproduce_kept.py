"""What the commands of the rows have left in papers/results and speed/results, to be read only."""

import csv
import json
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks import ROOT
from benchmarks.papers.reproduce_row import Row
from benchmarks.papers.set_tasks import TASKS

RESULTS = Path(__file__).parent / "results"
TIMES = ROOT / "benchmarks" / "speed" / "results"


@dataclass(frozen=True)
class StoredRuns:
    """The stored results of a row.

    Attributes:
        scores: By name, one for each seed.
        seeds: The seeds.
        stopped: Those of them whose run is unfinished.
        paper: The paper's figures of the same scores.
        references: Scores for comparison: of a guess, of an oracle.
        how: How long it was trained.
    """

    scores: Mapping[str, list[float]]
    seeds: tuple[int, ...] = (0,)
    stopped: tuple[int, ...] = ()
    paper: Mapping[str, float] = field(default_factory=dict)
    references: str = ""
    how: str = ""


def stored_runs(row: Row) -> StoredRuns | None:
    """What there is of a row that a command makes; None where there is nothing yet."""
    reader = READERS.get(row.results.split("/")[0])
    return reader(row) if reader else None


def _set_task(row: Row) -> StoredRuns | None:
    """Runs of set_tasks.py and translation.py: a file for each seed."""
    runs = [_json(path) for path in sorted(RESULTS.glob(row.results))]
    if not runs:
        return None
    first = runs[0]
    scores = {name: [run["scores"][name] for run in runs] for name in first["scores"]}
    if "test_bleu" in first:
        scores = {"test BLEU": [run["test_bleu"] for run in runs if "test_bleu" in run]}
    task = TASKS.get(first["task"])
    paper = dict(zip(task.metrics, task.paper.get(first["model"], ()), strict=False)) if task else {}
    references = [f"{name} {_format_values(values)}" for name, values in first["references"].items()]
    planned = f" of {task.steps:,}" if task and first["steps"] < task.steps else ""
    stopped = tuple(run["seed"] for run in runs if not _finished(run))
    how = f"{first['steps']:,}{planned} steps{', stopped' * bool(stopped)}"
    return StoredRuns(
        scores, tuple(run["seed"] for run in runs), stopped, paper, ", ".join(references), how
    )


def _finished(run: dict[str, Any]) -> bool:
    """Whether a run is finished; the oldest, which do not record it, are."""
    return run.get("finished", True) and (run["task"] != "translation" or "test_bleu" in run)


def _mirrored(row: Row) -> StoredRuns | None:
    """Runs of mirrored_summation.py: lines of a csv file, of the model and the K that are picked."""
    model, terms = row.pick
    runs = [
        line for line in _csv(RESULTS / row.results) if (line["model"], line["terms"]) == (model, terms)
    ]
    if not runs:
        return None
    first = runs[0]
    references = f"chance {float(first['chance']):.4g}, best linear guess {float(first['linear']):.4g}"
    seeds = tuple(int(line["seed"]) for line in runs)
    errors = {"squared error": [float(line["mse"]) for line in runs]}
    digits = "" if first["precision"] == "float32" else f" in {first['precision']}"
    return StoredRuns(errors, seeds, (), {}, references, f"{int(first['steps']):,} steps of 128{digits}")


def _language(row: Row) -> StoredRuns | None:
    """A run of language_modelling.py, which is picked by its name."""
    run = _json(RESULTS / row.results).get("runs", {}).get(row.pick[0])
    if run is None:
        return None
    how = f"{run['steps_done']:,} steps of {run['batch_tokens']:,} characters"
    return StoredRuns({"bits per character": [run["bits_per_character"]]}, (run["seed"],), (), {}, "", how)


def _bags(row: Row) -> StoredRuns | None:
    """A model of multiple_instance.py on a data set."""
    source, model = row.pick
    result = _json(RESULTS / row.results).get("sets", {}).get(source, {}).get(model)
    if result is None:
        return None
    spread = "" if result["deviation"] is None else f"deviation over seeds {100 * result['deviation']:.1f}"
    return StoredRuns(
        {"accuracy": [100 * result["accuracy"]]}, tuple(range(result["seeds"])), (), {}, spread, "10 folds"
    )


def _speed(row: Row) -> StoredRuns | None:
    """A ratio of speed.py (its part and what it is), or the milliseconds of a batch (domain, system)."""
    part, *what = row.pick
    timing = _json(TIMES / row.results).get(part)
    if timing is None:
        return None
    quick = any(note.startswith("quick") for note in timing["notes"])
    how = (
        f"{timing['environment']['threads']} thread, {timing['environment']['clock']}{', a sample' * quick}"
    )
    if len(what) == 1:
        values = [line["value"] for line in timing["rows"] if line["what"] == what[0]]
        return StoredRuns({"times": values}, (0,), (), {}, "", how) if values else None
    domain, system = what
    times = timing["details"]["ms_per_batch_of_128"]["random"]
    chosen = list(times.values()) if domain == "mean" else [times.get(domain, {})]
    values = [domains[system] for domains in chosen if system in domains]
    return (
        StoredRuns({"milliseconds": [statistics.mean(values)]}, (0,), (), {}, "", how) if values else None
    )


def _costs(row: Row) -> StoredRuns | None:
    """A figure of ms_san_costs.py."""
    network, what = row.pick
    measurement = _json(RESULTS / row.results)
    if not measurement:
        return None
    how = f"{measurement['threads']} thread, {measurement['clock']}" if what == "milliseconds" else ""
    return StoredRuns({what: [measurement["networks"][network][what]]}, (0,), (), {}, "", how)


READERS: dict[str, Callable[[Row], StoredRuns | None]] = {
    "set_tasks": _set_task,
    "mirrored_summation": _mirrored,
    "language_modelling.json": _language,
    "multiple_instance.json": _bags,
    "speed.json": _speed,
    "ms_san_costs.json": _costs,
}
"""By the first part of where a result is kept."""


def cells(row: Row, stored: StoredRuns) -> list[str]:
    """Score with spread and number of seeds, the paper's, the references, the length of training."""
    measured = ", ".join(f"{name} {_spread(values)}" for name, values in stored.scores.items())
    paper = row.paper or ", ".join(f"{name} {value:.4g}" for name, value in stored.paper.items())
    return [f"{measured} ({len(stored.seeds)})", paper, stored.references, stored.how]


def _spread(values: list[float]) -> str:
    mean = statistics.mean(values)
    mean = f"{mean:,.0f}" if abs(mean) >= 10_000 else f"{mean:.4g}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.2g}"


def _format_values(values: Mapping[str, float]) -> str:
    return ", ".join(f"{value:.4g}" for value in values.values())


def _json(path: Path) -> dict[str, Any]:
    return _read(path, path.stat().st_mtime_ns) if path.exists() else {}


@lru_cache(maxsize=64)
def _read(path: Path, changed: int) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _csv(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
