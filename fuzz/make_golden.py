"""Make the golden folders again: a small model of each task, by `headwise train`, and its predictions.

    python fuzz/make_golden.py

Only where a folder's format changes before the first release; from then on they stay as they are.
"""

import json
import shutil
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

from headwise.app.cli import main
from tasks import TESTS, rows_of_tasks

GOLDEN = TESTS / "artifacts" / "golden"


def make() -> None:
    shutil.rmtree(GOLDEN, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name, chdir(name):  # no path of this machine in the folders
        for task, row in rows_of_tasks().items():
            folder = GOLDEN / task
            folder.mkdir(parents=True)
            data = Path(name) / f"{task}{row.suffix}"
            data.write_text(row.make(60, 1))
            test = folder / f"new{row.suffix}"
            test.write_text(row.make(8, 2))
            flags = [*row.flags.split(), "--no-baseline", "--base", "none"]
            flags = flags[: -2 if task in ("bags", "language-model") else None]
            assert (
                main(["train", data.name, "--output", str(folder / "model"), "--task", task, *flags]) == 0
            )
            if row.outputs:
                output = folder / f"said{row.outputs[0]}"
                assert main(["predict", str(folder / "model"), str(test), "--output", str(output)]) == 0
            else:
                with redirect_stdout(StringIO()) as stdout:
                    assert main(["evaluate", str(folder / "model"), str(test), "--json"]) == 0
                bits = json.loads(stdout.getvalue())["bits_per_character"]
                (folder / "scores.json").write_text(json.dumps({"bits_per_character": bits}) + "\n")


if __name__ == "__main__":
    make()
