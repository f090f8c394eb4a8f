"""Vocabulary: the words of a model and their ids."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError, HeadwiseError
from headwise.features.tokenize import plain_spelling
from headwise.features.vectors import Coverage, WordVectors, coverage

UNKNOWN = "<unk>"
Case = Literal["lower", "keep"]


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

    def __post_init__(self) -> None:
        _check_case(self.case)
        if not self.words or self.words[0] != UNKNOWN:
            actual = repr(self.words[0]) if self.words else "nothing"
            raise VocabularyError(
                f"The first word of a vocabulary must be {UNKNOWN!r}, but is {actual}.",
                code="HW221",
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
        _check_case(case)
        if min_count < 1 or (max_size is not None and max_size < 0):
            raise ConfigError(
                f"min_count={min_count}, max_size={max_size}: a vocabulary needs a min_count of 1 "
                "or more and a max_size that is not negative (or None)."
            )
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

    def coverage(self, vectors: WordVectors) -> Coverage:
        """How many of the training words in this vocabulary have a pretrained vector."""
        counted = zip(self.words[1:], self.counts[1:], strict=True)
        return coverage(vectors, {word: count for word, count in counted if count})

    def to_json(self) -> dict[str, Any]:
        """The vocabulary as plain JSON values."""
        return {"case": self.case, "words": list(self.words), "counts": list(self.counts)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Vocabulary":
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

    def __missing__(self, word: str) -> int:
        number = self.table.get(_normalize(word, self.case), 0)
        if len(self) < _CACHED:  # a server must not grow with every misspelling it is sent
            self[word] = number
        return number


def _normalize(word: str, case: Case) -> str:
    return plain_spelling(word.lower() if case == "lower" else word)


def _check_case(case: str) -> None:
    if case not in get_args(Case):
        raise ConfigError(f"case={case!r}: a vocabulary's case is 'lower' or 'keep'.")
