"""`headwise distill` on what it is not for."""

import pytest

PAIRS = "first\tsecond\tlabel\n" + "".join(f"a {n}\tb {n}\t{'yn'[n % 2]}\n" for n in range(40))
SETS = "text,labels\n" + "".join(f"a {n},{('x|y', 'x', 'y', 'y|z')[n % 4]}\n" for n in range(40))
NUMBERS = "text,score\n" + "".join(f"a {n},{n / 7:.2f}\n" for n in range(40))


@pytest.mark.parametrize(
    ("name", "content", "task"),
    [("p.tsv", PAIRS, "pair"), ("s.csv", SETS, "multi-label"), ("n.csv", NUMBERS, "regress")],
)
def test_files_of_other_tasks_are_told_what_it_is_for(run, tmp_path, name, content, task):
    (tmp_path / name).write_text(content)
    code, _, err = run("distill", name, "--teacher", tmp_path / "nobody", "--unlabelled", name)
    told = " ".join(err.split())
    assert code == 2
    assert f"{name}: a file for the task {task} (" in told
    assert "expected texts with one label each; only classifiers of texts learn from a teacher" in told


def test_whoever_names_the_columns_knows_them(run, tmp_path):
    (tmp_path / "s.csv").write_text(SETS)
    named = ("--text-column", "text", "--label-column", "labels")
    code, _, err = run("distill", "s.csv", "--teacher", tmp_path, "--unlabelled", "s.csv", *named)
    assert code == 2
    assert "a file for the task" not in err
