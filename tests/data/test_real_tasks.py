"""Text pairs, bags and texts for language modelling, with the counts that their makers give them."""

import json

import pytest

from headwise.data.columns.item_options import PairOptions
from headwise.data.items.symbols import SymbolVocabulary, choose_symbols
from headwise.data.readers.bags import read_bags
from headwise.data.readers.pair_files import read_pairs
from headwise.data.readers.streams import count_symbols, read_stream

pytestmark = pytest.mark.realdata

SNLI = {"dev": (3_329, 3_235, 3_278), "test": (3_368, 3_219, 3_237)}
NLI = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize("part", SNLI)
def test_snli(real_data, part):
    name = {"dev": "validation", "test": "test"}[part]
    data = read_pairs(real_data / f"snli/becel_{name}.tsv.gz")
    assert tuple(data.labels[label] for label in "012") == SNLI[part]
    assert (data.columns.first, data.columns.second) == ("premise", "hypothesis")


@pytest.mark.parametrize(
    ("folder", "sizes"),
    [
        ("original", (1_666, 200, 400)),
        ("revised_premise", (3_332, 400, 800)),
        ("revised_hypothesis", (3_332, 400, 800)),
    ],
)
def test_counterfactual_snli(real_data, folder, sizes):
    for part, size in zip(("train", "dev", "test"), sizes, strict=True):
        data = read_pairs(real_data / f"snli/counterfactual/{folder}/{part}.tsv.gz")
        assert len(data.items) == size
        assert set(data.labels) == set(NLI)
        assert data.columns.label == "gold_label"


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("SICK_train", (2_536, 1_299, 665)),
        ("SICK_trial", (282, 144, 74)),
        ("SICK_test_annotated", (2_793, 1_414, 720)),
    ],
)
def test_sick(real_data, name, counts):
    path = real_data / f"sick/{name}.txt.gz"
    data = read_pairs(path)
    labels = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
    assert tuple(data.labels[label] for label in labels) == counts
    scores = read_pairs(path, PairOptions(label_column="relatedness_score"))
    assert all(1 <= float(pair.label or 0) <= 5 for pair in scores.items)


@pytest.mark.parametrize(
    ("name", "instances", "labels", "features"),
    [
        ("musk1.csv", 476, {"1": 47, "0": 45}, 166),
        ("uci/clean1.data", 476, {"1": 47, "0": 45}, 166),
        ("elephant.csv", 1_391, {"0": 100, "1": 100}, 230),
        ("protein.csv", 26_611, {"0": 168, "1": 25}, 9),
    ],
)
def test_bags(real_data, name, instances, labels, features):
    data = read_bags(real_data / f"mil/{name}.gz")
    assert (data.instances, data.labels, len(data.features)) == (instances, labels, features)
    assert all(bag.instances.shape[1] == features for bag in data.items)


def test_both_copies_of_musk_are_the_same(real_data):
    csv, uci = (read_bags(real_data / f"mil/{name}.gz").items for name in ("musk1.csv", "uci/clean1.data"))
    ours = sorted((bag.label, bag.instances.tolist()) for bag in csv)
    assert ours == sorted((bag.label, bag.instances.tolist()) for bag in uci)


def test_words_of_the_penn_treebank(real_data):
    paths = [f"{real_data}/ptb_lm/ptb.zip!ptb.{part}.txt" for part in ("train", "valid", "test")]
    symbols = choose_symbols("words", count_symbols(paths[0], "words"))
    assert len(symbols) == 10_000
    assert symbols.counts[symbols.names.index("<eos>")] == 42_068
    lengths = [len(read_stream(path, symbols)) for path in paths]
    assert lengths == [887_521 + 42_068, 70_390 + 3_370, 78_669 + 3_761]
    assert SymbolVocabulary.from_json(json.loads(json.dumps(symbols.to_json()))) == symbols


@pytest.mark.parametrize(
    ("name", "size", "characters", "kinds"),
    [
        ("tinyshakespeare/input.txt", 1_115_394, 1_115_394, 65),
        ("war_and_peace/warandpeace.txt", 3_293_492, 3_227_579, 110),
        ("war_and_peace/wap.train.txt", 2_281_656, 2_235_598, 109),
        ("war_and_peace/wap.valid.txt", 490_831, 481_108, 97),
        ("war_and_peace/wap.test.txt", 504_362, 494_230, 97),
    ],
)
def test_characters_and_bytes(real_data, name, size, characters, kinds):
    path = real_data / f"charlm/{name}.gz"
    counts = count_symbols(path, "characters")
    assert (sum(counts.values()), len(counts)) == (characters, kinds)
    stream = read_stream(path, choose_symbols("characters", counts))
    assert (len(stream), stream.unknown, stream.ids.dtype.itemsize) == (characters, 0, 1)
    assert sum(count_symbols(path, "bytes").values()) == size
