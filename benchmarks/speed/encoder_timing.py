"""Time an encoder on this machine, compared with its matrix products.

    python -m benchmarks.speed.encoder_timing --encoder ms-transformer --lengths 128 512 --threads 1
    python -m benchmarks.speed.encoder_timing my-model --explain

`--help` lists the settings of a new encoder.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as for the command `headwise`, before torch is loaded

import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
from cyclopts import App, CycloptsError, Parameter
from rich.table import Table
from torch import nn

from benchmarks.common.timing import LayerSpeed, Speed, choose_clock, measure, random_batch, time_layers
from headwise.app.cli.argument_types import Integer, Integers, Switch
from headwise.app.cli.console import columns, fail, note, print_json, standard_output
from headwise.app.cli.flags import flag_values, flags
from headwise.artifacts import load_model
from headwise.core.allocator import keep_freed_memory
from headwise.core.config import from_dict, unknown_name_error
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.encoders import ENCODERS

EncoderFlags = flags(
    "EncoderFlags",
    {name: config for name, (_, config) in ENCODERS.items()},
    prefix="--encoder",
    group="Encoder",
    order=1,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process; returns the exit code."""
    app = App(
        name="encoder_timing",
        help_format="markdown",
        print_error=False,
        exit_on_error=False,
        result_action="return_value",
    )
    app.default(time_encoder)
    try:
        app(arguments)
    except (CycloptsError, HeadwiseError) as error:
        fail(str(error))
        return 2
    return 0


def time_encoder(
    model: Path | None = None,
    /,
    *,
    encoder: Annotated[
        str | None, Parameter(help=f"Instead of a model, a new encoder: {', '.join(ENCODERS)}.")
    ] = None,
    lengths: Annotated[
        Integers, Parameter(negative_iterable=(), consume_multiple=True, show_default=False)
    ] = (128, 512),
    batch: Integer = 32,
    rounds: Integer = 5,
    threads: Integer = 0,
    explain: Switch = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=(), show_default=False)] = False,
    settings: EncoderFlags = None,
) -> None:
    """Time an encoder on this machine, compared with its matrix products.

    The encoder, that of a model or a new one, reads random word vectors (with balanced trees, if it needs
    some). The floor is the time of its linear layers alone on the same words, without attention, norms or
    anything else; so "/ floor" is what is left to gain.

    Args:
        model: Folder of a model.
        encoder: Replaced by the list of encoders.
        lengths: Words of the texts of each batch; they vary by a tenth. \\[128 512]
        batch: Texts of a batch.
        rounds: Number of rounds; the median counts.
        threads: Of PyTorch; 0 for as many as it takes by itself.
        explain: Also show the time of each layer of attention, how each head is computed, why, and the time
            of the next best way.
        as_json: Print JSON for other programs.

    Raises:
        HeadwiseError: The model or the settings cannot be used.
    """
    module, width, name = _encoder(model, encoder, flag_values(settings))
    for flag, value, low in (("batch", batch, 1), ("rounds", rounds, 1), ("threads", threads, 0)):
        if value < low:
            raise ConfigError(f"--{flag} {value}; expected {low} or more")
    if not lengths or min(lengths) < 1:
        raise ConfigError(f"--lengths {' '.join(map(str, lengths))}; expected lengths of 1 or more")
    if threads:
        torch.set_num_threads(threads)
    keep_freed_memory()
    speeds = [measure(module, width, length, batch, rounds=rounds) for length in lengths]
    if as_json:
        _print_json(name, speeds, rounds)
        return
    console = standard_output()
    console.print(_speed_table(speeds))
    if explain:
        for speed in speeds:
            x, _ = random_batch(module, width, speed.length, speed.texts)
            layers = time_layers(module, x, speed.anatomy, rounds)
            _tell_layers(layers, speed)
    note(f"{name}, {torch.get_num_threads()} threads, {choose_clock()[0]}, medians over {rounds} rounds")


def _encoder(folder: Path | None, name: str | None, settings: dict[str, Any]) -> tuple[nn.Module, int, str]:
    """The encoder to time, the width of its input vectors, and its name."""
    if (folder is None) == (name is None):
        raise ConfigError("this needs the folder of a model, or --encoder with the name of one; not both")
    if folder is not None:
        if settings:
            raise ConfigError(f"the model in {folder} has its own settings; leave out --encoder.*")
        loaded = load_model(folder)
        if not hasattr(loaded, "encoder"):
            raise ConfigError(f"{folder}: a model of the task {loaded.config.task} has no encoder to time")
        return loaded.encoder, loaded.config.encoder.width, f"the encoder of {folder}"
    if name not in ENCODERS:
        raise unknown_name_error("encoder", str(name), list(ENCODERS))
    module, config = ENCODERS[name]
    filled = from_dict(config, settings, "encoder")
    return module(filled), filled.width, name


def _speed_table(speeds: Sequence[Speed]) -> Table:
    table = columns("words", "texts", "pass", "time", "floor", "/ floor", "words/s", texts=("pass",))
    for speed in speeds:
        for name, seconds, floor in (
            ("forward", speed.forward, speed.floor_forward),
            ("and backward", speed.training, speed.floor_training),
        ):
            ratio = ("-", "-") if floor is None else (_shown(floor), f"{seconds / floor:.2f}")
            rate = f"{speed.words / seconds:,.0f}"
            table.add_row(str(speed.length), str(speed.texts), name, _shown(seconds), *ratio, rate)
    return table


def _tell_layers(layers: Sequence[LayerSpeed], speed: Speed) -> None:
    """Print the time and floor of each layer, and of its heads the implementation, its time and the reasons
    for the choice."""
    console = standard_output()
    console.print(f"\n{speed.length} words, forward: who computes which heads, and why")
    if not layers:
        console.print("no head of this encoder has a prior: its attention has one way to be computed")
        return
    texts = ("heads", "prior", "computed by", "why")
    for layer in layers:
        time, floor = _shown(layer.seconds), _shown(layer.floor)
        console.print(f"\n{layer.layer}: {time}, floor {floor}, / floor {layer.seconds / layer.floor:.2f}")
        table = columns("heads", "prior", "computed by", "time", "why", texts=texts)
        for path_time in layer.paths:
            time = "" if path_time.seconds is None else _shown(path_time.seconds)
            why = list(path_time.path.reasons)
            if path_time.alternative is not None and path_time.alternative_seconds is not None:
                why.append(f"{path_time.alternative}: would take {_shown(path_time.alternative_seconds)}")
            named = (
                _ranges(head + 1 for head in path_time.path.heads),
                path_time.path.prior,
                path_time.path.implementation,
            )
            table.add_row(*named, time, "\n".join(why))
        console.print(table)
    rest = speed.forward - sum(layer.seconds for layer in layers)
    console.print(f"\nall but these layers: {_shown(max(rest, 0.0))}")


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers as ranges: 0, 1, 2, 5 -> `0-2, 5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _shown(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms"


def _print_json(name: str, speeds: Sequence[Speed], rounds: int) -> None:
    environment = {
        "encoder": name,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "clock": choose_clock()[0],
        "rounds": rounds,
    }
    speed_dicts = [asdict(speed) for speed in speeds]
    for path in (path for speed in speed_dicts for path in speed["anatomy"]["paths"]):
        path["heads"] = [head + 1 for head in path["heads"]]  # users count heads from 1
    print_json(environment | {"speeds": speed_dicts})


if __name__ == "__main__":
    sys.exit(main())
