from headwise.data.columns.file_source import DataSource
from headwise.data.formats import FORMATS


def test_every_line_is_a_text_blank_ones_too():
    lines = enumerate(["a\tb\r", "", " c "], start=1)
    records = list(FORMATS["text"].records(lines, DataSource("a")))
    assert records == [(1, {"text": "a\tb"}), (2, {"text": ""}), (3, {"text": " c "})]
