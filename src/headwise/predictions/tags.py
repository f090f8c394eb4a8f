"""Predictions that are tags: how they are made and written down."""

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
    """How predicted tags are written down: in jsonl the words, their tags, and where they are known their
    places; in conll a word and its tag on each line, and -DOCSTART- where the input begins a document.

    Attributes:
        sentence: The words of what a row holds.
        spans: Whether the tags mark spans.
    """

    sentence: Callable[[Any], Tagged]
    spans: bool

    @property
    def header(self) -> str:
        """Nothing."""
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
        """One record with its line end; `probabilities` is what the model says of the words."""
        own: TaggedText = probabilities
        if self.form == "conll":
            none = "O" if self.spans else ""  # what stands for no words is in no span, for whoever reads it
            pairs = zip(own.words or ("",), own.tags or (none,), strict=True)
            words = "".join(f"{_column(word)}\t{_column(tag)}\n" for word, tag in pairs)
            return f"{_document(row.item)}{words}\n"
        found: dict[str, Any] = {
            "words": own.words,
            "tags": own.tags,
            "probabilities": [float(f"{p:.6g}") for p in own.probabilities],
        }
        if own.places is not None:
            found["places"] = own.places
        if self.spans:
            found["spans"] = [_span(own, *span) for span in own.spans]
        taken = set(row.fields)
        named = {free_name(name, taken): value for name, value in found.items()}
        return json.dumps({**row.fields, **named}, ensure_ascii=False) + "\n"

    def agrees(self, record: str, found: Any) -> bool:
        if self.form == "conll":
            return record.removeprefix(_DOCUMENT) == self.record(Row(0, {}, None), found)
        added = 3 + (found.places is not None) + self.spans  # behind the input's fields
        words, tags, chances, *_ = list(json.loads(record).values())[-added:]
        shares = np.array(chances, dtype=np.float64)
        if (words, tags) != (list(found.words), list(found.tags)) or len(shares) != len(tags):
            return False
        return bool(np.abs(shares - np.array(found.probabilities)).max(initial=0) <= TOLERANCE)


def _document(item: Any) -> str:
    """The block that begins a document, before its first sentence."""
    return _DOCUMENT if isinstance(item, Tagged) and item.starts_document else ""


def _column(text: str) -> str:
    """A word or tag as a column of a line: white space in it, where a reader would part it, becomes `_`,
    and so does nothing at all, so that a text without words keeps its place."""
    return _SPACE.sub("_", text) or "_"


def _span(own: TaggedText, start: int, end: int, kind: str) -> dict[str, Any]:
    """A span as it is written: its type, its words, and where the text is known, its characters."""
    found: dict[str, Any] = {"type": kind, "words": [start, end]}
    found["text"] = " ".join(own.words[start:end])
    if own.places is not None and own.text is not None:
        first, last = own.places[start][0], own.places[end - 1][1]
        found |= {"start": first, "end": last, "text": own.text[first:last]}
    found["probability"] = float(f"{min(own.probabilities[start:end]):.6g}")
    return found


class TagPredictor(Predictor):
    """A tagger at work: a prediction is a `TaggedText`."""

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
        """The words of an item, which may be a text."""
        return self.model.sentence(item)

    def encode(self, items: Sequence[Any]) -> Sequence[Tagged]:
        return [self.sentence(item) for item in items]

    def said(self, encoded: Sequence[Any]) -> Sequence[TaggedText]:
        return self.model.tag(encoded, batch_tokens=self.batch_tokens)

    def count(self, found: Sequence[TaggedText]) -> None:
        plain = self.model.scheme == "plain"
        for own in found:
            self.words += len(own.words)
            self.unknown += round(own.unknown_words * len(own.words))
            self.tally.update(own.tags if plain else [span.type for span in own.spans])

    def counted(self) -> list[str]:
        common = self.tally.most_common(LISTED)
        return ["found " + ", ".join(f"{kind} {n:,}" for kind, n in common)] if common else []
