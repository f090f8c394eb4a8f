"""The application: what is asked, what is refused and how, the page."""

import asyncio
import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from itertools import pairwise
from threading import Event, Semaphore

import pytest
from starlette.testclient import TestClient

from headwise import TextTagger
from headwise.app.cli import main
from headwise.app.serve.answering import ModelService
from headwise.app.serve.http_app import create_app, is_local
from headwise.app.serve.serve_errors import RequestError
from headwise.app.serve.word_budget import WordBudget
from headwise.app.workflows.export import export_model
from headwise.data.errors import DataError

from .conftest import LABELS, TEXTS


@pytest.fixture(scope="module")
def exported(folder, tmp_path_factory, one_registry):
    """A client of what was exported of the model."""
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name, reason="the extra `onnx` is not installed")
    target = export_model(folder, tmp_path_factory.mktemp("exported") / "small").folder
    return TestClient(create_app(ModelService(target)))


@pytest.fixture(scope="module")
def small_tagger(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagger") / "names"
    sentences = [[name, "saw", place] for name in PEOPLE for place in PLACES]
    small = {"encoder": {"layers": 1, "width": 8, "heads": 2}, "base": {"name": "none"}}
    TextTagger(epochs=8, recipe=small).fit(sentences, [["B-PER", "O", "B-LOC"]] * 25).save(folder)
    return folder


@pytest.fixture(scope="module")
def client(answering):
    return TestClient(create_app(answering, most_items=5, most_bytes=1_000))


def test_texts_are_answered_in_their_order(client):
    found = client.post("/predict", json={"texts": ["great", "", "ein Größeres 😀\nof two lines"]}).json()
    assert [own["text"] for own in found["predictions"]] == ["great", "", "ein Größeres 😀\nof two lines"]
    for own in found["predictions"]:
        assert own["probability"] == max(own["probabilities"].values())
        assert sum(own["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert client.post("/predict", json={"texts": []}).json() == {"predictions": []}
    assert client.post("/explain", json={"texts": []}).json() == {"explanations": []}


def test_records_keep_their_fields(client):
    record = {"id": 7, "text": "great film", "prediction": "mine", "deep": {"a": [1, None]}}
    [own] = client.post("/predict", json={"records": [record]}).json()["predictions"]
    assert {name: own[name] for name in record} == record
    assert own["prediction_2"] in LABELS


@pytest.mark.parametrize(
    ("asked", "status", "code", "said"),
    [
        ({}, 422, "HW903", "nothing; expected one of texts, pairs, records"),
        ({"texts": ["a"], "records": []}, 422, "HW903", "texts and records; expected one of"),
        ({"text": "a"}, 422, "HW903", "the field 'text'; expected one of texts, pairs, records"),
        ({"texts": "a"}, 422, "HW903", 'the request: texts: "a"; expected a list'),
        ({"texts": ["a", None]}, 422, "HW903", "the request: texts.1: null; expected a text"),
        ({"texts": ["a", ["b" * 99]]}, 422, "HW903", f'texts.1: ["{"b" * 38}…; expected a text'),
        ({"pairs": [["a", "b"], ["c"]]}, 422, "HW903", 'pairs.1.1: ["c"]; expected a list of two texts'),
        ({"pairs": [["a", "b", "c"]]}, 422, "HW903", 'pairs.0: ["a", "b", "c"]; expected a list of two'),
        ({"pairs": ["ab"]}, 422, "HW903", 'pairs.0: "ab"; expected a list of two texts'),
        ({"records": ["a"]}, 422, "HW903", 'records.0: "a"; expected an object'),
        (["a"], 422, "HW903", 'no object; expected an object such as {"texts": ["one text", '),
        ({"pairs": [["a", "b"]]}, 422, "HW903", "pairs, but this model reads texts; give texts"),
        ({"texts": ["a"] * 6}, 413, "HW904", "6 texts; expected at most 5; ask in parts"),
        ({"texts": ["a" * 1_000]}, 413, "HW904", "expected at most 1,000 bytes"),
        ({"records": [{"text": "a"}, {"text": 5}]}, 422, "HW118", "the request:2: the field 'text' is 5"),
        ({"records": [{"text": "a"}, {"other": "b"}]}, 422, "HW117", "the request:2: no field 'text'"),
    ],
)
@pytest.mark.parametrize("path", ["/predict", "/explain"])
def test_what_cannot_be_answered_is_told(client, path, asked, status, code, said):
    answer = client.post(path, json=asked)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert said in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"texts": [', "JSON decode error"),
        (b'{"texts": ["\xff"]}', "expected UTF-8"),
        (b'{"records": [{"text": "a", "n": NaN}]}', "a number that JSON does not have"),
        (b"[" * 900, "JSON"),
        (b"", 'nothing; expected an object such as {"texts": ["one text", '),
        (b"{'texts': ['a']}", 'double quotes; expected an object such as {"texts": ["one text", '),
    ],
)
def test_what_is_no_json(client, body, said):
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] == "HW903"
    assert said in answer.json()["error"]


def test_words_that_would_occupy_the_model_are_refused(answering):
    """Of a request alone: the others that are answered with it are answered."""
    client = TestClient(create_app(answering, most_words=50))
    requests = {200: (["a " * 50],), 413: (["a " * 17] * 3, ["a\n" * 51])}
    for status, texts in ((status, texts) for status, many in requests.items() for texts in many):
        answer = client.post("/predict", json={"texts": texts})
        assert answer.status_code == status
    assert answer.json() == {
        "code": "HW904",
        "error": "the request: 51 words; expected at most 50; ask in parts",
    }
    short, long = ([{"text": "a " * words}] for words in (3, 60))
    answers = answering.predict_requests([short, long, short], WordBudget(50))
    assert answers[0] == answers[2] == answering.predict(short)
    assert isinstance(answers[1], RequestError)
    assert client.post("/explain", json={"texts": ["a " * 5]}).status_code == 200
    answer = client.post("/explain", json={"texts": ["a " * 3, "a " * 3]})
    assert answer.status_code == 413
    assert "6 words to explain, which takes as long as to predict 60; expected at most 50" in answer.text
    page = client.post("/", data={"text": "a " * 51})
    assert "51 words; expected at most 50" in page.text
    for words, explained in ((5, True), (6, False)):
        page = client.post("/", data={"text": "a " * words})
        assert ('class="hw-why"' in page.text) is explained


def test_a_tagger_explains_in_time_with_the_square_of_the_words(small_tagger):
    client = TestClient(create_app(ModelService(small_tagger), most_words=30_000))
    for words, status in ((300, 200), (301, 413)):
        sentence = {"tokens": ["Oslo", *["a"] * (words - 1)]}
        assert client.post("/explain", json={"records": [sentence]}).status_code == status
        assert client.post("/predict", json={"texts": ["Oslo" + " a" * (words - 1)]}).status_code == 200
    assert client.post("/explain", json={"texts": ["a " * 301]}).status_code == 413


def test_a_tagger_reads_texts_and_words_in_one_request(small_tagger):
    answering = ModelService(small_tagger)
    records = [{"tokens": ["Oslo"]}, {"text": "to Oslo"}, {"id": 3, "tokens": ["a", "Oslo"]}, {"text": "b"}]
    assert answering.predict(records) == [answering.predict([record])[0] for record in records]
    with pytest.raises(DataError, match="the request:3: no field"):
        answering.predict([*records[:2], {}, {"tokens": ["a"]}])


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_json_that_is_not_called_so(client, kind):
    headers = {} if kind is None else {"content-type": kind}
    answer = client.post("/predict", content=b'{"texts": ["great"]}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "HW903")
    assert "expected the header content-type: application/json" in answer.json()["error"]
    answer = client.post("/predict", json="great")
    assert "content-type" not in answer.json()["error"]


def test_other_paths_and_methods(client):
    assert client.get("/nowhere").json() == {"code": "HW903", "error": "Not Found"}
    assert client.get("/predict").status_code == 405
    paths = {"/health", "/model", "/predict", "/explain", "/models", "/models/{name}"}
    paths |= {"/models/{name}/predict", "/models/{name}/explain"}
    assert set(client.get("/openapi.json").json()["paths"]) == paths


def test_the_unsure_are_marked(folder):
    client = TestClient(create_app(ModelService(folder, unsure="1")))
    [own] = client.post("/predict", json={"texts": ["great"]}).json()["predictions"]
    assert own["unsure"] is True


def test_fields_of_other_names(folder):
    client = TestClient(create_app(ModelService(folder, reading={"text_column": "body"})))
    assert client.post("/predict", json={"records": [{"text": "a", "body": "great"}]}).status_code == 200
    [own] = client.post("/predict", json={"texts": ["great"]}).json()["predictions"]
    assert own["body"] == "great"
    answer = client.post("/predict", json={"records": [{"text": "a"}]})
    assert answer.json()["code"] == "HW111"


def test_requests_of_many_threads(client, answering):
    texts = [f"{word} {n}" for n in range(8) for word in ("great", "awful", "film")]
    alone = [json.loads(own) for text in texts for own in answering.predict([{"text": text}])]

    def ask(text: str) -> dict:
        return client.post("/predict", json={"texts": [text]}).json()["predictions"][0]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, texts)) == alone


def test_more_at_once_than_are_to_wait(answering, monkeypatch):
    client, begun, go = TestClient(create_app(answering, most_waiting=2)), Semaphore(0), Event()
    answered = answering.predict_requests

    def slowly(requests, budget):
        begun.release()
        assert go.wait(30)
        return answered(requests, budget)

    monkeypatch.setattr(answering, "predict_requests", slowly)
    with ThreadPoolExecutor(2) as pool:
        first = [pool.submit(client.post, "/predict", json={"texts": ["great"]}) for _ in range(2)]
        assert begun.acquire(timeout=30)  # one of them is being answered
        while client.app.state.request_metrics.waiting < 2:
            time.sleep(0.01)
        answer = client.post("/predict", json={"texts": ["great"]})
        well = [client.request(*own).status_code for own in WELL]
        go.set()
    assert (answer.status_code, answer.json()["code"]) == (503, "HW905")
    assert answer.headers["retry-after"] == "1"
    assert "2 requests" in answer.json()["error"]
    assert well == [200, 200, 200]  # who watches over the server is told that it is there
    assert [own.result().status_code for own in first] == [200, 200]
    assert client.post("/predict", json={"texts": ["great"]}).status_code == 200


def test_the_page(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "<h1>my &lt;model&gt;</h1>" in page.text
    assert page.text.count("<textarea") == 1
    assert "<script" not in page.text
    answered = client.post("/", data={"text": "</textarea><script>alert(1)</script> great\r\nfilm"}).text
    assert "<script" not in answered
    assert "&lt;/textarea&gt;&lt;script&gt;" in answered
    assert "&lt;b&gt;good&lt;/b&gt;" in answered
    assert 'class="hw-why"' in answered
    assert "<b>" not in answered
    assert client.post("/", data={"other": "a"}).status_code == 200
    assert client.post("/", data={"text": "a" * 2_000}).status_code == 413


def test_the_page_offers_texts_to_try(answering):
    client = TestClient(create_app(answering, examples=["a <great> film"]))
    assert '<button name="text" value="a &lt;great&gt; film">' in client.get("/").text
    assert "<button name" not in TestClient(create_app(answering)).get("/").text


PEOPLE = ("Anna", "Tom", "Mary", "Ben", "Eve")
PLACES = ("Rome", "Oslo", "Paris", "Lima", "Cairo")


def test_the_labels_of_a_tagger_are_the_types_of_its_spans(small_tagger):
    client = TestClient(create_app(ModelService(small_tagger)))
    assert client.get("/model").json()["labels"] == ["LOC", "PER"]
    [prediction] = client.post("/predict", json={"texts": ["Anna saw Rome"]}).json()["predictions"]
    assert {span["type"] for span in prediction["spans"]} == {"LOC", "PER"}


def test_the_page_of_a_tagger_marks_spans(small_tagger):
    page = TestClient(create_app(ModelService(small_tagger))).post("/", data={"text": "Anna saw Rome"})
    assert 'style="--s:.4">Anna<small> PER</small></mark> saw <mark' in page.text
    assert '<th scope="row">Rome</th><td>LOC</td>' in page.text


def test_the_docs(answering, client):
    """They load nothing, and their example is a request that is answered."""
    page = unescape(client.get("/docs").text)
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!\./"|openapi.json")', page)
    assert "POST /models/{name}/explain" in page
    [body] = re.findall(r"curl http://testserver/predict -H '.*?' -d '(.*?)'", page)
    assert len(client.post("/predict", json=json.loads(body)).json()["predictions"]) == 2
    for path, root in (("/", ""), ("/models/my <model>/", "../../")):
        assert f'<a href="{root}docs">' in client.get(path).text


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.0.0.5", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.4", False),
        ("example.org", False),
    ],
)
def test_only_this_machine_is_asked_for_by_its_names(answering, host, local):
    assert is_local(host) == local
    client = TestClient(create_app(answering, host=host))
    for name in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "localhost"):
        assert client.get("/health", headers={"host": name}).status_code == 200
    for name in ("evil.example:8000", "localhost.evil.example"):
        assert client.get("/health", headers={"host": name}).status_code == (400 if local else 200)


@pytest.fixture(scope="module")
def parsing(tmp_path_factory):
    """A spaCy pipeline whose trees are chains of words, and a model of trees that names it."""
    spacy = pytest.importorskip("spacy", reason="the extra 'spacy' is not installed")

    @spacy.Language.component("chains", assigns=["token.head"])
    def chains(doc):
        for before, token in pairwise(doc):
            token.head = before
        return doc

    place = tmp_path_factory.mktemp("parsing")
    nlp = spacy.blank("en")
    nlp.add_pipe("chains")
    nlp.to_disk(place / "chains")
    rows = [f"{text},{LABELS[n % 2]}" for n, text in enumerate(TEXTS)]
    (place / "texts.csv").write_text("\n".join(["text,label", *rows, ""]))
    encoder = "--encoder ms-san --encoder.width 8 --encoder.heads 6 --encoder.head-size 2 --epochs 1"
    where = ["--syntax.pipeline", str(place / "chains"), "--syntax.no-cache"]
    given = [*encoder.split(), *where, "--words.vector-size", "8", "--output", str(place / "model")]
    assert main(["train", str(place / "texts.csv"), *given]) == 0
    return place


@pytest.mark.parametrize("other", [False, True])
def test_a_model_of_trees_parses_what_it_is_asked(parsing, other):
    """By the pipeline that it was trained with, or by another one."""
    pipeline = parsing / "chains"
    if other:
        pipeline = pipeline.rename(parsing / "moved")
    answering = ModelService(parsing / "model", pipeline=str(pipeline) if other else None)
    client = TestClient(create_app(answering))
    found = client.post("/predict", json={"texts": ["great film", "poor plot"]}).json()
    assert len(found["predictions"]) == 2
    assert answering.model.features.parser.identity.startswith("en_pipeline")
    if other:
        client = TestClient(create_app(ModelService(parsing / "model")))
        answer = client.post("/predict", json={"texts": ["x"]})
        assert answer.json()["code"] == "HW261"


def test_what_was_exported_predicts_and_explains_nothing(client, exported):
    asked = {"texts": ["a great film", ""]}
    both = (one.post("/predict", json=asked).json()["predictions"] for one in (client, exported))
    for wanted, found in zip(*both, strict=True):
        assert found["prediction"] == wanted["prediction"]
        assert found["probabilities"] == pytest.approx(wanted["probabilities"], abs=2e-6)
    told = (one.get("/model").json() | {"model": ""} for one in (client, exported))
    assert next(told) == next(told)
    refused = exported.post("/explain", json=asked)
    assert (refused.status_code, refused.json()["code"]) == (422, "HW958")
    assert "/" not in refused.json()["error"]  # nobody is told where things lie
    page = exported.post("/", data={"text": "a great film"}).text
    assert "&lt;b&gt;good&lt;/b&gt;" in page
    assert "An exported model" in page


def test_who_asks_whether_the_server_is_well_waits_for_nobody(answering, monkeypatch):
    """Else whoever watches over it ends it as soon as it has much to do."""
    client, begun, go = TestClient(create_app(answering)), Semaphore(0), Event()

    def slowly(requests, budget):
        begun.release()
        assert go.wait(60)
        return [[]] * len(requests)

    monkeypatch.setattr(answering, "predict_requests", slowly)
    with client, ThreadPoolExecutor(50) as pool:
        first = [pool.submit(client.post, "/predict", json={"texts": ["great"]}) for _ in range(45)]
        try:
            assert begun.acquire(timeout=30)
            while client.app.state.request_metrics.waiting < 45:
                time.sleep(0.01)
            asked = [pool.submit(client.request, *own) for own in WELL]
            assert [own.result(timeout=20).status_code for own in asked] == [200] * 3
        finally:
            go.set()
    assert {own.result().status_code for own in first} == {200}


WELL = [("GET", "/health"), ("HEAD", "/health"), ("GET", "/model")]


def test_a_method_that_is_not_allowed_is_told_which_are(client):
    assert client.get("/predict").headers["allow"] == "POST"


def test_a_name_of_the_machine_that_is_refused_is_told(answering):
    client = TestClient(create_app(answering, host="127.0.0.1"))
    answer = client.get("/health", headers={"host": "models.example:80"})
    assert (answer.status_code, answer.json()["code"]) == (400, "HW903")
    assert "'models.example:80'; expected localhost or 127.0.0.1" in answer.json()["error"]


@pytest.mark.parametrize(
    "body", [b'{"texts": ["\xff"]}', b"\x1f\x8b\x08", b'{"records": [{"a": %s}]}' % (b"1" * 5_000)]
)
def test_what_cannot_be_read_as_json_is_told_with_what_was_expected(answering, body):
    client = TestClient(create_app(answering))
    answer = client.post("/predict", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert "expected UTF-8, uncompressed" in answer.json()["error"]


def test_a_request_that_does_not_come_whole_gives_its_place_back(answering):
    """Else a few clients that have gone without a word would leave no place to anybody."""
    app = create_app(answering, most_seconds=0.2, most_waiting=1)
    sent = []

    async def ask():
        pieces = iter([{"type": "http.request", "body": b'{"texts": ', "more_body": True}])

        async def receive():
            for piece in pieces:
                return piece
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/predict",
            "headers": headers,
            "query_string": b"",
        }
        await asyncio.wait_for(app(scope, receive, send), 30)

    asyncio.run(ask())
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["code"] == "HW906"
    assert TestClient(app).post("/predict", json={"texts": ["great"]}).status_code == 200


@pytest.mark.parametrize(
    ("raised", "status", "code"),
    [
        (ValueError("secret"), 500, "HW908"),
        (MemoryError(), 507, "HW410"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), 507, "HW410"),
    ],
)
def test_what_fails_is_told_as_everything_else(answering, monkeypatch, raised, status, code):
    def failing(*_):
        raise raised

    monkeypatch.setattr(answering, "predict_requests", failing)
    client = TestClient(create_app(answering), raise_server_exceptions=False)
    answer = client.post("/predict", json={"texts": ["great"]})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert "secret" not in answer.text


def test_the_page_may_lie_under_another_path(client):
    assert 'action="' not in client.get("/").text


def test_a_request_needs_no_disk(client, monkeypatch):
    """Containers are often given none that can be written to."""

    def none(*_, **__):
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.TemporaryDirectory", none)
    if hasattr(os, "memfd_create"):
        assert client.post("/predict", json={"texts": ["great"]}).status_code == 200
    monkeypatch.delattr(os, "memfd_create", raising=False)
    answer = client.post("/predict", json={"texts": ["great"]})
    assert (answer.status_code, answer.json()["code"]) == (507, "HW907")
    assert "TMPDIR" in answer.json()["error"]
    monkeypatch.undo()
    monkeypatch.delattr(os, "memfd_create", raising=False)
    assert client.post("/predict", json={"texts": ["great"]}).status_code == 200


def test_who_can_give_no_flags_is_not_told_to(folder, answering):
    told = {}
    for name, record in {"HW131": {"a": "great", "b": "film"}, "HW105": {"text": "\ud800"}}.items():
        body = json.dumps({"records": [record]})
        kind = {"content-type": "application/json"}
        answer = TestClient(create_app(answering)).post("/predict", content=body, headers=kind)
        assert (answer.status_code, answer.json()["code"]) == (422, name)
        told[name] = answer.json()["error"]
    assert told["HW131"].endswith("expected the field 'text' in each record")
    assert told["HW105"] == "the request:1: half of a surrogate pair, \\ud800"
    client = TestClient(create_app(ModelService(folder, reading={"text_column": "body"})))
    answer = client.post("/predict", json={"records": [{"text": "a"}]})
    assert answer.json()["error"].endswith("'body'; expected the field 'body' in each record")
