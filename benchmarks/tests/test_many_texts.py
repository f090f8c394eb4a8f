"""The sentences of a corpus, each with its file."""

import lzma

from benchmarks.defaults.many_texts import MOST, sentences, write


def test_sentences_of_every_file_each_with_its_name(tmp_path):
    long = " ".join(["word"] * (MOST + 1))
    for name, text in (
        ("law", "One, two three four. Too short. And a last one here!\n"),
        ("news", f"{long}. Is it a question?\n"),
    ):
        (tmp_path / f"{name}.txt.xz").write_bytes(lzma.compress(text.encode()))
    rows = sentences(tmp_path)
    assert sorted(rows) == [
        ("And a last one here!", "law"),
        ("Is it a question?", "news"),
        ("One, two three four.", "law"),
    ]
    assert rows == sentences(tmp_path)
    assert sentences(tmp_path, 2) == [("One, two three four. And a last one here!", "law")]
    path = write(rows[:1], tmp_path / "a.csv")
    with open(path, encoding="utf-8") as file:
        assert file.readline() == "text,label\n"
