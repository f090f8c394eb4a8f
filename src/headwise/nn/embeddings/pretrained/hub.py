"""Pretrained encoders: load one from the Hugging Face hub or a folder, check it, and store it in a model
folder.

`load_pretrained` loads encoder and tokenizer, and checks that headwise supports them. A model folder stores
the architecture as JSON: `architecture_to_json` writes it, and `encoder_from_json` builds the encoder from
it, as untrusted data. Code of a model is never run (`trust_remote_code` stays off), and only safetensors
weights are read.
"""

import json
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.nn.embeddings.pretrained.word_pieces import (
    PieceTokenizer,
    PretrainedError,
    first_line,
    import_extra,
)
from headwise.text.static_embeddings.base_folder import ABOUT

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

_USUAL_WINDOW = 512  # window of encoders that set no limit
_WITH_SLOW_TABLES = {"flaubert", "roformer", "xlm"}  # compute their sine tables number by number


@dataclass(frozen=True)
class PretrainedEncoder:
    """An encoder with its tokenizer.

    Attributes:
        encoder: A model of transformers, from piece ids to states.
        tokenizer: The tokenizer of the encoder.
        window: Maximum number of pieces that the encoder reads at once, special tokens included.
        begins_with_summary: Whether the first special token summarises the text ([CLS]).
    """

    encoder: "PreTrainedModel"
    tokenizer: PieceTokenizer
    window: int
    begins_with_summary: bool


def check_encoder(transformers: ModuleType, settings: "PreTrainedConfig", where: str) -> None:
    """Check that a configuration describes a masked language model without a decoder.

    Raises:
        PretrainedError: HW705, the model is of another kind.
    """
    kind = settings.model_type
    encodes = type(settings) in transformers.MODEL_FOR_MASKED_LM_MAPPING
    if not encodes or getattr(settings, "is_encoder_decoder", False) or kind in _WITH_SLOW_TABLES:
        raise PretrainedError(
            f"{where}: a {kind} model cannot be used; an encoder that sees the words on both sides is "
            "needed, such as BERT, RoBERTa, DeBERTa, ELECTRA, MPNet or ModernBERT",
            code="HW705",
        )


def without_pooler(encoder: "PreTrainedModel", tokenizer: PieceTokenizer, where: str) -> "PreTrainedModel":
    """The encoder without its pooler, in float32, after a check that it has an embedding for all pieces.

    Raises:
        PretrainedError: HW704, the tokenizer does not fit the encoder.
    """
    rows = cast(nn.Embedding, encoder.get_input_embeddings()).num_embeddings
    if tokenizer.largest >= rows:
        raise PretrainedError(
            f"{where}: the tokenizer has pieces up to number {tokenizer.largest}, but the encoder knows "
            f"only {rows}",
            code="HW704",
        )
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None  # pyrefly: ignore[bad-argument-type] - PyTorch takes None
    encoder.config.return_dict = True
    return encoder.float()


def max_pieces(encoder: "PreTrainedModel") -> int:
    """Maximum number of pieces that an encoder can read at once."""
    limits = [
        # RoBERTa and its kin count positions from the one after that of padding.
        table.num_embeddings - (0 if table.padding_idx is None else table.padding_idx + 1)
        for name, table in encoder.named_modules()
        if name.split(".")[-1] == "position_embeddings" and isinstance(table, nn.Embedding)
    ]
    claimed = getattr(encoder.config, "max_position_embeddings", None) or 0
    if claimed > 0:
        limits.append(int(claimed))
    return min(limits, default=_USUAL_WINDOW)


@contextmanager
def silence_transformers(transformers: ModuleType) -> Generator[None]:
    """Silence notices (such as of unused weights) and progress bars of transformers."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


CONFIG = "config.json"


def load_pretrained(name: str, *, revision: str = "main", layers: int | None = None) -> PretrainedEncoder:
    """Load an encoder without pooler, with weights in float32.

    With HF_HUB_OFFLINE=1 in the environment, only cached downloads are used.

    Args:
        name: `owner/name` on the hub, or a folder.
        revision: Branch, tag or commit on the hub.
        layers: Build only this many layers, the first ones; None = all.

    Raises:
        PretrainedError: HW701 to HW706, see there.
        ConfigError: It has fewer layers.
    """
    transformers = import_extra("transformers")
    folder = Path(name).expanduser()
    local = bool(name) and folder.is_dir()
    if not local and (not name or name.startswith((".", "~")) or folder.is_absolute()):
        raise PretrainedError(f"{name!r}: there is no such folder", code="HW702")
    if local and (ours := _headwise_kind(folder)):
        raise PretrainedError(
            f"{name!r}: this is {ours} of headwise, no encoder of Hugging Face; headwise train FILE --base "
            "FOLDER begins with a base or a model, and in headwise distill a classifier teaches another",
            code="HW705",
        )
    if local and not (folder / CONFIG).is_file():
        inner = sorted({path.parent for path in folder.glob("*/tokenizer*")})
        advice = "".join(f"; did you mean {str(one)!r}?" for one in inner[:1] if (one / CONFIG).is_file())
        raise PretrainedError(
            f"{name!r}: this folder holds no encoder, no config.json{advice}", code="HW702"
        )
    place = str(folder) if local else name
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}
    options = {"local_files_only": local or offline, "revision": revision, "trust_remote_code": False}
    with silence_transformers(transformers):
        settings = _load_config(transformers, place, options)
        check_encoder(transformers, settings, repr(place))
        _keep_first_layers(settings, layers, place)
        tokenizer, hub_tokenizer = _tokenizer(transformers, place, options)
        encoder = _load_weights(transformers, place, settings, options)
    encoder = without_pooler(encoder, tokenizer, repr(place))
    return PretrainedEncoder(
        encoder,
        tokenizer,
        min(max_pieces(encoder), hub_tokenizer.model_max_length),
        bool(tokenizer.prefix) and tokenizer.prefix[0] == hub_tokenizer.cls_token_id,
    )


def _headwise_kind(folder: Path) -> str:
    """ "a model" or "a base" if headwise wrote the folder, else empty."""
    for name, form, kind in ((CONFIG, "headwise-", "a model"), (ABOUT, "headwise-base-", "a base")):
        try:
            content = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(content, dict) and str(content.get("format")).startswith(form):
            return kind
    return ""


def _load_config(transformers: ModuleType, place: str, options: Mapping[str, object]) -> "PreTrainedConfig":
    try:
        return transformers.AutoConfig.from_pretrained(place, **options)
    except OSError as error:
        raise PretrainedError(
            f"{place!r}: there is no such model on the Hugging Face hub or in this folder, or it cannot be "
            f"reached ({first_line(error)})",
            code="HW702",
        ) from error
    except Exception as error:  # of another kind for every way in which a configuration can be wrong
        if "trust_remote_code" in str(error):
            raise PretrainedError(
                f"{place!r}: this model needs code of its own, which headwise does not run; choose one "
                "that transformers knows",
                code="HW706",
            ) from error
        raise PretrainedError(
            f"{place!r}: transformers {transformers.__version__} cannot read its configuration "
            f"({first_line(error)})",
            code="HW705",
        ) from error


def _keep_first_layers(settings: "PreTrainedConfig", layers: int | None, place: str) -> None:
    """Reduce the configuration to the first layers."""
    if layers is None or layers == settings.num_hidden_layers:
        return
    if layers > settings.num_hidden_layers:
        raise ConfigError(f"layers: {place!r} has {settings.num_hidden_layers} layers, not {layers}")
    try:
        settings.num_hidden_layers = layers
    except NotImplementedError as error:
        raise PretrainedError(
            f"{place!r}: layers of a {settings.model_type} model cannot be left out", code="HW705"
        ) from error
    if getattr(settings, "layer_types", None):
        settings.layer_types = settings.layer_types[:layers]


def _tokenizer(
    transformers: ModuleType, place: str, options: Mapping[str, object]
) -> tuple[PieceTokenizer, "PreTrainedTokenizerFast"]:
    try:
        loaded = transformers.AutoTokenizer.from_pretrained(place, use_fast=True, **options)
    except Exception as error:  # OSError, ValueError, ImportError of a converter, ...
        raise PretrainedError(
            f"{place!r}: its tokenizer cannot be loaded ({first_line(error)})", code="HW704"
        ) from error
    if not getattr(loaded, "is_fast", False):
        raise PretrainedError(
            f"{place!r}: it has no fast tokenizer (tokenizer.json), which is needed to know the word of "
            "each piece; choose another model, or convert the tokenizer with transformers",
            code="HW704",
        )
    return PieceTokenizer(loaded.backend_tokenizer.to_str()), loaded


def _load_weights(
    transformers: ModuleType, place: str, settings: "PreTrainedConfig", options: Mapping[str, object]
) -> "PreTrainedModel":
    try:
        encoder, report = transformers.AutoModel.from_pretrained(
            place, config=settings, use_safetensors=True, output_loading_info=True, **options
        )
    except OSError as error:
        raise PretrainedError(
            f"{place!r}: it has no weights in the safetensors format, and others (pickles, which can run "
            f"any code) are not read; choose a model that has, or convert it ({first_line(error)})",
            code="HW703",
        ) from error
    except Exception as error:  # of transformers, safetensors or torch, where the weights do not fit
        raise PretrainedError(
            f"{place!r}: its weights cannot be loaded ({first_line(error)})", code="HW703"
        ) from error
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        more = " ..." if missing[3:] else ""
        raise PretrainedError(f"{place!r}: its weights lack {', '.join(missing[:3])}{more}", code="HW703")
    return encoder


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
    return _shape_settings(encoder.config.to_diff_dict())


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
    _check_settings(architecture, where)
    try:
        pieces = PieceTokenizer(tokenizer)
        with silence_transformers(transformers):
            settings = transformers.AutoConfig.for_model(**_shape_settings(architecture))
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


def _shape_settings(settings: Mapping[str, object]) -> dict[str, object]:
    return {
        key: value for key, value in settings.items() if key not in _NO_SHAPE and not _is_dangerous(key)
    }


def _is_dangerous(key: str) -> bool:
    return key.startswith("_") or any(word in key for word in _DANGEROUS)


def _check_settings(settings: dict[str, object] | list[object], where: str) -> None:
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
            _check_settings(value, where)


class _NoInitialValues(TorchFunctionMode):
    """Skips the initialisation of new parameters, which are overwritten on loading."""

    def __torch_function__(self, func, types, args: tuple[Any, ...] = (), kwargs: JsonObject | None = None):
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
