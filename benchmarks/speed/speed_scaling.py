"""How time and memory grow with the length of the texts.

Every batch has the same number of words, in fewer texts the longer they are, so an encoder that is linear
in the length shows the same time for each word everywhere. On the CPU the peak memory is measured in a
process of its own (Linux only).
"""

import multiprocessing
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.common.timing import forward_pass, interleaved, training_pass
from benchmarks.speed.speed_table import Result, Row
from headwise.core.allocator import keep_freed_memory
from headwise.nn.encoders import ENCODERS

# The same sizes for all; what is not named here is the encoder's default.
SIZES = {"width": 300, "layers": 3, "heads": 10, "head_size": 30}
MS, STAR, BPT, DENSE = "ms-transformer", "star-transformer", "bp-transformer", "transformer"
FRACTIONS = "ms-transformer n/16 n/8 n/4"
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    MS: (MS, {"scales": ("1", "3", "5", "7", "9")}),
    FRACTIONS: (MS, {"scales": ("n/16", "n/8", "n/4")}),
    STAR: (STAR, {"positions": "none"}),
    BPT: (BPT, {"feedforward": 1200, "k": 4}),
    DENSE: (DENSE, {"feedforward": 1200, "attention": "sdpa"}),
}
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
QUICK = (256, 4096, 8192, 16384)
FRACTIONS_AT, BPT_AT = 4096, 8192  # words, where these are compared with the dense Transformer
BASE, TOP = 256, 16384  # words, what is compared with what
TOKENS = 16384  # words of a batch


def run(
    *, quick: bool, rounds: int, training: bool = False, lengths: Sequence[int] = (), tokens: int = TOKENS
) -> Result:
    """Time and memory for each word, by system and length."""
    lengths = lengths or (QUICK if quick else LENGTHS)
    cases = [case for length in lengths for case in _cases(length, quick=quick)]
    times: dict[tuple[str, int], float] = {}
    for length in lengths:
        length_cases = [case for case in cases if case[1] == length]
        timings = interleaved({case: make_step(*case, tokens, training) for case in length_cases}, rounds)
        times |= {case: statistics.median(seconds) for case, seconds in timings.items()}
        summary = ", ".join(f"{system} {times[system, length]:.2f} s" for system, _ in length_cases)
        print(f"  {length} words: {summary}", file=sys.stderr, flush=True)
    measured = [case for case in cases if not quick or case[1] in (min(lengths), max(lengths))]
    peaks = {case: peak_memory(*case, tokens, training) for case in measured}
    per_word = {case: time / batch_words(case[1], tokens) for case, time in times.items()}
    bytes_per_word = {
        case: peak / batch_words(case[1], tokens) for case, peak in peaks.items() if peak is not None
    }
    details = [
        {
            "system": system,
            "words": length,
            "microseconds_per_word": 1e6 * per_word[system, length],
            "peak_kib_per_word": bytes_per_word.get((system, length), 0.0) / 1024 or None,
        }
        for system, length in cases
    ]
    print(growth_table(details, lengths), flush=True)
    what = "training passes" if training else "prediction"
    notes = [f"growth with the length: {what} of encoders with the same sizes, {tokens:,} words a batch"]
    return Result(rows(per_word, bytes_per_word), {"training": training, "cases": details}, notes)


def _cases(length: int, *, quick: bool) -> list[tuple[str, int]]:
    """The systems that are timed at a length."""
    systems = [name for name in SYSTEMS if name != FRACTIONS or length == FRACTIONS_AT]
    if quick and length > BPT_AT:
        systems.remove(DENSE)  # half a minute for a step, and no bar asks for it
    return [(system, length) for system in systems]


def batch_words(length: int, tokens: int) -> int:
    return length * max(1, tokens // length)


def make_step(system: str, length: int, tokens: int, training: bool) -> Callable[[], None]:
    """A pass over a batch of random word vectors."""
    torch.manual_seed(0)
    name, settings = SYSTEMS[system]
    module, configuration = ENCODERS[name]
    encoder = module(configuration(**SIZES, **settings))
    sizes = [length] * (batch_words(length, tokens) // length)
    values = torch.randn(sum(sizes), SIZES["width"])
    return (training_pass if training else forward_pass)(encoder, values, sizes)


def peak_memory(system: str, length: int, tokens: int, training: bool) -> int | None:
    """Bytes that a pass takes at its peak beyond model and batch; None where this cannot be measured."""
    if sys.platform != "linux":
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_peak_of_this_process, (system, length, tokens, training))


def _peak_of_this_process(system: str, length: int, tokens: int, training: bool) -> int:
    torch.set_num_threads(1)
    keep_freed_memory()
    make_step(system, 16, 16, training)()  # libraries load with the first pass
    step = make_step(system, length, tokens, training)
    before = _status("VmRSS")
    step()
    return _status("VmHWM") - before


def _status(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"{field}:\s+(\d+) kB", status)
    if match is None:
        raise RuntimeError(f"/proc/self/status has no {field}")
    return 1024 * int(match[1])


def rows(per_word: dict[tuple[str, int], float], memory: dict[tuple[str, int], float]) -> list[Row]:
    """The ratios of the issue, as far as their lengths were measured."""
    table_rows = []
    for system, bar in ((MS, "<= 1.3"), (STAR, "<= 1.3"), (BPT, "<= 2.5"), (DENSE, "")):
        for what, values, own_bar in (("time", per_word, bar), ("peak memory", memory, "")):
            if (system, BASE) in values and (system, TOP) in values:
                ratio = values[system, TOP] / values[system, BASE]
                table_rows.append(Row(f"{system}: {what} per word at {TOP:,} / at {BASE}", ratio, own_bar))
    for system, length, bar in ((FRACTIONS, FRACTIONS_AT, ">= 8"), (BPT, BPT_AT, ">= 2.5")):
        if (system, length) in per_word:
            ratio = per_word[DENSE, length] / per_word[system, length]
            table_rows.append(Row(f"dense SDPA Transformer / {system} at {length:,} words", ratio, bar))
    return table_rows


def growth_table(cases: list[dict[str, Any]], lengths: Sequence[int]) -> str:
    """Microseconds and KiB for each word, in Markdown."""
    systems = [system for system in SYSTEMS if any(case["system"] == system for case in cases)]
    cases_by_key = {(case["system"], case["words"]): case for case in cases}
    lines = [f"| us/word (KiB/word) | {' | '.join(systems)} |", "|---:|" + "---:|" * len(systems)]
    for length in lengths:
        cells = []
        for system in systems:
            case = cases_by_key.get((system, length))
            if case is None:
                cells.append("-")
                continue
            peak = case["peak_kib_per_word"]
            memory = f" ({peak:.1f})" if peak else ""
            cells.append(f"{case['microseconds_per_word']:.1f}{memory}")
        lines.append(f"| {length:,} | {' | '.join(cells)} |")
    return "\n".join(lines)
