"""Prodigy's export: what an annotator rejected is no example of what it says."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

TOLD = "Prodigy's tasks that were not accepted, left out: 'reject' 1, 'ignore' 1"


def tasks(*fields):
    """Four tasks of which the second is rejected and the last passed over."""
    answers = ("accept", "reject", "accept", "ignore")
    rows = [
        task_fields | {"_input_hash": n, "_task_hash": n, "answer": answer}
        for n, (task_fields, answer) in enumerate(zip(fields, answers, strict=True))
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


TEXTS = ("a match won", "a vote lost", "a vote won", "a match lost")
ANSWERS = {
    "classify": {"accept": ["SPORT"], "options": [{"id": "SPORT"}]},
    "multi-label": {"accept": ["SPORT"], "options": [{"id": "SPORT"}]},
    "tag": {"spans": [{"start": 2, "end": 6, "label": "EVENT"}]},
}


@pytest.mark.parametrize("task", ANSWERS)
def test_what_is_not_accepted_is_left_out_and_told(write, task):
    path = write("a.jsonl", tasks(*({"text": text} | ANSWERS[task] for text in TEXTS)))
    data = ITEM_TYPES_BY_TASK[task].read(path)
    assert [ITEM_TYPES_BY_TASK[task].text(item) for item in data.items] == [TEXTS[0], TEXTS[2]]
    assert TOLD in data.notes


def test_a_rejected_label_is_an_answer_where_only_one_is_asked_for(write):
    path = write("a.jsonl", tasks(*({"text": text, "label": "SPORT"} for text in TEXTS)))
    for options in (SoftLabelOptions(), SoftLabelOptions(label_column="label")):
        data = ITEM_TYPES_BY_TASK["classify"].read(path, options)
        assert [item.label for item in data.items] == ["SPORT", "not SPORT", "SPORT"]
        assert "Prodigy's tasks that were not accepted, left out: 'ignore' 1" in data.notes
    data = ITEM_TYPES_BY_TASK["classify"].read(path, SoftLabelOptions(label_column="answer"))
    assert [item.label for item in data.items] == ["accept", "reject", "accept"]


def test_single_choices_are_labels(write):
    rows = [
        {"text": text, "accept": ["AB"[n % 2]], "config": {"choice_style": "single"}}
        for n, text in enumerate(TEXTS)
    ]
    path = write("a.jsonl", tasks(*rows).replace("reject", "accept").replace("ignore", "accept"))
    assert infer_task(path, {})[0] == "classify"
    assert [item.label for item in ITEM_TYPES_BY_TASK["classify"].read(path).items] == ["A", "B", "A", "B"]


@pytest.mark.parametrize("chosen", [(["A", "B"], [], ["B"], []), (["A"], [], ["B"], [])])
def test_several_choices_are_label_sets(write, chosen):
    config = {"config": {"choice_style": "multiple"}}
    rows = [{"text": text, "accept": accept} | config for text, accept in zip(TEXTS, chosen, strict=True)]
    path = write("a.jsonl", tasks(*rows).replace("reject", "accept").replace("ignore", "accept"))
    assert infer_task(path, {})[0] == "multi-label"
    assert [item.labels for item in ITEM_TYPES_BY_TASK["multi-label"].read(path).items] == [
        *map(tuple, chosen)
    ]


def test_a_task_without_the_field_of_spans_has_none(write):
    rows = [{"text": "a match won"}] * 3 + [
        {"text": "a vote", "spans": [{"start": 2, "end": 6, "label": "EVENT"}]}
    ]
    path = write("a.jsonl", tasks(*rows).replace("reject", "accept").replace("ignore", "accept"))
    assert infer_task(path, {})[0] == "tag"
    for options in (TagOptions(), TagOptions(format="spans"), TagOptions(empty_labels="skip")):
        data = ITEM_TYPES_BY_TASK["tag"].read(path, options)
        assert [item.tags for item in data.items] == [("O", "O", "O")] * 3 + [("O", "B-EVENT")]
        assert not [note for note in data.notes if "without the field" in note]


def test_pairs(write):
    path = write("a.jsonl", tasks(*({"text1": a, "text2": "a vote", "label": "x"} for a in TEXTS)))
    data = ITEM_TYPES_BY_TASK["pair"].read(path)
    assert [item.label for item in data.items] == ["x", "not x", "x"]


def test_all_are_predicted(write):
    path = write("a.jsonl", tasks(*({"text": text} | ANSWERS["classify"] for text in TEXTS)))
    assert [row.item.text for row in ITEM_TYPES_BY_TASK["classify"].rows(path)] == list(TEXTS)


def test_a_column_called_answer_of_others_stays(write):
    rows = [
        {"text": text, "answer": answer} for text, answer in zip(TEXTS, ["reject", "ok"] * 2, strict=True)
    ]
    data = ITEM_TYPES_BY_TASK["classify"].read(
        write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    )
    assert [item.label for item in data.items] == ["reject", "ok", "reject", "ok"]


@pytest.mark.parametrize("task", ANSWERS)
def test_where_nothing_was_accepted_that_is_told(write, fails, task):
    rows = ({"text": text} | ANSWERS[task] for text in TEXTS)
    text = tasks(*rows).replace('"accept"}', '"reject"}')
    assert fails(ITEM_TYPES_BY_TASK[task].read, write("a.jsonl", text))[0] == "HW103"


def test_an_answer_beside_a_label_is_prodigys_without_its_hashes_too(write):
    rows = [
        {"text": text, "label": "AB"[n % 2], "answer": "reject" if n == 1 else "accept"}
        for n, text in enumerate(TEXTS)
    ]
    data = ITEM_TYPES_BY_TASK["classify"].read(
        write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    )
    assert [(item.text, item.label) for item in data.items] == [
        (TEXTS[0], "A"),
        (TEXTS[2], "A"),
        (TEXTS[3], "B"),
    ]
    assert "Prodigy's tasks that were not accepted, left out: 'reject' 1" in data.notes
