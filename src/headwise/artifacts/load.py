"""Loading a model folder.

No code from the folder is executed, and all contents are validated: the files against the manifest
(damage), and the contents against each other (manipulation, as an attacker can write a valid manifest). The
configuration is untrusted too, so the model is first built without memory for its weights (`build_empty`).
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.overrides import TorchFunctionMode

from headwise.artifacts.folder_config import load_calibration, read_folder_config
from headwise.artifacts.model_folder import StoreError, VerifiedFolder, read_vocabulary, to_json
from headwise.artifacts.model_info import ModelInfo
from headwise.artifacts.weights import TensorSpec, WeightsFile, read_weights
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import (
    CONFIG,
    DATA,
    LABELS,
    METRICS,
    PRETRAINED,
    STATIC_EMBEDDINGS,
    TOKENIZER,
    WEIGHTS,
)
from headwise.models.explanation import ExplanationList
from headwise.models.tasks import find_task, find_task_settings
from headwise.nn.networks.model_config import ModelConfig
from headwise.runtime.outputs import OutputsError
from headwise.training.fit import default_float32_cpu, pick_device

if TYPE_CHECKING:
    from headwise.nn.networks.trained_models import ModelType, TrainedModel


class _SkipInitialisation(TorchFunctionMode):
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
    outputs: JsonMapping,
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
        with torch.device("meta"), _SkipInitialisation():
            model, files = find_task(config.task).model, {} if parts is None else {"files": parts}
            return model(config, vocabulary, **model.read_outputs(outputs), **files)
    except OutputsError as error:
        raise StoreError(f"{where[1]}: {error.args[0]}", code="HW507") from error
    except HeadwiseError as error:
        raise StoreError(f"{where[0]}: {error.args[0]}", code="HW507") from error
    except Exception as error:  # values that torch refuses: a dropout of 2, more numbers than 2**63
        raise StoreError(f"{where[0]}: the settings do not make a model ({error})", code="HW507") from error


@overload
def load_model(
    folder: PathLike[str] | str, model_type: None = None, *, device: torch.device | str = "cpu"
) -> "TrainedModel": ...


@overload
def load_model(
    folder: PathLike[str] | str, model_type: "type[ModelType]", *, device: torch.device | str = "cpu"
) -> "ModelType": ...


@default_float32_cpu()
def load_model(
    folder: PathLike[str] | str, model_type: type[Any] | None = None, *, device: torch.device | str = "cpu"
) -> Any:
    """Load a model folder that `save_model` wrote, ready to predict (in eval mode): the model of its task,
    see `headwise.models.tasks.TASKS`.

        model = load_model("intents", TextClassifierModel)
        for prediction in model.predict(["I cannot log in"]):
            print(prediction.label, prediction.label_probabilities)

    Draws no random numbers. The folder itself may be reached through a link; the files in it must be
    plain files.

    Args:
        folder: A folder that `save_model` wrote.
        model_type: The class of the model that is expected, such as `TextClassifierModel`; editors and type
            checkers then complete its methods. None: a model of any task.
        device: The device of the model: cpu, cuda, ..., or auto for a GPU if there is one.

    Raises:
        StoreError: The folder cannot be loaded (see `StoreError`); the message names the file. HW507: It
            holds a model of another class than `model_type`.
        ConfigError: The device cannot be used.
    """
    device = pick_device(device)
    files = VerifiedFolder(folder)
    config, dtype = read_folder_config(files)
    where = files.name(CONFIG)
    model_class, sections = find_task(config.task).model, find_task_settings(config.task).sections
    if model_type is not None and not issubclass(model_class, model_type):
        raise StoreError(
            f"{where}: a model of the task {config.task!r}, which is a {model_class.__name__}; expected a "
            f"{model_type.__name__}",
            code="HW507",
        )
    vocabulary = read_vocabulary(files, model_class.read_vocabulary)
    outputs = files.json(LABELS)
    parts: JsonObject | None = None
    if config.pretrained.name:
        tokenizer = to_json(files.json(TOKENIZER)).decode()
        parts = {PRETRAINED: files.json(PRETRAINED), TOKENIZER: tokenizer}
    if config.base.name:
        parts = {STATIC_EMBEDDINGS: files.json(STATIC_EMBEDDINGS)}

    def read(weights: WeightsFile) -> tuple[tuple[Any, dict[str, NDArray]], str]:
        # Every layer has weights, so a larger number is wrong, and would take long to build.
        counts = (getattr(getattr(config, section), "layers", 0) for section in sections)
        layers = max(count for count in counts if isinstance(count, int))
        if layers > len(weights):
            raise StoreError(
                f"{where}: {layers} layers, but {WEIGHTS} holds {len(weights)} tensors", code="HW509"
            )
        model = build_empty(config, vocabulary, outputs, (where, files.name(LABELS)), parts)
        arrays, digest = weights.read(_specs(model), dtype)
        return (model, arrays), digest

    model, arrays = read_weights(files, read)
    try:
        model.load_state_dict(
            {name: torch.from_numpy(array) for name, array in arrays.items()}, assign=True
        )
    except RuntimeError as error:  # index tensors with out-of-range values
        raise StoreError(f"{files.path / WEIGHTS}: {error}", code="HW509") from error
    has_references = getattr(model, "reference_vectors", None) is not None
    load_calibration(model, model_class.FITTED, files, has_references=has_references)
    model.card, model.explainer = partial(_card, files), partial(_explain, find_task(config.task))
    return model.eval().to(device)


def _specs(model: Any) -> dict[str, TensorSpec]:
    """The shapes and types of the tensors of a model, by name."""
    return {
        name: TensorSpec(tuple(tensor.shape), np.dtype(str(tensor.dtype).removeprefix("torch.")))
        for name, tensor in model.state_dict().items()
    }


def _explain(task: Any, model: Any, items: Sequence[Any]) -> ExplanationList:
    """The explanations of a loaded model."""
    return ExplanationList(task.explain(model, items))


def _card(files: VerifiedFolder, model: Any) -> str:
    """The notebook display of a loaded model; without scores if the folder has changed since."""
    from headwise.artifacts.model_card import model_html  # imported only when needed

    info: JsonObject = {}
    for name in (DATA, METRICS):
        with suppress(StoreError):
            info[name.removesuffix(".json")] = files.json(name)
    return model_html(model, ModelInfo(info))
