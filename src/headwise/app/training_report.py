"""The report of a training run: the model evaluated on the test data, with its comparison systems."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from headwise.app.distillation import DistillationSet
from headwise.app.training_plan import TrainingPlan
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.data.items.labels import evaluated_items, label_targets
from headwise.data.splits.contamination import PartOverlap
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.novelty import NoveltyScores, novelty_json
from headwise.models.evaluation_types import Evaluation, score_by_name
from headwise.models.label_evaluation import SingleLabelEvaluation
from headwise.models.report_page import ReportContents, scores_fragment
from headwise.models.report_parts import ComparisonSystem, score_unseen
from headwise.models.tasks.classify import label_baseline
from headwise.models.tasks.task import Task
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.networks.trained_models import TrainedModel
from headwise.training.settings import RunConfig
from headwise.training.train_result import TrainResult


@renamed_parameters(rivals="systems", teaching="distillation", seen="test_duplicates")
@dataclass(frozen=True)
class TrainingReport:
    """The report of a training run.

    Attributes:
        task: The task.
        fitted: The trained model with its history.
        run_config: The settings.
        parts: The data.
        test: The model's evaluation on the test items; None without test items.
        systems: Comparison systems on the same items, by their names in the metrics: the `baseline`, for
            some models `encoder_alone` and `teacher`, and the model itself on the `unseen` test items.
        distillation: With a teacher: its name, the number of texts that it labelled, and the
            `texts_per_second` of teacher and model.
        novelty: The evaluation of the novelty detector on the test items; None without one.
        test_duplicates: Number of test items that are duplicates or near-duplicates of items of other
            parts.
    """

    task: Task
    fitted: TrainResult[TrainedModel]
    run_config: RunConfig
    parts: DataParts
    test: Evaluation | None
    systems: Mapping[str, ComparisonSystem]
    distillation: JsonMapping = field(default_factory=dict)
    test_duplicates: int = 0
    novelty: NoveltyScores | None = None

    @property
    def test_scores(self) -> JsonObject:
        """The scores on the test items as JSON; empty without test items."""
        return {} if self.test is None else {**self.test.to_json(), **novelty_json(self.novelty)}

    def score(self, name: str) -> float:
        """A score on the test data by its name, such as `accuracy`.

        Raises:
            ConfigError: There is no such score.
        """
        return score_by_name(self.test_scores, name)

    def metrics(self) -> JsonObject:
        """The scores stored in a model folder."""
        metrics = self.fitted.metrics()
        if self.test is not None:
            metrics["test"] = self.test_scores
        if self.distillation:
            metrics["teaching"] = dict(self.distillation)
        return metrics | {name: system.to_json() for name, system in self.systems.items()}

    def __repr__(self) -> str:
        scores, on = self._scored
        metric_table = self.task.metric_table(scores)
        baseline = self.systems.get("baseline")
        baseline_score = baseline and metric_table.primary_metric.shown(baseline.scores)
        comparison = f"; {baseline.name} {baseline_score}" if baseline and baseline_score else ""
        return f"<TrainingReport: {metric_table.summary(scores)} on {on}{comparison}>"

    @property
    def _scored(self) -> tuple[JsonMapping, str]:
        """The scores on the test items, or on the dev items without any; and these items in words."""
        many = self.parts.item_type.nouns.many
        if self.test is not None:
            return self.test_scores, f"test {many}"
        return self.fitted.dev, f"{many} out of fold" if self.fitted.held_out.folds else f"dev {many}"

    def _repr_html_(self) -> str:
        scores, on = self._scored
        systems, messages = list(self.systems.values()), self.task.training_summary(self.fitted)
        return scores_fragment(
            ReportContents("", on, self.task.metric_table(scores), scores, systems, messages)
        )


def evaluate_run(
    plan: TrainingPlan, result: TrainResult, overlaps: Sequence[PartOverlap] = (), *, baseline: bool = True
) -> TrainingReport:
    """Evaluate a trained model on the test items, with comparison systems, and on the test items that it
    was not trained on.

    Args:
        plan: The plan of the training run.
        result: The trained model.
        overlaps: The overlaps of the test items with the data of the run.
        baseline: Whether to fit the baseline.
    """
    task, parts, distillation = plan.task, plan.gold_parts, plan.data.distillation
    report = TrainingReport(task, result, plan.run_config, parts, None, {})
    if len(parts.test):
        test = task.evaluate(result.model, parts.test)
        learnt = _without_zero_weights(parts)
        system = task.baseline(learnt, result.model, test, refit=result.refit) if baseline else None
        systems = {} if system is None else {"baseline": system}
        seen = frozenset[int]().union(
            *(overlap.places for overlap in overlaps if overlap.scored_part == "test")
        )
        if unseen := score_unseen(task.evaluate, result.model, parts.test, seen):
            systems["unseen"] = unseen
        systems |= task.ablations(result.model, parts.test, test)
        outside = parts.out_of_scope.get("test", ())
        novelty = task.evaluate_novelty(result.model, parts.test, outside, test)
        report = replace(report, test=test, systems=systems, test_duplicates=len(seen), novelty=novelty)
    return report if distillation is None else _with_teacher_scores(report, distillation)


def _with_teacher_scores(report: TrainingReport, distillation: DistillationSet) -> TrainingReport:
    """The report with the speed of teacher and model, and the teacher's scores on the test items."""
    model, test = report.fitted.model, report.parts.test
    summary = {
        "teacher": distillation.teacher.name,
        "texts": len(distillation.texts),
        "settings": asdict(distillation.config),
        "texts_per_second": distillation.speeds(model, test),
    }
    systems = dict(report.systems)
    if isinstance(model, TextClassifierModel) and isinstance(report.test, SingleLabelEvaluation):
        guessed, labels = distillation.teacher_predictions(test, model.labels), model.labels
        if guessed is not None:
            targets, predictions = label_targets(test, labels), report.test.predicted
            systems["teacher"] = label_baseline("teacher", guessed, targets, labels, predictions)
    return replace(report, systems=systems, distillation=summary)


def _without_zero_weights(parts: DataParts) -> DataParts:
    """Without training and dev items of weight 0: a baseline does not know weights, and these are what the
    user wants nothing to learn from."""
    if not parts.item_type.has_keys:
        return parts
    train, dev = evaluated_items(parts.train), evaluated_items(parts.dev)
    return parts if train is parts.train and dev is parts.dev else replace(parts, train=train, dev=dev)
