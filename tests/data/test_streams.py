import gzip
import tracemalloc
import zipfile
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.data.items.symbols import choose_symbols
from headwise.data.readers import streams
from headwise.data.readers.streams import count_symbols, read_stream, split_stream


def round_trip(path, unit, **options):
    symbols = choose_symbols(unit, count_symbols(path, unit))
    stream = read_stream(path, symbols, **options)
    return symbols.decode(stream.ids)


@pytest.mark.parametrize("piece", [1, 2, 3, 1 << 18])
def test_characters_are_those_of_the_file(write, monkeypatch, piece):
    monkeypatch.setattr(streams, "PIECE", piece)
    path = write("a", "\ufeffé\x85\r\n\r\r\n \u2028x \r")
    assert round_trip(path, "characters") == "é\x85\n\r\n \u2028x \r"
    assert count_symbols(path, "characters")["\n"] == 2


@pytest.mark.parametrize("piece", [1, 4, 1 << 18])
def test_words_with_ends_of_lines(write, monkeypatch, piece):
    monkeypatch.setattr(streams, "PIECE", piece)
    path = write("a", "\ufeff the\tdog \r\n\r\nno\x85space the")
    assert round_trip(path, "words") == "the dog\n\nno\x85space the\n"
    assert count_symbols(path, "words") == {"the": 2, "dog": 1, "no\x85space": 1, "<eos>": 3}


def test_bytes_stay_as_they_are(write):
    data = b"\xef\xbb\xbfa\r\n\0\xff"
    path = write("a", data)
    assert count_symbols(path, "bytes") == Counter(map(chr, data))
    symbols = choose_symbols("bytes", count_symbols(path, "bytes"))
    stream = read_stream(path, symbols)
    assert bytes(ord(symbols.names[i]) for i in stream.ids) == data


def test_unknown_symbols_are_counted_or_refused(write, fails):
    train, dev = write("train", "abab"), write("dev", "abcxa")
    symbols = choose_symbols("characters", count_symbols(train, "characters"))
    stream = read_stream(dev, symbols)
    assert (len(stream), stream.unknown) == (5, 2)
    strict = choose_symbols("characters", count_symbols(train, "characters"), unknown=False)
    with pytest.raises(Exception, match=r"HW280.*dev: 'c' is not in the vocabulary"):
        read_stream(dev, strict)


def test_members_of_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("train.txt", "a b\n")
        file.writestr("test.txt", "c")
    assert count_symbols(f"{tmp_path}/a.zip!train.txt", "words") == {"a": 1, "b": 1, "<eos>": 1}
    assert round_trip(f"{tmp_path}/a.zip!test.txt", "characters") == "c"


def test_files_that_cannot_be_read(write, tmp_path, fails):
    for unit in ("characters", "words", "bytes"):
        assert fails(count_symbols, write("empty", ""), unit)[0] == "HW103"
        assert fails(count_symbols, str(tmp_path / "absent"), unit)[0] == "HW101"
        cut = write("cut.gz", gzip.compress(b"abc" * 999)[:-9])
        assert fails(count_symbols, cut, unit)[0] == "HW102"
    for unit in ("characters", "words"):
        assert fails(count_symbols, write("latin", b"ok\nna\xefve"), unit) == ("HW105", 2, 3)
        assert fails(count_symbols, write("nul", b"ok\na\0"), unit) == ("HW106", 2, 2)
        assert count_symbols(write("latin", b"\xef"), unit, "latin-1")["ï"] == 1
        assert count_symbols(write("latin", b"\xef"), unit, "utf-8", "replace")["\ufffd"] == 1
        assert count_symbols(write("nul", b"okay\0"), unit, errors="replace").total() > 0
        with pytest.raises(ConfigError, match="unknown encoding"):
            count_symbols(write("a", "a"), unit, "klingon")
    symbols = choose_symbols("characters", Counter("a"))
    assert fails(read_stream, write("mark", "\ufeff"), symbols)[0] == "HW103"


def test_parts_are_views(write, fails):
    path = write("a", "abcabx")
    symbols = choose_symbols("characters", Counter("abc"))
    stream = read_stream(path, symbols)
    first, second = split_stream(stream, (4, 2))
    assert (symbols.decode(first.ids), symbols.decode(second.ids)) == ("abca", "b\ufffd")
    assert (first.unknown, second.unknown) == (0, 1)
    assert first.ids.base is not None
    assert fails(split_stream, stream, (4, 3))[0] == "HW282"


@pytest.mark.parametrize(
    ("unit", "lines"), [("characters", 200_000), ("words", 20_000), ("bytes", 200_000)]
)
def test_memory_holds_the_numbers_alone(write, monkeypatch, unit, lines):
    monkeypatch.setattr(streams, "PIECE", 1 << 14)
    path = write("a.gz", gzip.compress(b"the dog and the cat \n" * lines, 1))
    symbols = choose_symbols(unit, count_symbols(path, unit))
    symbols.encode(b"the" if unit == "bytes" else "the")
    tracemalloc.start()
    stream = read_stream(path, symbols)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(stream) == lines * (6 if unit == "words" else 21)
    assert peak < 2.2 * stream.ids.nbytes + 3_000_000  # twice, while the pieces become one


@given(st.binary(max_size=40), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_any_pieces_give_the_same(tmp_path_factory, data, piece):
    path = tmp_path_factory.mktemp("stream") / "a"
    data = b"x" + data
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "PIECE", piece)
        if b"\0" not in data:
            expected = data.decode("latin-1").replace("\r\n", "\n")
            assert count_symbols(path, "characters", "latin-1") == Counter(expected)
        assert count_symbols(path, "bytes") == Counter(map(chr, data))


def test_a_pipe_that_gives_a_byte_at_a_time(write, monkeypatch):
    """The byte order is guessed from what a slow pipe gives in several pieces."""
    text = "один\nдва\n"
    path = write("a", text.encode("utf-16-be"))
    monkeypatch.setattr(streams, "read_piece", lambda stream, path: stream.read(1))
    symbols = choose_symbols("characters", count_symbols(path, "characters", "utf-16"))
    assert symbols.decode(read_stream(path, symbols, "utf-16").ids) == text
