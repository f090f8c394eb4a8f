"""Kill training runs and predictions of every task at random, resume them, and compare bits.

    python fuzz/faults.py --seconds 600 --folder build/faults [--cold]

A process kills itself at the so-many-th file that it opens, renames, makes or removes, or after a while, or
the system kills it at the so-many-th byte of any file that it writes: the byte before is on the disk.
What is compared is the weights of the model, and the file of predictions, with those of a run that nothing
stopped. All processes are forks of this one, which has imported what they need. With --cold they are not:
each is new.
Each session of 200 seconds or more adds a line to fuzz/results/faults.jsonl.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headwise.app.cli.predict_command
import headwise.app.cli.train_command  # noqa: F401 - here, so that children need not import it
from campaign import MEMORY, add_result, until
from headwise.app.cli import main as command
from readers import quietly
from tasks import rows_of_tasks

WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
KILLS = 12  # of a run, at most
CHILD = "child"  # the first argument of a new process that kills itself


class Watch:
    """Counts how many files in a folder this process touches, and kills it at one of them."""

    def __init__(self) -> None:
        self.folder, self.touched, self.last, self.seconds = "", 0, 0, 0.0
        sys.addaudithook(self._hear)

    def begin(self, folder: Path, last: int = 0, seconds: float = 0.0) -> None:
        """Count from here on; at the `last` one, or so many seconds after it, kill."""
        self.folder, self.touched, self.last, self.seconds = str(folder), 0, last, seconds

    def _hear(self, event: str, values: tuple[Any, ...]) -> None:
        if event in WATCHED and self.folder and self.folder in str(values[0]):
            self.touched += 1
            if self.touched == self.last:
                kill_after(self.seconds)


def kill_after(seconds: float) -> None:
    """Kill this process then; at once for 0."""
    if not seconds:
        os.kill(os.getpid(), signal.SIGKILL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends the process
    signal.setitimer(signal.ITIMER_REAL, seconds)


WATCH = Watch()


def kill_at_byte(size: int) -> None:
    """Have this process killed when it writes more than so many bytes into a file; never for 0."""
    if size:
        sys.dont_write_bytecode = True
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def killed(code: int) -> int:
    """An exit code, -9 for every way of being killed that is meant."""
    return -9 if code in (-signal.SIGALRM, -signal.SIGXFSZ) else code


def run(arguments: list[str], folder: Path, touches: int = 0, seconds: float = 0.0, size: int = 0) -> int:
    """Run a command in a process of its own, which is killed after touching so many files in `folder`,
    or after some time, or when a file gets larger than so many bytes; its exit code, -9 where killed."""
    child = os.fork()
    if child == 0:
        os.setsid()
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(log, number)
        WATCH.begin(folder, touches)
        if seconds:
            kill_after(seconds)
        kill_at_byte(size)
        try:
            code = command(arguments)
        except BaseException:
            traceback.print_exc()
            code = 99
        os._exit(code)
    return killed(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def run_anew(
    arguments: list[str], folder: Path, touches: int = 0, seconds: float = 0.0, size: int = 0
) -> int:
    """The same in a new process, whose time begins when it touches its first file."""
    argv = [sys.executable, __file__, CHILD, folder, touches, seconds, size, *arguments]
    with open(folder / "log", "wb") as log:
        done = subprocess.run([*map(str, argv)], stdout=log, stderr=log, check=False)
    return killed(done.returncode)


def child() -> None:
    """What it does."""
    folder, touches, seconds, size, *arguments = sys.argv[2:]
    WATCH.begin(Path(folder), 1 if float(seconds) else int(touches), float(seconds))
    kill_at_byte(int(size))
    raise SystemExit(command(arguments))


@dataclass(frozen=True)
class Target:
    """A command that is killed.

    Attributes:
        name: `train` or `predict`, and the task.
        command: The command.
        folder: Where it works.
        result: The file that it ends with, and that is compared.
        output: The path that it writes to.
        expected: The content of an uninterrupted file.
        seconds: How long the command takes.
        touches: How many files it touches.
        cold: See above.
    """

    name: str
    command: list[str]
    folder: Path
    output: Path
    result: Path
    expected: bytes
    seconds: float
    touches: int
    cold: bool = False

    def attack(self, chance: random.Random) -> tuple[int, str]:
        """Kill it again and again, then let it end; how often it was killed, and what went wrong."""
        arguments, kills, code = [*self.command, "--output", str(self.output)], 0, -9
        while code == -9:
            how = {} if kills == KILLS else self.choose(chance)
            code = (run_anew if self.cold else run)(arguments, self.folder, **how)
            kills += code == -9
            arguments = [*self.command, "--output", str(self.output), "--resume"]
        problem = ""
        if code:
            problem = f"exit code {code} of {' '.join(arguments)}: {last(self.folder)}"
        elif self.result.read_bytes() != self.expected:
            problem = "other bits"
        elif (self.output / "training").exists():
            problem = "the state is left behind"
        shutil.rmtree(self.output) if self.output.is_dir() else self.output.unlink(missing_ok=True)
        return kills, problem

    def choose(self, chance: random.Random) -> dict[str, Any]:
        """When to kill: a prediction, which opens one file, at any byte that is still to be written."""
        way = chance.random()
        if way < 0.1:
            return {"seconds": 1e-3 + 1.2 * self.seconds * chance.random()}
        if self.result == self.output and way < 0.9:
            done = self.output.stat().st_size if self.output.exists() else 0
            return {"size": min(done + chance.randrange(1, len(self.expected) // 2), len(self.expected))}
        if way < 0.25:
            return {"size": chance.randrange(1, len(self.expected))}
        return {"touches": chance.randint(1, self.touches)}


def last(folder: Path) -> str:
    """The last lines of its commands' output."""
    return (folder / "log").read_text(errors="replace")[-600:]


def targets(task: str, row: Any, folder: Path, *, cold: bool) -> list[Target]:
    """The training and the prediction of a task, which are run once without being stopped: in this process,
    so that its forks have all that they import."""
    folder.mkdir()
    for name, count in (("train", 80), ("test", 24), ("new", 2_100)):
        (folder / f"{name}{row.suffix}").write_text(row.make(count, len(name)))
    test, flags = f"{folder}/test{row.suffix}", [*row.flags.split(), "--checkpoint-seconds", "0"]
    train = ["train", f"{folder}/train{row.suffix}", "--task", task, "--test", test, *flags]
    predict = ["predict", f"{folder}/whole", f"{folder}/new{row.suffix}"]
    commands = [("train", train, "", "model.safetensors")]
    commands += [("predict", predict, suffix, "") for suffix in row.outputs]
    all_targets = []
    for name, arguments, suffix, file in commands:
        reference, output = folder / f"whole{suffix}", folder / f"again{suffix}"
        WATCH.begin(folder)
        began = time.monotonic()
        if quietly([*arguments, "--output", str(reference)]):
            raise RuntimeError(f"{name} {task} failed")
        touches = WATCH.touched
        content, seconds = (reference / file).read_bytes(), time.monotonic() - began
        result = output / file if file else output
        called = f"{'cold ' * cold}{name} {task}"
        target = Target(called, arguments, folder, output, result, content, seconds, touches, cold)
        all_targets.append(target)
    return all_targets


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--folder", type=Path, default=Path("build/faults"))
    parser.add_argument("--tasks", nargs="*")
    parser.add_argument("--cold", action="store_true", help="new processes in place of forks")
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    state = options.folder / "state.json"
    history = json.loads(state.read_text()) if state.exists() else {"sessions": 0, "found": {}, "wrong": {}}
    history["sessions"] += 1
    seed = history["sessions"] if options.seed is None else options.seed
    print(f"session {history['sessions']}, seed {seed}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    rows = {
        name: row for name, row in rows_of_tasks().items() if not options.tasks or name in options.tasks
    }
    chance, more, began = random.Random(seed), until(options.seconds), time.monotonic()
    session_counts, wrong, total = Counter[str](), Counter[str](), Counter[str](history["found"])
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, suppress(KeyboardInterrupt):
        made = [
            target
            for task in rows
            for target in targets(task, rows[task], Path(name) / task, cold=options.cold)
        ]
        chance.shuffle(made)
        runs = Counter[Path]()
        while more():  # what was killed least so far
            target = min(
                made, key=lambda candidate: (total[f"{candidate.name}: kills"], runs[candidate.output])
            )
            kills, problem = target.attack(chance)
            runs[target.output] += 1
            for counts in (session_counts, total):
                counts.update({f"{target.name}: kills": kills, f"{target.name}: runs": 1})
            if problem:
                wrong[f"{target.name}: {problem}"] += 1
                print(f"WRONG {target.name}: {problem}", flush=True)
    add_result("faults", seed, time.monotonic() - began, session_counts, wrong)
    wrong += Counter(history["wrong"])
    history |= {"found": dict(total), "wrong": dict(wrong)}
    state.write_text(json.dumps(history, indent=1, ensure_ascii=False))
    print("\n".join(f"{what:32} {count:>8,}" for what, count in sorted(total.items())))
    print("\n".join(f"WRONG {count:,} times {problem}" for problem, count in wrong.items()))
    print(f"{sum(n for what, n in total.items() if 'kills' in what):,} kills, {len(wrong)} failures")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") != "1":  # a fork waits for ever for the threads of its parent
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "OMP_NUM_THREADS": "1"})
    child() if sys.argv[1:2] == [CHILD] else main()
