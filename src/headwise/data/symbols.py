"""The vocabulary of a language model: characters, words or bytes, with their numbers and counts.

Codes: HW280 a symbol that the vocabulary does not have; HW281 a vocabulary that cannot be read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headwise.data.errors import DataError
from headwise.errors import ConfigError

Unit = Literal["characters", "words", "bytes"]

UNKNOWN = "<unk>"
END_OF_LINE = "<eos>"
"""What stands for the end of a line among words."""

_NONE = -1


@dataclass(frozen=True)
class Symbols:
    """A vocabulary; the number of a symbol is its place.

    Attributes:
        unit: What a symbol is.
        names: The symbols: characters, words, or bytes as the characters of the same numbers.
        counts: How often each occurred where the vocabulary was made.
        unknown: The number of the symbol that stands for all others, if there is one.
    """

    unit: Unit
    names: tuple[str, ...]
    counts: tuple[int, ...]
    unknown: int | None = None

    def __len__(self) -> int:
        return len(self.names)

    @property
    def dtype(self) -> np.dtype:
        """The smallest type that holds the numbers: uint8, uint16 or int32."""
        size = len(self.names)
        return np.dtype(np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.int32)

    def encode(self, symbols: str | Sequence[str] | bytes) -> NDArray[Any]:
        """The numbers of symbols, `[symbols]`, of the type `dtype`.

        Args:
            symbols: A text (of characters), words, or bytes.

        Raises:
            DataError: HW280, if there is no number for a symbol nor for unknown ones.
        """
        if isinstance(symbols, bytes):
            found = self._table[np.frombuffer(symbols, dtype=np.uint8)]
        elif self.unit == "words":
            numbers = self._numbers
            other = _NONE if self.unknown is None else self.unknown
            found = np.array([numbers.get(word, other) for word in symbols], dtype=np.int32)
        else:
            found = self._table[code_points("".join(symbols))]
        if self.unknown is None and len(found) and found.min() == _NONE:
            strange = symbols[int(found.argmin())]
            shown = strange if isinstance(strange, str) else chr(strange)
            raise DataError(
                "HW280",
                f"{shown!r} is not in the vocabulary of {len(self)} {self.unit}",
                advice="make a vocabulary with a symbol for unknown ones, or from all files",
            )
        return found.astype(self.dtype)

    def decode(self, numbers: ArrayLike) -> str:
        """The text of numbers: words with spaces between them, bytes read as UTF-8.

        An unknown character is shown as U+FFFD, and so are bytes that are not UTF-8.
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
        """The number of each code point (of each byte)."""
        table = np.full(0x110000, _NONE if self.unknown is None else self.unknown, dtype=np.int32)
        for number, name in enumerate(self.names):
            if len(name) == 1:
                table[ord(name)] = number
        return table

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Symbols":
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
    """The numbers of the characters in Unicode, `[characters]`."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def choose_symbols(
    unit: Unit,
    counts: Mapping[str, int],
    *,
    size: int | None = None,
    min_count: int = 1,
    unknown: bool = True,
) -> Symbols:
    """A vocabulary of the most frequent symbols; of equally frequent ones the first by name.

    Args:
        unit: What a symbol is.
        counts: How often each occurs.
        size: How many symbols there are at most, the unknown one included.
        min_count: How often a symbol has to occur at least.
        unknown: Whether there is a symbol for all others (`<unk>`, which the text may use itself). Bytes
            have none.

    Raises:
        ConfigError: A size or count is below 1; symbols would be left out with none for unknown ones.
    """
    unknown = unknown and unit != "bytes"
    if min_count < 1 or (size is not None and size < 1 + unknown):
        least = "2 or more, one of which is for all others," if unknown else "1 or more"
        raise ConfigError(
            f"a vocabulary of {size} {unit} with min_count {min_count}; expected {least} and a min_count "
            "of 1 or more"
        )
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    kept = [name for name in ranked if counts[name] >= min_count or (unknown and name == UNKNOWN)]
    if unknown and UNKNOWN not in kept[:size]:
        kept = [*kept[: None if size is None else size - 1], UNKNOWN]
    kept = kept[:size]
    left_out = sum(counts.values()) - sum(counts.get(name, 0) for name in kept)
    if left_out and not unknown:
        raise ConfigError(
            f"a vocabulary of {len(kept)} {unit} leaves some out, with no symbol for unknown ones"
        )
    number = kept.index(UNKNOWN) if unknown else None
    own = [counts.get(name, 0) for name in kept]
    if number is not None:
        own[number] += left_out
    return Symbols(unit, tuple(kept), tuple(own), number)
