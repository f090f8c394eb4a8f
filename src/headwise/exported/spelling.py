"""What the spelling of words says, computed by a graph."""

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
"""What the graph of the spelling may read."""
_LETTERS = 1 << 16  # that are looked at together, padding included


class SpelledReader:
    """The vectors of a tagger's words, and behind each what its spelling says.

    Args:
        reader: Looks words up.
        spelling: From words to what their spelling says, `[words, size]`; None where nobody reads it.
    """

    def __init__(self, reader: WordReader | BaseReader, spelling: "SpellingReader | None"):
        self.reader, self.spelling = reader, spelling
        self.size = reader.size + (0 if spelling is None else spelling.size)

    def words(self, texts: Sequence[EncodedText]) -> tuple[Floats, Floats]:
        """As `WordReader.words`."""
        bare = [replace(text, spelling=text.spelling.pieces) for text in texts]
        vectors, weights = self.reader.words(bare)
        if self.spelling is None:
            return vectors, weights
        spelled = self.spelling([text.spelling.words for text in texts])
        return np.concatenate([vectors, spelled], axis=1), weights


class SpellingReader:
    """What the spelling of words says, each different word of some texts once.

    Args:
        graph: Computes it, see `headwise.exported.tag_network.SpellingGraph`.
        config: What it reads.
        alphabet: The characters that it knows.
    """

    def __init__(self, graph: Callable[[Any], list[Floats]], config: CharacterConfig, alphabet: Alphabet):
        self.graph, self.size, self._spell = graph, config.size, Speller(config, alphabet)

    def __call__(self, texts: Sequence[Sequence[str]]) -> Floats:
        """The words of texts -> what the spelling of each says, text after text, `[words, size]`."""
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(texts)]
        words = list(numbers)
        found = np.zeros((len(words), self.size), dtype=np.float32)
        for part in _parts(words):
            found[part] = self.graph(self._read([words[place] for place in part]))[0]
        return found[places]

    def _read(self, words: Sequence[str]) -> dict[str, NDArray]:
        spelled = [self._spell[word] for word in words]
        letters, lengths = _padded([own.characters for own in spelled])
        grams, counts = _padded([own.ngrams for own in spelled])
        shapes = np.stack([own.shape for own in spelled])
        return dict(zip(SPELLING_READS, (letters, lengths, grams, counts, shapes), strict=True))


def _parts(words: Sequence[str]) -> Iterator[list[int]]:
    """The numbers of words, those of about the same length together, as many as fit into the memory."""
    order = sorted(range(len(words)), key=lambda place: -len(words[place]))
    start = 0
    while start < len(order):
        most = max(1, _LETTERS // max(1, len(words[order[start]])))
        yield order[start : start + most]
        start += most


def _padded(rows: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of numbers side by side, 0 behind their ends, and how long each is."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    found = np.zeros((len(rows), max(1, lengths.max(initial=0))), dtype=np.int64)
    found[np.arange(found.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    return found, lengths
