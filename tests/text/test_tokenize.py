import gzip
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.core import tokenizer
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import UNNORMALIZED
from headwise.core.tokenizer import (
    TOKENIZERS,
    count_words,
    ends_with_initial,
    get_tokenizer,
    normalize_spelling,
    plain_words,
)

PENN, WHITESPACE = (get_tokenizer(name + UNNORMALIZED) for name in ("penn", "whitespace"))

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I can't, won't, don't!", "I ca n't , wo n't , do n't !"),
        ("DON'T they'd've it’s isn’t", "DO N'T they 'd 've it ’s is n’t"),
        ("it's I'm we'll they've you're he'd", "it 's I 'm we 'll they 've you 're he 'd"),
        ("the girls' mother-in-law's o'clock", "the girls ' mother-in-law 's o'clock"),
        ("rock'n'roll y'all L'Oréal O’Neill", "rock'n'roll y'all L'Oréal O’Neill"),
        ("cannot gonna wanna gotta", "cannot gonna wanna gotta"),
        ("get 'em 'cause of the '90s", "get 'em 'cause of the '90s"),
        ("1,234.5 3.14 10:30 1/2 .5 5'10", "1,234.5 3.14 10:30 1/2 .5 5'10"),
        ("$5.99, 100% 20th 70's mp3", "$ 5.99 , 100 % 20th 70 's mp3"),
        ("Mr. Smith of the U.S. left, e.g. etc.", "Mr. Smith of the U.S. left , e.g. etc."),
        ("J. K. Rowling and I. So did", "J. K. Rowling and I . So did"),
        ("Wow!!! What?!", "Wow ! ! ! What ? !"),
        ("well... hm.... yes..no…", "well ... hm .... yes .. no …"),
        ("good--bad ---- **** *really*", "good -- bad ---- **** * really *"),
        ("well-made and/or tv/dvd w/ C++", "well-made and/or tv/dvd w/ C++"),
        ("it.The end.)", "it . The end . )"),
        ("see http://a.b/c?d=1, (www.x.com).", "see http://a.b/c?d=1 , ( www.x.com ) ."),
        ("amazon.com bbc.co.uk/a me@mail.x.org.", "amazon.com bbc.co.uk/a me@mail.x.org ."),
        ("@bob #tag #1 AT&T &amp;", "@bob #tag # 1 AT & T &amp;"),
        (":) :-( ;) fun:) <3 :D :-/ :'( ^_^", ":) :-( ;) fun :) <3 :D :-/ :'( ^_^"),
        ("as follows:(a) 16:9 a<b", "as follows : ( a ) 16:9 a < b"),
        ("`` hi '' -LRB- x -RRB- \"q\" 'r'", "`` hi '' -LRB- x -RRB- \" q \" ' r '"),
        ("do n't it 's ca n't we 'll", "do n't it 's ca n't we 'll"),
        ("नमस्ते दुनिया العَرَبِيَّة e\u0301te\u0301 한국어", "नमस्ते दुनिया العَرَبِيَّة e\u0301te\u0301 한국어"),
        ("می\u200cخواهم co\u00adoperate", "می\u200cخواهم co\u00adoperate"),
        ("日本語です。ok", "日 本 語 で す 。 ok"),
        ("เมื่อวาน น้ำไม่ๆ", "เมื่ อ วา น น้ำ ไม่ ๆ"),  # vowels before and after, marks, a sign of repetition
        ("ปีพ.ศ.๒๕๖๗ ๑,๒๓๔.๕", "ปี พ.ศ. ๒๕๖๗ ๑,๒๓๔.๕"),  # abbreviations and numbers stay whole
        ("iPhoneรุ่นใหม่amazon.com!", "iPhone รุ่ น ให ม่ amazon.com !"),
        ("ເຈົ້າສະບາຍດີ", "ເຈົ້າ ສະ ບາ ຍ ດີ"),
        ("សួស្តីខ្ញុំ", "សួ ស្តី ខ្ញុំ"),  # consonants below another
        ("နိုင်ငံအင်္ဂလိပ်", "နို င် ငံ အ င်္ဂ လိ ပ်"),
        ("แ เ ำ ่", "แ เ ำ ่"),  # vowels and marks without a consonant
        (f"{FAMILY}👍🏽🇩🇪🇫🇷1️⃣{SCOTLAND}❤️", f"{FAMILY} 👍🏽 🇩🇪 🇫🇷 1️⃣ {SCOTLAND} ❤️"),
        ("", ""),
        (" \t\r\n\x1c\x85\u00a0\u3000", ""),
    ],
)
def test_penn_splits_as_documented(text: str, words: str):
    assert PENN.words(text) == words.split()


_CHUNK_PARTS = (
    "a I n don can it Mr mrs co ETC J 5 2nd a-b well-made -a a- a--b no. U.S it's x_y C w/ é 's 'S 'm "
    "'ll 'LL 'Ll 're 've 'd n't N'T 't 'em 'n ’s . .. , ! ? ; : ) \" - ;) .)"
)


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(st.sampled_from(_CHUNK_PARTS.split()), min_size=1, max_size=4))
def test_plain_chunks_are_cut_as_the_pattern_cuts_them(parts: list[str]):
    chunk = "".join(parts)
    if (words := plain_words(chunk)) and not ends_with_initial(chunk):
        assert list(words) == tokenizer._PENN_PATTERN.findall(chunk)


def test_common_chunks_are_plain():
    text = "Hi, I've typed it; they don't, so well-made? (no) It's 10 years."
    cut = [chunk for chunk in text.split() if plain_words(chunk)]
    assert cut == [chunk for chunk in text.split() if chunk != "(no)"]
    assert [word for chunk in cut for word in plain_words(chunk)] == PENN.words(" ".join(cut))


def test_tags_are_one_token_though_they_hold_spaces():
    text = 'fine.<br /><br/>x <a href="u v">y</a> <unk> a <b and c> d <'
    tags = ["<br />", "<br/>", '<a href="u v">', "</a>", "<unk>"]
    assert [word for word in PENN.words(text) if len(word) > 1 and word[0] == "<"] == tags
    assert PENN.words("a <b and c> d") == ["a", "<", "b", "and", "c", ">", "d"]


def test_offsets_index_the_original_text():
    assert PENN.spans("  It's\n😀 ok") == [(2, 4), (4, 6), (7, 8), (9, 11)]


# Pieces that meet every alternative of the pattern, beside arbitrary characters.
_PIECES = (
    "n't 's ' ’ `` '' . .. ... - -- _ / : ; , @ # & % $ * + = ~ ^ < > </ <br /> <a b='c'> http:// "
    "www. .com a@b.cd U.S Mr. ph.d 1 ,2 .5 ( [ ) ] :-) :D ^_^ -LRB- &amp; \u0301 \u200d \u200c \u00ad "
    "\u0600 \u200f \ufeff \x00 \x1c \x85 \u00a0 \r\n न ् ع َ 日 ー ﾞ ไ ำ 각 🇩 👍 🏽 ❤️ 1️⃣ ½ ² É n N t a A z"
)
_TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from([*_PIECES.split(" "), " "]), max_size=25).map("".join),
)


@settings(max_examples=300, deadline=None)
@example(text="+\u0300\u094d", name="penn")  # marks that change their order
@given(text=_TEXTS, name=st.sampled_from(sorted(TOKENIZERS)))
def test_spans_cover_what_is_not_whitespace(text: str, name: str):
    tokenizer = TOKENIZERS[name]
    spans = tokenizer.spans(text)
    assert tokenizer.words(text) == [tokenizer.normalize(text[start:end]) for start, end in spans]
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end <= len(text)
        assert tokenizer.normalize(text[end_before:start]).strip() == ""
        word = text[start:end]
        assert word == word.strip() != ""
        assert word.split() == [word] or word.startswith("<")
        end_before = end
    assert tokenizer.normalize(text[end_before:]).strip() == ""


@pytest.mark.parametrize("after", ["", " ", "  ", "\n", "\x1c", "\u3000"])
def test_words_that_were_found_before_are_those_of_the_text(after: str):
    for chunk in ("J.", "x-J.", "K.R.", "plan B.", "don't", "it's.", "(n't)", "abc", ".5", ":D", "U.S.A."):
        text = f"{chunk}{after}Ro says {chunk}{after}"
        for _ in range(2):
            assert PENN.words(text) == [text[start:end] for start, end in PENN.spans(text)]


def test_every_character_is_whitespace_or_a_word():
    codes = [*range(0x20000), *range(0xE0000, 0xE0200), sys.maxunicode]  # assigned, bar more Han
    text = " ".join(map(chr, codes))
    assert PENN.words(text) == WHITESPACE.words(text) == text.split()
    assert len(WHITESPACE.spans(text)) == len(text.split())


@settings(max_examples=100, deadline=None)
@given(text=_TEXTS)
def test_tokenised_text_is_stable(text: str):
    """A second pass may split more (context is gone), but never joins over a space."""
    joined = " ".join(word for word in PENN.words(text) if word.split() == [word])
    again = PENN.words(joined)
    assert [w for w in again if w.split() != [w] and not w.startswith("<")] == []
    assert "".join("".join(again).split()) == "".join(joined.split())


_UNITS = (
    "' ( . a a. a- a@ ab. a' n' n't 1, :- :( <a <! = ^_ _ -_ &a http:// www.., @a.b mr. e.g # 日 日. a日 "
    "ก เ เก ก็ ក្ ก. 日\u0301 😀\u200d \u0301 a\u0301 \u200d /a 1/ :)"
)


@pytest.mark.parametrize("unit", [*_UNITS.split(" "), '<a b="', "<a b=c ", " "])
def test_time_is_linear(unit: str, takes_under):
    def seconds(length: int) -> float:
        start = time.process_time()
        PENN.spans(text(length))
        return time.process_time() - start

    def text(length: int) -> str:
        return unit * (length // len(unit)) + "!"

    # Quadratic time would be 64 times as much for 8 times the text.
    least = min(seconds(4_000) for _ in range(9))
    assert takes_under(24 * least + 0.05, lambda: PENN.spans(text(32_000)))


def test_whitespace_tokenizer_keeps_everything_else():
    tokenizer = get_tokenizer("whitespace")
    assert tokenizer.name == "whitespace"
    assert tokenizer.words("don't <br /> stop.") == ["don't", "<br", "/>", "stop."]


def test_unknown_name_is_an_error_that_names_the_nearest():
    with pytest.raises(ConfigError, match="Did you mean 'penn'"):
        get_tokenizer("Pen")
    with pytest.raises(ConfigError, match="penn, whitespace"):
        get_tokenizer("xyz")


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("word", "word"),
        ("``", '"'),
        ("''", '"'),
        ("’’", '"'),
        ("“", '"'),
        ("-LRB-", "("),
        ("-rsb-", "]"),
        ("isn’t", "isn't"),
        ("—", "--"),
        ("…", "..."),
        ("......", "..."),
        ("..", ".."),
        ("..x.", "..x."),
        ("co\u00adop", "coop"),
        ("\u00ad", "\u00ad"),
        ("e\u0301te\u0301", "été"),
    ],
)
def test_plain_spelling(word: str, plain: str):
    assert normalize_spelling(word) == plain


@settings(max_examples=100, deadline=None)
@given(word=_TEXTS)
def test_plain_spelling_is_stable(word: str):
    plain = normalize_spelling(word)
    assert normalize_spelling(plain) == plain
    assert bool(plain) == bool(word)


@pytest.mark.realdata
def test_tokenised_reviews_stay_as_they_are(real_data):
    folder = real_data / "mtl16"
    unchanged = total = 0
    for name in ("books", "kitchen_housewares"):
        for line in gzip.decompress((folder / f"{name}.task.test.gz").read_bytes()).split(b"\n"):
            words = line.decode("utf-8", "replace").partition("\t")[2].split()
            unchanged += sum(PENN.words(word) == [word] for word in words)
            total += len(words)
    assert total > 100_000
    assert unchanged / total > 0.993


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("It isn't  good.\n", 3),
        ("C'était très bien", 3),
        ("我喜欢这部电影", 7),
        ("映画は very good", 5),
        ("ไปตลาด ok", 5),
    ],
)
def test_words_are_counted_by_spaces_characters_and_clusters(text: str, count: int):
    assert count_words(text) == count


def test_accents_are_composed_in_words_that_are_words():
    assert normalize_spelling("caf" + "e\u0301") == "café"
    long = "a" + "\u0301\u0323" * 5_000  # in time that grows with the square
    assert normalize_spelling(long) == long
