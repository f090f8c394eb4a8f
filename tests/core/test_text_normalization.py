"""Texts that look alike are one text to a model, and offsets lead back to the text as written."""

from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from headwise.core.text_normalization import normalize_text, original_spans
from headwise.core.tokenizer import get_tokenizer

SIGNS = (
    "ae ioAK'\".-\u0301\u0323\u0307\u00e9\u00ad\u034f\u200b\u200d\ufe0f\u2764\U0001f525\U0001f3fd\u2019"
    "\u201c\u2026\u2014\uff21\uff76\uff9e\uff01\ufb01\ufb2a\u037e\u212b\u1100\u1161\u11a8\uac00\u09c7"
    "\u09be\u3042\u0e01\u0e34"
)
texts = st.text(st.sampled_from(SIGNS), max_size=12) | st.text(max_size=20)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("cafe\u0301", "caf\u00e9"),
        ("don\u2019t \u201csay\u201d \u201ait\u2018", "don't \"say\" 'it'"),
        ("so\u00adft ze\u200bro \ufeffmark jo\u200din", "soft zero mark join"),
        ("\uff46\uff55\uff4c\uff4c\uff01 \uff76\uff9e", "full! \u30ac"),
        ("\ufb01ne \u2026 a\u2014b", "fine ... a--b"),
        ("\U0001f469\u200d\U0001f4bb \u2764\ufe0f", "\U0001f469\u200d\U0001f4bb \u2764"),
        ("x\u00b2 \u00bd \u2460 \u00bb", "x\u00b2 \u00bd \u2460 \u00bb"),
        ("\uffe3 \ufe70", "\uffe3 \ufe70"),  # what they stand for holds a space
    ],
)
def test_differences_that_no_reader_sees_go(text: str, plain: str):
    assert normalize_text(text) == plain


@given(texts)
@example("\u2764\u200b\u200d\U0001f525")
@example("e\u200b\u0301")
def test_canonically_equal_texts_become_one(text: str):
    plain = normalize_text(text)
    assert normalize_text(normalize("NFC", text)) == normalize_text(normalize("NFD", text)) == plain
    assert normalize_text(plain) == plain


@given(texts, texts)
def test_pieces_between_white_space_are_independent(first: str, second: str):
    assert normalize_text(f"{first} {second}") == f"{normalize_text(first)} {normalize_text(second)}"


@given(texts)
def test_offsets_lead_back(text: str):
    plain = normalize_text(text)
    spans = original_spans(text, [(place, place + 1) for place in range(len(plain))])
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    for (start, end), character in zip(spans, plain, strict=True):
        assert character == "\u200d" or character in normalize_text(text[start:end])


@given(texts)
@pytest.mark.parametrize("name", ["penn", "whitespace"])
def test_spans_of_tokenizers_hold_their_words(name: str, text: str):
    assume(not any("\u1100" <= character <= "\u11ff" for character in text))  # parts of Korean syllables
    tokenizer = get_tokenizer(name)
    words, spans = tokenizer.words(text), tokenizer.spans(text)
    assert len(words) == len(spans)
    assert words == tokenizer.words(normalize("NFD", text))
    assert all(first <= second for (_, first), (second, _) in pairwise(spans))


def test_a_very_long_run_of_marks_is_left_alone():
    text = "a" + "\u0323\u0307" * 100_000
    assert normalize_text(text) == text


def test_words_between_invisible_characters_and_accents():
    tokenizer = get_tokenizer("penn")
    text = "l\u00ada\u0300 don\u2019t, \u200b\uff4f\uff4b"
    assert tokenizer.words(text) == ["l\u00e0", "do", "n't", ",", "ok"]
    written = [text[start:end] for start, end in tokenizer.spans(text)]
    assert written == ["l\u00ada\u0300", "do", "n\u2019t", ",", "\uff4f\uff4b"]
    assert get_tokenizer("penn-unnormalized").words("don\u2019t") == ["do", "n\u2019t"]
