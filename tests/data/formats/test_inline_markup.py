"""Entities that are marked within their text."""

import json

import pytest

from headwise.data.items.item_types import infer_task
from headwise.data.readers.tagged_files import read_tagged

SENTENCES = ["{} went to {} today", "nobody rang", "we saw {} in {}"]
WORDS = [
    ("Ann", "Lee", "went", "to", "Rome", "today"),
    ("nobody", "rang"),
    ("we", "saw", "Ann", "Lee", "in", "Rome"),
]
TAGS = [
    ("B-PER", "I-PER", "O", "O", "B-LOC", "O"),
    ("O", "O"),
    ("O", "O", "B-PER", "I-PER", "O", "B-LOC"),
]
STYLES = ["[{text}]({kind})", "<{kind}>{text}</{kind}>", '<ENAMEX TYPE="{kind}">{text}</ENAMEX>']
STYLES += ["[{kind} {text}]", "[{kind} : {text}]"]


def marked(style):
    entities = [style.format(text="Ann Lee", kind="PER"), style.format(text="Rome", kind="LOC")]
    return [sentence.format(*entities) for sentence in SENTENCES]


def as_lines(texts):
    return "a.txt", "".join(f"{text}\n" for text in texts)


def as_csv(texts):
    rows = [text.replace('"', '""') for text in texts]
    return "a.csv", "id,text\n" + "".join(f'{number},"{row}"\n' for number, row in enumerate(rows))


def as_jsonl(texts):
    return "a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in texts)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("form", [as_lines, as_csv, as_jsonl])
def test_marks_become_spans_of_the_text_without_them(write, style, form):
    path = write(*form(marked(style)))
    assert infer_task(path, {})[0] == "tag"
    data = read_tagged(path)
    assert [(item.tokens, item.tags) for item in data.items] == [*zip(WORDS, TAGS, strict=True)]
    assert data.items[0].text == "Ann Lee went to Rome today"
    assert any(note.startswith("the entities are marked in 'text': ") for note in data.notes)


@pytest.mark.parametrize(
    "texts",
    [
        ["see [the page](http://x.org/a) again", "and [this](page.html) there"],
        ["so <b>good</b> and <b>bad</b>", "so <i>good</i> and <b>bad</b>"],
        ["call [PHONE NUMBER] at once", "write to [PHONE NUMBER] and [PHONE NUMBER]"],
        ["a [sic] word", "as (1) and [2]"],
        ["the <e1>dog</e1> of <e2>Ann</e2>", "the <e1>cat</e1> of <e2>Tom</e2>"],
    ],
)
def test_links_elements_of_pages_and_placeholders_mark_no_entities(write, texts):
    assert infer_task(write(*as_lines(texts * 3)), {})[0] != "tag"


@pytest.mark.parametrize("style", STYLES)
def test_labelled_texts_with_marks_are_labelled_texts(write, style):
    rows = marked(style)
    lines = "".join(json.dumps({"text": text, "label": "ab"[n % 2]}) + "\n" for n, text in enumerate(rows))
    assert infer_task(write("a.jsonl", lines), {})[0] == "classify"
    tabs = "".join(f"{'ab'[n % 2]}\t{text}\n" for n, text in enumerate(rows * 3))
    assert infer_task(write("a.txt", tabs), {})[0] == "classify"


@pytest.mark.parametrize(
    ("style", "text"),
    [
        (STYLES[0], "[[Ann](PER) Lee](PER) rang"),
        (STYLES[1], "<PER>Ann <PER>Lee</PER></PER> rang"),
        (STYLES[1], "<LOC>Rome</LOC> and <LOC>Oslo"),
        (STYLES[3], "[ORG Bank of [LOC China]] rang"),
    ],
)
def test_marks_within_marks_and_without_an_end_are_reported(write, style, text):
    errors = []
    path = write(*as_lines([*marked(style), text]))
    assert len(read_tagged(path, on_error=errors.append).items) == 3
    assert [(error.code, error.line) for error in errors] == [("HW246", 4)]
    assert "within another mark, or without its end" in str(errors[0])
