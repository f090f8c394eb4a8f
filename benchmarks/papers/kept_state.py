"""The state of a training run that draws nothing at random after its start: weights, moments, counters."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headwise.core.errors import HeadwiseError
from headwise.training.run_state import check_tensors, load_tensors, write_tensors

SAVE_EVERY = 20.0  # seconds
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def keep_state(
    path: Path, model: nn.Module, optimizer: torch.optim.Adam, counters: Any, identity: dict[str, Any]
) -> None:
    """Write the state, with the identity that a resumed run must share with this one.

    Args:
        path: A safetensors file; one that is there is replaced in one step.
        model: Its weights are saved.
        optimizer: Its moments are saved.
        counters: A dataclass of what JSON can hold.
        identity: Data, seed and the like.
    """
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state[parameter].items():
            tensors[f"optimizer/{name}/{key}"] = value
    metadata = {"counters": json.dumps(asdict(counters)), "identity": json.dumps(identity)}
    write_tensors(tensors, path, metadata)


def read_state(
    path: Path, model: nn.Module, optimizer: torch.optim.Adam, identity: dict[str, Any]
) -> dict[str, Any]:
    """Load a saved state into model and optimizer; returns the fields of the counters.

    Raises:
        HeadwiseError: The file is damaged, or the state of another run.
    """
    tensors, metadata = load_tensors(path)
    if (stored := json.loads(metadata["identity"])) != identity:
        raise HeadwiseError(
            f"{path} is the state of another run, {stored}; this one is {identity}; remove it to restart"
        )
    prefix = "model/"
    weights = {name.removeprefix(prefix): x for name, x in tensors.items() if name.startswith(prefix)}
    check_tensors(path, weights, model.state_dict())
    model.load_state_dict(weights)
    for name, parameter in model.named_parameters():
        optimizer.state[parameter] = {key: tensors[f"optimizer/{name}/{key}"] for key in _MOMENTS}
    return json.loads(metadata["counters"])
