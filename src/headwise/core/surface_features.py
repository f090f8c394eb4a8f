"""Surface features of texts, `FEATURE_COUNT` numbers each: length, capitals, digits and punctuation, which
lower-cased words do not show.

Essay scores and bug reports depend on length; spam and anger on capitals and punctuation. In a linear model
these features are small beside words unless they matter.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.hashing import joined_code_points

FEATURE_COUNT = 10
"""Number of surface features of a text."""
WIDTHS = np.array([0.3, *[0.075] * (FEATURE_COUNT - 1)])
"""The standard deviation that each feature is scaled to on the training texts, relative to word, character
and vector blocks of length 1."""
LEAST = np.array([0.5, 0.5, 0.05, 0.05, *[0.5] * 4, 0.05, 0.05])
"""Lower bounds of the measured standard deviations: new texts may vary more than the training texts."""
NAMES = (
    *("length", "length of words", "capitals", "digits", "marks", "exclamation marks", "question marks"),
    *("line ends", "words with a capital", "words in capitals"),
)
"""Display names of the features."""
REFERENCE_TEXT = "This is a sentence of some length, as plain as most texts are."
"""The reference text that explanations of surface features compare with."""

_COUNTS = {0: "letters and digits", 5: "exclamation marks", 6: "question marks", 7: "line ends"}
_RATIOS = {1: ("letters and digits per word", -1), 4: ("marks per word", 1)}
_SHARES = {
    2: "capitals among letters",
    3: "digits among letters and digits",
    8: "words that begin with a capital",
    9: "words of capitals alone",
}

_LETTER, _CAPITAL, _DIGIT = 1, 2, 4
_KNOWN = 0x3000  # size of the lookup table; most characters beyond it are letters without case


def surface_features(texts: Sequence[str]) -> NDArray[np.float32]:
    """The surface features of texts, `[texts, FEATURE_COUNT]`: log of the number of letters and digits;
    log ratio of words to these; the share of capitals among letters, and of digits; log ratio of other
    marks to words; logs of the numbers of exclamation marks, question marks and line ends; the shares of
    words that begin with a capital, and that are all capitals. Words are separated by white space;
    logarithms are of counts plus one."""
    return native.count_surface_features(*joined_code_points(texts), character_kinds())


def describe_value(number: int, value: float, *, below: bool) -> str:
    """Describe texts whose feature has this value or less (`below`) or more: `40 or fewer letters and
    digits`."""
    if number in _RATIOS:
        what, sign = _RATIOS[number]
        return f"about {np.exp(sign * value):.2f} or {'fewer' if below == (sign > 0) else 'more'} {what}"
    if number in _COUNTS:
        what, amount = _COUNTS[number], f"{np.expm1(value):,.0f}"
    else:
        what, amount = _SHARES[number], f"{100 * value:.1f} %"
    more = f"{amount} or {'fewer' if below else 'more'} {what}"
    return more if value or not below else f"no {what}"


@cache
def character_kinds() -> NDArray[np.uint8]:
    """Bit flags of the first `_KNOWN` code points: 1 for a letter, 2 for a capital, 4 for a digit."""
    characters = map(chr, range(_KNOWN))
    kinds = [_LETTER * c.isalpha() + _CAPITAL * c.isupper() + _DIGIT * c.isdigit() for c in characters]
    return np.array(kinds, dtype=np.uint8)
