"""Trials of settings: training runs on parts of a file, each evaluated on held-out items, and a log of them
that survives a kill."""

import json
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.app.configuration import Sections, build_config
from headwise.app.training_plan import RunData
from headwise.app.training_request import SettingsSources, TrainingRequest, resolve
from headwise.core.config import JsonMapping, JsonObject, differences
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.folder_layout import RUN_STATE
from headwise.data.errors import DataError
from headwise.data.items.labels import evaluated_items, evaluation_weights
from headwise.data.splits.data_parts import DataParts
from headwise.training.fit import merge_dev_into_train
from headwise.training.memoized_fits import memoizing
from headwise.training.settings import RunConfig

MetricParts = NDArray[np.float32]
"""See `headwise.models.tasks.task.Task.metric_parts`."""

TRIAL_LOG = "search.jsonl"
SCORING_VERSION = 2
"""Increased whenever the same settings give other results, as the evaluation changes. The oldest logs have
no version."""
_DIVERGED, _COST = "HW404", 1e3
"""Error code of a diverged training run, and its loss for each item."""
_PLANNED = "name", "encoder"  # settings of the base that the defaults of other settings depend on
_LEAST_FOLDS = 5


class TimeBudgetExceeded(Exception):
    """The time budget is used up, so no training run may start."""


class Trials:
    """Training runs of candidates on the training and dev items of a file.

    If dev was split off, trial n is evaluated on fold n of training and dev items; a part of the other
    folds selects epoch, ensemble weights and temperature, as in a training run. If there is a dev file, or
    dev is the end of one long text, all trials select and evaluate on it, and differ by their seeds.

    Args:
        request: The settings that all candidates share.
        data: The data; the test part is not used.
        folder: Folder of the log and of the training runs.
        seeds: Number of trials that select; as many others may confirm.

    Attributes:
        base: The settings without a change.
        metric_table: The metric table of the task.
        seconds: Duration of all training runs so far.

    Raises:
        HeadwiseError: HW403, the folder holds trials of another search.
        ConfigError: There are too few different items for the trials.
    """

    def __init__(self, request: TrainingRequest, data: RunData, folder: Path, seeds: int):
        self.request, self.folder = request, folder
        self.sources = SettingsSources(data.parts)
        self.plan = request.plan(data, sources=self.sources)
        self.parts = parts = self.plan.parts
        self.base, self.task = self.plan.run_config, self.plan.task
        self._starts = {json.dumps({}): self.base}
        # Candidates on the same items have the same linear model, unless there is a base.
        self._linear_models = JsonObject()
        self.metric_table = self.task.metric_part_table(parts, self.base.model)
        self.folds: NDArray[np.int64] | None = None
        if "dev" not in parts.files and parts.item_type.has_keys:
            self.pool = merge_dev_into_train(parts).train
            folds = np.array(parts.item_type.folds(self.pool, max(2 * seeds, _LEAST_FOLDS)))
            used = np.unique(folds[folds >= 0])  # of few different items, some are empty
            self.folds = np.where(folds < 0, -1, np.searchsorted(used, folds))
            if len(used) < 2 * seeds:
                many = parts.item_type.nouns.many
                raise ConfigError(
                    f"too few different {many} for {seeds} trials and as many that confirm: {len(used)} "
                    f"parts of them; give more {many}, or --seeds {max(1, len(used) // 2)}"
                )
        prints = [parts.item_type.fingerprint(part).sha256 for part in (parts.train, parts.dev)]
        key = {"judging": SCORING_VERSION, "data": prints, "recipe": self.base.to_json(), "seeds": seeds}
        self.runs = TrialLog(folder / TRIAL_LOG, key)
        self.notes = (*self.plan.notes, *self.runs.notes)

    def metric_parts(
        self, change: Sections, share: float, trial: int, until: float = 0.0
    ) -> tuple[MetricParts, bool]:
        """The results of a candidate for each evaluated item, `[items, 3]` (see `Task.metric_parts`), and
        whether it was trained by this call.

        Args:
            change: The sections of settings that it changes.
            share: Share of the training items to train on.
            trial: Number of the trial.
            until: Total seconds of training after which no run starts.

        Raises:
            TimeBudgetExceeded: They are used up.
        """
        key = json.dumps([change, share, trial])
        if (saved_parts := self.runs.all_parts.get(key)) is not None:
            return saved_parts, False
        if self.runs.seconds >= until:
            raise TimeBudgetExceeded
        began = time.monotonic()
        parts, held_out = self._parts(share, trial)
        run_config = self.task.for_data_share(self.run_config(change), share)
        train = replace(run_config.train, seed=trial, refit=False, folds=0)
        place = self.folder / sha256(key.encode()).hexdigest()[:12]
        plan = replace(self.plan, data=RunData(parts), run_config=replace(run_config, train=train))
        try:
            with memoizing(self._linear_models):
                model = plan.fit(place, resume=(place / RUN_STATE).exists()).model
            metric_parts = self.task.metric_parts(model, held_out, self.task.evaluate(model, held_out))
            if self.parts.item_type.has_keys and (weights := evaluation_weights(held_out)) is not None:
                metric_parts = metric_parts * weights[:, None]
        except HeadwiseError as error:
            if error.code != _DIVERGED:
                raise
            metric_parts = np.tile(
                [_COST, _COST * self.metric_table.lower, 1.0], (self.task.metric_part_count(held_out), 1)
            )
        self.runs.add(key, metric_parts.astype(np.float32), time.monotonic() - began)
        shutil.rmtree(place, ignore_errors=True)
        return self.runs.all_parts[key], True

    def _parts(self, share: float, trial: int) -> tuple[DataParts, Any]:
        """The data that a candidate is trained on, and the items that it is evaluated on."""
        train, dev, item_type = self.parts.train, self.parts.dev, self.parts.item_type
        held_out = dev
        if self.folds is not None:
            train, held_out = (
                [item for item, fold in zip(self.pool, self.folds, strict=True) if (fold == trial) == held]
                for held in (False, True)
            )
        if share < 1:
            train = item_type.split(train, 1 - share).train
        if self.folds is not None:
            dev = held_out  # if there are too few items for a dev part
            with suppress(DataError):
                split = item_type.split(train, self.base.split.dev, seed=trial)
                train, dev = split.train, split.dev
        if self.parts.item_type.has_keys:
            held_out = evaluated_items(held_out)
        return replace(self.parts, train=train, dev=dev, test=self.parts.test[:0]), held_out

    def run_config(self, change: Sections) -> RunConfig:
        """The settings of a candidate; see `changed_run_config`."""
        base = _planned_base(change)
        key = json.dumps(base, sort_keys=True)
        if key not in self._starts:
            self._starts[key] = _base_run_config(self.sources, self.request.layers, base)
        return _with_change(self._starts[key], change)


def changed_run_config(
    sources: SettingsSources, layers: tuple[Sections, ...], change: Sections
) -> RunConfig:
    """The settings for data with a change; another base, or a start without its encoder, changes the
    defaults of the other settings."""
    return _with_change(_base_run_config(sources, layers, _planned_base(change)), change)


def _planned_base(change: Sections) -> JsonObject:
    """The settings of the base in a change that the defaults of other settings depend on."""
    return {key: value for key, value in change.get("base", {}).items() if key in _PLANNED}


def _base_run_config(
    sources: SettingsSources, layers: tuple[Sections, ...], base: JsonMapping
) -> RunConfig:
    """The settings with these settings of the base; without them, with those of the layers."""
    request = resolve((*layers, {"base": base}) if base else layers, warm_start=False)
    return request.plan(RunData(sources.parts), sources=sources).run_config


def _with_change(start: RunConfig, change: Sections) -> RunConfig:
    base = {key: value for key, value in change.get("base", {}).items() if key not in _PLANNED}
    other_sections = {section: values for section, values in change.items() if section != "base"}
    return build_config(start.to_json(), other_sections, {"base": base} if base else {})


class TrialLog:
    """The log of the trials of a search: a file with one line per training run.

    Args:
        path: The file.
        key: What identifies the search.

    Attributes:
        all_parts: The results of each run (see `Trials.metric_parts`), by its key.
        seconds: Duration of all runs.
        notes: Notes for the user.

    Raises:
        HeadwiseError: HW403, the file is of another search.
    """

    def __init__(self, path: Path, key: JsonMapping):
        self.path, self.all_parts, self.seconds = path, dict[str, MetricParts](), 0.0
        self.notes: tuple[str, ...] = ()
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        saved, judging = _search_key(text.partition("\n")[0]), {"judging": key.get("judging")}
        if saved.get("judging") != key.get("judging") and saved | judging == json.loads(json.dumps(key)):
            message = "its runs were scored by another version of headwise, so the search starts over"
            text, self.notes = "", (f"{path}: {message}",)
        first, *lines = text.splitlines() or [""]
        if not text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(key) + "\n", encoding="utf-8")
        elif first != json.dumps(key):
            unlike = f": {differences(saved, key)}" if saved else ""
            raise HeadwiseError(
                f"{path}: the runs of another search{unlike}. Search with the same data and settings, or "
                "give another --output",
                code="HW403",
            )
        elif not text.endswith("\n"):  # the last line was cut off
            with open(path, "a", encoding="utf-8") as file:
                file.write("\n")
        for line in lines:
            try:
                run = json.loads(line)
                metric_parts = np.frombuffer(bytes.fromhex(run["tally"]), "<f4").reshape(-1, 3)
                self._note(str(run["key"]), metric_parts, float(run["seconds"]))
            except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
                continue  # a damaged line: the run is repeated

    def add(self, key: str, metric_parts: MetricParts, seconds: float) -> None:
        """Append a run."""
        content = metric_parts.astype("<f4").tobytes().hex()
        run = {"key": key, "seconds": round(seconds, 3), "tally": content}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")
        self._note(key, metric_parts, seconds)

    def _note(self, key: str, metric_parts: MetricParts, seconds: float) -> None:
        self.all_parts[key] = metric_parts
        self.seconds += seconds


def _search_key(line: str) -> JsonObject:
    """What identifies the search of a log's first line; empty if the line is damaged."""
    try:
        saved = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return saved if isinstance(saved, dict) else {}
