"""Predicted tags: every text keeps its place, and every word its line; what was written is known again."""

import csv
import io
import json
from dataclasses import replace

import pytest

from headwise.data.items.dataset import InputRow
from headwise.data.items.examples import TaggedSentence
from headwise.models.prediction_records import TagLayout
from headwise.models.prediction_resume import _records
from headwise.runtime.tag_outputs import TaggedText


def test_texts_without_words_and_words_with_line_ends():
    texts = [["a\u2028b", "c\td", "\n"], [], ["e"]]
    layout = TagLayout("conll", (), (), lambda words: words, spans=False)
    rows = [InputRow(n, {}, TaggedSentence(tuple(words), (), n)) for n, words in enumerate(texts)]
    predictions = [
        TaggedText(tuple(words), tuple("X" for _ in words), tuple(0.5 for _ in words), None, None)
        for words in texts
    ]
    records = [layout.record(row, prediction) for row, prediction in zip(rows, predictions, strict=True)]
    assert "".join(records) == "a_b\tX\nc_d\tX\n_\tX\n\n_\t_\n\ne\tX\n\n"
    assert all(record.startswith(layout.start(row)) for row, record in zip(rows, records, strict=True))
    assert len(list(_records(io.BytesIO("".join(records).encode()), layout))) == len(texts)


def test_what_stands_for_no_words_can_be_read_where_tags_mark_spans():
    layout = TagLayout("conll", (), (), lambda words: words, spans=True)
    row, prediction = InputRow(0, {}, TaggedSentence((), (), 0)), TaggedText((), (), (), None, None)
    assert layout.record(row, prediction) == "_\tO\n\n"
    assert layout.matches("_\tO\n\n", prediction)


def test_documents_begin_where_they_do_in_the_input():
    items = [TaggedSentence((word,), (), n, starts_document=n != 1) for n, word in enumerate("abc")]
    layout = TagLayout("conll", (), (), lambda item: item, spans=False)
    predictions = [TaggedText(item.tokens, ("X",), (0.5,), None, None) for item in items]
    rows = [InputRow(item.line, {}, item) for item in items]
    records = [layout.record(row, prediction) for row, prediction in zip(rows, predictions, strict=True)]
    written = "".join(records)
    assert written == "-DOCSTART-\tO\n\na\tX\n\nb\tX\n\n-DOCSTART-\tO\n\nc\tX\n\n"
    assert [record.decode() for record in _records(io.BytesIO(written.encode()), layout)] == records
    for row, record, prediction in zip(rows, records, predictions, strict=True):
        assert record.startswith(layout.start(row))
        assert layout.matches(record, prediction)


def test_a_record_is_known_again_beside_the_same_words_in_the_input():
    layout = TagLayout("jsonl", (), (), lambda words: words, spans=True)
    for words in (("a", "b"), ()):
        prediction = TaggedText(
            words, ("O",) * len(words), (0.5,) * len(words), ((0, 1), (2, 3))[: len(words)]
        )
        row = InputRow(
            1, {"text": "a b", "tokens": list(words), "tags": ["X", "Y"]}, TaggedSentence(words, (), 1)
        )
        assert layout.matches(layout.record(row, prediction), prediction)
        assert not layout.matches(layout.record(row, replace(prediction, probabilities=(0.1,))), prediction)


def test_a_long_record_of_csv_is_recognised():
    """Python's reader of csv takes cells of 131,072 characters by default."""
    words = ("word",) * 30_000
    tagged = TaggedText(words, ("O",) * len(words), (0.5,) * len(words), None, None)
    row = InputRow(1, {"text": "w"}, TaggedSentence(words, (), 1))
    layout = TagLayout.of("csv", [row], sentence=lambda words: words, spans=False)
    assert layout.matches(layout.record(row, tagged), tagged)
    limit = csv.field_size_limit()
    with pytest.raises(ValueError, match="unquoted"):
        layout.matches("a\rb", tagged)
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_a_record_of_jsonl_is_one_line_for_every_reader(end):
    words = (f"a{end}b",)
    tagged = TaggedText(words, ("O",), (0.5,), ((0, 3),))
    row = InputRow(1, {"text": words[0]}, TaggedSentence(words, (), 1))
    layout = TagLayout.of("jsonl", [row], sentence=lambda words: words, spans=True)
    record = layout.record(row, tagged)
    assert len(record.splitlines()) == 1
    assert json.loads(record)["text"] == words[0]
    assert record.startswith(layout.start(row))
    assert layout.matches(record, tagged)
