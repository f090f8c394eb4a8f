"""Tagger predictions: predictor and record layout."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from headwise.data.formats.conll import DOCUMENT
from headwise.data.rows import Row
from headwise.data.sentence import Tagged
from headwise.models.answers.tags import TaggedText
from headwise.predictions.file import TOLERANCE, RecordLayout, free_name
from headwise.predictions.predictor import LISTED, Predictor

_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\ufeff]+")
_DOCUMENT = f"{DOCUMENT}\tO\n\n"


@dataclass(frozen=True)
class TagLayout(RecordLayout):
    """The record layout of tags: in jsonl the words, their tags and, if known, their character offsets; in
    conll one word and its tag per line, with -DOCSTART- where the input begins a document.

    Attributes:
        sentence: A function that splits the item of a row into words.
        spans: Whether the tags encode spans.
    """

    sentence: Callable[[Any], Tagged]
    spans: bool

    @property
    def header(self) -> str:
        """Empty: neither format has a header."""
        return ""

    def ends(self, lines: Sequence[bytes]) -> bool:
        return self.form != "conll" or (lines[-1] == b"\n" and b"".join(lines) != _DOCUMENT.encode())

    def start(self, row: Row[Any]) -> str:
        if self.form == "conll":
            words = self.sentence(row.item).tokens
            return f"{_document(row.item)}{_column(words[0] if words else '')}\t"
        fields = {**row.fields, free_name("words", set(row.fields)): self.sentence(row.item).tokens}
        return json.dumps(fields, ensure_ascii=False)[:-1]

    def record(self, row: Row[Any], probabilities: Any) -> str:
        """A record of the file, with its line end; `probabilities` is the prediction, a `TaggedText`."""
        tagged: TaggedText = probabilities
        if self.form == "conll":
            none = "O" if self.spans else ""  # the placeholder of an empty text is outside of spans
            pairs = zip(tagged.words or ("",), tagged.tags or (none,), strict=True)
            words = "".join(f"{_column(word)}\t{_column(tag)}\n" for word, tag in pairs)
            return f"{_document(row.item)}{words}\n"
        values: dict[str, Any] = {
            "words": tagged.words,
            "tags": tagged.tags,
            "probabilities": [float(f"{p:.6g}") for p in tagged.probabilities],
        }
        if tagged.places is not None:
            values["places"] = tagged.places
        if self.spans:
            values["spans"] = [_span(tagged, *span) for span in tagged.spans]
        taken = set(row.fields)
        named = {free_name(name, taken): value for name, value in values.items()}
        return json.dumps({**row.fields, **named}, ensure_ascii=False) + "\n"

    def agrees(self, record: str, prediction: Any) -> bool:
        tagged: TaggedText = prediction
        if self.form == "conll":
            return record.removeprefix(_DOCUMENT) == self.record(Row(0, {}, None), tagged)
        added = 3 + (tagged.places is not None) + self.spans  # after the fields of the input
        words, tags, chances, *_ = list(json.loads(record).values())[-added:]
        shares = np.array(chances, dtype=np.float64)
        if (words, tags) != (list(tagged.words), list(tagged.tags)) or len(shares) != len(tags):
            return False
        return bool(np.abs(shares - np.array(tagged.probabilities)).max(initial=0) <= TOLERANCE)


def _document(item: Any) -> str:
    """The conll block before the first sentence of a document; "" for all other items."""
    return _DOCUMENT if isinstance(item, Tagged) and item.starts_document else ""


def _column(text: str) -> str:
    """A word or tag as a column of a conll line: white space becomes `_`, as readers would split there, and
    an empty word, too, so that a text without words keeps its line."""
    return _SPACE.sub("_", text) or "_"


def _span(tagged: TaggedText, start: int, end: int, kind: str) -> dict[str, Any]:
    """A span as a JSON object: type, word indices and, if the text is known, character offsets."""
    span: dict[str, Any] = {"type": kind, "words": [start, end]}
    span["text"] = " ".join(tagged.words[start:end])
    if tagged.places is not None and tagged.text is not None:
        first, last = tagged.places[start][0], tagged.places[end - 1][1]
        span |= {"start": first, "end": last, "text": tagged.text[first:last]}
    span["probability"] = float(f"{min(tagged.probabilities[start:end]):.6g}")
    return span


class TagPredictor(Predictor):
    """The predictor of a tagger: a prediction is a `TaggedText`."""

    forms: ClassVar[Mapping[str, str]] = {
        ".jsonl": "jsonl",
        ".conll": "conll",
        ".txt": "conll",
        ".tsv": "conll",
    }
    form: ClassVar[str] = "conll"

    def layout(self, form: str, rows: Sequence[Row[Any]]) -> RecordLayout:
        return TagLayout(form, (), (), (), self.sentence, self.model.scheme != "plain")

    def sentence(self, item: Any) -> Tagged:
        """An item, which may be a text, as words."""
        return self.model.sentence(item)

    def encode(self, items: Sequence[Any]) -> Sequence[Tagged]:
        return [self.sentence(item) for item in items]

    def predict_encoded(self, encoded: Sequence[Any]) -> Sequence[TaggedText]:
        return self.model.tag(encoded, batch_tokens=self.batch_tokens)

    def count(self, predictions: Sequence[TaggedText]) -> None:
        plain = self.model.scheme == "plain"
        for tagged in predictions:
            self.words += len(tagged.words)
            self.unknown += round(tagged.unknown_words * len(tagged.words))
            self.tally.update(tagged.tags if plain else [span.type for span in tagged.spans])

    def counted(self) -> list[str]:
        common = self.tally.most_common(LISTED)
        return ["found " + ", ".join(f"{kind} {n:,}" for kind, n in common)] if common else []
