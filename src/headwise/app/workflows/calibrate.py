"""Recalibration: fit the temperature, biases and thresholds of a trained model to other labelled items."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Unpack

from headwise.app.output_checks import check_output_folder
from headwise.app.reporter import NULL_REPORTER
from headwise.app.session import FileArguments, ModelSession
from headwise.app.workflows.evaluate import ContaminationCheck
from headwise.artifacts import save_model
from headwise.core.config import JsonMapping, JsonObject, lookup
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.items.examples import DisplayNames
from headwise.metrics.metric_keys import OPERATING_POINTS
from headwise.metrics.operating_points import parse_operating_points
from headwise.models.metric_table import MetricTable
from headwise.models.tasks.training_messages import operating_point_messages
from headwise.training.train_result import calibration_json


@renamed_parameters(sheet="metric_table")
@dataclass(frozen=True)
class CalibrationReport:
    """The result of a recalibration.

    Attributes:
        metric_table: The metric table of the task.
        nouns: Display names of the items.
        items: Number of items that the model was calibrated on.
        errors: Expected calibration error on these items before and after, the second cross-fitted.
        temperature: The new temperature, which divides the logits.
        biases: The new bias of each label, added after the division.
        scores: Primary metric on these items, before and after.
        operating_points: The requested operating point of each label and the threshold chosen for it
            (`headwise.metrics.operating_points.ChosenThreshold`).
    """

    metric_table: MetricTable
    nouns: DisplayNames
    items: int
    errors: tuple[float, float]
    temperature: float
    biases: Mapping[str, float]
    scores: tuple[float, float]
    operating_points: tuple[JsonMapping, ...]

    def __repr__(self) -> str:
        before, after = (f"{100 * error:.1f} %" for error in self.errors)
        error = f"calibration error {before} before, {after} now (cross-fitted)"
        return f"<CalibrationReport of {self.nouns.count(self.items)}: {error}>"

    @property
    def promise_messages(self) -> list[str]:
        """`operating_points` as messages."""
        return operating_point_messages({OPERATING_POINTS: self.operating_points}, self.nouns.many)

    def to_json(self) -> JsonObject:
        """A JSON object."""
        result = {key: value for key, value in asdict(self).items() if key not in ("metric_table", "nouns")}
        return result | {"score": self.metric_table.primary_metric.key}


@renamed_parameters(heads="parses", listener="reporter")
def calibrate_file(
    folder: Path | str,
    file: Path | str,
    output: Path | str,
    *,
    thresholds: str | None = None,
    overwrite: bool = False,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> CalibrationReport:
    """Fit the temperature, biases and thresholds of a model to labelled items, and save it as another
    model.

    Items that the model was trained on are left out: its probabilities of these are too high.

    Args:
        folder: The model's folder.
        file: The labelled items; "-" is standard input.
        output: Folder of the new model.
        thresholds: The requested thresholds, see `ClassifierConfig.thresholds`; None: those that the model
            was trained with.
        overwrite: Replace the model in the output folder.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used, or the model gives no labels.
    """
    output = Path(output)
    check_output_folder(output, resume=None, overwrite=overwrite)
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    task, model, item_type, info = session.task, session.model, session.item_type, session.info
    task.check_thresholds(thresholds or "none")
    if thresholds is not None:
        parse_operating_points(thresholds, model.labels)
        classifier = replace(model.config.classifier, thresholds=thresholds)
        model.config = replace(model.config, classifier=classifier)
    data = session.read(file, **file_arguments)
    seen = ContaminationCheck(session, data.items).learnt
    items = [item for number, item in enumerate(data.items) if number not in seen]
    if not items:
        raise ConfigError(
            f"{data.path}: the model was trained on all of these {item_type.nouns.many}; give it others"
        )
    if seen:
        left = "is" if len(seen) == 1 else "are"
        reporter = file_arguments.get("reporter", NULL_REPORTER)
        reporter.warn(f"{item_type.nouns.count(len(seen))} that the model was trained on {left} left out")
    before = session.evaluate(items).to_json()
    finished = task.calibrate(model, items)
    after = session.evaluate(items).to_json()
    metrics = {"dev": finished.dev | after, **calibration_json(finished.calibration)}
    data_info = info["data"] | {"dev": item_type.fingerprint(items)}
    save_model(model, output, data=data_info, training=info["training"], metrics=metrics)
    metric_table = task.metric_table(after)
    key = metric_table.primary_metric.key
    return CalibrationReport(
        metric_table,
        item_type.nouns,
        len(items),
        finished.calibration or (0.0, 0.0),
        model.temperature,
        dict(zip(model.labels, model.biases, strict=True)),
        (lookup(before, key), lookup(after, key)),
        tuple(finished.dev.get(OPERATING_POINTS, ())),
    )
