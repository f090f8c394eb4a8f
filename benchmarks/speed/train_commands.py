"""CPU seconds of complete `headwise train` commands, of this source, compared with another one.

    python -m benchmarks.speed.train_commands --against ../headwise-before --rounds 3

The other source is a folder with `src/headwise`, its compiled core built. The sources take turns, so that
a slow moment of the machine affects both. The table has the median of the CPU seconds of all threads,
starting and saving included, and the test accuracy that each command reports. A first command of each,
which compiles its modules, is not counted.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import DATA, ROOT


def commands() -> dict[str, list[str]]:
    """The arguments of `headwise train` by name, of the data that are there."""
    arguments = {"helpdesk": [str(ROOT / "src/headwise/data/samples/helpdesk.tsv")]}
    banking = [DATA / f"intents/banking77.{part}.csv.gz" for part in ("train", "test")]
    if all(path.exists() for path in banking):
        arguments["banking77"] = [str(banking[0]), "--test", str(banking[1])]
    return arguments


def run(tree: Path, arguments: list[str]) -> tuple[float, str]:
    """Train once; returns the CPU seconds and the accuracy that is reported."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled, too
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        done = subprocess.run(
            [sys.executable, "-m", "headwise", "train", *arguments, "-o", f"{folder}/model"],
            env=environment,
            capture_output=True,
            text=True,
        )
        after = os.times()
    if done.returncode:
        sys.exit(done.stderr)
    accuracy = re.search(r"^ +accuracy +([\d.]+) %", done.stdout, re.MULTILINE)
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, "-" if accuracy is None else accuracy[1]


def main() -> None:
    available = commands()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", type=Path, help="folder of the other source")
    parser.add_argument("--data", nargs="+", choices=available, default=[*available])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    trees = {"this": ROOT} | ({"other": options.against.resolve()} if options.against else {})
    print("| data | source | CPU seconds | of the other | accuracy |\n|---|---|---|---|---|")
    for name in options.data:
        times: dict[str, list[float]] = {source: [] for source in trees}
        accuracies = dict.fromkeys(trees, "")
        for number in range(options.rounds + 1):
            for source, tree in trees.items():
                seconds, accuracies[source] = run(tree, available[name])
                if number:
                    times[source].append(seconds)
        medians = {source: statistics.median(values) for source, values in times.items()}
        for source, median in medians.items():
            ratio = median / medians["other"] if "other" in medians else 1.0
            print(
                f"| {name} | {source} | {median:.2f} | {ratio:.2f} | {accuracies[source]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
