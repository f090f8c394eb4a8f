"""`headwise bench`: time an encoder on this machine and compare it with its matrix products."""

# The type of the flags is created at run time from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.app.cli.console import Integer, Integers, Switch
from headwise.app.cli.flags import flag_values, flags_annotation, flags_of, load_settings

EncoderFlags = flags_annotation(
    "EncoderFlags", flags_of("encoder"), prefix="--encoder", group="Encoder", order=1
)


def bench(
    model: Path | None = None,
    /,
    *,
    encoder: Annotated[
        str | None,
        Parameter(help=f"Instead of a model, a new encoder: {', '.join(load_settings()['encoders'])}."),
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
    """Time an encoder on this machine, beside its matrix products.

    The encoder, that of a model or a new one, reads random word vectors (with balanced trees, if it needs
    some). The floor is what its linear layers alone take on the same words, without attention, norms or
    anything else; so "/ floor" says how much is left to gain.

    Args:
        model: Folder of a model.
        encoder: Replaced by the list of encoders.
        lengths: Words of the texts of each batch; they vary by a tenth. \\[128 512]
        batch: Texts of a batch.
        rounds: Of which the median is told.
        threads: Of PyTorch; 0 for as many as it takes by itself.
        explain: Also tell what each layer of attention takes, how each head is computed, why, and what the
            next best way would take.
        as_json: Print JSON for other programs.

    Raises:
        HeadwiseError: The model or the settings cannot be used.
    """
    from headwise.app.cli.bench_tables import time_encoder  # with it comes torch

    time_encoder(
        model,
        encoder,
        flag_values(settings),
        lengths=lengths,
        batch=batch,
        rounds=rounds,
        threads=threads,
        explain=explain,
        as_json=as_json,
    )
