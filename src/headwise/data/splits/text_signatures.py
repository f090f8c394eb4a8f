"""What stands for texts when they are compared: digests, trigrams and MinHash signatures.

Two texts are near-duplicates if they have the same words (ignoring case, spacing and punctuation), or if
the Jaccard similarity of their sets of word trigrams is at least 0.7. Chinese and Japanese have no spaces,
so their trigrams are of characters. MinHash (Broder 1997) with 60 hash functions, in 20 bands of 3,
proposes candidate pairs: it finds 999 of 1,000 pairs with a similarity of 0.7, and 93 of 100 with 0.5. The
exact similarity of each candidate pair is then computed.
"""

import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.tokenizer import split_approximately

MIN_SIMILARITY = 0.7
"""Least Jaccard similarity of the trigram sets of near-duplicates."""
_TRIGRAM = 3  # words
_LEAST_WORDS = 8  # words; in a shorter text one changed word changes too many trigrams
BANDS, _ROWS = 20, 3
_MOST_WORDS = 1 << 19  # whose hashes are remembered
MAX_BUCKET = 20  # texts per bucket that are compared; larger buckets hold repeated phrases
_WORD = lazy_pattern(r"\w+|\N{SYMBOL FOR RECORD SEPARATOR}")  # the separator of the two texts of a pair

_random = np.random.default_rng(1997)
_HASH_FACTORS = _random.integers(1, 1 << 62, BANDS * _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_HASH_OFFSETS = _random.integers(0, 1 << 63, BANDS * _ROWS, dtype=np.uint64)
_TRIGRAM_FACTORS = _random.integers(1, 1 << 62, _TRIGRAM, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_BAND_FACTORS = _random.integers(1, 1 << 62, _ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
MINHASHES = _HASH_FACTORS, _HASH_OFFSETS, _BAND_FACTORS


def words_for_comparison(text: str) -> str:
    """The words of a text, case-folded and joined by spaces, for comparison.

    The result ignores case, spacing, punctuation and the encoding of accents. A text without words keeps
    its characters."""
    return " ".join(_WORD.findall(compose_accents(text).casefold())) or " ".join(text.split())


_MANY_MARKS = regex.compile(r"\p{M}{100}")


def compose_accents(text: str) -> str:
    """A text with accents composed (Unicode's NFC), which some programs write apart. A text with a hundred
    combining marks in a row, which no script has, stays as it is: normalising it takes quadratic time."""
    return text if text.isascii() or _MANY_MARKS.search(text) else normalize("NFC", text)


def normal_text(text: str) -> str:
    """A text normalised for comparison: composed accents, folded case, white space collapsed."""
    return " ".join(compose_accents(text).casefold().split())


class _WordHashes(dict[str, int]):
    """A cache of the hash (CRC-32) of each word."""

    def __missing__(self, word: str) -> int:
        number = self[word] = zlib.crc32(word.encode("utf-8", "surrogatepass"))
        return number


class TrigramReader:
    """Reads the trigrams of texts."""

    def __init__(self) -> None:
        self._words = _WordHashes()

    @property
    def full(self) -> bool:
        """Whether the table has reached its maximum number of words and must be replaced."""
        return len(self._words) > _MOST_WORDS

    def __call__(self, texts: Iterable[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The hashes of the distinct word trigrams of each text, sorted, and their offsets, `[texts + 1]`;
        none of a text of under 8 words."""
        words, ends = array("I"), [0]
        for text in texts:
            words.extend(map(self._words.__getitem__, split_approximately(text)))
            ends.append(len(words))
        hashes = np.frombuffer(words, dtype=np.uint32) if words else np.zeros(0, dtype=np.uint32)
        return native.trigram_hashes(hashes, np.array(ends), _TRIGRAM_FACTORS, _LEAST_WORDS)


def first_places(numbers: NDArray) -> NDArray[np.int64]:
    """The index of the first equal number of each, `[numbers]`."""
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    return first[inverse]


def text_digests(texts: Iterable[str]) -> NDArray[np.uint64]:
    """A hash of 64 bits of each text, which stands for the text: of ten million texts, two have the same
    with a probability of 3 in a million."""
    digests = bytearray()
    for text in texts:
        digests += blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.frombuffer(digests, dtype=np.uint64)


EMPTY_DIGEST = text_digests([""])[0]
"""The digest of a text without characters."""


def repeated_places(digests: NDArray[np.uint64]) -> list[list[int]]:
    """The indices of equal digests, a list for each that occurs several times; not of empty texts."""
    first = first_places(digests)
    repeated = np.flatnonzero((np.bincount(first, minlength=1)[first] > 1) & (digests != EMPTY_DIGEST))
    groups: dict[int, list[int]] = {}
    for place, group in zip(repeated.tolist(), first[repeated].tolist(), strict=True):
        groups.setdefault(group, []).append(place)
    return [*groups.values()]


@dataclass(frozen=True)
class TextTrigrams:
    """The trigrams of texts, by which near-duplicates are found.

    MinHash buckets are computed for a few bands at a time: those of all bands take more memory than the
    trigrams of a short text.

    Attributes:
        values: Hashes of the distinct trigrams of each text, sorted, uint64 `[total]`.
        ends: Where each text begins in `values`, and the end, `[texts + 1]`.
    """

    values: NDArray[np.uint64]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "TextTrigrams":
        """The trigrams of texts, as `words_for_comparison` returns them; read in portions."""
        reader, stream = TrigramReader(), iter(texts)
        values, ends = bytearray(), bytearray(np.zeros(1, np.int64))  # which grow without a second copy
        while portion := [*_portion(stream)]:
            hashes, bounds = reader(portion)
            ends += (bounds[1:] + len(values) // hashes.itemsize).data
            values += hashes.data
            reader = TrigramReader() if reader.full else reader
        return cls(np.frombuffer(values, np.uint64), np.frombuffer(ends, np.int64))

    def bands(self, first: int, count: int) -> NDArray[np.uint64]:
        """The bucket of each text in the `count` bands from `first` on, uint64 `[texts, count]`."""
        factors, offsets, band_factors = MINHASHES
        rows = slice(first * _ROWS, (first + count) * _ROWS)
        return native.minhash_bands(self.values, self.ends, factors[rows], offsets[rows], band_factors)

    def similar_pairs(self, enough: float) -> NDArray[np.int64]:
        """Pairs of texts whose Jaccard similarity is at least `enough`, sorted, `[pairs, 2]`."""
        pairs = [
            native.similar_pairs(self.values, self.ends, self.bands(first, _AT_ONCE), MAX_BUCKET, enough)
            for first in range(0, BANDS, _AT_ONCE)
        ]
        return np.unique(np.concatenate(pairs), axis=0)

    def are_near(self, source: "TextTrigrams") -> NDArray[np.bool_]:
        """Whether each text is a near-duplicate of one of the source texts, `[texts]`."""
        similar = np.zeros(len(self.ends) - 1, dtype=np.uint8)
        for first in range(0, BANDS, _AT_ONCE):
            texts, sources = (
                (part.values, part.ends, part.bands(first, _AT_ONCE)) for part in (self, source)
            )
            similar |= native.has_similar(*texts, *sources, MAX_BUCKET, MIN_SIMILARITY)
        return similar.astype(np.bool_)


_AT_ONCE = 4  # bands
_PORTION = 1 << 22  # characters of texts that are read at once


def _portion(texts: Iterator[str]) -> Iterator[str]:
    """The next texts of about `_PORTION` characters."""
    size = 0
    while size < _PORTION and (text := next(texts, None)) is not None:
        size += len(text) + 1
        yield text
