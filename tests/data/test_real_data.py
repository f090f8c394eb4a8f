"""Counts of real data sets, as their publishers or papers give them."""

import pytest

from headwise.data import ReadOptions, read_examples, read_rows, split_examples
from headwise.data.doctor.diagnose import diagnose
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

pytestmark = pytest.mark.realdata

TRAIN_SIZES = {"baby": 1500, "camera_photo": 1597, "electronics": 1598, "magazines": 1570}
TRAIN_SIZES["software"] = 1515


def test_mtl16_sizes_and_labels(real_data):
    total = 0
    for path in sorted((real_data / "mtl16").glob("*.train.gz")):
        domain = path.name.split(".")[0]
        options = ReadOptions(encoding_errors="replace" if domain in ("MR", "dvd") else "strict")
        train = read_examples(path, options)
        test = read_examples(path.with_name(f"{domain}.task.test.gz"), options)
        assert train.format == test.format == "label-text"
        assert len(train.items) == TRAIN_SIZES.get(domain, 1600)
        assert len(test.items) == 400
        assert set(train.labels) == set(test.labels) == {"0", "1"}
        assert train.empty == (domain == "sports_outdoors")
        total += len(train.items)
    assert total == 25_380


def test_mtl16_mr_is_not_utf8(real_data, fails):
    path = real_data / "mtl16/MR.task.train.gz"
    assert fails(read_examples, path)[0] == "HW105"
    data = read_examples(path, ReadOptions(encoding_errors="replace"))
    assert data.labels == {"0": 822, "1": 778}


def test_mtl16_leaks(real_data):
    paths = [str(real_data / f"mtl16/magazines.task.{part}.gz") for part in ("train", "test")]
    leak = next(f for f in diagnose(ITEM_TYPES_BY_TASK["classify"], paths).findings if f.code == "HW160")
    assert leak.message.startswith("163 distinct texts of test also in train")


def test_mtl16_unlabelled_texts_are_plain_text(real_data):
    rows = read_rows(real_data / "mtl16/software.task.unlabel.gz")
    assert (rows.format, sum(1 for _ in rows)) == ("text", 475)


def test_a_development_split_of_mtl16(real_data):
    data = read_examples(real_data / "mtl16/video.task.train.gz")
    split = split_examples(data.items, dev=200)
    assert (len(split.train), len(split.dev)) == (1400, 200)


@pytest.mark.parametrize("folder", ["trees/{}.txt.gz", "stsa/stsa.fine.{}.gz"])
def test_sst(real_data, folder):
    train, dev, test = (
        read_examples(real_data / "sst" / folder.format(part)) for part in ("train", "dev", "test")
    )
    assert train.labels == {"0": 1092, "1": 2218, "2": 1624, "3": 2322, "4": 1288}
    assert dev.labels == {"0": 139, "1": 289, "2": 229, "3": 279, "4": 165}
    assert test.labels == {"0": 279, "1": 633, "2": 389, "3": 510, "4": 399}


def test_sst_phrases_and_binary_labels(real_data):
    dev = real_data / "sst/trees/dev.txt.gz"
    assert len(read_examples(dev, ReadOptions(sst_unit="phrases")).items) == 41_447
    binary = read_examples(dev, ReadOptions(sst_labels="binary"))
    assert (len(binary.items), binary.skipped) == (872, 229)
    stsa = read_examples(real_data / "sst/stsa/stsa.binary.dev.gz")
    assert stsa.labels == binary.labels


def test_imdb_columns_are_found_by_content(real_data):
    data = read_examples(real_data / "imdb/test_neg.tsv.xz")
    assert (data.columns.text, data.columns.label) == ("3", "2")
    assert len(data.items) == 12_500
    assert set(data.labels) == {"1", "2", "3", "4"}


def test_pair_data_needs_a_choice(real_data, fails):
    path = real_data / "sick/SICK_train.txt.gz"
    assert fails(read_examples, path)[0] == "HW131"
    options = ReadOptions(text_column="sentence_A", label_column="entailment_judgment")
    labels = read_examples(path, options).labels
    assert labels == {"NEUTRAL": 2536, "ENTAILMENT": 1299, "CONTRADICTION": 665}
