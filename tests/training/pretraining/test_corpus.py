import gzip
import lzma
from collections import Counter

import pytest
from openpyxl import Workbook

from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.training.pretraining.corpus import CorpusSample, read_passages, shuffled


def passages(*files, cut=True, longest=60, seed=0, **how):
    return list(read_passages([str(file) for file in files], cut=cut, longest=longest, seed=seed, **how))


def test_lines_are_cut_into_passages_of_sentences_in_order(tmp_path):
    sentences = [f"This is sentence {number}." for number in range(200)]
    file = tmp_path / "text.txt"
    file.write_text(" ".join(sentences) + "\n\n")
    actual = passages(file)
    assert " ".join(actual).split() == " ".join(sentences).split()
    counts = Counter(passage.count("sentence") for passage in actual)
    assert set(counts) == {1, 2, 3}
    assert counts[1] > counts[2] > counts[3]
    assert actual == passages(file) != passages(file, seed=1)


def test_no_passage_is_longer_than_asked_and_nothing_is_lost(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("word " * 1000)
    actual = passages(file, longest=30)
    assert max(len(passage.split()) for passage in actual) == 30
    assert sum(len(passage.split()) for passage in actual) == 1000


def test_a_line_may_be_a_passage(tmp_path):
    file = tmp_path / "text.txt"
    file.write_text("One. Two. Three. Four.\n  \nFive\n")
    assert passages(file, cut=False) == ["One. Two. Three. Four.", "Five"]


@pytest.mark.parametrize(("open_file", "ending"), [(gzip.open, "gz"), (lzma.open, "xz"), (open, "txt")])
def test_compressed_files_are_read(tmp_path, open_file, ending):
    file = tmp_path / f"text.{ending}"
    with open_file(file, "wt", encoding="utf-8") as out:
        out.write("Größe zählt nicht.\n")
    assert passages(file, file) == ["Größe zählt nicht."] * 2


def test_of_tables_the_texts_are_read_and_that_is_told(tmp_path):
    table, lines = tmp_path / "table.csv", tmp_path / "lines.jsonl"
    rows = '1,good,"Nice, it works."\n2,bad,It broke. Twice.\n3,good,\n' * 5
    table.write_text(f"id,label,text\n{rows}")
    lines.write_text('{"label": "good", "text": "Fine."}\n{"label": "bad", "text": "Not\\nfine."}\n')
    messages = []
    actual = passages(table, lines, cut=False, note=messages.append)
    assert actual == ["Nice, it works.", "It broke. Twice."] * 5 + ["Fine.", "Not\nfine."]
    assert [note.split(": ", 1)[1].split(",")[0] for note in messages] == ["csv", "jsonl"]
    assert "'text'" in messages[0]
    assert passages(table, cut=False, options=ReadOptions(text_column="label"))[:2] == ["good", "bad"]


def test_which_sheet_of_a_workbook_is_read_is_told(tmp_path):
    book = Workbook()
    for title in ("May", "June"):
        for row in (["text", "label"], [f"Nice in {title}.", "good"], ["It broke.", "bad"]):
            (book[title] if title in book else book.create_sheet(title)).append(row)
    book.save(tmp_path / "book.xlsx")
    messages = []
    assert passages(tmp_path / "book.xlsx", note=messages.append) == ["Nice in May.", "It broke."]
    assert "book.xlsx: the sheet 'May' is read, not 'June'" in messages[1]
    assert passages(tmp_path / "book.xlsx!June")[0] == "Nice in June."


def test_a_file_that_cannot_be_read_is_told(tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"fine\nb\xff\n")
    with pytest.raises(DataError, match=r"bad.txt:2:2.*0xff"):
        passages(tmp_path / "bad.txt")


def test_shuffling_loses_nothing_and_holds_no_more_than_its_buffer():
    draws = 0

    def numbers():
        nonlocal draws
        for draws in range(1000):
            yield str(draws)

    stream = shuffled(numbers(), seed=0, buffer=100)
    first = next(stream)
    assert draws == 100
    actual = [first, *stream]
    assert actual != sorted(actual, key=int)
    assert sorted(actual, key=int) == [str(number) for number in range(1000)]


def test_a_sample_is_random_and_without_repetitions():
    chosen: Counter[str] = Counter()
    for seed in range(200):
        sample = CorpusSample(5, seed)
        for number in range(20):
            sample.add(f"T{number}")
            sample.add(f"t{number}")
        items = sample.items()
        assert len(items) == 5
        chosen.update(items)
    # Each of 20 is chosen 50 times of 200 on average; what comes late is not rarer.
    assert all(20 < chosen[f"T{number}"] + chosen[f"t{number}"] < 90 for number in range(20))


def test_a_sample_of_all_is_all():
    sample = CorpusSample(0, 0)
    for number in range(50):
        sample.add(str(number))
    assert sorted(sample.items(), key=int) == [str(number) for number in range(50)]
