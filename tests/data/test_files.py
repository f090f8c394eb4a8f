import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.files import text_lines as files
from headwise.data.files.text_lines import read_lines, without_returns


def texts(path, **options):
    return [text for _, text in without_returns(read_lines(path, **options))]


def test_lines_end_with_newline_only(write):
    data = "a\x85b\u2028c\x0cd\x1ce\r\n\nf\rg"
    lines = list(without_returns(read_lines(write("a", data))))
    assert lines == [(1, "a\x85b\u2028c\x0cd\x1ce"), (2, ""), (3, "f\rg")]


def test_only_one_return_is_taken_away(write):
    assert texts(write("a", "a\r\r\nb\r")) == ["a\r", "b"]


def test_lines_that_end_with_returns_alone_are_told(write, fails):
    assert fails(read_lines, write("a", "text,label\ra b,x\rc d,y\r"))[0] == "HW108"
    assert texts(write("b", "one\rstray")) == ["one\rstray"]
    assert texts(write("c", "a\rb\rc\n")) == ["a\rb\rc"]


def test_a_file_without_a_last_newline(write):
    assert texts(write("a", "a\nb")) == texts(write("b", "a\nb\n")) == ["a", "b"]


def test_an_empty_file_is_an_error(write, fails):
    assert fails(read_lines, write("a", ""))[0] == "HW103"
    assert fails(read_lines, write("b", b"\xef\xbb\xbf"))[0] == "HW103"
    assert texts(write("c", "\n")) == [""]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_names_the_encoding_and_is_dropped(write, encoding):
    path = write("a", "ä\nb".encode(encoding))
    assert texts(path) == ["ä", "b"]
    assert texts(path, encoding=encoding.removesuffix("-sig")) == ["ä", "b"]


@pytest.mark.parametrize("size", [16, 32])
@pytest.mark.parametrize("order", ["le", "be"])
def test_the_mark_of_either_byte_order_goes_before_utf_8(write, size, order):
    path = write("a", "\ufeffnaïve\nb".encode(f"utf-{size}-{order}"))
    assert texts(path) == ["naïve", "b"]
    with pytest.raises(DataError, match="HW105"):
        texts(path, encoding="ascii")


@pytest.mark.parametrize("chunk", [1, 1 << 18])
@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_without_a_byte_order_mark_the_order_is_found_out(write, monkeypatch, encoding, order, chunk):
    monkeypatch.setattr(files, "CHUNK", chunk)
    for lines in (["a tea", "ä"], ["чай и кофе", "да"], ["茶 水", "", "好"], ["x"]):
        path = write("a", "\n".join(lines).encode(f"{encoding}-{order}"))
        assert texts(path, encoding=encoding) == lines


def test_utf_16_le_with_a_mark(write):
    path = write("a", "\ufeffä\nb".encode("utf-16-le"))
    assert texts(path, encoding="utf-16-le") == ["ä", "b"]


@pytest.mark.parametrize("chunk", [1, 2, 3, 1 << 18])
def test_a_wrong_byte_is_located_and_what_is_before_it_is_read(write, monkeypatch, chunk):
    monkeypatch.setattr(files, "CHUNK", chunk)
    path = write("a", "gut\nschön: caf".encode() + b"\xe9 \nlast\n")
    seen = []
    with pytest.raises(Exception, match=r"byte 0xe9, .* cp1252 '(caf)?é'") as caught:
        seen.extend(read_lines(path))
    assert seen == [(1, "gut")]
    assert (caught.value.code, caught.value.line, caught.value.column) == ("HW105", 2, 11)
    assert texts(path, errors="replace")[1] == "schön: caf\ufffd "
    assert texts(path, encoding="latin-1")[2] == "last"


def test_a_cut_character_at_the_end(write, fails):
    assert fails(read_lines, write("a", b"ab\nc\xc3")) == ("HW105", 2, 2)
    assert fails(read_lines, write("b", b"a\0\n\0b"), "utf-16-le") == ("HW105", 2, 1)


def test_a_windows_byte_suggests_cp1252(write):
    with pytest.raises(Exception, match="cp1252 'it’s'"):
        list(read_lines(write("a", b"it\x92s")))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("\u010desk\u00fd", "cp1250"),
        ("\u0434\u0430", "cp1251"),
        ("\u05dc\u05d0", "cp1255"),
        ("\u4e0d", "gb18030"),
        ("\u3042", "cp932"),
        ("Größe", "mac_roman"),
    ],
)
def test_other_languages_are_not_sent_to_cp1252_alone(write, text, encoding):
    """It reads nearly any byte as some letter: the wrong ones would go unnoticed."""
    path = write("a", text.encode(encoding))
    with pytest.raises(DataError, match=f"HW105.*{encoding} '{text}'"):
        list(read_lines(path))
    assert texts(path, encoding=encoding) == [text]


def test_one_line_of_another_encoding_does_not_make_all_of_it(write):
    lines = ["schön", "grün", "Straße", "d’accord"]  # which other encodings would spoil
    path = write("a", "\n".join(lines).encode() + b"\nit\x92s new\n" + "früh\n".encode())
    with pytest.raises(DataError, match=r"a:5:3: .*the rest is utf-8"):
        list(read_lines(path))
    foreign = write("b", "\n".join([*lines, "это так"]).encode("cp1251", "replace"))
    with pytest.raises(DataError, match="cp1252 'd’accord', koi8-r"):
        list(read_lines(foreign))


@pytest.mark.parametrize("word", [b"10\xa0000", b"\x01\xff", b"\xff"])
def test_a_word_of_any_bytes_has_advice(write, word):
    with pytest.raises(DataError, match="reads the word rightly: cp1252"):
        list(read_lines(write("a", b"a " + word + b"\tb")))


def test_nuls_at_the_end_are_told(write):
    with pytest.raises(DataError, match=r"a:1001:1: a NUL .* cut short: remove it"):
        list(read_lines(write("a", b"some text\n" * 1000 + bytes(512))))


def test_utf_16_without_a_mark_read_as_utf_8_suggests_utf_16(write):
    with pytest.raises(Exception, match=r"HW106.*--encoding utf-16"):
        list(read_lines(write("a", "abc".encode("utf-16-le"))))


def test_a_nul_is_located(write, fails):
    assert fails(read_lines, write("a", "good\nab\0c\n")) == ("HW106", 2, 3)
    assert fails(read_lines, write("b", "good\n\0")) == ("HW106", 2, 1)


def test_a_stray_nul_is_replaced_where_it_is_asked_for(write, fails):
    path = write("a", "good\nab\0cd\nlast\0")
    assert list(read_lines(path, errors="replace")) == [(1, "good"), (2, "ab\ufffdcd"), (3, "last\ufffd")]
    wide = write("wide", "abc\n".encode("utf-16-le"))  # every other is one: not text in this encoding
    assert fails(lambda file: read_lines(file, errors="replace"), wide) == ("HW106", 1, 2)


def test_unknown_options():
    for encoding in ("klingon", "zlib", "rot13"):
        with pytest.raises(ConfigError, match="unknown encoding"):
            read_lines("a", encoding)
    with pytest.raises(ConfigError, match="'ignore'"):
        read_lines("a", errors="ignore")


def test_a_line_of_ten_megabytes_takes_linear_time(write, takes_under):
    path = write("a", b"x" * 10_000_000 + b"\ny")
    assert [len(text) for text in texts(path)] == [10_000_000, 1]
    assert takes_under(2, lambda: texts(path))


def test_memory_does_not_grow_with_the_file(write):
    path = write("a", b"0 a rather good film\n" * 250_000)
    tracemalloc.start()
    assert sum(1 for _ in read_lines(path)) == 250_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\0\ufeff")), min_size=1),
    st.integers(1, 9),
    st.sampled_from(["utf-8", "utf-16", "utf-16-be", "gb18030"]),
)
@settings(max_examples=60, deadline=None)
def test_any_lines_in_any_chunks(tmp_path_factory, lines, chunk, encoding):
    path = tmp_path_factory.mktemp("lines") / "a"
    text = "\n".join([*lines, ""])
    path.write_bytes(b"" if not text else text.encode(encoding))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", chunk)
        read = list(read_lines(str(path), encoding))
    assert read == list(enumerate(lines, start=1))


@pytest.mark.parametrize(("encoding", "text"), [("iso2022_jp", "請求書"), ("iso2022_kr", "청구서 금액이")])
def test_encodings_of_seven_bits_are_named(write, encoding, text):
    path = write("a.txt", f"first\n{text}\n".encode(encoding))
    with pytest.raises(DataError, match=f"HW105.*give --encoding {encoding}"):
        list(read_lines(path))
    assert [line for _, line in read_lines(path, encoding)] == ["first", text]
    assert list(read_lines(write("b.txt", "\x1b[1mbold\x1b[0m"))) == [(1, "\x1b[1mbold\x1b[0m")]
