from headwise.data.columns.file_source import DataSource
from headwise.data.formats.fasttext import read_records


def records(text):
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    return [(n, *fields.values()) for n, fields in read_records(lines, DataSource("a"))]


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
