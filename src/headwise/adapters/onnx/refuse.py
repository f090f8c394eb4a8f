"""Which models are exported, and why others are not."""

from headwise.adapters.onnx.errors import ExportError
from headwise.encoders.trees import tree_use
from headwise.models.any_model import AnyModel
from headwise.models.model_config import encoder_name
from headwise.models.text_model import TextReader

ENCODERS = ("ms-transformer", "ms-san", "transformer", "s-lstm")
"""Encoders whose graph is exported."""

_UNLIKE = {
    "star-transformer": "its attention goes along the edges of a graph that is made for each batch",
    "bp-transformer": "its attention goes along the edges of a tree that is made for each batch",
    "set-transformer": "its attention is planned for the sizes of each batch",
    "bilstm": "it reads texts in turns that are made for each batch",
    "disan": "its attention is cut by the sizes of each batch",
    "tree-lstm": "it reads along dependency trees",
}


def refuse(model: AnyModel, title: str) -> None:
    """Check that a model can be exported.

    Args:
        model: The model.
        title: What models of its task are called.

    Raises:
        ExportError: HW952, it cannot; says what keeps it from that.
    """
    if not isinstance(model, TextReader):
        raise _cannot(f"a {title}: only models that give a text labels or a number are exported")
    name = encoder_name(model.config.encoder)
    if model.config.pretrained.name:
        raise _cannot(
            f"a model with the pretrained encoder {model.config.pretrained.name!r}: it is an encoder of "
            "Hugging Face's, which their own tools export; distil the model into one with word vectors "
            "(headwise distill), which is exported"
        )
    if name not in ENCODERS:
        raise _cannot(f"the encoder {name}: {_UNLIKE[name]}; exported are {', '.join(ENCODERS)}")
    if tree_use(model.encoder) != "none":
        raise _cannot(
            f"an encoder ({name}) whose heads go by dependency trees: the parser is no part of the network"
        )


def _cannot(what: str) -> ExportError:
    return ExportError(f"cannot export {what}", code="HW952")
