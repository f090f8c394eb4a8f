"""The vocabulary of a language model: characters, words or bytes, with their ids and counts.

Codes: HW280 a symbol that the vocabulary does not have; HW281 a vocabulary that cannot be read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.metrics.perplexity import Unit

UNKNOWN = "<unk>"
END_OF_LINE = "<eos>"
"""The symbol for the end of a line in vocabularies of words."""

_NO_ID = -1


@dataclass(frozen=True)
class SymbolVocabulary:
    """A vocabulary; the id of a symbol is its index in `names`.

    Attributes:
        unit: The unit of symbols.
        names: The symbols: characters, words, or bytes as the characters with the same code points.
        counts: The count of each symbol in the training data.
        unknown: The id of the unknown symbol, if there is one.
    """

    unit: Unit
    names: tuple[str, ...]
    counts: tuple[int, ...]
    unknown: int | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def dtype(self) -> np.dtype:
        """The smallest integer type that holds the ids: uint8, uint16 or int32."""
        size = len(self.names)
        return np.dtype(np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int32)

    def encode(self, symbols: str | Sequence[str] | bytes) -> NDArray[np.integer]:
        """The ids of symbols, `[symbols]`, of the type `dtype`.

        Args:
            symbols: A text (of characters), words, or bytes.

        Raises:
            DataError: HW280, a symbol is not in the vocabulary, which has no unknown symbol.
        """
        if isinstance(symbols, bytes):
            ids = self._table[np.frombuffer(symbols, dtype=np.uint8)]
        elif self.unit == "words":
            numbers = self._numbers
            fallback = _NO_ID if self.unknown is None else self.unknown
            ids = np.array([numbers.get(word, fallback) for word in symbols], dtype=np.int32)
        else:
            ids = self._table[code_points("".join(symbols))]
        if self.unknown is None and len(ids) and ids.min() == _NO_ID:
            strange = symbols[int(ids.argmin())]
            shown = strange if isinstance(strange, str) else chr(strange)
            problem = f"{shown!r} is not in the vocabulary of {len(self)} {self.unit}"
            advice = "make a vocabulary with a symbol for unknown ones, or from all files"
            raise DataError("HW280", problem, advice=advice)
        return ids.astype(self.dtype)

    def decode(self, numbers: ArrayLike) -> str:
        """The text of a sequence of ids: words joined by spaces, bytes decoded as UTF-8.

        Unknown characters and invalid bytes become U+FFFD.
        """
        names = [self.names[number] for number in np.asarray(numbers).tolist()]
        if self.unit == "words":
            lines = " ".join("\n" if name == END_OF_LINE else name for name in names)
            return lines.replace(" \n", "\n").replace("\n ", "\n")
        if self.unit == "bytes":
            return "".join(names).encode("latin-1").decode("utf-8", "replace")
        return "".join("\ufffd" if name == UNKNOWN else name for name in names)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def _table(self) -> NDArray[np.int32]:
        """The id of each code point (or byte), `[0x110000]`."""
        table = np.full(0x110000, _NO_ID if self.unknown is None else self.unknown, dtype=np.int32)
        for number, name in enumerate(self.names):
            if len(name) == 1:
                table[ord(name)] = number
        return table

    def to_json(self) -> dict[str, object]:
        """A JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: JsonMapping) -> "SymbolVocabulary":
        """The inverse of `to_json`.

        Raises:
            DataError: HW281.
        """
        try:
            unit, unknown = data["unit"], data["unknown"]
            names, counts = tuple(data["names"]), tuple(data["counts"])
        except (KeyError, TypeError) as error:
            raise DataError("HW281", f"a vocabulary without {error}") from None
        good = (
            unit in get_args(Unit)
            and all(isinstance(name, str) for name in names)
            and all(type(count) is int and count >= 0 for count in counts)
            and len(set(names)) == len(names) == len(counts)
            and (unknown is None or (type(unknown) is int and 0 <= unknown < len(names)))
        )
        if not good:
            expected = "different names, a count for each, and the number of the unknown symbol or null"
            raise DataError("HW281", "a vocabulary that is damaged", expected=expected)
        return cls(unit, names, counts, unknown)


def code_points(text: str) -> NDArray[np.uint32]:
    """The Unicode code points of a text, `[characters]`."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def choose_symbols(
    unit: Unit,
    counts: Mapping[str, int],
    *,
    size: int | None = None,
    min_count: int = 1,
    unknown: bool = True,
) -> SymbolVocabulary:
    """A vocabulary of the most frequent symbols, with ties broken by name.

    Args:
        size: The largest number of symbols, including the unknown symbol.
        min_count: The least count of a symbol.
        unknown: Whether to add an unknown symbol (`<unk>`, which the text may also contain). Not for bytes.

    Raises:
        ConfigError: A size or count is below 1; or symbols would be left out without an unknown symbol.
    """
    unknown = unknown and unit != "bytes"
    if min_count < 1 or (size is not None and size < 1 + unknown):
        least = "2 or more, one of which is for all others," if unknown else "1 or more"
        raise ConfigError(
            f"a vocabulary of {size} {unit} with min_count {min_count}; expected {least} and a min_count "
            "of 1 or more"
        )
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    names = [name for name in ranked if counts[name] >= min_count or (unknown and name == UNKNOWN)]
    if unknown and UNKNOWN not in names[:size]:
        names = [*names[: None if size is None else size - 1], UNKNOWN]
    names = names[:size]
    left_out = sum(counts.values()) - sum(counts.get(name, 0) for name in names)
    if left_out and not unknown:
        raise ConfigError(
            f"a vocabulary of {len(names)} {unit} leaves some out, with no symbol for unknown ones"
        )
    number = names.index(UNKNOWN) if unknown else None
    name_counts = [counts.get(name, 0) for name in names]
    if number is not None:
        name_counts[number] += left_out
    return SymbolVocabulary(unit, tuple(names), tuple(name_counts), number)
