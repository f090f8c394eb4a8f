"""Tree-LSTM (Tai, Socher, Manning; ACL 2015), a baseline of MS-SAN: an LSTM from the leaves of a tree up.

Child-sum, over a dependency tree. With C(j) the words that depend on word j,

    h~ = sum_{k in C(j)} h_k                                                         (Eq. 2)
    i = sigmoid(W_i x_j + U_i h~ + b_i),  o and u (tanh) likewise                     (Eq. 3, 5, 6)
    f_k = sigmoid(W_f x_j + U_f h_k + b_f)                                            (Eq. 4)
    c_j = i * u + sum_k f_k * c_k,   h_j = o * tanh(c_j)                              (Eq. 7, 8)

Binary, over a constituency tree. Leaves are words, c = i * u, with gates that read the word; a node over l
and r has gates that read both, each child through matrices of its own and no word (Eq. 9-14),

    c = i * u + f_l * c_l + f_r * c_r

The text's vector is the state of the root; of several roots (sentences) their mean. All nodes at the same
depth are computed at once, whatever text they are in.

A constituency tree, too, is given as one head for each word (`headwise.text.parse_files`): a node whose
right part begins with a word stands for that word, and its head is the word of the node above; that of the
topmost node is the first word, which is the root and stands for no node.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headwise.core.errors import HeadwiseError
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.recurrent_configs import TreeLSTMConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged, RaggedModule
from headwise.nn.torch_modes import exclude_from_compile

Array = NDArray[np.int64]


class TreeLSTM(RaggedModule):
    """An LSTM over the tree of each text."""

    def __init__(self, config: TreeLSTMConfig | None = None):
        super().__init__()
        self.config = c = config or TreeLSTMConfig()
        if c.trees == "dependency":
            self.word = nn.Linear(c.width, 4 * c.hidden)  # W, b of i, o, u, f
            self.below = nn.Linear(c.hidden, 3 * c.hidden, bias=False)  # U of i, o, u
            self.child = nn.Linear(c.hidden, c.hidden, bias=False)  # U_f
        else:
            self.word = nn.Linear(c.width, 3 * c.hidden)  # W, b of i, o, u
            self.below = nn.Linear(2 * c.hidden, 5 * c.hidden)  # U, b of i, o, u, f_l, f_r
        self.dropout = Dropout(c.dropout)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> `[hidden]`, the states of the words (in brackets the leaves), and
        the root's as the summary, which stands over them; 0 for a text without words.

        Raises:
            HeadwiseError: HW310, a text is not parsed; HW311, its heads are no tree, or no brackets.
        """
        plan: _TreePlan = exclude_from_compile(_plan)(x.layout, self.config)
        step = self._dependents if self.config.trees == "dependency" else self._halves
        words = self.word(x.values)
        states, cells = [words[:0, : self.config.hidden]], words[:0, : self.config.hidden]
        for level in plan.levels:
            state, cells = step(words, states[-1], cells, level)
            states.append(state)
        rows = torch.cat(states).index_select(0, plan.rows)
        tokens = x.with_values(self.dropout(rows[: x.layout.total]))
        roots = torch.cat([rows, rows.new_zeros(1, rows.shape[1])]).index_select(0, plan.roots)
        empty = rows.new_zeros(x.layout.texts, rows.shape[1])
        sums = empty.index_add(0, plan.root_of, roots) / plan.root_count.to(rows.dtype)[:, None]
        return Encoded(tokens, self.dropout(sums), summary_is_node=False)

    def _dependents(self, words: Tensor, h: Tensor, c: Tensor, level: "_Level") -> tuple[Tensor, Tensor]:
        """States and cells of the words of a level, of those of the level below."""
        inputs = words.index_select(0, level.words)
        reads, forget = inputs[:, : -self.config.hidden], inputs[:, -self.config.hidden :]
        kept_cells = (forget.index_select(0, level.above) + self.child(h)).sigmoid() * c
        nothing = inputs.new_zeros(len(inputs), self.config.hidden)
        below = self.below(nothing.index_add(0, level.above, h.to(nothing.dtype)))
        i, o, u = (reads + below).chunk(3, dim=-1)
        cell = i.sigmoid() * u.tanh() + nothing.index_add(0, level.above, kept_cells.to(nothing.dtype))
        return o.sigmoid() * cell.tanh(), cell

    def _halves(self, words: Tensor, h: Tensor, c: Tensor, level: "_Level") -> tuple[Tensor, Tensor]:
        """Like `_dependents`, for constituency trees: first the leaves of the level, then its inner nodes,
        each with two children of the level below."""
        i, o, u = words.index_select(0, level.words).chunk(3, dim=-1)
        cells = i.sigmoid() * u.tanh()
        state = o.sigmoid() * cells.tanh()
        left, right = level.above.unbind(1)
        i, o, u, f, g = self.below(torch.cat([h[left], h[right]], dim=-1)).chunk(5, dim=-1)
        joined = i.sigmoid() * u.tanh() + f.sigmoid() * c[left] + g.sigmoid() * c[right]
        return torch.cat([state, o.sigmoid() * joined.tanh()]), torch.cat([cells, joined])


@dataclass(frozen=True)
class _Level:
    """The nodes of all texts at the same depth.

    Attributes:
        words: Rows of its words.
        above: Dependencies: `[nodes of the level below]`, the place here of what each depends on. Brackets:
            `[nodes over two, 2]`, their places in the level below.
    """

    words: Tensor
    above: Tensor


@dataclass(frozen=True)
class _TreePlan:
    """The levels from the deepest to the roots.

    Attributes:
        rows: `[nodes]`, where each node's state comes in the order of the levels; words first.
        roots: Rows of all roots, and for a text without one the row after all nodes.
        root_of: The text of each.
        root_count: `[texts]`.
    """

    levels: list[_Level]
    rows: Tensor
    roots: Tensor
    root_of: Tensor
    root_count: Tensor

    @classmethod
    def of(cls, layout: Layout, levels: list[_Level], order: Array, roots: Array, of: Array) -> "_TreePlan":
        """From the nodes in the order of the levels, the roots and their texts."""
        rows = np.empty_like(order)
        rows[order] = np.arange(len(order))
        singletons = np.setdiff1d(np.arange(layout.texts), of)
        roots, of = np.append(roots, np.full(len(singletons), len(order))), np.append(of, singletons)
        numbers = (rows, roots, of, np.bincount(of, minlength=layout.texts))
        return cls(levels, *(_tensor(array, layout) for array in numbers))


def _plan(layout: Layout, config: TreeLSTMConfig) -> _TreePlan:
    """The levels of a batch, which are found once.

    Raises:
        HeadwiseError: HW310, HW311.
    """
    find = _dependencies if config.trees == "dependency" else _brackets
    return layout.cached(find, lambda: find(layout, _parents(layout, config.tree_fallback)))


def _tensor(numbers: Array, layout: Layout) -> Tensor:
    return torch.from_numpy(numbers.astype(np.int64)).to(layout.device)


def _text_of(layout: Layout) -> Array:
    """`Layout.text_of`, which under `torch.func` is no plain tensor."""
    return np.repeat(np.arange(layout.texts), np.array(layout.sizes, np.int64))


def _parents(layout: Layout, fallback: str) -> Array:
    """The row of the word that each word depends on, `[total]`; -1 for roots.

    Raises:
        HeadwiseError: HW310, HW311.
    """
    if layout.heads is not None:
        heads = [text_heads.cpu().numpy() for text_heads in layout.heads]
        _check(
            all(bool(((text_heads >= 0) & (text_heads <= len(text_heads))).all()) for text_heads in heads),
            _NO_TREE,
        )
    elif fallback == "word":
        heads = [np.arange(size) for size in layout.sizes]  # each word on the one before it
    else:
        raise HeadwiseError(
            "the encoder goes by trees, but the texts come without parses; give Layout(lengths, "
            "heads=...), or take a chain of words instead (tree_fallback = word)",
            code="HW310",
        )
    first = np.cumsum([0, *layout.sizes])[:-1]
    rows = [
        np.where(text_heads > 0, text_heads - 1 + start, -1)
        for text_heads, start in zip(heads, first, strict=True)
    ]
    return np.concatenate([np.zeros(0, np.int64), *rows])


def _depths(parents: Array) -> Array:
    """The depth of each node below its root, by pointer doubling; nodes on a cycle get a depth above the
    number of nodes."""
    above = np.append(parents, -1)  # the last one stands for "above the root"
    above = np.where(above < 0, len(parents), above)
    depth = np.append(np.ones(len(parents), np.int64), 0)
    for _ in range(len(parents).bit_length()):
        depth = depth + depth[above]
        above = above[above]
    return depth[:-1] - 1


def _levels(depth: Array) -> list[Array]:
    """The nodes of each depth, the deepest first."""
    ends = np.bincount(depth)[::-1].cumsum()
    return np.split(np.argsort(-depth, kind="stable"), ends[:-1]) if len(depth) else []


def _dependencies(layout: Layout, parents: Array) -> _TreePlan:
    """The plan of dependency trees, in which every word is a node.

    Raises:
        HeadwiseError: HW311.
    """
    depth = _depths(parents)
    _check(bool((depth < len(parents)).all()), _NO_TREE)
    place, below = np.zeros_like(parents), parents[:0]
    levels, order = [], [below]
    for words in _levels(depth):
        place[words] = np.arange(len(words))
        levels.append(_Level(_tensor(words, layout), _tensor(place[parents[below]], layout)))
        order.append(words)
        below = words
    roots = np.flatnonzero(parents < 0)
    return _TreePlan.of(layout, levels, np.concatenate(order), roots, _text_of(layout)[roots])


def _brackets(layout: Layout, parents: Array) -> _TreePlan:
    """The plan of constituency trees. Words are leaves; the inner nodes come after them, ordered by the
    first word of their right part.

    Raises:
        HeadwiseError: HW311.
    """
    total, text_of = layout.total, _text_of(layout)
    ends = np.cumsum(layout.sizes, dtype=np.int64)[text_of]
    starts = ends - np.array(layout.sizes, np.int64)[text_of]
    words = np.arange(total)
    split = words[words > starts]  # where the right part of each node begins
    number = np.cumsum(words > starts) + total - 1  # of the node that a word stands for
    _check(bool((parents[split] >= 0).all()) and bool((parents[words == starts] < 0).all()))
    topmost = parents[split] == starts[split]
    # Below a node are the nodes whose head it is, before and after it; else its neighbouring leaves.
    pairs = np.stack([words - 1, words], 1)
    inner, over = split[~topmost], parents[split][~topmost]
    pairs[over, (inner > over).astype(np.int64)] = number[inner]
    above = np.full(total + len(split), -1)
    above[number[inner]] = number[over]
    leaf = above[:total]
    leaf[pairs[split][pairs[split] < total]] = number[np.repeat(split, 2)[pairs[split].ravel() < total]]
    depth = _depths(above)
    place, first, last = np.zeros_like(above), np.append(words, 0 * split), np.append(words, 0 * split)
    levels, order = [], [words[:0]]
    for here in _levels(depth):
        place[here] = np.arange(len(here))
        leaves, nodes = here[here < total], here[here >= total]
        left, right = pairs[split[nodes - total]].T
        first[nodes], last[nodes] = first[left], last[right]
        begins = split[nodes - total]
        _check(bool(((last[left] == begins - 1) & (first[right] == begins)).all()))
        levels.append(_Level(_tensor(leaves, layout), _tensor(place[np.stack([left, right], 1)], layout)))
        order.append(here)
    roots = np.flatnonzero(above < 0)
    complete = (first[roots] == starts[first[roots]]) & (last[roots] == ends[first[roots]] - 1)
    _check(bool(complete.all()))
    return _TreePlan.of(layout, levels, np.concatenate(order), roots, text_of[first[roots]])


_NO_TREE = (
    "the heads of a text do not form a tree: expected for each word the number of another, or 0 for a "
    "root, that all ways lead to"
)
_NO_BRACKETS = (
    "the heads of a text are not brackets, which an encoder with trees = constituency reads; read them "
    "from a file of bracketed trees, or set trees = dependency"
)


def _check(fits: bool, trouble: str = _NO_BRACKETS) -> None:
    if not fits:
        raise HeadwiseError(trouble, code="HW311")
