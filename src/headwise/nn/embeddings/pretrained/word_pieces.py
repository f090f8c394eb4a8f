"""Word pieces of tokenised texts, and the states that a pretrained encoder computes from them.

`PieceTokenizer` splits words into pieces. Texts longer than the maximum input of the encoder are read in
overlapping `windows`. `StateReader` runs the encoder on them and pools the states of pieces to one vector
for each word.
"""

import importlib
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headwise.core.config import JSON
from headwise.core.errors import HeadwiseError
from headwise.core.extras import install_line
from headwise.data.items.dataset import TextWindow
from headwise.nn.ragged import Ragged


class PretrainedError(HeadwiseError):
    """A pretrained encoder cannot be used.

    Codes: HW701 `transformers` is not installed, HW702 there is no such model or it cannot be reached,
    HW703 its weights are missing, incomplete or not safetensors, HW704 it has no fast tokenizer, HW705 it
    is not an encoder of text, or not one that can be used as asked, HW706 it needs code of its own, which
    is never run, HW707 the files of a saved encoder hold what cannot be.
    """

    code = "HW700"


def import_extra(module: str) -> ModuleType:
    """A module of the extra `pretrained`.

    Raises:
        PretrainedError: HW701, it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PretrainedError(
            f"pretrained encoders need {module}, which cannot be imported ({error}): "
            f"{install_line('pretrained')}",
            code="HW701",
        ) from error


def first_line(error: BaseException) -> str:
    """The error of another library, in one line."""
    return f"{type(error).__name__}: {error!s:.300}".split("\n")[0]


if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer
    from transformers import PreTrainedModel

_PROBES = ("a", "the", "A", "1", ".", "的")  # one of them is known to every tokenizer


@dataclass(frozen=True, slots=True, eq=False)
class WordPieces:
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
        with _convert_errors("this is not a tokenizer"):
            self._tokenizer: Tokenizer = tokenizers.Tokenizer.from_str(_for_single_words(definition))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.prefix, self.suffix = self._special_tokens()
        self.largest: int = max(self._tokenizer.get_vocab(with_added_tokens=True).values())

    @property
    def definition(self) -> str:
        """The tokenizer as JSON, the argument of the constructor."""
        return self._tokenizer.to_str()

    def pieces(self, texts: Sequence[Sequence[str]]) -> list[WordPieces]:
        """The pieces of tokenised texts."""
        return [
            WordPieces(np.array(encoding.ids, np.int32), np.array(encoding.word_ids, np.int32), len(text))
            for encoding, text in zip(self._encode(texts), texts, strict=True)
        ]

    def _encode(self, texts: Sequence[Sequence[str]], *, special: bool = False) -> list["Encoding"]:
        words = [_encodable(text) for text in texts]
        with _convert_errors("the tokenizer fails"):
            return self._tokenizer.encode_batch(words, is_pretokenized=True, add_special_tokens=special)

    def _special_tokens(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        for encoding in self._encode([[probe] for probe in _PROBES], special=True):
            ours = [place for place, word in enumerate(encoding.word_ids) if word is not None]
            if ours:
                return tuple(encoding.ids[: ours[0]]), tuple(encoding.ids[ours[-1] + 1 :])
        raise PretrainedError("this tokenizer finds no pieces in any word", code="HW704")


@contextmanager
def _convert_errors(problem: str) -> Generator[None]:
    """Convert errors of the library to `PretrainedError`. It has no error classes of its own, and a Rust
    panic, which some definitions cause, is not even an `Exception`."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise PretrainedError(f"{problem} ({first_line(error)})", code="HW704") from error
        raise


def _encodable(words: Sequence[str]) -> list[str]:
    """The words, with lone surrogates, which UTF-8 cannot encode, replaced by `?`."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode() for word in words]
    return list(words)


def _for_single_words(definition: str) -> str:
    """The definition with a space before every word, for tokenizers that make it part of the word."""

    def walk(node: JSON) -> None:
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


_CELLS = 16_384  # maximum number of pieces per call, padding included


def windows(words: NDArray[np.int32], most_pieces: int, overlap: int) -> list[TextWindow]:
    """The windows of a text, in pieces. The output of each piece comes from exactly one window.

    A window outputs whole words, with at least half the overlap as context on either side, except at the
    ends of the text. Only a word that does not fit into a window is cut.

    Args:
        words: The word of each piece, `[pieces]`, ascending.
        most_pieces: Maximum number of pieces in a window.
        overlap: Minimum number of pieces that adjacent windows share, less than `most_pieces`.
    """
    total, context = len(words), overlap // 2
    spans: list[TextWindow] = []
    first = 0
    while True:
        start = max(0, first - context)
        if start + most_pieces >= total:
            return [*spans, TextWindow(max(0, total - most_pieces), total, first, total)]
        last = start + most_pieces - context
        start_of_word = int(np.searchsorted(words, words[last]))
        if start_of_word > first:
            last = start_of_word
        spans.append(TextWindow(start, start + most_pieces, first, last))
        first = last


def groups(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Batches of window indices with similar sizes, the largest first, without windows of size 0."""
    group: list[int] = []
    for number in sorted(range(len(sizes)), key=lambda n: -sizes[n]):
        if sizes[number] == 0:
            break
        longest = sizes[group[0]] if group else 0
        full = (len(group) + 1) * longest > _CELLS or longest - sizes[number] > max(8, longest // 8)
        if group and full:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


@dataclass(frozen=True)
class StateReader:
    """Applies a pretrained encoder to texts, in overlapping windows, and pools pieces to words.

    Attributes:
        prefix: Special tokens before the pieces of each window.
        suffix: Special tokens after them.
        most_pieces: Maximum number of pieces between them.
        overlap: Number of pieces that adjacent windows of a long text share.
        layers: The layers whose states are returned, from 1; 0 is the input of the first.
        pooling: How the pieces of a word are pooled: first, mean or last.
        begins_with_summary: Whether the state of the first special token is the summary of the text;
            otherwise it is the mean of the words.
    """

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    most_pieces: int
    overlap: int
    layers: tuple[int, ...]
    pooling: str
    begins_with_summary: bool

    def read(self, encoder: "PreTrainedModel", texts: Sequence[WordPieces]) -> tuple[Tensor, Tensor]:
        """States of all words, `[total, layers, hidden]`, 0 for a word without pieces, and summaries of the
        texts, `[texts, layers, hidden]`."""
        plan = [
            (number, window)
            for number, text in enumerate(texts)
            for window in windows(text.words, self.most_pieces, self.overlap)
        ]
        states, begins = self._states(encoder, texts, plan)
        lengths = [text.length for text in texts]
        starts = np.cumsum([0, *lengths])
        rows, words = [], []
        for (number, window), begin in zip(plan, begins, strict=True):
            places = np.arange(window.first, window.last)
            rows.append(begin + len(self.prefix) + places - window.start)
            words.append(starts[number] + texts[number].words[places])
        pooled = self._pool(states, _joined(rows), _joined(words), int(starts[-1]))
        if not self.begins_with_summary:
            return pooled, Ragged.from_lengths(pooled, lengths).mean()
        firsts = [begin for (_, window), begin in zip(plan, begins, strict=True) if window.first == 0]
        return pooled, states.index_select(0, _index(firsts, states))

    def _states(
        self,
        encoder: "PreTrainedModel",
        texts: Sequence[WordPieces],
        plan: Sequence[tuple[int, TextWindow]],
    ) -> tuple[Tensor, list[int]]:
        """States of all windows, `[rows, layers, hidden]`, padding included, and the first row of each."""
        table = cast(nn.Embedding, encoder.get_input_embeddings()).weight
        around = len(self.prefix) + len(self.suffix)
        sizes = [around + window.stop - window.start for _, window in plan]
        begins, row = [0] * len(plan), 0
        parts = [table.new_zeros(0, len(self.layers), encoder.config.hidden_size)]
        for group in groups(sizes):
            longest = sizes[group[0]]
            ids = np.full((len(group), longest), encoder.config.pad_token_id or 0, dtype=np.int64)
            mask = np.zeros_like(ids)
            for place, number in enumerate(group):
                text, window = plan[number]
                pieces = texts[text].ids[window.start : window.stop]
                ids[place, : sizes[number]] = [*self.prefix, *pieces, *self.suffix]
                mask[place, : sizes[number]] = 1
                begins[number] = row + place * longest
            row += len(group) * longest
            parts.append(self._call(encoder, _index(ids, table), _index(mask, table)).flatten(0, 1))
        return torch.cat(parts), begins

    def _call(self, encoder: "PreTrainedModel", ids: Tensor, mask: Tensor) -> Tensor:
        """Piece ids and mask `[windows, longest]` -> states, `[windows, longest, layers, hidden]`."""
        if self.layers == (encoder.config.num_hidden_layers,):
            return encoder(input_ids=ids, attention_mask=mask).last_hidden_state.unsqueeze(2)
        out = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True)
        states = [*out.hidden_states[:-1], out.last_hidden_state]
        return torch.stack([states[layer] for layer in self.layers], dim=2)

    def _pool(
        self, states: Tensor, rows: NDArray[np.int64], words: NDArray[np.int64], total: int
    ) -> Tensor:
        """Pool the states of the pieces at `rows` to states of their words, `[total, ...]`."""
        if self.pooling != "mean":
            at_end = self.pooling == "last"
            keep = np.diff(words, **{"append" if at_end else "prepend": -1}) != 0
            rows, words = rows[keep], words[keep]
        pieces = states.index_select(0, _index(rows, states))
        sums = states.new_zeros(total, *states.shape[1:]).index_add(0, _index(words, states), pieces)
        counts = np.maximum(np.bincount(words, minlength=total), 1)
        return sums / _index(counts, states)[:, None, None]


def _joined(parts: list[NDArray]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _index(numbers: NDArray[np.int64] | list[int], reference: Tensor) -> Tensor:
    return torch.as_tensor(numbers, dtype=torch.int64, device=reference.device)
