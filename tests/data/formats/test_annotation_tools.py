"""Exports of annotation tools: what has an answer is read, the rest is left out and counted."""

import json

import pytest

from headwise.data.columns.item_options import TagOptions
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.errors import DataError
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

TEXTS = [f"Ann sailed to Oslo on day {n}" for n in range(6)]
ENTITIES = [[0, 3, "PER"], [14, 18, "LOC"]]
TAGS = ("B-PER", "O", "O", "B-LOC", "O", "O", "O")
NAMED = [
    {"start": 0, "end": 3, "label": "PER", "text": "Ann"},
    {"start": 14, "end": 18, "label": "LOC", "text": "Oslo"},
]


@pytest.fixture
def read(write):
    """The inferred task, and the data set, of rows in a file."""

    def read(rows, name="export.json", **options):
        lines = name.endswith("jsonl")
        text = "\n".join(map(json.dumps, rows)) if lines else json.dumps(rows, indent=1)
        path = write(name, text)
        task = infer_task(path, options)[0]
        kind = ITEM_TYPES_BY_TASK[task]
        return task, kind.read(path, kind.options(**options) if options else None)

    return read


def labels_of(data):
    return [item.label for item in data.items]


def result(kind, **value):
    return {"from_name": kind, "to_name": "text", "type": kind, "value": value}


def task(number, *results, **fields):
    done = [{"id": 1, "was_cancelled": False, "result": regions_of_user} for regions_of_user in results]
    return {"id": number, "data": {"text": TEXTS[number]}, "annotations": done, "predictions": []} | fields


def regions(*spans):
    return [
        result("labels", start=span["start"], end=span["end"], text=span["text"], labels=[span["label"]])
        for span in spans
    ]


def test_label_studio_spans_with_tasks_without_an_answer(read):
    relation = {"from_id": "a", "to_id": "b", "type": "relation", "direction": "right"}
    cancelled = {"id": 2, "was_cancelled": True, "result": regions(NAMED[0])}
    rows = [
        task(0, [*regions(*NAMED), relation]),
        task(1),
        task(2, annotations=[cancelled]),
        task(3, predictions=[{"result": regions(NAMED[0])}]),
        task(4, []),
        task(5, regions(*NAMED), regions(NAMED[0])),
    ]
    kind, data = read(rows)
    assert (kind, [item.tags for item in data.items]) == ("tag", [TAGS, ("O",) * 7, TAGS])
    counts = "not annotated 1, cancelled 1, predicted only 1"
    assert f"Label Studio's tasks without an annotation, left out: {counts}" in data.notes


def test_label_studio_choices_with_tasks_without_an_answer(read):
    rows = [task(n, [result("choices", choices=["ab"[n % 2]])]) for n in range(4)] + [task(4), task(5, [])]
    kind, data = read(rows)
    assert (kind, labels_of(data)) == ("classify", ["a", "b", "a", "b"])
    counts = "not annotated 1, empty annotation 1"
    assert f"Label Studio's tasks without an annotation, left out: {counts}" in data.notes


def test_label_studio_with_nothing_but_predictions(read, write):
    rows = [task(n, predictions=[{"result": regions(NAMED[0])}]) for n in range(4)]
    with pytest.raises(DataError, match=r"HW103.*predicted only 4"):
        read(rows)
    path = write("new.json", json.dumps(rows))
    assert [row.item.text for row in ITEM_TYPES_BY_TASK["classify"].rows(path)] == TEXTS[:4]


def test_label_studio_of_older_versions_and_taxonomies(read):
    chosen = [result("taxonomy", taxonomy=[["food", "ab"[n % 2]]]) for n in range(4)]
    rows = [
        {"id": n, "data": {"text": TEXTS[n]}, "completions": [{"id": 1, "result": [annotation]}]}
        for n, annotation in enumerate(chosen)
    ]
    assert labels_of(read(rows)[1]) == ["food/a", "food/b"] * 2


def test_label_studio_json_min(read):
    rows = [
        {"id": n, "text": text, "annotator": 1, "annotation_id": n, "lead_time": 1.5}
        for n, text in enumerate(TEXTS)
    ]
    for row in rows[:2]:
        row["label"] = [{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}]
    kind, data = read(rows)
    assert (kind, data.tags["B-PER"], len(data.items)) == ("tag", 2, 6)
    chosen = [
        {"id": 1, "text": t, "topic": {"choices": ["a", "b"]} if n % 2 else "a"}
        for n, t in enumerate(TEXTS)
    ]
    kind, data = read(chosen)
    assert (kind, [item.labels for item in data.items]) == ("multi-label", [("a",), ("a", "b")] * 3)


@pytest.mark.parametrize("name", ["export.json", "export.jsonl"])
@pytest.mark.parametrize("field", ["label", "labels"])
def test_doccano_spans(read, name, field):
    rows = [
        {"id": n, "text": text, field: ENTITIES * (n < 2), "Comments": []} for n, text in enumerate(TEXTS)
    ]
    kind, data = read(rows, name)
    assert (kind, [item.tags for item in data.items][:3]) == ("tag", [TAGS, TAGS, ("O",) * 7])
    rows[2][field] = None
    del rows[3][field]
    with pytest.raises(DataError, match=r"HW246.*--empty-labels skip"):
        read(rows, name)
    assert len(read(rows, name, empty_labels="skip")[1].items) == 4


def test_doccano_spans_of_old_versions_and_with_relations(read):
    spans = [
        {"label": n, "start_offset": a, "end_offset": b, "user": 1} for n, (a, b, _) in enumerate(ENTITIES)
    ]
    old = [
        {"id": n, "text": t, "annotations": spans, "meta": {}, "annotation_approver": None}
        for n, t in enumerate(TEXTS)
    ]
    assert read(old)[1].entities == {"0": 6, "1": 6}
    spans = [{"id": 1, "label": kind, "start_offset": a, "end_offset": b} for a, b, kind in ENTITIES]
    new = [
        {"id": n, "text": t, "entities": spans, "relations": [], "Comments": []}
        for n, t in enumerate(TEXTS)
    ]
    assert read(new)[1].items[0].tags == TAGS


@pytest.mark.parametrize(
    "parts",
    [
        lambda label: {"label": [label] if label else [], "Comments": []},
        lambda label: {"labels": [label] if label else [], "annotation_approver": None},
        lambda label: {
            "annotations": [{"label": label, "user": 1}] if label else [],
            "annotation_approver": "x",
        },
        lambda label: {"cats": [label] if label else [], "entities": [[0, 3, "PER"]]},
    ],
)
def test_doccano_labels_of_texts(read, parts):
    rows = [{"id": n, "text": text} | parts(["a", "b", ""][n % 3]) for n, text in enumerate(TEXTS)]
    kind, data = read(rows)
    assert (kind, labels_of(data)) == ("classify", ["a", "b", "a", "b"])
    assert "doccano's texts without a label, left out: no label 2" in data.notes


def test_doccano_several_labels(read):
    rows = [{"text": text, "label": ["a", "b"][: n % 3], "Comments": []} for n, text in enumerate(TEXTS)]
    kind, data = read(rows)
    assert (kind, [item.labels for item in data.items]) == ("multi-label", [("a",), ("a", "b")] * 2)


def test_argilla_1_labels(read):
    rows = [
        {"inputs": {"text": text}, "prediction": [{"label": "x", "score": 0.9}], "annotation": "ab"[n % 2]}
        | {"status": "Validated", "multi_label": False, "id": n, "text": None}
        for n, text in enumerate(TEXTS)
    ]
    rows[4] |= {"annotation": None, "status": "Default"}
    rows[5] |= {"status": "Discarded"}
    kind, data = read(rows, "export.jsonl")
    assert (kind, labels_of(data), data.items[0].text) == ("classify", ["a", "b", "a", "b"], TEXTS[0])
    assert "Argilla's records without an answer, left out: not annotated 1, discarded 1" in data.notes


@pytest.mark.parametrize(
    "form", [lambda a, b, kind: [kind, a, b], lambda a, b, kind: {"label": kind, "start": a, "end": b}]
)
def test_argilla_1_spans(read, form):
    rows = [
        {"text": text, "tokens": text.split(), "prediction": [], "status": "Validated"}
        | {"annotation": [form(*span) for span in ENTITIES], "metrics": {}}
        for text in TEXTS
    ]
    rows[3] |= {"annotation": None, "status": "Default"}
    rows[4] |= {"annotation": None}
    rows[5] |= {"annotation": []}
    kind, data = read(rows)
    assert (kind, [item.tags for item in data.items]) == ("tag", [TAGS] * 3 + [("O",) * 7] * 2)


def responses(value, status="submitted"):
    return [{"value": value, "user_id": "7", "status": status}]


ANSWERS = {
    "classify": (lambda n: "ab"[n % 2], ["a", "b", "a", "b"]),
    "multi-label": (lambda n: ["a", "b"][: 1 + n % 2], [("a",), ("a", "b")] * 2),
}


@pytest.mark.parametrize("expected", ANSWERS)
@pytest.mark.parametrize("form", ["nested", "columns", "users"])
def test_argilla_2_responses(read, form, expected):
    value, labels = ANSWERS[expected]
    rows = []
    for n, text in enumerate(TEXTS):
        status = "draft" if n == 4 else "submitted"
        done = [] if n == 5 else responses(value(n), status)
        if form == "nested":
            row = {
                "fields": {"text": text},
                "responses": {"topic": done} if done else {},
                "suggestions": {},
            }
            rows.append({"id": str(n), "status": "pending" if n > 3 else "completed"} | row)
        elif form == "columns":
            row = {"topic.responses": [response["value"] for response in done] or None}
            row |= {"topic.responses.status": [response["status"] for response in done] or None}
            rows.append({"text": text, "status": "completed"} | row | {"topic.suggestion": "c"})
        else:
            rows.append({"text": text, "topic": done, "topic-suggestion": None, "external_id": None})
    kind, data = read(rows)
    assert kind == expected
    assert [item.labels if kind == "multi-label" else item.label for item in data.items] == labels
    assert [
        note for note in data.notes if note.startswith("Argilla's records without an answer, left out:")
    ]


def test_argilla_2_spans_and_discarded_records(read):
    spans = [{"start": a, "end": b, "label": kind} for a, b, kind in ENTITIES]
    rows = [
        {
            "status": "completed",
            "fields": {"text": text},
            "responses": {"names": responses(spans * (n < 4))},
        }
        for n, text in enumerate(TEXTS)
    ]
    rows[5]["status"] = "discarded"
    kind, data = read(rows)
    assert (kind, [item.tags for item in data.items]) == ("tag", [TAGS] * 4 + [("O",) * 7])


def test_argilla_responses_of_each_user(read):
    rows = [
        {
            "id": str(n),
            "fields": {"body": TEXTS[n]},
            "responses": [
                {"values": {"topic": {"value": "other"}}, "user_id": "a", "status": "discarded"},
                {"values": {"topic": {"value": "ab"[n % 2]}}, "user_id": "b", "status": "submitted"},
            ],
            "suggestions": [],
        }
        for n in range(6)
    ]
    kind, data = read([*rows, rows[0] | {"responses": []}])
    assert (kind, labels_of(data), data.columns.text) == ("classify", ["a", "b"] * 3, "body")
    assert "Argilla's records without an answer, left out: no response 1" in data.notes


@pytest.mark.parametrize("damaged", [["x"], [{"status": "draft"}], [{"values": ["ab"]}]])
def test_argilla_responses_that_are_none_far_below(read, damaged):
    rows = [
        {
            "fields": {"body": f"Tom ran {n} far"},
            "responses": [{"values": {"topic": {"value": "ab"[n % 2]}}}],
        }
        for n in range(1_100)
    ]
    _, data = read([*rows, {"fields": {"body": "one more"}, "responses": damaged}], "export.jsonl")
    assert len(data.items) == 1_100
    assert "Argilla's records without an answer, left out: no response 1" in data.notes


def test_argilla_feedback_saved_as_csv(write):
    rows = [
        f"""{text},"[{{'user_id': 'a', 'value': '{"ab"[n % 2]}', 'status': 'submitted'}}]",x"""
        for n, text in enumerate(TEXTS)
    ]
    path = write("a.csv", "\n".join(["text,topic,topic-suggestion", *rows, "not yet seen,[],x"]))
    assert labels_of(ITEM_TYPES_BY_TASK["classify"].read(path, None)) == ["a", "b"] * 3


def test_doccano_names_the_text_data(read):
    rows = [{"id": n, "data": TEXTS[n], "label": [["a"], ["b"], []][n % 3]} for n in range(6)]
    kind, data = read(rows, "export.jsonl")
    assert (kind, labels_of(data), data.columns.text) == ("classify", ["a", "b"] * 2, "data")
    assert "doccano's texts without a label, left out: no label 2" in data.notes


def test_lighttag_spans(write):
    spans = [{"tag": "PER", "start": 0, "end": 3, "value": "Ann", "tag_id": "x"}]
    rows = [{"example_id": str(n), "content": text, "annotations": spans} for n, text in enumerate(TEXTS)]
    export = {"project_name": "p", "examples": rows, "relations": [], "schema": {"tags": []}}
    path = write("export.json", json.dumps(export))
    assert infer_task(path, {})[0] == "tag"
    assert ITEM_TYPES_BY_TASK["tag"].read(path, None).items[0].tags == ("B-PER", *["O"] * 6)


@pytest.mark.parametrize("name", ["user", "annotator", "worker_id"])
def test_labels_of_several_people_are_no_set(read, name):
    rows = [
        {
            "text": text,
            "annotations": [
                {name: "x", "label": "ab"[n % 2]},
                {name: "y", "label": "ab"[n % 2 if n else 1]},
            ],
        }
        for n, text in enumerate(TEXTS)
    ]
    kind, data = read(rows, "export.jsonl")
    assert (kind, labels_of(data)) == ("classify", ["a", "b"] * 3)
    assert "texts that users label differently, of which the first is read: 1" in data.notes


def test_lighttag_labels_of_texts(read):
    names = [["a"], ["b"], []]
    rows = [
        {
            "content": TEXTS[n],
            "annotations": [],
            "classifications": [{"classname": x} for x in names[n % 3]],
        }
        for n in range(6)
    ]
    kind, data = read(rows, "export.jsonl")
    assert (kind, labels_of(data), data.columns.text) == ("classify", ["a", "b"] * 2, "content")
    assert "LightTag's texts without a label, left out: no label 2" in data.notes


def test_dataturks_spans_have_inclusive_ends(read):
    points = [
        {"label": [kind], "points": [{"start": a, "end": b - 1, "text": TEXTS[0][a:b]}]}
        for a, b, kind in ENTITIES
    ]
    rows = [{"content": text, "annotation": points, "extras": None} for text in TEXTS]
    rows[1]["annotation"] = None
    rows[2] |= {"annotation": None, "metadata": {"status": "done"}}
    rows[3]["annotation"] = []
    kind, data = read(rows, "export.jsonl")
    assert kind == "tag"
    assert [item.tags for item in data.items] == [TAGS, ("O",) * 7, ("O",) * 7, TAGS, TAGS]
    for row in rows:
        for part in row["annotation"] or ():
            part["points"][0].pop("text", None)
    assert read(rows, "export.jsonl")[1].items[0].tags == TAGS


@pytest.mark.parametrize("name", ["label", "labels"])
def test_dataturks_labels(read, name):
    rows = [
        {"content": text, "annotation": {name: ["ab"[n % 2]], "note": ""}} for n, text in enumerate(TEXTS)
    ]
    rows[5]["annotation"] = None
    kind, data = read(rows, "export.jsonl")
    assert (kind, labels_of(data)) == ("classify", ["a", "b", "a", "b", "a"])


def test_rasa_json(read, write):
    entities = [{"start": a, "end": b, "value": TEXTS[0][a:b], "entity": kind} for a, b, kind in ENTITIES]
    examples = [{"text": text, "intent": "xy"[n % 2], "entities": entities} for n, text in enumerate(TEXTS)]
    del examples[1]["entities"]
    path = write("nlu.json", json.dumps({"rasa_nlu_data": {"common_examples": examples}}, indent=2))
    assert infer_task(path, {})[0] == "classify"
    assert labels_of(ITEM_TYPES_BY_TASK["classify"].read(path)) == ["x", "y"] * 3
    tags = [item.tags for item in ITEM_TYPES_BY_TASK["tag"].read(path).items]
    assert tags == [TAGS, ("O",) * 7, *[TAGS] * 4]
    examples[2]["entities"] = [{"start": 4, "end": 10, "value": "Oslo", "entity": "LOC"}]
    path = write("b.json", json.dumps({"rasa_nlu_data": {"common_examples": examples}}))
    with pytest.raises(DataError, match=r"HW246.*'sailed', beside it stands 'Oslo'"):
        ITEM_TYPES_BY_TASK["tag"].read(path)


YAML = """version: "3.1"

nlu:
- intent: greet
  examples: |
    - hello there
    - hi, I am [Ann](PER)
- synonym: New York
  examples: |
    - NYC
- intent: travel
  examples: |
    - to [Oslo](LOC) and [NYC]{"entity": "LOC", "value": "New York"}
    - a note [not a name] (aside)
- regex: zip
  examples: |
    - [0-9]{5}
rules:
- rule: greet
  steps:
  - intent: greet
"""
MARKDOWN = """## intent:greet
- hello there
- hi, I am [Ann](PER)

## synonym:New York
- NYC

## intent:travel
- to [Oslo](LOC) and [NYC](LOC:New York)
- a note [not a name] (aside)
"""


@pytest.mark.parametrize(("name", "text"), [("nlu.yml", YAML), ("nlu.md", MARKDOWN)])
def test_rasa_texts(write, name, text):
    path = write(name, text)
    assert infer_task(path, {})[0] == "classify"
    data = ITEM_TYPES_BY_TASK["classify"].read(path)
    texts = ["hello there", "hi, I am Ann", "to Oslo and NYC", "a note [not a name] (aside)"]
    assert [(item.text, item.label) for item in data.items] == [
        *zip(texts, ["greet", "greet", "travel", "travel"], strict=True)
    ]
    assert "hello" in text.split("\n")[data.items[0].line - 1]
    tagged = ITEM_TYPES_BY_TASK["tag"].read(path, TagOptions(format="spans"))
    assert tagged.entities == {"LOC": 2, "PER": 1}


STORIES = """
stories:
- story: hello
  steps:
  - intent: greet
  - action: utter_greet
nlu:
  - intent: ask
    examples:
      - text: |
          who is [Bo](PER)?
        metadata:
          sentiment: neutral
      - text: why?
"""


def test_rasa_texts_with_metadata_and_stories(write):
    path = write("nlu.yml", YAML + STORIES)
    data = ITEM_TYPES_BY_TASK["classify"].read(path)
    assert [(item.text, item.label) for item in data.items][4:] == [("who is Bo?", "ask"), ("why?", "ask")]
    assert ITEM_TYPES_BY_TASK["tag"].read(path).entities == {"LOC": 2, "PER": 2}


def test_rasa_blocks_of_several_lines(write):
    block = """
      - text: |
          who is

          [Bo](PER)?
        metadata: {}
      - text: >-
          last
          line"""
    path = write("nlu.yml", YAML + STORIES.replace("\n      - text: why?", block))
    data = ITEM_TYPES_BY_TASK["classify"].read(path)
    assert [item.text for item in data.items][4:] == ["who is Bo?", "who is\n\nBo?", "last\nline"]
    assert ITEM_TYPES_BY_TASK["tag"].read(path).entities["PER"] == 3


def test_dataturks_texts_that_are_done_without_a_label(read):
    rows = [
        {"content": text, "annotation": {"labels": ["a", "b"][: 1 + n % 2]}} for n, text in enumerate(TEXTS)
    ]
    rows[5] |= {"annotation": {"labels": []}, "metadata": {"status": "done"}}
    kind, data = read(rows, "export.jsonl")
    assert (kind, len(data.items), data.items[5].labels) == ("multi-label", 6, ())


def test_spacy_2_documents(read):
    tokens = [
        {"id": 0, "orth": "Ann", "tag": "NNP", "ner": "U-PER"},
        {"id": 1, "orth": "ran", "tag": "VBD", "ner": "O"},
    ]
    document = {"id": 0, "paragraphs": [{"raw": "Ann ran. Ann ran", "sentences": [{"tokens": tokens}] * 2}]}
    kind, data = read([document] * 2)
    assert (kind, [item.tokens for item in data.items]) == ("tag", [("Ann", "ran")] * 4)
    assert (data.items[0].tags, data.entities) == (("U-PER", "O"), {"PER": 4})


def test_spacy_2_categories(read):
    rows = [
        {
            "id": n,
            "paragraphs": [
                {
                    "raw": text,
                    "sentences": [],
                    "cats": [{"label": x, "value": x == "ab"[n % 2]} for x in "ab"],
                }
            ],
        }
        for n, text in enumerate(TEXTS)
    ]
    kind, data = read(rows)
    assert (kind, labels_of(data)) == ("classify", ["a", "b"] * 3)


def test_spacy_texts_without_entities(read):
    rows = [[TEXTS[0], {"entities": ENTITIES}], [TEXTS[1], {}], [TEXTS[2], {"entities": []}]]
    kind, data = read(rows)
    assert (kind, [item.tags for item in data.items]) == ("tag", [TAGS, ("O",) * 7, ("O",) * 7])


def test_texts_without_an_answer_are_predicted(write):
    rows = [task(n, *[[result("choices", choices=["ab"[n % 2]])]] * (n < 3)) for n in range(6)]
    path = write("export.json", json.dumps(rows))
    assert [row.item.text for row in ITEM_TYPES_BY_TASK["classify"].rows(path, SoftLabelOptions())] == TEXTS


def test_choices_of_a_region_are_no_labels_of_the_text(read):
    choice = result("choices", start=0, end=3, text="Ann", choices=["sure"])
    tasks = [task(n, [*regions(*NAMED), choice]) for n in range(4)]
    name, data = read(tasks)
    assert name == "tag"
    assert data.items[0].tags == TAGS


def test_an_answer_that_is_not_read_is_named(read):
    tasks = [task(n, [result("textarea", text=["a summary"])]) for n in range(4)]
    with pytest.raises(DataError, match="annotated with textarea, which is not read 4"):
        read(tasks)


@pytest.mark.parametrize("name_of", [int, lambda user: {"id": user}])
def test_of_several_users_of_doccano_the_first_counts(read, name_of):
    users = [(1, 2), (1, 1), (2, 2), (2, 2)]
    rows = [
        {
            "text": TEXTS[n],
            "annotations": [{"label": label, "user": name_of(user)} for user, label in enumerate(labels)],
        }
        for n, labels in enumerate(users)
    ]
    name, data = read(rows)
    assert name == "classify"
    assert labels_of(data) == ["1", "1", "2", "2"]
    assert "texts that users label differently, of which the first is read: 1" in data.notes


def test_prodigy_and_argilla_saved_as_csv(write):
    lines = [f"{TEXTS[n]},SEA,{('accept', 'reject')[n % 2]},{n - 9},{n}" for n in range(6)]
    path = write("prodigy.csv", "\n".join(["text,label,answer,_input_hash,_task_hash", *lines]))
    assert labels_of(ITEM_TYPES_BY_TASK["classify"].read(path)) == ["SEA", "not SEA"] * 3
    cells = [f"{TEXTS[n]},\"['{'ab'[n % 2]}']\",['submitted']" for n in range(6)]
    path = write("argilla.csv", "\n".join(["text,topic.responses,topic.responses.status", *cells]))
    assert infer_task(path, {})[0] == "classify"
    assert labels_of(ITEM_TYPES_BY_TASK["classify"].read(path)) == ["a", "b"] * 3


def test_comments_in_yaml_are_no_part_of_an_intent(write):
    lines = ["nlu:", "- intent: go  # to sea", "  examples: |", "    - sail # now", '- intent: "bye"']
    path = write("nlu.yml", "\n".join([*lines, "  examples: |", "    - so long"]))
    data = ITEM_TYPES_BY_TASK["classify"].read(path)
    assert [(item.text, item.label) for item in data.items] == [("sail # now", "go"), ("so long", "bye")]


def test_yaml_without_examples_says_what_is_read(write):
    path = write("domain.yml", "version: '3.1'\nintents:\n- go\n- bye\n")
    with pytest.raises(DataError, match="no examples of intents"):
        ITEM_TYPES_BY_TASK["classify"].read(path)


def test_elements_that_are_null_are_counted(write):
    annotations = [[TEXTS[n], {"entities": ENTITIES}] if n % 2 else None for n in range(6)]
    path = write("ner.json", json.dumps({"classes": ["PER", "LOC"], "annotations": annotations}))
    data = ITEM_TYPES_BY_TASK["tag"].read(path)
    assert "elements that are null, left out: 3" in data.notes


def test_classifications_that_are_no_list_are_none(write):
    values = (True, None, [{"classname": "a"}], [{"classname": "b"}])
    rows = [{"content": f"text no {n}", "classifications": value} for n, value in enumerate(values)]
    data = ITEM_TYPES_BY_TASK["classify"].read(write("a.jsonl", "\n".join(map(json.dumps, rows))))
    assert [(item.text, item.label) for item in data.items] == [("text no 2", "a"), ("text no 3", "b")]
