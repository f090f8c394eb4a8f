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
class Kept:
    """What has been measured of a row.

    Attributes:
        scores: By name, one for each seed.
        seeds: The seeds.
        stopped: Those of them whose run is to go on.
        paper: What the paper says of the same scores.
        beside: What they are to be compared with: a guess, an oracle.
        how: How long it was trained.
    """

    scores: Mapping[str, list[float]]
    seeds: tuple[int, ...] = (0,)
    stopped: tuple[int, ...] = ()
    paper: Mapping[str, float] = field(default_factory=dict)
    beside: str = ""
    how: str = ""


def kept(row: Row) -> Kept | None:
    """What there is of a row that a command makes; None where there is nothing yet."""
    reader = READERS.get(row.kept.split("/")[0])
    return reader(row) if reader else None


def _set_task(row: Row) -> Kept | None:
    """Runs of set_tasks.py and translation.py: a file for each seed."""
    found = [_json(path) for path in sorted(RESULTS.glob(row.kept))]
    if not found:
        return None
    first = found[0]
    scores = {name: [run["scores"][name] for run in found] for name in first["scores"]}
    if "test_bleu" in first:
        scores = {"test BLEU": [run["test_bleu"] for run in found if "test_bleu" in run]}
    task = TASKS.get(first["task"])
    known = dict(zip(task.metrics, task.paper.get(first["model"], ()), strict=False)) if task else {}
    told = [f"{name} {_told(values)}" for name, values in first["references"].items()]
    whole = f" of {task.steps:,}" if task and first["steps"] < task.steps else ""
    stopped = tuple(run["seed"] for run in found if not _finished(run))
    how = f"{first['steps']:,}{whole} steps{', stopped' * bool(stopped)}"
    return Kept(scores, tuple(run["seed"] for run in found), stopped, known, ", ".join(told), how)


def _finished(run: dict[str, Any]) -> bool:
    """Whether a run came to its end; the oldest, which do not say, did."""
    return run.get("finished", True) and (run["task"] != "translation" or "test_bleu" in run)


def _mirrored(row: Row) -> Kept | None:
    """Runs of mirrored_summation.py: lines of a csv file, of the model and the K that are picked."""
    model, terms = row.pick
    own = [line for line in _csv(RESULTS / row.kept) if (line["model"], line["terms"]) == (model, terms)]
    if not own:
        return None
    first = own[0]
    beside = f"chance {float(first['chance']):.4g}, best linear guess {float(first['linear']):.4g}"
    seeds = tuple(int(line["seed"]) for line in own)
    errors = {"squared error": [float(line["mse"]) for line in own]}
    digits = "" if first["precision"] == "float32" else f" in {first['precision']}"
    return Kept(errors, seeds, (), {}, beside, f"{int(first['steps']):,} steps of 128{digits}")


def _language(row: Row) -> Kept | None:
    """A run of language_modelling.py, which is picked by its name."""
    run = _json(RESULTS / row.kept).get("runs", {}).get(row.pick[0])
    if run is None:
        return None
    how = f"{run['steps_done']:,} steps of {run['batch_tokens']:,} characters"
    return Kept({"bits per character": [run["bits_per_character"]]}, (run["seed"],), (), {}, "", how)


def _bags(row: Row) -> Kept | None:
    """A model of multiple_instance.py on a data set."""
    source, model = row.pick
    own = _json(RESULTS / row.kept).get("sets", {}).get(source, {}).get(model)
    if own is None:
        return None
    spread = "" if own["deviation"] is None else f"deviation over seeds {100 * own['deviation']:.1f}"
    return Kept(
        {"accuracy": [100 * own["accuracy"]]}, tuple(range(own["seeds"])), (), {}, spread, "10 folds"
    )


def _speed(row: Row) -> Kept | None:
    """A ratio of speed.py (its part and what it is), or the milliseconds of a batch (domain, system)."""
    part, *what = row.pick
    own = _json(TIMES / row.kept).get(part)
    if own is None:
        return None
    quick = any(note.startswith("quick") for note in own["notes"])
    how = f"{own['environment']['threads']} thread, {own['environment']['clock']}{', a sample' * quick}"
    if len(what) == 1:
        values = [line["value"] for line in own["rows"] if line["what"] == what[0]]
        return Kept({"times": values}, (0,), (), {}, "", how) if values else None
    domain, system = what
    times = own["details"]["ms_per_batch_of_128"]["random"]
    chosen = list(times.values()) if domain == "mean" else [times.get(domain, {})]
    values = [domains[system] for domains in chosen if system in domains]
    return Kept({"milliseconds": [statistics.mean(values)]}, (0,), (), {}, "", how) if values else None


def _costs(row: Row) -> Kept | None:
    """A figure of ms_san_costs.py."""
    network, what = row.pick
    found = _json(RESULTS / row.kept)
    if not found:
        return None
    how = f"{found['threads']} thread, {found['clock']}" if what == "milliseconds" else ""
    return Kept({what: [found["networks"][network][what]]}, (0,), (), {}, "", how)


READERS: dict[str, Callable[[Row], Kept | None]] = {
    "set_tasks": _set_task,
    "mirrored_summation": _mirrored,
    "language_modelling.json": _language,
    "multiple_instance.json": _bags,
    "speed.json": _speed,
    "ms_san_costs.json": _costs,
}
"""By the first part of where a result is kept."""


def cells(row: Row, found: Kept) -> list[str]:
    """Measured with its spread and the number of seeds, the paper, what is beside it, how long."""
    measured = ", ".join(f"{name} {_spread(values)}" for name, values in found.scores.items())
    paper = row.paper or ", ".join(f"{name} {value:.4g}" for name, value in found.paper.items())
    return [f"{measured} ({len(found.seeds)})", paper, found.beside, found.how]


def _spread(values: list[float]) -> str:
    mean = statistics.mean(values)
    mean = f"{mean:,.0f}" if abs(mean) >= 10_000 else f"{mean:.4g}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.2g}"


def _told(values: Mapping[str, float]) -> str:
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
