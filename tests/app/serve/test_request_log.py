"""The log of requests, and the metrics of the server."""

import re

import pytest
from starlette.testclient import TestClient

from headwise.app.serve.http_app import create_app
from headwise.app.serve.middleware import RequestMetrics

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\S+) (\S+) status=(\d+) ms=\d+\.\d(.*)")


@pytest.fixture
def asked(answering):
    """A client, and the lines that are told of what it asks."""
    lines = []
    app = create_app(answering, most_items=5, host="127.0.0.1", log=lines.append)
    client = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
    return client, lines


def numbers(client) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    rows = (line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in rows}


def test_a_line_for_each_request_and_nothing_of_its_texts(asked, monkeypatch, answering):
    client, lines = asked
    client.post("/predict?text=secret", json={"texts": ["secret", "secret"]})
    client.post("/explain", json={"records": [{"text": "secret"}, {"text": 5}]})
    client.post("/predict", json={"texts": ["secret"] * 6})
    client.post("/", data={"text": "secret"})
    client.get("/health", headers={"host": "evil.example"})
    client.get("/no%0Awhere")

    def failing(*_):
        raise ValueError("secret")

    monkeypatch.setattr(answering, "predict_requests", failing)
    client.post("/predict", json={"texts": ["secret"]})
    assert [found.groups() for line in lines if (found := LINE.fullmatch(line))] == [
        ("POST", "/predict", "200", " items=2"),
        ("POST", "/explain", "422", " items=2 code=HW118"),
        ("POST", "/predict", "413", " items=6 code=HW904"),
        ("POST", "/", "200", " items=1"),
        ("GET", "/health", "400", " code=HW903"),
        ("GET", "/no%0Awhere", "404", " code=HW903"),
        ("POST", "/predict", "500", " items=1 code=HW908"),
    ]
    assert "secret" not in "".join(lines)


def test_numbers_of_all_requests(asked):
    client, _ = asked
    client.post("/predict", json={"texts": ["great", "awful"]})
    client.post("/predict", json={"texts": ["great", 5]})
    client.get("/nowhere")
    client.get("/elsewhere")
    found = numbers(client)
    assert found['headwise_requests_total{path="/predict",status="200"}'] == 1
    assert found['headwise_requests_total{path="/predict",status="422"}'] == 1
    assert found['headwise_requests_total{path="other",status="404"}'] == 2  # whatever is asked for
    assert found['headwise_items_total{path="/predict"}'] == 2
    assert found['headwise_request_seconds_bucket{path="/predict",le="+Inf"}'] == 2
    assert found['headwise_request_seconds_count{path="/predict"}'] == 2
    assert found["headwise_requests_in_progress"] == 1  # the one for the numbers
    assert numbers(client)['headwise_requests_total{path="/metrics",status="200"}'] == 1


def test_the_form_of_the_numbers():
    """Each metric once, with its type; names of folders cannot break out; buckets add up."""
    tally = RequestMetrics([{"model": 'my "model"\n\\'}])
    for seconds in (0.001, 0.005, 0.2, 60):
        tally.add("/predict", 200, seconds, 1)
    lines = tally.text().splitlines()
    assert r'headwise_info{model="my \"model\"\n\\"} 1' in lines
    types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(types) == len(set(types)) == 5
    buckets = [int(line.rsplit(" ", 1)[1]) for line in lines if "_bucket" in line]
    assert buckets == sorted(buckets)
    assert (buckets[0], buckets[-1]) == (2, 4)  # a bound belongs to its bucket
    assert 'headwise_request_seconds_sum{path="/predict"} 60.206000' in lines


def test_under_another_path(answering):
    """Whether or not the server before it takes that path off; clients made from openapi.json find it."""
    lines = []
    client = TestClient(create_app(answering, root_path="/models/intents", log=lines.append))
    for path in ("/predict", "/models/intents/predict"):
        assert client.post(path, json={"texts": ["great"]}).status_code == 200
    assert client.get("/models/intents/").status_code == 200
    assert client.get("/openapi.json").json()["servers"] == [{"url": "/models/intents"}]
    assert numbers(client)['headwise_requests_total{path="/predict",status="200"}'] == 2
    assert " /models/intents/predict " in lines[1]
