"""`headwise train` for label sets as a function: files in, a judged model in a folder out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwise.data.example import Example
from headwise.data.label_set import LabelSetData, label_sets, set_fingerprint
from headwise.data.label_set_files import check_label_sets, read_label_sets, separator_for
from headwise.data.split import split_examples
from headwise.errors import ConfigError, HeadwiseError
from headwise.features.vectors import WordVectors
from headwise.linear.one_vs_rest import NAME, fit_label_set_baseline
from headwise.models.label_set_model import LabelSetModel
from headwise.recipe import Recipe
from headwise.report.label_sets import LabelSetEvaluation, LabelSetRival, evaluate_label_sets
from headwise.scores.label_set_metrics import label_set_scores
from headwise.train.fit import label_names
from headwise.train.fitted import Fitted
from headwise.train.label_sets import fit_label_sets, indicators
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run
from headwise.train.run import Parses, Texts, parsed


@dataclass(frozen=True)
class LabelSetTexts(Texts):
    """The three parts of the data.

    Attributes:
        labels: All labels of the training file, in the order of the model's outputs.
        separator: What the model writes between labels.
    """

    labels: tuple[str, ...]
    separator: str


@dataclass(frozen=True)
class LabelSetOutcome:
    """What a run came to.

    Attributes:
        fitted: The model and its training.
        test: Of the model on the test texts; None without test texts.
        baseline: TF-IDF + one SVM a label on the same, compared with the model text by text.
    """

    fitted: Fitted[LabelSetModel]
    test: LabelSetEvaluation | None
    baseline: LabelSetRival | None


def read_label_set_texts(
    train: str, dev: str | None, test: str | None, recipe: Recipe, parses: Parses
) -> LabelSetTexts:
    """Read the files; split off dev, and test where there is none.

    Raises:
        DataError: A file cannot be read, or a label of dev or test does not occur in training.
        HeadwiseError: The training file has no labels, or there are to be no dev texts.
    """
    tokenizer = recipe.model.words.tokenizer
    parts: dict[str, LabelSetData] = {}
    notes: list[str] = []
    files = (("train", train, parses.train), ("dev", dev, parses.dev), ("test", test, parses.test))
    for name, path, heads in files:
        if path is None and heads is not None:
            raise ConfigError(f"{heads}: parses of {name} texts, but there is no file of {name} texts")
        if path is not None:
            flags = getattr(parts["train"].columns, "flags", ()) if parts else ()
            read: Any = parsed(read_label_sets(path, recipe.data, known=flags), heads, tokenizer)
            parts[name] = read
            notes += [f"{path}: {note}" for note in read.notes]
            check_label_sets(parts["train"], read)
    data = parts["train"]
    if not data.labels:
        raise HeadwiseError(
            f"{train}: no labels in {len(data.examples):,} texts (read as {data.format}); if another "
            "column holds them, name it with --label-column",
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
        split = split_examples(by_rarest(data.examples), cut_dev, cut_test, recipe.split.seed, path=train)
        notes += [f"{train}: {note}" for note in split.notes]
        cut = {"train": split.train, "dev": split.dev, "test": split.test}
        for name, part in cut.items():
            if name == "train" or name not in parts:
                own[name] = [data.examples[example.line] for example in part]
    notes += unlearnable(own["train"], data.labels)
    names = tuple(label_names([Example("", label) for label in data.labels]))
    separator = separator_for(recipe.data, data)
    return LabelSetTexts(
        own["train"], own.get("dev", []), own.get("test", []), tuple(notes), names, separator
    )


def by_rarest(examples: Sequence[Example]) -> list[Example]:
    """Texts with the rarest of their labels as the only one and their numbers as lines, to be split so that
    each label has its share in every part, the rare ones above all."""
    sets = label_sets(examples)
    counts = Counter(label for own in sets for label in own)
    rarest = [min(own, key=lambda label: (counts[label], label), default="") for own in sets]
    return [Example(e.text, own, n) for n, (e, own) in enumerate(zip(examples, rarest, strict=True))]


def unlearnable(train: Sequence[Example], labels: dict[str, int]) -> list[str]:
    """What there is to say of labels that no training text has."""
    known = {label for own in label_sets(train) for label in own}
    lost = [repr(label) for label in labels if label not in known]
    if not lost:
        return []
    some = ", ".join(lost[:8]) + (f" and {len(lost) - 8:,} more" if len(lost) > 8 else "")
    return [f"labels that only dev or test texts have, so that they cannot be learnt: {some}"]


def run_label_sets(
    texts: LabelSetTexts,
    recipe: Recipe,
    vectors: WordVectors | None,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Callable[[Report], None] = lambda _: None,
) -> LabelSetOutcome:
    """Train a model, judge it beside a linear baseline, and save it in `output`."""
    fitted = fit_label_sets(
        texts.train,
        texts.dev,
        texts.labels,
        recipe,
        output / "training",
        vectors=vectors,
        separator=texts.separator,
        resume=resume,
        report=report,
    )
    test = rival = None
    if texts.test:
        test = evaluate_label_sets(fitted.model, texts.test, indicators(texts.test, texts.labels))
        rival = judge_baseline(texts, test, recipe) if baseline else None
    outcome = LabelSetOutcome(fitted, test, rival)
    save(outcome, texts, recipe, output)
    remove_run(output / "training")
    return outcome


def judge_baseline(texts: LabelSetTexts, model: LabelSetEvaluation, recipe: Recipe) -> LabelSetRival | None:
    """TF-IDF + one SVM a label, its thresholds tuned on dev as the model's, beside the model on the test
    texts."""
    parts = (texts.train, texts.dev, texts.test)
    read = [([example.text for example in part], indicators(part, texts.labels)) for part in parts]
    linear = fit_label_set_baseline(
        read[0],
        read[1],
        tokenizer=recipe.model.words.tokenizer,
        min_texts=recipe.model.thresholds.min_texts,
    )
    if linear is None:
        return None
    scores, targets = linear.scores(read[2][0]), read[2][1]
    found = label_set_scores(scores, linear.thresholds, targets, texts.labels)
    return LabelSetRival.of(NAME, found, (model.given, scores >= linear.thresholds, targets))


def save(outcome: LabelSetOutcome, texts: LabelSetTexts, recipe: Recipe, output: Path) -> None:
    """Write the model folder: weights, settings, data fingerprints, history and scores."""
    fitted = outcome.fitted
    parts = {"train": texts.train, "dev": texts.dev, "test": texts.test}
    metrics = fitted.metrics(test=outcome.test, baseline=outcome.baseline)
    data = {name: set_fingerprint(part).to_json() for name, part in parts.items() if part}
    save_run(fitted.model, output, recipe, fitted.progress, data=data, metrics=metrics)
