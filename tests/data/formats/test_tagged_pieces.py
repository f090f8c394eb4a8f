import json

import pytest

from headwise.data.formats.character_spans import are_pieces, joined_pieces
from headwise.data.formats.span_offsets import CharacterSpan
from headwise.data.readers.tagged_files import read_tagged

TEXT = "Tom Lee met Ann near New York"


def spans(*named):
    offsets, at = [], 0
    for kind, word in named:
        at = TEXT.index(word, at)
        offsets.append((at, at + len(word), kind))
        at += len(word)
    return offsets


PIECES = spans(
    ("B-PER", "Tom"),
    ("I-PER", "Lee"),
    ("O", "met"),
    ("B-PER", "An"),
    ("I-PER", "n"),
    ("I-LOC", "New"),
    ("I-LOC", "York"),
)
WHOLE = spans(("PER", "Tom Lee"), ("PER", "Ann"), ("LOC", "New York"))


def test_pieces_that_go_on_are_joined_whatever_their_order():
    for pieces in (PIECES, PIECES[::-1]):
        assert [
            span[:3] for span in joined_pieces([CharacterSpan(*piece) for piece in pieces], TEXT)
        ] == WHOLE


@pytest.mark.parametrize(
    ("pieces", "joined"),
    [
        (spans(("B-PER", "Tom"), ("B-PER", "Lee")), spans(("PER", "Tom"), ("PER", "Lee"))),
        (spans(("I-PER", "Tom"), ("I-LOC", "Lee")), spans(("PER", "Tom"), ("LOC", "Lee"))),
        (spans(("B-PER", "Tom"), ("I-PER", "Ann")), spans(("PER", "Tom"), ("PER", "Ann"))),
    ],
)
def test_a_begin_another_type_and_words_between_part_spans(pieces, joined):
    assert [span[:3] for span in joined_pieces([CharacterSpan(*piece) for piece in pieces], TEXT)] == joined


def test_types_are_tags_if_all_are():
    assert are_pieces(["B-PER", "I-PER", "O"])
    assert not are_pieces(["PER", "LOC"])
    assert not are_pieces(["B-PER", "PER", "LOC"])
    assert not are_pieces([])


def test_what_a_pipeline_writes_is_read_as_spans(write):
    rows = [
        {
            "text": TEXT,
            "entities": [
                {
                    "entity": kind,
                    "score": 0.9,
                    "index": 1,
                    "word": TEXT[start:end],
                    "start": start,
                    "end": end,
                }
                for start, end, kind in PIECES
            ],
        }
    ]
    data = read_tagged(write("a.jsonl", "\n".join(map(json.dumps, rows * 3))))
    assert data.items[0].tags == ("B-PER", "I-PER", "O", "B-PER", "O", "B-LOC", "I-LOC")
    assert any("are tags such as B-PER" in note for note in data.notes)
