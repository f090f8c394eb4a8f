"""A finished model whose probabilities and thresholds are fitted to other texts: newer ones, or more."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headwise.data.nouns import Nouns
from headwise.errors import ConfigError
from headwise.report.sheet import Sheet, lookup
from headwise.scores.operating_points import OPERATING_POINTS
from headwise.store import read_info, save_model
from headwise.tasks import find_task
from headwise.tasks.labels import promised_told
from headwise.train.fitted import calibration_json
from headwise.verbs.evaluate import learnt
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import open_model, read_answers
from headwise.verbs.train import check_output_folder


@dataclass(frozen=True)
class Recalibrated:
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
            (`headwise.scores.operating_points.Promise`).
    """

    sheet: Sheet
    nouns: Nouns
    items: int
    errors: tuple[float, float]
    temperature: float
    biases: Mapping[str, float]
    scores: tuple[float, float]
    operating_points: tuple[Mapping[str, Any], ...]

    @property
    def promised(self) -> list[str]:
        """The same in words."""
        return promised_told({OPERATING_POINTS: self.operating_points}, self.nouns.many)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        result = {key: value for key, value in asdict(self).items() if key not in ("sheet", "nouns")}
        return result | {"score": self.sheet.headline.key}


def calibrate_file(
    folder: Path | str,
    file: Path | str,
    output: Path | str,
    *,
    thresholds: str | None = None,
    heads: Path | str | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    reading: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    listener: Listener = NOBODY,
) -> Recalibrated:
    """Fit the temperature of a model, how common its labels are, and their thresholds to labelled texts,
    and save it as another model.

    Texts that the model was trained on are left out: of these it is too sure.

    Args:
        folder: The model's folder.
        file: With the true answers; "-" is standard input.
        output: Folder of the new model.
        thresholds: What thresholds are asked for, as `ClassifierConfig.thresholds` says; None: what the
            model was trained with.
        heads: The syntax of the texts.
        pipeline: See `headwise.verbs.models.open_model`.
        device: Likewise.
        reading: How the file is read, where that is not to be guessed.
        overwrite: Replace the model in the output folder.
        listener: Is told what happens.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used, or the model gives no labels.
    """
    output = Path(output)
    check_output_folder(output, resume=None, overwrite=overwrite)
    model = open_model(folder, device, pipeline)
    task = find_task(model.config.task)
    task.ask_thresholds(model, thresholds)
    data, info = read_answers(task, model, folder, file, heads, reading, listener), read_info(Path(folder))
    kind = task.kind_for(model.config)
    seen = learnt(task, model, info, data.items)[1]
    items = [item for number, item in enumerate(data.items) if number not in seen]
    if not items:
        raise ConfigError(
            f"{data.path}: the model was trained on all of these {kind.nouns.many}; give it others"
        )
    if seen:
        left = "is" if len(seen) == 1 else "are"
        listener.warn(f"{kind.nouns.count(len(seen))} that the model was trained on {left} left out")
    before = task.judge(model, items).to_json()
    finished = task.calibrate(model, items)
    after = task.judge(model, items).to_json()
    metrics = {"dev": finished.dev | after, **calibration_json(finished.calibration)}
    data_info = info["data"] | {"dev": kind.fingerprint(items)}
    save_model(model, output, data=data_info, training=info["training"], metrics=metrics)
    sheet = task.sheet(after)
    key = sheet.headline.key
    return Recalibrated(
        sheet,
        kind.nouns,
        len(items),
        finished.calibration or (0.0, 0.0),
        model.temperature,
        dict(zip(model.labels, model.biases, strict=True)),
        (lookup(before, key), lookup(after, key)),
        tuple(finished.dev.get(OPERATING_POINTS, ())),
    )
