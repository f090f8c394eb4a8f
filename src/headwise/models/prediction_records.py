"""Predictors of label sets, numbers and tags, and the layouts in which their predictions are written.

A predictor computes the predictions of a batch; its layout turns each into a record of the output file.
Those of single labels are in `headwise.models.predictor`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, ClassVar

import numpy as np

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.findings import count
from headwise.data.formats.conll import DOCUMENT
from headwise.data.items.dataset import InputRow
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.target_scale import Scale
from headwise.models.output_file import OutputError
from headwise.models.prediction_file import TOLERANCE, RecordLayout, free_name, json_text
from headwise.models.predictor import MAX_LISTED, LabelPredictor, Predictor
from headwise.runtime.entity_spans import EntitySpan
from headwise.runtime.tag_outputs import TaggedText


@dataclass(frozen=True)
class _SingleRecords(RecordLayout):
    """The base class of layouts that write one record at a time."""

    def records(self, rows: Sequence[InputRow[Any]], predictions: Any) -> str:
        return "".join(map(self.record, rows, predictions))


@dataclass(frozen=True)
class MultiLabelLayout(RecordLayout):
    """The record layout of label sets: `prediction`, the predicted labels joined by the separator (a list
    in jsonl), `unknown` and `novelty` if there is a `novelty_threshold`, and then the probability of every
    label.

    Attributes:
        thresholds: A label is predicted from this probability on, `[labels]`.
        separator: The separator between labels.
    """

    thresholds: tuple[float, ...] = ()
    separator: str = "|"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in super().names if name != "probability")

    def records(self, rows: Sequence[InputRow[Any]], predictions: Any) -> str:
        """The records of rows and their probabilities, `[rows, labels]`, see `RecordLayout.record`."""
        probabilities = np.ascontiguousarray(predictions, dtype=np.float64)
        novelty = [self.split_novelty(prediction)[1] for prediction in probabilities]
        if self.novelty_threshold is not None:
            probabilities = np.ascontiguousarray(probabilities[:, :-1])
        predicted = [list(compress(self.labels, row)) for row in probabilities >= self.thresholds]
        if self.form != "jsonl":
            cells = [
                [self.separator.join(names), *more] for names, more in zip(predicted, novelty, strict=True)
            ]
            return self._assembled(rows, [self._line(row)[:-1] for row in cells], probabilities)
        names = [f", {json_text(name)}: " for name in self.added[1:-1]]
        texts = [
            json_text(labels) + "".join(f"{name}{value}" for name, value in zip(names, values, strict=True))
            for labels, values in zip(predicted, novelty, strict=True)
        ]
        return self._assembled(rows, texts, probabilities)


class MultiLabelPredictor(LabelPredictor):
    """The predictor of a multi-label classifier: a prediction is the probabilities, `[labels]`."""

    bare = 0
    """The number of items without a label."""

    def layout(self, form: str, rows: Sequence[InputRow[Any]]) -> RecordLayout:
        """The record layout, see `Predictor.layout`.

        Raises:
            OutputError: HW603, a label contains the separator, so that a table could not be read again.
        """
        labels, separator = self.model.labels, self.reading.get("label_separator") or self.model.separator
        bad = next((label for label in labels if separator in label), None)
        if form != "jsonl" and bad is not None:
            raise OutputError(
                f"the label {bad!r} holds {separator!r}, which is to stand between labels; give "
                "another --label-separator, or write the predictions as jsonl (--format-out jsonl)",
                code="HW603",
            )
        return MultiLabelLayout.of(
            form,
            rows,
            labels,
            thresholds=tuple(self.model.thresholds),
            separator=separator,
            novelty_threshold=self.novelty_threshold,
        )

    def count(self, predictions: Any) -> None:
        predicted = self.model.chosen_labels(self.count_unknown(predictions))
        self.bare += int((~predicted.any(1)).sum())
        for name, times in zip(self.model.labels, predicted.sum(0).tolist(), strict=True):
            self.counts[name] += times

    def count_messages(self) -> list[str]:
        common = [(label, n) for label, n in self.counts.most_common() if n]
        shown = [f"{label} {n:,} ({100 * n / self.items:.1f} %)" for label, n in common[:MAX_LISTED]]
        rest = len(common) - len(shown)
        shown += [count(rest, "more label")] if rest else []
        shown.append(f"no label {self.bare:,} ({100 * self.bare / self.items:.1f} %)")
        return ["predicted " + ", ".join(shown), *self.unknown_messages()]


@dataclass(frozen=True)
class NumberLayout(_SingleRecords):
    """The record layout of numbers: one added column, `prediction`, rounded to 6 significant digits of the
    standard deviation.

    Attributes:
        scale: The scale of the model's targets. Resuming a file compares standardised numbers.
    """

    scale: Scale = field(default_factory=lambda: Scale(0.0, 1.0))

    @property
    def names(self) -> tuple[str, ...]:
        return ("prediction",)

    def record(self, row: Any, probabilities: np.ndarray) -> str:
        """A record of the file, with its line end; `probabilities` is the standardised number, `[1]`."""
        shown = self.scale.written(float(self.scale.restore(probabilities)[0]))
        if self.form == "jsonl":
            return f"{self.start(row)}{shown}}}\n"
        return self.start(row) + self._with_decimal_mark(shown) + "\n"

    def probabilities(self, record: str) -> list[float]:
        """The standardised number in a record of this layout."""
        if self.form == "jsonl":
            number = float(record[record.rindex(":") + 1 :].strip().rstrip("}"))
        else:
            number = float(record.rsplit(self._delimiter, 1)[1].replace(",", "."))
        return [(number - self.scale.mean) / self.scale.deviation]


class NumberPredictor(Predictor):
    """The predictor of a regression model: a prediction is the standardised number, `[1]`."""

    sum, low, high = 0.0, np.inf, -np.inf
    """Of the predicted numbers."""

    def layout(self, form: str, rows: Sequence[InputRow[Any]]) -> RecordLayout:
        return NumberLayout.of(form, rows, scale=self.model.scale)

    def predict_encoded(self, encoded: Sequence[Any]) -> np.ndarray:
        """Standardised numbers, `[items, 1]`."""
        numbers = self.model.scores(encoded, batch_tokens=self.batch_tokens)
        return self.model.scale.standardize(numbers)[:, None]

    def count(self, predictions: Any) -> None:
        numbers = self.model.scale.restore(predictions[:, 0])
        self.sum += float(numbers.sum())
        self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))

    def count_messages(self) -> list[str]:
        low, high, mean = map(self.model.scale.written, (self.low, self.high, self.sum / self.items))
        return [f"predicted {low} to {high}, mean {mean}"]


_SPACE = lazy_pattern(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff]+")
_UNSURE = "unsure"
_DOCUMENT = f"{DOCUMENT}\tO\n\n"


@dataclass(frozen=True)
class TagLayout(_SingleRecords):
    """The record layout of tags: in jsonl and csv the words, their tags, probabilities and spans (in csv as
    JSON in the cells, in jsonl also their character offsets if known); in conll one word and its tag per
    line, with -DOCSTART- where the input begins a document.

    Attributes:
        sentence: A function that splits the item of a row into words.
        spans: Whether the tags encode spans. If there is a `least`, each span has a field `unsure`.
    """

    sentence: Callable[[Any], TaggedSentence]
    spans: bool

    @property
    def names(self) -> tuple[str, ...]:
        if self.form == "conll":
            return ()
        places = ["places"] * (self.form == "jsonl")
        return ("words", "tags", "probabilities", *places, *["spans"] * self.spans)

    @property
    def header(self) -> str:
        """The header line of csv; the other formats have none."""
        return super().header if self.form == "csv" else ""

    def ends(self, lines: Sequence[bytes]) -> bool:
        return self.form != "conll" or (lines[-1] == b"\n" and b"".join(lines) != _DOCUMENT.encode())

    def start(self, row: InputRow[Any]) -> str:
        words = self.sentence(row.item).tokens
        if self.form == "conll":
            return f"{_document(row.item)}{_column(words[0] if words else '')}\t"
        if self.form == "csv":
            return self._line([*self._cells(row), json_text(words)])[:-1] + self._delimiter
        return json_text({**row.fields, free_name("words", set(row.fields)): words})[:-1]

    def record(self, row: InputRow[Any], probabilities: Any) -> str:
        """A record of the file, with its line end; `probabilities` is the prediction, a `TaggedText`."""
        tagged: TaggedText = probabilities
        if self.form == "conll":
            none = "O" if self.spans else ""  # the placeholder of an empty text is outside of spans
            pairs = zip(tagged.words or ("",), tagged.tags or (none,), strict=True)
            words = "".join(f"{_column(word)}\t{_column(tag)}\n" for word, tag in pairs)
            return f"{_document(row.item)}{words}\n"
        values: JsonObject = {
            "words": tagged.words,
            "tags": tagged.tags,
            "probabilities": [float(f"{p:.6g}") for p in tagged.probabilities],
        }
        if tagged.places is not None and self.form == "jsonl":
            values["places"] = tagged.places
        if self.spans:
            values["spans"] = [_span(entity, self.least) for entity in tagged.entities]
        if self.form == "csv":
            return self._line([*self._cells(row), *map(json_text, values.values())])
        taken = set(row.fields)
        named = {free_name(name, taken): value for name, value in values.items()}
        return json_text({**row.fields, **named}) + "\n"

    def matches(self, record: str, prediction: Any) -> bool:
        tagged: TaggedText = prediction
        if self.form == "conll":
            return record.removeprefix(_DOCUMENT) == self.record(InputRow(0, {}, None), tagged)
        if self.form == "csv":
            words, tags, chances, *rest = map(json.loads, self._cells_of(record)[len(self.fields) :])
        else:
            added = 3 + (tagged.places is not None) + self.spans  # after the fields of the input
            words, tags, chances, *rest = list(json.loads(record).values())[-added:]
        if self.spans and any((_UNSURE in span) != (self.least is not None) for span in rest[-1]):
            return False
        shares = np.array(chances, dtype=np.float64)
        if (words, tags) != (list(tagged.words), list(tagged.tags)) or len(shares) != len(tags):
            return False
        return bool(np.abs(shares - np.array(tagged.probabilities)).max(initial=0) <= TOLERANCE)

    def marks_agree(self, record: str, start: str) -> bool:
        is_csv = self.form == "csv"
        spans = json.loads(self._cells_of(record)[-1]) if is_csv else [*json.loads(record).values()][-1]
        return all(self._mark_agrees(span["probability"], span[_UNSURE]) for span in spans)


def _document(item: Any) -> str:
    """The conll block before the first sentence of a document; "" for all other items."""
    return _DOCUMENT if isinstance(item, TaggedSentence) and item.starts_document else ""


def _column(text: str) -> str:
    """A word or tag as a column of a conll line: white space becomes `_`, as readers would split there, and
    an empty word, too, so that a text without words keeps its line."""
    return _SPACE.sub("_", text) or "_"


def _span(entity: EntitySpan, least: float | None) -> JsonObject:
    """A span as a JSON object: type, word indices and, if the text is known, character offsets; and if
    there is a confidence threshold whether the model is unsure."""
    places = {} if entity.start is None else {"start": entity.start, "end": entity.end}
    return {
        "type": entity.type,
        "words": list(entity.words),
        "text": entity.text,
        **places,
        "probability": float(f"{entity.probability:.6g}"),
        **({} if least is None else {_UNSURE: entity.probability < least}),
    }


class TagPredictor(Predictor):
    """The predictor of a tagger: a prediction is a `TaggedText`."""

    formats: ClassVar[Mapping[str, str]] = {
        ".jsonl": "jsonl",
        ".csv": "csv",
        ".conll": "conll",
        ".txt": "conll",
        ".tsv": "conll",
    }
    form: ClassVar[str] = "conll"

    def layout(self, form: str, rows: Sequence[InputRow[Any]]) -> RecordLayout:
        spans = self.model.scheme != "plain"
        if self.least is not None:
            if not spans:
                raise ConfigError("--unsure is for taggers of spans; the tags of this one mark no spans")
            if form == "conll":
                problem = "lines of words and tags hold no marks of unsure spans"
                raise OutputError(f"{problem}; give --format-out jsonl or csv", code="HW603")
        return TagLayout.of(form, rows, sentence=self.sentence, spans=spans, least=self.least)

    def sentence(self, item: Any) -> TaggedSentence:
        """An item, which may be a text, as words."""
        return self.model.sentence(item)

    def encode(self, items: Sequence[Any]) -> Sequence[TaggedSentence]:
        return [self.sentence(item) for item in items]

    def predict_encoded(self, encoded: Sequence[Any]) -> Sequence[TaggedText]:
        return self.model.tag(encoded, batch_tokens=self.batch_tokens)

    def count(self, predictions: Sequence[TaggedText]) -> None:
        plain = self.model.scheme == "plain"
        for tagged in predictions:
            self.words += len(tagged.words)
            self.unknown += round(tagged.unknown_words * len(tagged.words))
            self.counts.update(tagged.tags if plain else [span.type for span in tagged.spans])
            if self.least is not None:
                self.unsure += sum(entity.probability < self.least for entity in tagged.entities)

    def count_messages(self) -> list[str]:
        common = self.counts.most_common(MAX_LISTED)
        messages = ["found " + ", ".join(f"{kind} {n:,}" for kind, n in common)] if common else []
        if self.least is not None and common:
            share = 100 * self.unsure / self.counts.total()
            chance = 100 * self.least
            messages.append(
                f"unsure of {self.unsure:,} spans ({share:.1f} %), with less than {chance:.1f} %"
            )
        return messages
