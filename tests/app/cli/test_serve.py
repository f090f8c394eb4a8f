"""`headwise serve` as a process: its address, its end, what it refuses."""

import importlib
import json
import re
import signal
import socket
import sys
import time
from urllib.request import Request, urlopen

import pytest


def address_of(process) -> str:
    """What it says on standard error."""
    for line in process.stderr:
        if found := re.search(rb"http://\S+", line):
            return found.group().decode()
    raise AssertionError("it has ended")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_it_answers_until_it_is_interrupted(spawn, model, host, tmp_path):
    process = spawn("serve", model, "--host", host, "--port", "0", "--log", tmp_path / "log")
    address = address_of(process)
    asked = Request(
        f"{address}/predict", b'{"texts": ["w1 w2", "w3"]}', {"content-type": "application/json"}
    )
    with urlopen(asked, timeout=30) as answer:
        assert len(json.load(answer)["predictions"]) == 2
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    [line] = (tmp_path / "log").read_text().splitlines()
    assert line.endswith(" items=2")


def test_connections_that_ask_nothing_keep_nobody_out(fork, model):
    process = fork("serve", model, "--port", "0")
    _, port = address_of(process).rsplit(":", 1)
    idle = [socket.create_connection(("127.0.0.1", int(port)), timeout=30) for _ in range(80)]
    with urlopen(f"http://127.0.0.1:{port}/health", timeout=30) as answer:
        assert json.load(answer) == {"status": "ok"}
    for own in idle:
        own.close()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=40)


@pytest.mark.parametrize(("host", "reached"), [("0.0.0.0", ["127.0.0.1"]), ("::", ["127.0.0.1", "[::1]"])])
def test_who_lets_others_ask_is_warned(fork, model, host, reached):
    process = fork("serve", model, "--host", host, "--port", "0", "--log", "-")
    _, port = address_of(process).rsplit(":", 1)
    assert b"anyone who reaches this address can send requests" in process.stderr.readline()
    for own in reached:
        with urlopen(f"http://{own}:{port}/metrics", timeout=30) as answer:
            assert b"headwise_requests_in_progress 1" in answer.read()
        assert b" GET /metrics status=200 " in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=40)
    assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)


def test_a_port_that_is_taken(run, model):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run("serve", model, "--port", port)
    assert (code, "[HW902]" in err) == (2, True)
    assert f"port {port} of 127.0.0.1" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--port", "-1"), "--port -1; expected 0"),
        (("--port", "65536"), "--port 65536; expected 0"),
        (("--host", "no such host"), "HW902"),
        (("--most-items", "0"), "--most-items 0"),
        (("--most-bytes", "-5"), "--most-bytes -5"),
        (("--most-waiting", "0"), "--most-waiting 0"),
        (("--most-seconds", "0"), "--most-seconds 0; expected more than 0"),
        (("--grace-seconds", "inf"), "--grace-seconds inf"),
        (("--root-path", "models"), "such as /models"),
        (("--log", "no/such/folder/log"), "[HW909]"),
        (("--batch-tokens", "0"), "--batch-tokens 0"),
        (("--unsure", "lots"), "lots"),
        (("--format", "csv"), "format is for files"),
    ],
)
def test_values_that_cannot_be(run, model, arguments, said):
    code, _, err = run("serve", model, *arguments)
    assert code == 2
    assert said in err


def test_without_the_extra(run, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for module in ("http_app", "middleware"):
        monkeypatch.delitem(sys.modules, f"headwise.app.serve.{module}", raising=False)
    code, _, err = run("serve", model)
    assert code == 2
    assert "[HW901]" in err
    assert "pip install fastapi uvicorn" in " ".join(err.split())


@pytest.mark.parametrize("library", ["fastapi", "uvicorn"])
def test_the_application_says_what_to_install(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    for module in ("http_app", "middleware"):
        monkeypatch.delitem(sys.modules, f"headwise.app.serve.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=rf"HW901.*{library}.*pip install fastapi uvicorn"):
        importlib.import_module("headwise.app.serve.http_app")


def test_no_model(run, tmp_path):
    code, _, err = run("serve", tmp_path)
    assert code == 2
    assert "HW5" in err


KIND = b"Host: localhost\r\nContent-Type: application/json\r\n"
HALF = b"POST /predict HTTP/1.1\r\n" + KIND + b"Content-Length: 99\r\n\r\n{"
LARGE = json.dumps({"records": [{"text": "w1", "more": "a" * 9_000}] * 900}).encode()  # as is its answer
WHOLE = HALF[:-1].replace(b"99", b"%d" % len(LARGE)) + LARGE


@pytest.mark.parametrize("sent", [HALF, WHOLE], ids=["half a request", "answers are not fetched"])
def test_clients_that_stall_do_not_keep_it_from_ending(fork, model, sent):
    process = fork("serve", model, "--port", "0", "--grace-seconds", "1")
    _, port = address_of(process).rsplit(":", 1)
    with socket.create_connection(("127.0.0.1", int(port)), timeout=30) as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        stalled.sendall(sent)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=40)
    assert (process.returncode, out, err) == (143, b"", b"")
