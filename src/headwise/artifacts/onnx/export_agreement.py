"""The comparison of an exported model with the original, on random texts."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.data.items.examples import as_example

_TOLERANCE = 1e-3
_LENGTHS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
_LONGEST = 6_000  # words of a text that is read in windows


class ExportAgreement(NamedTuple):
    """Agreement of an exported model with the original.

    Attributes:
        texts: Number of texts that were compared.
        longest: Words of the longest text.
        difference: Largest absolute difference of outputs: logits, standardised numbers, or probabilities
            of tags.
    """

    texts: int
    longest: int
    difference: float


def compare_outputs(model: Any, exported: Any) -> ExportAgreement:
    """Compare the outputs of a model and of its export.

    Raises:
        ExportError: HW953, outputs differ by more than rounding.
    """
    texts: list[Any] = list(_test_texts(model))
    if getattr(model, "reads_pairs", False):
        texts = [*zip(texts, texts[::-1], strict=True), *pairwise(texts)]
    evaluate = _tagger_outputs if model.gives_tags else _model_outputs
    (lengths, *expected), (_, *actual) = evaluate(model, texts), evaluate(exported, texts)
    difference = 0.0
    for what, original, copy in zip(("network", "model"), expected, actual, strict=True):
        pairs = [*zip(original, copy, strict=True)]
        most = [(abs(one - got) / np.maximum(abs(one), 1)).max(initial=0) for one, got in pairs]
        if not np.max(most) <= _TOLERANCE:
            raise ExportError(
                f"the exported {what} differs from the model: by {np.max(most):.2g} in the text "
                f"{texts[int(np.argmax(most))]!r:.80}; please report this bug of headwise or of the "
                "exporter",
                code="HW953",
            )
        difference = max(float(abs(one - got).max(initial=0)) for one, got in pairs)
    return ExportAgreement(len(texts), max(lengths), difference)


def _model_outputs(
    model: Any, texts: Sequence[Any]
) -> tuple[list[int], Sequence[np.ndarray], Sequence[np.ndarray]]:
    """Lengths of texts, outputs of the network alone, and outputs of the whole model."""
    encoded = model.encoded(texts)
    return [*map(len, encoded)], model.outputs_of(encoded), model.logits(encoded)


def _tagger_outputs(
    model: Any, texts: Sequence[str]
) -> tuple[list[int], Sequence[np.ndarray], Sequence[np.ndarray]]:
    """Like `_model_outputs`, for a tagger: outputs are the marginal probabilities of the tags of words."""
    encoded = model.encode_sentences([model.sentence(as_example(text)) for text in texts])
    return [*map(len, encoded)], model.marginals(encoded, weights=(1.0, 0.0)), model.marginals(encoded)


def _test_texts(model: Any) -> Iterator[str]:
    """Random texts of known and unknown words, of many lengths; one is read in windows, unless that needs a
    very long text."""
    words = [*model.features.vocabulary.words[1:2_000], "zyxwvut", "Qqq-qq", "!"]
    random = np.random.Generator(np.random.PCG64(0))
    lengths = [*_LENGTHS, *_LENGTHS]
    if model.config.windows.long == "split" and 0 < model.window[0] <= _LONGEST // 2:
        lengths.append(2 * model.window[0] + 7)
    elif model.window[0]:
        lengths = [length for length in lengths if length <= model.window[0] // 2]
    for length in lengths:
        yield " ".join(words[place] for place in random.integers(len(words), size=length).tolist())
