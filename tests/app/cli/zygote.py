"""A process that has imported what the commands need, and forks for each command that it is asked for.

Importing PyTorch takes seconds, which tests that kill commands again and again do not have. The children
are processes of their own in every respect that matters to such a test: memory, signals, files, exit code.

It reads requests from the Unix socket on standard input: a JSON line with the arguments, the folder, the
environment and perhaps the largest size of a file, and the ends of three pipes: for standard output,
standard error, and the news of the child, a line with its number and one with its exit code (minus the
signal that ended it).
"""

import contextlib
import json
import os
import signal
import socket
import sys
import traceback
from importlib import import_module

LOADED_BY_COMMANDS = (
    *("app.workflows.train", "app.workflows.predict", "app.session", "training.fit"),
    *("training.pretraining.pretrain", "training.ensembles", "training.text_objectives"),
    *("linear.baselines", "linear.sklearn_models", "nn.priors.registry"),
)
"""Modules that commands load when they run, and torch with them: what takes seconds."""


def serve(requests: socket.socket) -> None:
    """Fork for each request until the other end closes."""
    for name in ("evaluate", "predict", "pretrain", "serve", "train"):
        import_module(f"headwise.app.cli.{name}_command")
    for name in LOADED_BY_COMMANDS:
        import_module(f"headwise.{name}")
    import_module("headwise.app.cli.short_help").unnamed_flags([])  # describes all flags
    with contextlib.suppress(ImportError):
        import_module("headwise.app.serve.http_app")
        import_module("uvicorn")

    requests.sendall(b"ready\n")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the watchers
    while True:
        message, pipes, _, _ = socket.recv_fds(requests, 1 << 16, 3)
        if not message:
            return
        if os.fork() == 0:
            os._exit(watch(json.loads(message), *pipes))
        for pipe in pipes:
            os.close(pipe)


def watch(request: dict, out: int, err: int, news: int) -> int:
    """Fork once more, and tell what becomes of the child."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(news)
        os._exit(command(request, out, err))
    os.close(out)
    os.close(err)
    os.write(news, f"{child}\n".encode())
    _, status = os.waitpid(child, 0)
    os.write(news, f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return 0


def command(request: dict, out: int, err: int) -> int:
    """What `python -m headwise` does, in this process."""
    from headwise.app.cli import main

    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, place in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(number, place)
    os.chdir(request["folder"])
    os.environ.update(request["environment"])
    if request["largest_file"] is not None:
        import resource

        sys.dont_write_bytecode = True  # Python would leave half of a file behind, for every later process
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"],) * 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = main(request["arguments"])
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        return 1
    return code


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
