"""A finished model whose probabilities and thresholds are fitted to other texts: newer ones, or more."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Unpack

from headwise.app.model_session import ModelSession
from headwise.app.reporter import NULL_REPORTER
from headwise.app.session import FileArguments
from headwise.app.training_checks import check_output_folder
from headwise.app.workflows.evaluate import ContaminationCheck
from headwise.artifacts import save_model
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.items.examples import DisplayNames
from headwise.metrics.operating_points import OPERATING_POINTS
from headwise.models.metric_table import MetricTable, lookup
from headwise.models.tasks.classify import operating_point_messages
from headwise.training.train_result import calibration_json


@dataclass(frozen=True)
class CalibrationReport:
    """What came of it.

    Attributes:
        sheet: What the task's scores are.
        nouns: What the items are called.
        items: How many the model was fitted to.
        errors: Its calibration error on them as it was, and as it is now (with temperatures that were
            fitted to others of them).
        temperature: What its logits are divided by now.
        biases: What is then added, of each label.
        scores: Headline of these items as it was, and as it is now.
        operating_points: What was asked of labels, and what can be promised
            (`headwise.metrics.operating_points.ChosenThreshold`).
    """

    sheet: MetricTable
    nouns: DisplayNames
    items: int
    errors: tuple[float, float]
    temperature: float
    biases: Mapping[str, float]
    scores: tuple[float, float]
    operating_points: tuple[JsonMapping, ...]

    @property
    def promise_messages(self) -> list[str]:
        """The same in words."""
        return operating_point_messages({OPERATING_POINTS: self.operating_points}, self.nouns.many)

    def to_json(self) -> JsonObject:
        """A JSON object."""
        result = {key: value for key, value in asdict(self).items() if key not in ("sheet", "nouns")}
        return result | {"score": self.sheet.headline.key}


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
    """Fit the temperature of a model, how common its labels are, and their thresholds to labelled texts,
    and save it as another model.

    Texts that the model was trained on are left out: of these it is too sure.

    Args:
        folder: The model's folder.
        file: With the true answers; "-" is standard input.
        output: Folder of the new model.
        thresholds: What thresholds are asked for, as `ClassifierConfig.thresholds` says; None: what the
            model was trained with.
        overwrite: Replace the model in the output folder.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used, or the model gives no labels.
    """
    output = Path(output)
    check_output_folder(output, resume=None, overwrite=overwrite)
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    task, model, item_type, info = session.task, session.model, session.item_type, session.info
    task.set_thresholds_setting(model, thresholds)
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
    sheet = task.sheet(after)
    key = sheet.headline.key
    return CalibrationReport(
        sheet,
        item_type.nouns,
        len(items),
        finished.calibration or (0.0, 0.0),
        model.temperature,
        dict(zip(model.labels, model.biases, strict=True)),
        (lookup(before, key), lookup(after, key)),
        tuple(finished.dev.get(OPERATING_POINTS, ())),
    )
