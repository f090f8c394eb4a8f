"""Check that a model can be exported."""

from collections.abc import Iterator
from dataclasses import fields

import torch

from headwise.encoders.trees import tree_use
from headwise.exported.errors import ExportError
from headwise.exported.graph import EXPORTS
from headwise.models.any_model import AnyModel
from headwise.models.model_config import encoder_name
from headwise.models.pair_model import PairReader
from headwise.models.tag_model import TagModel
from headwise.models.text_model import TextReader
from headwise.priors import Prior, Rotary, Shaw, TransformerXL
from headwise.priors.base import Sum

ENCODERS = (
    "ms-transformer",
    "ms-san",
    "star-transformer",
    "set-transformer",
    "transformer",
    "bilstm",
    "s-lstm",
)
"""Encoders that can be exported."""

_UNLIKE = {
    "bp-transformer": "its attention goes along the edges of a tree that is made for each batch",
    "disan": "its attention is cut by the sizes of each batch",
    "tree-lstm": "it reads along dependency trees",
}

_PRIORS: dict[type[Prior], str] = {
    TransformerXL: "its table grows with the text",
    Rotary: "many that run ONNX files know no sine of 64 bits, which its angles need",
}


def refuse(model: AnyModel, title: str) -> None:
    """Check that a model can be exported.

    Args:
        model: The model.
        title: Display name of models of its task.

    Raises:
        ExportError: HW952, it cannot; the message gives the reason.
    """
    if not isinstance(model, TextReader | PairReader | TagModel):
        raise _cannot(
            f"a {title}: only taggers and models that give texts or pairs labels or a number are exported"
        )
    name = encoder_name(model.config.encoder)
    if model.config.pretrained.name:
        raise _cannot(
            f"a model with the pretrained encoder {model.config.pretrained.name!r}: it is an encoder of "
            "Hugging Face's, which their own tools export; distil the model into one with word vectors "
            "(headwise distill), which is exported"
        )
    if name not in ENCODERS:
        raise _cannot(f"the encoder {name}: {_UNLIKE[name]}; exported are {', '.join(ENCODERS)}")
    heads = [prior for layer in model.encoder.modules() for prior in getattr(layer, "priors", ())]
    for kind, why in _PRIORS.items():
        if any(isinstance(part, kind) for prior in heads for part in parts_of(prior)):
            raise _cannot(f"heads with the prior {kind.name}: {why}")
    if not EXPORTS and any(isinstance(part, Shaw) for prior in heads for part in parts_of(prior)):
        raise _cannot(f"heads with the prior shaw with torch {torch.__version__}; torch 2.9 and later can")
    if tree_use(model.encoder) != "none":
        raise _cannot(
            f"an encoder ({name}) whose heads go by dependency trees: the parser is no part of the network"
        )


def parts_of(prior: Prior) -> Iterator[Prior]:
    """A prior and, recursively, the priors that it consists of."""
    yield prior
    inner = [getattr(prior, field.name) for field in fields(prior)]  # type: ignore[arg-type]
    for part in prior.parts if isinstance(prior, Sum) else inner:
        if isinstance(part, Prior):
            yield from parts_of(part)


def _cannot(what: str) -> ExportError:
    return ExportError(f"cannot export {what}", code="HW952")
