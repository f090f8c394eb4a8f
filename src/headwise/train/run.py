"""`headwise train` as a function: files in, a judged model in a folder out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwise.data.dataset import Dataset
from headwise.data.example import Example
from headwise.data.fingerprint import fingerprint
from headwise.data.parses import with_parses
from headwise.data.read import check_labels, read_examples
from headwise.data.split import split_examples
from headwise.errors import ConfigError, HeadwiseError
from headwise.features.parse_files import read_parses
from headwise.features.tokenize import get_tokenizer
from headwise.features.vectors import WordVectors, load_vectors
from headwise.linear.baseline import fit_baseline
from headwise.models.classifier import Model
from headwise.models.model_config import encoder_name
from headwise.recipe import Recipe, build_recipe, size_defaults
from headwise.report.labels import Evaluation, Rival, evaluate_texts
from headwise.scores.metrics import compare, score
from headwise.train.fit import columns, fit, targets_of
from headwise.train.fitted import Fitted
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run

Sections = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Texts:
    """The three parts of the data, and what there is to tell about how they came to be."""

    train: list[Example]
    dev: list[Example]
    test: list[Example]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes:
        fitted: The model and its training.
        recipe: The settings that were used.
        test: Of the model on the test texts, None without test texts.
        baseline: TF-IDF + linear SVM on the same test texts, compared with the model text by text.
        alone: The model without its linear expert, on the same test texts.
    """

    fitted: Fitted[Model]
    recipe: Recipe
    test: Evaluation | None
    baseline: Rival | None
    alone: Rival | None


@dataclass(frozen=True)
class Parses:
    """Files with the dependency heads of the texts' words, of each part that has a file."""

    train: str | None = None
    dev: str | None = None
    test: str | None = None


def read_texts(
    train: str, dev: str | None, test: str | None, recipe: Recipe, parses: Parses = Parses()
) -> Texts:
    """Read the files; split off dev, and test where there is none.

    Raises:
        DataError: A file cannot be read, or a label of dev or test does not occur in training.
        HeadwiseError: The training file has no labels, or one only; or there are to be no dev texts.
    """
    tokenizer = recipe.model.words.tokenizer
    data = parsed(read_examples(train, recipe.data), parses.train, tokenizer)
    if len(data.labels) < 2:
        found = f"only the label {next(iter(data.labels))!r}" if data.labels else "no labels"
        raise HeadwiseError(
            f"{train}: {found} in {len(data.examples):,} texts (read as {data.format}); a classifier needs "
            "two or more labels. If another column holds them, name it with --label-column",
            code="HW406",
        )
    notes = [f"{train}: {note}" for note in data.notes]
    others: dict[str, Dataset] = {}
    for name, path, heads in (("dev", dev, parses.dev), ("test", test, parses.test)):
        if path is None and heads is not None:
            raise ConfigError(f"{heads}: parses of {name} texts, but there is no file of {name} texts")
        if path is not None:
            others[name] = parsed(read_examples(path, recipe.data), heads, tokenizer)
            check_labels(data, others[name])
            notes += [f"{path}: {note}" for note in others[name].notes]
    if "dev" not in others and not recipe.split.dev:
        raise HeadwiseError(
            "there are no dev texts: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    cut_dev = 0.0 if "dev" in others else recipe.split.dev
    cut_test = 0.0 if "test" in others else recipe.split.test
    parts = {name: other.examples for name, other in others.items()}
    train_part = data.examples
    if cut_dev or cut_test:
        split = split_examples(data.examples, cut_dev, cut_test, recipe.split.seed, path=train)
        notes += [f"{train}: {note}" for note in split.notes]
        train_part = split.train
        parts = {"dev": split.dev, "test": split.test} | parts
    return Texts(train_part, parts.get("dev", []), parts.get("test", []), tuple(notes))


def parsed(data: Dataset, path: str | None, tokenizer: str) -> Dataset:
    """A data set with the parses of a file, if there is one.

    Raises:
        DataError: HW142, the parses are not as many as the texts; or the file cannot be read.
        HeadsError: They make no trees, or are of other words than those that the tokeniser finds.
    """
    if path is None:
        return data
    words = None
    if not data.skipped:
        words = [get_tokenizer(tokenizer).words(example.text) for example in data.examples]
    parses = read_parses(path, words)
    examples = with_parses(data.examples, parses, path, data.path, by_line=words is None)
    return data.with_items(examples)


def choose_settings(
    texts: int, layers: Sequence[Sections], defaults: Sections | None = None
) -> tuple[Recipe, WordVectors | None]:
    """Defaults for a number of training texts under what the user has said; and the vectors, if any.

    Args:
        texts: Training texts.
        layers: What the user has said, the later over the earlier.
        defaults: Further defaults, over those by size, that the data suggest.
    """
    asked = build_recipe(*layers)
    vectors = load_vectors(asked.vectors.file) if asked.vectors.file else None
    encoder = encoder_name(asked.model.encoder)
    by_size = size_defaults(texts, vectors=vectors is not None, encoder=encoder, task=asked.model.task)
    if vectors is not None:
        by_size["words"]["vector_size"] = vectors.size
    return build_recipe(by_size, defaults or {}, *layers), vectors


def run(
    texts: Texts,
    recipe: Recipe,
    vectors: WordVectors | None,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Callable[[Report], None] = lambda _: None,
) -> Outcome:
    """Train, judge beside the linear baseline, and save the model in `output`.

    The run's state is kept in `output/training`; it is what `resume` goes on with.
    """
    fitted = fit(
        texts.train,
        texts.dev,
        recipe,
        output / "training",
        vectors=vectors,
        resume=resume,
        report=report,
    )
    evaluation = rival = alone = None
    number = {label: n for n, label in enumerate(fitted.model.labels)}
    if texts.test:
        test_targets = targets_of(texts.test, number)
        evaluation = evaluate_texts(fitted.model, texts.test, test_targets)
        if fitted.model.expert is not None:
            logits = fitted.model.outputs_of(fitted.model.features.encode(texts.test))
            scores = score(logits.argmax(axis=1), test_targets, fitted.model.labels)
            alone = Rival.of("encoder alone", scores)
        linear = None
        if baseline:
            linear = fit_baseline(
                columns(texts.train, number),
                columns(texts.dev, number),
                tokenizer=recipe.model.words.tokenizer,
            )
        if linear is not None:
            guessed = linear.predict([example.text for example in texts.test])
            scores = score(guessed, test_targets, fitted.model.labels)
            difference = compare(evaluation.predicted, guessed, test_targets)
            rival = Rival.of("TF-IDF + linear SVM", scores, difference)
    outcome = Outcome(fitted, recipe, evaluation, rival, alone)
    save(outcome, texts, output)
    remove_run(output / "training")  # it is over, and its state many times the model's size
    return outcome


def save(outcome: Outcome, texts: Texts, output: Path) -> None:
    """Write the model folder: weights, settings, data fingerprints, history and scores."""
    fitted = outcome.fitted
    parts = {"train": texts.train, "dev": texts.dev, "test": texts.test}
    metrics = fitted.metrics(test=outcome.test, baseline=outcome.baseline, encoder_alone=outcome.alone)
    data = {name: fingerprint(part).to_json() for name, part in parts.items() if part}
    save_run(fitted.model, output, outcome.recipe, fitted.progress, data=data, metrics=metrics)
