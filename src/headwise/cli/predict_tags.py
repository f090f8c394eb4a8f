"""`headwise predict` for taggers: tag the words of texts or of sentences, of any number."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from headwise.cli.console import note, percent, warn
from headwise.cli.parsing import with_heads
from headwise.cli.predict_texts import MANY_UNKNOWN
from headwise.cli.prediction_file import COMPRESSED, OutputError, check_form, free_name, open_output
from headwise.cli.progress import TextProgress
from headwise.cli.requests import PredictRequest
from headwise.cli.resume import cut_chunks
from headwise.config import from_dict
from headwise.data.archives import read_files
from headwise.data.errors import DataError
from headwise.data.options import ReadOptions
from headwise.data.read import read_rows
from headwise.data.sentence import Tagged
from headwise.data.tag_options import TagOptions
from headwise.data.tag_sniff import looks_tagged
from headwise.data.tagged import read_tagged
from headwise.models.tag_model import TaggedText, TagModel
from headwise.train.run_tags import with_parses

Form = Literal["jsonl", "conll"]
_FORMS: dict[str, Form] = {".jsonl": "jsonl", ".conll": "conll", ".txt": "conll", ".tsv": "conll"}
_TAGGED = {"columns", "conllu", "slash", "trees"}
_CHUNK = 512  # sentences
_LOOKED_AT = 400  # lines

Chunk = list[tuple[dict[str, object], Tagged]]
"""Fields of records, and the sentences in them."""


def predict(request: PredictRequest) -> int:
    """Tag the words of a file."""
    model, output = request.model, request.output
    form = _form(output, check_form(request.format_out, ("jsonl", "conll")))
    kept = 0
    if request.resume and output is not None and output.is_file():
        kept = _kept(output, form)
        note(f"{output}: the first {kept:,} records are kept")
    tally, began, written = _Tally(), time.perf_counter(), 0
    with (
        open_output(output, append=kept > 0) as target,
        TextProgress(request.file, kept=kept, show=output is not None) as progress,
    ):
        for chunk in _chunks(model, request):
            written += len(chunk)
            todo = chunk[max(0, kept - (written - len(chunk))) :]
            if not todo:
                continue
            found = model.tag([own for _, own in todo], batch_tokens=request.batch_tokens)
            pairs = zip(todo, found, strict=True)
            records = [_record(fields, own, form, model) for (fields, _), own in pairs]
            target.write("".join(records).encode())
            target.flush()
            tally.add(model, found)
            progress.update(written, chunk[-1][1].line)
    if kept > written:
        raise OutputError(
            f"{output}: it has {kept:,} records, the input only {written:,}; --overwrite begins anew",
            code="HW602",
        )
    tally.tell(time.perf_counter() - began)
    return 0


def _form(path: Path | None, asked: Form | None) -> Form:
    if asked or path is None:
        return asked or "conll"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    if suffixes and suffixes[-1] in _FORMS:
        return _FORMS[suffixes[-1]]
    raise OutputError(
        f"{path}: the format of the predictions is not known; name the file .jsonl or .conll (.gz or .xz "
        "after it compresses), or give --format-out",
        code="HW605",
    )


def _kept(path: Path, form: Form) -> int:
    """How many whole records an interrupted output has; what is behind them is cut off."""
    if form != "jsonl" or path.suffix.lower() in COMPRESSED:
        raise OutputError(
            f"{path}: only plain .jsonl predictions of a tagger can be resumed; --overwrite begins anew",
            code="HW602",
        )
    whole = size = 0
    with open(path, "r+b") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            whole, size = whole + 1, size + len(line)
        file.truncate(size)
    return whole


def _chunks(model: TagModel, request: PredictRequest) -> Iterator[Chunk]:
    """The sentences of the input, some at a time."""
    if _is_tagged(request):
        data = read_tagged(request.file, from_dict(TagOptions, request.read), labelled=False)
        data = with_parses(data, None if request.heads is None else str(request.heads))
        for line in data.notes:
            note(line)
        sentences = iter(data.sentences)
        while part := list(islice(sentences, _CHUNK)):
            yield [({}, own) for own in part]
        return
    rows = read_rows(request.file, from_dict(ReadOptions, request.read))
    for line in rows.notes:
        note(line)
    parsed = iter(rows) if request.heads is None else with_heads(iter(rows), request.heads)
    for chunk in cut_chunks(parsed):
        yield [(row.fields, model.sentence(row.item)) for row in chunk]


def _is_tagged(request: PredictRequest) -> bool:
    """Whether the words of the input are given, each on a line or with a tag."""
    form = request.read.get("format")
    if form is not None:
        return form in _TAGGED
    if {"tag_column", "token_column", "head_column"} & set(request.read):
        return True
    if str(request.file) == "-" or {"text_column", "label_column"} & set(request.read):
        return False
    try:
        _, lines = next(iter(read_files(str(request.file), "utf-8", "replace")))
        return looks_tagged([text for _, text in islice(lines, _LOOKED_AT)]) is not None
    except (DataError, StopIteration):
        return False


def _record(fields: dict[str, object], own: TaggedText, form: Form, model: TagModel) -> str:
    if form == "conll":
        lines = (f"{word}\t{tag}\n" for word, tag in zip(own.words, own.tags, strict=True))
        return "".join(lines) + "\n"
    found: dict[str, Any] = {
        "words": own.words,
        "tags": own.tags,
        "probabilities": [float(f"{p:.6g}") for p in own.probabilities],
    }
    if own.places is not None:
        found["places"] = own.places
    if model.scheme != "plain":
        found["spans"] = [_span(fields, own, *span) for span in own.spans]
    taken = set(fields)
    named = {free_name(name, taken): value for name, value in found.items()}
    return json.dumps({**fields, **named}, ensure_ascii=False) + "\n"


def _span(fields: dict[str, object], own: TaggedText, start: int, end: int, kind: str) -> dict[str, Any]:
    """A span as it is written: its type, its words, and where the text is known, its characters."""
    found: dict[str, Any] = {"type": kind, "words": [start, end]}
    found["text"] = " ".join(own.words[start:end])
    if own.places is not None and own.text is not None:
        first, last = own.places[start][0], own.places[end - 1][1]
        found |= {"start": first, "end": last, "text": own.text[first:last]}
    found["probability"] = float(f"{min(own.probabilities[start:end]):.6g}")
    return found


@dataclass
class _Tally:
    """What was predicted."""

    sentences: int = 0
    words: int = 0
    unknown: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, model: TagModel, found: list[TaggedText]) -> None:
        self.sentences += len(found)
        for own in found:
            self.words += len(own.words)
            self.unknown += int((model.features.vocabulary.encode(list(own.words)) == 0).sum())
            self.kinds.update(own.tags if model.scheme == "plain" else [span.type for span in own.spans])

    def tell(self, seconds: float) -> None:
        unknown, rate = self.unknown / max(self.words, 1), self.words / max(seconds, 1e-9)
        note(
            f"{self.sentences:,} texts tagged in {seconds:,.1f} s ({rate:,.0f} words/s); "
            f"{percent(unknown)} of their words are unknown"
        )
        if self.kinds:
            note("found " + ", ".join(f"{kind} {n:,}" for kind, n in self.kinds.most_common(12)))
        if unknown > MANY_UNKNOWN:
            warn(f"the model does not know {percent(unknown)} of the words: its tags may mean little")
