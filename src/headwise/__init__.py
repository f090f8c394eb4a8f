"""headwise: train small, fast text models with a structural prior on every attention head.

The public names are imported on first use: `import headwise` alone loads neither torch nor any other large
library.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from headwise.data import read_examples
    from headwise.data.doctor.flow import doctor_files
    from headwise.encoders import MSTransformer, MSTransformerConfig, Transformer, TransformerConfig
    from headwise.errors import HeadwiseError
    from headwise.estimators.classifier import TextClassifier
    from headwise.estimators.multi_label import MultiLabelClassifier
    from headwise.estimators.pairs import PairClassifier, PairRegressor
    from headwise.estimators.regressor import TextRegressor
    from headwise.estimators.tagger import TextTagger
    from headwise.exported.load import load_exported
    from headwise.models.answers.one_label import Prediction
    from headwise.models.attention_weights import attention_weights
    from headwise.models.classifier import Model
    from headwise.models.model_config import ModelConfig
    from headwise.priors import Everything, Window, allocate_scales
    from headwise.ragged import Layout, Ragged
    from headwise.store import load_model, save_model
    from headwise.verbs.calibrate import calibrate_file
    from headwise.verbs.curve import curve_file
    from headwise.verbs.evaluate import evaluate_file
    from headwise.verbs.explain import explain_file
    from headwise.verbs.export import export_model
    from headwise.verbs.heads import heads_file, prune_file
    from headwise.verbs.noise import noise_file
    from headwise.verbs.predict import predict_file
    from headwise.verbs.report import report_file
    from headwise.verbs.suggest import suggest_file
    from headwise.verbs.train import train_files
    from headwise.verbs.tune import tune_file

_HOMES = {
    "Everything": "headwise.priors",
    "HeadwiseError": "headwise.errors",
    "Layout": "headwise.ragged",
    "MSTransformer": "headwise.encoders",
    "MSTransformerConfig": "headwise.encoders",
    "Model": "headwise.models.classifier",
    "ModelConfig": "headwise.models.model_config",
    "MultiLabelClassifier": "headwise.estimators.multi_label",
    "PairClassifier": "headwise.estimators.pairs",
    "PairRegressor": "headwise.estimators.pairs",
    "Prediction": "headwise.models.answers.one_label",
    "Ragged": "headwise.ragged",
    "TextClassifier": "headwise.estimators.classifier",
    "TextRegressor": "headwise.estimators.regressor",
    "TextTagger": "headwise.estimators.tagger",
    "Transformer": "headwise.encoders",
    "TransformerConfig": "headwise.encoders",
    "Window": "headwise.priors",
    "allocate_scales": "headwise.priors",
    "attention_weights": "headwise.models.attention_weights",
    "calibrate_file": "headwise.verbs.calibrate",
    "curve_file": "headwise.verbs.curve",
    "doctor_files": "headwise.data.doctor.flow",
    "evaluate_file": "headwise.verbs.evaluate",
    "explain_file": "headwise.verbs.explain",
    "export_model": "headwise.verbs.export",
    "heads_file": "headwise.verbs.heads",
    "load_exported": "headwise.exported.load",
    "load_model": "headwise.store",
    "noise_file": "headwise.verbs.noise",
    "predict_file": "headwise.verbs.predict",
    "prune_file": "headwise.verbs.heads",
    "read_examples": "headwise.data",
    "report_file": "headwise.verbs.report",
    "save_model": "headwise.store",
    "suggest_file": "headwise.verbs.suggest",
    "train_files": "headwise.verbs.train",
    "tune_file": "headwise.verbs.tune",
}

__all__ = [
    "Everything",
    "HeadwiseError",
    "Layout",
    "MSTransformer",
    "MSTransformerConfig",
    "Model",
    "ModelConfig",
    "MultiLabelClassifier",
    "PairClassifier",
    "PairRegressor",
    "Prediction",
    "Ragged",
    "TextClassifier",
    "TextRegressor",
    "TextTagger",
    "Transformer",
    "TransformerConfig",
    "Window",
    "__version__",
    "allocate_scales",
    "attention_weights",
    "calibrate_file",
    "curve_file",
    "doctor_files",
    "evaluate_file",
    "explain_file",
    "export_model",
    "heads_file",
    "load_exported",
    "load_model",
    "noise_file",
    "predict_file",
    "prune_file",
    "read_examples",
    "report_file",
    "save_model",
    "suggest_file",
    "train_files",
    "tune_file",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwise.exported.errors import installed

    with installed():
        return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
