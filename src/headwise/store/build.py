"""Construction of a model without weights, cheaply, from an untrusted configuration."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from headwise.errors import ConfigError, HeadwiseError
from headwise.models.answers.outputs import OutputsError
from headwise.models.limits import check_limits
from headwise.models.model_config import ModelConfig
from headwise.store.errors import StoreError
from headwise.tasks import find_task


def parse_config(data: dict[str, Any], where: str) -> ModelConfig:
    """Parse the configuration of a model.

    Raises:
        StoreError: HW507, it is invalid.
    """
    try:
        check_limits(data, where)
    except ConfigError as error:
        raise StoreError(error.args[0], code="HW507") from error
    try:
        task = find_task(data.get("task", ModelConfig.task))
    except HeadwiseError as error:
        raise StoreError(f"{where}: {error.args[0]}", code="HW507") from error
    try:
        return ModelConfig.from_json(data, where, task.sections)
    except HeadwiseError as error:
        raise StoreError(error.args[0], code="HW507") from error
    except Exception as error:  # tables where names are expected and the like
        raise StoreError(f"{where}: no configuration of a model ({error})", code="HW507") from error


class _NoFilling(TorchFunctionMode):
    """Skips the initialisation of new parameters, including those made as `randn(size) * number`.

    The values would be overwritten, and on the meta device random numbers and arithmetic take 3 s the first
    time, as they import torch's compiler.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", None) == "torch.nn.init" and kwargs and "tensor" in kwargs:
            return kwargs["tensor"]
        if func is torch.randn:
            return torch.empty(*args, **(kwargs or {}))
        if func in (Tensor.normal_, Tensor.uniform_) or (func is Tensor.mul and isinstance(args[1], float)):
            return args[0]
        return func(*args, **(kwargs or {}))


def build_empty(
    config: ModelConfig,
    vocabulary: Any,
    outputs: Mapping[str, Any],
    where: tuple[str, str],
    parts: Mapping[str, Any] | None = None,
) -> Any:
    """A model on the meta device: shapes and types without memory. Draws no random numbers.

    Args:
        config: The configuration of the model.
        vocabulary: The vocabulary of the model.
        outputs: The JSON of the outputs (labels).
        where: The names of the configuration file and of the outputs file, for messages.
        parts: The files of the pretrained encoder or the static embeddings; None if there are none.

    Raises:
        StoreError: HW507, the settings do not make a model.
    """
    try:
        with torch.device("meta"), _NoFilling():
            model, files = find_task(config.task).model, {} if parts is None else {"files": parts}
            return model(config, vocabulary, **model.read_outputs(outputs), **files)
    except OutputsError as error:
        raise StoreError(f"{where[1]}: {error.args[0]}", code="HW507") from error
    except HeadwiseError as error:
        raise StoreError(f"{where[0]}: {error.args[0]}", code="HW507") from error
    except Exception as error:  # values that torch refuses: a dropout of 2, more numbers than 2**63
        raise StoreError(f"{where[0]}: the settings do not make a model ({error})", code="HW507") from error
