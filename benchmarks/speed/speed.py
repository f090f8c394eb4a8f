"""How fast headwise is, compared with its targets, its floor and its rivals.

    python -m benchmarks.speed.speed                              # everything (hours on one core)
    python -m benchmarks.speed.speed --quick                      # a sample of everything, some minutes
    python -m benchmarks.speed.speed --only encoders --threads 1  # one part, and the picture of Figure 4
    python -m benchmarks.speed.speed --only scaling --training    # time and memory from 128 to 16,384 words
    python -m benchmarks.speed.speed --only predict --minilm FOLDER
    python -m benchmarks.speed.speed --only gpu                   # needs a CUDA GPU

The parts: `encoders` (MS-Trans against its floor, a padded Transformer and torch.nn.TransformerEncoder),
`training` (whole steps), `scaling` (growth with the length), `choice` (the ways to compute attention that
the chooser has), `predict` (csv in, csv out) and `gpu` (attention and training steps on a GPU).

All that is compared takes turns in one process, and medians count. With one thread it is the processor
time of this process that is measured, so that other programs on the machine do not matter much. Texts come
from the data folder (HEADWISE_DATA, default ../shared/data); parts without their data are skipped.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from benchmarks.common.timing import choose_clock
from benchmarks.speed import (
    speed_choice,
    speed_encoders,
    speed_gpu,
    speed_predict,
    speed_scaling,
    speed_training,
)
from benchmarks.speed.speed_figure import figure
from benchmarks.speed.speed_table import Result, save, table
from benchmarks.speed.speed_texts import DOMAINS
from headwise import __version__
from headwise.core.allocator import keep_freed_memory

RESULTS = Path(__file__).parent / "results"
CACHE = RESULTS / "cache"  # not in the repository


def parts(arguments: argparse.Namespace) -> dict[str, Callable[[], Result | str]]:
    """What can be run, by name."""
    quick, rounds = arguments.quick, arguments.rounds or (2 if arguments.quick else 5)
    domains = tuple(arguments.domains)
    return {
        "encoders": lambda: speed_encoders.run(quick=quick, rounds=rounds, domains=domains),
        "training": lambda: speed_training.run(rounds=rounds, domains=domains),
        "scaling": lambda: speed_scaling.run(
            quick=quick,
            rounds=rounds,
            training=arguments.training,
            lengths=arguments.lengths,
            tokens=arguments.tokens,
        ),
        "choice": lambda: speed_choice.run(quick=quick, rounds=rounds),
        "predict": lambda: speed_predict.run(
            quick=quick, rounds=rounds, minilm=arguments.minilm, folder=CACHE / "speed-predict"
        ),
        "gpu": lambda: speed_gpu.run(
            quick=quick,
            rounds=rounds,
            device=arguments.device,
            lengths=arguments.lengths,
            tokens=arguments.tokens,
        ),
    }


def environment(rounds: int = 0) -> dict[str, Any]:
    """What the times depend on; with the rounds where the command sets them."""
    return {
        "headwise": __version__,
        "torch": torch.__version__,
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "clock": choose_clock()[0],
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        **({"rounds": rounds} if rounds else {}),
    }


def processor() -> str:
    """The name of the processor, where the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {torch.backends.cpu.get_cpu_capability()}"


def save_figure(path: Path, results: Path) -> None:
    """Draw Figure 4 from the saved results, if they have it."""
    result = json.loads(results.read_text()).get("encoders")
    if result is None:
        return
    machine = result["environment"]
    note = f"{machine['processor']}, {machine['threads']} thread(s), torch {machine['torch']}, float32"
    path.write_text(figure(result["details"]["ms_per_batch_of_128"], note), encoding="utf-8")
    print(f"\nFigure 4 is in {path}")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ("encoders", "training", "scaling", "choice", "predict", "gpu")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="fewer batches, lengths and texts")
    parser.add_argument("--rounds", type=int, default=0, help="5, or 2 with --quick")
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--domains", nargs="+", choices=DOMAINS, default=DOMAINS, metavar="DOMAIN")
    parser.add_argument("--training", action="store_true", help="scaling: forward and backward")
    parser.add_argument("--lengths", nargs="+", type=int, default=(), help="scaling, gpu: words of a text")
    parser.add_argument(
        "--tokens", type=int, default=speed_scaling.TOKENS, help="scaling, gpu: words of a batch"
    )
    parser.add_argument(
        "--device", default="cuda", help="gpu: cpu to see whether it runs (see speed_gpu.py)"
    )
    parser.add_argument(
        "--minilm", default=speed_predict.MINILM, help="predict: name or folder of the model"
    )
    parser.add_argument("--json", type=Path, help="file of the results")
    parser.add_argument("--figure", type=Path, help="where Figure 4 is drawn")
    arguments = parser.parse_args(words)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    path = arguments.json or (CACHE / "speed-quick.json" if arguments.quick else RESULTS / "speed.json")
    results: dict[str, Result] = {}
    for name, run in parts(arguments).items():
        if name not in arguments.only:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        began = time.monotonic()
        result = run()
        if isinstance(result, str):
            print(f"{name} is skipped: {result}")
            continue
        results[name] = result
        save(path, environment(arguments.rounds), {name: result})
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    if not results:
        return 2
    print()
    print(table([row for result in results.values() for row in result.rows]))
    notes = [note for result in results.values() for note in result.notes]
    machine = environment()
    cores = f"{machine['threads']} of {machine['cores']} cores"
    notes.append(f"{machine['processor']}, {cores}, {machine['clock']}, torch {machine['torch']}")
    print("\n" + "\n".join(f"- {note}" for note in notes))
    save_figure(arguments.figure or path.with_name(path.stem + "-figure4.svg"), path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
