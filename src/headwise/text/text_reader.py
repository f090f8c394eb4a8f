"""TextReader: cuts texts into words, once for the encoder and the linear model.

Texts consist of few different pieces between white space. The compiled `PieceTable` finds the pieces of a
text in a table; a piece that is new is normalised and tokenised in Python, and remembered. Everything that
depends on a piece or a word alone (its id, its vector, its features) is computed once for each different
one by those who need it, and then looked up by the index of the piece or the word.

Where the words of a piece depend on the text after it (an initial, an HTML tag), the pieces form one.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.tokenizer import Tokenizer, ends_with_initial, get_tokenizer

MOST_PIECES = 1 << 19
MOST_CHARACTERS = 1 << 24
"""Pieces, and characters of pieces, that are remembered; beyond them a reader begins anew."""
_PORTION = 1 << 22
"""Characters that are read at once."""
_RECENT = 1 << 13  # texts of the last reading that are remembered

Indices = NDArray[np.int32]
Offsets = NDArray[np.int64]


class Lexicon:
    """The different pieces and words of texts, which are numbered in order of appearance.

    Attributes:
        pieces: The pieces in their normal spelling; a piece that forms one with the next holds white space.
        words: The words.
    """

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.pieces: list[str] = []
        self.words: list[str] = []
        self._table = native.PieceTable(tokenizer.looks_ahead)
        self._indices: dict[str, int] = {}

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)

    @property
    def full(self) -> bool:
        """Whether it is to be replaced by a new one."""
        table = self._table
        most = max(table.size, len(self.words))
        return most > MOST_PIECES or table.characters > MOST_CHARACTERS

    def read(self, texts: list[str]) -> tuple[Indices, Offsets, Indices, Offsets]:
        """The words of texts, the offsets of the texts in them, the pieces, and the offsets in these."""
        pieces, piece_ends, new = self._table.cut(texts)
        if new:
            self._add(new)
        words, ends, general = self._table.tokens(pieces, piece_ends)
        if general.any():
            words, ends = self._read_again(texts, general.tolist(), words, ends)
        return words, ends, pieces, piece_ends

    def _add(self, new: list[str]) -> None:
        """Tokenise new pieces."""
        tokenizer, normalize = self.tokenizer, self.tokenizer.normalize
        plain = [piece if piece.isascii() else normalize(piece) for piece in new]
        words = [
            (piece,) if piece.isalpha() and piece.isascii() else tokenizer.words(piece) for piece in plain
        ]
        general = np.zeros(len(new), dtype=np.uint8)
        if tokenizer.looks_ahead:
            for place, (piece, normal) in enumerate(zip(new, plain, strict=True)):
                general[place] = piece is not normal and _is_disguised(piece, normal)
        ends = np.zeros(len(new) + 1, dtype=np.int64)
        np.cumsum(list(map(len, words)), out=ends[1:])
        self._table.add_tokens(self._numbers(chain.from_iterable(words)), ends, general)
        self.pieces += plain

    def _numbers(self, words: Iterable[str]) -> Indices:
        numbers, indices, listed = [], self._indices, self.words
        for word in words:
            number = indices.get(word)
            if number is None:
                number = indices[word] = len(listed)
                listed.append(word)
            numbers.append(number)
        return np.array(numbers, dtype=np.int32)

    def _read_again(
        self, texts: Sequence[str], general: Sequence[int], words: Indices, ends: Offsets
    ) -> tuple[Indices, Offsets]:
        """Tokenise complete texts of which the pieces between white space are not enough to find the
        words."""
        parts = [
            self._numbers(self.tokenizer.words(text)) if again else words[start:end]
            for text, again, start, end in zip(texts, general, ends, ends[1:], strict=False)
        ]
        ends = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum(list(map(len, parts)), out=ends[1:])
        return np.concatenate(parts), ends


def _is_disguised(piece: str, normal: str) -> bool:
    """Whether only the normal spelling of a piece shows that its words depend on the text after it."""
    return (
        normal.count("<") != piece.count("<")
        or normal.count(">") != piece.count(">")
        or ends_with_initial(normal) != ends_with_initial(piece)
    )


@dataclass(frozen=True, eq=False)
class TokenizedTexts(Sequence[list[str]]):
    """Texts that were read together; a sequence of their words.

    Attributes:
        lexicon: The different pieces and words.
        words: Indices of the words in `lexicon.words`, `[total]`, int32.
        ends: Offsets of the texts in `words`, `[texts + 1]`.
        pieces: Indices of the pieces in `lexicon.pieces`, int32.
        piece_ends: Offsets of the texts in `pieces`, `[texts + 1]`.
    """

    lexicon: Lexicon
    words: Indices
    ends: Offsets
    pieces: Indices = field(repr=False)
    piece_ends: Offsets = field(repr=False)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        place %= len(self)
        listed = self.lexicon.words
        return [listed[word] for word in self.words[self.ends[place] : self.ends[place + 1]].tolist()]


_MEMO_LOCK = RLock()


class WordCache:
    """A number of each word of a lexicon, which is computed once."""

    def __init__(self) -> None:
        self._lexicon: Lexicon | None = None
        self._values: NDArray = np.zeros(0)
        self._size = 0

    def __reduce__(self) -> tuple[type["WordCache"], tuple[()]]:
        return WordCache, ()  # copies and other processes begin anew

    def of(self, lexicon: Lexicon, compute: Callable[[list[str]], NDArray]) -> NDArray:
        """The numbers of the words of a lexicon, `[words]`."""
        with _MEMO_LOCK:
            if lexicon is not self._lexicon:
                # Of the type of the numbers, also while no text has had a word.
                self._lexicon, self._values, self._size = lexicon, compute([]), 0
            if (total := len(lexicon)) > self._size:
                new = compute(lexicon.words[self._size : total])
                self._values = grown(self._values, self._size, total)
                self._values[self._size : total] = new
                self._size = total
            return self._values[:total]


def grown(array: NDArray, size: int, needed: int) -> NDArray:
    """An array with room for `needed` values, whose first `size` values are those of `array`."""
    if needed <= len(array):
        return array
    longer = np.zeros(2 * needed, dtype=array.dtype)
    longer[:size] = array[:size]
    return longer


class TextReader:
    """Reads texts with a tokenizer; of bounded memory. Threads may share it.

    Raises:
        ConfigError: There is no such tokenizer.
    """

    def __init__(self, name: str):
        self.name, self.tokenizer = name, get_tokenizer(name)
        self._lexicon = Lexicon(self.tokenizer)
        self._lock = RLock()
        self._recent: tuple[list[str], TokenizedTexts] | None = None

    def __reduce__(self) -> tuple[Callable[[str], "TextReader"], tuple[str]]:
        return text_reader, (self.name,)

    def read(self, texts: Sequence[str]) -> TokenizedTexts:
        """The words and pieces of texts. The texts that were read last are not read again."""
        with self._lock:
            if self._recent is not None:
                before, read = self._recent
                if len(before) == len(texts) and all(map(operator.is_, before, texts)):
                    return read
            if self._lexicon.full:
                self._lexicon = Lexicon(self.tokenizer)
            listed = list(texts)
            read = TokenizedTexts(self._lexicon, *self._lexicon.read(listed))
            self._recent = (listed, read) if len(listed) <= _RECENT else None
            return read


@cache
def text_reader(tokenizer: str) -> TextReader:
    """The reader with the tokenizer of this name.

    Raises:
        ConfigError: There is no such tokenizer.
    """
    return TextReader(tokenizer)
