"""Requests that `headwise serve` answers per second, and how long they take, on the loopback.

    python -m benchmarks.speed.serve_load                        # 1 and 64 clients, one text per request
    python -m benchmarks.speed.serve_load --clients 1 --seconds 5
    python -m benchmarks.speed.serve_load --model my-model       # a model of your own

Clients keep their connections open and ask again as soon as they are answered. They run in a process of
their own, on the same cores. Without --model a help-desk model is trained first. Each round starts a
server; rounds with 1 and with all clients take turns.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from headwise import read_examples, train_files

RESULTS = Path(__file__).parent / "results" / "serve_load.json"

HEAD = b"\r\n".join(
    (
        b"POST /predict HTTP/1.1",
        b"host: localhost",
        b"content-type: application/json",
        b"content-length: %d",
        b"",
        b"",
    )
)


@dataclass(frozen=True)
class Load:
    """What clients saw.

    Attributes:
        clients: Number of clients at once.
        rate: Answers per second.
        median: Median time of an answer, milliseconds.
        p99: 99 % take at most this, milliseconds.
        lost: Requests that were not answered with status 200.
    """

    clients: int
    rate: float
    median: float
    p99: float
    lost: int


async def client(port: int, bodies: list[bytes], first: int, end: float, times: list[float]) -> int:
    """Ask until `end` on one connection; returns the number of requests that failed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lost, number = 0, first
    while time.perf_counter() < end:
        body = bodies[number % len(bodies)]
        number += 1
        began = time.perf_counter()
        writer.write(HEAD % len(body) + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        fields = answer.lower().split(b"content-length: ")[1]
        await reader.readexactly(int(fields.split(b"\r\n")[0]))
        lost += not answer.startswith(b"HTTP/1.1 200")
        times.append(time.perf_counter() - began)
    writer.close()
    return lost


async def ask(port: int, bodies: list[bytes], clients: int, seconds: float) -> Load:
    """Load on a server that runs."""
    times: list[float] = []
    began = time.perf_counter()
    jobs = (client(port, bodies, 17 * n, began + seconds, times) for n in range(clients))
    lost = sum(await asyncio.gather(*jobs))
    taken = time.perf_counter() - began
    times.sort()
    p99 = times[min(len(times) - 1, int(0.99 * len(times)))]
    return Load(clients, len(times) / taken, 1000 * statistics.median(times), 1000 * p99, lost)


def measure(model: Path, bodies: list[bytes], clients: int, seconds: float) -> Load:
    """Start a server, warm it up, and load it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "headwise",
        "serve",
        str(model),
        "--port",
        str(port),
        "--most-waiting",
        "1000",
    ]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        asyncio.run(ask(port, bodies, clients, 1.0))
        return asyncio.run(ask(port, bodies, clients, seconds))
    finally:
        server.terminate()
        server.wait(30)


def helpdesk_model(folder: Path) -> Path:
    """The model of the help desk, as `headwise train` makes it."""
    train_files(str(files("headwise") / "data" / "samples" / "helpdesk.tsv"), str(folder), baseline=False)
    return folder


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="folder of a model; a help-desk model by default")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="write the medians to results/serve_load.json")
    options = parser.parse_args(arguments)
    sample = files("headwise") / "data" / "samples" / "helpdesk.tsv"
    bodies = [json.dumps({"texts": [item.text]}).encode() for item in read_examples(str(sample)).items]
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or helpdesk_model(Path(folder) / "model")
        loads = [
            measure(model, bodies, n, options.seconds)
            for _ in range(options.rounds)
            for n in options.clients
        ]
    medians = []
    for clients in options.clients:
        rounds = sorted((load for load in loads if load.clients == clients), key=lambda load: load.rate)
        middle = rounds[len(rounds) // 2]
        lost = sum(load.lost for load in rounds)
        medians.append(asdict(middle) | {"lost": lost})
        print(
            f"{clients} clients: {middle.rate:,.0f} requests/s, median {middle.median:.1f} ms, "
            f"p99 {middle.p99:.1f} ms, {lost} lost ({len(rounds)} rounds, the middle one)"
        )
    if options.keep:
        RESULTS.write_text(json.dumps({"cores": os.cpu_count(), "loads": medians}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
