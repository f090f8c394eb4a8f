"""Tiny encoders with random weights, in folders as the Hugging Face hub has them."""

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.text.text_configs import PretrainedConfig

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [
    *SPECIAL,
    *string.ascii_lowercase,
    *(f"##{c}" for c in string.ascii_lowercase),
    "the",
    "##ing",
    "cat",
]

SIZES = {
    "vocab_size": len(PIECES),
    "hidden_size": 8,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}


def word_pieces(*, special: bool = True) -> Any:
    """A tokenizer in lower case that knows every letter; it removes control characters."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    model = models.WordPiece({piece: n for n, piece in enumerate(PIECES)}, unk_token="[UNK]")
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        ends = [("[CLS]", 2), ("[SEP]", 3)]
        tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, ends)
    return tokenizer


def save_encoder(folder: Path, kind: str = "bert", *, special: bool = True, **settings: Any) -> Path:
    """An encoder of this type with its tokenizer, saved as `save_pretrained` saves them."""
    import transformers

    torch.manual_seed(0)
    sizes = {name: value for name, value in {**SIZES, **settings}.items() if value is not None}
    config = transformers.AutoConfig.for_model(kind, **sizes)
    transformers.AutoModel.from_config(config).save_pretrained(folder, safe_serialization=True)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast_tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_pieces(special=special), **names
    )
    fast_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def encoder(tmp_path) -> Callable[..., Path]:
    """Saves an encoder and gives its folder."""

    def save(kind: str = "bert", **settings: Any) -> Path:
        return save_encoder(tmp_path / kind, kind, **settings)

    return save


@pytest.fixture(scope="session")
def bert(tmp_path_factory) -> Path:
    """The folder of a tiny BERT."""
    return save_encoder(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def make(bert) -> Callable[..., PretrainedEmbedding]:
    """Makes an embedding, on the tiny BERT unless another folder is given."""

    def embedding(folder: Path | str = bert, *, width: int = 8, **settings: Any) -> PretrainedEmbedding:
        config = PretrainedConfig(name=str(folder), **{"overlap": 4, "dropout": 0.0, **settings})
        torch.manual_seed(1)
        return PretrainedEmbedding.from_pretrained(config, width).eval()

    return embedding
