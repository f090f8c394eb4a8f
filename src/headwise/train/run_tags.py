"""`headwise train` for taggers as a function: files in, a judged model in a folder out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.fingerprint import Fingerprint, fingerprint
from headwise.data.sentence import Tagged
from headwise.data.split import split_examples
from headwise.data.tag_options import TagOptions
from headwise.data.tagged import TaggedData, read_tagged
from headwise.errors import ConfigError, HeadwiseError
from headwise.features.alphabet import Alphabet
from headwise.features.parse_files import read_parses
from headwise.features.vectors import Coverage, WordVectors
from headwise.linear.tag_baseline import NAME, MemoryTagger
from headwise.models.tag_model import TagModel
from headwise.recipe import Recipe
from headwise.report.tags import TagEvaluation, evaluate_tags, judge_tags
from headwise.scores.entities import compare_entities
from headwise.scores.resample import ScoreDifference
from headwise.scores.scheme_check import detect_scheme
from headwise.scores.schemes import Scheme, convert, read_spans
from headwise.train.fit import new_vocabulary, pick_device, start_from_vectors
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run, train_by
from headwise.train.run import Parses
from headwise.train.state import Progress
from headwise.train.tagging import TaggingObjective


@dataclass(frozen=True)
class Sentences:
    """The three parts of the data.

    Attributes:
        train: Tagged sentences.
        dev: Likewise.
        test: Likewise, perhaps none.
        scheme: The tag scheme of the training file.
        notes: What there is to tell about how they came to be.
    """

    train: list[Tagged]
    dev: list[Tagged]
    test: list[Tagged]
    scheme: Scheme
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """The dev score that such taggers are chosen by."""
        return "accuracy" if self.scheme == "plain" else "f1"


@dataclass(frozen=True)
class TagRival:
    """The memory of the training words on the same test sentences."""

    name: str
    score: float
    difference: ScoreDifference | None


@dataclass(frozen=True)
class TagOutcome:
    """What a run came to."""

    model: TagModel
    progress: Progress
    coverage: Coverage | None
    recipe: Recipe
    dev: TagEvaluation
    test: TagEvaluation | None
    baseline: TagRival | None


def read_sentences(
    train: str, dev: str | None, test: str | None, recipe: Recipe, parses: Parses
) -> Sentences:
    """Read the files; split off dev, and test where there is none.

    Raises:
        DataError: A file cannot be read.
        HeadwiseError: There are no sentences, one tag only, or are to be no dev sentences.
    """
    options: TagOptions = recipe.data
    data = with_parses(read_tagged(train, options), parses.train)
    if len(data.tags) < 2:
        found = f"only the tag {next(iter(data.tags))!r}" if data.tags else "no tagged sentences"
        raise HeadwiseError(
            f"{train}: {found} in {len(data.sentences):,} sentences (read as {data.format}); a tagger "
            "needs two or more tags. If another column holds them, name it with --tag-column",
            code="HW406",
        )
    detected = detect_scheme(own.tags for own in data.sentences)
    notes = [f"{train}: {note}" for note in data.notes]
    notes.append(f"{train}: tag scheme {detected.scheme} guessed ({detected.reason})")
    notes += [f"{train}: {found.message}" for found in data.findings]
    others: dict[str, list[Tagged]] = {}
    for name, path, heads in (("dev", dev, parses.dev), ("test", test, parses.test)):
        if path is None and heads is not None:
            raise ConfigError(f"{heads}: parses of {name} texts, but there is no file of {name} texts")
        if path is not None:
            other = with_parses(read_tagged(path, options), heads)
            notes += [f"{path}: {note}" for note in other.notes]
            strange = [tag for tag in other.tags if tag not in data.tags]
            if strange:
                notes.append(f"{path}: tags that training does not have: {', '.join(strange[:8])}")
            others[name] = other.sentences
    if "dev" not in others and not recipe.split.dev:
        raise HeadwiseError(
            "there are no dev sentences: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    cut_dev = 0.0 if "dev" in others else recipe.split.dev
    cut_test = 0.0 if "test" in others else recipe.split.test
    parts = {"train": data.sentences, "dev": [], "test": []} | others
    if cut_dev or cut_test:
        cut, told = split_sentences(data.sentences, cut_dev, cut_test, recipe.split.seed, path=train)
        notes += told
        parts = cut | others
    return Sentences(**parts, scheme=detected.scheme, notes=tuple(notes))


def split_sentences(
    sentences: Sequence[Tagged], dev: float, test: float = 0.0, seed: int = 0, *, path: str = ""
) -> tuple[dict[str, list[Tagged]], list[str]]:
    """Split at random, equal sentences on one side: train, dev and test, and what there is to tell.

    Raises:
        DataError: HW141, there are too few.
    """
    split = split_examples(
        [Example(" ".join(own.tokens), line=n) for n, own in enumerate(sentences)],
        dev,
        test,
        seed,
        path=path,
    )
    parts = {"train": split.train, "dev": split.dev, "test": split.test}
    notes = [f"{path}: {note.replace('texts', 'sentences')}" for note in split.notes]
    return {name: [sentences[example.line] for example in own] for name, own in parts.items()}, notes


def with_parses(data: TaggedData, path: str | None) -> TaggedData:
    """Tagged sentences with the parses of a file, if there is one.

    Raises:
        DataError: HW142, the parses are not as many as the sentences.
        HeadsError: They make no trees, or are of other words.
    """
    if path is None:
        return data
    parses = read_parses(path, [own.tokens for own in data.sentences])
    if len(parses) != len(data.sentences):
        raise DataError(
            "HW142",
            f"{len(parses):,} parses",
            expected=f"one for each of the {len(data.sentences):,} sentences of {data.path}",
            path=path,
        )
    sentences = [
        replace(own, heads=tuple(map(int, heads)))
        for own, heads in zip(data.sentences, parses, strict=True)
    ]
    return data.with_items(sentences)


def fit_tags(
    sentences: Sentences,
    recipe: Recipe,
    vectors: WordVectors | None,
    folder: Path,
    *,
    resume: bool = False,
    report: Callable[[Report], None] = lambda _: None,
) -> tuple[TagModel, Progress, Coverage | None]:
    """Train a tagger, its best epoch chosen on the dev sentences; the state of the run is kept in `folder`.

    Raises:
        HeadwiseError: There are no dev sentences, or the settings or a state to resume do not fit.
    """
    if not sentences.dev:
        raise HeadwiseError("there are no dev sentences to choose the best epoch on", code="HW405")
    torch.manual_seed(recipe.train.seed)
    model, covered = new_tagger(sentences.train, sentences.scheme, recipe, vectors)
    model.to(pick_device(recipe.train.device))
    objective = TaggingObjective(model, sentences.train, sentences.dev)
    parts = {"train": sentences.train, "dev": sentences.dev}
    hashes = {name: sentence_fingerprint(part).sha256 for name, part in parts.items()}
    progress = train_by(recipe, model, objective, folder, hashes, resume=resume, report=report)
    return model, progress, covered


def run_tags(
    sentences: Sentences,
    recipe: Recipe,
    vectors: WordVectors | None,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Callable[[Report], None] = lambda _: None,
) -> TagOutcome:
    """Train a tagger, judge it beside the memory of the training words, and save it in `output`."""
    folder = output / "training"
    model, progress, covered = fit_tags(sentences, recipe, vectors, folder, resume=resume, report=report)
    dev = evaluate_tags(model, sentences.dev)
    test = evaluate_tags(model, sentences.test) if sentences.test else None
    rival = judge_baseline(sentences, test) if baseline and test is not None else None
    outcome = TagOutcome(model, progress, covered, recipe, dev, test, rival)
    parts = {"train": sentences.train, "dev": sentences.dev, "test": sentences.test}
    prints = {name: sentence_fingerprint(part) for name, part in parts.items() if part}
    _save(outcome, prints, output)
    remove_run(folder)
    return outcome


def new_tagger(
    sentences: Sequence[Tagged], scheme: Scheme, recipe: Recipe, vectors: WordVectors | None = None
) -> tuple[TagModel, Coverage | None]:
    """An untrained tagger for these sentences, with the pretrained vectors in place."""
    config = recipe.model
    vocabulary = new_vocabulary((own.tokens for own in sentences), recipe, vectors)
    tags = {tag for own in sentences for tag in own.tags}
    if scheme != "plain":
        inner = config.tagger.scheme
        tags = {tag for own in sentences for tag in convert(own.tags, inner)}
    words = (word for own in sentences for word in own.tokens)
    alphabet = Alphabet.build(words, min_count=config.characters.min_count)
    model = TagModel(config, vocabulary, sorted(tags, key=lambda tag: (tag != "O", tag)), scheme, alphabet)
    return model, start_from_vectors(model, vectors, recipe.train.seed)


def judge_baseline(sentences: Sentences, test: TagEvaluation | None) -> TagRival:
    """The memory of the training words on the test sentences, compared with a tagger if there is one."""
    memory = MemoryTagger(sentences.train, sentences.scheme).predict(sentences.test)
    tokens, entities = judge_tags(memory, sentences.test, sentences.scheme)
    if entities is None:
        return TagRival(NAME, tokens.accuracy, None)
    if test is None:
        return TagRival(NAME, entities.f1, None)
    model, rival = ([read_spans(tags) for tags in own] for own in (test.predicted, memory))
    truth = [read_spans(own.tags) for own in sentences.test]
    return TagRival(NAME, entities.f1, compare_entities(model, rival, truth))


def sentence_fingerprint(sentences: Sequence[Tagged]) -> Fingerprint:
    """As `headwise.data.fingerprint.fingerprint`, of tagged sentences: their words and tags line by line.
    The labels are the tags, and how many words have each."""
    lines = [Example("\n".join(own.tokens), "\n".join(own.tags), heads=own.heads) for own in sentences]
    counts: dict[str, int] = {}
    for own in sentences:
        for tag in own.tags:
            counts[tag] = counts.get(tag, 0) + 1
    return replace(fingerprint(lines), labels=dict(sorted(counts.items())))


def _save(outcome: TagOutcome, prints: dict[str, Fingerprint], output: Path) -> None:
    metrics: dict[str, Any] = {"dev": outcome.dev.to_json()}
    if outcome.test is not None:
        metrics["test"] = outcome.test.to_json()
    if outcome.baseline is not None:
        metrics["baseline"] = outcome.baseline
    data = {name: own.to_json() for name, own in prints.items()}
    save_run(outcome.model, output, outcome.recipe, outcome.progress, data=data, metrics=metrics)
