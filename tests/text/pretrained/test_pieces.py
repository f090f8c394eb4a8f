"""Word pieces: whose they are, and special tokens."""

import json

import pytest

from headwise.nn.embeddings.pretrained.word_pieces import PieceTokenizer, PretrainedError

transformers = pytest.importorskip("transformers", reason="needs pip install '.[pretrained]'")
tokenizers = pytest.importorskip("tokenizers")

Tokenizer, models = tokenizers.Tokenizer, tokenizers.models

TEXTS = [
    ["The", "cats", "are", "eating"],
    [],
    ["Ça", "x-y", "日本", "\u200b", "\x01", "the", "\ufeff", "a b", "\ud83d"],
]


def test_every_piece_belongs_to_its_word(bert):
    ours = PieceTokenizer((bert / "tokenizer.json").read_text())
    theirs = transformers.AutoTokenizer.from_pretrained(bert)
    for words, pieces in zip(TEXTS, ours.pieces(TEXTS), strict=True):
        plain = [word.replace("\ud83d", "?") for word in words]  # which they refuse
        expected = theirs(plain, is_split_into_words=True, add_special_tokens=False)
        assert pieces.ids.tolist() == expected["input_ids"]
        assert pieces.words.tolist() == expected.word_ids()
        assert pieces.length == len(words)


def test_words_that_the_tokenizer_removes_have_no_piece_and_shift_nothing(bert):
    tokenizer = PieceTokenizer((bert / "tokenizer.json").read_text())
    (pieces,) = tokenizer.pieces([["the", "\x01", "cat"]])
    assert pieces.words.tolist() == [0, 2]
    assert pieces.length == 3


def test_special_tokens(bert):
    definition = (bert / "tokenizer.json").read_text()
    tokenizer = PieceTokenizer(definition)
    assert (tokenizer.prefix, tokenizer.suffix) == ((2,), (3,))
    data = json.loads(definition) | {"post_processor": None}
    assert PieceTokenizer(json.dumps(data)).prefix == PieceTokenizer(json.dumps(data)).suffix == ()


def test_a_special_token_in_a_text_is_a_word(bert):
    tokenizer = PieceTokenizer((bert / "tokenizer.json").read_text())
    (pieces,) = tokenizer.pieces([["the", "[SEP]", "cat"]])
    assert pieces.ids[1] == 3
    assert pieces.words.tolist() == [0, 1, 2]


def test_nothing_is_truncated_or_padded(bert):
    tokenizer = Tokenizer.from_file(str(bert / "tokenizer.json"))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=12)
    short, long = PieceTokenizer(tokenizer.to_str()).pieces([["the"], ["the"] * 30])
    assert (len(short.ids), len(long.ids)) == (1, 30)


def byte_level(**settings):
    vocabulary = {piece: n for n, piece in enumerate(["a", "b", "Ġ", "Ġa", "ab", "Ġab"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("Ġ", "a"), ("a", "b"), ("Ġa", "b")]))
    level = tokenizers.pre_tokenizers.ByteLevel(**settings)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.Digits(), level]
    )
    return tokenizer


@pytest.mark.parametrize("space", [True, False])
def test_every_word_has_a_space_before_it_where_the_space_is_part_of_the_word(space):
    tokenizer = PieceTokenizer(byte_level(add_prefix_space=space).to_str())
    (pieces,) = tokenizer.pieces([["ab", "ab", "a"]])
    assert pieces.ids.tolist() == [5, 5, 3]


def test_equal_tokenizer_from_the_definition(bert):
    first = PieceTokenizer((bert / "tokenizer.json").read_text())
    second = PieceTokenizer(first.definition)
    assert second.definition == first.definition
    assert [p.key for p in second.pieces(TEXTS)] == [p.key for p in first.pieces(TEXTS)]


@pytest.mark.parametrize(
    "definition", ["", "{}", "[]", "null", '{"version": "1.0", "model": {"type": "X"}}']
)
def test_no_tokenizer(definition):
    with pytest.raises(PretrainedError, match=r"HW704.*not a tokenizer"):
        PieceTokenizer(definition)


def test_a_definition_that_makes_the_library_panic(bert):
    data = json.loads((bert / "tokenizer.json").read_text())
    data["post_processor"]["special_tokens"] = {}
    with pytest.raises(PretrainedError, match=r"HW704.*fails.*PanicException"):
        PieceTokenizer(json.dumps(data))


def test_a_tokenizer_that_finds_nothing():
    with pytest.raises(PretrainedError, match=r"HW704.*finds no pieces"):
        PieceTokenizer(Tokenizer(models.BPE({"qqq": 0}, [])).to_str())
    with pytest.raises(PretrainedError, match=r"HW704.*fails.*Missing"):
        PieceTokenizer(Tokenizer(models.WordLevel({"qqq": 0})).to_str())
