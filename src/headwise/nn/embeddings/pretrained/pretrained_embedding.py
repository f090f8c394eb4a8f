"""PretrainedEmbedding: a Hugging Face encoder as a word embedding layer.

The pretrained encoder reads word pieces, the encoder on top of it words: the states of the pieces of a word
are pooled into one vector, so positions, distances and dependency trees refer to words as without it. The
state of [CLS] is a separate output, for the readout `attentive,cls` (MS-SAN + BERT; Qi, Zhang, Yin, Liu;
2020).
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError
from headwise.nn.embeddings.pretrained.hub import (
    PretrainedEncoder,
    architecture_to_json,
    encoder_from_json,
    load_pretrained,
)
from headwise.nn.embeddings.pretrained.word_pieces import PretrainedError, StateReader, WordPieces
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.text.text_configs import PretrainedConfig

if TYPE_CHECKING:
    from transformers import PreTrainedModel

ENCODER_FILE = "pretrained.json"
TOKENIZER_FILE = "tokenizer.json"

_CHUNK = 256  # texts that `remember` reads at a time


class PretrainedEmbedding(nn.Module):
    """Word vectors and a summary vector of each text, from a pretrained encoder.

    The output for a text does not depend on the other texts of the batch. A text with more pieces than the
    encoder's window is read in overlapping windows: each word comes from the window with most context
    around it, the summary from the first window. A word without pieces (a control character) has the vector
    0.

    Args:
        source: The encoder and its tokenizer; see `from_pretrained` and `from_files`.
        width: Input features of the encoder on top; if the hidden size differs, words and summaries pass
            through the same linear projection.
        config: See `PretrainedConfig`.

    Attributes:
        encoder: The pretrained encoder, a model of transformers. Its trainable parameters have the learning
            rate `config.learning_rate`; frozen ones require no gradient.

    Raises:
        ConfigError: The settings do not fit the encoder.
    """

    def __init__(self, source: PretrainedEncoder, width: int, config: PretrainedConfig):
        super().__init__()
        self.config = config
        self.encoder = source.encoder
        self._tokenizer, self._window = source.tokenizer, source.window
        self._begins_with_summary = source.begins_with_summary
        settings = self.encoder.config
        depth = settings.num_hidden_layers
        if config.layers and config.layers[-1] > depth:
            raise ConfigError(f"layers: the encoder has {depth} layers, not {config.layers[-1]}")
        self._reader = StateReader(
            prefix=source.tokenizer.prefix,
            suffix=source.tokenizer.suffix,
            most_pieces=_most_pieces(source, config),
            overlap=config.overlap,
            layers=config.layers or (depth,),
            pooling=config.pooling,
            begins_with_summary=source.begins_with_summary,
        )
        mixed = len(config.layers) > 1
        self.mix = nn.Parameter(torch.zeros(len(config.layers))) if mixed else None
        self.project = nn.Linear(settings.hidden_size, width) if settings.hidden_size != width else None
        self.dropout = Dropout(config.dropout)
        self._trained = _trained_parts(self.encoder, config)
        self.encoder.requires_grad_(False)
        for part in self._trained:
            part.requires_grad_(True)
        self._remembered: dict[Hashable, tuple[Tensor, Tensor]] = {}
        self.register_load_state_dict_post_hook(_forget)

    @classmethod
    def from_pretrained(cls, config: PretrainedConfig, width: int) -> "PretrainedEmbedding":
        """Load the encoder that the configuration names, from the hub or a folder.

        Raises:
            PretrainedError: HW701 to HW706, see there.
            ConfigError: The settings do not fit the encoder.
        """
        top = config.layers[-1] if config.layers else None
        return cls(load_pretrained(config.name, revision=config.revision, layers=top), width, config)

    @classmethod
    def from_files(
        cls, config: PretrainedConfig, width: int, files: JsonMapping, where: str = "the model"
    ) -> "PretrainedEmbedding":
        """An embedding without weights, from the output of `to_files`, which is untrusted. Downloads
        nothing.

        The encoder's parameters are on the meta device, to be filled with
        `load_state_dict(..., assign=True)`; position tables, which are in no state dict, are computed.

        Args:
            config: The configuration of the saved embedding.
            width: The width of the saved embedding.
            files: The contents of the files by name; JSON is parsed except the tokenizer's.
            where: Location of the files, for error messages.

        Raises:
            PretrainedError: HW701 transformers is not installed, HW707 the files hold what cannot be.
        """
        match files.get(ENCODER_FILE), files.get(TOKENIZER_FILE):
            case {"encoder": dict(shape), "window": int(most), "summary": bool(summary)}, str(tokenizer):
                source = encoder_from_json(shape, tokenizer, f"{where}: {ENCODER_FILE}")
            case _:
                raise PretrainedError(
                    f"{where}: {ENCODER_FILE} and {TOKENIZER_FILE} do not describe an encoder", code="HW707"
                )
        source = replace(
            source,
            window=min(most, source.window),
            begins_with_summary=summary and source.begins_with_summary,
        )
        try:
            return cls(source, width, config)
        except ConfigError as error:
            raise PretrainedError(f"{where}: {ENCODER_FILE}: {error.args[0]}", code="HW707") from error

    def to_files(self) -> dict[str, str | dict[str, object]]:
        """The data that `from_files` needs besides the state dict; values are JSON data or text."""
        return {
            ENCODER_FILE: {
                "encoder": architecture_to_json(self.encoder),
                "window": self._window,
                "summary": self._begins_with_summary,
            },
            TOKENIZER_FILE: self._tokenizer.definition,
        }

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[WordPieces]:
        """Word pieces of tokenised texts. `forward` accepts them in place of words, which avoids tokenising
        a text again in every epoch."""
        return self._tokenizer.pieces(texts)

    def forward(
        self, tokens: Sequence[Sequence[str] | WordPieces], layout: Layout
    ) -> tuple[Ragged, Tensor]:
        """Word vectors and summaries of texts.

        Args:
            tokens: The words of each text, or the output of `prepare`.
            layout: Layout of the texts, on the device of the parameters.

        Returns:
            The vectors of the words, `[total, width]`, and the state of the first special token ([CLS]) of
            each text, `[texts, width]`. Where the tokenizer has none, it is the mean of the words (0 for a
            text without words).

        Raises:
            ValueError: Texts and layout disagree.
        """
        texts = self._as_pieces(tokens)
        if tuple(text.length for text in texts) != layout.sizes:
            raise ValueError(f"texts of {[text.length for text in texts]} words do not fit {layout!r}")
        recall = self._read_cached if self._remembered and texts else self._read
        words, summaries = recall(texts)
        return Ragged(self._finish(words), layout), self._finish(summaries)

    def remember(self, texts: Sequence[Sequence[str] | WordPieces]) -> int:
        """Cache the states of texts that `forward` reads in every epoch, if the encoder is frozen.

        The cached set depends on the texts and their order only, not on batches, so a resumed run continues
        exactly. Loading a state dict clears the cache.

        Args:
            texts: See `forward`.

        Returns:
            How many of the first texts fit into `config.remember`; 0 if the encoder is trained.
        """
        left = 0 if self._trained else self.config.remember << 20
        done = 0
        for start in range(0, len(texts) if left else 0, _CHUNK):
            chunk = self._as_pieces(texts[start : start + _CHUNK])
            words, summaries = self._read(chunk)
            split = words.cpu().split([text.length for text in chunk])
            for text, states, summary in zip(chunk, split, summaries.cpu(), strict=True):
                if text.key not in self._remembered:
                    left -= states.nbytes + summary.nbytes
                    if left < 0:
                        return done
                    self._remembered[text.key] = states.clone(), summary.clone()
                done += 1
        return done

    def __getstate__(self) -> dict[str, object]:
        """The state without the cache of `remember`: a pickled model is as large as its weights."""
        return {**self.__dict__, "_remembered": {}}

    def clear_cache(self) -> None:
        """Clear the cache of `remember`."""
        self._remembered.clear()

    def train(self, mode: bool = True) -> "PretrainedEmbedding":
        """Set the mode; frozen parts stay in eval mode, without dropout."""
        super().train(mode)
        self.encoder.eval()
        for part in self._trained:
            part.train(mode)
        return self

    def _as_pieces(self, tokens: Sequence[Sequence[str] | WordPieces]) -> list[WordPieces]:
        made = iter(self.prepare([text for text in tokens if not isinstance(text, WordPieces)]))
        return [text if isinstance(text, WordPieces) else next(made) for text in tokens]

    def _read(self, texts: Sequence[WordPieces]) -> tuple[Tensor, Tensor]:
        """See `StateReader.read`."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and bool(self._trained)):
            return self._reader.read(self.encoder, texts)

    def _read_cached(self, texts: Sequence[WordPieces]) -> tuple[Tensor, Tensor]:
        """Like `_read`, from the cache where possible."""
        weight = cast(nn.Embedding, self.encoder.get_input_embeddings()).weight
        remembered = [self._remembered.get(text.key) for text in texts]
        new = [text for text, states in zip(texts, remembered, strict=True) if states is None]
        words, summaries = self._read(new)
        read = zip(words.split([text.length for text in new]), summaries, strict=True)
        pairs = [next(read) if states is None else states for states in remembered]
        return (
            torch.cat([states.to(weight) for states, _ in pairs]),
            torch.stack([summary.to(weight) for _, summary in pairs]),
        )

    def _finish(self, states: Tensor) -> Tensor:
        """States of the chosen layers, `[rows, layers, hidden]` -> vectors, `[rows, width]`."""
        mixed = states[:, 0] if self.mix is None else torch.einsum("l,rlh->rh", self.mix.softmax(0), states)
        return self.dropout(mixed if self.project is None else self.project(mixed))


def _most_pieces(source: PretrainedEncoder, config: PretrainedConfig) -> int:
    """Maximum number of pieces in a window, excluding special tokens."""
    window = min(source.window, config.max_pieces or source.window)
    most_pieces = window - len(source.tokenizer.prefix) - len(source.tokenizer.suffix)
    if most_pieces <= config.overlap:
        raise ConfigError(
            f"overlap: {config.overlap} pieces are too many for windows of {window} (the encoder reads "
            f"{source.window} at once)"
        )
    return most_pieces


def _trained_parts(encoder: "PreTrainedModel", config: PretrainedConfig) -> list[nn.Module]:
    if not config.train:
        return []
    count, depth = config.train_layers, encoder.config.num_hidden_layers
    if count is None:
        return [encoder]
    stacks: list[nn.ModuleList] = []  # usually one; some encoders keep the parts of a layer apart
    for module in encoder.modules():
        inside = any(module is part for stack in stacks for part in stack.modules())
        if isinstance(module, nn.ModuleList) and len(module) == depth and not inside:
            stacks.append(module)
    if count > depth or not stacks:
        raise ConfigError(
            f"train_layers: {count} cannot be trained apart from the rest, the encoder has "
            f"{f'{depth} layers' if stacks else 'one set of weights for all layers'}"
        )
    return [layer for stack in stacks for layer in stack[depth - count :]]


def _forget(module: nn.Module, _: object) -> None:
    if isinstance(module, PretrainedEmbedding):
        module.clear_cache()
