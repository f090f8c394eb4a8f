"""How time and memory grow with the length of the texts: Star-Transformer, BP-Transformer, Transformer.

    python benchmarks/scaling.py                              # 128 to 16,384 words, training steps
    python benchmarks/scaling.py --mode predict --threads 1
    python benchmarks/scaling.py --lengths 16 32 --tokens 64  # a few seconds, to see it work

Every batch has the same number of words, in fewer texts the longer they are, so an encoder that is linear
in the length shows the same time for each word everywhere. Times are medians over rounds in which all
encoders and lengths take turns, so that a slow moment of the machine falls on all of them. On the CPU the
peak memory of a step is measured in a process of its own (Linux only); on CUDA it is the allocator's.
"""

import argparse
import json
import multiprocessing
import platform
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from headwise import __version__
from headwise.encoders import ENCODERS
from headwise.memory import keep_freed_memory
from headwise.ragged import Ragged

SUMMARY = Path(__file__).parent / "results" / "scaling.json"
# The same sizes for all; what is not named here is the encoder's default.
SIZES = {"width": 300, "layers": 2, "heads": 6, "head_size": 50}
SYSTEMS: dict[str, dict[str, Any]] = {
    "star-transformer": {"positions": "none"},
    "bp-transformer": {"feedforward": 600},
    "transformer": {"feedforward": 600},
}
LENGTHS = [128, 256, 512, 1024, 2048, 4096, 8192, 16384]
COMPARE = 256  # words; what the ratios refer to


def make_step(system: str, length: int, tokens: int, mode: str, device: str) -> Callable[[], None]:
    """One step over a batch of random word vectors, `tokens` in all."""
    torch.manual_seed(0)
    module, configuration = ENCODERS[system]
    encoder = module(configuration(**SIZES, **SYSTEMS[system])).to(device).train(mode == "train")
    lengths = [length] * max(1, tokens // length)
    values = torch.randn(sum(lengths), SIZES["width"], device=device)

    def step() -> None:
        with torch.set_grad_enabled(mode == "train"):
            encoded = encoder(Ragged.from_lengths(values, lengths))
            if mode == "train":
                encoder.zero_grad()
                (encoded.tokens.values.sum() + encoded.summary.sum()).backward()
        if device == "cuda":
            torch.cuda.synchronize()

    return step


def peak_memory(system: str, length: int, tokens: int, mode: str, device: str) -> int | None:
    """Bytes that a step takes at its peak beyond model and batch; None where this cannot be measured."""
    if device == "cuda":
        step = make_step(system, length, tokens, mode, device)
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        return torch.cuda.max_memory_allocated() - before
    if sys.platform != "linux":
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_of_this_process, (system, length, tokens, mode))


def _peak_of_this_process(system: str, length: int, tokens: int, mode: str) -> int:
    torch.set_num_threads(1)
    make_step(system, 16, 16, mode, "cpu")()  # libraries load with the first step
    step = make_step(system, length, tokens, mode, "cpu")
    before = _status("VmRSS")
    step()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    if found is None:
        raise RuntimeError(f"/proc/self/status has no {field}")
    return 1024 * int(found[1])


def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for each system and length."""
    cases = [(system, length) for length in arguments.lengths for system in arguments.systems]
    tokens, mode, device = arguments.tokens, arguments.mode, arguments.device
    times: dict[tuple[str, int], list[float]] = {case: [] for case in cases}
    for round_ in range(arguments.rounds):
        for case in cases:
            step = make_step(*case, tokens, mode, device)
            step()
            begin = time.perf_counter()
            step()
            times[case].append(time.perf_counter() - begin)
            print(
                f"round {round_ + 1}: {case[0]}, {case[1]} words: {times[case][-1]:.3f} s", file=sys.stderr
            )
    rows = []
    for system, length in cases:
        batch = length * max(1, tokens // length)
        rows.append(
            {
                "system": system,
                "words": length,
                "batch_words": batch,
                "microseconds_per_word": 1e6 * statistics.median(times[system, length]) / batch,
                "seconds": times[system, length],
                "peak_bytes": peak_memory(system, length, tokens, mode, device),
            }
        )
    return rows


def print_table(rows: list[dict[str, Any]]) -> None:
    """Time and memory for each word, and the time as a multiple of that at `COMPARE` words."""
    systems = list(dict.fromkeys(row["system"] for row in rows))
    found = {(row["system"], row["words"]): row for row in rows}
    print("words " + "".join(f"  {system:>34}" for system in systems))
    print("      " + f"  {'us/word':>11} {'ratio':>9} {'KiB/word':>12}" * len(systems))
    for length in dict.fromkeys(row["words"] for row in rows):
        line = f"{length:<6}"
        for system in systems:
            row, base = found[system, length], found.get((system, COMPARE))
            time_ = row["microseconds_per_word"]
            ratio = f"{time_ / base['microseconds_per_word']:.2f}" if base else "-"
            peak = row["peak_bytes"]
            memory = f"{peak / row['batch_words'] / 1024:.1f}" if peak is not None else "-"
            line += f"  {time_:>11.1f} {ratio:>9} {memory:>12}"
        print(line)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS)
    parser.add_argument("--tokens", type=int, default=16384, help="words of a batch")
    parser.add_argument("--mode", choices=["train", "predict"], default="train")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--json", type=Path, default=SUMMARY)
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    rows = measure(arguments)
    print_table(rows)
    environment = {
        "headwise": __version__,
        "torch": torch.__version__,
        "processor": platform.machine() if arguments.device == "cpu" else torch.cuda.get_device_name(),
        "threads": torch.get_num_threads(),
        "mode": arguments.mode,
        "sizes": SIZES,
        "systems": {system: SYSTEMS[system] for system in arguments.systems},
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"environment": environment, "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
