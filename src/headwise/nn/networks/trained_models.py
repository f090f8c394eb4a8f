"""The types of trained models, for annotations."""

from typing import TypeVar

from headwise.nn.networks.bag_model import BagModel
from headwise.nn.networks.base_model import BaseModel
from headwise.nn.networks.language_model import LanguageModel
from headwise.nn.networks.masked_model import MaskedModel
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_models import (
    MultiLabelModel,
    PairModel,
    PairScorer,
    TextClassifierModel,
    TextRegressorModel,
)

TrainedModel = (
    TextClassifierModel
    | MultiLabelModel
    | TextRegressorModel
    | PairModel
    | PairScorer
    | TagModel
    | BagModel
    | LanguageModel
    | MaskedModel
)
"""A model of any task. `isinstance` tells which one it is."""

ModelType = TypeVar("ModelType", bound=BaseModel)
