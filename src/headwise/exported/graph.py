"""Conversion of a module on padded tensors to an ONNX file."""

import contextlib
import io
import logging
import warnings
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from headwise.exported.errors import ExportError, library

OPSET = 18
"""ONNX operator set; runtimes have supported it since the end of 2022."""
EXPORTS = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9)
"""Whether the exporter uses `torch.export`. Before torch 2.9 that did not support dynamic sizes, so older
versions use the tracing exporter."""
LIBRARIES = ("onnx", "onnxscript") if EXPORTS else ("onnx",)
"""Libraries that the exporter needs in addition to torch."""
_TEXTS, _WORDS = 3, 5
"""Sizes of the example inputs; the graph accepts other numbers of texts and words."""


def example(name: str, width: int) -> Tensor:
    """An example input for tracing a graph.

    Args:
        name: Name of the input: `lengths` and `counts` are `[texts]`, `summary`, `compared` and `shapes`
            `[texts, width]`, `weights`, `letters` and `grams` `[texts, words]`, all others
            `[texts, words, width]`. Inputs of pairs end in the number of the text (`tokens_1`).
        width: Number of features, for inputs that have features.
    """
    name, _, side = name.partition("_")
    # Different lengths for the two texts of a pair, and for letters and n-grams, so no sizes are merged.
    words = _WORDS + (side == "2" or name in ("grams", "counts"))
    if name in ("lengths", "counts"):
        return torch.arange(_TEXTS) + words - _TEXTS + 1
    if name in ("letters", "grams"):
        return torch.ones(_TEXTS, words, dtype=torch.int64)
    shapes = {
        "weights": (_TEXTS, words),
        **dict.fromkeys(("summary", "compared", "shapes"), (_TEXTS, width)),
    }
    return torch.ones(shapes.get(name, (_TEXTS, words, width)))


def _open(name: str) -> tuple[int, ...]:
    """The dynamic dimensions of an input: texts and words."""
    rows = ("lengths", "counts", "summary", "compared", "shapes")
    return (0,) if name.partition("_")[0] in rows else (0, 1)


def onnx_of(module: nn.Module, inputs: Mapping[str, Tensor], outputs: tuple[str, ...]) -> bytes:
    """Convert a module to the content of an ONNX file.

    Args:
        module: Takes tensors in the order of `inputs`, for any number of texts and words.
        inputs: Example inputs by name.
        outputs: Names of the outputs.

    Raises:
        ExportError: HW951 a library is missing, HW952 the exporter does not support the module.
    """
    for name in LIBRARIES:
        library(name, "headwise export")
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # about internals of the exporter
            model = (_exported if EXPORTS else _traced)(module.eval(), inputs, outputs)
    except Exception as error:
        lines = str(error.__cause__ or error).strip().splitlines() or [type(error).__name__]
        raise ExportError(
            f"the exporter of torch {torch.__version__} cannot write this network down: {lines[0]:.300}",
            code="HW952",
        ) from error
    finally:
        log.setLevel(level)
    return _bare(model).SerializeToString()


def _exported(module: nn.Module, inputs: Mapping[str, Tensor], outputs: tuple[str, ...]) -> Any:
    free = torch.export.Dim.DYNAMIC
    program: Any = torch.onnx.export(
        module,
        tuple(inputs.values()),
        dynamo=True,
        dynamic_shapes=(tuple(dict.fromkeys(_open(name), free) for name in inputs),),
        input_names=list(inputs),
        output_names=list(outputs),
        opset_version=OPSET,
        verbose=False,
    )
    return program.model_proto


def _traced(module: nn.Module, inputs: Mapping[str, Tensor], outputs: tuple[str, ...]) -> Any:
    content: Any = io.BytesIO()
    torch.onnx.export(
        module,
        tuple(inputs.values()),
        content,
        dynamo=False,
        dynamic_axes={name: list(_open(name)) for name in inputs},
        input_names=list(inputs),
        output_names=list(outputs),
        opset_version=OPSET,
    )
    model = library("onnx", "headwise export").load_model_from_string(content.getvalue())
    result = module(*inputs.values())
    tensors = result if isinstance(result, tuple) else (result,)
    for output, tensor in zip(model.graph.output, tensors, strict=True):
        # Tracing may leave this dimension dynamic, but loading checks it.
        output.type.tensor_type.shape.dim[-1].dim_value = tensor.shape[-1]
    return model


def _bare(model: Any) -> Any:
    """Remove metadata of the operators: lines of source code, names of folders."""
    model.ClearField("metadata_props")
    model.graph.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    for part in (*model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return model
