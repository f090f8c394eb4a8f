from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import MultiLabelOptions, ReadOptions
from headwise.data.formats.fasttext import read_records, recognise


def records(text, options=None):
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    source = DataSource("a", options or ReadOptions())
    return [(n, *fields.values()) for n, fields in read_records(lines, source)]


def test_lines():
    text = "__label__pos a good film\n\n__label__neg\tbad __label__x\r\nno label\n__label__pos\n"
    assert records(text) == [
        (1, "pos", "a good film"),
        (3, "neg", "bad __label__x"),
        (4, "", "no label"),
        (5, "pos", ""),
    ]


def test_a_second_label_is_located(fails):
    assert fails(records, "__label__a x\n__label__a __label__b x") == ("HW121", 2, 12)


def test_labels_may_stand_at_the_end(fails):
    lines = [
        "a good film __label__pos",
        "bad ,  __label__neg ",
        "so __label__ so",
        "__label__neg b __label__pos",
    ]
    assert recognise(lines[:2])
    assert not recognise(["so __label__a so", "a label"])
    assert records("\n".join(lines)) == [
        (1, "pos", "a good film"),
        (2, "neg", "bad , "),
        (3, "", "so __label__ so"),
        (4, "neg", "b __label__pos"),
    ]
    two_labels = "a film __label__pos __label__new"
    assert records(two_labels, MultiLabelOptions()) == [(1, ["pos", "new"], "a film")]
    assert fails(records, two_labels)[0] == "HW121"
