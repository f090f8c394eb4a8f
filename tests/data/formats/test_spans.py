"""Texts with spans of characters, as annotators and spaCy write them."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.data.readers.tagged_files import read_tagged

TEXT = "Tom Lee's visit to New York, again."
SPANS = [[0, 7, "PER"], [19, 27, "LOC"]]
WORDS = ("Tom", "Lee", "'s", "visit", "to", "New", "York", ",", "again", ".")
TAGS = ("B-PER", "I-PER", "O", "O", "O", "B-LOC", "I-LOC", "O", "O", "O")


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def named(**names):
    """Spans as objects, with the names of start, end and type."""
    return [{names["start"]: a, names["end"]: b, names["type"]: kind, "id": 7} for a, b, kind in SPANS]


@pytest.mark.parametrize(
    ("name", "spans"),
    [
        ("label", SPANS),
        ("labels", SPANS),
        ("entities", SPANS),
        ("spans", named(start="start", end="end", type="label")),
        ("spans", named(start="start", end="end", type="type")),
        ("entities", named(start="start_offset", end="end_offset", type="label")),
        ("annotations", named(start="from", end="to", type="kind")),
        ("mentions", named(start="charStart", end="charEnd", type="Entity-Type")),
        ("spans", named(start="Start_Index", end="End_Index", type="Label")),
    ],
)
def test_spans_become_tags_of_words(write, name, spans):
    path = write("a.jsonl", lines({"id": 1, "text": TEXT, name: spans}, {"text": "No one.", name: []}))
    assert infer_task(path, {}) == ("tag", f"spans of characters in {name!r}")
    data = read_tagged(path)
    assert [(sentence.tokens, sentence.tags, sentence.line) for sentence in data.items] == [
        (WORDS, TAGS, 1),
        (("No", "one", "."), ("O", "O", "O"), 2),
    ]
    first = data.items[0]
    assert first.text == TEXT
    assert first.spans is not None
    assert tuple(TEXT[a:b] for a, b in first.spans) == WORDS
    assert (data.format, data.columns.token, data.columns.tag) == ("spans", "text", name)
    assert data.entities == {"LOC": 1, "PER": 1}
    assert not data.findings


def test_white_space_at_the_ends_of_a_span_is_no_part_of_it(write):
    """Annotators select it; spans that share nothing else do not overlap."""
    spans = [[0, 4, "PER"], [3, 7, "ORG"], [18, 27, "LOC"]]
    data = read_tagged(write("a.jsonl", lines({"text": TEXT, "spans": spans})))
    assert data.items[0].tags == ("B-PER", "B-ORG", *TAGS[2:])
    assert not data.findings


def predicted(**changed):
    """A prediction of a tagger, as `headwise predict --format-out jsonl` writes it."""
    spans = [
        {"type": kind, "words": [0, 2], "text": TEXT[a:b], "start": a, "end": b, "probability": 0.9}
        for a, b, kind in SPANS
    ]
    record = {"body": TEXT, "words": WORDS, "tags": TAGS, "probabilities": [0.9] * 10, "spans": spans}
    return record | changed


def test_predictions_are_read_by_their_tags(write):
    assert read_tagged(write("a.jsonl", lines(predicted()))).items[0].tags == TAGS
    table = "body,words,tags,probabilities,spans\n" + ",".join(
        '"' + (value if name == "body" else json.dumps(value)).replace('"', '""') + '"'
        for name, value in predicted().items()
    )
    assert read_tagged(write("a.csv", table)).items[0].tags == TAGS
    with pytest.raises(DataError, match="a span from 0 to 7"):
        read_tagged(write("b.csv", table.replace('""type"": ""PER""', '""type"": ""ORG""')))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"spans": [[0, 7, "PER"], [22, 27, "LOC"]]}, r"a span from 22 to 27 \(LOC\) that the tags lack"),
        ({"spans": [[0, 7, "ORG"], [19, 27, "LOC"]]}, r"a span from 0 to 7 \(ORG\) that the tags lack"),
        ({"spans": [[0, 7, "PER"]]}, r"tags of a span from 19 to 27 \(LOC\) that is not among"),
        ({"spans": [{"words": [5, 7], "type": "LOC"}]}, r"tags of a span from 0 to 7 \(PER\)"),
        ({"spans": [{"start": 0, "type": "PER"}]}, "the span .*, without its characters or its type"),
        ({"tags": ("O",) * 10}, r"a span from 0 to 7 \(PER\) that the tags lack"),
    ],
)
def test_predictions_of_which_spans_or_tags_alone_were_corrected(write, changed, message):
    """What was corrected is not left out without a word; a flag says which counts."""
    path = write("a.jsonl", lines(predicted(), predicted(**changed)))
    with pytest.raises(DataError, match=message) as raised:
        read_tagged(path)
    assert (raised.value.code, raised.value.line) == ("HW246", 2)
    assert "--format spans" in str(raised.value)
    tags = read_tagged(path, TagOptions(tag_column="tags")).items[1].tags
    assert tags == changed.get("tags", TAGS)


def test_corrected_spans_are_read_as_such(write):
    corrected = predicted(spans=[[0, 7, "ORG"], [19, 27, "LOC"]])
    data = read_tagged(write("a.jsonl", lines(corrected)), TagOptions(format="spans"))
    assert data.items[0].tags == ("B-ORG", "I-ORG", *TAGS[2:])


def test_words_are_those_of_the_models_tokenizer(write):
    path = write("a.jsonl", lines({"text": "to Rome, now", "spans": [[3, 7, "LOC"]]}))
    assert TaggedSentenceItems(tokenizer="whitespace").read(path).items[0].tokens == ("to", "Rome,", "now")


def test_ends_within_words_are_moved_to_theirs_and_counted(write):
    rows = [
        {"text": "a London-based firm", "label": [[2, 8, "LOC"]]},
        {"text": "Rome and Oslo", "label": [[0, 3, "LOC"], [9, 13, "LOC"]]},
        {"text": " spaced out ", "label": [[0, 8, "X"]]},
    ]
    path = write("a.jsonl", lines(*rows))
    data = read_tagged(path)
    assert [sentence.tags for sentence in data.items] == [
        ("O", "B-LOC", "O"),
        ("B-LOC", "O", "B-LOC"),
        ("B-X", "O"),
    ]
    [finding] = data.findings
    assert (finding.severity, finding.code) == ("warning", "HW247")
    assert finding.message == (
        "2 spans begin or end within a word, first 'London' in 'London-based'; whole words are tagged"
    )
    assert finding.where == (f"{path}:1", f"{path}:2")


def test_of_two_spans_in_a_word_the_first_has_it(write):
    path = write("a.jsonl", lines({"text": "the US/UK deal", "label": [[7, 9, "UK"], [4, 6, "US"]]}))
    data = read_tagged(path)
    assert data.items[0].tags == ("O", "B-US", "O")
    assert [finding.code for finding in data.findings] == ["HW247", "HW247"]
    assert data.findings[1].message == "1 span is left out, as another has the word, first 'UK' in 'US/UK'"


@pytest.mark.parametrize(
    ("spans", "problem"),
    [
        ([[0, 7, "PER"], [4, 9, "LOC"]], "spans that overlap, 'Tom Lee' (0 to 7) and \"Lee's\" (4 to 9)"),
        ([[0, 99, "PER"]], "a span from 0 to 99 in 35 characters of text"),
        ([[-1, 3, "PER"]], "a span from -1 to 3"),
        ([[3, 3, "PER"]], "a span from 3 to 3"),
        ([[3, 4, "PER"]], "a span from 3 to 4 around no word"),
        ([[0, 3, ""]], "a span from 0 to 3 without a type"),
        ([[0, 3]], "the span [0, 3]"),
        ([["0", 3, "PER"]], "the span "),
        ("PER", "PER"),
        (None, "null"),
    ],
)
def test_spans_that_cannot_be(write, fails, spans, problem):
    good = {"text": TEXT, "label": SPANS}
    path = write("a.jsonl", lines(good, good, {"text": TEXT, "label": spans}))
    assert infer_task(path, {})[0] == "tag"
    assert fails(read_tagged, path) == ("HW246", 3, None)
    problems = []
    assert len(read_tagged(path, on_error=problems.append).items) == 2
    assert problem in problems[0].problem


def test_what_to_do_about_overlapping_spans(write):
    path = write("a.jsonl", lines({"text": TEXT, "label": [*SPANS, [23, 27, "LOC"]]}))
    with pytest.raises(Exception, match=r"a\.jsonl:1: spans .* overlap, .*; expected one type.*longest"):
        read_tagged(path)


NESTED = {
    "text": "the New York City Council met",
    "label": [[4, 25, "ORG"], [4, 17, "LOC"], [8, 12, "OLD"], [13, 17, "X"], [26, 29, "V"], [26, 29, "W"]],
}


@pytest.mark.parametrize(
    ("policy", "tags", "note"),
    [
        ("longest", "O B-ORG I-ORG I-ORG I-ORG B-V", "spans that overlap a longer one, left out: 4"),
        ("shortest", "O O B-OLD B-X O B-V", "spans that overlap a shorter one, left out: 3"),
    ],
)
def test_of_overlapping_spans_the_longest_or_the_shortest_are_kept(write, policy, tags, note):
    path = write("a.jsonl", lines({"text": TEXT, "label": SPANS}, NESTED))
    data = read_tagged(path, TagOptions(overlapping_spans=policy))
    assert (data.items[1].tags, note in data.notes) == (tuple(tags.split()), True)
    assert data.items[0] == read_tagged(write("b.jsonl", lines({"text": TEXT, "label": SPANS}))).items[0]


def test_without_overlaps_nothing_is_left_out_and_equal_spans_are_one(write):
    spans = [[0, 7, "PER"], [0, 8, "PER"]]
    path = write("a.jsonl", lines({"text": "Tom Lee ran", "label": spans}))
    for policy in ("error", "longest"):
        data = read_tagged(path, TagOptions(overlapping_spans=policy))
        assert data.items[0].tags == ("B-PER", "I-PER", "O")
        assert not any("left out" in note for note in data.notes)


def test_texts_without_an_answer_are_not_texts_without_spans(write, fails):
    path = write(
        "a.jsonl", lines(*[{"text": TEXT, "label": SPANS}] * 2, {"text": "No one.", "label": None})
    )
    with pytest.raises(
        DataError, match=r"a\.jsonl:3: spans that are null.*give --empty-labels skip"
    ) as error:
        read_tagged(path)
    assert "[]" not in error.value.advice
    data = read_tagged(path, TagOptions(empty_labels="skip"))
    assert [item.tokens for item in data.items] == [WORDS] * 2
    assert "sentences that nobody has tagged, left out: 1" in data.notes


def test_a_field_of_spans_that_is_absent_means_none_and_is_told(write):
    path = write("a.jsonl", lines({"text": TEXT, "label": SPANS}, *[{"text": "No one."}] * 3))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert data.items[1].tags == ("O", "O", "O")
    assert "texts without the field 'label', which therefore have no spans: 3" in data.notes
    assert len(read_tagged(path, TagOptions(empty_labels="skip")).items) == 1


FLAGS = "\N{BICYCLE}\N{BICYCLE} "


def shifted(count, written=True, inclusive=False):
    """A text with two characters of two units each, and its span by a unit."""
    text = FLAGS + "naïve Marta sails"
    start = count(text[: text.index("Marta")])
    span = {"start": start, "end": start + 5 - inclusive, "label": "PER"}
    return {"text": text, "spans": [span | ({"text": "Marta"} if written else {})]}


def utf_16(text):
    return len(text.encode("utf-16-le")) // 2


def utf_8(text):
    return len(text.encode())


@pytest.mark.parametrize(
    ("count", "inclusive", "unit"),
    [
        (len, False, None),
        (utf_16, False, "UTF-16 code units"),
        (utf_8, False, "UTF-8 bytes"),
        (len, True, "characters, with inclusive ends"),
        (utf_16, True, "UTF-16 code units, with inclusive ends"),
    ],
)
def test_offsets_of_other_units_are_converted_and_told(write, count, inclusive, unit):
    plain = {
        "text": "Ann ran",
        "spans": [{"start": 0, "end": 3 - inclusive, "label": "PER", "text": "Ann"}],
    }
    rows = [*[shifted(count, inclusive=inclusive)] * 3, *[plain] * (not inclusive)]
    data = read_tagged(write("a.jsonl", lines(*rows)))
    assert [item.tags for item in data.items][:3] == [("O", "O", "O", "B-PER", "O")] * 3
    note_of_unit = f"texts whose offsets count {unit}, and are converted: 3"
    assert [note for note in data.notes if "offsets" in note] == ([note_of_unit] if unit else [])
    assert not data.findings


def test_utf_16_is_recognised_by_the_words_too(write):
    plain = {"text": "Ann ran", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    path = write("a.jsonl", lines(plain, shifted(utf_16, written=False)))
    assert [item.tags[-2] for item in read_tagged(path).items] == ["B-PER", "B-PER"]
    path = write("b.jsonl", lines(plain, shifted(len, written=False)))
    assert [item.tags[-2] for item in read_tagged(path).items] == ["B-PER", "B-PER"]


@pytest.mark.parametrize("name", ["text", "value"])
def test_a_span_that_differs_from_its_text_is_an_error(write, fails, name):
    good = {"text": "Ann saw Bo", "spans": [{"start": 0, "end": 3, "label": "PER", name: "Ann"}]}
    bad = {"text": "Ann saw Bo", "spans": [{"start": 4, "end": 7, "label": "PER", name: "Ann"}]}
    path = write("a.jsonl", lines(good, good, bad))
    assert fails(read_tagged, path) == ("HW246", 3, None)
    with pytest.raises(DataError, match="4 to 7 is 'saw', beside it stands 'Ann'"):
        read_tagged(path)


def test_a_value_that_is_not_in_the_text_is_another_name(write):
    row = {
        "text": "off to NYC",
        "entities": [{"start": 7, "end": 10, "value": "New York", "entity": "city"}],
    }
    assert read_tagged(write("a.jsonl", lines(row))).tags == {"O": 2, "B-city": 1}
    row["entities"] = [{"start": 7, "end": 10, "value": "YC", "entity": "city"}]  # not offsets from 1
    data = read_tagged(write("b.jsonl", lines(row)))
    assert data.tags == {"O": 2, "B-city": 1}
    assert not any("converted" in note for note in data.notes)


@pytest.mark.parametrize(
    "span",
    [
        [8, 10, "PER"],
        [8, 10, "PER", "Q7"],
        ["PER", 8, 10],
        [8.0, 10.0, "PER"],
        {"start": "8", "end": "10", "label": "PER"},
        {"offset": "8", "length": 2.0, "label": "PER"},
        {"start_offset": 8, "end_offset": 10, "label": 3, "user": 1},
        {"type": "entity", "start": 8, "end": 10, "className": "PER"},
        {"begin": 8, "end": 10, "entity_group": "PER", "score": 0.9},
        {"offset": 8, "length": 2, "category": "PER", "text": "Bo"},
        {"start": 8, "end": 10, "labels": ["PER"], "text": "bo "},
        {"entity": "PER", "startPos": 8, "endPos": 9, "children": []},
    ],
)
def test_ways_to_write_a_span(write, span):
    path = write("a.jsonl", lines({"text": "Ann saw Bo", "entities": [span, span]}))
    assert infer_task(path, {})[0] == "tag"
    assert read_tagged(path).items[0].tags in [("O", "O", "B-PER"), ("O", "O", "B-3")]


def test_spans_in_the_cells_of_a_table(write):
    cell = json.dumps([{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}]).replace('"', '""')
    path = write(
        "a.csv", "id,text,label\n" + f'1,Ann ran off,"{cell}"\n' * 3 + "2,no one is here,[]\n3,a b c,\n"
    )
    assert infer_task(path, {})[0] == "tag"
    assert fails_with(path) == ("HW246", 6)
    data = read_tagged(path, TagOptions(empty_labels="skip"))
    assert [item.tags[0] for item in data.items] == ["B-PER"] * 3 + ["O"]


def fails_with(path):
    with pytest.raises(DataError) as error:
        read_tagged(path)
    return error.value.code, error.value.line


def test_a_text_that_is_none_or_empty(write, fails):
    good = {"text": TEXT, "label": SPANS}
    empty = [{"text": None, "label": []}, {"label": []}, {"text": " ", "label": []}]
    assert len(read_tagged(write("a.jsonl", lines(good, *empty))).items) == 1
    assert fails(read_tagged, write("b.jsonl", lines(good, {"text": 3, "label": []}))) == ("HW118", 2, None)


def test_texts_to_predict_are_cut_by_the_model(write):
    path = write("a.jsonl", lines({"text": TEXT, "label": SPANS}))
    [row] = ITEM_TYPES_BY_TASK["tag"].rows_to_predict(path, {})
    assert row.item.text == TEXT


def test_lists_of_labels_are_no_spans(write):
    path = write("a.jsonl", lines({"text": "a b", "labels": ["x", "y"]}, {"text": "c d", "labels": ["x"]}))
    assert infer_task(path, {})[0] == "multi-label"
    both = {"text": TEXT, "topic": "travel", "entities": SPANS}
    assert infer_task(write("b.jsonl", lines(both, both)), {})[0] != "tag"


def test_other_fields_can_be_named(write, fails):
    path = write("a.jsonl", lines({"body": "Oslo", "mine": [[0, 4, "LOC"]]}))
    data = read_tagged(path, TagOptions(format="spans", token_column="body", tag_column="mine"))
    assert data.tags == {"B-LOC": 1}
    assert fails(read_tagged, path, TagOptions(format="spans", tag_column="x"))[0] == "HW111"
    assert fails(read_tagged, path, TagOptions(format="spans", token_column="x"))[0] == "HW111"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-8"])
def test_units_are_recognised_without_the_texts_of_spans(write, encoding):
    text, size = "Zo\u00eb met \N{BICYCLE} Ann in Oslo", 2 if encoding == "utf-16-le" else 1
    spans = [
        [*(len(text[:at].encode(encoding)) // size for at in (start, start + len(word))), "X"]
        for word in ("Ann", "Oslo")
        for start in [text.index(word)]
    ]
    path = write("a.jsonl", lines(*[{"text": text, "spans": spans}] * 3))
    tags = read_tagged(path).items[0].tags
    assert tags == ("O", "O", "O", "B-X", "O", "B-X")


def test_a_span_with_two_types_is_an_error_that_names_them_or_has_the_first(write):
    two = {"text": "Tom ran", "spans": [{"start": 0, "end": 3, "labels": ["PER", "HERO"]}]}
    good = {"text": "Tom ran", "spans": [{"start": 0, "end": 3, "labels": ["PER"]}]}
    path = write("a.jsonl", lines(good, good, two))
    message = r"a\.jsonl:3: a span with the types 'PER' and 'HERO': 'Tom' \(0 to 3\).*longest"
    with pytest.raises(DataError, match=message):
        read_tagged(path)
    data = read_tagged(path, TagOptions(overlapping_spans="longest"))
    assert [item.tags for item in data.items] == [("B-PER", "O")] * 3


def windows_lines(count, *, written):
    """A text of two lines, the offsets of which count its line ends once."""
    text, spans = "🙂 hello there.\r\n\r\nHere is Ann Lee.\r\nBob ran.", []
    for name in ("Ann Lee", "Bob"):
        start, end = (count(text[: text.index(name) + n].replace("\r\n", "\n")) for n in (0, len(name)))
        spans.append({"start": start, "end": end, "label": "PER", **({"text": name} if written else {})})
    return {"text": text, "spans": spans}


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("count", [len, utf_16])
def test_offsets_that_count_line_ends_once_are_converted(write, count, written):
    plain = {"text": "Ann ran", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    data = read_tagged(write("a.jsonl", lines(plain, windows_lines(count, written=written))))
    sentence = data.items[1]
    tagged = [word for word, tag in zip(sentence.tokens, sentence.tags, strict=True) if tag != "O"]
    assert (tagged, data.findings[1:]) == (["Ann", "Lee", "Bob"], ())
    assert any("with the line end \\r\\n as one" in note for note in data.notes)


def test_right_offsets_of_texts_with_windows_line_ends_stay(write):
    text = "hello there.\r\nAnn ran.\r\nBob ran."
    spans = [
        {"start": text.index(name), "end": text.index(name) + 3, "label": "PER"} for name in ("Ann", "Bob")
    ]
    data = read_tagged(write("a.jsonl", lines({"text": text, "spans": spans})))
    assert [tag for tag in data.items[0].tags if tag != "O"] == ["B-PER", "B-PER"]
    assert not data.findings
    assert not any("offsets" in note for note in data.notes)


def test_types_with_a_confidence_and_an_empty_list_of_labels_of_the_text(write):
    """As flair writes them."""
    kind = [{"value": "PER", "confidence": 1.0}]
    entities = [{"text": "Tom", "start_pos": 0, "end_pos": 3, "labels": kind}]
    path = write("a.jsonl", json.dumps({"text": "Tom ran", "labels": [], "entities": entities}) + "\n")
    assert infer_task(path, {})[0] == "tag"
    assert read_tagged(path).items[0].tags == ("B-PER", "O")


def test_a_nameless_field_is_not_the_text_of_a_span(write):
    spans = [{"start": 0, "end": 3, "label": "PER", "": 7}]
    path = write("a.jsonl", json.dumps({"text": "Tom ran", "spans": spans}) + "\n")
    assert read_tagged(path).items[0].tags == ("B-PER", "O")
