import json

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.item_options import PairOptions
from headwise.data.columns.pair_columns import PairColumns
from headwise.data.errors import DataError
from headwise.data.items.examples import Pair
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.pair_files import read_pair_rows, read_pairs

SNLI = [
    {
        "annotator_labels": ["neutral"],
        "captionID": "1",
        "gold_label": label,
        "pairID": "1n",
        "sentence1": f"Two women {i}.",
        "sentence1_parse": "(ROOT (S two women))",
        "sentence2": "They hug a lot .",
        "sentence2_parse": "(ROOT (S they hug))",
    }
    for i, label in enumerate(["neutral", "-", "entailment", "-", "neutral"])
]


def jsonl(records):
    return "\n".join(map(json.dumps, records))


@pytest.mark.parametrize("title", ["Tea", "Tea {}"])
def test_yes_or_no_to_questions_about_passages(write, title):
    rows = [
        {
            "question": f"is tea number {n} a drink",
            "title": title.format(n),
            "answer": n % 3 == 0,
            "passage": f"Tea number {n} is what many people drink in the morning. It is warm.",
        }
        for n in range(24)
    ]
    path = write("a.jsonl", jsonl(rows))
    assert infer_task(path, {})[0] == "pair"
    data = read_pairs(path)
    assert data.columns == PairColumns("question", "passage", "answer")
    assert data.labels == {"false": 16, "true": 8}


@pytest.mark.parametrize("second", [[["Page", 7]], "{}. so it is written there"])
def test_columns_of_lists_are_no_texts_of_pairs(write, second):
    rows = [
        {
            "claim": f"Tea number {n} is a drink.",
            "label": ["true", "false", "open"][n % 3],
            "evidence": second,
        }
        for n in range(24)
    ]
    differ = isinstance(second, str)
    rows = [{**row, "evidence": second.format(n)} if differ else row for n, row in enumerate(rows)]
    assert infer_task(write("a.jsonl", jsonl(rows)), {})[0] == ("pair" if differ else "classify")


def test_snli_as_jsonl(write):
    data = read_pairs(write("a.jsonl", jsonl(SNLI)))
    assert data.items[1] == Pair("Two women 2.", "They hug a lot .", "entailment", 3)
    assert (data.labels, data.skipped) == ({"neutral": 2, "entailment": 1}, 2)
    assert data.columns == PairColumns("sentence1", "sentence2", "gold_label")
    assert data.notes == (
        "format jsonl guessed from the suffix .jsonl - override with --format",
        "columns guessed: first='sentence1', second='sentence2', label='gold_label' "
        "- override with --first-column/--second-column/--label-column",
        "pairs without a label ('-') left out: 2",
    )


def test_snli_as_txt(write):
    names = ["gold_label", "sentence1_binary_parse", "sentence1", "sentence2", "label1", "label2"]
    rows = [[r["gold_label"], "( a b )", r["sentence1"], r["sentence2"], "neutral", ""] for r in SNLI]
    text = "\n".join("\t".join(row) for row in [names, *rows])
    data = read_pairs(write("snli_1.0_dev.txt", text))
    assert (data.format, data.labels, data.skipped) == ("tsv", {"neutral": 2, "entailment": 1}, 2)
    assert data.items[0].line == 2


SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n" + "".join(
    f"{i}\tA group of kids {i}\tA group of boys\t{i / 2}\tNEUTRAL\n" for i in range(1, 9)
)


def test_sick_with_either_label(write):
    path = write("SICK_train.txt", SICK)
    assert read_pairs(path).labels == {"NEUTRAL": 8}
    scores = read_pairs(path, PairOptions(label_column="relatedness_score"))
    assert [pair.label for pair in scores.items][:3] == ["0.5", "1.0", "1.5"]


@pytest.mark.parametrize(
    ("header", "label"),
    [
        ("premise,hypothesis,label", "label"),
        ("id,question1,question2,is_duplicate", "is_duplicate"),
        ("text_a,text_b,similarity", "similarity"),
        ("s1,s2,score", "score"),
        ("Sentence 1,Sentence 2,y", "y"),
    ],
)
def test_usual_names(write, header, label):
    names = header.split(",")
    row = ",".join(["7"] * (len(names) - 3) + ["who are you", "who am i", "1"])
    data = read_pairs(write("a.csv", f"{header}\n{row}\n{row}\n"))
    assert data.items[1] == Pair("who are you", "who am i", "1", 3)
    assert data.columns == PairColumns(names[-3], names[-2], label)


def test_columns_found_by_what_is_in_them(write):
    rows = [f"{'yes' if i % 2 else 'no'}\ta man number {i} walks\tsome person {i} moves" for i in range(6)]
    data = read_pairs(write("a.tsv", "\n".join(rows)))
    assert data.columns == PairColumns("2", "3", "1")
    assert data.labels == {"no": 3, "yes": 3}
    assert "no header, columns are numbered - override with --header" in data.notes


def test_chosen_columns(write):
    text = "x,a,b,c\nx1,one a,two b,p\nx2,three a,four b,q\n"
    options = PairOptions(first_column="b", second_column="2", label_column="x")
    data = read_pairs(write("a.csv", text), options)
    assert data.items[0] == Pair("two b", "one a", "x1", 2)
    partner = read_pairs(write("b.csv", text), PairOptions(second_column="b", label_column="c"))
    assert partner.items[0] == Pair("one a", "two b", "p", 2)
    with pytest.raises(ConfigError, match="--first-column and --second-column name the same column"):
        read_pairs(write("c.csv", text), PairOptions(first_column="a", second_column="2"))


@pytest.mark.parametrize(
    ("name", "text", "options", "where"),
    [
        ("a.csv", "a,b\n1,2\n3,4\n", {}, ("HW285", None, None)),
        ("a.csv", "premise,hypothesis\na b c,d e f\nu v w,x y z\n", {}, ("HW285", None, None)),
        ("a.csv", "premise,hypothesis,label\na,b,c\nd,e\n", {}, ("HW110", 3, None)),
        ("a.csv", "premise,hypothesis,label\na,b,c\nd,e, \n", {}, ("HW120", 3, None)),
        ("a.csv", "premise,hypothesis,label\n", {}, ("HW113", 1, None)),
        ("a.csv", "s1,s2,label\na,b,c\n", {"label_column": "gold"}, ("HW111", None, None)),
        ("a.csv", "s1,s2,label\na,b,c\n", {"first_column": "s3"}, ("HW111", None, None)),
        ("a.jsonl", '{"s1": "a", "s2": "b", "label": 1}\n{"s1": "a", "label": 1}', {}, ("HW117", 2, None)),
        (
            "a.jsonl",
            '{"s1": "a", "s2": "b", "label": 1}\n{"s1": "a", "s2": 3, "label": 1}',
            {},
            ("HW118", 2, None),
        ),
        (
            "a.jsonl",
            '{"s1": "a", "s2": "b", "label": 1}\n{"s1": "a", "s2": "b", "label": [1]}',
            {},
            ("HW121", 2, None),
        ),
        ("a.txt", "__label__a some text\n__label__b other\n", {}, ("HW130", None, None)),
        ("a.txt", "some text\nand other\n", {}, ("HW130", None, None)),
        ("a.csv", "\n\n", {}, ("HW103", None, None)),
        ("a.csv", "", {}, ("HW103", None, None)),
    ],
)
def test_what_is_wrong_is_located(write, fails, name, text, options, where):
    path = write(name, text)
    assert fails(lambda: read_pairs(path, PairOptions(**options)).items) == where


def test_records_that_cannot_be_used_are_left_out(write):
    errors = []
    text = "s1\ts2\tlabel\na\tb\tx\nc\td\ne\tf\t\ng\th\ty\n"
    data = read_pairs(write("a.tsv", text), on_error=errors.append)
    assert [pair.label for pair in data.items] == ["x", "y"]
    assert [(e.code, e.line) for e in errors] == [("HW110", 3), ("HW120", 4)]


def test_pairs_with_an_empty_label_are_left_out_if_that_is_asked_for(write):
    """A table of which a part is scored so far."""
    path = write("a.csv", "s1,s2,score\na,b,1.5\nc,d,\ne,f,2.5\ng,h,-\ni,j,4\n")
    options = PairOptions(empty_labels="skip")
    data = read_pairs(path, options)
    assert [pair.label for pair in data.items] == ["1.5", "2.5", "4"]
    assert (data.skipped, "pairs with an empty label left out: 1" in data.notes) == (2, True)
    assert [row.line for row in read_pair_rows(path, options)] == [2, 3, 4, 5, 6]
    assert infer_task(path, {"empty_labels": "skip"})[0] == "pair-score"


def test_texts_stay_as_they_are(write):
    text = "\ufeffs1\ts2\tlabel\r\n a\x85b \t\tx \r\n\r\nc\td\ty"
    data = read_pairs(write("a.tsv", text))
    assert data.items == [Pair(" a\x85b ", "", "x", 2), Pair("c", "d", "y", 4)]
    assert (data.empty, data.notes[-2]) == (1, "blank lines passed over: 1")
    assert data.notes[-1].endswith("stripped from 1 label")


def test_rows_to_predict(write):
    path = write("a.tsv", "id\ts1\ts2\n7\ta b\tc d\n8\te f\tg h\n")
    rows = read_pair_rows(path)
    assert rows.columns == PairColumns("s1", "s2", None)
    assert [(row.fields["id"], row.item) for row in rows] == [
        ("7", Pair("a b", "c d", None, 2)),
        ("8", Pair("e f", "g h", None, 3)),
    ]
    assert read_pair_rows(path, PairOptions(label_column="gold")).columns.label is None
    labels = [row.item.label for row in read_pair_rows(write("b.jsonl", jsonl(SNLI)))]
    assert labels == ["neutral", None, "entailment", None, "neutral"]


def test_two_columns_of_short_questions(write):
    rows = "\n".join(f"who\t{i} is that" for i in range(9))
    options = PairOptions(first_column="1", second_column="2")
    assert sum(1 for _ in read_pair_rows(write("a.txt", rows), options)) == 9


def test_a_delimiter_is_for_csv(write):
    path = write("a.csv", "s1;s2;label\na;b;c\n")
    assert read_pairs(path, PairOptions(delimiter=";")).labels == {"c": 1}
    with pytest.raises(ConfigError, match="does not apply"):
        read_pairs(path, PairOptions("tsv", delimiter=";"))


def test_two_columns_to_predict_are_the_texts(write):
    rows = read_pair_rows(write("a.tsv", "A man sleeps.\tHe is awake.\n"))
    assert [row.item for row in rows] == [Pair("A man sleeps.", "He is awake.", None, 1)]


@pytest.mark.parametrize("text", ["id,body\n1,A man sleeps.\n2,He is awake.\n", "body,label\nA man,yes\n"])
def test_two_columns_to_predict_that_are_no_texts(write, text, fails):
    assert fails(lambda: list(read_pair_rows(write("a.csv", text))))[0] == "HW285"


def test_scores_are_the_column_of_numbers(write):
    rows = [f"{n},a b {n},c d {n},{n / 7:.2f},{'YES' if n % 2 else 'NO'}" for n in range(12)]
    names = "pair_ID,sentence_A,sentence_B,relatedness_score,entailment_judgment"
    path = write("a.csv", "\n".join([names, *rows]))
    assert ITEM_TYPES_BY_TASK["pair"].read(path).columns.label == "entailment_judgment"
    assert ITEM_TYPES_BY_TASK["pair-score"].read(path).columns.label == "relatedness_score"


def test_how_much_pairs_count(write):
    rows = "".join(f"first {n},second {n},{'ab'[n % 2]},{n % 2 + 1}\n" for n in range(8))
    path = write("p.csv", f"premise,hypothesis,label,weight\n{rows}")
    data = read_pairs(path)
    assert [item.weight for item in data.items[:2]] == [1, 2]
    assert "weights of pairs from the column 'weight' (--weight-column)" in data.notes
    assert {item.weight for item in read_pairs(path, PairOptions(weight_column="none")).items} == {1}
    renamed = write("q.csv", f"premise,hypothesis,kind,times\n{rows}")
    data = read_pairs(renamed, PairOptions(weight_column="times"))
    assert (data.columns.label, data.items[1].weight) == ("kind", 2)
    kind = ITEM_TYPES_BY_TASK["pair"]
    prints = [
        kind.fingerprint(read_pairs(path, PairOptions(weight_column=column)).items)
        for column in (None, "none")
    ]
    assert prints[0].sha256 != prints[1].sha256
    with pytest.raises(ConfigError, match="--label-column and --weight-column name the same column"):
        read_pairs(path, PairOptions(label_column="weight", weight_column="weight"))
    odd = write("p.csv", "premise,hypothesis,label,weight\na b,c d,x,1\na,b,y,-1\n")
    with pytest.raises(DataError, match=r"p\.csv:3: the weight is '-1'") as caught:
        read_pairs(odd, PairOptions(weight_column="weight"))
    assert caught.value.code == "HW126"
    assert any("the column 'weight' is passed over" in note for note in read_pairs(odd).notes)


def test_weights_are_no_labels(write):
    rows = "".join(f"first text {n},second text {n},{'ab'[n % 2]},{n % 2 + 1}\n" for n in range(8))
    path = write("p.csv", f"premise,hypothesis,kind,weight\n{rows}")
    assert (read_pairs(path).columns.label, read_pair_rows(path).columns.label) == ("kind", "kind")
    assert infer_task(path, {})[0] == "pair"
