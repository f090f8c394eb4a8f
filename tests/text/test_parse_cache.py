"""The cache of parses: the same parses, fewer of them, whatever happens to its file."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.text import parsing as parse_cache
from headwise.text.parsing import CachedParser, SpacyParser, cache_folder, new_parser, packed, unpacked
from headwise.text.syntax import ParseError
from headwise.text.text_configs import SyntaxConfig

TEXTS = [["a", "b"], [], ["c"], ["a", "b"], ["a b"], ["ab"], ["é", "\ud800"], ["c", "c", "c"]]


class Chain:
    """Every word depends on the one before it; counts what it parses."""

    def __init__(self, identity="chain 1.0 (ä/b)"):
        self.identity = identity
        self.parsed = []

    def __call__(self, texts):
        self.parsed += texts
        return [np.arange(len(words)) for words in texts]


def chains(texts):
    return [list(range(len(words))) for words in texts]


def run(folder, texts=TEXTS, parser=None):
    """The cache after parsing, and how many texts its parser has parsed."""
    cached = CachedParser(parser or Chain(), folder)
    heads = cached(texts)
    assert [parse.tolist() for parse in heads] == chains(texts)
    assert all(parse.dtype == np.int64 for parse in heads)
    return cached, len(cached.parser.parsed)


def test_a_text_is_parsed_once(tmp_path):
    cached, parsed = run(tmp_path / "new" / "folder")
    assert parsed == 7
    assert cached.trouble is None
    assert [parse.tolist() for parse in cached(TEXTS)] == chains(TEXTS)
    assert len(cached.parser.parsed) == 7
    assert run(tmp_path / "new" / "folder", [*TEXTS, ["d"]])[1] == 1


def test_words_and_not_only_their_letters_count(tmp_path):
    run(tmp_path, [["a", "b"]])
    for words in (["ab"], ["a b"], ["b", "a"], ["a", "b", ""], ["A", "b"], ['a", "b']):
        assert run(tmp_path, [words])[1] == 1


def test_words_may_come_in_any_sequence(tmp_path):
    run(tmp_path, [["a", "b"]])
    assert run(tmp_path, [("a", "b")])[1] == 0


def test_each_parser_has_its_own_parses(tmp_path):
    one, _ = run(tmp_path)
    second, parsed = run(tmp_path, parser=Chain("chain 1.0 (a_b)"))
    assert parsed == 7
    assert one.path != second.path
    assert one.path.parent == second.path.parent == tmp_path
    assert sorted(tmp_path.iterdir()) == sorted([one.path, second.path])
    assert one.path.name.startswith("chain-1.0-")
    assert one.identity == "chain 1.0 (ä/b)"


def test_chunks_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(parse_cache, "CHUNK", 3)

    class Tired(Chain):
        def __call__(self, texts):
            if self.parsed:
                raise KeyboardInterrupt
            return super().__call__(texts)

    texts = [[str(number)] for number in range(9)]
    with pytest.raises(KeyboardInterrupt):
        CachedParser(Tired(), tmp_path)(texts)
    assert run(tmp_path, texts)[1] == 6


def test_nothing_to_parse(tmp_path):
    assert CachedParser(Chain(), tmp_path)([]) == []


def test_what_is_no_tree_is_not_kept(tmp_path):
    class Circle(Chain):
        def __call__(self, texts):
            return [np.array([2, 1]) for _ in texts]

    for words in (["a", "b"], ["a", "b", "c"]):
        with pytest.raises(ParseError, match=r"HW23[34]"):
            CachedParser(Circle(), tmp_path)([words])
    assert run(tmp_path, [["a", "b"]])[1] == 1


def entries(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT key, heads FROM parses").fetchall()
    connection.close()
    return rows


def write(path, statement, values=()):
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_damaged_entries_are_parsed_anew(tmp_path):
    text = [["a", "b", "c"]]
    cached, _ = run(tmp_path, text)
    ((key, entry),) = entries(cached.path)
    damages: list[object] = [
        entry[:place] + bytes([entry[place] ^ 4]) + entry[place + 1 :] for place in range(10)
    ]
    damages += [b"", entry[:-1], entry + b"\0", "text", 7, None]
    for damage in damages:
        write(cached.path, "UPDATE parses SET heads = ?", (damage,))
        assert run(tmp_path, text)[1] == 1
        assert entries(cached.path) == [(key, entry)]
        assert run(tmp_path, text)[1] == 0


def test_an_entry_under_the_key_of_another_does_not_count(tmp_path):
    cached, _ = run(tmp_path, [["a", "b"]])
    ((_, entry),) = entries(cached.path)
    run(tmp_path, [["c", "d"]])
    write(cached.path, "UPDATE parses SET heads = ?", (entry,))
    assert run(tmp_path, [["a", "b"], ["c", "d"]])[1] == 1


def test_a_damaged_file_is_begun_anew(tmp_path):
    texts = [[str(number)] * 50 for number in range(300)]
    cached, _ = run(tmp_path, texts)
    data = cached.path.read_bytes()
    half = len(data) // 2
    for damaged in (
        b"no database" * 100,
        data[:50],
        data[:half],
        data[:100] + b"\xff" * 5000 + data[5100:],
        b"",
    ):
        cached.path.write_bytes(damaged)
        again, _ = run(tmp_path, texts)
        assert again.trouble is None
        run(tmp_path, texts)
        assert run(tmp_path, texts)[1] == 0


def test_where_nothing_can_be_kept(tmp_path):
    (tmp_path / "file").write_text("")
    cached, parsed = run(tmp_path / "file")
    assert parsed == 7
    assert cached.trouble is not None
    assert str(tmp_path / "file") in cached.trouble
    cached(TEXTS)
    assert len(cached.parser.parsed) == 14
    cached, _ = run(tmp_path)
    write(cached.path, "ALTER TABLE parses RENAME COLUMN heads TO other")
    second, _ = run(tmp_path)
    assert "no such column" in str(second.trouble)


def test_a_locked_file_costs_one_wait(tmp_path, monkeypatch):
    monkeypatch.setattr(parse_cache, "WAIT", 0.02)
    cached, _ = run(tmp_path, [["a"]])
    second = sqlite3.connect(cached.path)
    second.execute("BEGIN EXCLUSIVE")
    late, parsed = run(tmp_path)
    assert parsed == 7
    assert "locked" in str(late.trouble)
    monkeypatch.setattr(sqlite3, "connect", None)
    late(TEXTS)
    second.close()


def test_threads_may_share_a_cache(tmp_path):
    cached = CachedParser(Chain(), tmp_path)
    actual = []

    def work(name):
        texts = [[word, str(number % 5 * name)] for number in range(30) for word in "abc"]
        actual.append([parse.tolist() for parse in cached(texts)] == chains(texts))

    threads = [Thread(target=work, args=[name]) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [True] * 4
    assert cached.trouble is None


WRITER = """
import sys
from itertools import count
import numpy as np
from headwise.text import parsing as parse_cache

class Chain:
    identity = "chain"
    def __call__(self, texts):
        return [np.arange(len(words)) for words in texts]

cached = parse_cache.CachedParser(Chain(), sys.argv[1])
for turn in count():
    cached([[sys.argv[2], str(turn), str(number)] for number in range(200)])
    assert cached.trouble is None, cached.trouble
    print(turn, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_and_concurrent_processes_leave_a_whole_file(tmp_path):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]
    done = {}
    for name, writer in zip("ab", writers, strict=True):
        assert writer.stdout is not None
        for line in writer.stdout:
            done[name] = int(line)
            if done[name] == 5:
                break
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    cached = CachedParser(Chain("chain"), tmp_path)
    texts = [[name, str(turn), str(number)] for name in "ab" for turn in range(6) for number in range(200)]
    cached(texts)
    assert cached.trouble is None
    assert cached.parser.parsed == []
    connection = sqlite3.connect(cached.path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 400), max_size=400), st.binary(max_size=16))
def test_packing(heads, key):
    entry = packed(np.array(heads, dtype=np.int64), key)
    assert len(entry) == 4 + 2 * len(heads)
    again = unpacked(entry, key, len(heads))
    assert again is not None
    assert again.tolist() == heads
    assert unpacked(entry, key, len(heads) + 1) is None


def test_packing_long_texts():
    for words, size in ((32_767, 2), (32_768, 4), (70_000, 4)):
        heads = np.arange(words)
        heads[0] = words
        entry = packed(heads, b"key")
        assert len(entry) == 4 + size * words
        again = unpacked(entry, b"key", words)
        assert again is not None
        assert (again == heads).all()


def test_where_the_cache_is(monkeypatch):
    monkeypatch.setenv("HEADWISE_CACHE", "own")
    assert cache_folder() == Path("own/parses")
    monkeypatch.delenv("HEADWISE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")
    monkeypatch.setenv("LOCALAPPDATA", "local")
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    for platform, folder in (
        ("linux", "caches/headwise/parses"),
        ("darwin", "home/Library/Caches/headwise/parses"),
        ("win32", "local/headwise/parses"),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        assert cache_folder() == Path(folder)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == Path("home/.cache/headwise/parses")


def test_parsers_of_configurations(monkeypatch):
    monkeypatch.setenv("HEADWISE_CACHE", "own")
    assert new_parser(SyntaxConfig()) is None
    cached = new_parser(SyntaxConfig("en_core_web_sm"))
    assert isinstance(cached, CachedParser)
    assert isinstance(cached.parser, SpacyParser)
    assert cached.parser.pipeline == "en_core_web_sm"
    assert cached.folder == Path("own/parses")
    assert isinstance(new_parser(SyntaxConfig("en_core_web_sm", cache=False)), SpacyParser)
