"""Messages about texts that are longer than the encoder's window."""

from collections.abc import Sequence
from typing import Any

from headwise.data.kind import Kind
from headwise.features.tokenize import get_tokenizer
from headwise.models.model_config import ModelConfig
from headwise.report.remarks import Remark


def long_texts(config: ModelConfig, kind: Kind[Any], items: Sequence[Any]) -> list[Remark]:
    """A message about how many texts have more words than the encoder reads at once, and what happens to
    them."""
    words, _ = config.windows.sizes(config.encoder)
    if not words:
        return []
    cut = get_tokenizer(config.words.tokenizer).words
    lengths = [len(text_words) for item in items for text_words in kind.words(item, cut)]
    long = sum(length > words for length in lengths)
    have = f"{long:,} of {len(lengths):,} texts have more than {words:,} words"
    if long and config.windows.long == "truncate":
        return [Remark(f"{have}: only these are read (--windows.long truncate)", warning=True)]
    if long and config.windows.long == "split":
        return [Remark(f"{have}: read in windows that overlap (--windows.words, --windows.long)")]
    return []
