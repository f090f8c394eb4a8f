"""Conversion of a module on padded tensors to an ONNX file; `check_exportable` says which
models can be exported.
"""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, get_args

import torch
from torch import Tensor, nn

from headwise.artifacts.onnx.onnx_errors import ExportError, library
from headwise.nn.encoders.encoder import text_matrices, tree_use
from headwise.nn.encoders.encoder_configs import EncoderName, encoder_name
from headwise.nn.networks.base_model import BaseModel
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_model import TextEncoderModel
from headwise.nn.priors import Prior, Rotary, Shaw, TransformerXL
from headwise.nn.priors.base import Sum
from headwise.text.document_structure import DOCUMENT_MARKS

OPSET = 18
"""ONNX operator set; runtimes have supported it since the end of 2022."""
USES_TORCH_EXPORT = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9)
"""Whether the exporter uses `torch.export`. Before torch 2.9 that did not support dynamic sizes, so older
versions use the tracing exporter."""
LIBRARIES = ("onnx", "onnxscript") if USES_TORCH_EXPORT else ("onnx",)
"""Libraries that the exporter needs in addition to torch."""
_TEXTS, _WORDS = 3, 5
"""Sizes of the example inputs; the graph accepts other numbers of texts and words."""


def example_input(name: str, width: int) -> Tensor:
    """An example input for tracing a graph.

    Args:
        name: Name of the input: `lengths` and `counts` are `[texts]`, `summary`, `compared`, `shapes` and
            `clusters` `[texts, width]`, `weights`, `letters`, `grams` and marks of words `[texts, words]`,
            all others `[texts, words, width]`. Inputs of pairs end in the number of the text (`tokens_1`).
        width: Number of features, for inputs that have features.
    """
    name, _, side = name.partition("_")
    # Different lengths for the two texts of a pair, and for letters and n-grams, so no sizes are merged.
    words = _WORDS + (side == "2" or name in ("grams", "counts"))
    if name in ("lengths", "counts"):
        return torch.arange(_TEXTS) + words - _TEXTS + 1
    if name in ("letters", "grams"):
        return torch.ones(_TEXTS, words, dtype=torch.int64)
    if name == "clusters":
        return torch.ones(_TEXTS, width, dtype=torch.int64)
    if name in DOCUMENT_MARKS:
        return torch.arange(words).div(2, rounding_mode="floor").repeat(_TEXTS, 1)
    shapes = {
        "weights": (_TEXTS, words),
        **dict.fromkeys(("summary", "compared", "shapes"), (_TEXTS, width)),
    }
    return torch.ones(shapes.get(name, (_TEXTS, words, width)))


def _dynamic_dimensions(name: str) -> tuple[int, ...]:
    """The dynamic dimensions of an input: texts and words."""
    rows = ("lengths", "counts", "summary", "compared", "shapes", "clusters")
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
            model = (_exported if USES_TORCH_EXPORT else _traced)(module.eval(), inputs, outputs)
    except Exception as error:
        lines = str(error.__cause__ or error).strip().splitlines() or [type(error).__name__]
        raise ExportError(
            f"the exporter of torch {torch.__version__} cannot write this network down: {lines[0]:.300}",
            code="HW952",
        ) from error
    finally:
        log.setLevel(level)
    return _without_metadata(model).SerializeToString()


def _exported(module: nn.Module, inputs: Mapping[str, Tensor], outputs: tuple[str, ...]) -> Any:
    # While PyTorch exports, it traces an LSTM as a loop; what it cached before has a step for each word of
    # the example, so that the number of words would be fixed.
    with contextlib.suppress(AttributeError):
        torch.ops.aten.lstm.input._dispatch_cache.clear()
    free = torch.export.Dim.DYNAMIC
    program: Any = torch.onnx.export(
        module,
        tuple(inputs.values()),
        dynamo=True,
        dynamic_shapes=(tuple(dict.fromkeys(_dynamic_dimensions(name), free) for name in inputs),),
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
        dynamic_axes={name: list(_dynamic_dimensions(name)) for name in inputs},
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


def _without_metadata(model: Any) -> Any:
    """Remove metadata of the operators: lines of source code, names of folders."""
    model.ClearField("metadata_props")
    model.graph.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    for part in (*model.graph.node, *model.graph.initializer, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    return model


_UNSUPPORTED_ENCODERS = {
    "bp-transformer": "its attention goes along the edges of a tree that is made for each batch",
    "disan": "its attention is cut by the sizes of each batch",
    "tree-lstm": "it reads along dependency trees",
}
ENCODERS = tuple(name for name in get_args(EncoderName) if name not in _UNSUPPORTED_ENCODERS)
"""Encoders that can be exported."""

_UNSUPPORTED_PRIORS: dict[type[Prior], str] = {
    TransformerXL: "its table grows with the text",
    Rotary: "many that run ONNX files know no sine of 64 bits, which its angles need",
}


def check_exportable(model: BaseModel, title: str) -> None:
    """Check that a model can be exported.

    Args:
        model: The model.
        title: Display name of models of its task.

    Raises:
        ExportError: HW952, it cannot; the message gives the reason.
    """
    if not isinstance(model, TextEncoderModel | TagModel):
        raise _unsupported(
            f"a {title}: only taggers and models that give texts or pairs labels or a number are exported"
        )
    name = encoder_name(model.config.encoder)
    if model.config.pretrained.name:
        raise _unsupported(
            f"a model with the pretrained encoder {model.config.pretrained.name!r}: it is an encoder of "
            "Hugging Face's, which their own tools export; distil the model into one with word vectors "
            "(headwise distill), which is exported"
        )
    if name not in ENCODERS:
        raise _unsupported(
            f"the encoder {name}: {_UNSUPPORTED_ENCODERS.get(name, 'it is not one of headwise')}; "
            f"exported are {', '.join(ENCODERS)}"
        )
    heads = [prior for layer in model.encoder.modules() for prior in getattr(layer, "priors", ())]
    for kind, why in _UNSUPPORTED_PRIORS.items():
        if any(isinstance(part, kind) for prior in heads for part in graph_parts_of(prior)):
            raise _unsupported(f"heads with the prior {kind.name}: {why}")
    if not USES_TORCH_EXPORT and any(
        isinstance(part, Shaw) for prior in heads for part in graph_parts_of(prior)
    ):
        raise _unsupported(
            f"heads with the prior shaw with torch {torch.__version__}; torch 2.9 and later can"
        )
    if named := text_matrices(model.encoder):
        raise _unsupported(f"heads with the prior {named[0].name}: its matrices are computed by your code")
    if tree_use(model.encoder) != "none":
        raise _unsupported(
            f"an encoder ({name}) whose heads go by dependency trees: the parser is not part of the network"
        )


def graph_parts_of(prior: Prior) -> Iterator[Prior]:
    """A prior and, recursively, the priors that it consists of."""
    yield prior
    inner = [getattr(prior, field.name) for field in fields(prior)]  # type: ignore[arg-type]
    for part in prior.parts if isinstance(prior, Sum) else inner:
        if isinstance(part, Prior):
            yield from graph_parts_of(part)


def _unsupported(what: str) -> ExportError:
    return ExportError(f"cannot export {what}", code="HW952")
