"""Pretrained encoders of the Hugging Face hub as embedding layers."""

from headwise.nn.embeddings.pretrained.pretrained_config import PretrainedConfig, PretrainedError
from headwise.nn.embeddings.pretrained.pretrained_embedding import PretrainedEmbedding
from headwise.nn.embeddings.pretrained.word_pieces import WordPieces

__all__ = ["PretrainedConfig", "PretrainedEmbedding", "PretrainedError", "WordPieces"]
