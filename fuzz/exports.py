"""Exports of annotation tools, small ones, as JSON that can be altered anywhere."""

import json
from typing import Any

TEXT = "\N{BICYCLE} Ann sailed to Oslo"
SPANS = [
    {"start": 3, "end": 6, "label": "PER", "text": "Ann"},
    {"start": 17, "end": 21, "label": "LOC", "text": "Oslo"},
]


def _result(kind: str, **value: Any) -> dict[str, Any]:
    return {"from_name": kind, "to_name": "text", "type": kind, "value": value}


def _rows(number: int) -> dict[str, Any]:
    """A record of each tool; every third has no answer."""
    done, letter = number % 3, "ab"[number % 2]
    regions = [_result("labels", **{**span, "labels": [span["label"]]}) for span in SPANS]
    points = [{"label": [span["label"]], "points": [{**span, "end": span["end"] - 1}]} for span in SPANS]
    responses = {"topic": [{"value": letter, "user_id": "7", "status": "submitted"}]} if done else {}
    tokens = [{"orth": "Ann", "ner": "U-PER", "tag": "NNP"}, {"orth": "ran", "ner": "O", "tag": "VBD"}]
    cats = [{"label": "a", "value": done}, {"label": "b", "value": 1 - done}]
    task = {
        "_task_hash": number,
        "answer": ["ignore", "accept", "reject"][done],
        "text": f"{TEXT} {number}",
    }
    return {
        "label-studio": {
            "id": number,
            "data": {"text": f"{TEXT} {number}"},
            "annotations": [
                {"was_cancelled": False, "result": [*regions, _result("choices", choices=[letter])]}
            ]
            * done,
            "predictions": [{"result": regions}],
        },
        "json-min": {"id": number, "text": TEXT, "label": SPANS[:done], "topic": {"choices": ["a", "b"]}},
        "prodigy-spans": task | ({"spans": SPANS} if done else {}),
        "prodigy-labels": task | {"label": "a"},
        "prodigy-choices": task | {"accept": ["a", "b"][:done], "options": [{"id": "a"}, {"id": "b"}]},
        "doccano": {"text": TEXT, "label": [[3, 6, "PER"]][:done], "Comments": []},
        "doccano-labels": {"text": TEXT, "annotations": [{"label": number, "user": 1}], "meta": {}},
        "argilla": {
            "inputs": {"text": TEXT},
            "annotation": letter if done else None,
            "status": "Validated",
        },
        "argilla-spans": {
            "text": TEXT,
            "tokens": TEXT.split(),
            "annotation": [["PER", 3, 6]],
            "status": "Default",
        },
        "argilla-2": {
            "fields": {"text": TEXT},
            "responses": responses,
            "suggestions": {},
            "status": "completed",
        },
        "argilla-columns": {
            "text": TEXT,
            "topic.responses": [letter],
            "topic.responses.status": ["submitted"],
        },
        "dataturks": {
            "content": TEXT,
            "annotation": points if done else None,
            "metadata": {"status": "done"},
        },
        "dataturks-labels": {"content": TEXT, "annotation": {"labels": [letter]}},
        "spacy-2": {"paragraphs": [{"raw": TEXT, "sentences": [{"tokens": tokens}], "cats": cats}]},
        "spacy": [TEXT, {"entities": [[3, 6, "PER"]] if done else [], "cats": {"a": done, "b": 1 - done}}],
        "words": {"sentence": TEXT, "tag": ["O", "B-PER", "O", "O", "B-LOC"]},
    }


def exports() -> dict[str, bytes]:
    """The export of each tool, as an array of JSON, and Rasa's."""
    rows = [_rows(number) for number in range(9)]
    files = {name: json.dumps([row[name] for row in rows]).encode() for name in rows[0]}
    examples = [{"text": TEXT, "intent": "ab"[n % 2], "entities": SPANS} for n in range(9)]
    files["rasa"] = json.dumps({"rasa_nlu_data": {"common_examples": examples}}).encode()
    return files
