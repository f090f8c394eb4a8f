"""Character features of words, computed by an ONNX graph."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.exported.vectors import BaseReader, Floats, WordReader
from headwise.features.alphabet import Alphabet
from headwise.features.encoded_text import EncodedText
from headwise.features.spelling import CharacterConfig, Speller

SPELLING_READS = ("letters", "lengths", "grams", "counts", "shapes")
"""Possible inputs of the graph of character features."""
_LETTERS = 1 << 16  # characters per batch, padding included


class SpelledReader:
    """Word vectors of a tagger, concatenated with character features.

    Args:
        reader: Looks up word vectors.
        spelling: Computes the character features; None if the model has none.
    """

    def __init__(self, reader: WordReader | BaseReader, spelling: "SpellingReader | None"):
        self.reader, self.spelling = reader, spelling
        self.size = reader.size + (0 if spelling is None else spelling.size)

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """See `WordReader.words`."""
        bare = [replace(text, spelling=text.spelling.pieces) for text in texts]
        vectors, weights = self.reader.words(bare)
        if self.spelling is None:
            return vectors, weights
        spelled = self.spelling([text.spelling.words for text in texts])
        return np.concatenate([vectors, spelled], axis=1), weights


class SpellingReader:
    """Computes character features, once for each distinct word of a batch.

    Args:
        graph: The graph, see `headwise.exported.tag_network.SpellingGraph`.
        config: Configuration of the features.
        alphabet: The character vocabulary.
    """

    def __init__(self, graph: Callable[[Any], list[Floats]], config: CharacterConfig, alphabet: Alphabet):
        self.graph, self.size, self._spell = graph, config.size, Speller(config, alphabet)

    def __call__(self, texts: Sequence[Sequence[str]]) -> Floats:
        """Tokenised texts -> character features of their words, text after text, `[words, size]`."""
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(texts)]
        words = list(numbers)
        features = np.zeros((len(words), self.size), dtype=np.float32)
        for part in _parts(words):
            features[part] = self.graph(self._read([words[place] for place in part]))[0]
        return features[places]

    def _read(self, words: Sequence[str]) -> dict[str, NDArray]:
        spelled = [self._spell[word] for word in words]
        letters, lengths = _padded([word.characters for word in spelled])
        grams, counts = _padded([word.ngrams for word in spelled])
        shapes = np.stack([word.shape for word in spelled])
        return dict(zip(SPELLING_READS, (letters, lengths, grams, counts, shapes), strict=True))


def _parts(words: Sequence[str]) -> Iterator[list[int]]:
    """Batches of word indices, with words of similar lengths, that fit into memory."""
    order = sorted(range(len(words)), key=lambda place: -len(words[place]))
    start = 0
    while start < len(order):
        most = max(1, _LETTERS // max(1, len(words[order[start]])))
        yield order[start : start + most]
        start += most


def _padded(rows: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of ids padded with 0, `[rows, longest]`, and their lengths, `[rows]`."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    padded = np.zeros((len(rows), max(1, lengths.max(initial=0))), dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    return padded, lengths
