"""Word attributions: what each word adds to a prediction, by the parts of the model.

The explained quantity is one number, `output_weights @ logits`: the margin of a label, or a predicted
number. The linear parts (the linear model; the linear probe on static embeddings) are attributed exactly.
The encoder is attributed by integrated gradients (Sundararajan, Taly, Yan: Axiomatic attribution for deep
networks; ICML 2017). The baseline is a text whose words all have the mean word vector of the text. The
output for that baseline, and the integration error, belong to no word.

Chosen by how much the removal of the top three words lowers the probability (help desk, 300 texts). With
static embeddings and a linear model it falls by 0.44 for each attribution method of the encoder (0.42 with
leave-one-out on the complete model). For an encoder alone it falls by 0.28; by 0.24 with a baseline of
zeros, where normalisation hides the length of vectors; and by 0.29 with leave-one-out, whose time grows
with the square of the text length.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from headwise.linear.attributions import (
    Doubles,
    column_coefficients,
    leave_one_out_attributions,
    pair_attributions,
    surface_attributions,
    tabular_attributions,
    text_attributions,
    vector_attributions,
)
from headwise.linear.linear_model import LinearModel
from headwise.linear.pair_features import NUMBERS
from headwise.linear.tabular_features import column_slices, tabular_features
from headwise.text.text_features import EncodedPair, EncodedText

EncodedItem = EncodedText | EncodedPair
"""A text or a pair of texts, as a model has encoded it."""


def attribute_words(
    model: Any, encoded: Sequence[EncodedItem], output_weights: NDArray[np.float64]
) -> list[dict[str, Doubles]]:
    """The attribution of each word to `output_weights @ logits`, by the parts of the model with a nonzero
    weight.

    Args:
        model: A model of texts or of pairs.
        encoded: The encoded items; a text may occur more than once.
        output_weights: The weight of each output, `[texts, outputs]`.

    Returns:
        For each text, the attributions of its words, `[words]`, by the name of the part (`encoder`,
        `base`, `linear_model`); for a pair, of the words of both texts.
    """
    parts: dict[str, list[Doubles]] = {}
    encoder_output_weights = output_weights * model.encoder_weight
    if encoder_output_weights.any():
        from headwise.models.encoder_attributions import encoder_parts  # with it comes torch

        parts |= encoder_parts(model, encoded, encoder_output_weights)
    if model.linear_model is not None and model.linear_weight:
        parts["linear_model"] = _linear_attributions(model, encoded, output_weights * model.linear_weight)
    return [{name: rows[number] for name, rows in parts.items()} for number in range(len(encoded))]


def attribute_surface_features(
    model: Any, encoded: Sequence[EncodedItem], output_weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The attributions of the surface features of each text to `output_weights @ logits` through the
    linear model, `[texts, FORM]` (see `headwise.linear.attributions.surface_attributions`); None if it
    has no surface features."""
    linear_model = model.linear_model
    if linear_model is None or not linear_model.form or not model.linear_weight:
        return None
    texts = [text.text for text in cast("Sequence[EncodedText]", encoded)]  # pairs have no such features
    return surface_attributions(linear_model.contents(), texts, output_weights * model.linear_weight)


def attribute_columns(
    model: Any, encoded: Sequence[EncodedItem], output_weights: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """The attributions of the columns beside each text to `output_weights @ logits` through the linear
    model, relative to an average row, `[texts, columns]`; None if the model reads no such columns."""
    linear_model = model.linear_model
    encodings = model.config.linear_model.tabular
    if linear_model is None or not encodings or not model.linear_weight:
        return None
    features = tabular_features(encoded, model.config.linear_model.tabular_width)
    attributions = tabular_attributions(
        linear_model.contents(), features, output_weights * model.linear_weight
    )
    return np.stack([attributions[:, place].sum(axis=1) for place in column_slices(encodings)], axis=1)


def _linear_attributions(
    model: Any, encoded: Sequence[EncodedItem], output_weights: NDArray[np.float64]
) -> list[Doubles]:
    linear = model.linear_model.contents()
    if linear.pairs:
        pairs = cast("Sequence[EncodedPair]", encoded)
        attributions = [
            np.concatenate(pair_attributions(linear, (pair.first.text, pair.second.text), line))
            for pair, line in zip(pairs, output_weights, strict=True)
        ]
        if model.linear_model.vectors:
            scorers = [partial(_dense_score, linear, line) for line in output_weights]
            sides = model.pair_sides(pairs)
            for of_words, more in zip(
                attributions, leave_one_out_attributions(sides, scorers), strict=True
            ):
                of_words[: len(more)] += more
        return attributions
    texts = cast("Sequence[EncodedText]", encoded)
    attributions = [
        text_attributions(linear, text.text, line) for text, line in zip(texts, output_weights, strict=True)
    ]
    if model.linear_model.vectors:
        adds = model.word_contributions(texts)
        for of_words, addends, line in zip(attributions, adds, output_weights, strict=True):
            of_words[: len(addends)] += vector_attributions(linear, addends, line)[0]
    return attributions


def _dense_score(linear: LinearModel, output_weights: NDArray[np.float64], compared: NDArray) -> float:
    """The score that a linear model of pairs computes from the comparison features of the two texts."""
    vectors, numbers = np.split(compared[None], [-NUMBERS], axis=1)
    dense = linear.dense(1, vectors, numbers)
    return float((dense @ linear.coefficients.dense)[0] @ column_coefficients(output_weights, linear))
