"""Files of text that are refused by name."""

import pytest

from headwise.data.errors import DataError
from headwise.data.formats.unsupported_texts import refuse_unsupported_text
from headwise.data.readers.file_preview import guess_format

WORDS = "the printer is dark"
FILES = {
    "HTML": "<!DOCTYPE html>\n<html>\n<table>",
    "XML": "<?xml version='1.0'?>\n<tickets>",
    "an XML file; expected": '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES">',
    "an XML": "<tickets>\n  <ticket id='1'>\n    <text>it is dark</text>",
    "XML file": '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0">',
    "TextGrid": 'File type = "ooTextFile"\nObject class = "TextGrid"',
    "subtitles": f"1\n00:00:01,000 --> 00:00:04,000\n{WORDS}",
    "mail": f"From: ann@example.org\nSubject: printer\nTo: help@example.org\n{WORDS}",
    "BibTeX": "@article{ann2020,\n title={On printers},\n}",
    "a JSON array of texts": f'["{WORDS}",\n"and loud"]',
    "ARFF": "% made by hand\n@RELATION tickets\n@attribute text string",
    "SQL": f"INSERT INTO `tickets` (text, label) VALUES\n('{WORDS}','a')",
    "SVMlight": "1 3:1 17:0.5\n-1 2:1 # a\n+1,2 qid:3 4:0.25",
    "Vowpal Wabbit": f"1 |text {WORDS}\n2 |text {WORDS}\n1 |text {WORDS} |more a:1",
    "YAML other than Rasa's": f"- text: {WORDS}\n  label: a\n- text: {WORDS}\n  label: b",
    "tuples of Python": f"('{WORDS}', 'a')\n(\"it's {WORDS}\", 'b'),\n('{WORDS}', 3)",
    "databases print": "+------+-------+\n| text | label |\n+------+-------+",
    "PubTator": f"12|t|{WORDS}\n12|a|{WORDS}\n12\t4\t11\tprinter\tDevice\tD1",
    "annotations of tagtog": '{"annotatable": {"parts": ["s1"]}, "anncomplete": true, "entities": []}',
    "has no such file": "404: Not Found",
    "a chat": f"[01.03.24, 10:00:11] Ann: {WORDS}\nand loud\n[01.03.24, 10:01:11] Bob B: {WORDS}",
}


def refuse(text, *, labelled=True):
    refuse_unsupported_text("a.txt", text.split("\n"), labelled=labelled)


@pytest.mark.parametrize("kind", FILES)
def test_the_kind_is_named(kind):
    with pytest.raises(DataError, match=kind) as raised:
        refuse(FILES[kind])
    assert raised.value.code == "HW104"
    assert "--format" not in str(raised.value)


def test_a_chat_and_an_answer_may_be_texts_to_predict():
    refuse(FILES["a chat"], labelled=False)
    refuse(FILES["has no such file"], labelled=False)


@pytest.mark.parametrize("text", ["Entry not found", "Invalid username or password.", "403: Forbidden"])
def test_other_answers_of_servers(text):
    with pytest.raises(DataError, match=r"HW104.*has no such file"):
        refuse(text)


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind not in ("a chat", "has no such file")])
def test_each_line_may_be_a_text_to_predict(kind):
    with pytest.raises(DataError, match="--format text if each line is a text"):
        refuse(FILES[kind], labelled=False)


@pytest.mark.parametrize(
    "text",
    [
        f"1 doc1| {WORDS}\n-1 doc2| {WORDS}\n1 doc3| {WORDS}",
        f"1 1.5 'doc1 |w {WORDS}\n-1 0.5 'doc2 |w {WORDS}\n1 1 'doc3 |w {WORDS}",
        f"01/03/2024, 10:00 - Ann: {WORDS}\n01/03/2024, 10:01 - Bob: {WORDS}\n01/03/2024, 10:02 - Ann: no",
        f"[10:00] <ann> {WORDS}\n[10:01] <bob> {WORDS}\n10:02 <ann> no",
        f"COPY tickets (text, label) FROM stdin;\n{WORDS}\ta",
        f"<tickets><ticket label='a'>{WORDS}</ticket></tickets>",
        f"<doc id='1'>\n{WORDS}\n</doc>\n<doc id='2'>\n{WORDS}\n</doc>",
        f"(1, '{WORDS}')\n(2, '{WORDS}')\n(1, '{WORDS}')",
    ],
)
def test_other_spellings(text):
    with pytest.raises(DataError) as raised:
        refuse(text)
    assert raised.value.code == "HW104"


@pytest.mark.parametrize(
    "text",
    [
        f"1 | {WORDS}\n2 | {WORDS}\n3 | {WORDS}",  # a table
        f"1|{WORDS}\n2|{WORDS}\n3|{WORDS}",
        "4 |good film\n0 |bad film\n4 |fine",
        f"- intent: a\n  examples: |\n    - {WORDS}\n- intent: b\n  examples: |\n    - no",  # Rasa
        f"- {WORDS}\n- {WORDS}\n- note: this",
        "insert into the slot (blue) your card\ncreate table five\ndrop it",
        "lunch 12:30\ndinner 19:00 20:00\ntea 16:00",
        "<p>a text</p>\n<p>another</p>",
        "<b>one</b> text",
        "<p>one text</p>",
        f"('quoted' {WORDS})\n(see 'a', {WORDS})\n(no)",
        "+1 for this\n+1 +1\n+ + +",
        f"2024-03-01 10:00,{WORDS},a\n2024-03-02 11:00,{WORDS},b\n2024-03-02 11:00,{WORDS},b",
        "404: Not Found\nis what it says",
        f"Ann: {WORDS}\nBob: {WORDS}\nAnn: no",
        "",
    ],
)
def test_texts_and_tables_are_not_refused(text):
    refuse(text)


def test_no_suffix_makes_a_page_a_table():
    head = list(enumerate(FILES["HTML"].split("\n"), start=1))
    with pytest.raises(DataError, match="an HTML page"):
        guess_format("reviews.csv", head, labelled=True)
