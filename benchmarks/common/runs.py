"""Stored runs: a benchmark can be killed at any time and started again.

A run is a system that is trained on a data set with a seed, and read the test texts once. What decides its
result is kept with it, as a line of results/NAME.jsonl that is never rewritten; what an unfinished training
has come to lies in a folder below results/cache. Both folders are beside the module of the benchmark. A
`Bench` defines data sets and systems.
"""

import argparse
import hashlib
import json
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from inspect import getfile
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
import torch

from benchmarks import DATA, ROOT
from benchmarks.common.paired_taggers import COUNTS
from headwise import __version__
from headwise.app.configuration import RunConfig, build_config, read_preset
from headwise.app.reporter import Reporter
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import ConfigError, TrainingInterrupted
from headwise.data.columns.reading_options import ReadOptions
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import WordVectors
from headwise.training.callbacks import EpochReport

REVIEWS = ReadOptions(format="tsv", header=False, text_column="3", label_column="2")
"""How the files of IMDB are read."""

Layers = list[dict[str, Any]]
"""Settings, the later over the earlier."""
Result = dict[str, Any]
RunsByTask = dict[str, dict[str, list[Result]]]
"""Data set -> system -> results, in the order of the seeds."""


@dataclass(frozen=True)
class Run:
    """What decides a result.

    Attributes:
        task: The data set.
        system: What is trained on it.
        recipe: All of its settings; empty for what has none.
        data: Fingerprints of training, dev and test texts.
        version: What a comparison system is made of, where it has no recipe.
    """

    task: str
    system: str
    seed: int
    recipe: dict[str, Any]
    data: list[str]
    version: str = ""


def jobs(
    tasks: Sequence[str], systems: Sequence[str], seeds: int, once: Sequence[str] = ()
) -> Iterator[tuple[str, str, int]]:
    """Data set, system, seed; seed by seed, so that an unfinished table is balanced.

    Args:
        once: Systems in which nothing is random; they run with one seed.
    """
    for seed in range(seeds):
        for task in tasks:
            for system in systems:
                if seed == 0 or system not in once:
                    yield task, system, seed


def recipe_of(layers: Layers) -> dict[str, Any]:
    """All settings, as plain data; none where there are no layers."""
    return build_config(*layers).to_json() if layers else {}


def read_recipe(name: str) -> dict[str, dict[str, Any]]:
    """The sections of a paper's settings, from papers/presets or from headwise."""
    path = ROOT / "benchmarks" / "papers" / "presets" / f"{name}.toml"
    return read_preset(path if path.exists() else Path(name))


def read_lines(path: Path) -> list[Result]:
    """The results in a file; a line that was cut off is passed over."""
    results = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return results


def append_line(path: Path, result: Result) -> None:
    """Add a result; nothing that is in the file is touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
    with open(path, "a") as file:
        file.write("\n" * torn + json.dumps(result) + "\n")


def kept_run(run: Run, measure: Callable[[Path], Result], results: Path, *, paired: bool = False) -> None:
    """Do a run unless its result is there.

    Args:
        measure: Trains and tests; its argument is the folder for the state of the training run.
        results: The file of results.
        paired: Repeat runs whose results lack the marks of single texts.
    """
    stored_results = collect([run.task], [run.system], lambda *_: run.recipe, results)[run.task][run.system]
    # The oldest results have no fingerprints of their data.
    if any(
        (one["seed"], one.get("data", run.data), one.get("version", ""))
        == (run.seed, run.data, run.version)
        and (tells(one) or not paired)
        for one in stored_results
    ):
        return
    print(f"{run.task}, {run.system}, seed {run.seed}", flush=True)
    key = {name: value for name, value in asdict(run).items() if name != "version" or value}
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    name = f"{results.stem}-{run.task}-{run.system}-{run.seed}-{digest}"
    folder = results.parent / "cache" / name.replace("/", "-").replace(" + ", "-").replace(" ", "-")
    folder.parent.mkdir(parents=True, exist_ok=True)
    result = measure(folder)
    append_line(results, {**key, **result, "headwise": __version__, "torch": torch.__version__})
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    if folder.exists():
        folder.rmdir()
    print(f"  test {result['test']:.4f} in {result['seconds']:.0f} s", flush=True)


@cache
def _built(settings: str) -> RunConfig:
    """The configuration of settings as JSON: runs of other seeds, and other tables, have the same."""
    return build_config(json.loads(settings))


def collect(
    tasks: Sequence[str],
    systems: Sequence[str],
    recipe: Callable[[str, str], dict[str, Any]],
    results: Path,
) -> RunsByTask:
    """The results of the recipes as they are now.

    Args:
        recipe: Of a data set and a system.
    """
    by_task: RunsByTask = {task: {system: [] for system in systems} for task in tasks}
    recipes: dict[tuple[str, str], Any] = {}
    for result in read_lines(results):
        key = task, system = result.get("task"), result.get("system")
        if task not in by_task or system not in by_task[task]:
            continue
        if key not in recipes:
            settings = recipe(task, system)
            recipes[key] = settings, _built(json.dumps(settings)) if settings else None
        # A setting that is newer than the result had its default then.
        settings, config = recipes[key]
        if not settings or result["recipe"] == settings or _built(json.dumps(result["recipe"])) == config:
            by_task[task][system].append(result)
    for systems_ in by_task.values():
        for runs in systems_.values():
            paired_seeds = {result["seed"] for result in runs if tells(result)}  # and an older one may not
            runs[:] = [result for result in runs if tells(result) or result["seed"] not in paired_seeds]
            newer = {result["seed"] for result in runs if "version" in result}
            runs[:] = [result for result in runs if "version" in result or result["seed"] not in newer]
            runs.sort(key=lambda result: result["seed"])
    return by_task


class Bench(ABC):
    """Systems on data sets, with the papers' figures."""

    name: ClassVar[str]
    paper: ClassVar[Mapping[str, Mapping[str, float]]]
    """Data sets, and for each what the papers say of the systems."""
    systems: ClassVar[Sequence[str]]
    """What runs unless others are named."""
    more: ClassVar[Sequence[str]] = ()
    """What runs only where it is named."""
    large: ClassVar[Sequence[str]] = ()
    """Data sets that run only where they are named."""
    once: ClassVar[Sequence[str]] = ()
    """Systems in which nothing is random."""
    versions: ClassVar[Mapping[str, str]] = {}
    """What comparison systems are made of: where it changes, results of before are measured anew."""
    paired: ClassVar[bool] = False
    """Whether results say which texts they had right (the oldest do not)."""
    seeds: ClassVar[int] = 3
    vectors: ClassVar[str]
    """The file of word vectors."""

    def __init__(self, results: Path | None = None):
        self.results = results or Path(getfile(type(self))).parent / "results" / f"{self.name}.jsonl"
        self._data: dict[str, Any] = {}
        self.word_vectors: Callable[[], WordVectors] = cache(lambda: load_vectors(DATA / self.vectors))

    @abstractmethod
    def load(self, task: str) -> Any:
        """The data set."""

    @abstractmethod
    def layers(self, task: str, system: str) -> Layers:
        """The layers of settings of a system on a data set; none for what has no recipe."""

    @abstractmethod
    def prints(self, data: Any, system: str) -> list[str]:
        """Fingerprints of training, dev and test items as the system reads them."""

    @abstractmethod
    def measure(self, data: Any, task: str, system: str, seed: int, folder: Path) -> Result:
        """Train a system and read the test items once."""

    @abstractmethod
    def show(self, by_task: RunsByTask) -> None:
        """Print the tables of the stored results."""

    def run(self, task: str, system: str, seed: int, *, paired: bool = False) -> None:
        """Do a run unless its result is there (`paired`: one that can be compared text by text)."""
        if task not in self._data:
            self._data = {task: self.load(task)}
        data, recipe = self._data[task], recipe_of(self.layers(task, system))
        run = Run(task, system, seed, recipe, self.prints(data, system), self.versions.get(system, ""))
        kept_run(
            run,
            lambda folder: self.measure(data, task, system, seed, folder),
            self.results,
            paired=paired and self.paired,
        )

    def current_runs(self, tasks: Sequence[str], systems: Sequence[str]) -> RunsByTask:
        """The results of the recipes as they are now."""
        return collect(tasks, systems, lambda *key: recipe_of(self.layers(*key)), self.results)

    def main(self, doc: str, arguments: list[str] | None = None) -> int:
        """The command line."""
        parser = argparse.ArgumentParser(
            description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        tasks = [task for task in self.paper if task not in self.large]
        parser.add_argument("--only", nargs="+", default=tasks, metavar="DATA")
        parser.add_argument("--systems", nargs="+", default=list(self.systems), metavar="SYSTEM")
        parser.add_argument("--seeds", type=int, default=self.seeds)
        parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
        parser.add_argument("--table", action="store_true", help="only print stored results")
        options = parser.parse_args(arguments)
        for what, names, choices in (
            ("data set", options.only, self.paper),
            ("system", options.systems, (*self.systems, *self.more)),
        ):
            for name in names:
                if name not in choices:
                    matches = get_close_matches(name, choices, 1)
                    hint = (
                        f"did you mean {matches[0]}?"
                        if matches
                        else f"expected one of {', '.join(choices)}"
                    )
                    parser.error(f"unknown {what} {name!r}; {hint}")
        if options.table:
            self.show(self.current_runs(options.only, options.systems))
            return 0
        if not DATA.is_dir():
            print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
            return 2
        if options.threads:
            torch.set_num_threads(options.threads)
        keep_freed_memory()
        with stoppable() as stopped:
            for job in jobs(options.only, options.systems, options.seeds, self.once):
                try:
                    self.run(*job)
                except ConfigError as error:  # systems that need what a data set has not
                    print(error, file=sys.stderr)
                    return 2
            self.show(self.current_runs(options.only, options.systems))
        return 130 if stopped else 0

    def command(self, doc: str) -> NoReturn:
        """`main`, as what a process does."""
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # --table | head
        sys.exit(self.main(doc))


@contextmanager
def stoppable() -> Generator[list[str]]:
    """Ctrl-C and SIGTERM end what is done within it with a sentence; the list it gives has one then."""
    stopped: list[str] = []
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield stopped
    except (KeyboardInterrupt, TrainingInterrupted):
        stopped.append("stopped; the same command goes on where it was")
        print(f"\n{stopped[0]}", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, before)


def judged(right: np.ndarray, leaked: np.ndarray) -> Result:
    """Accuracy on all test texts, and on those that do not occur in training or dev, `[texts]` each."""
    fresh = right[~leaked]
    return {
        "test": float(right.mean()),
        "test_texts": len(right),
        "test_fresh": float(fresh.mean()),
        "test_fresh_texts": len(fresh),
        "right": np.packbits(right).tobytes().hex(),
    }


def tells(run: Result) -> bool:
    """Whether a run has marks of single texts or counts of single sentences (the oldest have not)."""
    return "right" in run or COUNTS in run


def marks(run: Result) -> np.ndarray | None:
    """Which test texts a run had right, `[texts]`; None for the oldest results, which lack it."""
    if "right" not in run:
        return None
    bits = np.frombuffer(bytes.fromhex(run["right"]), np.uint8)
    return np.unpackbits(bits, count=run["test_texts"]).astype(int)


def listening(show: Callable[[EpochReport], None]) -> Reporter:
    """A reporter that only receives epochs."""

    class Listening(Reporter):
        @contextmanager
        def training(self, recipe: Any, primary_metric: str, unit: str) -> Generator[Callable[[Any], None]]:
            yield show

    return Listening()


def show_epochs(what: str, score: str = "accuracy") -> Callable[[EpochReport], None]:
    """Prints a line for each epoch: the loss, the score on dev, and how fast it went."""

    def show(report: EpochReport) -> None:
        if report.scores is not None:
            print(
                f"  epoch {report.progress.epoch + 1}: loss {report.loss:.3f}, dev "
                f"{report.scores[score]:.4f}, {report.texts_per_second:.0f} {what}/s",
                flush=True,
            )

    return show
