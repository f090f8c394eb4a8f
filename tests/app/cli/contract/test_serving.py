"""What every task promises of its answers over HTTP: they are those of `headwise predict` and `explain`."""

import csv
import io
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from headwise.app.serve.answering import ModelService
from headwise.app.serve.http_app import create_app
from headwise.core.errors import ConfigError

NOTHING = ("language-model", "masked-words")  # which predict nothing
LEFT_OUT = {"test_records_are_answered_as_files_are": NOTHING, "test_explanations": (*NOTHING, "bags")}
READS = {"tag": "sentences", "pair": "pairs", "pair-score": "pairs", "bags": "bags"}


@pytest.fixture(scope="session")
def served():
    """The client of a model that is served."""
    found = {}

    def served(own) -> TestClient:
        if own.task not in found:
            found[own.task] = TestClient(create_app(ModelService(own.model)))
        return found[own.task]

    return served


def file_of(own, tmp_path) -> tuple[list[dict], Path]:
    """The records of a file, and the file as jsonl (bags are read from tables alone)."""
    text = own.test.read_text()
    if own.task == "tag":
        blocks = [[line.split("\t")[0] for line in b.split("\n")] for b in text.strip().split("\n\n")]
        records = [{"tokens": words} for words in blocks]
    else:
        records = list(csv.DictReader(io.StringIO(text)))
    if own.task == "bags":
        return records, own.test
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(own) + "\n" for own in records))
    return records, path


def test_records_are_answered_as_files_are(call, own, served, tmp_path):
    records, path = file_of(own, tmp_path)
    code, out, err = call("predict", own.model, path, "--format-out", "jsonl")
    assert code == 0, err
    client = served(own)
    answer = client.post("/predict", json={"records": records})
    assert answer.status_code == 200, answer.text
    assert answer.json()["predictions"] == [json.loads(line) for line in out.splitlines()]
    assert client.get("/model").json()["task"] == own.task
    assert client.get("/model").json()["reads"] == READS.get(own.task, "texts")
    assert client.get("/health").json() == {"status": "ok"}
    assert client.post("/predict", json={"records": []}).json() == {"predictions": []}


@pytest.mark.parametrize("kind", ["classify", "multi-label", "regress", "tag", "pair", "pair-score"])
def test_texts_and_pairs_are_records_too(trained_of, served, kind):
    client, texts = served(trained_of(kind)), ["the great film", "a dull plot"]
    if kind in ("pair", "pair-score"):
        asked, other = {"pairs": [texts, texts[::-1]]}, {"texts": texts}
        records = [dict(zip(("sentence1", "sentence2"), own, strict=True)) for own in asked["pairs"]]
    else:
        asked, other = {"texts": texts}, {"pairs": [texts]}
        records = [{"text": own} for own in texts]
    found, same = (
        client.post("/predict", json=own).json()["predictions"] for own in (asked, {"records": records})
    )
    said = [[{n: v for n, v in own.items() if v not in texts} for own in each] for each in (found, same)]
    assert said[0] == said[1]
    assert len(said[0]) == 2
    refused = client.post("/predict", json=other)
    assert (refused.status_code, refused.json()["code"]) == (422, "HW903")


def test_explanations(call, own, served, tmp_path):
    records, path = file_of(own, tmp_path)
    code, out, err = call("explain", own.model, path, "--json")
    assert code == 0, err
    answer = served(own).post("/explain", json={"records": records})
    assert answer.status_code == 200, answer.text
    found, written = answer.json()["explanations"], [json.loads(line) for line in out.splitlines()]
    assert [each.pop("item") + 1 for each in found] == [each.pop("line") for each in written]
    assert found == written


def test_half_of_a_character_in_a_bag_is_told(trained_of, served):
    record = {"bag": "m\ud800", "x1": "0", "x2": "0", "x3": "0"}
    how = {"content": json.dumps({"records": [record]}), "headers": {"content-type": "application/json"}}
    answer = served(trained_of("bags")).post("/predict", **how)
    assert (answer.status_code, answer.json()["code"]) == (422, "HW105")
    assert "the request:2" in answer.json()["error"]


@pytest.mark.parametrize("name", NOTHING)
def test_who_predicts_nothing_is_not_served(trained_of, name):
    with pytest.raises(ConfigError):
        ModelService(trained_of(name).model)
