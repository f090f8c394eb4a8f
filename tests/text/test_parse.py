"""Parsing with spaCy: a tiny pipeline, trained here, and pipelines that cannot be used."""

import sys
from itertools import pairwise
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.text import parsing as parse
from headwise.text.parsing import ParserError, SpacyParser
from headwise.text.syntax import validate_heads

SENTENCES = [
    ("the cat sleeps .", [2, 3, 0, 3]),
    ("the dog sees the cat .", [2, 3, 0, 5, 3, 3]),
    ("the cat sleeps . the dog sleeps .", [2, 3, 0, 3, 6, 7, 0, 7]),
]
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 16,
    "depth": 1,
    "embed_size": 64,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": False,
    "pretrained_vectors": None,
}
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "parser",
    "extra_state_tokens": False,
    "hidden_width": 32,
    "maxout_pieces": 2,
    "use_upper": True,
    "nO": None,
    "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "tok2vec"},
}


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy", reason="the extra 'spacy' is not installed")


def train(spacy, updates):
    """A pipeline that knows `SENTENCES`, among components that would change the words or the sentences."""
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    nlp.add_pipe("parser", config={"model": PARSER, "min_action_freq": 1})
    examples = []
    for text, heads in SENTENCES:
        words = text.split()
        from_zero = [place if head == 0 else head - 1 for place, head in enumerate(heads)]
        labels = ["ROOT" if head == 0 else "dep" for head in heads]
        doc = spacy.tokens.Doc(nlp.vocab, words=words, heads=from_zero, deps=labels)
        examples.append(Example(spacy.tokens.Doc(nlp.vocab, words=words), doc))
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(updates):
        nlp.update(examples, sgd=optimizer)
    nlp.add_pipe("sentencizer", first=True, config={"punct_chars": ["cat"]})
    nlp.add_pipe("token_splitter", config={"min_length": 2, "split_length": 1}, first=True)
    return nlp


@pytest.fixture(scope="module")
def pipeline(spacy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline") / "tiny"
    train(spacy, updates=60).to_disk(folder)
    return folder


@pytest.fixture(scope="module")
def parser(pipeline):
    return SpacyParser(pipeline)


def test_it_parses_what_it_has_learned(parser):
    heads = parser([text.split() for text, _ in SENTENCES])
    assert [head_row.tolist() for head_row in heads] == [head_row for _, head_row in SENTENCES]
    assert all(head_row.dtype == np.int64 for head_row in heads)


def test_the_heads_are_those_of_spacys_own_tokens(spacy, parser):
    random = np.random.default_rng(0)
    words = ["the", "cat", "dog", "sees", "sleeps", ".", "unheard"]
    texts = [list(random.choice(words, size)) for size in (0, 1, 2, 9, 30, 3)]
    for text, heads in zip(texts, parser(texts), strict=True):
        doc = spacy.tokens.Doc(parser.nlp.vocab, words=[str(word) for word in text])
        for _, component in parser.nlp.pipeline:
            doc = component(doc)
        assert heads.tolist() == [0 if word.head == word else word.head.i + 1 for word in doc]


def test_only_the_parser_and_what_it_needs_is_kept(parser):
    assert parser.nlp.pipe_names == ["tok2vec", "parser"]


def test_words_stay_as_they_are(parser):
    texts = [["don't", "New York", " ", "\t", "\n\n", "", "a" * 5000, "\ud800", "🙂", "..."], [], [""], []]
    heads = parser(texts)
    assert [len(head_row) for head_row in heads] == [len(words) for words in texts]
    for head_row in heads:
        validate_heads(head_row)


def test_long_texts_are_cut_behind_full_stops(parser, monkeypatch):
    first, second, third = (text.split() for text, _ in SENTENCES)
    pieces = [head_row.tolist() for head_row in parser([["cat"] * 7, ["cat"] * 6])]
    monkeypatch.setattr(parse, "BATCH", 7)
    actual = [head_row.tolist() for head_row in parser([first + second + first, third, ["cat"] * 20])]
    assert actual[0] == [2, 3, 0, 3, 6, 7, 0, 9, 7, 7, 12, 13, 0, 13]
    assert actual[1] == SENTENCES[2][1]
    parts = [pieces[0], pieces[0], pieces[1]]
    assert actual[2] == [
        head and head + 7 * place for place, head_row in enumerate(parts) for head in head_row
    ]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from("ab.!"), max_size=30), max_size=8), st.integers(1, 9))
def test_batches_hold_all_words_in_order(texts, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "BATCH", most)
        batches = list(parse._part_batches(texts))
    assert all(sum(len(part) for part, _ in batch) <= most for batch in batches)
    again, words = [], []
    for part, last in (item for batch in batches for item in batch):
        words += part
        if last:
            again.append(words)
            words = []
        else:  # cut behind a full stop if there is one in the second half
            after = part[most // 2 :]
            assert len(part) == most or part[-1] in ".!"
            assert part[-1] in ".!" or not set(after) & set(".!")
    assert again == texts
    # No batch has room for the first part of the next.
    for batch, following in pairwise(batches):
        assert sum(len(part) for part, _ in batch) + len(following[0][0]) > most


def test_texts_of_many_batches_stay_in_order(parser, monkeypatch):
    monkeypatch.setattr(parse, "BATCH", 10)
    parses = parser([["the", "cat"]] * 12 + [["a"] * 25, ["dogs", "bark", "."]])
    assert [len(heads) for heads in parses] == [2] * 12 + [25, 3]


def test_new_words_leave_nothing_behind(parser):
    parser([["the", "cat"]])
    strings = len(parser.nlp.vocab.strings)
    heads = parser([[f"word{number}" for number in range(500)]])
    assert len(parser.nlp.vocab.strings) == strings
    assert len(heads[0]) == 500


def test_threads_may_share_a_parser(parser):
    texts = [text.split() for text, _ in SENTENCES] * 20
    expected = [head_row.tolist() for head_row in parser(texts)]
    actual = []

    def work(name):
        parser([[f"new{name}", *words] for words in texts])
        actual.append([head_row.tolist() for head_row in parser(texts)])

    threads = [Thread(target=work, args=[name]) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert actual == [expected] * 3


def test_the_identity_is_that_of_the_weights(spacy, parser, pipeline, tmp_path):
    identity = parser.identity
    assert identity.startswith(f"en_pipeline 0.0.0 (spaCy {spacy.__version__}, ")
    parser([["some", "unheard", "words"]])
    again = SpacyParser(str(pipeline))
    again([["others"]])
    assert again.identity == parser.identity == identity
    train(spacy, updates=1).to_disk(tmp_path / "other")  # the same name, version and meta data
    assert SpacyParser(tmp_path / "other").identity != identity


def test_nothing_is_loaded_before_it_is_needed():
    assert SpacyParser("no_such_pipeline")([]) == []


def test_without_spacy(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    for use in (lambda parser: parser([["a"]]), lambda parser: parser.identity):
        with pytest.raises(ParserError, match="not installed: pip install spacy, and a pip") as error:
            use(SpacyParser("en_core_web_sm"))
        assert error.value.code == "HW260"


def test_spacy_that_cannot_be_imported_says_why(monkeypatch):
    def broken(name):
        raise ImportError("a library is too old")

    monkeypatch.setattr("headwise.text.parsing.import_module", broken)
    with pytest.raises(ParserError, match=r"cannot be imported \(a library is too old\): pip"):
        SpacyParser("en_core_web_sm")([["a"]])


def test_a_published_pipeline_that_is_not_there_is_named_in_the_line_that_installs_it(spacy):
    with pytest.raises(ParserError, match="spacy download xx_none_web_sm"):
        SpacyParser("xx_none_web_sm")([["a"]])


@pytest.mark.parametrize("name", ["no_such_pipeline", "", "no/such/folder", "\0"])
def test_pipelines_that_are_not_there(spacy, name):
    with pytest.raises(ParserError, match=r"cannot be loaded: .*spacy download") as error:
        SpacyParser(name)([["a"]])
    assert error.value.code == "HW261"


def test_damaged_pipelines(spacy, tmp_path):
    for contents in ("", "no config", "[nlp]\nlang = 'en'\n"):
        (tmp_path / "config.cfg").write_text(contents)
        (tmp_path / "meta.json").write_text('{"lang": "en", "name": "a", "version": "1"}')
        with pytest.raises(ParserError, match="HW261"):
            SpacyParser(tmp_path)([["a"]])


def test_pipelines_without_a_parser(spacy, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "without")
    for name in (tmp_path / "without", "blank:en"):
        with pytest.raises(ParserError, match="no dependency parser; choose") as error:
            SpacyParser(name)([["a"]])
        assert error.value.code == "HW262"
