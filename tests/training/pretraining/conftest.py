"""Small texts of two topics, and a tiny sentence encoder with random weights."""

import random
import string
from pathlib import Path

import pytest

ANIMALS = ["cat", "dog", "horse", "cow", "sheep", "goat", "barn", "meadow", "grass", "hoof", "tail"]
STARS = ["star", "moon", "planet", "comet", "orbit", "galaxy", "rocket", "sun", "light", "sky", "night"]
SHARED = ["the", "a", "and", "of", "is", "was", "very", "near", "one", "more"]


def sentence(choose: random.Random) -> str:
    topic = choose.choice((ANIMALS, STARS))
    return " ".join(choose.choice(topic if choose.random() < 0.6 else SHARED) for _ in range(10)) + " ."


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Path:
    """A file of 1,500 sentences, each about animals or about stars."""
    choose = random.Random(0)
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("".join(sentence(choose) + "\n" for _ in range(1500)), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def encoder(tmp_path_factory) -> Path:
    """The folder of a tiny BERT."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    letters = string.ascii_lowercase
    pieces = [
        *special,
        ".",
        *letters,
        *(f"##{letter}" for letter in letters),
        *ANIMALS,
        *STARS,
        *SHARED[2:],
    ]
    tokenizer = Tokenizer(models.WordPiece({p: n for n, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    folder = tmp_path_factory.mktemp("encoder")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=24, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=40, initializer_range=0.5,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder, safe_serialization=True)
    return folder
