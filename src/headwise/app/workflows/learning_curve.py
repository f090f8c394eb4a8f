"""Learning curves: the scores of models that are trained on more and more items of a file.

Each model is evaluated on held-out items, by the primary metric of the task. A power law that is fitted to
the errors forecasts the gain from further items.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.app.configuration import Sections, build_config
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.training_plan import RunData
from headwise.app.training_request import resolve, with_task
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.files.text_lines import file_name
from headwise.data.items.item_types import options_for
from headwise.data.items.label_types import LabelType
from headwise.data.items.labels import evaluated_items, training_weights
from headwise.data.splits.data_parts import DataParts
from headwise.data.splits.duplicates import indices_by_key
from headwise.data.splits.text_signatures import normal_text
from headwise.linear.linear_fit import LinearExamples, cross_validated, fit_linear
from headwise.linear.tag_crf import fit_crf
from headwise.metrics.power_law import PowerLaw, fit_power_law
from headwise.metrics.tag_schemes import detect_scheme
from headwise.models.metric_table import MetricTable
from headwise.models.pictures import learning_curve_figure
from headwise.models.tag_evaluation import tag_counts
from headwise.models.tasks import find_task
from headwise.models.tasks.task import Task, TaskEvaluation
from headwise.models.tasks.task_training import TaskTraining
from headwise.text.static_embeddings.base_choice import AUTO, choose_word_groups
from headwise.text.static_embeddings.word_groups import WordClusters

MIN_ITEMS = 100
_SIZES, _STEP = 7, 2**-0.5  # down to an eighth of the texts
_TEST_SHARE, _MAX_TEST_ITEMS = 0.2, 2_000


@renamed_parameters(sheet="metric_table", law="power_law")
@dataclass(frozen=True)
class LearningCurve:
    """A learning curve.

    Attributes:
        file: The file as the user named it.
        items: Number of its items.
        model: What was trained: `linear` (the linear model) or `whole` (the whole model).
        metric_table: The metric table of the task.
        sizes: Numbers of training items, `[sizes]`.
        scores: Primary metric on held-out items, `[seeds, sizes]`.
        power_law: The power law fitted to the errors.
        more: Numbers of additional items to forecast.
    """

    file: str
    items: int
    model: str
    metric_table: MetricTable
    sizes: NDArray[np.int64]
    scores: NDArray[np.float64]
    power_law: PowerLaw
    more: tuple[int, ...]

    def score(self, items: float) -> tuple[float, float, float]:
        """The fitted score with this number of items, and its 95 % interval."""
        middle, low, high = self.power_law.error(items)
        return (middle, low, high) if self.metric_table.lower else (1 - middle, 1 - high, 1 - low)

    @property
    def outlier_score(self) -> float | None:
        """The mean score of the models trained on most items, if it is better than the fitted score of all
        items: the difference is within chance and the usual deviations from power laws. None otherwise."""
        last, now = float(self.scores[:, -1].mean()), self.score(self.items)[0]
        return last if (last < now if self.metric_table.lower else last > now) else None

    @property
    def forecasts(self) -> list[JsonObject]:
        """For each of `more`: the `gain` of the score, its 95 % `interval`, and the resulting `score`."""
        forecasts, now, sign = [], self.score(self.items)[0], -1 if self.metric_table.lower else 1
        for more in self.more:
            gain, low, high = self.power_law.gain(more)
            forecasts.append(
                {"more": more, "gain": gain, "interval": [low, high], "score": now + sign * gain}
            )
        return forecasts

    def figure(self) -> str:
        """The source of an SVG figure, up to the most additional items; notebooks display it."""
        title = f"What more {self.metric_table.of} are worth: {Path(self.file).name}"
        return learning_curve_figure(
            title, self.metric_table, self.sizes, self.scores, self.power_law, self.items + max(self.more)
        )

    def _repr_svg_(self) -> str:
        return self.figure()

    def to_json(self) -> JsonObject:
        """A JSON object."""
        now, low, high = self.score(self.items)
        return {
            "file": self.file,
            self.metric_table.of: self.items,
            "model": self.model,
            "score": self.metric_table.primary_metric.key,
            "sizes": self.sizes.tolist(),
            "scores": self.scores.tolist(),
            "now": {"score": now, "interval": [low, high]},
            "off": self.power_law.off,
            "forecasts": self.forecasts,
        }


@renamed_parameters(listener="reporter")
def curve_file(
    file: Path | str,
    *,
    task: str | None = None,
    more: Sequence[int] = (),
    seeds: int = 5,
    full_model: bool = False,
    base: str = AUTO,
    work: Path | None = None,
    reading: JsonMapping | None = None,
    reporter: Reporter = NULL_REPORTER,
) -> LearningCurve:
    """Train models on more and more of the items of a file, and forecast the gain from further items.

    Each seed holds out a fifth of the items and shuffles the rest; each model is trained on the first items
    of that order, so the models of a seed differ in the number of items only. Equal items (of pairs: those
    with the same first text) are in the same part.

    Args:
        file: Labelled texts, pairs or tagged sentences; "-" is standard input.
        task: The task; inferred from the file by default.
        more: Numbers of additional items to forecast; by default about a quarter, a half and all of the
            file's.
        seeds: Number of random orders, two or more.
        full_model: Train as `headwise train` does, instead of the linear model only.
        base: Static embeddings that the linear model reads with the words: `auto`, `none`, or what
            `--base` takes.
        work: A file that caches measurements, so that an interrupted run can be resumed.
        reading: Reading options; what they leave out is guessed.
        reporter: Receives messages and progress.

    Raises:
        HeadwiseError: The file cannot be read, holds bags or one long text, or has too few items; or a
            number is out of range.
    """
    if seeds < 2 or any(number < 1 for number in more):
        raise ConfigError("--seeds must be 2 or more, and --more 1 or more")
    task_spec, data = _read_items(file, task, dict(reading or {}), reporter)
    item_type, many = task_spec.item_type, task_spec.item_type.nouns.many
    items = evaluated_items(data.items)
    if len(items) < len(data.items):
        reporter.note(f"{len(data.items) - len(items):,} {many} of weight 0 are left out")
    count = len(items)
    if count < MIN_ITEMS:
        raise ConfigError(f"{data.path}: {count:,} {many}; expected {MIN_ITEMS} or more {many}")
    held = min(max(round(_TEST_SHARE * count), 1), _MAX_TEST_ITEMS)
    keys = item_type.group_keys(items, round(1 / _TEST_SHARE))
    groups = [*indices_by_key(map(normal_text, keys)).values()]
    if min(map(len, groups)) > held:
        raise ConfigError(f"{data.path}: too few different {many} to hold a fifth of them out")
    sizes = np.round((count - held) * _STEP ** np.arange(_SIZES)[::-1]).astype(np.int64)
    parts = DataParts(item_type, items, [], [])
    reporter.notes(item_type.part_notes(parts.named))
    scorer = _make_scorer(task_spec, parts, base, full_model, reporter)
    identity = {
        "texts": item_type.fingerprint(items).sha256,
        "model": f"{task_spec.name} {'whole' if full_model else f'linear {base}'}",
    }
    measured = MeasurementCache(work, identity)
    with reporter.teacher_progress() as update:
        for seed in range(seeds):
            test, train = split_groups(groups, held, seed)
            for place, size in enumerate(sizes.tolist()):
                key = f"{seed}:{size}"
                if key not in measured.values:
                    measured.add(key, scorer(train[:size], test, seed))
                update(seed * len(sizes) + place + 1, seeds * len(sizes))
    scores = np.array([[measured.values[f"{seed}:{size}"] for size in sizes] for seed in range(seeds)])
    model_config = build_config({"model": {"task": task_spec.name}}).model
    metric_table = task_spec.metric_part_table(parts, model_config)
    law = fit_power_law(sizes, scores if metric_table.lower else 1 - scores, count)
    if law.off:
        reporter.warn(
            f"the errors of the models of most {many} are {100 * abs(np.expm1(law.off)):.0f} % "
            f"{'less' if law.off < 0 else 'more'} than a power law through all of them: the errors do not "
            "follow one, so forecasts may be far off"
        )
    steps = tuple(more) or tuple(dict.fromkeys(_round_down(count * share) for share in (0.25, 0.5, 1)))
    return LearningCurve(
        data.path, count, "whole" if full_model else "linear", metric_table, sizes, scores, law, steps
    )


def _read_items(
    file: Path | str, task: str | None, reading: JsonObject, reporter: Reporter
) -> tuple[Task, Any]:
    """The task, and the labelled items of the file; see `curve_file`."""
    file = file_name(file)
    layers, guessed = with_task(file, ({"model": {"task": task} if task else {}, "data": reading},))
    reporter.notes([guessed] if guessed else [])
    task_spec = find_task(layers[0]["model"]["task"])
    item_type = task_spec.item_type
    if not item_type.sides or task_spec.predictor is None:
        raise ConfigError(
            f"{file}: a file for the task {task_spec.name}; expected texts, pairs of texts or tagged "
            "sentences"
        )
    data = item_type.read(file, options_for(task_spec.name, reading))
    reporter.notes(data.notes)
    item_type.label_type.check(data, item_type.nouns)
    return task_spec, data


def split_groups(
    groups: Sequence[Sequence[int]], held: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of test and training items, in random order. Groups are not split; the first groups that
    fit into `held` items are for testing."""
    test, train, remaining = list[int](), list[int](), held
    for place in np.random.default_rng(seed).permutation(len(groups)).tolist():
        group = groups[place]
        if len(group) <= remaining:
            test += group
            remaining -= len(group)
        else:
            train += group
    return np.array(test), np.array(train)


class MeasurementCache:
    """A file of measurements, from which an interrupted run is resumed.

    Args:
        path: The file; None to keep the values in memory only.
        identity: What identifies the run; values of a run with another identity are not used.
    """

    def __init__(self, path: Path | None, identity: JsonMapping):
        self.path, self.identity, self.values = path, dict(identity), dict[str, float]()
        if path is None or not path.exists():
            return
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["identity"] == self.identity:
                self.values = {str(key): float(value) for key, value in data["measured"].items()}
        except (OSError, ValueError, OverflowError, RecursionError, KeyError, TypeError, AttributeError):
            raise ConfigError(
                f"{path}: this is not a file of headwise curve; give another --work"
            ) from None

    def add(self, key: str, value: float) -> None:
        """Store a value."""
        self.values[key] = value
        if self.path is not None:
            new = self.path.with_name(self.path.name + ".new")
            new.write_text(
                json.dumps({"identity": self.identity, "measured": self.values}), encoding="utf-8"
            )
            new.replace(self.path)


def _round_down(number: float) -> int:
    """The largest of 1, 2, 5, 10, 20, ... that is not above a number."""
    ten = 10 ** int(np.log10(number))
    return next(step * ten for step in (5, 2, 1) if step * ten <= number)


Scorer = Callable[[NDArray[np.int64], NDArray[np.int64], int], float]
"""Maps indices of training items, indices of test items and a seed to the primary metric of a model."""


def _make_scorer(task: Task, parts: DataParts, base: str, full_model: bool, reporter: Reporter) -> Scorer:
    """The scorer of the models that `curve_file` trains."""
    if full_model:
        return full_model_scorer(task, parts.train)
    if task.item_type.has_tags:
        groups, note = choose_word_groups((item.tokens for item in parts.train), base)
        reporter.notes([note] if note else [])
        return crf_scorer(parts.train, groups)
    layers = ({"model": {"task": task.name}, "base": {"name": base}},)
    scorer, notes = linear_scorer(task, parts, layers)
    reporter.notes(notes)
    return scorer


def crf_scorer(items: Sequence[Any], groups: WordClusters | None) -> Scorer:
    """A scorer that trains linear CRFs on tagged sentences; they read word groups, if there are any."""
    scheme = detect_scheme(item.tags for item in items).scheme

    def score(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        train_items, test_items = ([items[row] for row in rows] for rows in (train, test))
        crf = fit_crf(train_items, scheme, groups=groups, seed=seed)
        right, all_of = tag_counts(crf.predict(test_items), test_items, scheme).sum(0)
        return float(right / max(all_of, 1))

    return score


def linear_scorer(
    task: TaskTraining, parts: DataParts, layers: Sequence[Sections]
) -> tuple[Scorer, tuple[str, ...]]:
    """A scorer that trains linear models on the training part of `parts`, texts or pairs, and the notes on
    the choice of the base. The settings of the linear model are chosen once, on all items.

    Raises:
        TypeError: Linear models of texts do not support the label type.
    """
    plan = resolve(layers, warm_start=False).plan(RunData(parts))
    parts = plan.parts
    model, _ = task.build(parts, plan.run_config, plan.vectors)
    texts, dense, numbers = model.linear_inputs(model.encoded(parts.train))
    label_type, unit = parts.item_type.label_type, 1.0
    labels = getattr(model, "labels", ())
    targets = label_type.targets(parts.train, labels)
    fitted_targets = label_type.training_targets(parts.train, labels)
    if label_type.numeric:  # models predict standardised numbers
        targets, unit = model.scale.standardize(targets), model.scale.deviation
        fitted_targets = targets
    weights = training_weights(parts.train)

    def read(rows: NDArray[np.int64]) -> tuple[Any, ...]:
        features = (None if matrix is None else matrix[rows] for matrix in (dense, numbers))
        return [texts[row] for row in rows], *features

    def examples(rows: NDArray[np.int64]) -> LinearExamples:
        train_texts, vectors, tabular = read(rows)
        return LinearExamples(
            train_texts,
            fitted_targets[rows],
            model.outputs.count,
            label_type=label_type,
            dense=vectors,
            numbers=tabular,
            pairs=model.reads_pairs,
            sample_weight=None if weights is None else weights[rows],
            tokenizer=model.config.words.tokenizer,
        )

    with cross_validated(examples(np.arange(len(texts))), calibrated=False) as validated:
        settings = validated.settings

    def score(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        fitted = fit_linear(examples(train), settings=settings, seed=seed, calibrated=False)
        predicted = fitted.model.scores(*read(test))
        return unit * label_type.linear_score(predicted, targets[test])

    return score, tuple(plan.notes)


def full_model_scorer(task: TaskEvaluation, items: Sequence[object]) -> Scorer:
    """A scorer that trains models as `headwise train` does."""
    item_type = task.item_type

    def score(train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> float:
        train_items, test_items = ([items[row] for row in rows] for rows in (train, test))
        layers = ({"model": {"task": task.name}, "split": {"seed": seed}, "train": {"seed": seed}},)
        request = resolve(layers)
        plan = request.plan(request.split(train_items))
        with TemporaryDirectory(prefix="headwise-") as folder:
            model = plan.fit(Path(folder)).model
        answerable, lost = _with_known_labels(test_items, item_type.label_type, model)
        if not answerable:
            return 0.0
        parts = task.metric_parts(model, answerable, task.evaluate(model, answerable))
        right, all_of = parts[:, 1:].sum(axis=0)
        return float(right / max(all_of + lost, 1))

    return score


def _with_known_labels(items: list[Any], label_type: LabelType, model: Any) -> tuple[list[Any], int]:
    """The items with only those labels that a model has, and the number of labels removed, which the model
    misses in any case."""
    answerable = label_type.with_labels_of(items, set(getattr(model, "labels", ())))
    before, after = (sum(len(item.labels) for item in part) for part in (items, answerable))
    return answerable, before - after
