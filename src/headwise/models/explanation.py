"""Explanation: the attribution of each word of a text to one prediction, and how it is shown.

`headwise.models.text_explanation` explains labels and numbers, `headwise.models.tag_explanation` tags.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from headwise.core.config import JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.html import notebook_html, render
from headwise.core.surface_features import NAMES

_AROUND = 25  # words shown on either side of the explained span, where a part of the text is explained


@renamed_parameters(share="attribution")
@dataclass(frozen=True)
class WordAttribution:
    """The attribution of a word: what it adds to the margin of the prediction.

    Attributes:
        word: The word as written in the text.
        start: The offset of its first character in the text.
        end: The offset after its last character.
        attribution: Positive if the word supports the prediction, negative if it opposes it.
        parts: The attribution by the parts of the model: `encoder`, `base`, `linear_model`.
        side: 0, or 1 for a word of the second text of a pair.
    """

    word: str
    start: int
    end: int
    attribution: float
    parts: Mapping[str, float]
    side: int = 0


@renamed_parameters(share="attribution")
@dataclass(frozen=True)
class SurfaceAttribution:
    """The attribution of the surface features of a text, relative to those of a plain sentence.

    Attributes:
        strongest: The feature that adds most in the direction of `attribution`: `length`, `capitals`,
            `line ends` (see `headwise.core.surface_features.NAMES`).
        attribution: The sum over all surface features; signed as those of words.
    """

    strongest: str
    attribution: float

    @classmethod
    def of(cls, attributions: np.ndarray) -> "SurfaceAttribution":
        """The total of the attributions of features, `[features]`, and the strongest feature."""
        total = float(attributions.sum())
        return cls(NAMES[int(np.argmax(attributions * np.sign(total)))], total)

    @property
    def summary(self) -> str:
        """The strongest feature and the total, as one line."""
        return f"surface features: {self.strongest} {self.attribution:+.2f}"


@renamed_parameters(share="attribution")
@dataclass(frozen=True)
class ColumnAttribution:
    """The attribution of a column beside the text, relative to an average row.

    Attributes:
        name: The name of the column.
        value: Its value, as text; `missing` for an empty cell.
        attribution: Signed as those of words.
    """

    name: str
    value: str
    attribution: float

    @property
    def summary(self) -> str:
        """`price 12.5 +0.31`."""
        return f"{self.name} {self.value} {self.attribution:+.2f}"


@renamed_parameters(
    about="explained_span", without="removed_words", left="value_after_removal", form="surface_features"
)
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
        explained_span: The start and end offset of the explained part of the text, in characters; None for
            the whole item.
        removed_words: The words whose removal lowers the prediction most
            (`headwise.models.text_explanation`).
        value_after_removal: The probability of the label, or the number, after their removal; None if none
            were removed.
        surface_features: The attribution of the surface features; None if the model does not read them.
        columns: The attribution of each column beside the text, in the order of training.
    """

    item: int
    texts: tuple[str, ...]
    prediction: str
    probability: float | None
    margin: float
    rest: float
    words: tuple[WordAttribution, ...]
    explained_span: tuple[int, int] | None = None
    removed_words: tuple[str, ...] = ()
    value_after_removal: float | None = None
    surface_features: SurfaceAttribution | None = None
    columns: tuple[ColumnAttribution, ...] = ()

    def __repr__(self) -> str:
        words = ", ".join(f"{word} {attribution:+.2f}" for word, attribution in self.first(5))
        return f"<Explanation of {self.prediction}{self.chance}: {words or 'no word supports it'}>"

    def first(self, count: int = 3) -> list[tuple[str, float]]:
        """The words with the largest positive attributions, each summed over its occurrences."""
        return self._ranked(count, 1)

    def strongest_against(self, count: int = 3) -> list[tuple[str, float]]:
        """The words with the largest negative attributions, each summed over its occurrences."""
        return self._ranked(count, -1)

    def _ranked(self, count: int, sign: int) -> list[tuple[str, float]]:
        sums: dict[str, float] = {}
        for word in self.words:
            sums[word.word] = sums.get(word.word, 0.0) + word.attribution
        ranked = sorted(sums.items(), key=lambda pair: -sign * pair[1])[:count]
        return [(word, attribution) for word, attribution in ranked if sign * attribution > 0]

    @property
    def span(self) -> str:
        """The text of the explained span; "" for the whole item."""
        return "" if self.explained_span is None else self.texts[0][slice(*self.explained_span)]

    @property
    def chance(self) -> str:
        """The probability as it is shown after the prediction; "" for a number."""
        return "" if self.probability is None else f" {100 * self.probability:.1f} %"

    @property
    def remaining(self) -> str:
        """The `value_after_removal` as it is shown; "" if no words were removed."""
        if self.value_after_removal is None:
            return ""
        if self.probability is not None:
            return f"{100 * self.value_after_removal:.1f} %"
        if "e" in self.prediction:  # a very small number
            return f"{self.value_after_removal:.6g}"
        places = len(self.prediction.partition(".")[2])  # as many decimals as the predicted number has
        return f"{self.value_after_removal:.{places}f}"

    @property
    def head(self) -> str:
        """The prediction, the explained span if any, and the probability, as one line."""
        span = "" if self.explained_span is None else f" ({self.span})"
        return f"{self.prediction}{span}{self.chance}"

    @property
    def tail(self) -> str:
        """The prediction after the removal of `removed_words`, as one line; "" if no words were removed."""
        if self.value_after_removal is None:
            return ""
        prediction = "" if self.probability is None else f"{self.prediction} "
        words = ", ".join(f'"{word}"' for word in self.removed_words)
        return f"{prediction}without {words}: {self.remaining}"

    def strengths(self) -> list[float]:
        """The attribution of each word divided by the largest one of the text, from -1 to 1."""
        most = max((abs(word.attribution) for word in self.words), default=0.0) or 1.0
        return [word.attribution / most for word in self.words]

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
        if self.explained_span is None:
            return full_span
        begin, end = self.explained_span
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
        start, end = self.explained_span or (None, None)
        fields = {
            **({"texts": list(self.texts)} if paired else {"text": self.texts[0]}),
            "prediction": self.prediction,
            "start": start,
            "end": end,
            "probability": self.probability,
            "removed_words": None if self.value_after_removal is None else list(self.removed_words),
            "value_after_removal": self.value_after_removal,
            "margin": self.margin,
            "rest": self.rest,
            "surface_features": None if self.surface_features is None else asdict(self.surface_features),
            "columns": [asdict(column) for column in self.columns] or None,
            "words": [
                {
                    "word": word.word,
                    **({"text": word.side + 1} if paired else {}),
                    "start": word.start,
                    "end": word.end,
                    "attribution": word.attribution,
                    **word.parts,
                }
                for word in self.words
            ],
        }
        return {name: value for name, value in fields.items() if value is not None}

    def to_html(self) -> str:
        """An HTML fragment: the prediction, and the text with highlighted words. Everything is escaped."""
        return str(render("explanation.html.jinja", content=self))

    def _repr_html_(self) -> str:
        return notebook_html(self.to_html())


class ExplanationList(list[Explanation]):
    """Explanations, which a notebook shows one below the other."""

    def to_html(self) -> str:
        """The HTML fragments of the explanations."""
        return "".join(explanation.to_html() for explanation in self)

    def _repr_html_(self) -> str:
        return notebook_html(self.to_html())
