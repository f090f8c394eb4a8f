"""Clients that close the connection before their answer occupy the model no longer."""

import asyncio
import json
import socket
from contextlib import closing
from threading import Event, Thread

import pytest
import uvicorn

from headwise.app.serve import answering as answering_module
from headwise.app.serve.answering import ModelService
from headwise.app.serve.batching import PredictionQueue
from headwise.app.serve.http_app import create_app
from headwise.app.serve.serve_errors import AbandonedError


class Client:
    """A client of an ASGI application that closes the connection when told to."""

    def __init__(self, app, path, body, content_type=b"application/json"):
        self.gone, self.sent = asyncio.Event(), []
        messages = iter([{"type": "http.request", "body": body}])

        async def receive():
            for message in messages:
                return message
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            self.sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": [(b"host", b"localhost"), (b"content-type", content_type)],
            "query_string": b"",
        }
        self.answered = asyncio.create_task(app(scope, receive, send))

    async def hang_up(self):
        self.gone.set()
        await asyncio.wait_for(self.answered, 30)

    @property
    def status(self):
        return self.sent[0]["status"]


async def wait_for(event: Event):
    assert await asyncio.to_thread(event.wait, 30)


def texts(*values):
    return json.dumps({"texts": values}).encode()


class OccupiedModel:
    """The session of a model that stops in the first of its explanations, or batches of predictions."""

    def __init__(self, monkeypatch, service, name):
        self.begun, self.go, self.calls = Event(), Event(), []
        computed = getattr(service, name)

        def slowly(items, *arguments):
            self.calls.append(list(items))
            self.begun.set()
            assert self.go.wait(30)
            return computed(items, *arguments)

        monkeypatch.setattr(service, name, slowly)


def test_a_prediction_that_has_not_begun_is_dropped(answering, monkeypatch):
    model, lines = OccupiedModel(monkeypatch, answering, "predict_requests"), []

    async def ask():
        app = create_app(answering, log=lines.append)
        first = Client(app, "/predict", texts("great"))
        await wait_for(model.begun)
        gone, last = Client(app, "/predict", texts("awful")), Client(app, "/predict", texts("film"))
        while app.state.request_metrics.waiting < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        await gone.hang_up()
        assert gone.status == 499
        model.go.set()
        await asyncio.gather(first.answered, last.answered)
        assert (first.status, last.status) == (200, 200)

    asyncio.run(ask())
    assert model.calls == [[[{"text": "great"}]], [[{"text": "film"}]]]
    assert "POST /predict status=499" in lines[0]


def test_a_request_that_is_dropped_is_not_stored(answering, monkeypatch):
    model = OccupiedModel(monkeypatch, answering, "predict_requests")
    queue = PredictionQueue(answering)

    async def ask():
        first = asyncio.create_task(queue.predict([{"text": "great"}]))
        await wait_for(model.begun)
        gone = asyncio.create_task(queue.predict([{"text": "awful"}]))
        await asyncio.sleep(0.01)
        [waiting] = queue._waiting.values()
        assert len(waiting) == 1
        gone.cancel()
        await asyncio.wait([gone])
        assert not waiting
        model.go.set()
        await first

    asyncio.run(ask())


def test_an_explanation_stops_after_its_portion(answering, monkeypatch):
    monkeypatch.setattr(answering_module, "_EXPLAINED_AT_ONCE", 2)
    model = OccupiedModel(monkeypatch, answering.session, "explain")

    async def ask():
        app = create_app(answering)
        gone = Client(app, "/explain", texts("great", "awful", "film", "plot"))
        await wait_for(model.begun)
        await gone.hang_up()
        assert gone.status == 499
        model.go.set()
        next_one = Client(app, "/explain", texts("lovely"))
        await next_one.answered
        assert next_one.status == 200

    asyncio.run(ask())
    assert [[item.text for item in call] for call in model.calls] == [["great", "awful"], ["lovely"]]


@pytest.mark.parametrize(
    ("path", "body", "content_type"),
    [
        ("/explain", texts("awful"), b"application/json"),
        ("/", b"text=awful", b"application/x-www-form-urlencoded"),
    ],
)
def test_an_explanation_that_has_not_begun_is_dropped(answering, monkeypatch, path, body, content_type):
    model = OccupiedModel(monkeypatch, answering.session, "explain")

    async def ask():
        app = create_app(answering)
        first = Client(app, "/explain", texts("great"))
        await wait_for(model.begun)
        gone = Client(app, path, body, content_type)
        while app.state.request_metrics.waiting < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        await gone.hang_up()
        model.go.set()
        await first.answered
        last = Client(app, "/explain", texts("film"))
        await last.answered

    asyncio.run(ask())
    assert [[item.text for item in call] for call in model.calls] == [["great"], ["film"]]


def test_portions_are_explained_as_the_texts_at_once(answering, monkeypatch):
    records = [{"text": text} for text in ("great film", "", "awful", "poor plot", "lovely actor")]
    at_once = answering.explain(records)
    monkeypatch.setattr(answering_module, "_EXPLAINED_AT_ONCE", 2)
    portions = answering.explain(records)
    assert [one.item for one in portions] == [one.item for one in at_once] == [0, 1, 2, 3, 4]
    for one, other in zip(portions, at_once, strict=True):
        assert one.prediction == other.prediction
        attributions = [word.attribution for word in other.words]
        assert [word.attribution for word in one.words] == pytest.approx(attributions, abs=1e-5)


def test_an_explanation_that_nobody_waits_for_is_an_error(answering):
    with pytest.raises(AbandonedError):
        answering.explain([{"text": "great"}], is_abandoned=lambda: True)


def test_a_closed_socket_stops_the_work(folder, monkeypatch):
    """The same through uvicorn: what the server library says of a connection that was closed."""
    monkeypatch.setattr(answering_module, "_EXPLAINED_AT_ONCE", 1)
    service = ModelService(folder)
    model, logged, lines = OccupiedModel(monkeypatch, service.session, "explain"), Event(), []

    def log(line):
        lines.append(line)
        logged.set()

    config = uvicorn.Config(create_app(service, log=log), log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            with closing(socket.create_connection(listener.getsockname(), timeout=30)) as client:
                body = texts("great", "awful", "film")
                client.sendall(
                    b"POST /explain HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
                    b"content-length: %d\r\n\r\n%s" % (len(body), body)
                )
                assert model.begun.wait(30)
            assert logged.wait(30)
        finally:
            model.go.set()
            server.should_exit = True
            thread.join(30)
    assert "POST /explain status=499" in lines[0]
    assert len(model.calls) == 1
