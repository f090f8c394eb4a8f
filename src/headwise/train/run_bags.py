"""`headwise train` for bags of instances as a function: files in, a judged model in a folder out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headwise.data.bag_split import fingerprint_bags, split_bags
from headwise.data.bags import Bag, BagData, read_bags
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.errors import HeadwiseError
from headwise.linear.bag_baseline import NAME, linear_guesses
from headwise.models.bag_model import BagFeatures, BagModel
from headwise.recipe import Recipe
from headwise.report.labels import Evaluation, Rival
from headwise.scores.calibrate import expected_calibration_error, fit_temperature
from headwise.scores.metrics import compare, mean_loss, score
from headwise.train.bags import BagObjective, bag_targets
from headwise.train.fit import label_names, pick_device
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run, train_by
from headwise.train.state import Progress

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class BagParts:
    """The three parts of the data.

    Attributes:
        train: Labelled bags.
        dev: Likewise.
        test: Likewise, perhaps none.
        features: Names of an instance's features.
        notes: What there is to tell about how they came to be.
    """

    train: list[Bag]
    dev: list[Bag]
    test: list[Bag]
    features: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BagOutcome:
    """What a run came to.

    Attributes:
        model: With its best weights and its temperature.
        progress: Counters and history of the run.
        recipe: The settings that were used.
        dev: Of the model on the dev bags, which it was chosen by.
        test: Of the model on the test bags, None without test bags.
        baseline: A linear model on the same test bags, compared with the model bag by bag.
    """

    model: BagModel
    progress: Progress
    recipe: Recipe
    dev: Evaluation
    test: Evaluation | None
    baseline: Rival | None


def read_bag_parts(train: str, dev: str | None, test: str | None, recipe: Recipe) -> BagParts:
    """Read the files; split off dev, and test where there is none.

    Raises:
        DataError: A file cannot be read, or a label of dev or test does not occur in training.
        HeadwiseError: The training file has one label only, or there are to be no dev bags.
    """
    data = read_bags(train, recipe.data)
    if len(data.labels) < 2:
        raise HeadwiseError(
            f"{train}: {len(data.bags):,} bags, but only the label {next(iter(data.labels), '')!r}; a "
            "classifier needs two or more labels. If another column holds them, name it with "
            "--label-column",
            code="HW406",
        )
    notes = [f"{train}: {note}" for note in data.notes]
    others: dict[str, list[Bag]] = {}
    for name, path in (("dev", dev), ("test", test)):
        if path is not None:
            other = read_bags(path, recipe.data, features=data.features)
            check_bag_labels(other, list(data.labels), train)
            notes += [f"{path}: {note}" for note in other.notes]
            others[name] = other.bags
    if "dev" not in others and not recipe.split.dev:
        raise HeadwiseError(
            "there are no dev bags: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    cut_dev = 0.0 if "dev" in others else recipe.split.dev
    cut_test = 0.0 if "test" in others else recipe.split.test
    parts: dict[str, list[Bag]] = {"train": data.bags, "dev": [], "test": []}
    if cut_dev or cut_test:
        split = split_bags(data.bags, cut_dev, cut_test, recipe.split.seed, path=train)
        notes += [f"{train}: {note}" for note in split.notes]
        parts = {"train": split.train, "dev": split.dev, "test": split.test}
    return BagParts(**(parts | others), features=data.features, notes=tuple(notes))


def check_bag_labels(data: BagData, known: Sequence[str], where: str) -> None:
    """Check that a file has only labels that are known.

    Raises:
        DataError: HW140, with the line of the first bag that has another.
    """
    for bag in data.bags:
        if bag.label not in known:
            expected = f"one of the labels of {where}: {', '.join(sorted(known)[:12])}"
            found = f"the unknown label {bag.label!r}"
            raise DataError("HW140", found, expected=expected, path=data.path, line=bag.line)


def run_bags(
    parts: BagParts,
    recipe: Recipe,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Callable[[Report], None] = lambda _: None,
) -> BagOutcome:
    """Train a classifier of bags, judge it beside a linear baseline, and save it in `output`.

    Raises:
        HeadwiseError: The data, the settings or a state to resume do not fit.
    """
    if not parts.dev:
        raise HeadwiseError("there are no dev bags to choose the best epoch on", code="HW405")
    torch.manual_seed(recipe.train.seed)
    labels = label_names([Example("", bag.label) for bag in parts.train])
    model = BagModel(recipe.model, BagFeatures(parts.features), labels)
    model.to(pick_device(recipe.train.device))
    objective = BagObjective(model, parts.train, parts.dev)
    prints = {name: fingerprint_bags(own) for name in PARTS if (own := getattr(parts, name))}
    hashes = {name: prints[name].sha256 for name in ("train", "dev")}
    progress = train_by(recipe, model, objective, output / "training", hashes, resume=resume, report=report)
    logits = model.logits(objective.dev_bags)
    before = expected_calibration_error(model.probabilities(logits), objective.dev_targets)
    model.temperature = fit_temperature(logits, objective.dev_targets)
    dev = evaluate_bags(model, parts.dev)
    test = evaluate_bags(model, parts.test) if parts.test else None
    rival = judge_linear(parts, labels, test) if baseline and test is not None else None
    outcome = BagOutcome(model, progress, recipe, dev, test, rival)
    _save(outcome, {name: own.to_json() for name, own in prints.items()}, before, output)
    remove_run(output / "training")
    return outcome


def evaluate_bags(model: BagModel, bags: Sequence[Bag]) -> Evaluation:
    """Let a model label bags, and compare with the labels that they have.

    Args:
        model: The model.
        bags: One or more, with labels that it knows.

    Raises:
        ValueError: There are no bags.
    """
    targets = bag_targets(bags, model.labels)
    logits = model.logits([bag.instances for bag in bags])
    probabilities = model.probabilities(logits)
    return Evaluation(
        scores=score(probabilities.argmax(axis=1), targets, model.labels),
        log_loss=mean_loss(logits / model.temperature, targets),
        calibration_error=expected_calibration_error(probabilities, targets),
        unknown_words=0.0,
        empty_texts=0,
        probabilities=probabilities,
    )


def judge_linear(parts: BagParts, labels: Sequence[str], test: Evaluation) -> Rival:
    """The linear model on the test bags, compared with a model bag by bag."""
    train, dev, tested = ((own, bag_targets(own, labels)) for own in (parts.train, parts.dev, parts.test))
    guessed: np.ndarray = linear_guesses(train, dev, parts.test)
    difference = compare(test.predicted, guessed, tested[1])
    return Rival.of(NAME, score(guessed, tested[1], labels), difference)


def _save(outcome: BagOutcome, prints: dict[str, Any], before: float, output: Path) -> None:
    metrics: dict[str, Any] = {
        "dev": outcome.dev.to_json(),
        "calibration": {
            "temperature": outcome.model.temperature,
            "expected_calibration_error_before": before,
            "expected_calibration_error_after": outcome.dev.calibration_error,
        },
    }
    if outcome.test is not None:
        metrics["test"] = outcome.test.to_json()
    if outcome.baseline is not None:
        metrics["baseline"] = outcome.baseline.to_json()
    save_run(outcome.model, output, outcome.recipe, outcome.progress, data=prints, metrics=metrics)
