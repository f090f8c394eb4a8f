import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.formats.label_text import read_records, recognise


def records(text, **options):
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    source = DataSource("a", ReadOptions(**options))
    return [(n, *fields.values()) for n, fields in read_records(lines, source)]


def test_a_tab_in_every_line_separates():
    assert records("1\tgood film \n\n0\ta\tb\r\n1\t\n") == [
        (1, "1", "good film "),
        (3, "0", "a\tb"),
        (4, "1", ""),
    ]


def test_numbers_of_abstracts_are_no_lines():
    assert records("###24\n\nAIM\tto see .\nMETHODS\twe did .\n\n###25\nAIM\tto say .\n") == [
        (3, "AIM", "to see ."),
        (4, "METHODS", "we did ."),
        (7, "AIM", "to say ."),
    ]


def test_else_a_space_separates():
    assert records("1 a\tgood film\n0 no\n") == [(1, "1", "a\tgood film"), (2, "0", "no")]


def test_the_names_of_types_of_questions_end_at_a_space(fails):
    lines = ["DESC:manner How did it begin ?", "HUM:ind Who ran ?", "DESC:def What is a tea : a drink ?"]
    assert recognise(lines * 3)
    assert records("\n".join(lines))[1] == (2, "HUM:ind", "Who ran ?")
    assert fails(records, "\n".join([*lines * 4, "How did it end ?"])) == ("HW120", 13, None)
    assert not recognise(["ERROR:main it broke", "INFO:main it runs", "WARNING:db it is late"] * 3)
    assert not recognise(["NOTE:that is not all", "Well: it is", "no"])


def test_quotation_marks_around_texts_as_in_tsv(fails):
    text = '1\t"so ""good"" it is"\n0\t"no\n"1"\ta b\n'
    assert [row[1:] for row in records(text)] == [("1", 'so "good" it is'), ("0", '"no'), ("1", "a b")]
    assert records('1 "so good"\n') == [(1, "1", '"so good"')]
    assert not recognise(["'1'\t'so good'", "'0'\t'not so good'"] * 3)


def test_another_separator():
    assert records("pos|a good|film\n", delimiter="|") == [(1, "pos", "a good|film")]
    assert records("a b\tc", delimiter="\\t") == [(1, "a b", "c")]


def test_no_separator_at_all():
    with pytest.raises(ConfigError, match="delimiter ''"):
        records("a b", delimiter="")


def test_a_line_without_separator_is_located(fails):
    assert fails(records, "1 good\nbad\n") == ("HW120", 2, None)
    assert fails(records, "1\tgood\nbad film\n", delimiter="\t") == ("HW120", 2, None)
