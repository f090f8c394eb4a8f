"""When two texts count as the same, and which pairs of texts are kept together."""

from collections.abc import Hashable, Iterable, Sequence
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

_MANY = 10  # different first texts, or chains of pairs, for each part
_MANY_MARKS = regex.compile(r"\p{M}{100}")


def composed(text: str) -> str:
    """A text with accents composed (Unicode's NFC), as some programs write them apart. Not where a hundred
    marks follow each other, which no script has: putting these in order takes time with their square."""
    return text if text.isascii() or _MANY_MARKS.search(text) else normalize("NFC", text)


def normal_text(text: str) -> str:
    """A text for comparison: accents composed, case folded, every run of white space one blank, none at the
    ends."""
    return " ".join(composed(text).casefold().split())


def same_items(keys: Iterable[str]) -> dict[str, list[int]]:
    """The numbers of the items of every distinct key, as `normal_text` has it, in the order of first
    occurrence."""
    return places_of(map(normal_text, keys))


def places_of(keys: Iterable[str]) -> dict[str, list[int]]:
    """The numbers of the items of every distinct key, as it is."""
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return groups


def kept_together(pairs: Sequence[tuple[str, str]], parts: int) -> list[str]:
    """For each pair a text that is the same for all that are held out with it, where so many parts are held
    out: by `chain_keys`, or else by `pair_keys`."""
    return chain_keys(pairs, parts) or pair_keys(pairs)


def pair_keys(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """For each pair a text that is the same for those with the same two texts, in either order."""
    texts = _normal(pairs)
    return least_keys(_unordered(texts), [f"{first}\n{second}" for first, second in texts])


def chain_keys(pairs: Sequence[tuple[str, str]], parts: int) -> list[str] | None:
    """For each pair a text that is the same for those with the same first text or the same two texts in
    either order, and for all that are joined in this way: one premise often has several hypotheses, and
    what is learnt of a pair is known of it the other way round.

    None where that leaves too few chains for so many parts (of 0 any number will do), or chains one up that
    would fill half a part: a few questions may have all the answers.
    """
    texts = _normal(pairs)
    firsts = [first for first, _ in texts]
    if not firsts or len(set(firsts)) < _MANY * parts:
        return None
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    # A graph of first texts and of pairs in either order; each pair joins one of these to one of those.
    one, other = (numbered(keys) for keys in (firsts, _unordered(texts)))
    size = one.max() + other.max() + 2
    graph = csr_array((np.ones(len(pairs)), (one, one.max() + 1 + other)), shape=(size, size))
    chains = connected_components(graph, directed=False)[1][one]
    sizes = np.bincount(chains)
    most = max(len(pairs) / (2 * max(parts, 1)), np.bincount(one).max())
    return (
        least_keys(chains.tolist(), firsts) if len(sizes) >= _MANY * parts and sizes.max() <= most else None
    )


def _normal(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(normal_text(first), normal_text(second)) for first, second in pairs]


def _unordered(texts: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    return [tuple(sorted(own)) for own in texts]


def numbered(keys: Sequence[Hashable]) -> NDArray[np.int64]:
    """A number for each different key, in the order of first occurrence."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def least_keys(groups: Sequence[Hashable], keys: Sequence[str]) -> list[str]:
    """For each item the least key of those of its group."""
    least: dict[Hashable, str] = {}
    for group, key in zip(groups, keys, strict=True):
        least[group] = min(key, least.get(group, key))
    return [least[group] for group in groups]
