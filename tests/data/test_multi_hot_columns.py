"""Multi-hot columns: a column for each label."""

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import MultiLabelOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import infer_task
from headwise.data.items.training_labels import check_label_names
from headwise.data.readers.labelled_files import read_examples

CSV = (
    "id,comment_text,toxic,threat,rare,length\n"
    "a1,you are bad,1,0,0,3\n"
    "b2,i will find you,1,1,0,4\n"
    "c3,a good text,0,0,0,3\n"
)


def read_sets(path, options=None, *more, **arguments):
    return read_examples(path, options or MultiLabelOptions(), *more, **arguments)


def sets(data):
    return [example.labels for example in data.items]


def test_columns_of_zeros_and_ones_are_guessed(write):
    path = write("f.csv", CSV)
    data = read_sets(path)
    assert sets(data) == [("toxic",), ("toxic", "threat"), ()]
    assert [example.text for example in data.items] == ["you are bad", "i will find you", "a good text"]
    assert data.labels == {"toxic": 2, "threat": 1}
    notes = "\n".join(data.notes)
    assert (
        "labels guessed to be the columns 'toxic', 'threat', 'rare' - override with --label-columns"
        in notes
    )
    assert "columns guessed: text='comment_text'" in notes
    assert "labels that no text has: 'rare'" in notes
    assert "texts without a label, which is an answer like others: 1" in notes
    longer = write("g.csv", CSV + "d4,more of it,0,1,0,3\n")
    assert infer_task(longer, {}) == ("multi-label", "the columns 'toxic', 'threat', 'rare' say yes or no")


def test_spam_beside_others_of_its_kind_is_one_of_several_labels(write):
    """Its name is also one that a column of single labels has, by which the others were passed over."""
    path = write(
        "f.csv",
        "id,comment,toxic,spam\nd1,you are so bad,1,0\nd2,buy it for cheap,0,1\nd3,a good text,0,0\n",
    )
    assert infer_task(path, {}) == ("multi-label", "the columns 'toxic', 'spam' say yes or no")
    assert sets(read_sets(path)) == [("toxic",), ("spam",), ()]
    assert infer_task(path, {"label_column": "spam"})[0] == "classify"
    alone = write("g.csv", "id,comment,team,spam\nd1,you are so bad,a,0\nd2,buy it for cheap,b,1\n")
    assert infer_task(alone, {})[0] == "classify"
    named = write(
        "h.csv", "comment,label,reply\nyou are so bad,1,0\nbuy it for cheap,0,1\na good text,0,0\n"
    )
    assert infer_task(named, {})[0] == "classify"


def test_labels_of_a_model_that_have_no_column_are_told(write):
    path = write("f.csv", CSV)
    note = "labels without a column, which therefore no text has: 'insult'"
    assert note in read_sets(path, None, training_labels=("toxic", "threat", "insult")).notes
    assert "without a column" not in "".join(
        read_sets(path, None, training_labels=("toxic", "threat")).notes
    )


@pytest.mark.parametrize("columns", ["toxic,threat", "Threat, 3", "3-4", "3,4-4"])
def test_columns_are_named_or_numbered(write, columns):
    path = write("f.csv", CSV)
    options = MultiLabelOptions(label_columns=columns)
    assert sorted(map(sorted, sets(read_sets(path, options)))) == [[], ["threat", "toxic"], ["toxic"]]
    assert infer_task(path, {"label_columns": columns})[0] == "multi-label"


def test_words_and_json_say_yes_and_no(write):
    table = "text\turgent\tpaid\na b\tTRUE\tno\nb c\tfalse\tYes\nc d\ttrue\tyes\n"
    assert sets(read_sets(write("f.tsv", table))) == [("urgent",), ("paid",), ("urgent", "paid")]
    lines = (
        '{"text": "a b", "urgent": true, "paid": 0}\n'
        '{"text": "b c", "urgent": false, "paid": 1}\n'
        '{"text": "c d", "urgent": true, "paid": 1.0}\n'
    )
    path = write("f.jsonl", lines)
    assert sets(read_sets(path)) == [("urgent",), ("paid",), ("urgent", "paid")]
    assert infer_task(path, {})[0] == "multi-label"


def test_ticks(write):
    path = write("f.csv", "text,late,broken\na b,x,\nb c,X,1\nc d,,1\nd e,,\n")
    assert infer_task(path, {})[0] == "multi-label"
    assert sets(read_sets(path)) == [("late",), ("late", "broken"), ("broken",), ()]
    rare = write("h.csv", "text,late,broken\na b,x,\nb c,,\n")  # of which nobody ticked one
    assert sets(read_sets(rare, training_labels=["late", "broken"])) == [("late",), ()]
    mixed = write("g.csv", "text,late,broken\na b,1,\nb c,0,1\nc d,,1\n")  # nothing is not 0 here
    with pytest.raises(DataError, match=r"g\.csv:4: nothing in the column 'late'"):
        read_sets(mixed, MultiLabelOptions(label_columns="late,broken"))


@pytest.mark.parametrize("none", ["", "\n1 2,y,x"])
def test_x_and_y_in_one_column_do_not_both_say_yes(write, none):
    path = write("f.csv", "text,late,broken\n" + "a b,x,y\nb c,y,x\n" * 5 + f"c d,{none and 'x'},x{none}\n")
    assert infer_task(path, {})[0] == "classify"
    with pytest.raises(DataError, match=r"HW131"):
        read_examples(path)
    with pytest.raises(DataError, match=r"'x' and 'y' in the column 'late'"):
        read_sets(path, MultiLabelOptions(label_columns="late,broken"))


@pytest.mark.parametrize(("bad", "problem"), [("2.0", "'2.0'"), ("", "nothing"), ("?", "'?'")])
def test_one_bad_cell_is_told_and_makes_no_label_vanish(write, bad, problem):
    rows = [f"text {n},{n % 2},{n // 2 % 2},{n // 3 % 2}" for n in range(20)]
    rows[7] = f"text 7,1,{bad},0"
    path = write("f.csv", "\n".join(["text,urgent,paid,new", *rows, ""]))
    assert infer_task(path, {})[0] == "multi-label"
    with pytest.raises(DataError, match=rf"f\.csv:9: {problem.replace('?', '[?]')} in the column 'paid'"):
        read_sets(path)


def test_counts_are_no_flags(write):
    rows = [f"text {n},{n % 2},{n // 2 % 2},{n % 3}" for n in range(20)]
    path = write("f.csv", "\n".join(["text,urgent,paid,times", *rows, ""]))
    assert set(read_sets(path).labels) == {"urgent", "paid"}


def test_a_column_with_a_usual_name_or_one_flag_is_a_label(write):
    assert infer_task(write("f.csv", "text,label,seen,old\na b,x,1,0\nb c,y,0,1\nc d,x,1,1\n"), {})[0] == (
        "classify"
    )
    assert infer_task(write("g.csv", "text,bad\na b,1\nb c,0\nc d,1\n"), {})[0] == "classify"
    mixed = "text,topics,seen,old\na b,x|y,1,0\nb c,y,0,1\nc d,x|y,1,1\n"
    assert read_sets(write("h.csv", mixed)).columns.label == "topics"


@pytest.mark.parametrize(
    ("cell", "problem"), [("-1", "'-1' in the column 'threat'"), ("", "nothing in the column 'threat'")]
)
def test_a_cell_that_says_neither(write, cell, problem):
    path = write("f.csv", CSV.replace("1,1,0,4", f"1,{cell},0,4"))
    options = MultiLabelOptions(label_columns="toxic,threat")
    with pytest.raises(DataError, match=rf"f\.csv:3.*{problem}.*expected 1 where") as raised:
        read_sets(path, options)
    assert raised.value.code == "HW124"
    errors: list[DataError] = []
    assert len(read_sets(path, options, errors.append).items) == 2
    assert len(errors) == 1


def test_a_missing_field(write):
    path = write("f.jsonl", '{"text": "a", "x": 1, "y": 0}\n{"text": "b", "x": 0}\n')
    with pytest.raises(DataError, match="no field in the column 'y'"):
        read_sets(path, MultiLabelOptions(label_columns="x,y"))


def test_known_labels_are_found_again(write):
    train = read_sets(write("f.csv", CSV))
    quiet = "comment_text,toxic,threat,rare\nall is well,0,0,0\nand again,0,0,0\n"
    test = read_sets(write("g.csv", quiet), training_labels=train.columns.flags)
    assert sets(test) == [(), ()]
    check_label_names(train.labels, test, train.path)
    strange = read_sets(
        write("h.csv", quiet.replace("0,0,0", "0,0,1", 1)), training_labels=train.columns.flags
    )
    with pytest.raises(DataError, match="the label 'rare' does not occur"):
        check_label_names(train.labels, strange, train.path)


def test_what_makes_no_sense(write):
    path = write("f.csv", CSV)
    with pytest.raises(DataError, match=r"no column 'toxik'.*did you mean --label-columns 'toxic'"):
        read_sets(path, MultiLabelOptions(label_columns="toxik"))
    with pytest.raises(DataError, match="no column '7'"):
        read_sets(path, MultiLabelOptions(label_columns="5-9"))
    with pytest.raises(DataError, match="no column '4-3'"):
        read_sets(path, MultiLabelOptions(label_columns="4-3"))
    fasttext = write("f.txt", "__label__a some text\n__label__b more text\n")
    with pytest.raises(ConfigError, match="the format fasttext has no columns to choose"):
        read_sets(fasttext, MultiLabelOptions(label_columns="a,b"))
    for conflict in ({"label_column": "x"}, {"label_separator": ";"}):
        with pytest.raises(ConfigError, match="exclude each other"):
            MultiLabelOptions(label_columns="a", **conflict)
    with pytest.raises(ConfigError, match="expected names or numbers"):
        MultiLabelOptions(label_columns=" , ")


def test_columns_that_are_spelt_otherwise_are_no_labels_and_told(write):
    rows = (f"a text of number {n},{n % 7 == 0},{n % 2},{n % 3 // 2},0" for n in range(30))
    path = write("f.csv", "\n".join(("text,unclear,joy,anger,fear", *rows)) + "\n")
    data = read_sets(path)
    assert {*data.labels} == {"joy", "anger"}
    assert "columns of yes and no of another spelling, not read: 'unclear'" in data.notes
    named = read_sets(path, MultiLabelOptions(label_columns="unclear,joy"))
    assert {*named.labels} == {"unclear", "joy"}


@pytest.mark.parametrize(("flags", "task"), [("is_vip,has_file", "classify"), ("late,rude", "multi-label")])
def test_columns_that_describe_a_record_are_no_labels_beside_names(write, flags, task):
    rows = "".join(f"it was {n} days late,{'ab'[n % 2]}x,{n % 2},{n % 3 % 2}\n" for n in range(8))
    path = write("f.csv", f"message,department,{flags}\n{rows}")
    assert infer_task(path, {})[0] == task
    if task == "classify":
        with pytest.raises(DataError, match="label column cannot be guessed"):
            read_examples(path)
    else:
        assert "'department' may be the label - choose with --label-column" in read_sets(path).notes
    alone = write("g.csv", f"message,{flags}\n" + rows.replace(",ax", "").replace(",bx", ""))
    assert infer_task(alone, {})[0] == "multi-label"


def test_texts_that_have_exactly_one_of_the_labels(write):
    rows = [f"text no {n}," + ",".join(str(int(n % 3 == k)) for k in range(3)) + "\n" for n in range(9)]
    notes = read_sets(write("f.csv", "text,bad,so,good\n" + "".join(rows))).notes
    flags = "--task classify --probability-columns 'bad,so,good'"
    assert notes[-1] == f"every text has one of the labels - {flags} learns that no other is possible"
    notes = read_sets(write("g.csv", "text,bad,so,good\n" + "".join(rows) + "one more,1,1,0\n")).notes
    assert not any("every text has one" in note for note in notes)
    ticked = write("h.csv", "text,bad,so,good\n" + "".join(rows).replace("0", "").replace("1", "x"))
    assert read_sets(ticked).notes[-1] == "every text has one of the labels"


@pytest.mark.parametrize("names", ["rater_1,rater_2,rater_3", "ann1,ann2,ann3", "Coder A,Coder B,Coder C"])
def test_answers_of_several_people_are_no_labels(write, names):
    """Each column would be a label that one person gives."""
    rows = [f"text number {n},{n % 2},{n // 2 % 2},{n // 4 % 2}" for n in range(40)]
    path = write("a.csv", "\n".join([f"text,{names}", *rows]))
    assert infer_task(path, {})[0] == "classify"
    with pytest.raises(DataError, match="HW131"):
        read_examples(path)
    assert len(read_sets(path, MultiLabelOptions(label_columns=names)).items) == 40
