"""The load on a server: every request is counted, those that fail too."""

import asyncio

from benchmarks.speed.serve_load import ask


async def answer(reader, writer):
    """A server that answers each third request with an error."""
    count = 0
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
            count += 1
            status = b"503 Busy" if count % 3 == 0 else b"200 OK"
            writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\n{}")
    except asyncio.IncompleteReadError:
        writer.close()


def test_answers_and_failures_are_counted():
    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            return await ask(server.sockets[0].getsockname()[1], [b"{}", b"{ }"], 3, 0.3)

    load = asyncio.run(run())
    assert load.clients == 3
    assert load.rate > 0
    assert load.lost > 0
    assert 0 < load.median <= load.p99
