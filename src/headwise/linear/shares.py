"""Which words of a text a linear model goes by: its scores, divided exactly.

A score is a sum over features. What a feature adds is divided between the places of the text where it
occurs, and there between the words that it covers: a word pair has two, a run of characters one or, where
the tokeniser cuts (`do n't`), several, each by its characters. The form of a text belongs to no word and is
told apart. What is left is the bias.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from headwise.features.tokenize import get_tokenizer
from headwise.linear import hashing
from headwise.linear.form import FORM, PLAIN, form_of
from headwise.linear.pair_features import GROUPS
from headwise.linear.text_features import LONGEST, SHORTEST, Block, Vocabulary
from headwise.linear.text_model import LinearModel

Shares = NDArray[np.float64]
Numbers = NDArray[np.int64]


def text_shares(model: LinearModel, text: str, toward: Shares) -> Shares:
    """What each word of a text adds to `toward @ scores` through its words, word pairs and characters,
    `[words]`; the bias and the vectors are left out.

    Args:
        model: Gives scores of labels.
        text: Any text, which the model's tokeniser cuts into words.
        toward: What each label's score counts, `[classes]`.
    """
    words = _Words(model, text)
    shares, column = np.zeros(len(words.spans)), column_of(toward, model)
    for name, vocabulary in model.blocks.items():
        weights = model.machine.weights[model.place(name)]
        found = words.features(name, vocabulary)
        shares += words.shared(name, found.values * (weights[found.places] @ column))
    return shares


def pair_shares(model: LinearModel, texts: tuple[str, str], toward: Shares) -> tuple[Shares, Shares]:
    """The same for a model of pairs: what the words of both texts add, `[words]` each. What both have is
    divided evenly; how texts and vectors compare as wholes belongs to no word."""
    one, other = (_Words(model, text) for text in texts)
    shares = np.zeros(len(one.spans)), np.zeros(len(other.spans))
    column = column_of(toward, model)
    for name, vocabulary in model.blocks.items():
        size, both = len(vocabulary), (one.features(name, vocabulary), other.features(name, vocabulary))
        starts = model.place(name).start + size * np.arange(GROUPS)
        there = np.unique(np.concatenate([found.places for found in both]))
        at = [np.searchsorted(there, found.places) for found in both]
        a, b = (
            np.bincount(places, found.values, len(there)) for places, found in zip(at, both, strict=True)
        )
        common, only_first, only_second, whole = (
            model.machine.weights[start + there] @ column for start in starts
        )
        half = np.minimum(a, b) * common / 2
        worth = (
            half + np.maximum(a - b, 0) * only_first,
            half + np.maximum(b - a, 0) * only_second + b * whole,
        )
        # Of a feature's worth each occurrence has its part of the feature's value.
        for words, own, found, places, sums, values in zip(
            (one, other), shares, both, at, (a, b), worth, strict=True
        ):
            parts = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)
            own += words.shared(name, found.values * parts[places])
    return shares


@dataclass(frozen=True)
class _Found:
    """The occurrences of the features of a block in a text.

    Attributes:
        places: The number of the feature of each; 0 of those that are not known.
        values: What each adds to the value of its feature, which is TF-IDF with logarithmic counts at
            length 1; 0 of those that are not known.
    """

    places: Numbers
    values: Shares


class _Words:
    """The words of a text, and where features stand among them."""

    def __init__(self, model: LinearModel, text: str):
        self.text, self.lowered = text, text.lower()
        self.reach, self.edges = model.reach, model.edges
        self.spans = get_tokenizer(model.tokenizer).spans(text)

    @cached_property
    def owners(self) -> Numbers:
        """The two words of each occurrence that `hashing.word_hashes` gives, `[occurrences, 2]`; of a word
        alone, or beside an edge of the text, that one."""
        last = len(self.spans)
        seconds = np.arange(last + (self.edges and last > 0))[:, None]
        firsts = seconds - np.arange(self.reach + 1)
        there = (firsts >= -self.edges) & (firsts < last) & ((seconds < last) | (firsts >= 0))
        both = np.stack([np.broadcast_to(seconds, firsts.shape), firsts], axis=-1)[there]
        # The beginning stands before the first word, the end behind the last.
        both = np.where(both < 0, both[:, ::-1], both)
        return np.where(both >= last, both[:, ::-1], both)

    def features(self, block: Block, vocabulary: Vocabulary) -> _Found:
        """What a vocabulary knows of it."""
        if block == "words":
            cut = hashing.SEPARATOR.join(self.text[start:end] for start, end in self.spans).lower()
            hashes, _ = hashing.word_hashes(*hashing.codes_of([cut]), self.reach, self.edges)
            if len(hashes) != len(self.owners):
                raise ValueError("the words of a text hold the sign that is to separate them")
        else:
            codes, ends = hashing.codes_of([self.lowered])
            hashes, _ = hashing.character_hashes(codes, ends, SHORTEST, LONGEST)
        places, found, counts = _places(hashes, vocabulary.keys)
        if not len(vocabulary) or not len(hashes):
            return (
                _Found(places[:0], np.zeros(0))
                if not len(hashes)
                else _Found(places, np.zeros(len(hashes)))
            )
        values = np.where(found, (np.log(counts) + 1) * vocabulary.idf[places], 0.0)
        length = np.sqrt((values**2 / counts).sum())
        return _Found(places, values / counts / length if length else np.zeros(len(hashes)))

    def shared(self, block: Block, worth: Shares) -> Shares:
        """What the occurrences are worth, given to the words that they cover."""
        if block == "words":
            halves = np.bincount(self.owners.ravel(), np.repeat(worth / 2, 2), len(self.spans))
            return halves.astype(np.float64)
        return _of_characters(worth, self.text, self.lowered, self.spans)


def vector_shares(model: LinearModel, addends: NDArray, toward: Shares) -> tuple[Shares, float]:
    """What each word of a text adds to `toward @ scores` through the text's vector, `[words]`, and what
    the mean takes away, which belongs to no word.

    Args:
        model: Reads vectors of texts.
        addends: What each word adds to the text's vector, `[words, size]`.
        toward: What each label's score counts, `[classes]`.
    """
    if model.scale is None:
        raise ValueError("this linear model reads no vectors")
    away = addends.sum(axis=0, dtype=np.float64) - model.scale.mean
    line = model.machine.dense[: len(model.scale.mean)] @ column_of(toward, model)
    line *= model.scale.weight / max(np.linalg.norm(away), 1e-12)
    return addends @ line, -float(model.scale.mean @ line)


def form_shares(model: LinearModel, texts: Sequence[str], toward: Shares) -> Shares:
    """What the form of texts adds to `toward @ scores` beside that of a plain sentence, by the numbers that
    say it, `[texts, FORM]`; what the sentence's own adds belongs to no text.

    Args:
        model: Reads the form of texts.
        texts: Any texts.
        toward: What each label's score counts, for each of them, `[texts, classes]`.
    """
    away = form_of(texts).astype(np.float64) - form_of([PLAIN])
    lines = np.stack([column_of(line, model) for line in toward])
    return away * (lines @ model.machine.dense[-FORM:].T)


def column_of(toward: Shares, model: LinearModel) -> Shares:
    """What the columns of a machine count, which may have only that of the second label (see `both`)."""
    return toward[1:] / 2 - toward[:1] / 2 if len(model.machine.bias) < len(toward) else toward


def _places(keys: NDArray, known: NDArray) -> tuple[Numbers, NDArray[np.bool_], Numbers]:
    """Of each occurrence: the number of its feature (0 if unknown), whether it is known, and how often the
    text has it."""
    places = np.searchsorted(known, keys)
    found = places < len(known)
    found[found] = known[places[found]] == keys[found]
    places = np.where(found, places, 0)
    _, inverse, counts = np.unique(np.where(found, places, -1), return_inverse=True, return_counts=True)
    return places, found, counts[inverse.reshape(-1)]


def _of_characters(worth: Shares, text: str, lowered: str, spans: list[tuple[int, int]]) -> Shares:
    """`hashing.character_hashes` goes through the runs of each word; the blanks beside it get nothing."""
    starts, runs, position = [], [], 0
    for word in lowered.split():
        position = lowered.index(word, position)
        starts.append(position)
        runs.append(_runs(len(word) + 2))
        position += len(word)
    if not runs:
        return np.zeros(len(spans))
    offsets = np.repeat(starts, [len(begins) for begins, _ in runs])
    begins, ends = (np.concatenate(own) for own in zip(*runs, strict=True))
    each, size = worth / (ends - begins), len(lowered) + 1
    steps = np.bincount(begins + offsets, each, size) - np.bincount(ends + offsets, each, size)
    of_characters = steps.cumsum()[:-1]
    sizes = [len(character.lower()) for character in text] if len(lowered) != len(text) else None
    owner = np.full(len(text), -1, dtype=np.int64)
    for number, (start, end) in enumerate(spans):
        owner[start:end] = number
    owner = owner if sizes is None else np.repeat(owner, sizes)
    owned = owner >= 0
    found = np.bincount(owner[owned], weights=of_characters[owned], minlength=len(spans))
    return found.astype(np.float64)


@lru_cache(maxsize=64)
def _runs(size: int) -> tuple[Numbers, Numbers]:
    """Where the runs of characters of a word begin and end, `size` with a blank on either side, counted
    without the blanks."""
    runs = [
        (max(begin - 1, 0), min(begin - 1 + length, size - 2))
        for begin in range(size)
        for length in range(SHORTEST, min(LONGEST, size - begin) + 1)
    ]
    begins, ends = np.array(runs, dtype=np.int64).T
    return begins, ends
