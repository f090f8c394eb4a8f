"""The vocabulary: the words of a model and their ids, and the pretrained vectors that cover them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.tokenizer import normalize_spelling
from headwise.text.text_configs import Case
from headwise.text.text_reader import TokenizedTexts, WordCache


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
    """

    words: list[str]
    matrix: NDArray[np.float32]
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
        """The row of `word`: as it is spelled, else in lower case, else normalised, else the first word
        that differs in case only."""
        rows = self._rows
        if word in rows:
            return rows[word]
        lower = word.lower()
        if lower in rows:
            return rows[lower]
        plain = normalize_spelling(word)
        return rows[plain] if plain in rows else self._rows_ignoring_case.get(plain.lower())

    @cached_property
    def _rows_ignoring_case(self) -> dict[str, int]:
        """The first row of each plain spelling in lower case."""
        first_rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            first_rows.setdefault(normalize_spelling(word).lower(), row)
        return first_rows


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

    def warning(self, file: object) -> str | None:
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


UNKNOWN = "<unk>"


class VocabularyError(HeadwiseError):
    """A vocabulary, usually that of a saved model, is not well formed."""

    code = "HW220"


@dataclass(frozen=True)
class Vocabulary:
    """A word vocabulary. Id 0 is `<unk>`; there is no padding id, as batches are ragged.

    Attributes:
        words: The words in their normal spelling, each once; the first is `<unk>`.
        counts: How often each occurred in training. 0 marks a word known only through pretrained
            vectors; the count of `<unk>` is that of the training words left out.
        case: `"lower"`: words are put in lower case; `"keep"`: they are not.
    """

    words: tuple[str, ...]
    counts: tuple[int, ...]
    case: Case = "lower"
    _ids: "_Ids" = field(init=False, repr=False, compare=False)
    _memo: WordCache = field(init=False, repr=False, compare=False, default_factory=WordCache)

    def __post_init__(self) -> None:
        if self.case not in get_args(Case):
            raise ConfigError(f"case={self.case!r}: a vocabulary's case is 'lower' or 'keep'.")
        if not self.words or self.words[0] != UNKNOWN:
            actual = repr(self.words[0]) if self.words else "nothing"
            raise VocabularyError(
                f"The first word of a vocabulary must be {UNKNOWN!r}, but is {actual}.", code="HW221"
            )
        if len(self.counts) != len(self.words):
            raise VocabularyError(
                f"{len(self.words)} words have {len(self.counts)} counts: one each is expected.",
                code="HW222",
            )
        ids = {word: number for number, word in enumerate(self.words)}
        if len(ids) != len(self.words):
            word, times = Counter(self.words).most_common(1)[0]
            raise VocabularyError(
                f"The word {word!r} occurs {times} times in the vocabulary: each word must occur once.",
                code="HW223",
            )
        object.__setattr__(self, "_ids", _Ids(ids, self.case))

    @classmethod
    def build(
        cls,
        token_lists: Iterable[Sequence[str]],
        *,
        min_count: int = 1,
        max_size: int | None = None,
        case: Case = "lower",
        extra_words: Iterable[str] = (),
    ) -> "Vocabulary":
        """The vocabulary of the training texts: most frequent first, then alphabetically.

        Args:
            token_lists: The words of each training text.
            min_count: Leave out words that occur less often.
            max_size: Keep at most this many words from the texts (`<unk>` and `extra_words` are
                not counted).
            case: See the class.
            extra_words: Words to add at the end, in this order, with count 0: those of pretrained
                vectors, so that they are known although no training text has them.
        """
        raw = Counter(chain.from_iterable(token_lists))
        counts: Counter[str] = Counter()
        for word, count in raw.items():
            counts[_normalize(word, case)] += count
        total = counts.total()
        del counts[UNKNOWN]
        frequent = [item for item in counts.items() if item[1] >= min_count]
        listed = dict(sorted(frequent, key=lambda item: (-item[1], item[0]))[:max_size])
        left_out = total - sum(listed.values())
        extras = dict.fromkeys(_normalize(word, case) for word in extra_words)
        added = [word for word in extras if word not in listed and word != UNKNOWN]
        numbers = (left_out, *listed.values(), *(0 for _ in added))
        return cls((UNKNOWN, *listed, *added), numbers, case)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def extra(self) -> int:
        """How many words at the end no training text has."""
        return len(self.counts) - 1 - max((n for n, count in enumerate(self.counts) if count), default=0)

    def __contains__(self, word: str) -> bool:
        return self._ids[word] != 0

    def normalize(self, word: str) -> str:
        """The spelling under which the vocabulary lists `word`: case, Penn quotes and brackets."""
        return _normalize(word, self.case)

    def encode(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of `words`, int64 `[words]`; 0 for those not known."""
        return np.fromiter(map(self._ids.__getitem__, words), dtype=np.int64, count=len(words))

    def encode_read(self, read: TokenizedTexts) -> NDArray[np.int64]:
        """The numbers of the words of all texts that were read together, int64 `[total]`."""
        return self._memo.of(read.lexicon, self.encode)[read.words]

    def coverage(self, vectors: WordVectors) -> Coverage:
        """How many of the training words in this vocabulary have a pretrained vector."""
        counted = zip(self.words[1:], self.counts[1:], strict=True)
        return coverage(vectors, {word: count for word, count in counted if count})

    def to_json(self) -> JsonObject:
        """The vocabulary as plain JSON values."""
        return {"case": self.case, "words": list(self.words), "counts": list(self.counts)}

    @classmethod
    def from_json(cls, data: JsonMapping) -> "Vocabulary":
        """The vocabulary that `to_json` wrote.

        Raises:
            VocabularyError: HW220 not such data, HW221 `<unk>` is not first, HW222 not one count
                a word, HW223 a word twice.
            ConfigError: An unknown `case`.
        """
        if not isinstance(data, Mapping) or set(data) != {"case", "words", "counts"}:
            content = f"keys {sorted(map(str, data))}" if isinstance(data, Mapping) else repr(data)
            raise VocabularyError(
                f"A vocabulary has the keys 'case', 'words' and 'counts'; found: {content:.200}."
            )
        words, counts = data["words"], data["counts"]
        for key, values, kind in (("words", words, str), ("counts", counts, int)):
            if not isinstance(values, list):
                raise VocabularyError(
                    f"{key!r} of a vocabulary must be a list, not {type(values).__name__}."
                )
            for place, value in enumerate(values):
                if type(value) is not kind or (isinstance(value, int) and value < 0):
                    raise VocabularyError(
                        f"{key!r} of a vocabulary, item {place}: {value!r:.80} is not "
                        f"{'a text' if kind is str else 'a whole number of 0 or more'}."
                    )
        return cls(tuple(words), tuple(counts), data["case"])


_CACHED = 1 << 20


class _Ids(dict[str, int]):
    """Mapping from a word as written to its id. Spellings are normalised once, then cached."""

    def __init__(self, table: dict[str, int], case: Case):
        super().__init__()
        self.table = table
        self.case: Case = case

    def __reduce__(self) -> tuple[type["_Ids"], tuple[dict[str, int], Case]]:
        return _Ids, (self.table, self.case)  # copies and other processes begin without cached words

    def __missing__(self, word: str) -> int:
        number = self.table.get(_normalize(word, self.case), 0)
        if len(self) < _CACHED:  # a server must not grow with every misspelling it is sent
            self[word] = number
        return number


def _normalize(word: str, case: Case) -> str:
    return normalize_spelling(word.lower() if case == "lower" else word)
