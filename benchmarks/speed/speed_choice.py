"""The compiled kernels of `banded` compared with `sdpa`, on heads that both can run: which one to choose.

It takes `banded` wherever that can run. The ratios here say whether that is right on a machine.
"""

import statistics
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from benchmarks.common.timing import interleaved
from benchmarks.speed.speed_table import Result, Row
from headwise.nn.attention import sdpa
from headwise.nn.attention.cpu import banded
from headwise.nn.layout import Layout
from headwise.nn.priors import Prior, parse_prior

HEADS, TOKENS = 4, 2048
SIZES = (30, 50, 64)
LENGTHS = (32, 128, 512, 2048, 4096)
QUICK = (32, 512)
PRIORS = ("window(3)", "window(33)", "window(129)", "window(513)", "forward", "everything")
PASSES = ("forward", "and backward")
SYSTEMS: dict[str, ModuleType] = {"banded": banded, "sdpa": sdpa}


def run(*, quick: bool, rounds: int) -> Result | str:
    """The ratio of the times for each head size, length, prior and pass; or why not."""
    query = torch.zeros(1, HEADS, SIZES[0])
    reason = banded.unsupported_reason(query, [parse_prior("everything")], Layout([1]))
    if reason is not None:
        return f"banded cannot run: {reason}"
    cases = []
    for size in SIZES[:1] if quick else SIZES:
        for length in QUICK if quick else LENGTHS:
            for name in PRIORS:
                if name.startswith("window") and int(name[7:-1]) > 2 * length:
                    continue  # sees no more than the next one
                ratios = time_case(size, length, parse_prior(name), rounds)
                cases.append({"head_size": size, "words": length, "prior": name, **ratios})
            length_cases = [case for case in cases if (case["head_size"], case["words"]) == (size, length)]
            summary = [f"{case['prior']} {case['forward']:.2f}" for case in length_cases]
            print(f"  {length} words, heads of {size}: {', '.join(summary)}", file=sys.stderr, flush=True)
    return Result(rows(cases), {"banded_over_sdpa": cases}, [])


def time_case(size: int, length: int, prior: Prior, rounds: int) -> dict[str, float]:
    """The time of `banded` over that of `sdpa` for each pass, and the microseconds of `banded` a word."""
    sizes = [length] * max(1, TOKENS // length)
    inputs = tuple(torch.randn(sum(sizes), HEADS, size) for _ in range(3))
    steps = {
        (name, what): make_step(module, inputs, [prior] * HEADS, sizes, what)
        for what in PASSES
        for name, module in SYSTEMS.items()
    }
    times = {what: statistics.median(seconds) for what, seconds in interleaved(steps, rounds).items()}
    ratios = {what: times["banded", what] / times["sdpa", what] for what in PASSES}
    return {**ratios, "microseconds_per_word": 1e6 * times["banded", PASSES[0]] / sum(sizes)}


def make_step(
    module: ModuleType, inputs: tuple[torch.Tensor, ...], priors: list[Prior], sizes: list[int], what: str
) -> Callable[[], Any]:
    """A pass over a batch, with a new layout each time as in use."""

    def forward() -> None:
        with torch.inference_mode():
            module.attention(*inputs, priors, Layout(sizes))

    def training() -> None:
        rows = [x.detach().requires_grad_() for x in inputs]
        module.attention(*rows, priors, Layout(sizes)).sum().backward()

    return forward if what == PASSES[0] else training


def rows(cases: list[dict[str, Any]]) -> list[Row]:
    """The case in which `banded` is worst, and the one in the middle."""
    table_rows = []
    for what in PASSES:
        worst = max(cases, key=lambda case: case[what])
        case_name = f"{worst['prior']}, {worst['words']:,} words, heads of {worst['head_size']}"
        table_rows.append(Row(f"banded / sdpa, {what}: slowest case ({case_name})", worst[what], "<= 1.1"))
        middle = statistics.median(case[what] for case in cases)
        table_rows.append(Row(f"banded / sdpa, {what}: median of {len(cases)} cases", middle))
    return table_rows
