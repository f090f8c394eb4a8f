"""The port that is listened on."""

import socket

import pytest

from headwise.app.serve.http_server import _listening_socket


@pytest.mark.parametrize("host", ["127.0.0.1", "::"])
def test_answers_do_not_wait_for_one_another(host):
    """Else each after the first of a connection took 40 ms more, until the client has confirmed a part."""
    with (
        _listening_socket(host, 0) as own,
        socket.create_connection(("127.0.0.1", own.getsockname()[1]), timeout=30),
        own.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
