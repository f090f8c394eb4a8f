"""Language models of characters: BP-Transformer against Transformer, at equal steps and at equal time.

    python -m benchmarks.papers.language_modelling                      # both texts, contexts 512 and 2,048
    python -m benchmarks.papers.language_modelling --data war-and-peace --context 512 --steps 500
    python -m benchmarks.papers.language_modelling --tune 0.001 0.002 0.004 --steps 500
    python -m benchmarks.papers.language_modelling --costs              # time and memory of a token
    python -m benchmarks.papers.language_modelling --table              # only print stored results

Both models have the same width, layers, heads and feed-forward layers, and see the same windows in the same
order for --steps, each at the rate that --tune found best for it on the dev text. Then the faster one is
trained anew for the time that the slower one took (or both for --minutes). Runs that are over are not
repeated, and one that is stopped goes on where it was. Scores are of the whole test text, each character
once, with at least half a context before it. The texts are those of HEADWISE_DATA.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from benchmarks import ROOT
from benchmarks.papers.language_modelling_costs import CONTEXTS, cost_of
from benchmarks.papers.language_modelling_output import print_tables
from benchmarks.papers.language_modelling_training import MODELS, POSITIONS, TEXTS, Settings, Stopped, train
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import HeadwiseError

RESULTS = Path(__file__).parent / "results"
NEAR = 0.95  # a run that took this share of the other's time is not made again
RATE = 3e-3  # of models that have not been tuned


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", choices=list(TEXTS), nargs="+", default=list(TEXTS))
    parser.add_argument("--context", type=int, nargs="+", default=[512, 2048])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument(
        "--minutes", type=float, help="of each run at equal time; as long as the slower one"
    )
    parser.add_argument("--clock", choices=["wall", "processor"], default="processor")
    parser.add_argument("--batch-tokens", type=int, default=2048, help="characters of a step")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--k", type=int, default=32, help="of the BP-Transformer")
    parser.add_argument("--positions", choices=POSITIONS, default="distance", help="of the Transformer")
    parser.add_argument("--rate", type=float, help="by default the best one of --tune")
    parser.add_argument("--models", choices=MODELS, nargs="+", default=MODELS, help="of --tune")
    parser.add_argument(
        "--tune", type=float, nargs="+", metavar="RATE", help="only dev scores at these rates"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder")
    parser.add_argument("--costs", action="store_true", help="only time and memory of a token")
    parser.add_argument("--cost", nargs=2, metavar=("MODEL", "CONTEXT"), help=argparse.SUPPRESS)
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    if options.cost:
        print(json.dumps(cost_of(_settings(options, "", int(options.cost[1]), options.cost[0], RATE))))
        return 0
    results = Results(options.results)
    if not options.table:
        try:
            if options.costs:
                _measure_costs(options, results)
            elif options.tune:
                _tune(options, results)
            else:
                for name, run in _runs(options, results):
                    results.keep("runs", name, run)
        except Stopped as stop:
            print(f"stopped; the same command goes on from step {stop.step:,}", file=sys.stderr)
            return 128 + stop.signal
        except HeadwiseError as error:
            print(f"error {error}", file=sys.stderr)
            return 2
    print_tables(results.sections)
    return 0


class Results:
    """The results, in a JSON file that is written after each measurement."""

    def __init__(self, folder: Path):
        self.folder, self.path = folder, folder / "language_modelling.json"
        self.sections: dict[str, dict[str, Any]] = {"tuning": {}, "runs": {}, "costs": {}}
        if self.path.exists():
            self.sections |= json.loads(self.path.read_text(encoding="utf-8"))

    def best_rate(self, model: str, positions: str) -> float:
        """The rate that gave a model its best dev score."""
        tuned = [
            run
            for run in self.sections["tuning"].values()
            if run["model"] == model and (model != "transformer" or run["positions"] == positions)
        ]
        return min(tuned, key=lambda run: run["bits_per_character"])["rate"] if tuned else RATE

    def keep(self, kind: str, name: str, result: dict[str, Any]) -> None:
        self.sections[kind][name] = result
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(self.path.name + ".partial")
        partial.write_text(json.dumps(self.sections, indent=1) + "\n", encoding="utf-8")
        os.replace(partial, self.path)


def _settings(
    options: argparse.Namespace, data: str, context: int, model: str, rate: float, **more: Any
) -> Settings:
    flags = ("steps", "clock", "batch_tokens", "width", "layers", "k", "positions", "seed", "threads")
    return Settings(data, context, model, rate=rate, **{n: getattr(options, n) for n in flags} | more)


def _runs(options: argparse.Namespace, results: Results) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs that are still to be made, as they are over."""
    cache = _prepared(options)
    rates = {model: options.rate or results.best_rate(model, options.positions) for model in MODELS}
    for data in options.data:
        for context in options.context:
            equal = {model: _settings(options, data, context, model, rates[model]) for model in MODELS}
            for settings in equal.values():
                if settings.name not in results.sections["runs"]:
                    yield settings.name, _result(settings, cache)
            key = "processor_seconds" if options.clock == "processor" else "seconds"
            took = {
                model: results.sections["runs"][settings.name][key] / 60
                for model, settings in equal.items()
            }
            for model in MODELS:
                minutes = options.minutes or max(took.values())
                if options.minutes is None and took[model] >= NEAR * minutes:
                    continue  # it has had this time
                if options.minutes is None and f"{equal[model].name}-time" in results.sections["runs"]:
                    continue
                settings = _settings(options, data, context, model, rates[model], steps=0, minutes=minutes)
                name = f"{equal[model].name}-time" if options.minutes is None else settings.name
                if name not in results.sections["runs"]:
                    yield name, _result(settings, cache)


def _prepared(options: argparse.Namespace) -> Path:
    """The folder for the states of runs."""
    keep_freed_memory()
    return options.results / "cache" / "language_modelling"


def _result(settings: Settings, cache: Path) -> dict[str, Any]:
    return {**asdict(settings), **train(settings, cache)}


def _tune(options: argparse.Namespace, results: Results) -> None:
    """Dev scores of short runs at some rates."""
    cache = _prepared(options) / "tuning"
    for data in options.data:
        for context in options.context:
            for model in options.models:
                for rate in options.tune:
                    settings = _settings(options, data, context, model, rate)
                    if settings.name not in results.sections["tuning"]:
                        result = {**asdict(settings), **train(settings, cache, on_dev=True)}
                        results.keep("tuning", settings.name, result)


def _measure_costs(options: argparse.Namespace, results: Results) -> None:
    """Each in a process of its own, so that its memory can be measured."""
    for context in CONTEXTS:
        for model in MODELS:
            settings = _settings(options, "", context, model, RATE)
            name = f"{model}-{context}-{settings.shape}"
            if name in results.sections["costs"]:
                continue
            flags = [
                f"--{flag}={getattr(options, flag)}"
                for flag in ("width", "layers", "k", "positions", "threads")
            ]
            command = [
                sys.executable,
                "-m",
                "benchmarks.papers.language_modelling",
                "--cost",
                model,
                str(context),
                *flags,
            ]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode:
                raise HeadwiseError(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
            results.keep("costs", name, {"model": model, "context": context, **json.loads(done.stdout)})


if __name__ == "__main__":
    sys.exit(main())
