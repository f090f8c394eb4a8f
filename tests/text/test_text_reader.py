"""Texts that are read piece by piece have the words that the tokenizer finds in them as a whole."""

import pickle
from copy import deepcopy
from threading import Thread

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwise.core import native
from headwise.core.tokenizer import TOKENIZERS
from headwise.text import text_reader
from headwise.text.text_reader import TextReader, WordCache
from headwise.text.vocabulary import Vocabulary

PIECES = (
    *("J.", "K.", "I.", "U.S.", "e.g.", "plan", "B.", "Rowling", "rowling", "don't", "it\u2019s", "1,234"),
    *("<br", "<br />", "/>", "<a", 'href="x', 'y">', "<b>bold</b>", "<3", "a<b", "c>d", "</p>", "<"),
    *("\uff1cbr", "\uff1e", "\uff2a.", "J\uff0e", "\uff32ow", "<\u200bbr", "\u200b", "J.\u200b", "</ p"),
    *("J.\u00adK.", "\u200bRow", "\u00e9", "e\u0301", "\u65e5\u672c\u8a9e", "\u0e44\u0e17", "<!--", ":-)"),
    *("\U0001f600\u200d\U0001f525", "\ud800", "x" * 100, "\u00df", "\u0130", "\u0391\u03a3.", "\x00"),
    *("http://a.b/c?d=<e>", "...", "\u2014", "&amp;"),
)
BLANKS = (" ", " ", "  ", "\n", "\t", "\u3000", "\x1c", "\u00a0", "")
texts = st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(BLANKS)), max_size=8).map(
    lambda parts: "".join(piece + blank for piece, blank in parts)
) | st.text(max_size=20)


@pytest.fixture(scope="module", params=sorted(TOKENIZERS))
def reader(request) -> TextReader:
    return TextReader(request.param)


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=4))
@example(["J. K. Rowling", "J.\nK.", "plan B. The <br /><br />end < 3 >", ""])
@example(["<a href='x y'\n>it</a> a <b c <d e>", "<" * 20, "J. " * 20])
def test_words_are_those_of_the_tokenizer(reader: TextReader, items: list[str]):
    for _ in range(2):  # new pieces, and pieces that are remembered
        read = reader.read(items)
        assert list(read) == [reader.tokenizer.words(text) for text in items]
        assert len(read) == len(items)
        pieces = [read.lexicon.pieces[piece] for piece in read.pieces]
        texts_of_pieces = np.split(np.array(pieces, dtype=object), read.piece_ends[1:-1])
        for text, words in zip(items, texts_of_pieces, strict=False):
            assert " ".join(words).split() == reader.tokenizer.normalize(text).split()


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(text_reader, "MOST_PIECES", 10)
    reader = TextReader("penn")
    vocabulary = Vocabulary.build([["w3", "w17"]])
    before, lexicons = [], set()
    for number in range(30):
        read = reader.read([f"w{number} w3", f"w{number}"])
        assert list(read) == [[f"w{number}", "w3"], [f"w{number}"]]
        ids = [*vocabulary.encode(read[0]), *vocabulary.encode(read[1])]
        assert vocabulary.encode_read(read).tolist() == ids
        lexicons.add(id(read.lexicon))
        before.append(read)
    assert len(lexicons) > 1
    assert [read[1] for read in before] == [[f"w{number}"] for number in range(30)]


def test_the_texts_that_were_read_last_are_not_read_again():
    reader, items = TextReader("penn"), ["some words", "and more"]
    assert reader.read(items) is reader.read(list(items))
    assert list(reader.read(["some words"])) == [["some", "words"]]


def test_copies_share_their_memory():
    reader = text_reader.text_reader("penn")
    assert deepcopy(reader) is pickle.loads(pickle.dumps(reader)) is reader


def test_threads_share_a_reader():
    reader, vocabulary = TextReader("penn"), Vocabulary.build([[f"w{n}" for n in range(500)]])
    wrong = []

    def work(first: int) -> None:
        for number in range(300):
            items = [f"w{first} and w{number * first % 700}", f"x{first}.{number} w1"]
            read = reader.read(items)
            expected = [vocabulary.encode(words) for words in map(reader.tokenizer.words, items)]
            if vocabulary.encode_read(read).tolist() != np.concatenate(expected).tolist():
                wrong.append(items)

    threads = [Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_indices_and_slices():
    read = TextReader("penn").read(["a b", "", "c"])
    assert (read[0], read[-1], read[1:]) == (["a", "b"], ["c"], [[], ["c"]])
    with pytest.raises(IndexError):
        read[3]


def test_memos_are_not_copied():
    memo, reader = WordCache(), TextReader("penn")
    lexicon = reader.read(["a bc"]).lexicon
    sizes = lambda words: np.array([len(word) for word in words])
    assert memo.of(lexicon, sizes).tolist() == [1, 2]
    reader.read(["def"])
    for copy in (memo, deepcopy(memo), pickle.loads(pickle.dumps(memo))):
        assert copy.of(lexicon, sizes).tolist() == [1, 2, 3]


def test_the_numbers_of_no_words_have_their_type_also_before_any_word_was_read():
    read = TextReader("penn").read(["", " "])
    vocabulary = Vocabulary.build([["a"]])
    assert vocabulary.encode_read(read).dtype == np.int64
    assert vocabulary.encode_read(TextReader("penn").read(["a b"])).tolist() == [1, 0]


def test_the_table_refuses_what_it_cannot_use():
    table = native.PieceTable(True)
    with pytest.raises(TypeError):
        table.cut(["text", 1])
    table = native.PieceTable(True)
    pieces, ends, new = table.cut(["a b"])
    assert new == ["a", "b"]
    with pytest.raises(ValueError, match="without tokens"):
        table.tokens(pieces, ends)
    one, none = np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    with pytest.raises(ValueError, match="all new pieces"):
        table.add_tokens(one, np.array([0, 1]), np.zeros(1, dtype=np.uint8))
    with pytest.raises(ValueError, match="offsets"):
        table.add_tokens(one, np.zeros(0, dtype=np.int64), none)
