"""CPU seconds of `headwise` commands from a cold start, of this source, compared with another one.

    python -m benchmarks.speed.cold_start MODEL --against ../headwise-before --rounds 9

MODEL is a model folder, such as that of `examples/demo.py`; a text of one line is predicted. The other
source is a folder with `src/headwise`, its compiled core built. Every command is a new process with one
thread, and all take turns in each round, so that a slow moment of the machine affects all. The table has
medians; a first command of each, which compiles its modules, is not counted. The first rows are what
Python and the libraries alone take.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import ROOT

TEXT = "Hi, I've been typing the right password all morning and it still says my account is suspended."
HELPDESK = str(ROOT / "src/headwise/data/samples/helpdesk.tsv")


def libraries() -> dict[str, list[str]]:
    """What any command pays for, by name: the arguments of Python."""
    return {
        "Python": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "import cyclopts": ["-c", "import cyclopts"],
    }


def commands(model: str, text: str) -> dict[str, list[str]]:
    """The arguments of Python, by the name of the command.

    Args:
        model: A model folder.
        text: A file of one text.
    """
    run = ["-m", "headwise"]
    return {
        "import headwise": ["-c", "import headwise"],
        "predict, a file that is missing": [*run, "predict", model, f"{text}.missing"],
        "predict, one text": [*run, "predict", model, text],
        "predict, one text, with --format": [*run, "predict", model, text, "--format", "text"],
        "doctor, 1,049 texts": [*run, "doctor", HELPDESK],
        "train --help": [*run, "train", "--help"],
        "explain, one text": [*run, "explain", model, text],
        "evaluate, 1,049 texts": [*run, "evaluate", model, HELPDESK],
    }


def cpu_seconds(arguments: Sequence[str], tree: Path) -> float:
    """CPU seconds of a new Python process with one thread that runs the source of a folder."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled, too
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdout=nowhere, stderr=nowhere
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)  # else it counts as running
    return usage.ru_utime + usage.ru_stime


def measure(
    programs: Mapping[str, Sequence[str]], trees: Mapping[str, Path], rounds: int
) -> dict[str, dict[str, float]]:
    """Median CPU seconds of each program with each source, by the names of both."""
    times: dict[str, dict[str, list[float]]] = {name: {source: [] for source in trees} for name in programs}
    for number in range(rounds + 1):
        for name, arguments in programs.items():
            for source, tree in trees.items():
                seconds = cpu_seconds(arguments, tree)
                if number:
                    times[name][source].append(seconds)
    return {
        name: {source: statistics.median(values) for source, values in by_source.items()}
        for name, by_source in times.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", help="a model folder")
    parser.add_argument("--against", type=Path, help="folder of the other source")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    trees = {"this": ROOT} | ({"other": options.against.resolve()} if options.against else {})
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "one.txt"
        text.write_text(TEXT + "\n", encoding="utf-8")
        programs = libraries() | commands(os.path.abspath(options.model), str(text))
        medians = measure(programs, trees, options.rounds)
    print(f"| CPU seconds | {' | '.join(trees)} |\n|---|{'---|' * len(trees)}")
    for name, by_source in medians.items():
        print(f"| {name} | {' | '.join(f'{seconds:.3f}' for seconds in by_source.values())} |")


if __name__ == "__main__":
    main()
