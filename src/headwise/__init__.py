"""headwise: train small, fast text models with a structural prior on every attention head.

The public names are imported on first use: `import headwise` alone loads neither torch nor any other large
library.
"""

import importlib

from headwise.core import moved_modules, training_libraries
from headwise.core.openmp import set_openmp_defaults
from headwise.core.version import __version__

set_openmp_defaults()

TYPE_CHECKING = False  # `typing` takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

    from headwise.app.estimators.classifiers import TextClassifier
    from headwise.app.estimators.multi_label_classifier import MultiLabelClassifier
    from headwise.app.estimators.regressors import PairClassifier, PairRegressor, TextRegressor
    from headwise.app.estimators.tagger import TextTagger
    from headwise.app.model_hub import from_pretrained, pull_from_hub, push_to_hub
    from headwise.app.workflows.calibrate import calibrate_file
    from headwise.app.workflows.evaluate import evaluate_file
    from headwise.app.workflows.explain import explain_file
    from headwise.app.workflows.export import export_model
    from headwise.app.workflows.head_scores import heads_file, prune_file
    from headwise.app.workflows.label_errors import noise_file
    from headwise.app.workflows.learning_curve import curve_file
    from headwise.app.workflows.predict import predict_file
    from headwise.app.workflows.report import report_file
    from headwise.app.workflows.suggest_texts import suggest_file
    from headwise.app.workflows.train import train_files
    from headwise.app.workflows.tune import tune_file
    from headwise.artifacts import load_model, save_model
    from headwise.artifacts.onnx.onnx_load import load_exported
    from headwise.core.errors import HeadwiseError
    from headwise.data import read_examples
    from headwise.data.columns.reading_options import ReadOptions
    from headwise.data.doctor.diagnose import doctor_files
    from headwise.data.readers.tagged_files import read_tagged
    from headwise.nn.encoders import MSTransformer, MSTransformerConfig, Transformer, TransformerConfig
    from headwise.nn.layout import Layout
    from headwise.nn.networks.attention_inspection import attention_weights
    from headwise.nn.networks.model_config import ModelConfig
    from headwise.nn.networks.text_models import TextClassifierModel
    from headwise.nn.networks.trained_models import TrainedModel
    from headwise.nn.priors import Everything, Window, allocate_scales
    from headwise.nn.ragged import Ragged
    from headwise.runtime.outputs import Prediction
    from headwise.training.callbacks import TrainingCallback

_NAMES = {
    "app.estimators.classifiers": ("TextClassifier",),
    "app.estimators.multi_label_classifier": ("MultiLabelClassifier",),
    "app.estimators.regressors": ("PairClassifier", "PairRegressor", "TextRegressor"),
    "app.estimators.tagger": ("TextTagger",),
    "app.model_hub": ("from_pretrained", "pull_from_hub", "push_to_hub"),
    "app.workflows.calibrate": ("calibrate_file",),
    "app.workflows.evaluate": ("evaluate_file",),
    "app.workflows.explain": ("explain_file",),
    "app.workflows.export": ("export_model",),
    "app.workflows.head_scores": ("heads_file", "prune_file"),
    "app.workflows.label_errors": ("noise_file",),
    "app.workflows.learning_curve": ("curve_file",),
    "app.workflows.predict": ("predict_file",),
    "app.workflows.report": ("report_file",),
    "app.workflows.suggest_texts": ("suggest_file",),
    "app.workflows.train": ("train_files",),
    "app.workflows.tune": ("tune_file",),
    "artifacts": ("load_model", "save_model"),
    "artifacts.onnx.onnx_load": ("load_exported",),
    "core.errors": ("HeadwiseError",),
    "data": ("read_examples",),
    "data.columns.reading_options": ("ReadOptions",),
    "data.doctor.diagnose": ("doctor_files",),
    "data.readers.tagged_files": ("read_tagged",),
    "nn.encoders": ("MSTransformer", "MSTransformerConfig", "Transformer", "TransformerConfig"),
    "nn.networks.attention_inspection": ("attention_weights",),
    "nn.networks.model_config": ("ModelConfig",),
    "nn.networks.text_models": ("TextClassifierModel",),
    "nn.networks.trained_models": ("TrainedModel",),
    "nn.priors": ("Everything", "Window", "allocate_scales"),
    "nn.layout": ("Layout",),
    "nn.ragged": ("Ragged",),
    "runtime.outputs": ("Prediction",),
    "training.callbacks": ("TrainingCallback",),
}
"""The public names, by module."""
_HOMES = {name: f"headwise.{module}" for module, names in _NAMES.items() for name in names}

_WITHOUT_TRAINING_LIBRARIES = (
    "; without it, load_exported opens what 'headwise export' has written, and the commands predict and "
    "serve open most model folders"
)

_RENAMED = {"Model": "TextClassifierModel"}
"""Public names that changed, for one release."""

__all__ = [
    "Everything",
    "HeadwiseError",
    "Layout",
    "MSTransformer",
    "MSTransformerConfig",
    "ModelConfig",
    "MultiLabelClassifier",
    "PairClassifier",
    "PairRegressor",
    "Prediction",
    "Ragged",
    "ReadOptions",
    "TextClassifier",
    "TextClassifierModel",
    "TextRegressor",
    "TextTagger",
    "TrainedModel",
    "TrainingCallback",
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
    "from_pretrained",
    "heads_file",
    "load_exported",
    "load_model",
    "noise_file",
    "predict_file",
    "prune_file",
    "pull_from_hub",
    "push_to_hub",
    "read_examples",
    "read_tagged",
    "report_file",
    "save_model",
    "suggest_file",
    "train_files",
    "tune_file",
]


def __getattr__(name: str) -> "Any":
    if name in _RENAMED:
        from headwise.core import deprecation

        deprecation.warn_renamed(f"headwise.{name}", f"headwise.{_RENAMED[name]}")
        name = _RENAMED[name]
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwise.artifacts.onnx.onnx_errors import installed

    opens_models = name == "load_model" or _HOMES[name].startswith("headwise.app.estimators")
    with installed(advice=_WITHOUT_TRAINING_LIBRARIES if opens_models else ""):
        return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__


moved_modules.install()
training_libraries.install()
