"""Pretrained word vectors, and their coverage of a vocabulary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headwise.errors import HeadwiseError
from headwise.features.tokenize import plain_spelling

if TYPE_CHECKING:
    from headwise.features.vocabulary import Vocabulary


class VectorsError(HeadwiseError):
    """A file of word vectors cannot be read.

    Codes: HW200 the file itself (missing, damaged, a kind that is not read), HW201 empty,
    HW202 a row of the wrong length, HW203 not a number, HW204 NaN or infinite,
    HW205 the file does not hold as many words as it or its word list says.
    """

    code = "HW200"


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Attributes:
        words: The words, each once, in the order of the file (usually most frequent first).
        matrix: Their vectors, float32 `[words, size]`.
        duplicates: Rows of the file that were left out because their word had come before.
    """

    words: list[str]
    matrix: NDArray[np.float32]
    duplicates: int = 0
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.words) != len(self.matrix):
            raise VectorsError(
                f"{len(self.words)} words do not fit a matrix of shape {self.matrix.shape}: "
                "one row a word is expected.",
                code="HW205",
            )
        rows = {word: row for row, word in enumerate(self.words)}
        object.__setattr__(self, "_rows", rows)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return self.row(word) is not None

    @property
    def size(self) -> int:
        """The number of dimensions."""
        return self.matrix.shape[1]

    def row(self, word: str) -> int | None:
        """The row of `word`: as it stands, else in lower case, else in its plain spelling, else the first
        that is spelled alike but for case."""
        rows = self._rows
        if word in rows:
            return rows[word]
        lower = word.lower()
        if lower in rows:
            return rows[lower]
        plain = plain_spelling(word)
        return rows[plain] if plain in rows else self._alike.get(plain.lower())

    @cached_property
    def _alike(self) -> dict[str, int]:
        """The first row of each plain spelling in lower case."""
        first_rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            first_rows.setdefault(plain_spelling(word).lower(), row)
        return first_rows

    def lookup(self, word: str) -> NDArray[np.float32] | None:
        """The vector of `word` `[size]`, found as `row` finds it, or None."""
        row = self.row(word)
        return None if row is None else self.matrix[row]


_FEW_KNOWN = 50.0
"""Token coverage in percent below which the vectors hardly fit the texts."""


@dataclass(frozen=True)
class Coverage:
    """How much of a vocabulary has a vector: distinct words (types) and running words (tokens)."""

    types_found: int
    types: int
    tokens_found: int
    tokens: int

    @property
    def type_percent(self) -> float:
        """Distinct words that have a vector, in percent (0 where there are none)."""
        return 100 * self.types_found / self.types if self.types else 0.0

    @property
    def token_percent(self) -> float:
        """Running words that have a vector, in percent (0 where there are none)."""
        return 100 * self.tokens_found / self.tokens if self.tokens else 0.0

    def trouble(self, file: object) -> str | None:
        """A warning if the vectors of a file hardly fit the texts; else None."""
        if self.token_percent >= _FEW_KNOWN:
            return None
        return (
            f"{file} has vectors of {self.token_percent:.1f} % of the words of the texts; the others begin "
            "with random ones: take vectors of their language and spelling"
        )

    def __str__(self) -> str:
        return (
            f"tokens {self.token_percent:.1f} % ({self.tokens_found:,} of {self.tokens:,}), "
            f"types {self.type_percent:.1f} % ({self.types_found:,} of {self.types:,})"
        )


def coverage(vectors: WordVectors, counts: Mapping[str, int]) -> Coverage:
    """How many of the counted words have a vector."""
    covered = [count for word, count in counts.items() if word in vectors]
    return Coverage(len(covered), len(counts), sum(covered), sum(counts.values()))


def matrix_for(
    vocabulary: "Vocabulary", vectors: WordVectors, *, seed: int, scale: float = 1.0
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The initial embedding matrix of a vocabulary.

    A word in `vectors` gets its vector. The others are drawn from a normal distribution whose standard
    deviation is that of the matched rows times `scale` (of all vectors if no word matches, 1 if there are
    no vectors). `<unk>`, unless it has a vector, is the mean of the matched rows (0 if no word matches).

    Returns:
        The matrix, float32 `[len(vocabulary), vectors.size]`, and which rows were found,
        bool `[len(vocabulary)]`.
    """
    rows = np.array([-1 if (row := vectors.row(word)) is None else row for word in vocabulary.words])
    has_vector = rows >= 0
    pretrained = vectors.matrix[rows[has_vector]]
    basis = pretrained if len(pretrained) else vectors.matrix
    std = (float(basis.std()) if len(basis) else 1.0) * scale
    matrix = np.empty((len(vocabulary), vectors.size), dtype=np.float32)
    matrix[has_vector] = pretrained
    noise = np.random.default_rng(seed).standard_normal((int((~has_vector).sum()), vectors.size))
    matrix[~has_vector] = noise * std
    if not has_vector[0]:
        matrix[0] = pretrained.mean(axis=0) if len(pretrained) else 0.0
    return matrix, has_vector
