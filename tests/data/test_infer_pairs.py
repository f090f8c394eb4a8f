"""Which files are taken for pairs."""

import pytest

from headwise.data.kinds import infer_task


@pytest.mark.parametrize(
    ("name", "text", "task"),
    [
        ("a.tsv", "premise\thypothesis\tlabel\na b\tc d\tyes\ne f\tg h\tno\n", "pair"),
        ("a.csv", "sentence1,sentence2,score\na b,c d,1.5\ne f,g h,2\ni j,k l,3\n", "pair-score"),
        ("a.jsonl", '{"sentence1": "a b", "sentence2": "c d", "gold_label": "-"}\n' * 3, "pair"),
        ("a.csv", "title,text,label\na b,c d,1\ne f,g h,0\n", None),
        ("a.csv", "text,label\na b,1\ne f,0\n", None),
        ("a.csv", "premise,hypothesis\na b,c d\ne f,g h\n", None),  # nothing to learn
        ("a.txt", "just some text\nand more\n", None),
        ("a.csv", "", None),
    ],
)
def test_by_the_names_of_the_columns(tmp_path, name, text, task):
    (tmp_path / name).write_text(text)
    assert infer_task(str(tmp_path / name), {})[0] == (task or "classify")


def test_what_the_user_says(tmp_path):
    (tmp_path / "a.csv").write_text("title,body,label\na b,c d,yes\ne f,g h,no\n" * 3)
    path = str(tmp_path / "a.csv")
    assert infer_task(path, {"first_column": "title", "second_column": "body"})[0] == "pair"
    (tmp_path / "b.csv").write_text("premise,hypothesis,label\na b,c d,yes\ne f,g h,no\n")
    assert infer_task(str(tmp_path / "b.csv"), {"text_column": "premise"})[0] == "classify"
    assert infer_task(str(tmp_path / "none.csv"), {}) == ("classify", "")
    assert infer_task(str(tmp_path / "b.csv"), {"format": "columns"})[0] == "tag"
