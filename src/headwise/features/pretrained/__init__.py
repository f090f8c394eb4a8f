"""Pretrained encoders of the Hugging Face hub as embedding layers."""

from headwise.features.pretrained.config import PretrainedConfig
from headwise.features.pretrained.embedding import PretrainedEmbedding
from headwise.features.pretrained.errors import PretrainedError
from headwise.features.pretrained.pieces import Pieces

__all__ = ["Pieces", "PretrainedConfig", "PretrainedEmbedding", "PretrainedError"]
