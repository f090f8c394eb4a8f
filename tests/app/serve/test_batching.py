"""Requests that wait are answered together, each as if alone; a model is read again while it answers."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from threading import Event

import pytest
from starlette.testclient import TestClient

from headwise import TextClassifier
from headwise.app.serve.answering import ModelService
from headwise.app.serve.batching import PredictionQueue
from headwise.app.serve.http_app import create_app
from headwise.core.errors import HeadwiseError

from .conftest import LABELS, TEXTS

REQUESTS = [
    [{"text": "great film"}, {"text": "awful"}],
    [{"text": 5}],
    [],
    [{"id": 7, "text": "lovely actor"}],
    [{"text": "poor plot"}],
    [{"text": "great", "id": 8}, {"text": "film"}],
    [{"other": "great"}],
    [{"text": ""}, {"text": "\ud800"}],
    [{"text": "lovely film"}],
]


def alone(service, records):
    try:
        return service.predict(records)
    except HeadwiseError as error:
        return str(error)


def test_each_request_of_a_batch_gets_what_it_gets_alone(answering):
    together = answering.predict_requests(REQUESTS)
    assert [str(own) if isinstance(own, HeadwiseError) else own for own in together] == [
        alone(answering, records) for records in REQUESTS
    ]
    assert sum(isinstance(own, HeadwiseError) for own in together) == 2


class Slow:
    """A service whose first batch waits for `go`."""

    def __init__(self):
        self.batches, self.go, self.begun = [], Event(), Event()

    def predict_requests(self, requests, budget):
        self.batches.append(len(requests))
        self.begun.set()
        assert self.go.wait(30)
        return [[record["text"] for record in records] for records in requests]


def test_what_waits_is_answered_together_within_the_budget():
    service = Slow()
    queue = PredictionQueue(service, most_characters=10)

    async def ask():
        tasks = [asyncio.create_task(queue.predict([{"text": f"{n:03}"}])) for n in range(8)]
        while not service.begun.is_set():
            await asyncio.sleep(0.01)
        tasks.append(asyncio.create_task(queue.predict([{"text": "x" * 50}])))
        tasks[2].cancel()
        service.go.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(ask())
    assert isinstance(answers.pop(2), asyncio.CancelledError)
    assert answers == [[f"{n:03}"] for n in (0, 1, 3, 4, 5, 6, 7)] + [["x" * 50]]
    assert service.batches == [3, 3, 2, 1] or service.batches == [1, 3, 3, 1, 1]


def test_scripts_of_named_pages_may_ask(answering):
    client = TestClient(create_app(answering, cors=["https://example.org"]))
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
    for origin, allowed in (("https://example.org", True), ("https://evil.example", False)):
        answer = client.options("/predict", headers={"origin": origin, **asked})
        assert ("access-control-allow-origin" in answer.headers) == allowed
    without = TestClient(create_app(answering)).post(
        "/predict", json={"texts": ["a"]}, headers={"origin": "https://example.org"}
    )
    assert "access-control-allow-origin" not in without.headers


@pytest.fixture(scope="module")
def renamed(folder, tmp_path_factory):
    """The same model with other names of labels."""
    target = tmp_path_factory.mktemp("renamed") / "model"
    classifier = TextClassifier.load(folder)
    names = {label: f"new {label}" for label in LABELS}
    recipe = classifier.recipe | {"train": {"epochs": 1}}
    labels = [names[label] for label in LABELS * 20]
    TextClassifier(recipe=recipe).fit(TEXTS, labels).save(target)
    return target


def test_a_model_is_read_again_or_the_former_stays(folder, renamed, tmp_path):
    served = tmp_path / "model"
    shutil.copytree(folder, served)
    service = ModelService(served)
    before = service.predict([{"text": "great"}])
    shutil.rmtree(served)
    with pytest.raises(HeadwiseError):
        service.reload()
    assert service.predict([{"text": "great"}]) == before
    shutil.copytree(renamed, served)
    service.reload()
    assert json.loads(service.predict([{"text": "great"}])[0])["prediction"].startswith("new ")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no SIGHUP")
def test_no_request_is_lost_while_the_model_is_read_again(folder, renamed, tmp_path):
    served = tmp_path / "model"
    shutil.copytree(folder, served)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "headwise", "serve", str(served), "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: urllib.request.urlopen(f"{url}/health", timeout=5).status == 200)
        stop, answers = Event(), []

        def ask():
            while not stop.is_set():
                request = urllib.request.Request(
                    f"{url}/predict", b'{"texts": ["great"]}', {"content-type": "application/json"}
                )
                with urllib.request.urlopen(request, timeout=30) as answer:
                    answers.append(json.load(answer)["predictions"][0]["prediction"])

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(answers) > 20)
        shutil.rmtree(served)
        shutil.copytree(renamed, served)
        server.send_signal(signal.SIGHUP)
        wait_for(lambda: answers[-1].startswith("new "))
        stop.set()
        for thread in threads:
            thread.join(30)
        assert {answer.removeprefix("new ") for answer in answers} <= set(LABELS)
    finally:
        server.terminate()
        assert server.wait(30) in (0, 128 + signal.SIGTERM, -signal.SIGTERM)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        assert time.monotonic() < end
        time.sleep(0.05)
