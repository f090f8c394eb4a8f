"""Explanations: which words made a model say what it says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from headwise.linear.form import NAMES
from headwise.report.page import apart, escaped, page
from headwise.report.removal import Say, with_removal
from headwise.report.shares import divide, of_form
from headwise.scores.thresholds import decide

_FAINT = 0.12  # of the strongest word's share; what is less is not marked
_AROUND = 25  # words shown on either side of what is explained, where that is a part of the text


@dataclass(frozen=True)
class WordShare:
    """What a word adds to the margin.

    Attributes:
        word: As it stands in the text.
        start: Its first character in the text.
        end: The character after its last.
        share: Positive where it speaks for what is said, negative where it speaks against it.
        parts: The same by the parts of the model: `encoder`, `base`, `expert`.
        side: In which of the texts it stands: 0, or 1 for the second of a pair.
    """

    word: str
    start: int
    end: int
    share: float
    parts: Mapping[str, float]
    side: int = 0


@dataclass(frozen=True)
class FormShare:
    """What the form of a text adds to the margin, beside that of a plain sentence.

    Attributes:
        strongest: What of the form speaks loudest for or against what is said, as `share` does: `length`,
            `capitals`, `line ends` (see `headwise.linear.form.NAMES`).
        share: As of words.
    """

    strongest: str
    share: float

    @classmethod
    def of(cls, shares: np.ndarray) -> "FormShare":
        """By what each number of the form adds."""
        share = float(shares.sum())
        return cls(NAMES[int(np.argmax(shares * np.sign(share)))], share)

    @property
    def told(self) -> str:
        """In words."""
        return f"form: {self.strongest} {self.share:+.2f}"


@dataclass(frozen=True)
class Explanation:
    """Why a model says something of an item.

    Attributes:
        item: The number of the item among those that were asked about, from 0.
        texts: Its text, or both of a pair.
        said: What is explained: a label, or a number as it is written.
        probability: Of the label; None for a number.
        margin: How far the label is ahead: its calibrated log-odds against the others, each of which
            counts as much as it is probable beside the rest of them (`explain_labels`). Of a number, how
            far it is above the mean of the training.
        rest: What belongs to no word and not to the form: `margin` less all shares.
        words: What each word adds, in the order of the text.
        about: The characters of what is explained, its first and the one after its last; None where that is
            the whole item.
        without: The few words without which least is left, tried in earnest (`headwise.report.removal`).
        left: The probability of what is said, or the number, without them; None where nothing was tried.
        form: What the form of the text adds; None where the model does not read it.
    """

    item: int
    texts: tuple[str, ...]
    said: str
    probability: float | None
    margin: float
    rest: float
    words: tuple[WordShare, ...]
    about: tuple[int, int] | None = None
    without: tuple[str, ...] = ()
    left: float | None = None
    form: FormShare | None = None

    def first(self, count: int = 3) -> list[tuple[str, float]]:
        """The words that speak for it most, each with all places where it stands, and what they add."""
        return self._ranked(count, 1)

    def against(self, count: int = 3) -> list[tuple[str, float]]:
        """The words that speak against it most, likewise."""
        return self._ranked(count, -1)

    def _ranked(self, count: int, sign: int) -> list[tuple[str, float]]:
        sums: dict[str, float] = {}
        for own in self.words:
            sums[own.word] = sums.get(own.word, 0.0) + own.share
        found = sorted(sums.items(), key=lambda pair: -sign * pair[1])[:count]
        return [(word, share) for word, share in found if sign * share > 0]

    @property
    def head(self) -> str:
        """What is said, of what, and with which probability."""
        return self._head(str)

    def _head(self, shown: Callable[[str], str]) -> str:
        about = "" if self.about is None else f" ({shown(self.texts[0][slice(*self.about)])})"
        chance = "" if self.probability is None else f" {100 * self.probability:.1f} %"
        return f"{shown(self.said)}{about}{chance}"

    @property
    def tail(self) -> str:
        """What is left without a few words; "" where that was not tried."""
        return self._tail(str)

    def _tail(self, shown: Callable[[str], str]) -> str:
        if self.left is None:
            return ""
        places = len(self.said.partition(".")[2])  # of a number as many as it has itself
        left = f"{self.left:.{places}f}" if self.probability is None else f"{100 * self.left:.1f} %"
        said = "" if self.probability is None else f"{shown(self.said)} "
        return f"{said}without {', '.join(map(shown, self.without))}: {left}"

    def strengths(self) -> list[float]:
        """How strongly each word is marked, from -1 to 1, where 1 is the strongest of the text."""
        most = max((abs(own.share) for own in self.words), default=0.0) or 1.0
        return [own.share / most for own in self.words]

    def pieces(self) -> list[list[tuple[str, WordShare | None, float]]]:
        """Each text as it is shown: what stands before a word, the word, how strongly it is marked; and at
        last what stands behind all of them. Of a long text a part of which is explained, what is around."""
        found, strengths, (begin, end) = [], self.strengths(), self._shown()
        for side, text in enumerate(self.texts):
            low, high = (begin, end) if side == 0 else (0, len(text))
            rows, last, more = list[tuple[str, WordShare | None, float]](), low, "… " * (low > 0)
            for own, strength in zip(self.words, strengths, strict=True):
                if own.side == side and low <= own.start < high:
                    rows.append((more + text[last : own.start], own, strength))
                    last, more = own.end, ""
            found.append([*rows, (text[last:high] + " …" * (high < len(text)), None, 0.0)])
        return found

    def _shown(self) -> tuple[int, int]:
        """The characters of the first text that are shown."""
        whole = (0, len(self.texts[0]))
        if self.about is None:
            return whole
        begin, end = self.about
        places = [n for n, own in enumerate(self.words) if own.start < end and own.end > begin]
        if not places:
            return whole
        first, last = places[0] - _AROUND, places[-1] + _AROUND
        return (
            self.words[first].start if first > 0 else 0,
            self.words[last].end if last < len(self.words) - 1 else whole[1],
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        paired = len(self.texts) > 1
        return {
            **({"texts": list(self.texts)} if paired else {"text": self.texts[0]}),
            "said": self.said,
            **({} if self.about is None else dict(zip(("start", "end"), self.about, strict=True))),
            **({} if self.probability is None else {"probability": self.probability}),
            **({} if self.left is None else {"without": list(self.without), "left": self.left}),
            "margin": self.margin,
            "rest": self.rest,
            **({} if self.form is None else {"form": asdict(self.form)}),
            "words": [
                {
                    "word": own.word,
                    **({"text": own.side + 1} if paired else {}),
                    "start": own.start,
                    "end": own.end,
                    "share": own.share,
                    **own.parts,
                }
                for own in self.words
            ],
        }

    def to_html(self) -> str:
        """A piece of a page: what is said, and the text with its words marked. Everything is escaped."""
        texts = []
        for rows in self.pieces():
            shown = (
                escaped(text) + (_marked(own, strength) if own else "") for text, own, strength in rows
            )
            texts.append(f'<p class="hw-text">{"".join(shown)}</p>')
        notes = [self._tail(apart)] if self.tail else []
        notes += [escaped(self.form.told)] if self.form else []
        tail = "".join(f'<p class="hw-note">{note}</p>' for note in notes)
        return f'<article class="hw-why"><h3>{self._head(apart)}</h3>{"".join(texts)}{tail}</article>'

    def _repr_html_(self) -> str:
        return page("", self.to_html(), whole=False)


def _marked(own: WordShare, strength: float) -> str:
    word = escaped(own.word)
    if abs(strength) < _FAINT:
        return word
    kind = "for" if strength > 0 else "against"
    return f'<mark class="hw-{kind}" style="--s:{abs(strength):.2f}" title="{own.share:+.2f}">{word}</mark>'


def explain_labels(model: Any, encoded: Sequence[Any]) -> list[Explanation]:
    """Why a classifier of texts or pairs gives each the label that it gives it.

    The margin of the label y is `z_y - sum_k q_k z_k` with the calibrated logits z and the probability q_k
    of each other label among the others: of two labels the difference of their logits, that is, the
    log-odds.
    """
    logits = model.calibrated(model.logits(encoded))
    rows, chosen = np.arange(len(logits)), decide(softmax(logits, axis=1), model.thresholds)
    others = logits.copy()
    others[rows, chosen] = -np.inf
    toward = -softmax(others, axis=1)
    toward[rows, chosen] = 1.0
    chances = np.exp(log_softmax(logits, axis=1))[rows, chosen]
    margins = (toward * logits).sum(axis=1)
    said = [model.labels[number] for number in chosen.tolist()]
    toward /= model.temperature
    return _explained(
        model, encoded, rows, said, chances.tolist(), margins, toward, _probabilities(model, chosen)
    )


def explain_label_sets(model: Any, encoded: Sequence[Any]) -> list[Explanation]:
    """Why a model gives texts each label that it gives them; where it gives none, why it does not give the
    most probable one. The margin is the log-odds of the label."""
    outputs = model.logits(encoded)
    logits, probabilities = model.calibrated(outputs), model.probabilities(outputs)
    given = model.given(probabilities)
    none = ~given.any(axis=1)
    given[none, logits[none].argmax(axis=1)] = True
    items, labels = np.nonzero(given)
    toward = np.eye(len(model.labels))[labels] / model.temperature
    said = [model.labels[label] for label in labels.tolist()]
    chances, margins = probabilities[items, labels].tolist(), logits[items, labels]
    return _explained(
        model,
        [encoded[item] for item in items.tolist()],
        items,
        said,
        chances,
        margins,
        toward,
        _probabilities(model, labels),
    )


def _probabilities(model: Any, labels: np.ndarray) -> Say:
    """Of the label that each explanation is of."""

    def say(encoded: Sequence[Any], numbers: np.ndarray) -> np.ndarray:
        return model.probabilities(model.logits(encoded))[np.arange(len(numbers)), labels[numbers]]

    return say


def explain_numbers(model: Any, encoded: Sequence[Any]) -> list[Explanation]:
    """Why a model gives texts or pairs their numbers."""
    numbers = model.scores(encoded)
    toward = np.full((len(numbers), 1), model.scale.deviation)
    said = [model.scale.written(float(number)) for number in numbers]
    away, items = numbers - model.scale.mean, np.arange(len(numbers))
    say: Say = lambda encoded, _: model.scores(encoded)  # noqa: E731
    return _explained(model, encoded, items, said, [None] * len(said), away, toward, say)


def _explained(
    model: Any,
    encoded: Sequence[Any],
    items: np.ndarray,
    said: Sequence[str],
    chances: Sequence[float | None],
    margins: np.ndarray,
    toward: np.ndarray,
    say: Say,
) -> list[Explanation]:
    cut, found = model.features.tokenizer.spans, []
    formed = of_form(model, encoded, toward)
    for number, parts in enumerate(divide(model, encoded, toward)):
        own = encoded[number]
        sides = (own,) if hasattr(own, "text") else (own.first, own.second)
        spans = [(side, *span) for side, text in enumerate(sides) for span in cut(text.text)]
        # A text that is too long may be cut short for the encoder.
        rows = [[*part.tolist(), *[0.0] * (len(spans) - len(part))] for part in parts.values()]
        words = [
            WordShare(
                sides[side].text[start:end],
                start,
                end,
                sum(each),
                dict(zip(parts, each, strict=True)),
                side,
            )
            for (side, start, end), *each in zip(spans, *rows, strict=True)
        ]
        margin = float(margins[number])
        form = None if formed is None else FormShare.of(formed[number])
        rest = margin - sum(word.share for word in words) - (form.share if form else 0.0)
        texts = tuple(text.text for text in sides)
        item, chance = int(items[number]), chances[number]
        what = (item, texts, said[number], chance, margin, rest, tuple(words))
        found.append(Explanation(*what, form=form))
    return with_removal(model, found, say)
