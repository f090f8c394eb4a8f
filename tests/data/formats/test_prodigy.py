"""Prodigy's export: what an annotator rejected is no example of what it says."""

import json

import pytest

from headwise.data.items.item_types import ITEM_TYPES

TOLD = "Prodigy's tasks that were not accepted, left out: 'reject' 1, 'ignore' 1"


def tasks(*fields):
    """Four tasks of which the second is rejected and the last passed over."""
    answers = ("accept", "reject", "accept", "ignore")
    rows = [
        own | {"_input_hash": n, "_task_hash": n, "answer": answer}
        for n, (own, answer) in enumerate(zip(fields, answers, strict=True))
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


TEXTS = ("a match won", "a vote lost", "a vote won", "a match lost")
ANSWERS = {
    "classify": {"label": "SPORT"},
    "multi-label": {"accept": ["SPORT"], "options": [{"id": "SPORT"}]},
    "tag": {"spans": [{"start": 2, "end": 6, "label": "EVENT"}]},
}


@pytest.mark.parametrize("task", ANSWERS)
def test_what_is_not_accepted_is_left_out_and_told(write, task):
    path = write("a.jsonl", tasks(*({"text": text} | ANSWERS[task] for text in TEXTS)))
    data = ITEM_TYPES[task].read(path)
    assert [ITEM_TYPES[task].text(item) for item in data.items] == [TEXTS[0], TEXTS[2]]
    assert TOLD in data.notes


def test_pairs(write):
    path = write("a.jsonl", tasks(*({"text1": a, "text2": "a vote", "label": "x"} for a in TEXTS)))
    data = ITEM_TYPES["pair"].read(path)
    assert ([item.first for item in data.items], TOLD in data.notes) == ([TEXTS[0], TEXTS[2]], True)


def test_all_are_predicted(write):
    path = write("a.jsonl", tasks(*({"text": text} | ANSWERS["classify"] for text in TEXTS)))
    assert [row.item.text for row in ITEM_TYPES["classify"].rows(path)] == list(TEXTS)


def test_a_column_called_answer_of_others_stays(write):
    rows = [
        {"text": text, "answer": answer} for text, answer in zip(TEXTS, ["reject", "ok"] * 2, strict=True)
    ]
    data = ITEM_TYPES["classify"].read(write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert [item.label for item in data.items] == ["reject", "ok", "reject", "ok"]


@pytest.mark.parametrize("task", ANSWERS)
def test_where_nothing_was_accepted_that_is_told(write, fails, task):
    rows = ({"text": text} | ANSWERS[task] for text in TEXTS)
    text = tasks(*rows).replace('"accept"}', '"reject"}')
    assert fails(ITEM_TYPES[task].read, write("a.jsonl", text))[0] == "HW103"
