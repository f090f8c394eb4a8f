"""Size and time of one MS-SAN and of one for each direction, at the paper's sizes (MS-SAN, Table 3).

    python -m benchmarks.papers.ms_san_costs --threads 1
    python -m benchmarks.papers.ms_san_costs --table       # only print stored results

The parameters are those of encoder, pooling and classifier; word vectors stay as they are. A step is one of
training on 32 pairs, premises of some 14 words and hypotheses of 8, with random vectors and balanced trees:
forward, backward, update. Both take turns, and the median counts. No data are needed.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.timing import balanced_heads, choose_clock, interleaved, spread_lengths
from headwise import __version__
from headwise.core.allocator import keep_freed_memory
from headwise.nn.embeddings.encoded_batches import parsed_layout
from headwise.nn.encoders import MSSAN, MSSANConfig
from headwise.nn.encoders.pooling import Readout
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import ClassifierConfig, PairConfig
from headwise.nn.task_layers.pair_layers import PairHead

RESULTS = Path(__file__).parent / "results" / "ms_san_costs.json"
PAIRS, PREMISE, HYPOTHESIS = 32, 14, 8
LABELS = 3
PAPER = {"ms-san": ("1.8 million", "2 (GPU)"), "separate": ("4.0 million", "4 (GPU)")}


class PairNetwork(nn.Module):
    """Encoder, attentive and maximum pooling, perceptron on the features of the pair."""

    def __init__(self, *, separate: bool):
        super().__init__()
        config = MSSANConfig(separate=separate)
        self.encoder = MSSAN(config)
        self.readout = Readout("attentive,max", config.output_width)
        self.head = PairHead(
            self.readout.width, LABELS, PairConfig(features="product"), ClassifierConfig(hidden=300)
        )

    def forward(self, texts: Ragged) -> torch.Tensor:
        """First texts of pairs, then the second ones -> `[pairs, labels]`."""
        return self.head(*self.readout(self.encoder(texts)).chunk(2))


def step_of(network: PairNetwork) -> Callable[[], None]:
    """A training step on a batch of pairs, with a new layout each time."""
    sizes = [*spread_lengths(PREMISE, PAIRS), *spread_lengths(HYPOTHESIS, PAIRS)]
    values = torch.randn(sum(sizes), MSSANConfig().width)
    heads = [balanced_heads(size) for size in sizes]
    targets = torch.arange(PAIRS) % LABELS
    optimizer = torch.optim.Adam(network.parameters(), fused=True)

    def run() -> None:
        optimizer.zero_grad()
        cross_entropy(network(Ragged(values, parsed_layout(heads, values.device))), targets).backward()
        optimizer.step()

    return run


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """Parameters and milliseconds of a step, by network."""
    torch.manual_seed(0)
    networks = {name: PairNetwork(separate=name == "separate") for name in PAPER}
    seconds = interleaved({name: step_of(network) for name, network in networks.items()}, rounds, warm_up=3)
    return {
        name: {
            "parameters": sum(p.numel() for p in network.parameters()),
            "milliseconds": 1000 * statistics.median(seconds[name]),
        }
        for name, network in networks.items()
    }


def print_table(measurements: dict[str, Any]) -> None:
    """Print the stored results in Markdown."""
    print_header(["", "parameters", "paper", "milliseconds of a step on 32 pairs", "paper"])
    for name, (size, time) in PAPER.items():
        network = measurements["networks"][name]
        print_row([name, f"{network['parameters']:,}", size, f"{network['milliseconds']:.1f}", time])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--results", type=Path, default=RESULTS, help="file")
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}; expected 1 or more")
    if not options.table:
        if options.threads:
            torch.set_num_threads(options.threads)
        keep_freed_memory()
        networks = measure(options.rounds)
        environment = {"clock": choose_clock()[0], "threads": torch.get_num_threads()}
        result = {"networks": networks, **environment, "headwise": __version__, "torch": torch.__version__}
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    elif not options.results.exists():
        print(f"nothing has been measured yet: {options.results} is not there", file=sys.stderr)
        return 2
    print_table(json.loads(options.results.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
