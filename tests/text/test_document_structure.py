"""Where sentences and paragraphs end, and which words they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.core.tokenizer import get_tokenizer
from headwise.text.document_structure import (
    joined_text,
    paragraph_starts,
    sentence_starts,
    word_marks,
)

BOTH = frozenset({"sentence", "paragraph"})


def cut(text: str, starts: list[int]) -> list[str]:
    return [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It rained.", "We stayed in!", "Why?"],
        ["He said “Stop.”", "She did not."],
        ["It works (at last!)", "Now rest."],
        ["Wait...", "What?!", "No."],
        ["Mr. Lind met Dr. Oda at 3.5 km.", "They spoke."],
        ["J. K. Brown wrote it, e.g. for us.", "Fine."],
        ["the U.S. navy sailed.", "It came back."],
        ["All lower case. it is not cut here.", "But here."],
        ["really! yes, a mark other than a full stop ends it before small letters, too? sure."],
        ["雨が降った。", "家にいた！", "なぜ？"],
        ["क्या हुआ।", "कुछ नहीं।"],
        ["A line\nthat goes on.", "The next\r\nline goes on, too."],
        ["A heading", "\n\nA paragraph.", "Its end"],
    ],
    ids=lambda sentences: sentences[0],
)
def test_sentences(sentences):
    glue = "" if sentences[0].startswith("雨") else " "
    text = glue.join(sentences)
    expected = [part for sentence in sentences for part in _after_marks(sentence)]
    assert cut(text, sentence_starts(text)) == expected


def _after_marks(sentence: str) -> list[str]:
    """The one case that holds three sentences, cut by hand."""
    if sentence.startswith("really!"):
        return ["really!", "yes, a mark other than a full stop ends it before small letters, too?", "sure."]
    return [sentence.strip()]


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\n \t\n", "\n\n\n\n", "\u2029", " \r\r "])
def test_paragraphs_end_at_blank_lines(gap):
    text = f"One line.\nThe same paragraph{gap}another one"
    assert cut(text, paragraph_starts(text)) == ["One line.\nThe same paragraph", "another one"]
    assert cut(text, sentence_starts(text))[1:] == ["The same paragraph", "another one"]


def test_one_windows_line_break_is_no_blank_line():
    assert paragraph_starts("one\r\ntwo") == [0]


@pytest.mark.parametrize("tokenizer", ["penn", "whitespace"])
def test_marks_of_words(tokenizer):
    text = "\n\n It rained. We slept!\n\nThen sun\n\n\n"
    spans = get_tokenizer(tokenizer).spans(text)
    marks = word_marks(BOTH, text, spans)
    words = [text[start:end] for start, end in spans]
    units = {name: dict(zip(words, marks[name].tolist(), strict=True)) for name in BOTH}
    assert [units["sentence"][word] for word in ("It", "We", "Then", "sun")] == [0, 1, 2, 2]
    assert [units["paragraph"][word] for word in ("It", "We", "Then", "sun")] == [0, 0, 1, 1]


def test_no_words():
    assert all(len(mark) == 0 for mark in word_marks(BOTH, " \n\n ", []).values())


@given(st.text(st.sampled_from("aB.!? \n\r\u2029。)\"'0"), max_size=40))
def test_marks_of_any_text(text):
    spans = get_tokenizer("whitespace").spans(text)
    marks = word_marks(BOTH, text, spans)
    for mark in marks.values():
        steps = [later - before for before, later in zip(mark.tolist(), mark.tolist()[1:], strict=False)]
        assert set(steps) <= {0, 1}
        assert mark[:1].tolist() in ([], [0])
    sentence, paragraph = marks["sentence"].tolist(), marks["paragraph"].tolist()
    # A sentence lies in one paragraph.
    assert len(set(zip(sentence, paragraph, strict=True))) == len(set(sentence))


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs", "Zs", "Cc"]), min_size=1), max_size=6))
def test_joined_words_keep_their_offsets(words):
    text, spans = joined_text(words)
    assert [text[start:end] for start, end in spans] == words
