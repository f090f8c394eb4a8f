"""Pretrained: an encoder with its tokenizer, and checks that headwise supports it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import nn

from headwise.features.pretrained.errors import PretrainedError
from headwise.features.pretrained.pieces import PieceTokenizer

_USUAL_WINDOW = 512  # window of encoders that set no limit
_WITH_SLOW_TABLES = {"flaubert", "roformer", "xlm"}  # compute their sine tables number by number


@dataclass(frozen=True)
class Pretrained:
    """An encoder with its tokenizer.

    Attributes:
        encoder: A model of transformers, from piece ids to states.
        tokenizer: The tokenizer of the encoder.
        window: Maximum number of pieces that the encoder reads at once, special tokens included.
        begins_with_summary: Whether the first special token summarises the text ([CLS]).
    """

    encoder: Any
    tokenizer: PieceTokenizer
    window: int
    begins_with_summary: bool


def check_encoder(transformers: Any, settings: Any, where: str) -> None:
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


def finished(encoder: Any, tokenizer: PieceTokenizer, where: str) -> Any:
    """The encoder without its pooler, in float32, after a check that it has an embedding for all pieces.

    Raises:
        PretrainedError: HW704, the tokenizer does not fit the encoder.
    """
    rows = encoder.get_input_embeddings().num_embeddings
    if tokenizer.largest >= rows:
        raise PretrainedError(
            f"{where}: the tokenizer has pieces up to number {tokenizer.largest}, but the encoder knows "
            f"only {rows}",
            code="HW704",
        )
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    encoder.config.return_dict = True
    return encoder.float()


def positions(encoder: Any) -> int:
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
def quiet(transformers: Any) -> Iterator[None]:
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
