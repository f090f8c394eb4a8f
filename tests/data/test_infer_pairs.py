"""Which files are taken for pairs."""

import pytest

from headwise.data.items.item_types import infer_task
from headwise.data.readers.pair_files import read_pairs


def parallel(*labels) -> str:
    return "".join(f"a text {n},another text {n},{labels[n % len(labels)]}\n" for n in range(30))


def answers(*groups) -> str:
    """Rows of a questionnaire: two answers out of a list, and a remark."""
    return "".join(f"Agree,Strongly agree,it is so {n},{groups[n % len(groups)]}\n" for n in range(30))


@pytest.mark.parametrize(
    ("name", "text", "task"),
    [
        ("a.tsv", "premise\thypothesis\tlabel\na b\tc d\tyes\ne f\tg h\tno\n", "pair"),
        ("a.csv", "sentence1,sentence2,score\na b,c d,1.5\ne f,g h,2\ni j,k l,3\n", "pair-score"),
        ("a.csv", "first,second,score\na b,c d,1.5\ne f,g h,2\ni j,k l,3\n", "pair-score"),
        ("a.tsv", "Quality\t#1 ID\t#1 String\t#2 String\n1\t7\ta b\tc d\n0\t8\te f\tg h\n", "pair"),
        ("a.csv", "sent1,sent2,label\na b,c d,yes\ne f,g h,no\n", "pair"),
        ("a.jsonl", '{"sentence1": "a b", "sentence2": "c d", "gold_label": "-"}\n' * 3, "pair"),
        ("a.tsv", "premise\thypo\tlabel\na b\tc d\tyes\ne f\tg h\tno\n", "pair"),
        ("a.csv", "source,target,score\n" + parallel(0.25, 1.5, 3), "pair-score"),
        ("a.csv", "src,tgt,label\n" + parallel("ok", "bad"), "pair"),
        ("a.csv", "q1,q2,is_dup\n" + parallel("0", "1"), "pair"),
        ("a.csv", "q1,q2,remarks,group\n" + "5,4,it is fine,new\n3,1,so they all say,old\n" * 20, None),
        ("a.csv", "q1,q2,remarks,group\n" + answers("new", "old"), None),
        ("a.csv", "q1,q2,label\n" + "yes,no,same\nyes,yes,other\n" * 20, "pair"),  # short texts
        ("a.csv", "anchor,target,score\n" + parallel(0.25, 1.5, 3), "pair-score"),
        ("a.csv", "question,answer,intent\n" + parallel("buy", "sell"), None),  # HWU64
        ("a.csv", "claim,evidence,verdict\n" + parallel("true", "false"), "pair"),
        ("a.csv", "Satz A,Satz B,Urteil\n" + parallel("ja", "nein"), "pair"),
        ("a.csv", "frase-1,frase-2,score\n" + parallel(0.25, 1.5, 3), "pair-score"),
        ("a.csv", "answer_a,answer_b,text\n" + parallel(*(f"it is so {n}" for n in range(30))), None),
        ("a.csv", "axis1,axis2,note\n" + "web,pos,the first of all\nmail,neg,a b c\n" * 20, None),
        (
            "a.csv",
            "source,target,text\n" + parallel(*(f"it is so {n}" for n in range(30))),
            None,
        ),
        ("a.csv", "source,target,note\n" + "web,pos,the first of all\nmail,neg,a b c\n" * 20, None),
        ("a.csv", "title,text,label\na b,c d,1\ne f,g h,0\n", None),
        ("a.csv", "text,label\na b,1\ne f,0\n", None),
        ("a.csv", "text,score\na b,1.5\nc d,2\ne f,3\ng h,\n", "regress"),
        ("a.csv", "text,rating\n" + "a b,1.0\nc d,2.0\ne f,5.0\n" * 3, None),  # stars
        ("a.csv", "text,label\n" + "".join(f"a b,{n}\n" for n in range(77)) * 3, None),  # numbered classes
        ("a.csv", "text,score\n" + "".join(f"a b,{n}\n" for n in range(77)), "regress"),
        ("a.csv", "text,label\n" + "".join(f"a b,1{n}5\n" for n in range(19)), None),  # too few to say
        ("a.csv", "text,cm\na b,1.5\nc d,2\ne f,3\n", None),
        ("a.csv", "text,cm\na b,1.5\nc d,2.0\ne f,3.25\n", "regress"),
        ("a.csv", "text,cm\na b,-1.5\nc d,2.0\ne f,-0.25\n", "regress"),
        ("a.csv", "text,cm,m\na b,1.5,0.5\nc d,2.0,0.1\ne f,3.25,0.2\n", None),
        ("a.csv", "text,id\n" + "".join(f"a b,{n}\n" for n in range(77)), None),
        ("a.csv", "text,label,confidence\na b,x,0.5\nc d,y,0.7\ne f,x,0.6\n", None),
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
    (tmp_path / "c.csv").write_text("text,cm,label\na b,1.5,x\ne f,1.7,y\ng h,1,y\n")
    assert infer_task(str(tmp_path / "c.csv"), {"label_column": "cm"})[0] == "regress"
    (tmp_path / "d.csv").write_text("title,body,score\na b,c d,1.5\ne f,g h,2\ni j,k l,3.25\n")
    both = {"first_column": "title", "second_column": "body"}
    task, why = infer_task(str(tmp_path / "d.csv"), both)
    assert task == "pair-score"
    assert why == "it has the columns 'title' and 'body', and numbers in 'score'"
    for wrong in ({"first_column": "titel"}, {"second_column": "bdy"}, both | {"second_column": "bdy"}):
        for name in ("a.csv", "d.csv"):  # what reads the file says which columns there are
            assert infer_task(str(tmp_path / name), wrong) == ("pair", "columns of two texts are named")
    assert infer_task("-", both) == ("pair", "columns of two texts are named")
    assert infer_task(str(tmp_path / "none.csv"), {}) == ("classify", "")
    assert infer_task(str(tmp_path / "b.csv"), {"format": "columns"})[0] == "tag"


@pytest.mark.parametrize(("labels", "scale"), [("12345", True), ("01", False), (("yes", "no"), False)])
def test_whole_numbers_may_be_a_scale(tmp_path, labels, scale):
    path = tmp_path / "a.csv"
    path.write_text("s1,s2,score\n" + parallel(*labels))
    assert infer_task(str(path), {})[0] == "pair"
    note = "the numbers in 'score' are learnt as labels (--task pair-score learns a scale)"
    assert (note in read_pairs(str(path)).notes) is scale


def test_scores_beside_the_labels_of_pairs_are_told(tmp_path):
    """As in SICK, where they stand before the labels."""
    path = tmp_path / "a.tsv"
    path.write_text(
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
        + "".join(
            f"{n}\ta man {n}\ta boy {n}\t{n / 4 + 0.1:.1f}\t{'YES' if n % 2 else 'NO'}\n" for n in range(12)
        )
    )
    assert infer_task(str(path), {})[0] == "pair"
    data = read_pairs(path)
    assert data.columns.label == "entailment_judgment"
    assert "numbers that are not used: 'relatedness_score' (--task pair-score learns them)" in data.notes
    assert read_pairs(path, numbers=True).columns.label == "relatedness_score"
