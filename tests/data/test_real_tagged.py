"""The tagged data sets, with the counts that their makers (and readers) give them."""

import itertools

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.files.text_lines import read_lines
from headwise.data.readers.tag_format_guess import looks_tagged
from headwise.data.readers.tagged_files import read_tagged

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize(
    ("name", "sentences", "tokens", "documents", "entities"),
    [
        ("eng.train", 14_041, 203_621, 946, {"LOC": 7140, "MISC": 3438, "ORG": 6321, "PER": 6600}),
        ("eng.testa", 3_250, 51_362, 216, {"LOC": 1837, "MISC": 922, "ORG": 1341, "PER": 1842}),
        ("eng.testb", 3_453, 46_435, 231, {"LOC": 1668, "MISC": 702, "ORG": 1661, "PER": 1617}),
    ],
)
def test_conll2003(real_data, name, sentences, tokens, documents, entities):
    data = read_tagged(real_data / f"conll2003/{name}.gz")
    assert (len(data.items), data.tokens, data.entities) == (sentences, tokens, entities)
    assert len(data.documents) == documents
    assert (data.format, data.columns.tag, data.columns.extra) == ("columns", "ner", ("pos", "chunk"))
    assert (data.findings, data.skipped) == ((), 0)


@pytest.mark.parametrize(
    ("name", "sentences", "tokens"),
    [
        ("wnut17train.conll", 3_394, 62_730),
        ("emerging.dev.conll", 1_009, 15_733),
        ("emerging.test.annotated", 1_287, 23_394),
    ],
)
def test_wnut17(real_data, name, sentences, tokens):
    data = read_tagged(real_data / f"wnut17/{name}.gz")
    assert (len(data.items), data.tokens) == (sentences, tokens)
    types = {"person", "location", "group", "corporation", "product", "creative-work"}
    assert set(data.entities) == types
    assert data.entities == {name: data.tags[f"B-{name}"] for name in types}
    assert data.findings == ()


@pytest.mark.parametrize(
    ("part", "sentences", "tokens"), [("train", 8_936, 211_727), ("test", 2_012, 47_377)]
)
def test_conll2000(real_data, part, sentences, tokens):
    path = f"{real_data}/ptb_wsj/conll2000.zip!conll2000/{part}.txt"
    data = read_tagged(path)
    assert (len(data.items), data.tokens) == (sentences, tokens)
    assert (data.columns.tag, data.findings) == ("chunk", ())
    assert data.entities["NP"] == {"train": 55_081, "test": 12_422}[part]
    assert (
        data.items[0].columns["pos"][:3]
        == {"train": ("NN", "IN", "DT"), "test": ("NNP", "NNP", "NNP")}[part]
    )


def test_treebank(real_data):
    folder = f"{real_data}/ptb_wsj/"
    trees = read_tagged(f"{folder}treebank.zip!treebank/combined/*.mrg")
    assert (len(trees.items), trees.tokens, len(trees.documents)) == (3_914, 94_084, 199)
    assert len(trees.tags) == 45  # 46 with the traces
    assert trees.tags["NN"] == 13_166
    slashed = read_tagged(f"{folder}treebank.zip!treebank/tagged/*.pos")
    assert (slashed.format, len(slashed.items), slashed.tokens) == ("slash", 4_009, 94_200)
    parsed = read_tagged(f"{folder}dependency_treebank.zip!dependency_treebank/*.dp")
    assert (parsed.tokens, parsed.columns.head, parsed.columns.tag) == (94_084, "head", "pos")
    assert [s.tokens for s in parsed.items] == [s.tokens for s in trees.items]
    assert parsed.items[0].parse == (2, 8, 2, 5, 6, 2, 2, 0, 8, 11, 9, 9, 15, 15, 12, 9, 16, 8)


@pytest.mark.parametrize(
    ("part", "sentences", "words"),
    [("train", 12_544, 204_577), ("dev", 2_001, 25_147), ("test", 2_077, 25_094)],
)
def test_universal_dependencies(real_data, part, sentences, words):
    path = real_data / f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz"
    data = read_tagged(path)
    assert (data.format, len(data.items), data.tokens, len(data.tags)) == (
        "conllu",
        sentences,
        words,
        17,
    )
    assert all(s.parse and len(s.parse) == len(s.tokens) for s in data.items)
    for sentence in data.items:
        assert sentence.text is not None
        assert sentence.spans is not None
        assert len(sentence.spans) == len(sentence.tokens)
    if part == "dev":
        cut = [(t, s.text[a:b]) for s in data.items for t, (a, b) in zip(s.tokens, s.spans, strict=True)]
        assert sum(token != piece for token, piece in cut) < 0.002 * len(cut)  # as in "wanna" for "want to"
        xpos = read_tagged(path, TagOptions(tag_column="xpos"))
        assert len(xpos.tags) == 49


@pytest.mark.parametrize(
    "name",
    [
        "mtl16/books.task.train.gz",
        "mtl16/MR.task.unlabel.gz",
        "sst/trees/dev.txt.gz",
        "sst/stsa/stsa.fine.dev.gz",
        "imdb/test_neg.tsv.xz",
        "sick/SICK_trial.txt.gz",
        "snli/becel_test.tsv.gz",
        "snli/esnli/s1.dev.gz",
        "snli/esnli/labels.dev.gz",
        "syntax/sst/dev.heads.gz",
        "mil/musk1.csv.gz",
        "charlm/tinyshakespeare/input.txt.gz",
        "charlm/war_and_peace/warandpeace.txt.gz",
        "vectors/reviews_300d.txt.gz",
        "multi30k/raw/val.de.gz",
    ],
)
def test_other_files_are_not_taken_for_tagged_ones(real_data, name):
    lines = read_lines(str(real_data / name), "utf-8", "replace")
    assert looks_tagged([text for _, text in itertools.islice(lines, 1000)]) is None
