"""Old names of modules, which work for one more release.

Every `import headwise` runs this file, so it imports little: `typing` alone takes as long as all of it.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

_MOVED = """
attention nn.attention
cli app.cli
config core.config
encoders nn.encoders
errors core.errors
estimators app.estimators
features text
pretrain training.pretraining Made=PretrainResult Notes=CardNotes
priors nn.priors
ragged nn.ragged
report models
scores metrics
serve app.serve
store artifacts
teachers app.distillation
verbs app.workflows
app.distillation_config training.settings
data.doctor.findings data.findings
data.doctor.flow data.doctor.diagnose
data.example data.items.examples
data.options data.columns.reading_options SoftOptions=SoftLabelOptions LabelSetOptions=MultiLabelOptions
data.parts data.splits.data_parts Parts=DataParts
data.read data.readers.labelled_files
data.split data.splits.splitting
data.tagged data.readers.tagged_files
estimators.base app.estimators.base_estimator
estimators.classifier app.estimators.classifiers
estimators.multi_label app.estimators.multi_label_classifier
estimators.pairs app.estimators.regressors
estimators.regressor app.estimators.regressors
features.parse_files text.parse_files
features.pretrained nn.embeddings.pretrained Pieces=WordPieces
features.syntax text.syntax Heads=DependencyHeads HeadsError=ParseError checked_heads=validate_heads
linear.baseline linear.baselines Baseline=LinearBaseline
models.attention_weights nn.networks.attention_inspection
models.classifier nn.networks.text_models Model=TextClassifierModel
models.model_config nn.networks.model_config
models.sample_config nn.task_layers.layer_configs
models.sampling nn.networks.language_model sample=generate choose=sample_symbol
priors.draw nn.priors.drawing
priors.spell nn.priors.notation
report.labels models.label_evaluation Evaluation=SingleLabelEvaluation
scores.metrics metrics.classification_scores Scores=ClassificationScores compare=compare_labels
serve.app app.serve.http_app
serve.answering app.serve.answering Answering=ModelService
teachers.config training.settings TeachConfig=DistillationConfig
teachers.lesson app.distillation Teaching=DistillationSettings Lesson=DistillationSet
verbs.calibrate app.workflows.calibrate Recalibrated=CalibrationReport
verbs.curve app.workflows.learning_curve Curve=LearningCurve
verbs.evaluate app.workflows.evaluate Judgement=EvaluationReport
verbs.export app.workflows.export
verbs.heads app.workflows.head_scores HeadWorth=HeadImportance Pruned=PruningReport
verbs.listener app.reporter Listener=Reporter NOBODY=NULL_REPORTER
verbs.noise app.workflows.label_errors Suspect=LabelIssue
verbs.spaces app.workflows.search_spaces LADDER=PRIOR_CANDIDATES settings_space=settings_search_space
verbs.suggest app.workflows.suggest_texts
verbs.tune app.workflows.tune Tuned=SearchResult Tried=Candidate
"""
"""Old module, new module, and the names that changed as OLD=NEW. Submodules move along."""

MOVED_MODULES = {
    f"headwise.{old}": (f"headwise.{new}", dict(name.split("=", 1) for name in names))
    for old, new, *names in map(str.split, _MOVED.strip().splitlines())
}


class MovedModules:
    """Finds a module under its old name and forwards its names to the new module, each with a warning. It
    stands last among the finders, so other imports cost nothing."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        from importlib.util import find_spec

        parent, _, name = fullname.rpartition(".")
        if fullname in MOVED_MODULES:
            new = MOVED_MODULES[fullname]
        elif parent in MOVED_MODULES and find_spec(module := f"{MOVED_MODULES[parent][0]}.{name}"):
            new = (module, {})
        else:
            return None
        loader: Any = self  # a part of the interface is enough
        return importlib.machinery.ModuleSpec(fullname, loader, loader_state=new, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Python makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        new_module, new_names = getattr(module.__spec__, "loader_state")  # noqa: B009

        from headwise.core.deprecation import warn_renamed

        def forward(name: str) -> object:
            new_name = new_names.get(name, name)
            new = importlib.import_module(new_module)
            new_name = getattr(new, "_RENAMED", {}).get(new_name, new_name)
            try:
                value = getattr(new, new_name)
            except AttributeError:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}") from None
            if not name.startswith("__"):
                warn_renamed(f"{module.__name__}.{name}", f"{new_module}.{new_name}")
            setattr(module, name, value)  # one warning for each name
            return value

        module.__doc__ = f"Old name of `{new_module}`."
        vars(module)["__getattr__"] = forward


def install() -> None:
    """Let the old module names be imported."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
