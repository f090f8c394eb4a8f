"""Hyperparameter search for a file: successive halving over changes of settings, confirmed on other items.

A candidate changes a few settings of a usual run. All candidates are trained on a part of the items; the
better half is trained and evaluated on more, until the last few have had all (Jamieson, Talwalkar; AISTATS
2016). Candidates are compared by their log loss after calibration, which separates them on fewer items than
accuracy does. All are evaluated on the same items as the settings without a change, so differences are
paired. Changes that gain by themselves are combined at the end. The gain of the best of many candidates is
optimistic, so it is measured again on other items.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np

from headwise.app.configuration import Sections
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.training_plan import RunData, TrainingFiles
from headwise.app.training_request import SettingsSources, resolve
from headwise.app.workflows.search_spaces import SearchSpace, settings_search_space
from headwise.app.workflows.trials import MetricParts, TimeBudgetExceeded, Trials, changed_run_config
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.core.file_lock import locked
from headwise.data.files.text_lines import file_name
from headwise.metrics.classification_scores import NORMAL_QUANTILE
from headwise.metrics.resampling import Interval, compare_ratios
from headwise.models.metric_table import MetricTable
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.training.settings import RunConfig

_MIN_SEARCH_ITEMS = 20  # minimum number of items of a search
_FINALISTS = 3  # candidates that are trained on all items
_MIN_ITEMS = 500  # minimum number of items of a trial, if there are as many; some are its dev items
_SELECTION_TIME_SHARE = 0.75  # share of the time budget; the rest is for the confirmation


@dataclass(frozen=True)
class Gain:
    """The gain of a candidate over the settings without its change, on the same items.

    Attributes:
        score: Gain of the primary metric; above 0 is better.
        interval: 95 % interval of it.
        loss: Reduction of the mean log loss (or error).
        loss_interval: 95 % interval of it.
        items: Number of items.
    """

    score: float
    interval: Interval
    loss: float
    loss_interval: Interval
    items: int

    @property
    def is_significant(self) -> bool:
        """Whether the loss is lower by more than its standard error."""
        return self.loss > (self.loss_interval[1] - self.loss) / NORMAL_QUANTILE


@dataclass(frozen=True)
class Candidate:
    """A candidate of the search, with its results.

    Attributes:
        name: Its name.
        change: The sections of settings that it changes.
        step: The last step that it reached, from 1.
        score: Primary metric on all items that it was evaluated on.
        loss: Mean log loss (or error) of these items.
        gain: The gain; None for the settings without a change.
    """

    name: str
    change: Sections
    step: int
    score: float
    loss: float
    gain: Gain | None


@renamed_parameters(sheet="metric_table", apart="uses_new_items")
@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        tried: All candidates that were trained, by last step and score, the best first.
        steps: Number of steps.
        finished: Whether the time sufficed for all steps.
        best: The winner. It is the candidate without a change if the confirmation contradicts the first of
            `tried`, or there was no time for it.
        confirmed: Gain of the first of `tried` in trials that did not select it; None if it changes
            nothing, or there was no time.
        uses_new_items: Whether the confirmation used other items than the selection. If not, the trials
            differ in their seeds only, and the confirmed gain is slightly optimistic.
        settings: Settings of the best, as sections of a recipe.
        run_config: All settings of the best, without those for the search only.
        metric_table: The metric table of the task.
        seconds: Duration of all training runs.
    """

    tried: tuple[Candidate, ...]
    steps: int
    finished: bool
    best: Candidate
    confirmed: Gain | None
    uses_new_items: bool
    settings: Mapping[str, JsonMapping]
    run_config: RunConfig
    metric_table: MetricTable
    seconds: float

    def to_json(self) -> JsonObject:
        """A JSON object."""
        return {
            "steps": self.steps,
            "finished": self.finished,
            "seconds": self.seconds,
            "score": self.metric_table.primary_metric.key,
            "best": self.best.name,
            "confirmed": None if self.confirmed is None else asdict(self.confirmed),
            "apart": self.uses_new_items,
            "settings": self.settings,
            "tried": [asdict(candidate) for candidate in self.tried],
        }


@renamed_parameters(listener="reporter")
def tune_file(
    file: Path | str,
    folder: Path | str,
    *,
    dev: Path | str | None = None,
    minutes: float = 10.0,
    seeds: int = 4,
    settings: Sequence[Sections] | Sections = (),
    space: SearchSpace = settings_search_space,
    meanwhile: Sections = MappingProxyType({}),
    reporter: Reporter = NULL_REPORTER,
) -> SearchResult:
    """Search for settings that suit a file.

    The folder stores all trials, so the same call resumes the search. The test part that is split off the
    file is not used.

    Args:
        file: The labelled items.
        folder: Folder of the trials.
        dev: Items to evaluate on; by default all items by cross-validation (of one long text, its end).
        minutes: Time budget for training; no training run starts after it.
        seeds: Number of trials of the last candidates for the selection, and of the winner for the
            confirmation.
        settings: Sections of settings that all candidates share, as in a recipe; or several.
        space: Gives the candidates.
        meanwhile: Sections of settings for the search only, if the task has them.
        reporter: Receives messages and progress.

    Raises:
        ConfigError: Priors of such models are not searched, the time did not suffice for one run, or a
            number is out of range.
        HeadwiseError: The file cannot be read, or the folder holds the trials of another search.
    """
    if seeds < 1 or not minutes >= 0:
        raise ConfigError(
            f"--seeds {seeds} --minutes {minutes:g}; expected 1 or more trainings, and minutes of 0 or more"
        )
    file, folder = file_name(file), Path(folder)
    dev = None if dev is None else file_name(dev)
    request = resolve(settings, file, warm_start=False)
    data = request.read(TrainingFiles(file, dev))
    held = {name: values for name, values in meanwhile.items() if name in request.run_config.sections}
    with locked(folder):
        trials = Trials(resolve((*request.layers, held), warm_start=False), data, folder, seeds)
        if trials.folds is not None and len(trials.pool) < _MIN_SEARCH_ITEMS:
            many = data.parts.item_type.nouns.count(len(trials.pool))
            raise ConfigError(f"{file}: {many}; expected {_MIN_SEARCH_ITEMS} or more to choose settings by")
        reporter.notes((*data.parts.notes, *trials.notes))
        search = _SuccessiveHalving(trials, space(trials.base), seeds, 60 * minutes, reporter)
        finished = search.choose()
        tried = search.tried()
        best, confirmed = tried[0], search.confirm(tried[0])
        if confirmed is None or confirmed.loss < 0:
            best = next(candidate for candidate in tried if candidate.gain is None)
        run_config = changed_run_config(trials.sources, request.layers, best.change)
        best_sections = _complete_sections(
            _merged((*request.layers, best.change)), run_config, trials.sources
        )
        return SearchResult(
            tried=tried,
            steps=len(search.shares),
            finished=finished,
            best=best,
            confirmed=confirmed,
            uses_new_items=trials.folds is not None,
            settings=best_sections,
            run_config=run_config,
            metric_table=trials.metric_table,
            seconds=trials.runs.seconds,
        )


class _SuccessiveHalving:
    """Successive halving of candidates.

    Args:
        trials: Trains and evaluates candidates.
        candidates: The candidates by name; the first changes nothing.
        seeds: Number of trials of the last candidates.
        seconds: Time budget for training.
        reporter: Receives a note on each trial.
    """

    def __init__(
        self,
        trials: Trials,
        candidates: Mapping[str, Sections],
        seeds: int,
        seconds: float,
        reporter: Reporter,
    ):
        self.trials, self.candidates, self.seeds = trials, dict(candidates), seeds
        self.seconds, self.reporter = seconds, reporter
        self.baseline = next(iter(self.candidates))
        steps = 1 + max(0, math.ceil(math.log2(len(self.candidates) / _FINALISTS)))
        least = min(1.0, _MIN_ITEMS / max(len(trials.parts.train), 1))
        self.shares = [round(max(2.0 ** (step + 1 - steps), least), 4) for step in range(steps)]
        self.reached: dict[str, int] = {}  # the last step of each candidate

    def choose(self) -> bool:
        """Train candidates until few are left; returns whether the time sufficed for all steps."""
        names = list(self.candidates)
        for step, share in enumerate(self.shares):
            if step == len(self.shares) - 1:
                names += self._combined_candidates()
            try:
                for trial in self._trials(step):
                    for name in names:
                        self._train(name, share, trial, _SELECTION_TIME_SHARE * self.seconds)
                        if not step:
                            self.reached[name] = 0
            except TimeBudgetExceeded:
                if not self.reached:
                    raise ConfigError("there was no time for a single run; give more --minutes") from None
                return False
            self.reached |= dict.fromkeys(names, step)
            names = self._better_half(names)
        return True

    def _better_half(self, names: Sequence[str]) -> list[str]:
        """The better half with its ties, and the settings without a change.

        Changes that changed the result of no item also stay: for example, with an ensemble weight of 0 for
        the encoder, its width has had no effect yet.
        """
        all_parts = {name: self._metric_parts(name) for name in names}
        losses = {name: float(metric_parts[:, 0].mean()) for name, metric_parts in all_parts.items()}
        last = sorted(losses.values())[: max(_FINALISTS, -(-len(names) // 2))][-1]
        baseline_parts = all_parts[self.baseline]
        return [
            name
            for name in names
            if losses[name] <= last or np.array_equal(all_parts[name], baseline_parts)
        ]

    def tried(self) -> tuple[Candidate, ...]:
        """The candidates so far, the best first."""
        tried = []
        for name, step in self.reached.items():
            metric_parts = self._metric_parts(name)
            gain = None if name == self.baseline else self._gain(name, step)
            score = float(metric_parts[:, 1].sum() / max(metric_parts[:, 2].sum(), 1e-12))
            loss = float(metric_parts[:, 0].mean())
            tried.append(Candidate(name, self.candidates[name], step + 1, score, loss, gain))
        return tuple(sorted(tried, key=lambda candidate: (-candidate.step, candidate.loss)))

    def confirm(self, best: Candidate) -> Gain | None:
        """What a candidate gains on other folds (or with other seeds) than those that chose it."""
        if best.gain is None:
            return None
        pairs, share = [], self.shares[best.step - 1]
        try:
            for trial in range(self.seeds, 2 * self.seeds):
                names = (best.name, self.baseline)
                pairs.append([self._train(name, share, trial, self.seconds) for name in names])
        except TimeBudgetExceeded:
            if not pairs:
                return None
        return self._compare(*(self._joined(all_parts) for all_parts in zip(*pairs, strict=True)))

    def _trials(self, step: int) -> range:
        return range(min(self.seeds, step + 1))

    def _train(self, name: str, share: float, trial: int, until: float) -> MetricParts:
        metric_parts, new = self.trials.metric_parts(self.candidates[name], share, trial, until)
        if new:
            on = "" if share == 1 else f" on {share:.0%} of the items"
            self.reporter.note(f"{name}, trial {trial + 1}{on}: loss {metric_parts[:, 0].mean():.4f}")
        return metric_parts

    def _metric_parts(self, name: str, step: int | None = None) -> MetricParts:
        """The results of a candidate at a step; by default at its last."""
        step = self.reached[name] if step is None else step
        change, share = self.candidates[name], self.shares[step]
        trials = self._trials(step)
        return self._joined([self.trials.metric_parts(change, share, trial)[0] for trial in trials])

    def _joined(self, all_parts: Sequence[MetricParts]) -> MetricParts:
        """The results of the items of all folds; of a dev file, the mean over the seeds."""
        if self.trials.folds is None:
            return np.mean(all_parts, axis=0)
        return np.concatenate(all_parts)

    def _gain(self, name: str, step: int) -> Gain:
        return self._compare(self._metric_parts(name), self._metric_parts(self.baseline, step))

    def _compare(self, candidate: MetricParts, baseline: MetricParts) -> Gain:
        if self.trials.metric_table.lower:
            score, interval = compare_ratios(baseline[:, 1:], candidate[:, 1:])
        else:
            score, interval = compare_ratios(candidate[:, 1:], baseline[:, 1:])
        ones = np.ones(len(candidate))
        loss, between = compare_ratios(
            *(np.stack([metric_parts[:, 0], ones], axis=1) for metric_parts in (baseline, candidate))
        )
        return Gain(score, interval, loss, between, len(candidate))

    def _combined_candidates(self) -> list[str]:
        """New candidates: the best significant change of each setting, all together; and the best two."""
        best_changes: dict[tuple[str, ...], tuple[float, str]] = {}
        for name, step in self.reached.items():
            if name != self.baseline and (gain := self._gain(name, step)).is_significant:
                change = self.candidates[name]
                setting = tuple(f"{section}.{key}" for section in change for key in change[section])
                best_changes[setting] = max(best_changes.get(setting, (0.0, "")), (gain.loss, name))
        best = [name for _, name in sorted(best_changes.values(), reverse=True)]
        groups = {group: None for group in (tuple(best), tuple(best[:2])) if len(group) > 1}
        new = {", ".join(group): _merged([self.candidates[name] for name in group]) for group in groups}
        self.candidates |= new
        return list(new)


def _merged(layers: Sequence[Sections]) -> dict[str, JsonObject]:
    """Merge sections of settings; later ones override earlier ones."""
    merged: dict[str, JsonObject] = {}
    for layer in layers:
        for section, values in layer.items():
            merged.setdefault(section, {}).update(values)
    return merged


def _complete_sections(
    sections: dict[str, JsonObject], run_config: RunConfig, sources: SettingsSources
) -> dict[str, JsonObject]:
    """Complete sections of settings so that, read as a recipe for these data, they give `run_config`. They
    name the encoder, and the settings that would be chosen for the data only if no encoder were named."""
    if "encoder" in run_config.sections:
        sections.setdefault("encoder", {})["name"] = encoder_name(run_config.model.encoder)
    request = resolve(sections, warm_start=False)
    read = request.plan(RunData(sources.parts), sources=sources).run_config.to_json()
    for section, values in run_config.to_json().items():
        unlike = {key: value for key, value in values.items() if read.get(section, {}).get(key) != value}
        if unlike:
            sections.setdefault(section, {}).update(unlike)
    return sections


def recipe_text(sections: Sections, comment: str) -> str:
    """Sections of settings as a TOML recipe."""
    value_of = partial(json.dumps, ensure_ascii=False)  # TOML has no pairs of surrogates
    lines = [f"# {line}" for line in comment.splitlines()]
    for section, values in ((name, values) for name, values in sections.items() if values):
        lines += ["", f"[{section}]", *(f"{name} = {value_of(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"
