"""Word pieces of tokenised texts, the input of a pretrained encoder."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.features.pretrained.errors import PretrainedError, first_line, import_extra

_PROBES = ("a", "the", "A", "1", ".", "的")  # one of them is known to every tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The word pieces of one text, without special tokens.

    Attributes:
        ids: Ids of the pieces, int32 `[pieces]`.
        words: Index of the word, from 0, that each piece belongs to, int32 `[pieces]`, ascending. A word
            may have no piece: tokenizers remove control characters and the like.
        length: Number of words of the text.
    """

    ids: NDArray[np.int32]
    words: NDArray[np.int32]
    length: int

    @property
    def key(self) -> tuple[int, bytes, bytes]:
        """A hashable key, equal for equal pieces."""
        return self.length, self.ids.tobytes(), self.words.tobytes()


class PieceTokenizer:
    """The tokenizer of a pretrained encoder.

    A word of a text that is spelled like a special token (`[SEP]`) becomes one, as usual with these
    tokenizers. The tokenizer decides whether words are lowercased.

    Args:
        definition: Content of a `tokenizer.json`. Its settings for truncation and padding are ignored.

    Attributes:
        prefix: Special tokens that the encoder expects before the pieces.
        suffix: Those after them.
        largest: The largest number of a piece.

    Raises:
        PretrainedError: HW701 `tokenizers` is not installed, HW704 the definition is none.
    """

    def __init__(self, definition: str):
        tokenizers = import_extra("tokenizers")
        with _explained("this is no tokenizer"):
            self._tokenizer: Any = tokenizers.Tokenizer.from_str(_for_single_words(definition))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.prefix, self.suffix = self._special_tokens()
        self.largest: int = max(self._tokenizer.get_vocab(with_added_tokens=True).values())

    @property
    def definition(self) -> str:
        """The tokenizer as JSON, the argument of the constructor."""
        return self._tokenizer.to_str()

    def pieces(self, texts: Sequence[Sequence[str]]) -> list[Pieces]:
        """The pieces of tokenised texts."""
        return [
            Pieces(np.array(encoding.ids, np.int32), np.array(encoding.word_ids, np.int32), len(text))
            for encoding, text in zip(self._encode(texts), texts, strict=True)
        ]

    def _encode(self, texts: Sequence[Sequence[str]], *, special: bool = False) -> list[Any]:
        words = [_sayable(text) for text in texts]
        with _explained("the tokenizer fails"):
            return self._tokenizer.encode_batch(words, is_pretokenized=True, add_special_tokens=special)

    def _special_tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        for encoding in self._encode([[probe] for probe in _PROBES], special=True):
            ours = [place for place, word in enumerate(encoding.word_ids) if word is not None]
            if ours:
                return tuple(encoding.ids[: ours[0]]), tuple(encoding.ids[ours[-1] + 1 :])
        raise PretrainedError("this tokenizer finds no pieces in any word", code="HW704")


@contextmanager
def _explained(problem: str) -> Iterator[None]:
    """Convert errors of the library to `PretrainedError`. It has no error classes of its own, and a Rust
    panic, which some definitions cause, is not even an `Exception`."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise PretrainedError(f"{problem} ({first_line(error)})", code="HW704") from error
        raise


def _sayable(words: Sequence[str]) -> list[str]:
    """The words, with lone surrogates, which UTF-8 cannot encode, replaced by `?`."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode() for word in words]
    return list(words)


def _for_single_words(definition: str) -> str:
    """The definition with a space before every word, for tokenizers that make it part of the word."""

    def walk(node: Any) -> None:
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(child)
        match node:
            case {"type": "ByteLevel"}:
                node["add_prefix_space"] = True
            case {"type": "Metaspace", "prepend_scheme": _}:
                node["prepend_scheme"] = "always"

    data = json.loads(definition)
    walk(data.get("pre_tokenizer"))
    return json.dumps(data, ensure_ascii=False)
