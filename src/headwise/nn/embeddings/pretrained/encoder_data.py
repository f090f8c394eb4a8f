"""Serialisation of a pretrained encoder's architecture to JSON, for model folders without pickle or hub."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from headwise.nn.embeddings.pretrained.hub import (
    PretrainedEncoder,
    check_encoder,
    max_pieces,
    silence_transformers,
    without_pooler,
)
from headwise.nn.embeddings.pretrained.word_pieces import (
    PieceTokenizer,
    PretrainedError,
    first_line,
    import_extra,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel

# Settings without influence on the parameter shapes: outputs, provenance, task heads. A table of sines is
# not computed either: it is among the weights.
_NO_SHAPE = {
    *("architectures", "transformers_version", "dtype", "torch_dtype", "torchscript", "return_dict"),
    *("output_attentions", "output_hidden_states", "id2label", "label2id", "num_labels", "problem_type"),
    *("is_decoder", "is_encoder_decoder", "add_cross_attention", "use_cache", "gradient_checkpointing"),
    *("task_specific_params", "finetuning_task", "sinusoidal_pos_embds", "chunk_size_feed_forward"),
}
# Settings with which transformers would load code, even from the hub.
_DANGEROUS = ("implementation", "auto_map", "quantization")
_MADE_ONE_BY_ONE = ("layers", "groups", "experts")

_LARGEST = 1 << 24  # of any setting
_MOST = 128  # of what is made one by one
_LARGEST_TABLES = 1 << 24  # numbers in them


def architecture_to_json(encoder: "PreTrainedModel") -> dict[str, object]:
    """The architecture of an encoder as plain data (for JSON)."""
    return _shape(encoder.config.to_diff_dict())


def encoder_from_json(architecture: dict[str, object], tokenizer: str, where: str) -> PretrainedEncoder:
    """Build an encoder without weights from untrusted data. Draws no random numbers.

    Its parameters are on the meta device, so they take no memory until they are filled with
    `load_state_dict(..., assign=True)`. Position tables, which are in no state dict, are computed.

    Args:
        architecture: Output of `architecture_to_json`.
        tokenizer: `PieceTokenizer.definition`.
        where: Location of the data, for error messages.

    Returns:
        The encoder with its largest possible window; its first special token, if there is one, counts as a
        summary.

    Raises:
        PretrainedError: HW701 transformers is not installed, HW707 the data describe no encoder, or one
            that is too large, or would have code loaded.
    """
    transformers = import_extra("transformers")
    _check(architecture, where)
    try:
        pieces = PieceTokenizer(tokenizer)
        with silence_transformers(transformers):
            settings = transformers.AutoConfig.for_model(**_shape(architecture))
            check_encoder(transformers, settings, where)
            if not 0 < settings.num_hidden_layers <= _MOST:
                raise ValueError(f"it cannot have {settings.num_hidden_layers} layers")
            with torch.device("meta"), _NoInitialValues():
                tables = list(transformers.AutoModel.from_config(settings).buffers())
            if sum(table.numel() for table in tables) > _LARGEST_TABLES:
                raise ValueError(f"its tables have more than {_LARGEST_TABLES} numbers")
            with _OnlyTables():
                encoder = transformers.AutoModel.from_config(settings)
        encoder = without_pooler(encoder, pieces, where)
    except PretrainedError as error:
        raise PretrainedError(error.args[0], code="HW707") from error
    except Exception as error:  # whatever transformers and torch make of settings that do not fit
        raise PretrainedError(
            f"{where}: no encoder can be built of this ({first_line(error)})", code="HW707"
        ) from error
    return PretrainedEncoder(encoder, pieces, max_pieces(encoder), bool(pieces.prefix))


def _shape(settings: Mapping[str, object]) -> dict[str, object]:
    return {
        key: value for key, value in settings.items() if key not in _NO_SHAPE and not _is_dangerous(key)
    }


def _is_dangerous(key: str) -> bool:
    return key.startswith("_") or any(word in key for word in _DANGEROUS)


def _check(settings: dict[str, object] | list[object], where: str) -> None:
    """Reject settings that would load code, or need excessive time or memory."""
    if isinstance(settings, list) and len(settings) > _MOST:
        raise PretrainedError(
            f"{where}: a list of {len(settings)}; at most {_MOST} is possible", code="HW707"
        )
    for key, value in settings.items() if isinstance(settings, dict) else enumerate(settings):
        if isinstance(key, str) and _is_dangerous(key):
            raise PretrainedError(f"{where}: the setting {key!r:.80} is not possible", code="HW707")
        largest = _MOST if any(word in str(key) for word in _MADE_ONE_BY_ONE) else _LARGEST
        if type(value) is int and abs(value) > largest:
            shown = value if abs(value) < 10**30 else "a huge number"
            raise PretrainedError(
                f"{where}: {key!s:.80} is {shown}; at most {largest} is possible", code="HW707"
            )
        if isinstance(value, dict | list):
            _check(value, where)


class _NoInitialValues(TorchFunctionMode):
    """Skips the initialisation of new parameters, which are overwritten on loading."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__module__", None) == "torch.nn.init" and "tensor" in kwargs:
            return kwargs["tensor"]
        if func in (Tensor.normal_, Tensor.uniform_) and args[0].is_meta:
            return args[0]
        return self.call(func, args, kwargs)

    def call(self, func: Callable, args: tuple, kwargs: dict):
        return func(*args, **kwargs)


class _OnlyTables(_NoInitialValues):
    """Creates new parameters (made by `torch.empty`) on the meta device, without memory. Everything else is
    computed as usual, even if the caller builds on the meta device."""

    def call(self, func: Callable, args: tuple, kwargs: dict):
        if func is torch.empty:
            kwargs = {**kwargs, "device": "meta"}
        with torch._C.DisableTorchFunction():
            return func(*args, **kwargs)
