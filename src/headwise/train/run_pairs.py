"""`headwise train` for text pairs as a function: files in, a judged model in a folder out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from headwise.data.example import Example
from headwise.data.fingerprint import Fingerprint
from headwise.data.pair import Pair
from headwise.data.pair_split import fingerprint_pairs
from headwise.errors import HeadwiseError
from headwise.features.tokenize import get_tokenizer
from headwise.features.vectors import Coverage, WordVectors, load_vectors
from headwise.features.vocabulary import Vocabulary
from headwise.layers.regress import Scale
from headwise.linear.pair_baseline import NAME, SCORE_NAME, fit_pair_baseline, fit_pair_ridge
from headwise.models.pair_model import PairModel, PairReader, PairScorer
from headwise.recipe import Recipe
from headwise.report.labels import Evaluation, Rival
from headwise.report.numbers import NumberEvaluation, NumberRival
from headwise.report.pairs import evaluate_pair_scores, evaluate_pairs
from headwise.scores.metrics import compare, score
from headwise.scores.numbers import rival_scores, score_numbers
from headwise.train.classification import ClassificationObjective, fit_labels
from headwise.train.fit import (
    label_names,
    new_vocabulary,
    pick_device,
    start_from_vectors,
)
from headwise.train.fitted import Fitted
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run
from headwise.train.pair_parts import PARTS, PairParts, label_numbers, scores_of
from headwise.train.regression import RegressionObjective, fit_scores

Told = Callable[[Report], None]


@dataclass(frozen=True)
class PairOutcome:
    """What a run came to.

    Attributes:
        fitted: The model and its training.
        recipe: The settings that were used.
        test: Of the model on the test pairs; None without test pairs.
        baseline: A linear model of both texts' words on the same test pairs.
        alone: The model without its linear expert, on the same test pairs.
    """

    fitted: Fitted[Any]
    recipe: Recipe
    test: Evaluation | NumberEvaluation | None
    baseline: Rival | NumberRival | None
    alone: Rival | None = None


def fit_pairs(
    parts: PairParts,
    recipe: Recipe,
    folder: Path,
    *,
    vectors: WordVectors | None = None,
    resume: bool = False,
    report: Told = lambda _: None,
) -> Fitted[Any]:
    """Train a model of text pairs, one of labels or one of scores as the recipe's task says.

    Args:
        parts: Training pairs, and dev pairs, which choose the best epoch and set the temperature; the test
            pairs are not looked at.
        recipe: The settings.
        folder: Where the state of the run is kept.
        vectors: What `recipe.vectors.file` holds; read from there where not given.
        resume: Go on with the run in `folder`.
        report: Called after each update and each epoch.

    Raises:
        HeadwiseError: The data, the settings or a state to resume do not fit.
    """
    if not parts.dev:
        raise HeadwiseError("there are no dev pairs to choose the best epoch on", code="HW405")
    torch.manual_seed(recipe.train.seed)
    if vectors is None and recipe.vectors.file is not None:
        vectors = load_vectors(recipe.vectors.file)
    fit_one = _fit_scores if recipe.model.task == "pair-score" else _fit_labels
    return fit_one(parts, recipe, folder, vectors, resume, report)


def _fit_labels(
    parts: PairParts, recipe: Recipe, folder: Path, vectors: WordVectors | None, resume: bool, report: Told
) -> Fitted[PairModel]:
    labels = label_names([Example("", pair.label) for pair in parts.train])
    vocabulary = pair_vocabulary(parts.train, recipe, vectors)
    model = PairModel(recipe.model, vocabulary, labels)
    covered = _prepare(model, recipe, vectors)
    own = ((pairs, label_numbers(pairs, labels)) for pairs in (parts.train, parts.dev))
    objective = ClassificationObjective(model, *own)
    return fit_labels(
        objective, recipe, folder, _hashes(parts), coverage=covered, resume=resume, report=report
    )


def _fit_scores(
    parts: PairParts, recipe: Recipe, folder: Path, vectors: WordVectors | None, resume: bool, report: Told
) -> Fitted[PairScorer]:
    targets, dev_targets = scores_of(parts.train), scores_of(parts.dev)
    vocabulary = pair_vocabulary(parts.train, recipe, vectors)
    model = PairScorer(recipe.model, vocabulary, Scale.of(targets))
    covered = _prepare(model, recipe, vectors)
    objective = RegressionObjective(model, (parts.train, targets), (parts.dev, dev_targets))
    return fit_scores(
        objective, recipe, folder, _hashes(parts), coverage=covered, resume=resume, report=report
    )


def pair_vocabulary(pairs: Sequence[Pair], recipe: Recipe, vectors: WordVectors | None) -> Vocabulary:
    """The vocabulary of both texts of all pairs."""
    words = get_tokenizer(recipe.model.words.tokenizer).words
    texts = (words(text) for pair in pairs for text in (pair.first, pair.second))
    return new_vocabulary(texts, recipe, vectors)


def _prepare(model: PairReader, recipe: Recipe, vectors: WordVectors | None) -> Coverage | None:
    """Put the pretrained vectors in place, and the model on its device."""
    covered = start_from_vectors(model, vectors, recipe.train.seed)
    model.to(pick_device(recipe.train.device))
    return covered


def _hashes(parts: PairParts) -> dict[str, str]:
    return {name: fingerprint_pairs(getattr(parts, name)).sha256 for name in ("train", "dev")}


def run_pairs(
    parts: PairParts,
    recipe: Recipe,
    vectors: WordVectors | None,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Told = lambda _: None,
) -> PairOutcome:
    """Train a model of pairs, judge it beside a linear baseline, and save it in `output`."""
    folder = output / "training"
    fitted = fit_pairs(parts, recipe, folder, vectors=vectors, resume=resume, report=report)
    test = rival = alone = None
    if parts.test and isinstance(fitted.model, PairScorer):
        targets = scores_of(parts.test)
        test = evaluate_pair_scores(fitted.model, parts.test, targets)
        rival = judge_ridge(parts, recipe.model.words.tokenizer) if baseline else None
    elif parts.test:
        targets = label_numbers(parts.test, fitted.model.labels)
        test = evaluate_pairs(fitted.model, parts.test, targets)
        if fitted.model.expert is not None:
            logits = fitted.model.outputs_of(fitted.model.encoded(parts.test))
            alone = Rival.of("encoder alone", score(logits.argmax(axis=1), targets, fitted.model.labels))
        rival = judge_svm(parts, fitted.model.labels, test, recipe) if baseline else None
    outcome = PairOutcome(fitted, recipe, test, rival, alone)
    prints = {name: fingerprint_pairs(own) for name in PARTS if (own := getattr(parts, name))}
    _save(outcome, prints, output)
    remove_run(folder)
    return outcome


def judge_svm(parts: PairParts, labels: Sequence[str], test: Evaluation, recipe: Recipe) -> Rival | None:
    """The linear classifier on the test pairs, compared with a model pair by pair."""
    train, dev, tested = ((own, label_numbers(own, labels)) for own in (parts.train, parts.dev, parts.test))
    linear = fit_pair_baseline(train, dev, tokenizer=recipe.model.words.tokenizer)
    if linear is None:
        return None
    guessed = linear.predict(parts.test)
    difference = compare(test.predicted, guessed, tested[1])
    return Rival.of(NAME, score(guessed, tested[1], labels), difference)


def judge_ridge(parts: PairParts, tokenizer: str) -> NumberRival | None:
    """The linear regression on the test pairs."""
    train, dev, tested = ((own, scores_of(own)) for own in (parts.train, parts.dev, parts.test))
    linear = fit_pair_ridge(train, dev, tokenizer=tokenizer)
    if linear is None:
        return None
    return NumberRival(SCORE_NAME, rival_scores(score_numbers(linear.predict(parts.test), tested[1])))


def _save(outcome: PairOutcome, prints: dict[str, Fingerprint], output: Path) -> None:
    fitted = outcome.fitted
    metrics = fitted.metrics(test=outcome.test, baseline=outcome.baseline, encoder_alone=outcome.alone)
    data = {name: own.to_json() for name, own in prints.items()}
    save_run(fitted.model, output, outcome.recipe, fitted.progress, data=data, metrics=metrics)
