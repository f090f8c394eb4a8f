"""Comparing what was exported with the model that it was."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from headwise.exported.errors import ExportError

_TOLERANCE = 1e-3
_LENGTHS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
_LONGEST = 6_000  # words of a text that is read in windows


class Compared(NamedTuple):
    """How well what was exported agrees with the model.

    Attributes:
        texts: On how many texts they were compared.
        longest: Words of the longest of them.
        difference: By how much outputs differ at most: logits, or the deviation of numbers.
    """

    texts: int
    longest: int
    difference: float


def compare(model: Any, exported: Any) -> Compared:
    """Compare the outputs of a model with those of what was exported of it.

    Raises:
        ExportError: HW953, by more than last digits.
    """
    texts: list[Any] = list(_probes(model))
    if getattr(model, "reads_pairs", False):
        texts = [*zip(texts, texts[::-1], strict=True), *pairwise(texts)]
    encoded = [own.encoded(texts) for own in (model, exported)]
    found = [
        (own.outputs_of(some), own.logits(some))
        for own, some in zip((model, exported), encoded, strict=True)
    ]
    for what, one, other in zip(("network", "model"), *found, strict=True):
        away = np.abs(one - other) / np.maximum(np.abs(one), 1)
        if not away.max() <= _TOLERANCE:
            raise ExportError(
                f"the exported {what} does not say what the model says: outputs differ by {away.max():.2g} "
                f"in {texts[int(away.max(axis=1).argmax())]!r:.80}; this is a mistake of headwise or of "
                "the exporter, please report it",
                code="HW953",
            )
    difference = float(np.abs(found[0][1] - found[1][1]).max())
    return Compared(len(texts), max(map(len, encoded[0])), difference)


def _probes(model: Any) -> Iterator[str]:
    """Texts of known and unknown words, of all lengths; one that is read in windows, if that is not too
    long."""
    words = [*model.features.vocabulary.words[1:2_000], "zyxwvut", "Qqq-qq", "!"]
    random = np.random.Generator(np.random.PCG64(0))
    lengths = [*_LENGTHS, *_LENGTHS]
    if model.config.windows.long == "split" and 0 < model.window[0] <= _LONGEST // 2:
        lengths.append(2 * model.window[0] + 7)
    elif model.window[0]:
        lengths = [length for length in lengths if length <= model.window[0] // 2]
    for length in lengths:
        yield " ".join(words[place] for place in random.integers(len(words), size=length).tolist())
