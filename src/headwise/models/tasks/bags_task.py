"""Multiple-instance learning: one label for a bag of vectors."""

from collections.abc import Sequence

import numpy as np

from headwise.core.errors import ConfigError
from headwise.data.items.labels import label_targets
from headwise.data.readers.bags import Bag
from headwise.data.splits.data_parts import DataParts
from headwise.linear.baselines import BAG_SVM, fit_bag_baseline
from headwise.models.report_parts import ReportMessage
from headwise.models.tasks.classify import LabelTask
from headwise.models.tasks.training_messages import calibration_message
from headwise.nn.networks.bag_model import BagFeatures, BagModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Coverage, WordVectors
from headwise.training.loop import Objective
from headwise.training.settings import RunConfig
from headwise.training.train_result import TrainResult


class BagTask(LabelTask[BagModel, Bag]):
    """Multiple-instance classification: one label for each bag of instances."""

    name = "bags"
    model_class = "headwise.nn.networks.bag_model:BagModel"
    title, purpose = "classifier of bags", "multiple-instance learning"
    post_training_step, supports_cross_fitting = "calibration", True
    new_file, labelled_file, example_file = "NEW_BAGS", "LABELLED_BAGS", "bags.csv"
    usage = (
        "On the command line, a csv file with a bag's name and the features of one of its instances in "
        "each row:"
    )
    advice = "label more bags, or use the baseline"

    def check(self, run_config: RunConfig) -> None:
        super().check(run_config)
        if run_config.vectors.file:
            raise ConfigError("--vectors are of words, but bags have none")

    def check_thresholds(self, thresholds: str) -> None:
        if thresholds != "none":
            raise ConfigError("labels of bags have no thresholds: a bag gets its most probable label")

    def data_messages(
        self, parts: DataParts[Sequence[Bag]], config: ModelConfig, folds: int
    ) -> list[ReportMessage]:
        sizes = sorted(len(bag.instances) for bag in (*parts.train, *parts.dev, *parts.test))
        features = parts.train[0].instances.shape[1]
        instances = (
            f"{sizes[0]:,} to {sizes[-1]:,} instances (median {sizes[len(sizes) // 2]:,}) with "
            f"{features:,} features"
        )
        return [ReportMessage(f"{parts.sizes(folds)} of {instances}")]

    def shape(self, config: ModelConfig) -> str:
        settings = config.bags
        return (
            f"{settings.model} (width {settings.width}, layers {settings.layers}, heads {settings.heads})"
        )

    def input_description(self, model: BagModel) -> list[tuple[str, str]]:
        return [("Model of sets", model.config.bags.model), ("Features", f"{len(model.features.names):,}")]

    def build(
        self, parts: DataParts[Sequence[Bag]], run_config: RunConfig, vectors: WordVectors | None
    ) -> tuple[BagModel, Coverage | None]:
        if "train" in parts.files:
            names = tuple(parts.files["train"].features)
        else:
            names = tuple(map(str, range(parts.train[0].instances.shape[1])))
        return BagModel(run_config.model, BagFeatures(names), parts.labels), None

    def objective(self, model: BagModel, parts: DataParts[Sequence[Bag]]) -> Objective:
        model.standardize.fit([bag.instances for bag in parts.train])
        return super().objective(model, parts)

    def training_summary(self, fitted: TrainResult) -> list[str]:
        return [calibration_message(fitted, self.item_type.nouns.many)]

    def guesses(
        self, parts: DataParts[Sequence[Bag]], model: BagModel, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        train, dev = ((part, label_targets(part, model.labels)) for part in (parts.train, parts.dev))
        return BAG_SVM, fit_bag_baseline(train, dev, parts.test, refit=refit)

    def schema(self, model: BagModel) -> tuple[str, ...]:
        return model.features.names
