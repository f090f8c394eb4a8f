"""Predicted tags in columns: every text keeps its place, and every word its line."""

import io

from headwise.data.rows import Row
from headwise.data.sentence import Tagged
from headwise.models.tag_model import TaggedText
from headwise.predictions.resume import _records
from headwise.predictions.tags import TagLayout


def test_texts_without_words_and_words_with_line_ends():
    texts = [["a\u2028b", "c\td", "\n"], [], ["e"]]
    layout = TagLayout("conll", (), (), (), lambda words: words, spans=False)
    rows = [Row(n, {}, Tagged(tuple(own), (), n)) for n, own in enumerate(texts)]
    said = [
        TaggedText(tuple(own), tuple("X" for _ in own), tuple(0.5 for _ in own), None, None)
        for own in texts
    ]
    records = [layout.record(row, found) for row, found in zip(rows, said, strict=True)]
    assert "".join(records) == "a_b\tX\nc_d\tX\n_\tX\n\n_\t_\n\ne\tX\n\n"
    assert all(record.startswith(layout.start(row)) for row, record in zip(rows, records, strict=True))
    assert len(list(_records(io.BytesIO("".join(records).encode()), layout))) == len(texts)
