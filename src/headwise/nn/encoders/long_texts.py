"""Long texts: read in windows that overlap, each encoded as a text of its own.

Every word belongs to one window, of those that hold it the one in which it stands farthest from an edge;
its state is the one that it has there. So a text is put together again before anything is read off it (a
readout, tags, the features of a pair), and states at a window's edge, which lack context, are not used.
What an encoder keeps of a text as a whole is averaged over its windows, by the words that belong to each.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, nn

from headwise.core.errors import ConfigError
from headwise.data.items.dataset import TextWindow, cut_windows
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.layout import PARENT, Layout
from headwise.nn.ragged import Ragged

_AT_ONCE = 1 << 14  # words of windows that are read at the same time: more do not fit into the caches


def encode_in_windows(encoder: nn.Module, x: Ragged, words: int, overlap: int) -> Encoded:
    """Encode a batch; texts with more than `words` words are read in overlapping windows.

    Distances in dependency trees stay those in the tree of the whole text.

    Args:
        encoder: From word vectors to states.
        x: Word vectors.
        words: Maximum number of words read at once; 0 for no limit.
        overlap: See `cut_windows`.

    Raises:
        ConfigError: A longer text, and an encoder that reads the texts of a pair together.
    """
    layout = x.layout
    if not words or layout.longest <= words:
        return encoder(x)
    if getattr(getattr(encoder, "config", None), "pair_layers", 0):
        raise ConfigError(
            f"a text of {layout.longest} words: with pair_layers the texts of a pair cannot be read in "
            f"windows of {words}; set windows.long to truncate"
        )
    plan = [
        (text, window) for text, n in enumerate(layout.sizes) for window in cut_windows(n, words, overlap)
    ]
    starts = layout.offsets.tolist()
    parts, summaries, node = list[Tensor](), list[Tensor](), False
    for group in _window_groups(plan):
        read = _row_numbers([(starts[text] + w.start, w.stop - w.start) for text, w in group], x.device)
        trees = partial(_tree_within, layout, group) if layout.parsed else None
        heads = None if layout.heads is None else [_heads_within(layout.heads[t], w) for t, w in group]
        marks = {
            name: [numbers[t][w.start : w.stop] for t, w in group] for name, numbers in layout.marks.items()
        }
        if PARENT in marks:
            marks[PARENT] = [
                _rows_within(rows, w) for rows, (_, w) in zip(marks[PARENT], group, strict=True)
            ]
        matrices = {
            name: [numbers[t][w.start : w.stop, w.start : w.stop] for t, w in group]
            for name, numbers in layout.matrices.items()
        }
        inner = Layout([w.stop - w.start for _, w in group], x.device, trees, heads, marks, matrices)
        encoded: Encoded = encoder(Ragged(x.values.index_select(0, read), inner))
        offsets = inner.offsets.tolist()
        owned = [(offsets[n] + w.first - w.start, w.last - w.first) for n, (_, w) in enumerate(group)]
        parts.append(encoded.tokens.values.index_select(0, _row_numbers(owned, x.device)))
        if encoded.summary is not None:
            summaries.append(encoded.summary)
            node = encoded.summary_is_node
    tokens = x.with_values(parts[0] if len(parts) == 1 else torch.cat(parts))
    if not summaries:
        return Encoded(tokens)
    summary = summaries[0] if len(summaries) == 1 else torch.cat(summaries)
    texts = torch.tensor([text for text, _ in plan], device=x.device)
    shares = [(w.last - w.first) / layout.sizes[t] if layout.sizes[t] else 1.0 for t, w in plan]
    weights = torch.tensor(shares, dtype=summary.dtype, device=x.device)
    empty = summary.new_zeros((layout.texts, *summary.shape[1:]))
    return Encoded(tokens, empty.index_add(0, texts, summary * weights[:, None]), node)


def _tree_within(
    layout: Layout, group: list[tuple[int, TextWindow]], number: int, start: int, stop: int
) -> Tensor:
    """The distances among some words of a window, in the tree of its text."""
    text, window = group[number]
    return layout.tree(text, window.start + start, window.start + stop)


def _heads_within(heads: Tensor, window: TextWindow) -> Tensor:
    """The heads of a window's words, counted in it; a word whose head is outside is a root."""
    counted = heads[window.start : window.stop] - window.start
    return counted.where((counted > 0) & (counted <= window.stop - window.start), 0)


def _rows_within(rows: Tensor, window: TextWindow) -> Tensor:
    """The rows of words in a window, by their number in the window; words outside get numbers behind its
    end."""
    size = window.stop - window.start
    inside = (rows >= window.start) & (rows < window.stop)
    return torch.where(rows < 0, rows, torch.where(inside, rows - window.start, size + rows))


def _window_groups(plan: list[tuple[int, TextWindow]]) -> Iterator[list[tuple[int, TextWindow]]]:
    """Windows that are read at the same time: what the encoder needs for them fits into the memory, however
    long the text is."""
    group, words = list[tuple[int, TextWindow]](), 0
    for text, window in plan:
        size = window.stop - window.start
        if group and words + size > _AT_ONCE:
            yield group
            group, words = [], 0
        group.append((text, window))
        words += size
    yield group


def _row_numbers(runs: list[tuple[int, int]], device: torch.device) -> Tensor:
    """The numbers of all rows of runs, each given by its first row and its length."""
    return torch.cat([torch.arange(first, first + size, device=device) for first, size in runs])
