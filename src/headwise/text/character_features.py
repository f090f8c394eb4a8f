"""Features of words beside their vectors: characters, hashed n-grams, word shape and clusters.

The `Alphabet` is the character vocabulary of a model. N-grams follow Hashimoto, Xiong, Tsuruoka, Socher
(EMNLP 2017: JMT). The shape of a word tells its capitals, digits and punctuation.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import HeadwiseError
from headwise.core.tokenizer import normalize_spelling
from headwise.text.static_embeddings.word_groups import cluster_rows
from headwise.text.text_configs import CharacterConfig

UNKNOWN, BEGIN, END = 0, 1, 2
_RESERVED = 3


class AlphabetError(HeadwiseError):
    """An alphabet, usually that of a saved model, is not well formed.

    Codes: HW224 not such data, HW225 a character twice.
    """

    code = "HW224"


@dataclass(frozen=True)
class Alphabet:
    """A character vocabulary. Id 0 is an unknown character, 1 marks the beginning of a word, 2 its end.

    Characters are normalised by `headwise.core.tokenizer.normalize_spelling`; case is kept.

    Attributes:
        characters: The characters with ids from 3 on, without repetition.
    """

    characters: tuple[str, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for place, character in enumerate(self.characters):
            if not isinstance(character, str) or len(character) != 1:
                raise AlphabetError(f"item {place} of an alphabet is not one character: {character!r:.80}")
        ids = {character: number for number, character in enumerate(self.characters, _RESERVED)}
        if len(ids) != len(self.characters):
            character, times = Counter(self.characters).most_common(1)[0]
            raise AlphabetError(
                f"the character {character!r} occurs {times} times in the alphabet: each must occur once",
                code="HW225",
            )
        object.__setattr__(self, "_ids", ids)

    @classmethod
    def build(cls, words: Iterable[str], *, min_count: int = 1) -> "Alphabet":
        """The characters of the training words: most frequent first, then by code point.

        Args:
            words: All tokens of the training texts, with repetitions.
            min_count: Characters with a lower count are left out.
        """
        counts: Counter[str] = Counter()
        for word, times in Counter(words).items():
            for character in normalize_spelling(word):
                counts[character] += times
        frequent = [character for character, count in counts.items() if count >= min_count]
        return cls(tuple(sorted(frequent, key=lambda character: (-counts[character], character))))

    def extended(self, alphabet: "Alphabet") -> "Alphabet":
        """This alphabet, and behind it the characters of another one that it lacks."""
        return Alphabet(tuple(dict.fromkeys([*self.characters, *alphabet.characters])))

    def __len__(self) -> int:
        """Number of ids, including the three reserved ones."""
        return len(self.characters) + _RESERVED

    def encode(self, word: str) -> NDArray[np.int64]:
        """Character ids of a word between its begin and end marks, int64 `[characters + 2]`."""
        characters = [self._ids.get(character, UNKNOWN) for character in normalize_spelling(word)]
        return np.array([BEGIN, *characters, END], dtype=np.int64)

    def to_json(self) -> dict[str, object]:
        """The alphabet as plain JSON values."""
        return {"characters": list(self.characters)}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "Alphabet":
        """The alphabet that `to_json` wrote.

        Raises:
            AlphabetError: HW224 not such data, HW225 a character twice.
        """
        if not isinstance(data, Mapping) or set(data) != {"characters"}:
            description = f"keys {sorted(map(str, data))}" if isinstance(data, Mapping) else repr(data)
            raise AlphabetError(f"an alphabet has the key 'characters' alone; found: {description:.200}")
        if not isinstance(data["characters"], list):
            kind = type(data["characters"]).__name__
            raise AlphabetError(f"'characters' of an alphabet must be a list, not {kind}")
        return cls(tuple(data["characters"]))


_BEGIN, _END = "\x02", "\x03"


def ngram_buckets(word: str, longest: int, buckets: int) -> NDArray[np.int64]:
    """Hash buckets of the distinct n-grams of a word, n from 1 to `longest`.

    As in JMT, n-grams of two and more also take in the ends of the word, and one that occurs twice counts
    once. The hash (CRC-32 of UTF-8) is the same on every machine.

    Args:
        longest: Characters of the longest n-grams, 1 or more.
        buckets: Into how many the n-grams are spread.

    Returns:
        Numbers from 0 to `buckets - 1`, in an order that depends on the word alone, `[n-grams]`.
    """
    bounded = f"{_BEGIN}{word}{_END}"
    grams = dict.fromkeys(word)
    for n in range(2, longest + 1):
        grams.update(dict.fromkeys(bounded[at : at + n] for at in range(len(bounded) - n + 1)))
    # Texts from files may hold lone surrogates, which plain UTF-8 refuses.
    hashes = [crc32(gram.encode("utf-8", "surrogatepass")) % buckets for gram in grams]
    return np.array(hashes, dtype=np.int64)


SHAPES = ("lower", "title", "upper", "mixed", "digit", "number", "punctuation", "hyphen", "not ascii")
"""The features of `word_shape`. The first four exclude one another and are all 0 for a word without cased
letters; `title` is one capital, the first letter (`The`, `I`), `upper` two or more letters, all
capitals."""


def word_shape(word: str) -> NDArray[np.float32]:
    """1 or 0 for each of `SHAPES`."""
    cased = [c for c in word if c.isupper() or c.islower() or c.istitle()]
    capitals = sum(not c.islower() for c in cased)
    first = bool(cased) and not cased[0].islower()
    digits = sum(c.isdigit() for c in word)
    letters = sum(c.isalpha() for c in word)
    lower = bool(cased) and capitals == 0
    title = first and capitals == 1
    upper = capitals == len(cased) > 1
    flags = (
        lower,
        title,
        upper,
        bool(cased) and not (lower or title or upper),
        digits > 0,
        digits > 0 and letters == 0,
        digits + letters < len(word),
        "-" in word,
        not word.isascii(),
    )
    return np.array(flags, dtype=np.float32)


_CACHED = 1 << 17  # distinct words whose features are cached, at less than a kilobyte each
_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class CharacterFeatures:
    """Character features of one word.

    Attributes:
        characters: Character ids with the marks of both ends, int64 `[characters + 2]`.
        ngrams: Hash buckets of its n-grams, int64 `[n-grams]`.
        shape: See `word_shape`, float32 `[shapes]`.
        clusters: Rows of its clusters (see `cluster_rows`), int64 `[levels]`; empty without clusters.
    """

    characters: NDArray[np.int64]
    ngrams: NDArray[np.int64]
    shape: NDArray[np.float32]
    clusters: NDArray[np.int64]


class ClusterLookup(Protocol):
    """Whatever knows the clusters of words, such as `WordClusters`."""

    def of(self, words: Sequence[str], /) -> NDArray[np.int16]:
        """Clusters of words as written, `[words, levels]`."""
        ...


class CharacterFeatureCache(dict[str, CharacterFeatures]):
    """Mapping from a word to its `CharacterFeatures`; caches up to `_CACHED` words."""

    def __init__(
        self,
        config: CharacterConfig,
        alphabet: Alphabet,
        clusters: ClusterLookup | None = None,
    ):
        super().__init__()
        self.config, self.alphabet, self.clusters = config, alphabet, clusters

    def __reduce__(self) -> tuple[type["CharacterFeatureCache"], tuple[Any, ...]]:
        return CharacterFeatureCache, (self.config, self.alphabet, self.clusters)  # without cached words

    def __missing__(self, word: str) -> CharacterFeatures:
        plain, c = normalize_spelling(word), self.config
        spelling = CharacterFeatures(
            self.alphabet.encode(word) if c.network != "none" else _NOTHING,
            ngram_buckets(plain, c.longest_ngram, c.buckets) if c.ngrams else _NOTHING,
            word_shape(plain),
            _NOTHING if self.clusters is None else cluster_rows(self.clusters.of([word]))[0],
        )
        if len(self) < _CACHED:
            self[word] = spelling
        return spelling


@dataclass(frozen=True, slots=True)
class CharacterInput:
    """The words of a text, for character features, and its pieces if the embedding reads any."""

    words: tuple[str, ...]
    pieces: Any = None


Prepare = Callable[[Sequence[Sequence[str]]], Sequence[object]]
"""From tokenised texts to the pieces of each."""


def character_encoder(prepare: Prepare | None) -> Callable[[Sequence[Sequence[str]]], list[CharacterInput]]:
    """A function from tokenised texts to a `CharacterInput` of each; `prepare` computes the pieces."""
    return partial(_spell, prepare)  # picklable, as scikit-learn requires of estimators


def _spell(prepare: Prepare | None, texts: Sequence[Sequence[str]]) -> list[CharacterInput]:
    pieces = [None] * len(texts) if prepare is None else prepare(texts)
    return [
        CharacterInput(tuple(words), text_pieces) for words, text_pieces in zip(texts, pieces, strict=True)
    ]
