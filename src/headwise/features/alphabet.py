"""Alphabet: the character vocabulary of a model."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.errors import ConfigError, HeadwiseError
from headwise.features.tokenize import plain_spelling

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

    Characters are normalised by `headwise.features.tokenize.plain_spelling`; case is kept.

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
        if min_count < 1:
            raise ConfigError(f"min_count={min_count}: an alphabet needs a min_count of 1 or more")
        counts: Counter[str] = Counter()
        for word, times in Counter(words).items():
            for character in plain_spelling(word):
                counts[character] += times
        frequent = [character for character, count in counts.items() if count >= min_count]
        return cls(tuple(sorted(frequent, key=lambda character: (-counts[character], character))))

    def __len__(self) -> int:
        """Number of ids, including the three reserved ones."""
        return len(self.characters) + _RESERVED

    def encode(self, word: str) -> NDArray[np.int64]:
        """Character ids of a word between its begin and end marks, int64 `[characters + 2]`."""
        characters = [self._ids.get(character, UNKNOWN) for character in plain_spelling(word)]
        return np.array([BEGIN, *characters, END], dtype=np.int64)

    def to_json(self) -> dict[str, Any]:
        """The alphabet as plain JSON values."""
        return {"characters": list(self.characters)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Alphabet":
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
