"""A module of padded tensors as the content of an ONNX file."""

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
"""Of the operators; what runs ONNX files has known it since the end of 2022."""
EXPORTS = tuple(int(own) for own in torch.__version__.split(".")[:2]) >= (2, 9)
"""Whether torch writes down what `torch.export` has seen; before 2.9 it could not do that with sizes that
are left open, so there a run is traced, as was usual then."""
LIBRARIES = ("onnx", "onnxscript") if EXPORTS else ("onnx",)
"""What an exporter needs beside torch."""
_TEXTS, _WORDS = 3, 5
"""Sizes of what a graph is traced with; other numbers of texts and words come out of it as well."""


def example(name: str, width: int) -> Tensor:
    """An input to trace a graph with.

    Args:
        name: What it is: `lengths` and `counts` `[texts]`, `summary`, `compared` and `shapes`
            `[texts, width]`, `weights`, `letters` and `grams` `[texts, words]`, or anything else,
            `[texts, words, width]`; of pairs with the number of the text behind it.
        width: Its features, if it has some.
    """
    name, _, side = name.partition("_")
    # The two texts of a pair have as many words by chance alone, and so have letters and n-grams.
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
    """Which sizes of an input a graph leaves open: those of texts and of words."""
    rows = ("lengths", "counts", "summary", "compared", "shapes")
    return (0,) if name.partition("_")[0] in rows else (0, 1)


def onnx_of(module: nn.Module, inputs: Mapping[str, Tensor], outputs: tuple[str, ...]) -> bytes:
    """The content of the ONNX file of a module.

    Args:
        module: Takes tensors in the order of `inputs`, for any number of texts and words.
        inputs: Examples by their names.
        outputs: The names of what it gives.

    Raises:
        ExportError: HW951 a library is missing, HW952 the exporter cannot write the module down.
    """
    for name in LIBRARIES:
        library(name, "headwise export")
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")  # of the exporter's own affairs
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
    given = module(*inputs.values())
    each = given if isinstance(given, tuple) else (given,)
    for own, tensor in zip(model.graph.output, each, strict=True):
        # Tracing may leave it open, and who loads the file compares it.
        own.type.tensor_type.shape.dim[-1].dim_value = tensor.shape[-1]
    return model


def _bare(model: Any) -> Any:
    """The model without what its operators were made of: lines of code, names of folders."""
    model.ClearField("metadata_props")
    model.graph.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    for part in (*model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return model
