"""Files with soft labels and confidences."""

import json
from dataclasses import replace

import numpy as np
import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.columns.soft_label_columns import number_or_nan
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import evaluation_mask, evaluation_weights, soft_targets, training_weights
from headwise.data.readers.labelled_files import read_examples

TABLE = "text,good,bad\nfine film,0.9,0.1\ndull film,0.2,0.8\nso so,0.50,0.51\n"


def soft(data, labels) -> np.ndarray:
    targets = soft_targets(data.items, labels)
    assert targets is not None
    return targets


def read(path, **options):
    return read_examples(path, SoftLabelOptions(**options))


def test_a_column_a_label_is_found_by_its_numbers(write):
    data = read(write("f.csv", TABLE))
    assert [item.label for item in data.items] == ["good", "bad", "bad"]
    assert data.labels == {"bad": 2, "good": 1}
    assert np.allclose(soft(data, ["bad", "good"])[:2], [[0.1, 0.9], [0.8, 0.2]])
    assert np.allclose(soft(data, ["bad", "good"]).sum(axis=1), 1)
    assert any("probabilities of labels from the 2 columns 'good', 'bad'" in note for note in data.notes)


def test_or_by_flag_also_beside_a_label(write):
    path = write("f.tsv", "text\tlabel\ta\tb\tn\nfine\tz\t1\t0\t3\ndull\tz\t0\t1\t4\n")
    assert {item.label for item in read(path).items} == {"z"}
    for columns in ("a,b", "3-4"):
        assert [item.label for item in read(path, probability_columns=columns).items] == ["a", "b"]
    with pytest.raises(DataError, match=r"HW111.*'c'"):
        read(path, probability_columns="a,c")
    with pytest.raises(ConfigError, match="exclude each other"):
        SoftLabelOptions(probability_columns="a,b", label_column="label")


@pytest.mark.parametrize(("no", "yes"), [("0", "1"), ("0.0", "1.0"), ("False", "True"), ("no", "yes")])
def test_a_teacher_may_be_certain_of_all_its_answers(write, no, yes):
    """Of a file to train on, such columns are sets of labels (see `infer_task`)."""
    rows = "".join(f"film {n},{(yes, no)[n % 2]},{(no, yes)[n % 2]},{no}\n" for n in range(6))
    path = write("f.csv", f"text,good,bad,odd\n{rows}")
    data = read_examples(path, SoftLabelOptions(), answers=True)
    assert [item.label for item in data.items] == ["good", "bad"] * 3
    assert soft(data, ["bad", "good", "odd"]).tolist() == [[0, 1, 0], [1, 0, 0]] * 3
    assert any("the 3 columns 'good', 'bad', 'odd'" in note for note in data.notes)
    with pytest.raises(DataError, match="HW131"):
        read(path)


@pytest.mark.parametrize("second", ["1,1", "0,0"])
def test_of_a_teacher_that_gives_several_labels_or_none_it_is_told(write, second):
    rows = "".join(f"film {n},{(second, '1,0', '0,1')[n % 3]}\n" for n in range(6))
    path = write("f.csv", f"text,good,bad\n{rows}")
    count = 2 if second == "1,1" else 0
    message = (
        f"'good', 'bad' .* first 6 texts {2 - count} have none of these labels and {count} have several"
    )
    with pytest.raises(DataError, match=f"HW131.*{message}.*a column 'label'"):
        read_examples(path, SoftLabelOptions(), answers=True)
    path = write("g.csv", "text,verdict,seen,kept\n" + "a film,fine,1,1\nother film,dull,0,1\n" * 3)
    assert {item.label for item in read_examples(path, SoftLabelOptions(), answers=True).items} == {
        "fine",
        "dull",
    }


def test_a_label_may_be_certain_where_others_are_not(write):
    path = write("f.csv", "text,a,b,c\none,0.9,0.1,0\ntwo,0.3,0.7,0\nthree,0,0,1\nfour,0,0,1\n")
    for answers in (False, True):
        data = read_examples(path, SoftLabelOptions(), answers=answers)
        assert [item.label for item in data.items] == ["a", "b", "c", "c"]


def test_what_predict_has_written_is_read_again(write):
    rows = [{"text": "fine", "label": "x", "probabilities": {"good": 0.7, "bad": 0.3}}]
    path = write("f.jsonl", "".join(json.dumps(row) + "\n" for row in rows * 2))
    assert [item.label for item in read(path).items] == ["x", "x"]
    data = read_examples(path, SoftLabelOptions(), answers=True)
    assert [item.label for item in data.items] == ["good", "good"]
    path = write(
        "f.csv", "text,prediction,probability,probability:good,probability:bad\nfine,good,.7,.7,.3\n"
    )
    assert getattr(read(path).items[0].shares, "labels", ()) == ("good", "bad")


def test_a_label_and_how_sure_it_is(write):
    path = write("f.csv", "text,label,confidence,weight\nfine film,good,0.9,2\ndull film,bad,0.6,1\n")
    data = read(path)
    assert np.allclose(soft(data, ["bad", "good", "odd"]), [[0.05, 0.9, 0.05], [0.6, 0.2, 0.2]])
    assert str(training_weights(data.items)) == "[1.3333334 0.6666667]"
    assert sum("confidence" in note or "weight" in note for note in data.notes) == 2
    plain = read(path, confidence_column="none", weight_column="none")
    assert soft_targets(plain.items, ["bad", "good"]) is None
    assert training_weights(plain.items) is None
    with pytest.raises(DataError, match="HW126"):
        training_weights([replace(item, weight=0.0) for item in data.items])
    none = [replace(item, weight=0.0) for item in data.items]
    assert evaluation_weights(none) is None
    assert evaluation_mask(none).all()
    assert evaluation_mask([*none, *data.items]).tolist() == [False] * len(none) + [True] * len(data.items)
    large = [
        replace(item, weight=weight * 1e300) for item, weight in zip(data.items, (1.5, 0.5), strict=True)
    ]
    assert training_weights(large) == pytest.approx([1.5, 0.5])


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("text,a,b\nfine film,0.9,0.3\nx,0.5,0.5\n", "HW125", r":2: the probabilities .* add up to 1\.200"),
        ("text,a,b\nfine film,1.1,-0.1\nx,0.5,0.5\n", "HW125", ":2: the probability of 'a' is 1.1"),
        ("text,a,b\nfine film,0.5,0.5\nx,nan,0.5\n", "HW125", ":3: the probability of 'a' is nan"),
        ("text,a,b\nfine film,0.5,\nx,0.5,0.5\n", "HW125", ":2: the probability of 'b' is missing"),
    ],
)
def test_probabilities_that_are_none(write, text, code, problem):
    path = write("f.csv", text)
    with pytest.raises(DataError, match=f"{problem}.*add up to 1"):
        read(path, probability_columns="a,b")
    (finding,) = doctor_files([path], "classify", {"probability_columns": "a,b"}).findings[:1]
    assert finding.code == code


def test_a_confidence_or_weight_that_is_none(write):
    path = write("f.csv", "text,label,sure,times\nfine film,a,0.9,1\nx,b,7,-1\n")
    with pytest.raises(DataError, match=r":3: the probability of 'b' is 7.*--confidence-column none"):
        read(path, confidence_column="sure")
    with pytest.raises(DataError, match=":3: the weight is '-1'") as caught:
        read(path, weight_column="times")
    assert caught.value.code == "HW126"


def test_other_labels_change_the_fingerprint(write):
    kind = ITEM_TYPES_BY_TASK["classify"]
    prints = {
        kind.fingerprint(read(write("f.csv", TABLE.replace("0.9,0.1", probabilities))).items).sha256
        for probabilities in ("0.9,0.1", "0.8,0.2")
    }
    assert len(prints) == 2
    rows = [
        read(write("g.csv", f"text,label{w}\nfine film,a{v}\n")) for w, v in (("", ""), (",weight", ",2"))
    ]
    assert len({kind.fingerprint(data.items).sha256 for data in rows}) == 2


def test_the_doctor_tells_how_labels_are_read(write):
    diagnosis = doctor_files([write("f.csv", TABLE)], "classify")
    assert diagnosis.files[0].label_column == "good, bad"
    assert any("--probability-columns" in note for note in diagnosis.files[0].notes)


def test_numbers_have_weights_but_no_probabilities(write):
    kind = ITEM_TYPES_BY_TASK["regress"]
    data = kind.read(
        write("f.csv", "text,score,confidence,weight\nfine film,3.5,0.9,2\ndull film,1,0.6,1\n")
    )
    assert [(item.label, item.weight, item.shares) for item in data.items] == [
        ("3.5", 2, None),
        ("1", 1, None),
    ]


def test_the_probability_of_a_prediction_is_not_that_of_a_label(write):
    rows = "".join(f"text {n},{'ab'[n % 2]},b,0.3\n" for n in range(6))
    path = write("f.csv", "text,label,prediction,probability\n" + rows)
    data = read(path)
    assert all(item.shares is None for item in data.items)
    assert any(
        "'probability' is taken for how sure 'prediction' was, not 'label'" in note for note in data.notes
    )
    assert all(item.shares is not None for item in read(path, confidence_column="probability").items)
    assert all(item.shares is not None for item in read(path, label_column="prediction").items)


def test_labels_that_are_unlikely_by_their_own_probability_are_found(write):
    rows = "".join(f"text {n},{'ab'[n % 2]},{0.3 if n == 4 else 0.8}\n" for n in range(6))
    path = str(write("f.csv", "text,label,confidence\n" + rows))
    label_findings = [finding for finding in doctor_files([path]).findings if finding.code == "HW171"]
    assert [finding.where for finding in label_findings] == [(f"{path}:6",)]


@pytest.mark.parametrize(
    ("column", "values", "expected_range"),
    [("confidence", (80, 90), "from 0 to 1"), ("weight", ("3 kg", "1 kg"), "of 0 or more")],
)
def test_columns_that_cannot_be_used_are_told(write, column, values, expected_range):
    rows = "".join(f"text {n},{'ab'[n % 2]},{values[n % 2]}\n" for n in range(6))
    data = read(write("f.csv", f"text,label,{column}\n" + rows))
    assert (
        f"the column {column!r} is passed over, as it has not only numbers {expected_range}" in data.notes
    )


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (("prob_a", "prob_b"), {"a", "b"}),
        (("P: a", "P: b"), {"a", "b"}),
        (("a_score", "b_score"), {"a", "b"}),
        (("prob_a", "b"), {"prob_a", "b"}),
        (("prob_a", "proba_a"), {"prob_a", "proba_a"}),
    ],
)
def test_labels_are_named_without_what_all_columns_of_probabilities_are_called(write, names, labels):
    text = f"text,{','.join(names)}\nfine film,0.9,0.1\ndull film,0.2,0.8\n"
    assert {*read(write("f.csv", text)).labels} == labels


@pytest.mark.parametrize("name", ["true_label", "airline_sentiment"])
def test_a_label_beside_the_probabilities_of_a_model_is_the_label(write, name):
    rows = [
        f"film number {n},{'xy'[n % 2]},{'yx'[n % 3 % 2]},0.{n % 9 + 1}0,0.{9 - n % 9}0" for n in range(40)
    ]
    path = write("f.csv", "\n".join([f"text,{name},pred_label,good,bad", *rows]) + "\n")
    data = read(path)
    assert (data.columns.label, [item.label for item in data.items[:3]]) == (name, ["x", "y", "x"])
    assert any("other columns that may be the label: 'pred_label'" in note for note in data.notes)
    alone = write("g.csv", "\n".join(["text,pred_label", *(",".join(row.split(",")[:2]) for row in rows)]))
    assert read(alone).columns.label == "pred_label"


def test_probabilities_of_ranked_labels_are_not_those_of_the_ranks(write, fails):
    rows = [f"text no {n},{'ab'[n % 2]},0.9,{'ba'[n % 2]},0.1" for n in range(20)]
    path = write("f.csv", "\n".join(["text,Class 1,Confidence 1,Class 2,Confidence 2", *rows]))
    assert fails(read, path)[0] == "HW131"
    numbered = [f"text no {n},0.{n % 9 + 1},0.{9 - n % 9}" for n in range(20)]
    assert {*read(write("g.csv", "\n".join(["text,prob_1,prob_2", *numbered]))).labels} == {"1", "2"}


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("0,5", 0.5),
        ("0,125", 0.125),
        ("1,5e-06", 1.5e-06),
        ("2,5", 2.5),
        ("1,500", None),
        ("1,2,3", None),
    ],
)
def test_a_comma_is_decimal_where_it_cannot_separate_thousands(cell, number):
    assert number_or_nan(cell) == number or (number is None and number_or_nan(cell) != number_or_nan(cell))


WRITTEN = "text,prediction,probability,probability:a,probability:b"


@pytest.mark.parametrize("table", [True, False])
def test_labels_beside_predictions_count_where_there_are_some(tmp_path, table):
    cells = [(f"text {n}", "ab"[n % 2], 0.9, *((0.9, 0.1), (0.1, 0.9))[n % 2]) for n in range(8)]
    rows = [
        dict(zip(WRITTEN.split(","), row, strict=True)) | {"mark": "b" * (n < 3)}
        for n, row in enumerate(cells)
    ]
    rows[7]["mark"] = "c"
    if table:
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    else:
        for row in rows:
            row["probabilities"] = {name: row.pop(f"probability:{name}") for name in "ab"}
        lines = [*map(json.dumps, rows)]
    path = tmp_path / ("a.csv" if table else "a.jsonl")
    path.write_text("\n".join(lines) + "\n")
    data = read_examples(str(path), SoftLabelOptions())
    assert [example.label for example in data.items] == [*"bbb", "b", "a", "b", "a", "c"]
    assert np.allclose(soft(data, ("a", "b", "c"))[[0, 3]], [[0, 1, 0], [0.1, 0.9, 0]])
    assert any("labels from the column 'mark', where it has some" in note for note in data.notes)
    assert not any("how far models agree" in note for note in data.notes)
    path.write_text("\n".join(lines).replace(",b\n", ",\n").replace('"mark": "b"', '"mark": ""') + "\n")
    alone = read_examples(str(path), SoftLabelOptions())
    assert any("a model wrote them, so scores on these" in note for note in alone.notes)
    teacher = read_examples(str(path), SoftLabelOptions(), answers=True)
    assert teacher.items[0].label == "a"
