"""Which texts count as equal, and which pairs of texts stay on one side of a split."""

from collections.abc import Hashable, Iterable, Sequence
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

_MANY = 10  # least number of distinct first texts, and of chains of pairs, per part
_MANY_MARKS = regex.compile(r"\p{M}{100}")


def composed(text: str) -> str:
    """A text with accents composed (Unicode's NFC), which some programs write apart. A text with a hundred
    combining marks in a row, which no script has, stays as it is: normalising it takes quadratic time."""
    return text if text.isascii() or _MANY_MARKS.search(text) else normalize("NFC", text)


def normal_text(text: str) -> str:
    """A text normalised for comparison: composed accents, folded case, white space collapsed."""
    return " ".join(composed(text).casefold().split())


def same_items(keys: Iterable[str]) -> dict[str, list[int]]:
    """The indices of the items of each distinct key, compared by `normal_text`, in the order of first
    occurrence."""
    return places_of(map(normal_text, keys))


def places_of(keys: Iterable[str]) -> dict[str, list[int]]:
    """The indices of the items of each distinct key."""
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return groups


def kept_together(pairs: Sequence[tuple[str, str]], parts: int) -> list[str]:
    """A group key for each pair, for a split into `parts`: by `chain_keys`, or else by `pair_keys`."""
    return chain_keys(pairs, parts) or pair_keys(pairs)


def pair_keys(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """A group key for each pair, equal for those with the same two texts, in either order."""
    texts = _normal(pairs)
    return least_keys(_unordered(texts), [f"{first}\n{second}" for first, second in texts])


def chain_keys(pairs: Sequence[tuple[str, str]], parts: int) -> list[str] | None:
    """A group key for each pair, equal for pairs with the same first text, or the same two texts in either
    order, and for all that are connected in this way: one premise often has several hypotheses, and a pair
    tells much about its reverse.

    None if there are too few groups for so many parts (0 stands for any number), or if connecting makes a
    group of more than half a part: a few questions may have all the answers.
    """
    texts = _normal(pairs)
    firsts = [first for first, _ in texts]
    if not firsts or len(set(firsts)) < _MANY * parts:
        return None
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # A bipartite graph of first texts and unordered pairs; each pair of the data is an edge.
    first_numbers, pair_numbers = (numbered(keys) for keys in (firsts, _unordered(texts)))
    size = first_numbers.max() + pair_numbers.max() + 2
    graph = csr_array(
        (np.ones(len(pairs)), (first_numbers, first_numbers.max() + 1 + pair_numbers)), shape=(size, size)
    )
    chains = connected_components(graph, directed=False)[1][first_numbers]
    sizes = np.bincount(chains)
    most = max(len(pairs) / (2 * max(parts, 1)), np.bincount(first_numbers).max())
    return (
        least_keys(chains.tolist(), firsts) if len(sizes) >= _MANY * parts and sizes.max() <= most else None
    )


def _normal(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(normal_text(first), normal_text(second)) for first, second in pairs]


def _unordered(texts: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    return [tuple(sorted(pair)) for pair in texts]


def numbered(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    """A number for each distinct key, in the order of first occurrence, `[keys]`."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def least_keys(groups: Sequence[Hashable], keys: Sequence[str]) -> list[str]:
    """For each item the least key in its group."""
    least: dict[Hashable, str] = {}
    for group, key in zip(groups, keys, strict=True):
        least[group] = min(key, least.get(group, key))
    return [least[group] for group in groups]
