"""Constituency trees as one head for each word, for `headwise.encoders.tree_lstm`.

A binary tree over n words has n - 1 nodes, and each word but the first begins the right child of exactly
one node. That word identifies the node, and its head is the word that identifies the parent node. The head
of the root node is the first word, whose head is 0. A node with more than two children is read as (a (b
c)).
"""

import re
from itertools import pairwise

import numpy as np

from headwise.features.syntax import Heads, HeadsError

_TOKEN = re.compile(r"\(\s*[^\s()]*|\)|[^\s()]+")


def bracket_heads(text: str, where: str = "") -> tuple[list[str], Heads]:
    """The words of a tree such as `(3 (2 It) (4 works))` or `(S (NP It) (VP works))`, and their heads.

    Raises:
        HeadsError: HW237, the brackets are unbalanced or hold no single tree.
    """
    words: list[str] = []
    heads = [0]
    # For each open bracket its children: first word, and the word of the child's root node (0 for a leaf).
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
    """The heads of a subtree.

    Args:
        heads: Heads of the whole tree, `[words]`.
        start: First word of the subtree, from 0.
        end: One past its last word.
    """
    node = heads[start:end] - start
    node = np.where((node < 1) | (node > len(node)), 1, node)  # what is above the node
    node[:1] = 0
    return node


def _join(parts: list[tuple[int, int]], heads: list[int]) -> int:
    """Set the heads of the nodes over the children of a bracket; returns the word of the root node."""
    splits = [first for first, _ in parts[1:]]
    for above, below in pairwise(splits):
        heads[below] = above
    for (_, topmost), above in zip(parts, [*splits, *splits[-1:]], strict=False):
        if topmost and above:
            heads[topmost] = above
    return splits[0] if splits else parts[0][1]


def _wrong(problem: str, where: str) -> HeadsError:
    at = f"{where}: " if where else ""
    return HeadsError(f"{at}{problem}; expected one tree such as (S (NP It) (VP works))", code="HW237")
