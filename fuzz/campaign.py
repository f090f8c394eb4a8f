"""A campaign of attacks: resumable, within a budget of time, with a corpus that grows.

What was tried, and what failed, is kept in a folder: `state.json` (how many inputs of each kind, which
outcomes), `corpus/` (inputs that brought about an outcome that was new: an error from another line) and
`failures/` (inputs that must not do what they did, each with its traceback).
"""

import hashlib
import json
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from headwise.errors import HeadwiseError

SLOW = 10.0  # seconds
LARGE = 1 << 20  # KiB of memory


class TookTooLong(BaseException):
    """Nothing that is attacked may catch it."""


class Campaign:
    """What was tried and what failed.

    Args:
        folder: Where it is kept.
        seed: Of this session; by default one that no session before had.
    """

    def __init__(self, folder: Path, seed: int | None = None):
        self.folder = folder
        for name in ("corpus", "failures"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        try:
            kept = json.loads((folder / "state.json").read_text())
        except FileNotFoundError:
            kept = {"sessions": 0, "inputs": {}, "outcomes": [], "failures": {}}
        self.sessions = kept["sessions"] + 1
        self.seed = self.sessions if seed is None else seed
        self.inputs, self.failures = Counter[str](kept["inputs"]), dict[str, int](kept["failures"])
        self.outcomes: set[str] = set(kept["outcomes"])

    def attack(self, kind: str, data: bytes, use: Callable[[], Any]) -> None:
        """Use something that was made of `data`; it has to work or to raise a HeadwiseError, in time."""
        self.inputs[kind] += 1
        signal.signal(signal.SIGALRM, _stop)
        signal.setitimer(signal.ITIMER_REAL, SLOW)
        failure = ""
        try:
            use()
            outcome = "done"
        except HeadwiseError as error:
            outcome = f"{error.code} {_place(error)}"
        except TookTooLong as error:
            outcome = failure = f"more than {SLOW:g} s at {_place(error)}"
        except Exception as error:
            outcome = failure = f"{type(error).__name__} at {_place(error)}"
            self._keep("failures", data, traceback.format_exc())
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if not failure and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > LARGE:
            failure = "more than 1 GB of memory (of the whole process, since its start)"
        if failure:
            self.failures[f"{kind}: {failure}"] = self.failures.get(f"{kind}: {failure}", 0) + 1
            self._keep("failures", data, failure)
        if (found := f"{kind} {outcome}") not in self.outcomes:
            self.outcomes.add(found)
            self._keep("corpus", data)

    def _keep(self, place: str, data: bytes, told: str = "") -> None:
        name = hashlib.sha256(data).hexdigest()[:16]
        (self.folder / place / name).write_bytes(data)
        if told:
            (self.folder / place / f"{name}.txt").write_text(told)

    def corpus(self) -> list[bytes]:
        """What was new once."""
        return [path.read_bytes() for path in sorted((self.folder / "corpus").iterdir())]

    def save(self) -> None:
        """Keep what was found."""
        state = {
            "sessions": self.sessions,
            "inputs": dict(self.inputs),
            "outcomes": sorted(self.outcomes),
            "failures": self.failures,
        }
        (self.folder / "state.json").write_text(json.dumps(state, indent=1, ensure_ascii=False))

    def report(self) -> str:
        """Inputs, kinds and failures of all sessions."""
        lines = [f"{kind:12} {count:>12,}" for kind, count in sorted(self.inputs.items())]
        lines.append(f"{'together':12} {self.inputs.total():>12,}  with {len(self.outcomes):,} outcomes")
        lines += [f"FAILED {count:,} times: {what}" for what, count in self.failures.items()]
        return "\n".join([*lines, f"{len(self.failures)} kinds of failures, in {self.folder / 'failures'}"])


def until(seconds: float) -> Callable[[], bool]:
    """Whether there is time left."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def _stop(number: int, frame: FrameType | None) -> None:
    raise TookTooLong


def _place(error: BaseException) -> str:
    """The line of headwise that raised."""
    own = [at for at in traceback.extract_tb(error.__traceback__) if "headwise" in at.filename]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
