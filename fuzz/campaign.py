"""A campaign of attacks: resumable, within a budget of time, with a corpus that grows.

Inputs and failures are stored in a folder: `state.json` (how many inputs of each kind, which
outcomes), `corpus/` (inputs that brought about an outcome that was new: an error from another line) and
`failures/` (inputs that must not do what they did, each with its traceback). Each session adds a line to a
file of results, which is never rewritten.
"""

import hashlib
import json
import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from headwise import __version__
from headwise.core.errors import HeadwiseError

RESULTS = Path(__file__).parent / "results"
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A folder in memory, where the system has one."""
SLOW = 10.0  # seconds of the processor
LARGE = 1 << 20  # KiB of memory
_CHOSEN = 2_000  # inputs of the corpus that are built upon, the newest


class TookTooLong(BaseException):
    """Nothing that is attacked may catch it."""


class Campaign:
    """What was tried and what failed.

    Args:
        folder: Of inputs and failures.
        seed: Of this session; by default one that no session before had.
    """

    def __init__(self, folder: Path, seed: int | None = None):
        self.folder = folder
        for name in ("corpus", "failures"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        try:
            state = json.loads((folder / "state.json").read_text())
        except FileNotFoundError:
            state = {"sessions": 0, "inputs": {}, "outcomes": [], "failures": {}}
        self.sessions = state["sessions"] + 1
        self.seed = self.sessions if seed is None else seed
        self.chance = random.Random(self.seed)
        self.inputs, self.failures = Counter[str](state["inputs"]), Counter[str](state["failures"])
        self.before = self.inputs.copy(), self.failures.copy()
        self.outcomes: set[str] = set(state["outcomes"])
        paths = sorted((folder / "corpus").iterdir(), key=lambda path: (path.stat().st_mtime, path.name))
        self.corpus = [path.read_bytes() for path in paths[-_CHOSEN:]]
        """What was new once."""
        self.began, self.most = time.monotonic(), LARGE
        signal.signal(signal.SIGPROF, _stop)

    def attack(self, kind: str, data: bytes, use: Callable[[], Any]) -> None:
        """Use something that was made of `data`; it has to work or to raise a HeadwiseError, in time."""
        self.inputs[kind] += 1
        failure, trace = "", ""
        try:
            signal.setitimer(signal.ITIMER_PROF, SLOW)
            use()
            outcome = "done"
        except HeadwiseError as error:
            outcome = f"{error.code} {_place(error)}"
        except TookTooLong as error:
            outcome = failure = f"more than {SLOW:g} s at {_place(error)}"
        except Exception as error:
            outcome = failure = f"{type(error).__name__} at {_place(error)}"
            trace = traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # it never becomes less
        if not failure and memory > self.most:
            failure, self.most = f"{memory >> 10:,} MB of memory, since the start", memory + (64 << 10)
        if failure:
            self.failures[f"{kind}: {failure}"] += 1
            self._keep("failures", data, f"{kind}: {failure}\n{trace}")
        if (signature := f"{kind} {outcome}") not in self.outcomes:
            self.outcomes.add(signature)
            self.corpus = [*self.corpus[1 - _CHOSEN :], data]
            self._keep("corpus", data)

    def _keep(self, place: str, data: bytes, trace: str = "") -> None:
        name = hashlib.sha256(data).hexdigest()[:16]
        (self.folder / place / name).write_bytes(data)
        if trace:
            (self.folder / place / f"{name}.txt").write_text(trace)

    def save(self) -> None:
        """Keep what was found."""
        state = {
            "sessions": self.sessions,
            "inputs": dict(self.inputs),
            "outcomes": sorted(self.outcomes),
            "failures": dict(self.failures),
        }
        (self.folder / "state.json").write_text(json.dumps(state, indent=1, ensure_ascii=False))

    def note(self, name: str) -> None:
        """Add the session to the results of this name."""
        inputs, failures = self.before
        add_result(
            name, self.seed, time.monotonic() - self.began, self.inputs - inputs, self.failures - failures
        )

    def report(self) -> str:
        """Inputs, kinds and failures of all sessions."""
        lines = [f"{kind:24} {count:>12,}" for kind, count in sorted(self.inputs.items())]
        lines.append(f"{'together':24} {self.inputs.total():>12,}  with {len(self.outcomes):,} outcomes")
        lines += [f"FAILED {count:,} times: {what}" for what, count in self.failures.items()]
        return "\n".join([*lines, f"{len(self.failures)} kinds of failures, in {self.folder / 'failures'}"])


LEAST_SECONDS = 200
"""Seconds from which on a session stands in the results."""


def add_result(name: str, seed: int, seconds: float, counts: Counter[str], failures: Counter[str]) -> None:
    """Add a session to the file of results of this name, if it took `LEAST_SECONDS`."""
    if seconds < LEAST_SECONDS:
        return
    counted = {"counts": dict(sorted(counts.items())), "failures": dict(failures)}
    line = {"headwise": __version__, "seed": seed, "seconds": round(seconds), **counted}
    with open(RESULTS / f"{name}.jsonl", "a") as file:
        file.write(json.dumps(line) + "\n")


def until(seconds: float) -> Callable[[], bool]:
    """Whether there is time left."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def _stop(number: int, frame: FrameType | None) -> None:
    raise TookTooLong


def _place(error: BaseException) -> str:
    """The line of headwise that raised."""
    at, place = error.__traceback__, "?"
    while at is not None:
        name = at.tb_frame.f_code.co_filename
        if "headwise" in name:
            place = f"{name.rpartition('/')[2]}:{at.tb_lineno}"
        at = at.tb_next
    return place
