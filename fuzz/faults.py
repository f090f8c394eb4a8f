"""Kill trainings and predictions of every task at random, go on with --resume, and compare bits.

    python fuzz/faults.py --seconds 600 --folder build/faults

A process kills itself at the so-many-th file that it opens, renames, makes or removes, or after a while.
What is compared is the weights of the model, and the file of predictions, with those of a run that nothing
stopped.
"""

import argparse
import importlib.util
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import headwise.cli.predict
import headwise.cli.train  # noqa: F401 - here, so that children need not import it
from campaign import until
from headwise.attention import compiled
from headwise.cli import main as command

ROOT = Path(__file__).parents[1]
WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}


def rows_of_tasks() -> Any:
    """The rows of the contract test: small data of every task, and flags for a training of a second."""
    place = ROOT / "tests" / "cli" / "contract" / "conftest.py"
    found = importlib.util.spec_from_file_location("contract", place)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["contract"] = module
    found.loader.exec_module(module)
    return module.ROWS


def run(arguments: list[str], folder: Path, touches: int = 0, seconds: float = 0.0) -> int:
    """Run a command in a process of its own, which kills itself after touching so many files in `folder`,
    or after some time; its exit code, -9 where it was killed."""
    child = os.fork()
    if child == 0:
        os.setsid()
        log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for number in (1, 2):
            os.dup2(log, number)
        left = touches

        def hook(event: str, values: tuple[Any, ...]) -> None:
            nonlocal left
            if event in WATCHED and left and str(folder) in str(values[0]):
                left -= 1
                if not left:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        if seconds:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which ends the process
            signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            code = command(arguments)
        except BaseException:
            traceback.print_exc()
            code = 99
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return -9 if code == -signal.SIGALRM else code


def attack(arguments: list[str], folder: Path, chance: random.Random) -> tuple[int, str]:
    """Kill a command again and again, then let it end; how often it was killed, and what went wrong."""
    kills = 0
    for number in range(6):
        by_touch = chance.random() < 0.7
        how: Any = {"touches": chance.randint(1, 60)} if by_touch else {"seconds": 2 * chance.random()}
        again = ["--resume"] if number else []
        code = run([*arguments, *again], folder, **({} if number == 5 else how))
        kills += code == -9
        if code == 0:
            return kills, ""
        if code != -9:
            return kills, f"exit code {code} of {' '.join([*arguments, *again])}: {_last(folder)}"
    return kills, "it did not end"


def _last(folder: Path) -> str:
    return (folder / "log").read_text(errors="replace")[-600:]


def campaign(
    tasks: dict[str, Any], folder: Path, chance: random.Random, more: Any, found: Counter[str]
) -> list[str]:
    """Rounds over the tasks until time is over."""
    wrong: list[str] = []
    whole: dict[str, tuple[Path, bytes, bytes]] = {}
    while more():
        for task, row in tasks.items():
            if not more():
                break
            place = folder / task
            if task not in whole:
                place.mkdir()
                for name, count in (("train", 80), ("test", 24)):
                    (place / f"{name}{row.suffix}").write_text(row.make(count, len(name)))
            test = f"{place}/test{row.suffix}"
            train = ["train", f"{place}/train{row.suffix}", "--task", task, "--test", test]
            train += [*row.flags.split(), "--checkpoint-seconds", "0"]
            predict = ["predict", f"{place}/whole", test]
            output = row.outputs[0] if row.outputs else ""
            if task not in whole:
                code = run([*train, "--output", f"{place}/whole"], place)
                code = code or (output and run([*predict, "--output", f"{place}/whole{output}"], place))
                if code:
                    wrong.append(f"{task}: {_last(place)}")
                    continue
                weights = (place / "whole" / "model.safetensors").read_bytes()
                whole[task] = (place, weights, (place / f"whole{output}").read_bytes() if output else b"")
            (place / "log").unlink(missing_ok=True)
            kills, problem = attack([*train, "--output", f"{place}/model"], place, chance)
            found[f"train {task}: kills"] += kills
            found[f"train {task}: runs"] += 1
            if not problem and (place / "model" / "model.safetensors").read_bytes() != whole[task][1]:
                problem = "other weights"
            if not problem and (place / "model" / "training").exists():
                problem = "the state is left behind"
            if problem:
                wrong.append(f"train {task}: {problem}")
            shutil.rmtree(place / "model", ignore_errors=True)
            if output:
                kills, problem = attack([*predict, "--output", f"{place}/again{output}"], place, chance)
                found[f"predict {task}: kills"] += kills
                found[f"predict {task}: runs"] += 1
                if not problem and (place / f"again{output}").read_bytes() != whole[task][2]:
                    problem = "other predictions"
                if problem:
                    wrong.append(f"predict {task}: {problem}")
                (place / f"again{output}").unlink(missing_ok=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--folder", type=Path, default=Path("build/faults"))
    parser.add_argument("--tasks", nargs="*")
    parser.add_argument("--seed", type=int)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    state = asked.folder / "state.json"
    kept = json.loads(state.read_text()) if state.exists() else {"sessions": 0, "found": {}, "wrong": []}
    kept["sessions"] += 1
    seed = kept["sessions"] if asked.seed is None else asked.seed
    print(f"session {kept['sessions']}, seed {seed}", flush=True)
    for library in (compiled.BANDED, compiled.EDGES):
        compiled.prepare(library)
    tasks = {name: row for name, row in rows_of_tasks().items() if not asked.tasks or name in asked.tasks}
    found = Counter[str](kept["found"])
    with tempfile.TemporaryDirectory() as name:
        wrong = campaign(tasks, Path(name), random.Random(seed), until(asked.seconds), found)
    kept |= {"found": dict(found), "wrong": [*kept["wrong"], *wrong]}
    state.write_text(json.dumps(kept, indent=1, ensure_ascii=False))
    print("\n".join(f"{what:32} {count:>8,}" for what, count in sorted(found.items())))
    print("\n".join(f"WRONG {own}" for own in kept["wrong"]))
    print(
        f"{sum(n for what, n in found.items() if 'kills' in what):,} kills, {len(kept['wrong'])} failures"
    )
    raise SystemExit(bool(kept["wrong"]))


if __name__ == "__main__":
    main()
