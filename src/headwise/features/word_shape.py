"""Word shape features: capitals, digits, punctuation."""

import numpy as np
from numpy.typing import NDArray

SHAPES = ("lower", "title", "upper", "mixed", "digit", "number", "punctuation", "hyphen", "not ascii")
"""The features of `word_shape`. The first four exclude one another and are all 0 for a word without cased
letters; `title` is one capital, the first letter (`The`, `I`), `upper` two or more letters, all
capitals."""


def word_shape(word: str) -> NDArray[np.float32]:
    """1 or 0 for each of `SHAPES`."""
    cased = [c for c in word if c.isupper() or c.islower() or c.istitle()]
    capitals = sum(not c.islower() for c in cased)
    first = bool(cased) and not cased[0].islower()
    digits = sum(c.isdigit() for c in word)
    letters = sum(c.isalpha() for c in word)
    lower = bool(cased) and capitals == 0
    title = first and capitals == 1
    upper = capitals == len(cased) > 1
    flags = (
        lower,
        title,
        upper,
        bool(cased) and not (lower or title or upper),
        digits > 0,
        digits > 0 and letters == 0,
        digits + letters < len(word),
        "-" in word,
        not word.isascii(),
    )
    return np.array(flags, dtype=np.float32)
