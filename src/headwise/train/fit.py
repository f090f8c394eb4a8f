"""From labelled texts to a trained, calibrated model."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch

from headwise.data.example import Example
from headwise.data.fingerprint import fingerprint
from headwise.errors import ConfigError, HeadwiseError
from headwise.features.embedding import WordEmbedding
from headwise.features.tokenize import get_tokenizer
from headwise.features.vectors import Coverage, WordVectors, coverage, load_vectors, matrix_for
from headwise.features.vocabulary import Vocabulary
from headwise.models.classifier import Model
from headwise.models.text_model import TextModel
from headwise.recipe import Recipe
from headwise.train.classification import ClassificationObjective, fit_labels
from headwise.train.fitted import Fitted
from headwise.train.loop import Report


def fit(
    train_examples: Sequence[Example],
    dev_examples: Sequence[Example],
    recipe: Recipe,
    folder: Path,
    *,
    vectors: WordVectors | None = None,
    resume: bool = False,
    report: Callable[[Report], None] = lambda _: None,
) -> Fitted[Model]:
    """Train a classifier.

    Args:
        train_examples: With labels.
        dev_examples: With labels that occur in training; they choose the best epoch and set the
            temperature.
        recipe: The settings.
        folder: Where the state of the run is kept.
        vectors: What `recipe.vectors.file` holds; read from there where not given.
        resume: Go on with the run in `folder`.
        report: Called after each update and each epoch.

    Raises:
        HeadwiseError: The data, the settings or a state to resume do not fit.
    """
    labels = label_names(train_examples)
    number = {label: n for n, label in enumerate(labels)}
    dev_targets = targets_of(dev_examples, number)
    if not dev_examples:
        raise HeadwiseError("there are no dev texts to choose the best epoch on", code="HW405")

    torch.manual_seed(recipe.train.seed)
    if vectors is None and recipe.vectors.file is not None:
        vectors = load_vectors(recipe.vectors.file)
    model, covered = new_model([example.text for example in train_examples], labels, recipe, vectors)
    model.to(pick_device(recipe.train.device))
    objective = ClassificationObjective(
        model, (train_examples, targets_of(train_examples, number)), (dev_examples, dev_targets)
    )
    hashes = {"train": fingerprint(train_examples).sha256, "dev": fingerprint(dev_examples).sha256}
    return fit_labels(objective, recipe, folder, hashes, coverage=covered, resume=resume, report=report)


def label_names(examples: Sequence[Example]) -> list[str]:
    """The labels in a fixed order: numbers by value, names by alphabet."""
    names = {example.label for example in examples if example.label is not None}
    return sorted(
        names, key=lambda name: (not _is_number(name), float(name) if _is_number(name) else 0.0, name)
    )


def _is_number(name: str) -> bool:
    try:
        return float(name) == float(name)
    except ValueError:
        return False


def columns(examples: Sequence[Example], number: dict[str, int]) -> tuple[list[str], np.ndarray]:
    """Texts and label numbers of examples."""
    return [example.text for example in examples], targets_of(examples, number)


def targets_of(examples: Sequence[Example], number: dict[str, int]) -> np.ndarray:
    """Label numbers of examples, `[texts]`."""
    return np.array([number[example.label or ""] for example in examples], dtype=np.int64)


def new_model(
    texts: Sequence[str], labels: Sequence[str], recipe: Recipe, vectors: WordVectors | None = None
) -> tuple[Model, Coverage | None]:
    """An untrained model for these texts, with the pretrained vectors in place."""
    tokenizer = get_tokenizer(recipe.model.words.tokenizer)
    vocabulary = new_vocabulary(map(tokenizer.words, texts), recipe, vectors)
    model = Model(recipe.model, vocabulary, labels)
    return model, start_from_vectors(model, vectors, recipe.train.seed)


def new_vocabulary(
    texts: Iterable[Sequence[str]], recipe: Recipe, vectors: WordVectors | None = None
) -> Vocabulary:
    """The vocabulary of the words of texts, and of the most frequent words of the vectors.

    Raises:
        ConfigError: The vectors do not fit the settings.
    """
    words = recipe.model.words
    if vectors is not None and recipe.model.pretrained.name:
        raise ConfigError("word vectors and a pretrained encoder exclude each other; give one of them")
    if vectors is not None and vectors.size != words.vector_size:
        raise ConfigError(
            f"{recipe.vectors.file}: the vectors have {vectors.size} features, but "
            f"words.vector_size is {words.vector_size}; leave it out or set it to {vectors.size}"
        )
    return Vocabulary.build(
        texts,
        min_count=words.min_count,
        max_size=words.max_words,
        case=words.case,
        extra_words=vectors.words[: recipe.vectors.extra_words] if vectors else (),
    )


def start_from_vectors(model: TextModel, vectors: WordVectors | None, seed: int) -> Coverage | None:
    """Put pretrained vectors in place; returns how many of the training words have one. None where there
    are no vectors, or the model has no place for them."""
    if vectors is None or not isinstance(model.embedding, WordEmbedding):
        return None
    vocabulary = model.features.vocabulary
    matrix, _ = matrix_for(vocabulary, vectors, seed=seed)
    model.embedding.start_from(torch.from_numpy(matrix))
    counts = dict(zip(vocabulary.words[1:], vocabulary.counts[1:], strict=True))
    return coverage(vectors, {word: count for word, count in counts.items() if count})


def pick_device(name: str) -> torch.device:
    """`auto` takes a CUDA device where there is one.

    Raises:
        ConfigError: The device is unknown or is not there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ConfigError(f"the device {name!r} cannot be used: {str(error).splitlines()[0]}") from None
    return device
