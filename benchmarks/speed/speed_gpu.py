"""Attention within bands on a GPU, and training steps there.

Attention alone, forward and backward, on texts of one length: headwise's (Triton, on ragged rows) against
compiled FlexAttention with a block mask for each head, against PyTorch's fused attention (SDPA) with a
dense mask, and against the same without any mask (flash attention where the type has it), which computes
something else: all pairs. Rivals get their rows as they like them best, `[texts, heads, words, size]` with
the size padded to a power of 2; masks, and what headwise makes of a layout, are made beforehand. Times are
those between CUDA events. On a CPU (`--device cpu --lengths 16 --tokens 16`, with TRITON_INTERPRET=1) this
only shows that the code runs, and keeps no results.
"""

import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from benchmarks.common.timing import interleaved, spread_lengths
from benchmarks.speed.speed_table import Result, Row
from benchmarks.speed.speed_training import MS, OWN, training_step
from headwise.nn.attention import attention
from headwise.nn.attention.gpu import triton_band
from headwise.nn.encoders import MSTransformerConfig, TransformerConfig
from headwise.nn.layout import Layout
from headwise.nn.priors import Band, Prior, Window
from headwise.text.text_features import EncodedText
from headwise.text.vocabulary import Vocabulary

OURS, FLEX, MASKED, DENSE = (
    "headwise",
    "compiled FlexAttention",
    "SDPA with a dense mask",
    "SDPA, all pairs",
)
HEADS, SIZE, WIDTH = 10, 30, 32  # of a head: as in the paper, and as padded for the rivals
WINDOWS: dict[str, tuple[Prior, ...]] = {
    "windows of 3 to 9 words": tuple(Window(width=w) for w in (3, 5, 7, 9)),
    "windows of n/16 to n/4": tuple(Window(fraction=f) for f in (1 / 16, 1 / 8, 1 / 4)),
}
PASSES = {"forward": False, "forward and backward": True}
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
QUICK = (1024, 4096, 16384)
JUDGED = 1024  # words, from which on there is a bar
TRAINED = (32, 256)  # mean words of the texts of a training step, as of MR and of IMDB
BATCH, VOCABULARY = 128, 20_000  # texts of a training step, and the words there are
_MOST = 12 << 30  # bytes of a dense mask
_TIMED = 0.01  # seconds that lie between two events at least

Run = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """What is timed: attention of texts of one length, within one kind of windows."""

    words: int
    windows: str
    dtype: torch.dtype

    @property
    def priors(self) -> list[Prior]:
        """One for each head."""
        window_priors = WINDOWS[self.windows]
        return [window_priors[head % len(window_priors)] for head in range(HEADS)]


def run(
    *, quick: bool, rounds: int, device: str = "cuda", lengths: Sequence[int] = (), tokens: int
) -> Result | str:
    """Time all of this on a GPU; or why not."""
    if device == "cuda" and not torch.cuda.is_available():
        return "there is no CUDA GPU here"
    place = torch.device(device)
    probe = torch.empty(0, 1, SIZE, device=place)
    if (reason := triton_band.unsupported_reason(probe, [Window(width=3)], Layout((), place))) is not None:
        return f"headwise's attention cannot run: {reason}"
    lengths = lengths or (QUICK if quick else LENGTHS)
    on_gpu = place.type == "cuda"
    dtypes = (torch.bfloat16,) if quick else (torch.float32, torch.bfloat16)
    cases, notes = [], []
    for dtype in dtypes if on_gpu else (torch.float32,):  # the interpreter has no bfloat16
        for words in lengths:
            torch.compiler.reset()  # or compiled functions would be given up after some shapes
            for windows in WINDOWS:
                measured, failures = time_case(Case(words, windows, dtype), rounds, place, tokens)
                cases += measured
                notes += failures
    steps = list(time_steps(rounds, place, TRAINED if on_gpu else (8,)))
    print(times_table(cases), flush=True)
    if not on_gpu:
        return "on the CPU its code runs, which is all that was to be seen; these times mean nothing"
    name = torch.cuda.get_device_name(place)
    notes = [
        f"GPU: {name}; attention of {HEADS} heads of {SIZE} on {tokens:,} words a batch; for the rivals "
        f"the heads are padded to {WIDTH} beforehand, and masks and layouts are made beforehand",
        f"{DENSE}: flash attention in bfloat16, which float32 does not have; it computes all pairs",
        *dict.fromkeys(notes),
    ]
    if quick:
        notes.append("quick: three lengths, bfloat16 only")
    details = {"device": name, "tokens": tokens, "cases": cases, "steps": steps}
    table_rows = [*rows(cases), *step_rows(steps)]
    return Result(table_rows, details, notes, {"processor": name, "clock": "CUDA events"})


def time_case(
    case: Case, rounds: int, device: torch.device, tokens: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Milliseconds of each system in each pass, and notes about those that failed."""
    cases, notes = [], []
    for name, training in PASSES.items():
        systems, failures = prepare(case, training, device, tokens)
        notes += failures
        times = (
            interleaved_events(systems, rounds) if device.type == "cuda" else interleaved(systems, rounds)
        )
        medians = {system: 1000 * statistics.median(seconds) for system, seconds in times.items()}
        cases.append(
            {
                "words": case.words,
                "windows": case.windows,
                "dtype": str(case.dtype).removeprefix("torch."),
                "pass": name,
                "milliseconds": medians,
            }
        )
        line = ", ".join(f"{system} {time:.3f} ms" for system, time in medians.items())
        line = "\n  ".join((f"{case.words} words, {case.windows}, {case.dtype}, {name}: {line}", *failures))
        print(f"  {line}", file=sys.stderr, flush=True)
    return cases, notes


def prepare(
    case: Case, training: bool, device: torch.device, tokens: int
) -> tuple[dict[str, Run], list[str]]:
    """The systems that can run this, each after its first run, and notes about the others."""
    torch.manual_seed(0)
    texts = max(1, tokens // case.words)
    ragged = [torch.randn(texts * case.words, HEADS, SIZE, device=device).to(case.dtype) for _ in range(3)]
    padded = [
        pad(x, (0, WIDTH - SIZE)).unflatten(0, (texts, case.words)).transpose(1, 2).contiguous()
        for x in ragged
    ]
    layout, scale = Layout([case.words] * texts, device), SIZE**-0.5
    with torch.no_grad():
        expected = attention(*ragged, case.priors, layout, "triton")
    systems: dict[str, Run] = {
        OURS: a_pass(lambda *x: attention(*x, case.priors, layout, "triton"), ragged, training)
    }
    notes = []
    for name, make in {FLEX: flex, MASKED: masked, DENSE: dense}.items():
        try:
            function = make(case, scale, device, training)
            if function is None:
                continue
            step = a_pass(function, padded, training)
            step()
            with torch.no_grad():
                output = function(*padded).transpose(1, 2).flatten(0, 1)[..., :SIZE]
        except RuntimeError as error:  # does not compile, or memory is not enough
            notes.append(f"{name} failed at {case.words} words: {str(error).strip().splitlines()[0]}")
            continue
        far = float((output - expected).abs().max())
        if name != DENSE and not far < (1e-2 if case.dtype == torch.float32 else 5e-2):
            notes.append(f"{name} differs from headwise by {far:.2g} at {case.words} words ({case.dtype})")
        systems[name] = step
    return systems, notes


def a_pass(function: Callable[..., Tensor], inputs: Sequence[Tensor], training: bool) -> Run:
    """A function that computes the output, or output and gradients of all inputs."""
    if not training:

        def forward() -> None:
            with torch.no_grad():
                function(*inputs)

        return forward
    leaves = [x.detach().requires_grad_() for x in inputs]
    grad = torch.randn_like(inputs[2])
    return lambda: torch.autograd.grad(function(*leaves), leaves, grad)


def bands(case: Case) -> tuple[Tensor, Tensor]:
    """Reach of each head to the left and to the right, `[heads]`."""
    head_bands: list[Band] = []
    for prior in case.priors:
        band = prior.band(torch.tensor([case.words]))
        assert band is not None
        head_bands.append(band)
    return torch.cat([band.left for band in head_bands]), torch.cat([band.right for band in head_bands])


def flex(case: Case, scale: float, device: torch.device, training: bool) -> Callable[..., Tensor] | None:
    """Compiled FlexAttention; on the CPU as it is, and not backward, which it does not have there."""
    if device.type != "cuda" and training:
        return None
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    left, right = (reach.to(device) for reach in bands(case))

    def seen(text: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key >= query - left[head]) & (key <= query + right[head])

    mask = create_block_mask(seen, None, HEADS, case.words, case.words, device=str(device))
    function = torch.compile(flex_attention, dynamic=False) if device.type == "cuda" else flex_attention
    return lambda q, k, v: function(q, k, v, block_mask=mask, scale=scale)


def masked(case: Case, scale: float, device: torch.device, training: bool) -> Callable[..., Tensor] | None:
    """SDPA with a mask `[1, heads, words, words]`, where that is not too large."""
    if HEADS * case.words**2 * case.dtype.itemsize > _MOST:
        return None
    left, right = (reach.to(device)[:, None, None] for reach in bands(case))
    place = torch.arange(case.words, device=device)
    mask = torch.zeros(1, HEADS, case.words, case.words, device=device, dtype=case.dtype)
    away = place - place[:, None]
    for head in range(HEADS):
        mask[0, head].masked_fill_((away < -left[head]) | (away > right[head]), float("-inf"))
    return lambda q, k, v: scaled_dot_product_attention(q, k, v, mask, scale=scale)


def dense(case: Case, scale: float, device: torch.device, training: bool) -> Callable[..., Tensor] | None:
    """SDPA of all pairs."""
    return lambda q, k, v: scaled_dot_product_attention(q, k, v, scale=scale)


def interleaved_events(systems: dict[str, Run], rounds: int) -> dict[str, list[float]]:
    """Seconds of each system on the GPU in each round; in a round they take turns."""

    def measure(function: Run, times: int) -> float:
        events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        events[0].record()
        for _ in range(times):
            function()
        events[1].record()
        torch.cuda.synchronize()
        return events[0].elapsed_time(events[1]) / 1000 / times

    for function in systems.values():  # what is compiled when it first runs
        function()
    torch.cuda.synchronize()
    often = {
        name: max(1, min(200, round(_TIMED / max(measure(function, 3), 1e-6))))
        for name, function in systems.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, function in systems.items():
            seconds[name].append(measure(function, often[name]))
    return seconds


def time_steps(rounds: int, device: torch.device, lengths: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Words per second of training steps of MS-Trans and of headwise's own Transformer."""
    vocabulary = Vocabulary.build([[f"w{number}" for number in range(VOCABULARY)]])
    texts = BATCH if device.type == "cuda" else 2
    for words in lengths:
        sizes = spread_lengths(words, texts)
        random = torch.Generator().manual_seed(0)
        encoded = [
            EncodedText(torch.randint(len(vocabulary), (n,), generator=random).numpy()) for n in sizes
        ]
        targets = torch.randint(2, (texts,), generator=random)
        for bfloat16 in (False, True) if device.type == "cuda" else (False,):
            torch.manual_seed(0)
            systems: dict[str, Run] = {
                name: training_step(config, vocabulary, encoded, targets, device, bfloat16=bfloat16)
                for name, config in ((MS, MSTransformerConfig()), (OWN, TransformerConfig()))
            }
            events = device.type == "cuda"
            times = interleaved_events(systems, rounds) if events else interleaved(systems, rounds)
            speeds = {name: sum(sizes) / statistics.median(seconds) for name, seconds in times.items()}
            precision = "bfloat16" if bfloat16 else "float32"
            summary = ", ".join(f"{name} {speed:,.0f} words/s" for name, speed in speeds.items())
            print(f"  training step, {words} words, {precision}: {summary}", file=sys.stderr, flush=True)
            yield {"words": words, "precision": precision, "words_per_second": speeds}


def rows(cases: list[dict[str, Any]]) -> list[Row]:
    """For each kind of windows, type and pass: the least favourable length from 1,024 words on (all where
    none is as long)."""
    table_rows = []
    longest = max(case["words"] for case in cases)
    judged = [case for case in cases if case["words"] >= min(JUDGED, longest)]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for case in judged:
        groups.setdefault((case["windows"], case["dtype"], case["pass"]), []).append(case)
    for rival, bar in ((FLEX, ">= 1.2"), (MASKED, ""), (DENSE, "")):
        for (windows, dtype, name), group in groups.items():
            ratios = {
                case["words"]: case["milliseconds"][rival] / case["milliseconds"][OURS]
                for case in group
                if rival in case["milliseconds"]
            }
            if ratios:
                least = min(ratios, key=lambda words: ratios[words])
                what = f"attention on a GPU, {rival} / headwise: {windows}, {dtype}, {name}"
                lengths = (
                    f"{min(ratios):,} to {max(ratios):,} words" if len(ratios) > 1 else f"{least:,} words"
                )
                table_rows.append(Row(f"{what}; least of {lengths}, at {least:,}", ratios[least], bar))
    return table_rows


def step_rows(steps: list[dict[str, Any]]) -> list[Row]:
    """Training steps: the ratio first, then words per second."""
    table_rows = []
    for step in steps:
        speeds = step["words_per_second"]
        what = f"training step on a GPU, texts of {step['words']} words, {step['precision']}"
        table_rows.append(Row(f"{what}: transformer / MS-Trans", speeds[MS] / speeds[OWN]))
        table_rows.append(Row(f"{what}: MS-Trans", speeds[MS], unit="words/s"))
    return table_rows


def times_table(cases: list[dict[str, Any]]) -> str:
    """Milliseconds of all cases, in Markdown."""
    systems = [OURS, FLEX, MASKED, DENSE]
    lines = [f"| ms | | | words | {' | '.join(systems)} |", "|---|---|---|---:|" + "---:|" * len(systems)]
    for case in cases:
        milliseconds = case["milliseconds"]
        cells = [f"{milliseconds[system]:.3f}" if system in milliseconds else "-" for system in systems]
        case_cells = f"{case['windows']} | {case['dtype']} | {case['pass']} | {case['words']:,}"
        lines.append(f"| {case_cells} | {' | '.join(cells)} |")
    return "\n".join(lines)
