"""Constituency trees as one head for each word, for `headwise.encoders.tree_lstm`.

A binary tree over n words has n - 1 nodes, and each word but the first begins the right part of one. So a
node is told by that word, and its head is the word that tells the node above it; the head of the topmost
one is the first word, whose own head is 0. A node over more than two is read as (a (b c)).
"""

import re
from itertools import pairwise

import numpy as np

from headwise.features.syntax import Heads, HeadsError

_TOKEN = re.compile(r"\(\s*[^\s()]*|\)|[^\s()]+")


def bracket_heads(text: str, where: str = "") -> tuple[list[str], Heads]:
    """The words of a tree such as `(3 (2 It) (4 works))` or `(S (NP It) (VP works))`, and their heads.

    Raises:
        HeadsError: HW237, the brackets do not fit together.
    """
    words: list[str] = []
    heads = [0]
    # Of each open bracket its parts: the first word, and the word of the topmost node, 0 without one.
    stack: list[list[tuple[int, int]]] = [[]]
    for match in _TOKEN.finditer(text):
        if match[0][0] == "(":
            if len(stack) == 1 and stack[0]:
                raise _wrong(f"{match[0]!r} after the end of the tree", where)
            stack.append([])
        elif match[0] == ")":
            parts = stack.pop()
            if not stack or not parts:
                raise _wrong("a bracket without words" if stack else "')' without '('", where)
            stack[-1].append((parts[0][0], _join(parts, heads)))
        elif len(stack) == 1:
            raise _wrong(f"{match[0]!r} outside the brackets", where)
        else:
            words.append(match[0])
            heads.append(0)
            stack[-1].append((len(words), 0))
    if len(stack) > 1:
        raise _wrong("a bracket that is never closed", where)
    for first, topmost in stack[0]:
        if topmost:
            heads[topmost] = first
    return words, np.array(heads[1:], dtype=np.int64)


def node_heads(heads: Heads, start: int, end: int) -> Heads:
    """The heads of the words of a node of a tree, from those of the whole tree.

    Args:
        heads: Of the tree, `[words]`.
        start: The node's first word, from 0.
        end: What is behind its last one.
    """
    own = heads[start:end] - start
    own = np.where((own < 1) | (own > len(own)), 1, own)  # what is above the node
    own[:1] = 0
    return own


def _join(parts: list[tuple[int, int]], heads: list[int]) -> int:
    """Give the nodes over the parts of a bracket their heads; the topmost one."""
    splits = [first for first, _ in parts[1:]]
    for above, own in pairwise(splits):
        heads[own] = above
    for (_, topmost), above in zip(parts, [*splits, *splits[-1:]], strict=False):
        if topmost and above:
            heads[topmost] = above
    return splits[0] if splits else parts[0][1]


def _wrong(found: str, where: str) -> HeadsError:
    at = f"{where}: " if where else ""
    return HeadsError(f"{at}{found}; expected one tree such as (S (NP It) (VP works))", code="HW237")
