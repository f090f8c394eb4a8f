"""Explanations of the predictions of models of texts and of pairs: of labels, label sets and numbers.

`explain_labels` takes the margin of the predicted label from calibrated logits, `word_attributions`
divides it among the words, and surface features and a rest complete the sum.

Attributions are additive, but models are not: two words may carry the same evidence. So all occurrences of
a few sets of three of the words with the largest attributions are removed, and the set that lowers the
prediction most is reported.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import log_softmax, softmax
from headwise.data.columns.tabular_columns import TabularRow
from headwise.data.items.examples import Example
from headwise.metrics.thresholds import predict_labels
from headwise.models.explanation import ColumnAttribution, Explanation, SurfaceAttribution, WordAttribution
from headwise.models.word_attributions import (
    EncodedItem,
    attribute_columns,
    attribute_surface_features,
    attribute_words,
)
from headwise.text.text_features import EncodedText

_SETS = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 4))
"""Ranks of the words in each set, by attribution. On held-out training texts, trying all ten sets of five
words lowers the prediction no further, and greedy removal lowers it less at three times the cost."""
_WORDS = 5

PredictFunction = Callable[[Sequence[EncodedItem], NDArray[np.int64]], NDArray[np.floating]]
"""A function of encoded items and the indices of their explanations, `[items]`, that returns the
probability of the explained label, or the predicted number, `[items]`."""


def add_removal_effects(
    model: Any,
    explanations: Sequence[Explanation],
    predict: PredictFunction,
    rows: Sequence[TabularRow | None] = (),
) -> list[Explanation]:
    """The explanations with `removed_words` and `value_after_removal`; `rows` are the columns beside their
    texts, if the model reads any."""
    tried = [
        (number, words)
        for number, explanation in enumerate(explanations)
        for words in _candidate_sets(explanation)
    ]
    if not tried or model.features.trees != "none":  # a shortened text does not have the parse of the text
        return list(explanations)
    numbers = np.array([number for number, _ in tried])
    shortened: list[object] = [remove_words(explanations[number], words) for number, words in tried]
    if rows:
        shortened = [
            Example(str(text), tabular=rows[number])
            for text, (number, _) in zip(shortened, tried, strict=True)
        ]
    left = predict(model.encoded(shortened), numbers)
    best: dict[int, tuple[float, tuple[str, ...]]] = {}
    for (number, words), value in zip(tried, left.tolist(), strict=True):
        best[number] = min(best.get(number, (np.inf, ())), (value, words))
    none = (None, ())
    return [
        replace(explanation, removed_words=words, value_after_removal=value)
        for explanation, (value, words) in zip(
            explanations, (best.get(n, none) for n in range(len(explanations))), strict=True
        )
    ]


def _candidate_sets(explanation: Explanation) -> list[tuple[str, ...]]:
    words = [word for word, _ in explanation.first(_WORDS)]
    if len(words) < 4:
        return [tuple(words)] if words else []
    return [tuple(words[place] for place in places) for places in _SETS if places[-1] < len(words)]


def remove_words(explanation: Explanation, words: Sequence[str]) -> str | tuple[str, ...]:
    """The text, or both texts of a pair, with all occurrences of `words` removed."""
    texts = []
    for side, text in enumerate(explanation.texts):
        rest, last = "", 0
        for word in explanation.words:
            if word.side == side and word.word in words:
                rest, last = _join_texts(rest, text[last : word.start]), word.end
        texts.append(_join_texts(rest, text[last:]))
    return texts[0] if len(texts) == 1 else tuple(texts)


def _join_texts(before: str, after: str) -> str:
    """Two pieces of a text joined, with a space if their words would otherwise run together."""
    return before + " " * (before[-1:].isalnum() and after[:1].isalnum()) + after


def _explanations(
    model: Any,
    encoded: Sequence[EncodedItem],
    items: np.ndarray,
    predictions: Sequence[str],
    chances: Sequence[float | None],
    margins: np.ndarray,
    output_weights: np.ndarray,
    predict: PredictFunction,
) -> list[Explanation]:
    """The explanations of predictions; an item may have several.

    Args:
        model: The model.
        encoded: The encoded item of each prediction.
        items: The index of the item of each prediction.
        predictions: The predicted labels, or numbers as they are written.
        chances: The probabilities of the labels; None for numbers.
        margins: The quantities to divide among the words: margins of labels, or deviations of numbers from
            the mean.
        output_weights: The factors of the outputs in these quantities, `[predictions, outputs]`.
        predict: Predicts again, without some words.
    """
    arguments = model, encoded, output_weights
    surface, columns = attribute_surface_features(*arguments), attribute_columns(*arguments)
    explanations = []
    for number, parts in enumerate(attribute_words(*arguments)):
        sides = _sides(encoded[number])
        words = _word_attributions(model, sides, parts)
        of_surface = None if surface is None else SurfaceAttribution.of(surface[number])
        of_columns = ()
        if columns is not None and sides[0].row is not None:
            of_columns = _column_attributions(sides[0].row, columns[number])
        margin = float(margins[number])
        rest = margin - sum(word.attribution for word in words)
        rest -= of_surface.attribution if of_surface else 0.0
        rest -= sum(column.attribution for column in of_columns)
        explanations.append(
            Explanation(
                int(items[number]),
                tuple(text.text for text in sides),
                predictions[number],
                chances[number],
                margin,
                rest,
                words,
                surface_features=of_surface,
                columns=of_columns,
            )
        )
    rows = [item.row for item in encoded if isinstance(item, EncodedText)]
    reads_columns = bool(model.config.linear_model.tabular)
    return add_removal_effects(model, explanations, predict, rows if reads_columns else ())


def explain_labels(model: Any, encoded: Sequence[EncodedItem]) -> list[Explanation]:
    """Explanations of the labels that a classifier predicts for texts or pairs.

    The margin of the label y is `z_y - sum_k q_k z_k` with the calibrated logits z and the probability q_k
    of each other label among the others. For two labels it is the difference of their logits (log-odds).
    """
    logits = model.calibrated(model.logits(encoded))
    rows, chosen = np.arange(len(logits)), predict_labels(softmax(logits, axis=1), model.thresholds)
    other_logits = logits.copy()
    other_logits[rows, chosen] = -np.inf
    output_weights = -softmax(other_logits, axis=1)
    output_weights[rows, chosen] = 1.0
    chances = np.exp(log_softmax(logits, axis=1))[rows, chosen]
    margins = (output_weights * logits).sum(axis=1)
    predictions = [model.labels[number] for number in chosen.tolist()]
    output_weights /= model.temperature
    predict = _probabilities(model, chosen)
    return _explanations(
        model, encoded, rows, predictions, chances.tolist(), margins, output_weights, predict
    )


def explain_multi_label(model: Any, encoded: Sequence[EncodedItem]) -> list[Explanation]:
    """Explanations of each predicted label of texts; for a text without predicted labels, of its most
    probable label. The margin is the log-odds of the label."""
    outputs = model.logits(encoded)
    logits, probabilities = model.calibrated(outputs), model.probabilities(outputs)
    predicted = model.chosen_labels(probabilities)
    none = ~predicted.any(axis=1)
    predicted[none, logits[none].argmax(axis=1)] = True
    items, labels = np.nonzero(predicted)
    output_weights = np.eye(len(model.labels))[labels] / model.temperature
    predictions = [model.labels[label] for label in labels.tolist()]
    chances, margins = probabilities[items, labels].tolist(), logits[items, labels]
    repeated, predict = [encoded[item] for item in items.tolist()], _probabilities(model, labels)
    return _explanations(model, repeated, items, predictions, chances, margins, output_weights, predict)


def _probabilities(model: Any, labels: np.ndarray) -> PredictFunction:
    """A function that returns the probability of each explanation's label."""

    def predict(encoded: Sequence[EncodedItem], numbers: NDArray[np.int64]) -> NDArray[np.floating]:
        return model.probabilities(model.logits(encoded))[np.arange(len(numbers)), labels[numbers]]

    return predict


def explain_numbers(model: Any, encoded: Sequence[EncodedItem]) -> list[Explanation]:
    """Explanations of the numbers that a model predicts for texts or pairs."""
    numbers = model.scores(encoded)
    output_weights = np.full((len(numbers), 1), model.scale.deviation)
    predictions = [model.scale.written(float(number)) for number in numbers]
    deviations, items = numbers - model.scale.mean, np.arange(len(numbers))
    predict: PredictFunction = lambda encoded, _: model.scores(encoded)  # noqa: E731
    chances = [None] * len(predictions)
    return _explanations(model, encoded, items, predictions, chances, deviations, output_weights, predict)


def _sides(item: EncodedItem) -> tuple[EncodedText, ...]:
    """The text, or both texts of a pair."""
    return (item,) if isinstance(item, EncodedText) else (item.first, item.second)


def _word_attributions(
    model: Any, sides: Sequence[EncodedText], parts: Mapping[str, NDArray[np.floating]]
) -> tuple[WordAttribution, ...]:
    """The attribution of each word of a text or pair.

    Args:
        model: The model.
        sides: The text, or both texts.
        parts: The attributions by the part of the model that they come from, `[words]`.
    """
    find_words = model.features.tokenizer.spans
    spans = [(side, *span) for side, text in enumerate(sides) for span in find_words(text.text)]
    # The encoder may have read a truncated text: the words after that have the attribution 0.
    rows = [[*part.tolist(), *[0.0] * (len(spans) - len(part))] for part in parts.values()]
    return tuple(
        WordAttribution(
            sides[side].text[start:end],
            start,
            end,
            sum(attributions),
            dict(zip(parts, attributions, strict=True)),
            side,
        )
        for (side, start, end), *attributions in zip(spans, *rows, strict=True)
    )


def _column_attributions(
    row: TabularRow, attributions: NDArray[np.float64]
) -> tuple[ColumnAttribution, ...]:
    columns = zip(row.columns, row.shown, attributions.tolist(), strict=True)
    return tuple(
        ColumnAttribution(column.name, value, attribution) for column, value, attribution in columns
    )
