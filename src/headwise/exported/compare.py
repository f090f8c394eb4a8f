"""Comparing what was exported with the model that it was."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from headwise.data.example import as_example
from headwise.exported.errors import ExportError
from headwise.models.answers.tags import TagAnswers

_TOLERANCE = 1e-3
_LENGTHS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
_LONGEST = 6_000  # words of a text that is read in windows


class Compared(NamedTuple):
    """How well what was exported agrees with the model.

    Attributes:
        texts: On how many texts they were compared.
        longest: Words of the longest of them.
        difference: By how much outputs differ at most: logits, the deviation of numbers, or probabilities
            of tags.
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
    said = _tags_said if isinstance(model, TagAnswers) else _said
    (lengths, *found), (_, *others) = said(model, texts), said(exported, texts)
    difference = 0.0
    for what, some, same in zip(("network", "model"), found, others, strict=True):
        pairs = [*zip(some, same, strict=True)]
        most = [(abs(one - other) / np.maximum(abs(one), 1)).max(initial=0) for one, other in pairs]
        if not np.max(most) <= _TOLERANCE:
            raise ExportError(
                f"the exported {what} does not say what the model says: outputs differ by "
                f"{np.max(most):.2g} in {texts[int(np.argmax(most))]!r:.80}; this is a mistake of "
                "headwise or of the exporter, please report it",
                code="HW953",
            )
        difference = max(float(abs(one - other).max(initial=0)) for one, other in pairs)
    return Compared(len(texts), max(lengths), difference)


def _said(model: Any, texts: Sequence[Any]) -> tuple[list[int], Sequence[np.ndarray], Sequence[np.ndarray]]:
    """How long texts are, what the network says of each, and what the model says."""
    encoded = model.encoded(texts)
    return [*map(len, encoded)], model.outputs_of(encoded), model.logits(encoded)


def _tags_said(
    model: Any, texts: Sequence[str]
) -> tuple[list[int], Sequence[np.ndarray], Sequence[np.ndarray]]:
    """The same of a tagger: the probabilities of the tags of words."""
    encoded = model.encode_sentences([model.sentence(as_example(text)) for text in texts])
    return [*map(len, encoded)], model.marginals(encoded, weights=(1.0, 0.0)), model.marginals(encoded)


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
