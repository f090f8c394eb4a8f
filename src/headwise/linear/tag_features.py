"""Features of words for linear taggers: the word, its spelling and shape, the two words on either side, and
word clusters where static embeddings provide them."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.hashing import Ends
from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters

ATTRIBUTES = (
    *("word", "lower", "shape", "short", "length"),
    *("first1", "first2", "first3", "first4", "last1", "last2", "last3", "last4"),
)
"""Attributes of a single word."""

_NEAR = (-2, -1, 1, 2)
TEMPLATES: tuple[tuple[tuple[int, str], ...], ...] = (
    *(((0, name),) for name in ATTRIBUTES),
    *(((step, "lower"),) for step in _NEAR),
    *(((step, "short"),) for step in _NEAR),
    *(((step, "last3"),) for step in (-1, 1)),
    ((-1, "lower"), (0, "lower")),
    ((0, "lower"), (1, "lower")),
    ((-1, "lower"), (1, "lower")),
    ((-2, "lower"), (-1, "lower")),
    ((-1, "short"), (0, "short"), (1, "short")),
    ((-1, "lower"), (0, "short")),
    ((0, "short"), (1, "lower")),
    ((0, "last3"), (1, "last3")),
    ((-1, "last3"), (0, "last3")),
)
"""Feature templates: attributes of words at offsets from the current one."""

_GROUPS = tuple(f"group{level}" for level in range(len(LEVELS)))
"""Word clusters are read for the current word only: those of its neighbours add nothing (CoNLL-2003,
WNUT-17 and EWT, 250 and 1,000 sentences: -0.5 on average)."""
_PARTS = 3


def _recipe_of(templates: Sequence[tuple[tuple[int, str], ...]]) -> NDArray[np.int64]:
    names = (*ATTRIBUTES, *_GROUPS)
    recipe = np.full((len(templates), _PARTS, 2), -1, dtype=np.int64)
    for row, template in enumerate(templates):
        for part, (step, name) in enumerate(template):
            recipe[row, part] = step, names.index(name)
    return recipe


_RECIPE = _recipe_of(TEMPLATES)
_RECIPE_WITH_GROUPS = _recipe_of([*TEMPLATES, *(((0, name),) for name in _GROUPS)])
_BEFORE, _BEHIND = "\x02", "\x03"


def attributes(word: str) -> tuple[str, ...]:
    """The attributes of a word, in the order of `ATTRIBUTES`. Digits become 0 in all but the word
    itself."""
    plain = "".join("0" if letter.isdigit() else letter for letter in word) if not word.isalpha() else word
    lower = plain.lower()
    shape = "".join(map(_shape, plain))
    short = "".join(one for place, one in enumerate(shape) if shape[place - 1 : place] != one)
    firsts = (lower[:size] for size in range(1, 5))
    lasts = (lower[-size:] for size in range(1, 5))
    return word, lower, shape, short, str(min(len(word), 12)), *firsts, *lasts


def _shape(letter: str) -> str:
    if letter.isupper():
        return "X"
    return "x" if letter.isalpha() else letter


def features_of(
    sentences: Sequence[Sequence[str]], groups: WordClusters | None = None
) -> tuple[NDArray[np.uint32], Ends]:
    """Feature hashes of each word, `[words, features]`, and the offsets of the sentences, `[sentences +
    1]`."""
    ends = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(sentence) for sentence in sentences], out=ends[1:])
    kinds: dict[str, int] = {_BEFORE: 0, _BEHIND: 1}
    numbers = [kinds.setdefault(word, len(kinds)) for sentence in sentences for word in sentence]
    table = np.array(
        [
            [crc32(attribute.encode("utf-8", "surrogatepass")) for attribute in attributes(word)]
            for word in kinds
        ],
        dtype=np.uint32,
    )
    recipe = _RECIPE
    if groups is not None:
        table = np.hstack([table, groups.of(list(kinds)).view(np.uint16).astype(np.uint32)])
        recipe = _RECIPE_WITH_GROUPS
    return native.combine_attributes(np.array(numbers, dtype=np.int64), ends, table, recipe), ends


def look_up(features: NDArray[np.uint32], slots: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The index of each feature in a hash table, `[words, features]`; -1 for unknown ones."""
    return native.find_features(features, slots)
