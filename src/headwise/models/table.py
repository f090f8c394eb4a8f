"""The model of each task."""

from headwise.models.bag_model import BagModel
from headwise.models.classifier import Model
from headwise.models.label_set_model import LabelSetModel
from headwise.models.language_model import LanguageModel
from headwise.models.pair_model import PairModel, PairScorer
from headwise.models.regressor import Regressor
from headwise.models.tag_model import TagModel
from headwise.models.text_model import TextModel

SavedModel = TextModel | BagModel | LanguageModel
"""What a model folder can hold."""

MODELS: dict[str, type[TextModel] | type[BagModel] | type[LanguageModel]] = {
    "classify": Model,
    "multi-label": LabelSetModel,
    "tag": TagModel,
    "pair": PairModel,
    "pair-score": PairScorer,
    "regress": Regressor,
    "bags": BagModel,
    "language-model": LanguageModel,
}
