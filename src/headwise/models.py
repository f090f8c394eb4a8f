"""The model of each task."""

from headwise.bag_model import BagModel
from headwise.label_set_model import LabelSetModel
from headwise.language_model import LanguageModel
from headwise.model import Model
from headwise.pair_model import PairModel, PairScorer
from headwise.regressor import Regressor
from headwise.tag_model import TagModel
from headwise.text_model import TextModel

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
