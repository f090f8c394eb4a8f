"""Explanations of predictions: the attribution of each word to the margin of a label, or to a number.

`explain_labels` takes the margin of the predicted label from calibrated logits, `word_attributions`
divides it among the words, and surface features and a rest complete the sum.

Attributions are additive, but models are not: two words may carry the same evidence. So all occurrences of
a few sets of three of the words with the largest attributions are removed, and the set that lowers the
prediction most is reported.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import log_softmax, softmax
from headwise.core.config import JsonObject
from headwise.core.html import html_page, render
from headwise.core.surface_features import NAMES
from headwise.data.columns.tabular_columns import TabularRow
from headwise.data.items.examples import Example
from headwise.metrics.regression_scores import Scale
from headwise.metrics.thresholds import predict_labels
from headwise.models.word_attributions import (
    AttributedModel,
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


class LabelModel(AttributedModel, Protocol):
    """A model with calibrated probabilities of labels. (Attributes that its `outputs` hold are descriptors,
    which fit no protocol: callers cast.)"""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def temperature(self) -> float: ...

    def logits(self, encoded: Sequence[EncodedItem], /) -> NDArray[np.floating]:
        """The outputs before calibration, `[items, labels]`."""
        ...

    def calibrated(self, logits: NDArray[np.floating], /) -> NDArray[np.float64]:
        """Logits `[items, labels]` -> calibrated logits."""
        ...

    def probabilities(self, logits: NDArray[np.floating], /) -> NDArray[np.floating]:
        """Logits `[items, labels]` -> calibrated probabilities."""
        ...


class SingleLabelModel(LabelModel, Protocol):
    """A model that predicts one of several labels."""

    @property
    def thresholds(self) -> list[float] | None: ...


class LabelSetModel(LabelModel, Protocol):
    """A model that predicts a set of labels."""

    def chosen_labels(self, probabilities: NDArray[np.floating], /) -> NDArray[np.bool_]:
        """Whether each label is predicted, `[items, labels]`."""
        ...


class NumberModel(AttributedModel, Protocol):
    """A model that predicts numbers."""

    @property
    def scale(self) -> Scale: ...

    def scores(self, encoded: Sequence[EncodedItem], /) -> NDArray[np.floating]:
        """The predicted numbers, `[items]`."""
        ...


def add_removal_effects(
    model: AttributedModel,
    explanations: Sequence["Explanation"],
    say: PredictFunction,
    rows: Sequence[TabularRow | None] = (),
) -> list["Explanation"]:
    """Explanations with `without` and `left` filled in; `rows` are the columns beside their texts, if the
    model reads any."""
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
    left = say(model.encoded(shortened), numbers)
    best: dict[int, tuple[float, tuple[str, ...]]] = {}
    for (number, words), value in zip(tried, left.tolist(), strict=True):
        best[number] = min(best.get(number, (np.inf, ())), (value, words))
    none = (None, ())
    return [
        replace(explanation, without=words, left=value)
        for explanation, (value, words) in zip(
            explanations, (best.get(n, none) for n in range(len(explanations))), strict=True
        )
    ]


def _candidate_sets(explanation: "Explanation") -> list[tuple[str, ...]]:
    words = [word for word, _ in explanation.first(_WORDS)]
    if len(words) < 4:
        return [tuple(words)] if words else []
    return [tuple(words[place] for place in places) for places in _SETS if places[-1] < len(words)]


def remove_words(explanation: "Explanation", words: Sequence[str]) -> str | tuple[str, ...]:
    """The text, or both texts of a pair, with all occurrences of `words` removed."""
    texts = []
    for side, text in enumerate(explanation.texts):
        rest, last = "", 0
        for word in explanation.words:
            if word.side == side and word.word in words:
                rest, last = _join(rest, text[last : word.start]), word.end
        texts.append(_join(rest, text[last:]))
    return texts[0] if len(texts) == 1 else tuple(texts)


def _join(before: str, after: str) -> str:
    """Two pieces of a text joined, with a space if their words would otherwise run together."""
    return before + " " * (before[-1:].isalnum() and after[:1].isalnum()) + after


_AROUND = 25  # words shown on either side of the explained span, where a part of the text is explained


@dataclass(frozen=True)
class WordAttribution:
    """The attribution of a word: what it adds to the margin of the prediction.

    Attributes:
        word: The word as written in the text.
        start: The offset of its first character in the text.
        end: The offset after its last character.
        share: The attribution; positive if the word supports the prediction, negative if it opposes it.
        parts: The attribution by the parts of the model: `encoder`, `base`, `linear_model`.
        side: 0, or 1 for a word of the second text of a pair.
    """

    word: str
    start: int
    end: int
    share: float
    parts: Mapping[str, float]
    side: int = 0


@dataclass(frozen=True)
class SurfaceAttribution:
    """The attribution of the surface features of a text, relative to those of a plain sentence.

    Attributes:
        strongest: The feature that adds most in the direction of `share`: `length`, `capitals`,
            `line ends` (see `headwise.core.surface_features.NAMES`).
        share: The sum of the attributions of all surface features; signed as those of words.
    """

    strongest: str
    share: float

    @classmethod
    def of(cls, shares: np.ndarray) -> "SurfaceAttribution":
        """The total, and the strongest feature, of the attributions `shares`, `[features]`."""
        share = float(shares.sum())
        return cls(NAMES[int(np.argmax(shares * np.sign(share)))], share)

    @property
    def summary(self) -> str:
        """The strongest feature and the total, as one line."""
        return f"form: {self.strongest} {self.share:+.2f}"


@dataclass(frozen=True)
class ColumnAttribution:
    """The attribution of a column beside the text, relative to an average row.

    Attributes:
        name: The name of the column.
        value: Its value, as text; `missing` for an empty cell.
        share: The attribution; signed as those of words.
    """

    name: str
    value: str
    share: float

    @property
    def summary(self) -> str:
        """`price 12.5 +0.31`."""
        return f"{self.name} {self.value} {self.share:+.2f}"


@dataclass(frozen=True)
class Explanation:
    """The explanation of one prediction.

    Attributes:
        item: The index of the item among those that were passed in, from 0.
        texts: The text, or both texts of a pair.
        prediction: The explained prediction: a label, or a number as it is written.
        probability: The probability of the label; None for a number.
        margin: For a label, its calibrated log-odds against the other labels, which are weighted by their
            probabilities relative to each other (`explain_labels`). For a number, its difference from the
            mean of the training targets.
        rest: The part of the margin that no word, surface feature or column accounts for.
        words: The attribution of each word, in the order of the text.
        about: The start and end offset of the explained span, in characters; None for the whole item.
        without: The words whose removal lowers the prediction most
            (`headwise.models.explanation`).
        left: The probability of the label, or the number, after their removal; None if none were removed.
        form: The attribution of the surface features; None if the model does not read them.
        columns: The attribution of each column beside the text, in the order of training.
    """

    item: int
    texts: tuple[str, ...]
    prediction: str
    probability: float | None
    margin: float
    rest: float
    words: tuple[WordAttribution, ...]
    about: tuple[int, int] | None = None
    without: tuple[str, ...] = ()
    left: float | None = None
    form: SurfaceAttribution | None = None
    columns: tuple[ColumnAttribution, ...] = ()

    def first(self, count: int = 3) -> list[tuple[str, float]]:
        """The words with the largest positive attributions, each summed over its occurrences."""
        return self._ranked(count, 1)

    def strongest_against(self, count: int = 3) -> list[tuple[str, float]]:
        """The words with the largest negative attributions, each summed over its occurrences."""
        return self._ranked(count, -1)

    def _ranked(self, count: int, sign: int) -> list[tuple[str, float]]:
        sums: dict[str, float] = {}
        for word in self.words:
            sums[word.word] = sums.get(word.word, 0.0) + word.share
        ranked = sorted(sums.items(), key=lambda pair: -sign * pair[1])[:count]
        return [(word, share) for word, share in ranked if sign * share > 0]

    @property
    def span(self) -> str:
        """The text of the explained span; "" for the whole item."""
        return "" if self.about is None else self.texts[0][slice(*self.about)]

    @property
    def chance(self) -> str:
        """The probability as it is shown after the prediction; "" for a number."""
        return "" if self.probability is None else f" {100 * self.probability:.1f} %"

    @property
    def remaining(self) -> str:
        """The probability or the number after the removal of `without`; "" if no words were removed."""
        if self.left is None:
            return ""
        places = len(self.prediction.partition(".")[2])  # as many decimals as the predicted number has
        return f"{self.left:.{places}f}" if self.probability is None else f"{100 * self.left:.1f} %"

    @property
    def head(self) -> str:
        """The prediction, the explained span if any, and the probability, as one line."""
        about = "" if self.about is None else f" ({self.span})"
        return f"{self.prediction}{about}{self.chance}"

    @property
    def tail(self) -> str:
        """The prediction after the removal of `without`, as one line; "" if no words were removed."""
        if self.left is None:
            return ""
        prediction = "" if self.probability is None else f"{self.prediction} "
        return f"{prediction}without {', '.join(self.without)}: {self.remaining}"

    def strengths(self) -> list[float]:
        """The attribution of each word divided by the largest one of the text, from -1 to 1."""
        most = max((abs(word.share) for word in self.words), default=0.0) or 1.0
        return [word.share / most for word in self.words]

    def pieces(self) -> list[list[tuple[str, WordAttribution | None, float]]]:
        """The segments of each text for display: the text before a word, the word, and its strength; the
        last segment is the text after all words. Where a span of a long text is explained, only the words
        around it are included."""
        pieces, strengths, (begin, end) = [], self.strengths(), self._shown()
        for side, text in enumerate(self.texts):
            low, high = (begin, end) if side == 0 else (0, len(text))
            rows, last, more = list[tuple[str, WordAttribution | None, float]](), low, "… " * (low > 0)
            for word, strength in zip(self.words, strengths, strict=True):
                if word.side == side and low <= word.start < high:
                    rows.append((more + text[last : word.start], word, strength))
                    last, more = word.end, ""
            pieces.append([*rows, (text[last:high] + " …" * (high < len(text)), None, 0.0)])
        return pieces

    def _shown(self) -> tuple[int, int]:
        """The start and end offset of the displayed part of the first text."""
        full_span = (0, len(self.texts[0]))
        if self.about is None:
            return full_span
        begin, end = self.about
        places = [n for n, word in enumerate(self.words) if word.start < end and word.end > begin]
        if not places:
            return full_span
        first, last = places[0] - _AROUND, places[-1] + _AROUND
        return (
            self.words[first].start if first > 0 else 0,
            self.words[last].end if last < len(self.words) - 1 else full_span[1],
        )

    def to_json(self) -> JsonObject:
        """A JSON object."""
        paired = len(self.texts) > 1
        return {
            **({"texts": list(self.texts)} if paired else {"text": self.texts[0]}),
            "said": self.prediction,
            **({} if self.about is None else dict(zip(("start", "end"), self.about, strict=True))),
            **({} if self.probability is None else {"probability": self.probability}),
            **({} if self.left is None else {"without": list(self.without), "left": self.left}),
            "margin": self.margin,
            "rest": self.rest,
            **({} if self.form is None else {"form": asdict(self.form)}),
            **({"columns": [asdict(column) for column in self.columns]} if self.columns else {}),
            "words": [
                {
                    "word": word.word,
                    **({"text": word.side + 1} if paired else {}),
                    "start": word.start,
                    "end": word.end,
                    "share": word.share,
                    **word.parts,
                }
                for word in self.words
            ],
        }

    def to_html(self) -> str:
        """An HTML fragment: the prediction, and the text with highlighted words. Everything is escaped."""
        return str(render("explanation.html.jinja", content=self))

    def _repr_html_(self) -> str:
        return html_page("", self.to_html(), full=False)


def explain_labels(model: SingleLabelModel, encoded: Sequence[EncodedItem]) -> list[Explanation]:
    """Explanations of the labels that a classifier predicts for texts or pairs.

    The margin of the label y is `z_y - sum_k q_k z_k` with the calibrated logits z and the probability q_k
    of each other label among the others. For two labels it is the difference of their logits (log-odds).
    """
    logits = model.calibrated(model.logits(encoded))
    rows, chosen = np.arange(len(logits)), predict_labels(softmax(logits, axis=1), model.thresholds)
    other_logits = logits.copy()
    other_logits[rows, chosen] = -np.inf
    toward = -softmax(other_logits, axis=1)
    toward[rows, chosen] = 1.0
    chances = np.exp(log_softmax(logits, axis=1))[rows, chosen]
    margins = (toward * logits).sum(axis=1)
    predictions = [model.labels[number] for number in chosen.tolist()]
    toward /= model.temperature
    return _explanations(
        model, encoded, rows, predictions, chances.tolist(), margins, toward, _probabilities(model, chosen)
    )


def explain_multi_label(model: LabelSetModel, encoded: Sequence[EncodedItem]) -> list[Explanation]:
    """Explanations of each predicted label of texts; for a text without predicted labels, of its most
    probable label. The margin is the log-odds of the label."""
    outputs = model.logits(encoded)
    logits, probabilities = model.calibrated(outputs), model.probabilities(outputs)
    predicted = model.chosen_labels(probabilities)
    none = ~predicted.any(axis=1)
    predicted[none, logits[none].argmax(axis=1)] = True
    items, labels = np.nonzero(predicted)
    toward = np.eye(len(model.labels))[labels] / model.temperature
    predictions = [model.labels[label] for label in labels.tolist()]
    chances, margins = probabilities[items, labels].tolist(), logits[items, labels]
    return _explanations(
        model,
        [encoded[item] for item in items.tolist()],
        items,
        predictions,
        chances,
        margins,
        toward,
        _probabilities(model, labels),
    )


def _probabilities(model: LabelModel, labels: np.ndarray) -> PredictFunction:
    """A function that returns the probability of each explanation's label."""

    def say(encoded: Sequence[EncodedItem], numbers: NDArray[np.int64]) -> NDArray[np.floating]:
        return model.probabilities(model.logits(encoded))[np.arange(len(numbers)), labels[numbers]]

    return say


def explain_numbers(model: NumberModel, encoded: Sequence[EncodedItem]) -> list[Explanation]:
    """Explanations of the numbers that a model predicts for texts or pairs."""
    numbers = model.scores(encoded)
    toward = np.full((len(numbers), 1), model.scale.deviation)
    predictions = [model.scale.written(float(number)) for number in numbers]
    away, items = numbers - model.scale.mean, np.arange(len(numbers))
    say: PredictFunction = lambda encoded, _: model.scores(encoded)  # noqa: E731
    return _explanations(model, encoded, items, predictions, [None] * len(predictions), away, toward, say)


def _explanations(
    model: AttributedModel,
    encoded: Sequence[EncodedItem],
    items: np.ndarray,
    predictions: Sequence[str],
    chances: Sequence[float | None],
    margins: np.ndarray,
    toward: np.ndarray,
    say: PredictFunction,
) -> list[Explanation]:
    cut, explanations = model.features.tokenizer.spans, []
    formed = attribute_surface_features(model, encoded, toward)
    of_columns = attribute_columns(model, encoded, toward)
    for number, parts in enumerate(attribute_words(model, encoded, toward)):
        encoded_item = encoded[number]
        is_text = isinstance(encoded_item, EncodedText)
        sides = (encoded_item,) if is_text else (encoded_item.first, encoded_item.second)
        spans = [(side, *span) for side, text in enumerate(sides) for span in cut(text.text)]
        # The encoder may have read a truncated text: the words after that have the attribution 0.
        rows = [[*part.tolist(), *[0.0] * (len(spans) - len(part))] for part in parts.values()]
        words = [
            WordAttribution(
                sides[side].text[start:end],
                start,
                end,
                sum(word_shares),
                dict(zip(parts, word_shares, strict=True)),
                side,
            )
            for (side, start, end), *word_shares in zip(spans, *rows, strict=True)
        ]
        margin = float(margins[number])
        form = None if formed is None else SurfaceAttribution.of(formed[number])
        rest = margin - sum(word.share for word in words) - (form.share if form else 0.0)
        columns = ()
        if of_columns is not None and sides[0].row is not None:
            columns = _column_attributions(sides[0].row, of_columns[number])
            rest -= sum(column.share for column in columns)
        texts = tuple(text.text for text in sides)
        item, chance = int(items[number]), chances[number]
        what = (item, texts, predictions[number], chance, margin, rest, tuple(words))
        explanations.append(Explanation(*what, form=form, columns=columns))
    rows = [item.row for item in encoded if isinstance(item, EncodedText)]
    return add_removal_effects(model, explanations, say, rows if model.config.linear_model.tabular else ())


def _column_attributions(row: TabularRow, shares: NDArray[np.float64]) -> tuple[ColumnAttribution, ...]:
    columns = zip(row.columns, row.shown, shares.tolist(), strict=True)
    return tuple(ColumnAttribution(column.name, value, share) for column, value, share in columns)
