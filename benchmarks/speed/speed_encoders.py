"""Encoders at prediction: MS-Trans against its floor and against padded Transformers."""

import statistics
import sys
from collections.abc import Callable

import torch
from torch import nn

from benchmarks.common.timing import forward_pass, interleaved, products_alone, profile, training_mode
from benchmarks.speed.speed_rivals import FastPath, PaddedTransformer, padded_run
from benchmarks.speed.speed_table import Result, Row
from benchmarks.speed.speed_texts import (
    BATCH,
    DOMAINS,
    ORDERS,
    TextBatch,
    missing_data,
    sampled,
    test_batches,
)
from headwise.nn.encoders import ENCODERS, TransformerConfig
from headwise.nn.ragged import Ragged

OURS, FLOOR, PADDED, FAST = "ms-transformer", "floor", "padded Transformer", "torch fast path"
QUICK = (OURS, "transformer", "bilstm")
FULL = (*QUICK, "star-transformer", "bp-transformer")
WHOLE = ("MR", "imdb")  # domains with figures of their own
# Attention scores of a padded layer that are timed at most (see `padded_run`). Much fewer would stay in
# the processor's caches, and a text would then take a third of what it takes in its whole batch.
_MOST, _MOST_QUICK = 1 << 29, 1 << 26

# seconds[order][domain][system], for all texts of the domain's timed batches
Seconds = dict[str, dict[str, dict[str, float]]]

BARS = {  # (system, order) -> the mean over the domains, MR, IMDB, each over MS-Trans
    (PADDED, "sorted"): (">= 6", ">= 3.5", ">= 8"),
    (PADDED, "random"): (">= 25", ">= 10", ">= 40"),
    (FAST, "sorted"): (">= 4.5", "", ""),
    (FAST, "random"): ("", "", ""),
    ("transformer", "sorted"): ("", "", ""),
    ("transformer", "random"): ("", "", ""),
}


def run(*, quick: bool, rounds: int, domains: tuple[str, ...] = DOMAINS) -> Result | str:
    """Time all systems on the test texts; or why not."""
    if (reason := missing_data()) is not None:
        return reason
    torch.manual_seed(0)
    encoders = {name: ENCODERS[name][0](ENCODERS[name][1]()).eval() for name in (QUICK if quick else FULL)}
    config = TransformerConfig()
    rivals = {PADDED: PaddedTransformer(config).eval(), FAST: FastPath(config).eval()}
    seconds: Seconds = {}
    texts: dict[str, dict[str, int]] = {}
    warm = False
    for order in ORDERS:
        batches = {domain: test_batches(domain, order) for domain in domains}
        if quick:
            batches = sampled(batches, complete=("MR",), middle=("imdb",))
        seconds[order], texts[order] = {}, {}
        for domain, domain_batches in batches.items():
            total: dict[str, float] = {}
            for batch in domain_batches:
                systems, shares = prepare(batch, encoders, rivals, config, _MOST_QUICK if quick else _MOST)
                times = interleaved(systems, rounds, warm_up=0 if warm else 1)
                warm = True
                for name, measured in times.items():
                    one = statistics.median(measured) / shares.get(name, 1.0)
                    total[name] = total.get(name, 0.0) + one
            seconds[order][domain] = total
            texts[order][domain] = sum(len(batch.texts) for batch in domain_batches)
            print(f"  {order}, {domain}: {line(total)}", file=sys.stderr, flush=True)
    figure = {
        order: {
            domain: {name: 1000 * time * BATCH / texts[order][domain] for name, time in by_system.items()}
            for domain, by_system in by_domain.items()
        }
        for order, by_domain in seconds.items()
    }
    notes = ["encoders at prediction in float32; sorted batches go from short texts to long ones"]
    if quick:
        notes.append(
            "quick: a batch of each domain (all of MR), and of large batches the padded rivals read "
            "a part of the texts, padded as before"
        )
    return Result(rows(seconds), {"ms_per_batch_of_128": figure}, notes)


def prepare(
    batch: TextBatch,
    encoders: dict[str, nn.Module],
    rivals: dict[str, nn.Module],
    config: TransformerConfig,
    most: int,
) -> tuple[dict[str, Callable[[], None]], dict[str, float]]:
    """Everything that is timed on a batch; and what share of its texts the rivals read."""
    values = torch.randn(sum(batch.sizes), config.width)
    with training_mode(encoders[OURS], training=False), torch.inference_mode():
        products = profile(encoders[OURS], Ragged.from_lengths(values, batch.sizes)).products
    assert products is not None
    systems = {FLOOR: products_alone(products)}
    systems |= {name: forward_pass(encoder, values, batch.sizes) for name, encoder in encoders.items()}
    shares = {}
    nodes = [size + 1 for size in batch.sizes]  # the classification node, which ours has too
    for name, rival in rivals.items():
        padded = padded_run(rival, nodes, config.width, config.heads, most)
        systems[name], shares[name] = padded.run, padded.share
    return systems, shares


def rows(seconds: Seconds) -> list[Row]:
    """The ratios of the issue."""
    table_rows = []
    for order in ORDERS:
        ratios = {domain: times[OURS] / times[FLOOR] for domain, times in seconds[order].items()}
        bars = ("<= 1.35", "", "<= 1.5") if order == "sorted" else ("", "", "")
        table_rows += three(f"MS-Trans / floor, {order}", ratios, bars)
    for (system, order), bars in BARS.items():
        ratios = {domain: times[system] / times[OURS] for domain, times in seconds[order].items()}
        table_rows += three(f"{system} / MS-Trans, {order}", ratios, bars)
    return table_rows


def three(what: str, ratios: dict[str, float], bars: tuple[str, str, str]) -> list[Row]:
    """The mean over the domains and their median (one very long text decides a padded batch), MR, IMDB."""
    table_rows = [
        Row(f"{what}: mean of {len(ratios)} domains", statistics.mean(ratios.values()), bars[0]),
        Row(f"{what}: median of {len(ratios)} domains", statistics.median(ratios.values()), ""),
    ]
    for domain, bar in zip(WHOLE, bars[1:], strict=True):
        if domain in ratios:
            table_rows.append(Row(f"{what}: {domain}", ratios[domain], bar))
    return table_rows


def line(total: dict[str, float]) -> str:
    return ", ".join(f"{name} {time:.3f} s" for name, time in total.items())
