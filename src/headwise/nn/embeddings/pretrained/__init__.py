"""Pretrained encoders of the Hugging Face hub as embedding layers."""

from headwise.nn.embeddings.pretrained.pretrained_embedding import PretrainedEmbedding
from headwise.nn.embeddings.pretrained.word_pieces import PretrainedError, WordPieces
from headwise.text.text_configs import PretrainedConfig

__all__ = ["PretrainedConfig", "PretrainedEmbedding", "PretrainedError", "WordPieces"]
