"""The training runs of set_tasks.py: resumable, limited in time, watched by an evaluation.

The sets of a step are a function of seed and step, and nothing else is random after the start; so weights,
moments and counters are the whole state, and a run that was killed ends like one that was not.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor, nn

from benchmarks.papers.kept_state import SAVE_EVERY, keep_state, read_state
from benchmarks.papers.set_tasks_output import file_name, write_result
from headwise import __version__
from headwise.core.errors import HeadwiseError
from headwise.training.run_state import record_signals

EVALUATION = 2**32  # seed of the evaluation sets, out of reach of --seed
PART = 200  # sets evaluated at once

Scores = dict[str, float]


class Task(Protocol):
    """A task of this benchmark."""

    name: str
    metrics: tuple[str, ...]
    model: str
    steps: int
    rate: float
    decay_at: float
    precision: str
    evaluation_sets: int
    evaluate_every: int
    paper: Mapping[str, tuple[float, ...]]

    def make(self, model: str) -> Any: ...
    def loss(self, model: Any, seed: list[int]) -> Tensor: ...
    def evaluate(self, model: Any, sets: int) -> Scores: ...
    def references(self, sets: int) -> dict[str, Scores]: ...


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    model: str
    seed: int
    steps: int
    minutes: float
    clock: str
    decay_at: float
    precision: str

    @property
    def identity(self) -> dict[str, Any]:
        """What a resumed run must have in common with the one before."""
        return {"model": self.model, "seed": self.seed, "precision": self.precision}


@dataclass
class Counters:
    """How far a run is.

    Attributes:
        step: Updates done.
        seconds: Time of these updates, by the clock.
        processor_seconds: Time that the processor spent on them; less, where others had it too.
        curve: One entry for each evaluation.
    """

    step: int = 0
    seconds: float = 0.0
    processor_seconds: float = 0.0
    curve: list[Scores] = field(default_factory=list)


class Run:
    """A model in training, its optimizer and its counters."""

    def __init__(self, task: Task, settings: Settings, path: Path):
        self.task, self.settings, self.path = task, settings, path
        torch.manual_seed(settings.seed)
        self.model: nn.Module = task.make(settings.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), fused=True)
        self.counters = Counters()
        self._saved = time.monotonic()
        if path.exists():
            counters = read_state(path, self.model, self.optimizer, settings.identity)
            self.counters = Counters(**counters)

    @property
    def share(self) -> float:
        """How much of the run is done, by steps or by time, whichever is further."""
        counters, settings = self.counters, self.settings
        seconds = counters.processor_seconds if settings.clock == "processor" else counters.seconds
        return max(counters.step / settings.steps, seconds / (60 * settings.minutes))

    def step(self) -> float:
        """One update; gives its loss."""
        counters, task = self.counters, self.task
        began, processor_began = time.monotonic(), time.process_time()
        for group in self.optimizer.param_groups:
            rise = min(1.0, (counters.step + 1) / max(getattr(task, "warmup", 0), 1))
            group["lr"] = task.rate * rise * (0.1 if self.share >= self.settings.decay_at else 1.0)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.settings.precision == "bfloat16"):
            loss = task.loss(self.model, [self.settings.seed, counters.step])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        counters.step += 1
        counters.seconds += time.monotonic() - began
        counters.processor_seconds += time.process_time() - processor_began
        value = loss.item()
        if not abs(value) < float("inf"):
            raise HeadwiseError(f"the loss became {value} in step {counters.step}", code="HW404")
        return value

    def evaluate(self) -> Scores:
        """Scores on the evaluation sets; added to the curve."""
        with torch.inference_mode():
            scores = self.task.evaluate(self.model, self.task.evaluation_sets)
        counters = self.counters
        if counters.curve and counters.curve[-1]["step"] == counters.step:
            counters.curve.pop()  # the run was over before
        counters.curve.append({"step": counters.step, "seconds": round(counters.seconds, 1), **scores})
        return scores

    def save(self) -> None:
        keep_state(self.path, self.model, self.optimizer, self.counters, self.settings.identity)
        self._saved = time.monotonic()

    def save_if_due(self) -> None:
        if time.monotonic() - self._saved >= SAVE_EVERY:
            self.save()


def train(task: Task, settings: Settings, results: Path) -> int:
    """Train until the steps or the minutes are over; 128 + the signal if one came before.

    Raises:
        HeadwiseError: The model is unknown, the state is another run's, or the loss is not a number.
    """
    name = file_name(task.name, settings.model, settings.seed)
    run = Run(task, settings, results / "cache" / "set_tasks" / f"{name}.safetensors")
    references = task.references(task.evaluation_sets)
    console = Console(highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("step {task.fields[step]:,}  loss {task.fields[loss]:.4f}"),
        TimeElapsedColumn(),
    )
    parameters = sum(p.numel() for p in run.model.parameters())
    print(f"{name}: {parameters:,} parameters; {_comparison(task, settings, references)}", flush=True)
    loss = float("nan")

    def judge() -> Path:
        scores = run.evaluate()
        bar.console.print(_progress_line(run.counters, scores), soft_wrap=True)
        run.save()
        arguments = task, settings, run.counters, references, _environment(run), results
        return write_result(*arguments, finished=run.share >= 1)

    with (
        record_signals() as caught,
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        line = bar.add_task(name, total=1.0, step=run.counters.step, loss=loss)
        while run.share < 1 and not caught:
            value = run.step()
            loss = value if loss != loss else 0.98 * loss + 0.02 * value
            bar.update(line, completed=run.share, step=run.counters.step, loss=loss)
            if run.counters.step % task.evaluate_every == 0 and run.share < 1:
                judge()
            run.save_if_due()
        if caught:
            run.save()
            print(f"stopped in step {run.counters.step:,}; the same command goes on", file=sys.stderr)
            return 128 + caught[0]
        print(judge())
    return 0


def _comparison(task: Task, settings: Settings, references: dict[str, Scores]) -> str:
    """What the scores are to be compared with."""
    comparison = dict(references)
    if settings.model in task.paper:
        comparison["paper"] = dict(zip(task.metrics, task.paper[settings.model], strict=True))
    return "; ".join(f"{name} {_scores(scores)}" for name, scores in comparison.items())


def _progress_line(counters: Counters, scores: Scores) -> str:
    return f"step {counters.step:,}, {counters.seconds / 60:.1f} minutes: {_scores(scores)}"


def _scores(scores: Scores) -> str:
    return ", ".join(f"{key} {value:.4f}" for key, value in scores.items())


def _environment(run: Run) -> dict[str, Any]:
    return {
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "threads": torch.get_num_threads(),
        "headwise": __version__,
        "torch": torch.__version__,
    }
