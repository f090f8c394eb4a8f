import pytest

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.readers.file_preview import guess_format
from headwise.data.readers.labelled_files import read_examples, read_rows
from headwise.data.readers.tag_format_guess import guess_tagged_format


def guess(text, name="a.txt", labelled=True):
    head = list(enumerate(text.removesuffix("\n").split("\n"), start=1))
    return guess_format(name, head, labelled=labelled)[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("A.CSV.GZ", "csv"),
        ("x/a.tsv.xz", "tsv"),
        ("a.tab", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson.bz2", "jsonl"),
        ("a.json.zip", "jsonl"),
    ],
)
def test_a_suffix_decides(name, expected):
    assert guess("what,ever", name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\tgood film\n0\tbad film\n1\tfine\n", "label-text"),
        ("ham\tgood, film\nspam\tbad\tfilm\nham\tfine\n", "label-text"),
        ("label\ttext\n1\tgood film\n0\tbad film", "tsv"),
        ("good film\t1\nbad film\t0\nok film\t1\nno film\t0\nso so\t1\na a\t1", "tsv"),
        ("0\t9\tgood\n1\t2\tbad", "tsv"),
        ("4 good film\n0 bad film\n4 fine\n", "label-text"),
        ("__label__a x\n__label__b y\n", "fasttext"),
        ('{"text": "a"}\n\n{"text": "b"}', "jsonl"),
        ('[{"text": "a"}]', "jsonl"),
        ("[\n{}\n]", "jsonl"),
        ("(3 (2 a) (3 b))\n(2 (2 c))\r\n", "sst"),
        ('text,label\n"good, film",1\nbad,0', "csv"),
        ("label;review\n1;good, film\n0;bad", "csv"),
        ('"1","a good film"\n"0","no, bad"\n', "csv"),
        ("".join(f"the king runs {n} times;{'ab'[n % 2]}\n" for n in range(6)), "csv"),
        ("".join(f"{12 * chr(0x3053 + n)},{'ab'[n % 2]}\n" for n in range(6)), "csv"),
        ('{\n "rasa_nlu_data": {\n  "common_examples": []\n }\n}', "jsonl"),
    ],
)
def test_contents_decide_without_a_suffix(text, expected):
    assert guess(text) == expected
    assert guess(text, "-") == expected


@pytest.mark.parametrize(
    "text",
    [
        "a good film\na bad film\n",
        "good, very good\nbad, very bad\n",
        "[laughs] well\nno",
        "2 of the actors\n10 years ago\n7 is a film\n3 men\n15 minutes\n8 mile\n",
        "",
    ],
)
def test_lines_without_structure_are_text_or_an_error(text, fails):
    assert guess(text, labelled=False) == "text"
    assert fails(guess, text)[0] == "HW130"


LABELLED = [(f"the {n}. letter of the day", ["mail", "phone call"][n % 2]) for n in range(8)]


@pytest.mark.parametrize("mark", ["=>", "->", "::", "###", " - ", "@"])
def test_another_separator_is_named(write, mark):
    before = "\n".join(f"{label} {mark} {text}" for text, label in LABELLED)
    with pytest.raises(
        DataError, match=r"HW130.*stands behind the label: give --format label-text"
    ) as raised:
        guess(before)
    assert repr(mark) in str(raised.value)
    options = ReadOptions(format="label-text", delimiter=mark)
    items = read_examples(write("a.txt", before), options).items
    assert [item.label for item in items] == [label for _, label in LABELLED]
    behind = "\n".join(f"{text} {mark} {label}" for text, label in LABELLED)
    with pytest.raises(DataError, match=r"HW130.*stands before the label: write a tab"):
        guess(behind)


def test_a_colon_behind_the_label_separates():
    with pytest.raises(DataError, match="give --format label-text --delimiter ': '"):
        guess("\n".join(f"{label}: {text}" for text, label in LABELLED))


def test_a_mark_in_some_lines_or_beside_texts_is_no_separator():
    for lines in (
        ["it is - as ever - late"] * 5,
        [f"line {n} - and {n} more" for n in range(9)],
        ["no mark", "a - b"] * 4,
    ):
        with pytest.raises(DataError, match="give --format"):
            guess("\n".join(lines))


def test_text_is_told_to_be_read_by_lines():
    """A mail in a file of its own would be as many texts as it has lines, which nobody asked for."""
    head = [(1, "Dear all,"), (2, "hello")]
    assert guess_format("a.txt", head, labelled=False)[1].endswith("one text per line")


@pytest.mark.parametrize("line", ["T1\tORG 0 4\tUber", "T12\tORG 0 4;9 12\tAn Inc"])
def test_annotations_of_brat_are_named(fails, line):
    """They look like a table of two or three columns, but the text is in another file."""
    for make_guess in (lambda: guess(line + "\n"), lambda: guess_tagged_format("a.ann", [(1, line)])):
        assert fails(make_guess)[0] == "HW104"
    assert guess("T1\tthe first text\nT2\tanother\n") == "label-text"


def test_lines_that_may_be_rows_are_neither_texts_nor_rows(write, fails):
    rows = "".join(f"{['ham', 'spam'][n % 2]},come home at {n}\n" for n in range(6))
    assert guess(rows) == "csv"  # where labels are needed
    for path in (
        write("a.txt", rows),
        write("b.log", "".join(f"2024-01-03,disk {n} is full\n" for n in range(5))),
    ):
        assert fails(read_rows, path)[0] == "HW130"
        assert len([*read_rows(path, ReadOptions(format="text"))]) > 4
    assert len([*read_rows(write("c.txt", "Well, that is good\nNo, it is not\n" * 5))]) == 10


@pytest.mark.parametrize(
    "rows",
    [
        ["billing,Which cost centre is it?", "software,The letters arrive late"],
        ['17,"When I type, letters arrive late"'],
        ["17;my invoice is wrong;Earth", "18;the lift is broken;"],
        ['1,"The ""new"" one, again",x', "2,the lift,y"],
    ],
)
def test_few_lines_that_may_be_rows(write, fails, rows):
    path = write("a.txt", "\n".join(rows))
    assert fails(read_rows, path)[0] == "HW130"
    assert len([*read_rows(path, ReadOptions(format="csv", text_column="2"))]) == len(rows)


@pytest.mark.parametrize(
    "texts",
    [
        ["Well, that is good"],
        ["Well, that is good", "No, it is not"],
        ['"Yes, well", he said'],
        ['He said "yes, no", twice'],
        ["1,000 people came"],
        ["good;bad"],
        ["good,bad", "good, bad"],
        ["just a line", "and another"],
    ],
)
def test_few_lines_that_are_texts(write, texts):
    assert len([*read_rows(write("a.txt", "\n".join(texts)))]) == len(texts)


def test_a_tsv_with_commas_for_tabs_is_a_csv():
    assert guess("text,label\na b,1\nc d,0\n", "a.tsv") == "csv"
    assert guess("text\na, b\nc, d\n", "a.tsv") == "tsv"
