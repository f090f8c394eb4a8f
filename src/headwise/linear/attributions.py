"""Attributions: what each word of a text adds to the scores of a linear model. The decomposition is exact.

A score is a sum over features. The attribution of a feature is divided among its occurrences in the text,
and there among the words that it covers: two for a word pair; for a character n-gram one, or several where
the tokenizer splits (`do n't`), in proportion to their characters. Surface features belong to no word and
are reported separately. The rest is the bias.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from headwise.core import hashing
from headwise.core.surface_features import REFERENCE_TEXT, surface_features
from headwise.core.tokenizer import get_tokenizer
from headwise.linear.linear_model import LinearModel
from headwise.linear.pair_features import GROUPS, PairSide, dense_pair_features
from headwise.linear.tfidf_features import LONGEST, SHORTEST, BlockName, FeatureVocabulary

Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]


def text_attributions(model: LinearModel, text: str, output_weights: Doubles) -> Doubles:
    """The attribution of each word of a text to `output_weights @ scores` through words, word pairs and
    character n-grams, `[words]`; bias and vectors are left out.

    Args:
        model: The linear model.
        text: Any text; the model's tokenizer splits it into words.
        output_weights: Coefficient of each label's score, `[classes]`.
    """
    words = _Words(model, text)
    attributions, column = np.zeros(len(words.spans)), column_coefficients(output_weights, model)
    for name, vocabulary in model.blocks.items():
        weights = model.coefficients.weights[model.place(name)]
        occurrences = words.features(name, vocabulary)
        attributions += words.distribute(name, occurrences.values * (weights[occurrences.places] @ column))
    return attributions


def pair_attributions(
    model: LinearModel, texts: tuple[str, str], output_weights: Doubles
) -> tuple[Doubles, Doubles]:
    """The attributions of the words of both texts of a pair, `[words]` each. Shared features are divided
    evenly; comparisons of whole texts and vectors belong to no word."""
    first, second = (_Words(model, text) for text in texts)
    attributions = np.zeros(len(first.spans)), np.zeros(len(second.spans))
    column = column_coefficients(output_weights, model)
    for name, vocabulary in model.blocks.items():
        size, both = len(vocabulary), (first.features(name, vocabulary), second.features(name, vocabulary))
        starts = model.place(name).start + size * np.arange(GROUPS)
        there = np.unique(np.concatenate([occurrences.places for occurrences in both]))
        at = [np.searchsorted(there, occurrences.places) for occurrences in both]
        a, b = (
            np.bincount(places, occurrences.values, len(there))
            for places, occurrences in zip(at, both, strict=True)
        )
        common, only_first, only_second, second_alone = (
            model.coefficients.weights[start + there] @ column for start in starts
        )
        half = np.minimum(a, b) * common / 2
        of_features = (
            half + np.maximum(a - b, 0) * only_first,
            half + np.maximum(b - a, 0) * only_second + b * second_alone,
        )
        # Each occurrence gets the part of the attribution that it has in the feature's value.
        for words, word_attributions, occurrences, places, sums, values in zip(
            (first, second), attributions, both, at, (a, b), of_features, strict=True
        ):
            parts = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)
            word_attributions += words.distribute(name, occurrences.values * parts[places])
    return attributions


@dataclass(frozen=True)
class _Occurrences:
    """The occurrences of the features of a block in a text.

    Attributes:
        places: Feature index of each occurrence; 0 for unknown features.
        values: What each occurrence adds to the value of its feature (TF-IDF with logarithmic counts
            at length 1); 0 for unknown features.
    """

    places: Numbers
    values: Doubles


class _Words:
    """The words of a text, and the positions of feature occurrences among them."""

    def __init__(self, model: LinearModel, text: str):
        tokenizer = get_tokenizer(model.tokenizer)
        text = tokenizer.normalize(text)
        self.text, self.lowered = text, text.lower()
        self.reach, self.edges = model.reach, model.edges
        self.spans = tokenizer.spans(text)

    @cached_property
    def owners(self) -> Numbers:
        """The two word positions of each occurrence from `hashing.read_hashes`, `[occurrences, 2]`; both
        equal for a single word, or a word paired with an edge of the text."""
        last = len(self.spans)
        seconds = np.arange(last + (self.edges and last > 0))[:, None]
        firsts = seconds - np.arange(self.reach + 1)
        there = (firsts >= -self.edges) & (firsts < last) & ((seconds < last) | (firsts >= 0))
        both = np.stack([np.broadcast_to(seconds, firsts.shape), firsts], axis=-1)[there]
        # The beginning of the text comes before the first word, the end after the last.
        both = np.where(both < 0, both[:, ::-1], both)
        return np.where(both >= last, both[:, ::-1], both)

    def features(self, block: BlockName, vocabulary: FeatureVocabulary) -> _Occurrences:
        """The occurrences of the features of a vocabulary in the text."""
        if block == "words":
            words = [self.text[start:end].lower() for start, end in self.spans]
            numbers, ends = np.arange(len(words), dtype=np.int32), np.array([0, len(words)])
            states = hashing.word_hash_states(words)
            hashes, _ = hashing.read_hashes(states, numbers, ends, self.reach, self.edges)
        else:
            codes, ends = hashing.joined_code_points([self.lowered])
            hashes, _ = hashing.character_hashes(codes, ends, SHORTEST, LONGEST)
        places, is_known, counts = _places(hashes, vocabulary.keys)
        if not len(vocabulary) or not len(hashes):
            return _Occurrences(places, np.zeros(len(hashes)))
        values = np.where(is_known, (np.log(counts) + 1) * vocabulary.idf[places], 0.0)
        length = np.sqrt((values**2 / counts).sum())
        return _Occurrences(places, values / counts / length if length else np.zeros(len(hashes)))

    def distribute(self, block: BlockName, attributions: Doubles) -> Doubles:
        """Distribute the attributions of occurrences to the words that they cover."""
        if block == "words":
            halves = np.bincount(self.owners.ravel(), np.repeat(attributions / 2, 2), len(self.spans))
            return halves.astype(np.float64)
        return _of_characters(attributions, self.text, self.lowered, self.spans)


def vector_attributions(
    model: LinearModel, addends: NDArray, output_weights: Doubles
) -> tuple[Doubles, float]:
    """The attribution of each word of a text to `output_weights @ scores` through the text's vector,
    `[words]`, and that of the subtracted mean, which belongs to no word.

    Args:
        model: A linear model that reads text vectors.
        addends: What each word adds to the text's vector, `[words, size]`.
        output_weights: Coefficient of each label's score, `[classes]`.
    """
    if model.scale is None:
        raise ValueError("this linear model reads no vectors")
    away = addends.sum(axis=0, dtype=np.float64) - model.scale.mean
    line = model.coefficients.dense[: len(model.scale.mean)] @ column_coefficients(output_weights, model)
    line *= model.scale.weight / max(np.linalg.norm(away), 1e-12)
    return addends @ line, -float(model.scale.mean @ line)


def surface_attributions(model: LinearModel, texts: Sequence[str], output_weights: Doubles) -> Doubles:
    """The attribution of surface features to `output_weights @ scores` relative to a plain reference
    sentence, `[texts, FORM]`.

    Args:
        model: A linear model that reads surface features.
        texts: Any texts.
        output_weights: Coefficients of the labels' scores for each text, `[texts, classes]`.
    """
    normalize = get_tokenizer(model.tokenizer).normalize
    away = surface_features([normalize(text) for text in texts]).astype(np.float64)
    away -= surface_features([REFERENCE_TEXT])
    lines = column_coefficients(output_weights, model)
    return away * (lines @ model.coefficients.dense[model.form_place].T)


def tabular_attributions(model: LinearModel, tabular: NDArray, output_weights: Doubles) -> Doubles:
    """The attribution of each feature of the columns beside the texts to `output_weights @ scores`,
    relative to an average row, `[texts, features]`.

    Args:
        model: A linear model that reads such features.
        tabular: The features, `[texts, features]`.
        output_weights: Coefficients of the labels' scores for each text, `[texts, classes]`.
    """
    lines = column_coefficients(output_weights, model)
    start = len(model.coefficients.dense) - model.tabular
    return tabular * (lines @ model.coefficients.dense[start:].T)


def column_coefficients(output_weights: Doubles, model: LinearModel) -> Doubles:
    """Map coefficients of labels, `[..., classes]`, to those of score columns; of two labels there may be
    one column only (see `expand_columns`)."""
    return (
        output_weights[..., 1:] / 2 - output_weights[..., :1] / 2
        if len(model.coefficients.bias) < output_weights.shape[-1]
        else output_weights
    )


def _places(keys: NDArray, vocabulary_keys: NDArray) -> tuple[Numbers, NDArray[np.bool_], Numbers]:
    """For each occurrence: its feature index (0 if unknown), whether it is known, and how often the text
    has it."""
    places = np.searchsorted(vocabulary_keys, keys)
    is_known = places < len(vocabulary_keys)
    is_known[is_known] = vocabulary_keys[places[is_known]] == keys[is_known]
    places = np.where(is_known, places, 0)
    _, inverse, counts = np.unique(np.where(is_known, places, -1), return_inverse=True, return_counts=True)
    return places, is_known, counts[inverse.reshape(-1)]


def _of_characters(attributions: Doubles, text: str, lowered: str, spans: list[tuple[int, int]]) -> Doubles:
    """Distribute attributions of character n-grams to the words that they overlap; the padding blanks get
    nothing."""
    starts, runs, position = [], [], 0
    for word in lowered.split():
        position = lowered.index(word, position)
        starts.append(position)
        runs.append(_runs(len(word) + 2))
        position += len(word)
    if not runs:
        return np.zeros(len(spans))
    offsets = np.repeat(starts, [len(begins) for begins, _ in runs])
    begins, ends = (np.concatenate(bounds) for bounds in zip(*runs, strict=True))
    per_character, size = attributions / (ends - begins), len(lowered) + 1
    steps = [np.bincount(bounds + offsets, per_character, size) for bounds in (begins, ends)]
    of_characters = (steps[0] - steps[1]).cumsum()[:-1]
    owner = np.full(len(text), -1, dtype=np.int64)
    for number, (start, end) in enumerate(spans):
        owner[start:end] = number
    if len(lowered) != len(text):
        owner = np.repeat(owner, [len(character.lower()) for character in text])
    owned = owner >= 0
    sums = np.bincount(owner[owned], weights=of_characters[owned], minlength=len(spans))
    return sums.astype(np.float64)


@lru_cache(maxsize=64)
def _runs(size: int) -> tuple[Numbers, Numbers]:
    """Start and end of the character n-grams of a word, `size` long with its padding, in positions without
    the padding."""
    runs = [
        (max(begin - 1, 0), min(begin - 1 + length, size - 2))
        for begin in range(size)
        for length in range(SHORTEST, min(LONGEST, size - begin) + 1)
    ]
    begins, ends = np.array(runs, dtype=np.int64).T
    return begins, ends


_MOST_LEFT_OUT = 400  # the most words of a pair for which leave-one-out is computed


def leave_one_out_attributions(
    pairs: Sequence[tuple[PairSide, PairSide]], scorers: Sequence[Callable[[NDArray], float]]
) -> list[Doubles]:
    """The leave-one-out attribution of each word of pairs to the score `scorers` of the comparison
    features; zeros for pairs of more than `_MOST_LEFT_OUT` words."""
    of_pairs = []
    for sides, score in zip(pairs, scorers, strict=True):
        sizes = [len(words) for words, _ in sides]
        attributions = np.zeros(sum(sizes))
        if len(attributions) <= _MOST_LEFT_OUT:
            full_score = score(dense_pair_features(*sides))
            for place in range(len(attributions)):
                side, word = (0, place) if place < sizes[0] else (1, place - sizes[0])
                rest = list(sides)
                rest[side] = (np.delete(sides[side][0], word), np.delete(sides[side][1], word, axis=0))
                attributions[place] = full_score - score(dense_pair_features(*rest))
        of_pairs.append(attributions)
    return of_pairs
