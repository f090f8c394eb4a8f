"""The training loop: short, exact, resumable.

The saved state holds everything that the rest of a run depends on: weights, optimizer moments, moving
average, random generators and counters; of the tables of a base, which do not change, only a digest.
Batches and learning rates are functions of seed, epoch and step. So a run that was killed anywhere and
resumed ends with the same weights as an uninterrupted one. What the loop needs of a task is its
`Objective`.
"""

import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from headwise.core.config import JsonObject
from headwise.core.errors import HeadwiseError, TrainingInterrupted
from headwise.core.folder_layout import RUN_STATE
from headwise.data.items.dataset import plan_batches
from headwise.nn.embeddings.base_embedding import frozen_tables
from headwise.nn.embeddings.word_reading import RowEmbedding
from headwise.training.callbacks import EpochReport
from headwise.training.data_parallel import training_processes
from headwise.training.optimizer import AdamW, WeightAverage, learning_rate, parameter_groups
from headwise.training.run_state import (
    RecordedSignals,
    RunProgress,
    check_tensors,
    digest_of,
    generator_state,
    learn_batches,
    load_state,
    load_tensors,
    record_signals,
    remove_run,
    restore_generators,
    save_state,
    write_tensors,
)
from headwise.training.settings import TrainConfig


class Objective(Protocol):
    """A training loss, and scores on dev."""

    @property
    def lengths(self) -> np.ndarray:
        """Number of words of each training text, `[texts]`."""
        ...

    def loss(self, texts: Sequence[int]) -> Tensor:
        """Sum of the losses of these training texts, a scalar with its autograd graph."""
        ...

    def evaluate(self) -> Mapping[str, float]:
        """Dev scores of the model as it is; they include each score that `TrainConfig.score` may name."""
        ...


EPOCH_SECONDS = 1.0
"""After an epoch the state is saved if the last one is that old: a small model would spend a fifth of its
time on saving."""


def run_epochs(
    model: nn.Module,
    objective: Objective,
    config: TrainConfig,
    folder: Path,
    *,
    resume: bool = False,
    identity: JsonObject | None = None,
    rates: Mapping[str, float] | None = None,
    until: int | None = None,
    unused: Callable[[], bool] | None = None,
    where: Callable[[int], str] | None = None,
    report: Callable[[EpochReport], None] = lambda _: None,
) -> RunProgress:
    """Train a model, and leave it with the weights that were best on dev.

    Args:
        model: The model, trained in place.
        objective: The training loss and the dev scores.
        config: See `TrainConfig`.
        folder: Folder of the run's state.
        resume: Whether to resume the run in `folder` instead of starting one.
        identity: What identifies the run beside its configuration (data, model); resuming a different run
            is an error.
        rates: Learning rates of parameters that have their own, by name prefix.
        until: For a refit: stop after this many epochs and keep the last weights; dev is not evaluated.
        unused: Tells after the evaluation of an epoch whether the model would have no use; training then
            stops.
        where: Function from the index of a training text to its place in a file, for messages.
        report: Called after each update and epoch.

    Returns:
        The counters at the end.

    Raises:
        TrainingInterrupted: Ctrl-C, SIGTERM or SIGHUP came; the state is saved.
        HeadwiseError: The loss is not a number, or the state cannot be resumed.
    """
    identity = {**(identity or {}), "train": asdict(config)} | ({} if until is None else {"until": until})
    run = _TrainingRun(model, objective, config, folder, identity, rates or {}, until, unused, where)
    with record_signals() as stop, run.optimizer.postponed():
        run.stop = stop
        if resume:
            run.load()
        else:
            remove_run(folder)  # files of a previous run must not be mistaken for this run's
            run.save()  # from here on, the run can be resumed
        while not run.progress.finished:
            for batch in run.epoch_batches():
                run.update(batch)
                report(run.report())
                if run.is_stopped():
                    run.save()
                    raise run.interrupted(stop[0] if stop else signal.SIGTERM)
                run.save_if_due()
            try:
                done = run.finish_epoch()
            except TrainingInterrupted:
                run.save()
                raise
            report(done)
        if stop:
            raise run.interrupted(stop[0])
    run.take_best()
    return run.progress


class _TrainingRun:
    """A training run: model, optimizer and counters."""

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        config: TrainConfig,
        folder: Path,
        identity: JsonObject,
        rates: Mapping[str, float],
        until: int | None,
        unused: Callable[[], bool] | None,
        where: Callable[[int], str] | None,
    ):
        self.model, self.objective, self.config = model, objective, config
        self.folder, self.until, self.unused = folder, until, unused
        self.where = where or (lambda text: f"text {text + 1:,}")
        self.device = next(model.parameters()).device
        self.parameters = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.tables = frozen_tables(model)
        self.identity = identity | ({"tables": digest_of(self.tables)} if self.tables else {})
        groups = parameter_groups(
            self.parameters, rates, learning_rate=config.learning_rate, weight_decay=config.weight_decay
        )
        self.optimizer = AdamW(groups, self._row_embeddings())
        self.rates = [group["lr"] for group in self.optimizer.param_groups]
        self.average = WeightAverage(self.parameters, config.average)
        self.progress = RunProgress()
        self.stop = RecordedSignals()
        self._unsaved_best: dict[str, Tensor] = {}
        self._lengths = objective.lengths
        self.steps = config.epochs * -(-len(self._plan(0)) // config.accumulate)
        self._saved = self._started = self._updated = time.monotonic()
        self._session_texts = 0
        self.processes = training_processes()
        self.processes.copy_weights(model)
        torch.manual_seed(config.seed + self.processes.rank)  # each process draws dropout for itself

    def _row_embeddings(self) -> list[RowEmbedding]:
        """The embeddings that are updated row by row: a moving average needs all rows in each step."""
        if self.device.type != "cpu" or self.config.average:
            return []
        return [
            module
            for module in self.model.modules()
            if isinstance(module, RowEmbedding)
            and module.weight.requires_grad
            and module.weight.dtype == torch.float32
        ]

    def _plan(self, epoch: int) -> list[list[int]]:
        return plan_batches(
            self._lengths,
            max_texts=self.config.batch_texts,
            max_tokens=self.config.batch_tokens,
            seed=self.config.seed,
            epoch=epoch,
        )

    def epoch_batches(self) -> Iterator[list[list[int]]]:
        """The remaining batches of this epoch, in groups that make one update."""
        self._batches = self._plan(self.progress.epoch)
        self._texts = sum(map(len, self._batches))
        self._session_start, self._session_texts = time.monotonic(), 0
        self.model.train()
        for start in range(self.progress.batch, len(self._batches), self.config.accumulate):
            yield self._batches[start : start + self.config.accumulate]

    def update(self, batches: Sequence[Sequence[int]]) -> None:
        """One step of the optimizer, on the mean loss of all texts of these batches."""
        config, progress = self.config, self.progress
        began = time.monotonic()
        texts = sum(map(len, batches))

        def learn(batch: Sequence[int]) -> float:
            with self._precision():
                loss = self.objective.loss(batch)
            (loss / texts).backward()
            return loss.item()

        shares = [share for batch in batches if (share := self.processes.share(batch))]
        loss = learn_batches(shares, learn, self.optimizer.zero_grad, self.where, self._lengths)
        total = self.processes.total(loss)
        self.optimizer.sum_gradients(self.processes)
        if not abs(total) < float("inf"):
            raise HeadwiseError(
                f"the loss became {total} in epoch {progress.epoch + 1}, update {progress.step + 1}; try a "
                "smaller learning rate or a lower clip",
                code="HW404",
            )
        if config.clip:
            self.optimizer.clip(config.clip)
        factor = learning_rate(progress.step, self.steps, warmup=config.warmup, schedule=config.schedule)
        for group, top in zip(self.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = top * factor
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.average.move(progress.step)
        progress.step += 1
        progress.batch += len(batches)
        progress.loss += total
        progress.texts += texts
        progress.seconds += time.monotonic() - began
        self._session_texts += texts
        self._updated = time.monotonic()

    def is_stopped(self) -> bool:
        """Whether a signal came, to any of the processes that train together."""
        return bool(self.processes.total(len(self.stop)))

    def _precision(self) -> AbstractContextManager[object]:
        reduced, device = self.config.precision == "bfloat16", self.device.type
        if not reduced and not torch.is_autocast_enabled(device):
            return nullcontext()
        return torch.autocast(device, torch.bfloat16, enabled=reduced)

    def finish_epoch(self) -> EpochReport:
        """Evaluate the model on dev, keep it if it is the best so far, and save the state.

        Raises:
            TrainingInterrupted: A signal came while it was found out whether the model is unused.
        """
        config, progress = self.config, self.progress
        if self.unused is not None:  # which takes minutes for many items
            self.save_if_due(EPOCH_SECONDS)
        began = time.monotonic()
        self.optimizer.apply_postponed()
        with self.average.applied():
            self.model.eval()
            with torch.no_grad():
                if self.until is None:
                    scores = dict(self.objective.evaluate())
                else:  # nothing is chosen in a refit
                    scores = {"loss": 0.0, config.score: 0.0}
                progress.seconds += time.monotonic() - began  # without the linear model
                unused = self.unused is not None and self._is_unused(self.unused)
                scores = self.processes.scores_of_first({**scores, "unused": unused})
                unused = bool(scores.pop("unused"))
            merit = config.selection_score(progress.epoch, scores)
            due = self._is_due(EPOCH_SECONDS)
            if merit > progress.best_score or self.until is not None:
                progress.best_score, progress.best_epoch, progress.stale = merit, progress.epoch, 0
                self._keep_best(save=due)
            else:
                progress.stale += 1
        progress.history.append(
            {"epoch": progress.epoch + 1, "train_loss": progress.loss / max(progress.texts, 1), **scores}
        )
        done = self.report(scores)
        stopped = unused or (config.patience and progress.stale >= config.patience)
        progress.epoch += 1
        progress.batch, progress.loss, progress.texts = 0, 0.0, 0
        last = config.epochs if self.until is None else self.until
        progress.finished = bool(stopped) or progress.epoch >= last
        if due or progress.finished:
            self.save()
        return done

    def _keep_best(self, *, save: bool) -> None:
        """Keep the present weights as the best: in their file, or in memory until the state is saved."""
        weights = self._weights()
        self._unsaved_best = {} if save else {name: value.clone() for name, value in weights.items()}
        if save:
            write_tensors(weights, self._best, {})

    def _is_unused(self, unused: Callable[[], bool]) -> bool:
        """Whether the model is unused. Signals act at once meanwhile, as the state is saved."""
        stop = self.stop
        stop.act_at_once = True
        try:
            if stop:
                raise KeyboardInterrupt
            return unused()
        except KeyboardInterrupt:
            raise self.interrupted(stop[0] if stop else signal.SIGINT) from None
        finally:
            stop.act_at_once = False

    def _weights(self) -> dict[str, Tensor]:
        """The tensors of the model that training changes."""
        return {name: value for name, value in self.model.state_dict().items() if name not in self.tables}

    @property
    def _best(self) -> Path:
        """The file of the best weights."""
        return self.folder / f"best-{self.progress.best_epoch + 1}.safetensors"

    def take_best(self) -> None:
        """Load the best weights into the model."""
        weights, _ = load_tensors(self._best)
        check_tensors(self._best, weights, self._weights())
        self.model.load_state_dict({**self.tables, **weights})
        self.model.eval()

    def report(self, scores: dict[str, float] | None = None) -> EpochReport:
        progress = self.progress
        spent = max(self._updated - self._session_start, 1e-9)  # without the time on dev after an epoch
        return EpochReport(
            replace(progress, history=list(progress.history)),
            len(self._batches),
            self._texts,
            progress.loss / max(progress.texts, 1),
            self._session_texts / spent,
            scores,
            self.until,
        )

    def _is_due(self, seconds: float) -> bool:
        """Whether the last state is that old, or as old as `checkpoint_seconds`."""
        return time.monotonic() - self._saved >= min(seconds, self.config.checkpoint_seconds)

    def save_if_due(self, seconds: float = math.inf) -> None:
        """Save the state if it is due."""
        if self._is_due(seconds):
            self.save()

    def save(self) -> None:
        """Save the state and the best weights, and remove those that were the best before."""
        best = self._best
        if self._unsaved_best:
            write_tensors(self._unsaved_best, best, {})
            self._unsaved_best = {}
        tensors = {f"model/{name}": value for name, value in self._weights().items()}
        for name, parameter in self.parameters.items():
            for key, value in self.optimizer.tensors(parameter).items():
                tensors[f"optimizer/{name}/{key}"] = value
        tensors |= self.average.tensors() | generator_state(self.device)
        save_state(self.folder / RUN_STATE, tensors, self.progress, self.identity)
        for path in self.folder.glob("best-*.safetensors"):
            if path != best:
                path.unlink()
        self._saved = time.monotonic()

    def interrupted(self, number: int) -> TrainingInterrupted:
        progress = self.progress
        where = "after the last epoch" if progress.finished else f"in epoch {progress.epoch + 1}"
        message = f"stopped {where} after {progress.step:,} updates; the state is saved in {self.folder}"
        return TrainingInterrupted(f"{message}. Run the same command with --resume to continue", number)

    def load(self) -> None:
        tensors, self.progress = load_state(self.folder / RUN_STATE, self.identity)
        check_tensors(self.folder / RUN_STATE, tensors, self._expected(tensors))
        self.model.load_state_dict({**self.tables, **_below(tensors, "model/")})
        for name, parameter in self.parameters.items():
            if moments := _below(tensors, f"optimizer/{name}/"):
                self.optimizer.load(parameter, moments)
        self.average.load(tensors)
        restore_generators(tensors, self.device)
        if self.progress.best_epoch >= 0 and not self._best.exists():
            raise HeadwiseError(f"{self._best}: the best weights of the run are missing", code="HW402")

    def _expected(self, saved: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tensors with the names, shapes and types that a saved state must have.

        A parameter that never had a gradient has no moments: they are expected where the file has some."""
        expected = {f"model/{name}": value for name, value in self._weights().items()}
        for name, parameter in self.parameters.items():
            moments = self.optimizer.expected(parameter, self.progress.step)
            named = {f"optimizer/{name}/{key}": value for key, value in moments.items()}
            if not saved.keys().isdisjoint(named):
                expected |= named
        expected |= self.average.tensors()
        expected["random/cpu"] = torch.get_rng_state()
        if "random/cuda" in saved:  # the saved run may have used another device
            states = generator_state(self.device)
            expected["random/cuda"] = states.get("random/cuda", saved["random/cuda"])
        return expected


def _below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names have a prefix, without it."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
