"""Several models in one server."""

import shutil

import pytest
from starlette.testclient import TestClient

from headwise import TextClassifier
from headwise.app.reporter import Reporter
from headwise.app.serve.answering import ModelService
from headwise.app.serve.http_app import create_app
from headwise.app.serve.http_server import _reload
from headwise.core.errors import ConfigError

from .conftest import TEXTS


@pytest.fixture(scope="module")
def topics(folder, tmp_path_factory):
    """The folder of a second model, with other labels."""
    target = tmp_path_factory.mktemp("topics") / "topics & more"
    small = {
        "encoder": {"layers": 1, "width": 8, "heads": 2, "head_size": 4},
        "words": {"vector_size": 8},
        "base": {"name": "none"},
    }
    TextClassifier(epochs=1, recipe=small).fit(TEXTS, ["film", "stage"] * 20).save(target)
    return target


@pytest.fixture(scope="module")
def client(answering, topics):
    return TestClient(create_app([answering, ModelService(topics)], most_items=5))


def test_each_model_answers_at_its_name(client, answering, topics):
    listed = client.get("/models").json()["models"]
    assert [model["model"] for model in listed] == ["my <model>", "topics & more"]
    assert listed[1]["labels"] == ["film", "stage"]
    assert client.get("/model").json() == listed[0] == client.get("/models/my <model>").json()
    body = {"texts": ["great film"]}
    for model in listed:
        path = f"/models/{model['model']}"
        [prediction] = client.post(f"{path}/predict", json=body).json()["predictions"]
        assert list(prediction["probabilities"]) == model["labels"]
        [explanation] = client.post(f"{path}/explain", json=body).json()["explanations"]
        assert explanation["prediction"] == prediction["prediction"]
    first = client.post("/models/my <model>/predict", json=body).json()
    assert client.post("/predict", json=body).json() == first
    assert (
        client.post("/explain", json=body).json()
        == client.post("/models/my <model>/explain", json=body).json()
    )


def test_a_model_that_is_not_there(client):
    for answer in (
        client.get("/models/other"),
        client.get("/models/other/"),
        client.post("/models/other/predict", json={"texts": []}),
        client.post("/models/other/explain", json={"texts": []}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "HW903")
        assert "the model 'other'; expected 'my <model>' or 'topics & more'" in answer.json()["error"]


def test_limits_and_errors_hold_for_each(client):
    path = "/models/topics & more/predict"
    assert client.post(path, json={"texts": ["a"] * 6}).status_code == 413
    assert "expected at most 5" in client.post(path, json={"texts": ["a"] * 6}).json()["error"]
    answer = client.post(path, json={"records": [{"sentence": 5}]})
    assert (answer.status_code, "the request" in answer.json()["error"]) == (422, True)


def test_pages_and_metrics(client):
    page = client.get("/models/topics & more/").text
    assert "<h1>topics &amp; more</h1>" in page
    assert 'href="../my%20%3Cmodel%3E/"' in page
    assert 'href="models/topics%20%26%20more/"' in client.get("/").text
    filled = client.post("/models/topics & more/", data={"text": "great film"}).text
    assert "film" in filled
    assert "stage" in filled
    metrics = client.get("/metrics").text
    assert 'model="topics & more"' in metrics
    assert 'headwise_items_total{path="/models/topics & more/predict"}' in metrics


def test_openapi_has_types(client):
    schema = client.get("/openapi.json").json()
    for path in ("/predict", "/models/{name}/predict"):
        content = schema["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]
        assert content["schema"] == {"$ref": "#/components/schemas/Predictions"}
        assert "422" in schema["paths"][path]["post"]["responses"]
    assert set(schema["components"]["schemas"]["ModelFacts"]["properties"]) >= {"model", "task", "labels"}


def test_names_differ(answering, tmp_path):
    copy = tmp_path / answering.folder.name
    shutil.copytree(answering.folder, copy)
    with pytest.raises(ConfigError, match="2 models are called 'my <model>'"):
        create_app([answering, ModelService(copy)])
    with pytest.raises(ConfigError, match="no model"):
        create_app([])


def test_each_model_is_read_again(topics, answering, tmp_path):
    """A folder that cannot be read leaves its model as it is, and does not stop the others."""
    first, second = tmp_path / "first", tmp_path / "second"
    shutil.copytree(topics, first)
    shutil.copytree(topics, second)
    services = [ModelService(first), ModelService(second)]
    client = TestClient(create_app(services))
    (first / "manifest.json").unlink()
    shutil.rmtree(second)
    shutil.copytree(answering.folder, second)
    _reload(services, Reporter())
    listed = client.get("/models").json()["models"]
    assert listed[0]["labels"] == ["film", "stage"]
    assert listed[1]["labels"] == list(answering.model.labels)
    body = {"texts": ["great film"]}
    for model in listed:
        [prediction] = client.post(f"/models/{model['model']}/predict", json=body).json()["predictions"]
        assert list(prediction["probabilities"]) == model["labels"]
