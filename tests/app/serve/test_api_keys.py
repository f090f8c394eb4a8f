"""API keys: which requests have one, and the file that holds them."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from starlette.testclient import TestClient

from headwise.app.serve.api_keys import ApiKeys
from headwise.app.serve.http_app import create_app
from headwise.core.errors import ConfigError

KEYS = ("0123456789abcdef", "schlüssel-mit-umlaut")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "keys.txt"
    path.write_text("# of the web shop\n{}\n\n  {}  \n".format(*KEYS), encoding="utf-8")
    return path


def basic(key: str) -> str:
    return "Basic " + base64.b64encode(f"anyone:{key}".encode()).decode()


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_a_bearer_token_or_a_password(file, key):
    keys = ApiKeys(file)
    as_utf_8 = f"Bearer {key}".encode().decode("latin-1")  # as curl sends it and a server reads it
    for header in (f"Bearer {key}", f"bearer   {key} ", basic(key), as_utf_8):
        assert keys.allow(header)
        assert not keys.allow(header[:-2])
        assert not keys.allow(header + "x")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", KEYS[0], "Basic", "Basic !", "Basic YQ==", f"Digest {KEYS[0]}", basic("")],
)
def test_what_is_no_key(file, header):
    assert not ApiKeys(file).allow(header)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no key; expected one per line"),
        (b"# none\n\n", "no key; expected one per line"),
        (b"0123456789abcdef\nshort\n", "keys.txt:2: a key of 5 characters; expected 16 or more"),
        (b"a key with some blanks in it\n", "keys.txt:1: .* without blanks"),
        (b"\xff\xfe\n", "cannot be read: not UTF-8"),
    ],
)
def test_files_without_sound_keys(tmp_path, content, said):
    """The message does not show the key."""
    path = tmp_path / "keys.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=said) as raised:
        ApiKeys(path)
    assert "short" not in str(raised.value)
    with pytest.raises(ConfigError, match="No such file"):
        ApiKeys(tmp_path / "none")


@pytest.mark.parametrize("content", ["# of the shop\n{}\n", "{}\n"])
def test_a_file_with_a_byte_order_mark(tmp_path, content):
    path = tmp_path / "keys.txt"
    path.write_text(content.format(KEYS[0]), encoding="utf-8-sig")
    assert ApiKeys(path).allow(f"Bearer {KEYS[0]}")


def test_a_file_that_becomes_unsound_changes_nothing(file):
    keys = ApiKeys(file)
    file.write_text("another-key-of-the-server\n")
    keys.reload()
    assert keys.allow("Bearer another-key-of-the-server")
    assert not keys.allow(f"Bearer {KEYS[0]}")
    file.write_text("")
    with pytest.raises(ConfigError):
        keys.reload()
    assert keys.allow("Bearer another-key-of-the-server")


def test_requests_need_a_key_but_health_checks_do_not(answering, file):
    lines = []
    app = create_app(
        answering, keys=ApiKeys(file), cors=["https://example.org"], root_path="/m", log=lines.append
    )
    client, with_key = TestClient(app), {"authorization": f"Bearer {KEYS[0]}"}
    requests = [("post", "/predict", {"json": {"texts": ["great"]}}), ("post", "/explain", {"json": {}})]
    requests += [
        ("get", path, {}) for path in ("/", "/docs", "/metrics", "/model", "/openapi.json", "/none")
    ]
    for method, path, body in requests:
        answer = getattr(client, method)(path, **body)
        assert answer.status_code == 401
        assert answer.json()["code"] == "HW910"
        assert answer.headers["www-authenticate"].startswith("Basic ")
        assert getattr(client, method)(path, **body, headers=with_key).status_code != 401
    for path in ("/health", "/m/health"):
        assert client.get(path).json() == {"status": "ok"}
    assert client.get("/m/health/x").status_code == 401
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    answer = client.options("/predict", headers={"origin": "https://example.org", **preflight})
    assert answer.status_code == 200  # browsers send it without a key
    assert "authorization: Bearer KEY" in client.get("/docs", headers=with_key).text
    assert not any(key in line for key in KEYS for line in lines)
    assert sum("status=401" in line and "code=HW910" in line for line in lines) == len(requests) + 1


def test_the_command(folder, file, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "headwise", "serve", folder, "--port", str(port), "--api-keys", file]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert f":{port}" in server.stderr.readline()

            def status(key: str) -> int:
                headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
                body = json.dumps({"texts": ["great"]}).encode()
                try:
                    with urllib.request.urlopen(
                        urllib.request.Request(f"http://127.0.0.1:{port}/predict", body, headers)
                    ) as answer:
                        return answer.status
                except urllib.error.HTTPError as error:
                    return error.code

            assert (status(KEYS[0]), status("wrong-key-of-nobody")) == (200, 401)
            if hasattr(signal, "SIGHUP"):
                file.write_text("wrong-key-of-nobody\n")
                os.kill(server.pid, signal.SIGHUP)
                end = time.monotonic() + 30
                while status("wrong-key-of-nobody") != 200 and time.monotonic() < end:
                    time.sleep(0.05)
                assert (status("wrong-key-of-nobody"), status(KEYS[0])) == (200, 401)
        finally:
            server.terminate()
            server.communicate(timeout=30)
