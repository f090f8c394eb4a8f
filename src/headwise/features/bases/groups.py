"""WordGroups: words that stand among the same neighbours, as groups at several levels of fineness.

What a word may be in a sentence shows in what stands beside it (Schütze 1995), and groups of such words are
what a linear tagger learns most from texts without labels (as Brown clusters: Miller, Guinness & Zamanian
2004; Turian, Ratinov & Bengio 2010). `headwise.pretrain.neighbours` makes them.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError
from headwise.features.bases.spelling import other_spelling, parts
from headwise.features.tokenize import plain_spelling

LEVELS = (8, 32, 128, 512, 2048)
"""Into how many groups the words are put, once for each of these."""
UNKNOWN = -1
"""The group of a word that has none, at every level."""


def key_of_word(word: str) -> int:
    """The number of 32 bits by which a word in its plain lower-case spelling is known."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class WordGroups:
    """Groups of words. A word is known by its hash, so that no list of strings is needed: among 60,000
    words one unknown word in 70,000 is taken for a known one.

    Attributes:
        keys: Of the words (see `key_of_word`), each once, `[words]`, uint32.
        numbers: Their groups, `[words, levels]`, int16.

    Raises:
        ConfigError: The two do not fit.
    """

    keys: NDArray[np.uint32]
    numbers: NDArray[np.int16]
    _known: "_Known" = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.numbers.shape != (len(self.keys), len(LEVELS)):
            raise ConfigError(
                f"groups of {len(self.keys):,} words at {len(LEVELS)} levels have numbers of "
                f"{self.numbers.shape}"
            )
        known = _Known(self.keys)
        if len(known) < len(self.keys):
            raise ConfigError("groups of words: a key stands there twice")
        object.__setattr__(self, "_known", known)

    def __len__(self) -> int:
        """Number of words."""
        return len(self.keys)

    def of(self, words: Sequence[str]) -> NDArray[np.int16]:
        """The groups of words as written, `[words, levels]`."""
        rows = np.fromiter(map(self._row, words), np.int64, len(words))
        found = np.full((len(words), len(LEVELS)), UNKNOWN, dtype=np.int16)
        found[rows >= 0] = self.numbers[rows[rows >= 0]]
        return found

    def _row(self, word: str) -> int:
        plain = plain_spelling(word.lower())
        row = self._known.get(plain)
        if row is None:
            row = other_spelling(plain, self._known)
        if row is None:  # a compound is what its last part is
            row = (parts(plain, self._known) or [-1])[-1]
        return row


class _Known(Mapping[str, int]):
    """The rows of words, by the hashes of these."""

    def __init__(self, keys: NDArray[np.uint32]):
        self._rows = {key: row for row, key in enumerate(keys.tolist())}

    def __getitem__(self, word: str) -> int:
        return self._rows[key_of_word(word)]

    def __iter__(self) -> Iterator[str]:
        raise TypeError("only the hashes of the words are known")

    def __len__(self) -> int:
        return len(self._rows)
