"""`headwise train` for numbers of texts as a function: files in, a judged model in a folder out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from headwise.data.dataset import Dataset
from headwise.data.example import Example
from headwise.data.fingerprint import fingerprint
from headwise.data.numbers import numbers_of
from headwise.data.read import read_examples
from headwise.data.split import split_examples
from headwise.errors import ConfigError, HeadwiseError
from headwise.features.tokenize import get_tokenizer
from headwise.features.vectors import WordVectors
from headwise.layers.regress import Scale
from headwise.linear.ridge import fit_ridge
from headwise.models.regressor import Regressor
from headwise.recipe import Recipe
from headwise.report.numbers import NumberEvaluation, NumberRival, evaluate_numbers
from headwise.scores.numbers import rival_scores, score_numbers
from headwise.train.fit import new_vocabulary, pick_device, start_from_vectors
from headwise.train.fitted import Fitted
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run
from headwise.train.regression import RegressionObjective, fit_scores
from headwise.train.run import Parses, Texts, parsed

NAME = "TF-IDF + ridge regression"


@dataclass(frozen=True)
class NumberOutcome:
    """What a run came to.

    Attributes:
        fitted: The model and its training.
        test: Of the model on the test texts; None without test texts.
        baseline: TF-IDF + ridge regression on the same test texts.
    """

    fitted: Fitted[Regressor]
    test: NumberEvaluation | None
    baseline: NumberRival | None


def read_numbered(train: str, dev: str | None, test: str | None, recipe: Recipe, parses: Parses) -> Texts:
    """Read the files; split off dev, and test where there is none. The labels of the texts are numbers.

    Raises:
        DataError: A file cannot be read, or a label is not a number (HW287).
        HeadwiseError: All numbers are equal, or there are to be no dev texts.
    """
    tokenizer = recipe.model.words.tokenizer
    parts: dict[str, Dataset] = {}
    notes: list[str] = []
    files = (("train", train, parses.train), ("dev", dev, parses.dev), ("test", test, parses.test))
    for name, path, heads in files:
        if path is None and heads is not None:
            raise ConfigError(f"{heads}: parses of {name} texts, but there is no file of {name} texts")
        if path is not None:
            parts[name] = parsed(read_examples(path, recipe.data), heads, tokenizer)
            notes += [f"{path}: {note}" for note in parts[name].notes]
            targets_of(parts[name].examples, path)
    data = parts["train"]
    if len(data.labels) < 2:
        raise HeadwiseError(
            f"{train}: all {len(data.examples):,} texts have the same number or none; if another column "
            "holds the numbers, name it with --label-column",
            code="HW406",
        )
    if "dev" not in parts and not recipe.split.dev:
        raise HeadwiseError(
            "there are no dev texts: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    cut_dev = 0.0 if "dev" in parts else recipe.split.dev
    cut_test = 0.0 if "test" in parts else recipe.split.test
    own = {name: part.examples for name, part in parts.items()}
    if cut_dev or cut_test:
        # Without labels: numbers are no classes that each part must have.
        bare = [replace(example, label=None, line=n) for n, example in enumerate(data.examples)]
        split = split_examples(bare, cut_dev, cut_test, recipe.split.seed, path=train)
        notes += [f"{train}: {note}" for note in split.notes]
        cut = {"train": split.train, "dev": split.dev, "test": split.test}
        for name, part in cut.items():
            if name == "train" or name not in parts:
                own[name] = [data.examples[example.line] for example in part]
    return Texts(own["train"], own.get("dev", []), own.get("test", []), tuple(notes))


def targets_of(examples: Sequence[Example], path: str = "") -> np.ndarray:
    """The numbers of texts, `[texts]`.

    Raises:
        DataError: HW287, one is not a number.
    """
    return numbers_of([example.label for example in examples], [example.line for example in examples], path)


def fit_numbers(
    texts: Texts,
    recipe: Recipe,
    vectors: WordVectors | None,
    folder: Path,
    *,
    resume: bool = False,
    report: Callable[[Report], None] = lambda _: None,
) -> Fitted[Regressor]:
    """Train a regressor, its best epoch chosen on the dev texts; the state of the run is kept in `folder`.

    Raises:
        HeadwiseError: There are no dev texts, or the settings or a state to resume do not fit.
    """
    if not texts.dev:
        raise HeadwiseError("there are no dev texts to choose the best epoch on", code="HW405")
    torch.manual_seed(recipe.train.seed)
    targets, dev_targets = targets_of(texts.train), targets_of(texts.dev)
    words = get_tokenizer(recipe.model.words.tokenizer).words
    vocabulary = new_vocabulary((words(example.text) for example in texts.train), recipe, vectors)
    model = Regressor(recipe.model, vocabulary, Scale.of(targets))
    covered = start_from_vectors(model, vectors, recipe.train.seed)
    model.to(pick_device(recipe.train.device))
    objective = RegressionObjective(model, (texts.train, targets), (texts.dev, dev_targets))
    hashes = {name: fingerprint(getattr(texts, name)).sha256 for name in ("train", "dev")}
    return fit_scores(objective, recipe, folder, hashes, coverage=covered, resume=resume, report=report)


def run_numbers(
    texts: Texts,
    recipe: Recipe,
    vectors: WordVectors | None,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Callable[[Report], None] = lambda _: None,
) -> NumberOutcome:
    """Train a regressor, judge it beside a linear baseline, and save it in `output`."""
    folder = output / "training"
    fitted = fit_numbers(texts, recipe, vectors, folder, resume=resume, report=report)
    test = evaluate_numbers(fitted.model, texts.test, targets_of(texts.test)) if texts.test else None
    rival = judge_ridge(texts, recipe.model.words.tokenizer) if baseline and texts.test else None
    parts = {"train": texts.train, "dev": texts.dev, "test": texts.test}
    data = {name: fingerprint(part).to_json() for name, part in parts.items() if part}
    save_run(
        fitted.model,
        output,
        recipe,
        fitted.progress,
        data=data,
        metrics=fitted.metrics(test=test, baseline=rival),
    )
    remove_run(folder)
    return NumberOutcome(fitted, test, rival)


def judge_ridge(texts: Texts, tokenizer: str) -> NumberRival | None:
    """TF-IDF (words and word pairs) + ridge regression on the test texts, its strength chosen on dev."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to load, predictions do without

    vectorizer = TfidfVectorizer(
        tokenizer=get_tokenizer(tokenizer).words,
        token_pattern=None,  # type: ignore[arg-type]
        ngram_range=(1, 2),
        sublinear_tf=True,
        dtype=np.float32,  # type: ignore[arg-type]
    )
    read = [[example.text for example in part] for part in (texts.train, texts.dev, texts.test)]
    try:
        features = vectorizer.fit_transform(read[0])
    except ValueError:  # sklearn's "empty vocabulary"
        return None
    dev, test = (vectorizer.transform(part) for part in read[1:])
    ridge = fit_ridge((features, targets_of(texts.train)), (dev, targets_of(texts.dev)))
    return NumberRival(NAME, rival_scores(score_numbers(ridge.predict(test), targets_of(texts.test))))
