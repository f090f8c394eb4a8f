"""Head ablation: the scores of a model on a file without each of its heads; and pruning of the heads that
add nothing."""

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Unpack

from headwise.app.output_checks import check_output_folder
from headwise.app.reporter import NULL_REPORTER
from headwise.app.session import FileArguments, ModelSession
from headwise.app.workflows.evaluate import ContaminationCheck
from headwise.artifacts import save_model
from headwise.core.config import JsonObject, is_number, lookup
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.metrics.classification_scores import paired_interval
from headwise.metrics.metric_keys import SELECTIVE_PREDICTION
from headwise.metrics.operating_points import RiskCoverageCurve
from headwise.models.metric_table import MetricTable
from headwise.models.pictures import learned_priors_figure
from headwise.nn.networks.head_pruning import (
    AttentionHead,
    check_removable,
    heads_of,
    masked_head,
    prune_heads,
)

_NEGLIGIBLE_LOSS = 1e-3
"""Increase of the log loss, in nats, that counts as none."""


@dataclass(frozen=True)
class HeadImportance:
    """The importance of an attention head: the loss of quality without it.

    Attributes:
        module: Name of its attention module in the encoder.
        head: Its number in that module, from 1.
        prior: Its prior; "" without one.
        score: Primary metric of the model without it.
        worth: How much better the primary metric is with it.
        interval: 95 % interval of `worth` over items; None if the task has none.
        loss: Increase of the log loss without it, in nats; None without log loss.
    """

    module: str
    head: int
    prior: str
    score: float
    worth: float
    interval: tuple[float, float] | None
    loss: float | None

    @property
    def is_redundant(self) -> bool:
        """Whether the model is not significantly worse without it on these items."""
        low = self.worth if self.interval is None else self.interval[0]
        return low <= 0 and (self.loss is None or self.loss < _NEGLIGIBLE_LOSS)

    def to_json(self) -> JsonObject:
        """A JSON object."""
        return asdict(self)


@renamed_parameters(heads="parses", listener="reporter")
def heads_file(
    folder: Path | str,
    file: Path | str,
    *,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> tuple[MetricTable, float, list[HeadImportance]]:
    """Evaluate a model on a file without each of its heads in turn.

    Args:
        folder: The model's folder.
        file: The labelled items; best the dev or test part of the training run.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Returns:
        The metric table of the task, the primary metric of the whole model, and the heads layer by layer.

    Raises:
        HeadwiseError: The model or the file cannot be used, or the model has no heads.
    """
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    ablation = _HeadAblation(session, file, file_arguments)
    return ablation.metric_table, ablation.score, ablation.importances()


def draw_learned_priors(folder: Path | str) -> str:
    """Draw the learned priors of the heads of a model, as SVG.

    Args:
        folder: The model's folder.

    Raises:
        HeadwiseError: The model cannot be used, or its heads have no priors.
    """
    session = ModelSession.open(folder)
    return learned_priors_figure(session.model.encoder, f"The heads of {Path(folder).name}")


@renamed_parameters(sheet="metric_table")
@dataclass(frozen=True)
class PruningReport:
    """The result of pruning heads.

    Attributes:
        metric_table: The metric table of the task.
        heads: Number of heads before.
        removed: The removed heads, each with the importance of it and all removed before it together.
        scores: Primary metric on the items, before and after.
        bytes: Size of the model folder, before and after.
        milliseconds: CPU time per item, before and after.
    """

    metric_table: MetricTable
    heads: int
    removed: tuple[HeadImportance, ...]
    scores: tuple[float, float]
    bytes: tuple[int, int]
    milliseconds: tuple[float, float]

    def to_json(self) -> JsonObject:
        """A JSON object."""
        return {key: value for key, value in asdict(self).items() if key != "metric_table"} | {
            "score": self.metric_table.primary_metric.key
        }


@renamed_parameters(heads="parses", listener="reporter")
def prune_file(
    folder: Path | str,
    file: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> PruningReport:
    """Save a model without the heads that add nothing on a file.

    Heads are removed one by one, the least important first, as long as the model is not significantly worse
    without all of them together. Every layer keeps one head.

    Args:
        folder: The model's folder.
        file: The labelled items; best the dev part of the training run, as these items select heads, and
            scores on them are optimistic.
        output: Folder of the smaller model.
        overwrite: Replace the model in the output folder.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used, or heads of the encoder cannot be
            removed.
    """
    output = Path(output)
    check_output_folder(output, resume=None, overwrite=overwrite)
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    trial = _HeadAblation(session, file, file_arguments)
    model, task, items = session.model, session.task, trial.items
    check_removable(model)
    size, before = _folder_size(Path(folder)), trial.milliseconds()
    alone = zip(trial.heads, trial.importances(), strict=True)
    left = Counter(head.module for head in trial.heads)
    gone, removed = list[AttentionHead](), list[HeadImportance]()
    for head, single in sorted(alone, key=lambda single: (single[1].loss or 0.0, single[1].worth)):
        if (
            single.is_redundant
            and left[head.module] > 1
            and (both := trial.worth([*gone, head])).is_redundant
        ):
            gone.append(head)
            removed.append(both)
            left[head.module] -= 1
    prune_heads(model, gone)
    after, info = session.evaluate(items).to_json(), session.info
    metrics: JsonObject = {
        "calibration": info["calibration"],
        "pruned": [asdict(worth) for worth in removed],
    }
    # If all items are new, they stay as they are: those of a stream are no list.
    new = items if not trial.learnt else [item for n, item in enumerate(items) if n not in trial.learnt]
    if len(new):
        evaluation = session.evaluate(new)
        metrics["dev"] = evaluation.to_json()
        if (confidence := task.confidence(model, new, evaluation)) is not None:
            metrics["dev"] |= {SELECTIVE_PREDICTION: RiskCoverageCurve.of(*confidence).to_json()}
    save_model(model, output, data=info["data"], training=info["training"], metrics=metrics)
    scores = trial.score, lookup(after, trial.metric_table.primary_metric.key)
    sizes, times = (size, _folder_size(output)), (before, trial.milliseconds())
    return PruningReport(trial.metric_table, len(trial.heads), tuple(removed), scores, sizes, times)


def _folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


class _HeadAblation:
    """Evaluates a model on a file with and without heads; see `heads_file`."""

    def __init__(self, session: ModelSession, file: Path | str, file_arguments: FileArguments):
        self.session, self.reporter = session, file_arguments.get("reporter", NULL_REPORTER)
        model, task = session.model, session.task
        self.heads = heads_of(model) if hasattr(model, "encoder") else []
        if not self.heads:
            raise ConfigError(f"{session.folder}: the encoder has no heads that can be left out")
        self.items = session.read(file, **file_arguments).items
        check = ContaminationCheck(session, self.items)
        self.learnt = check.learnt
        for message in check.messages:
            self.reporter.message(message)
        evaluation = session.evaluate(self.items)
        self.scores = evaluation.to_json()
        self.metric_table = task.metric_table(self.scores)
        self.score = lookup(self.scores, self.metric_table.primary_metric.key)
        self.confidence = task.confidence(model, self.items, evaluation)

    def importances(self) -> list[HeadImportance]:
        """The importance of each head."""
        worths = []
        with self.reporter.teacher_progress() as update:
            for number, head in enumerate(self.heads, start=1):
                worths.append(self.worth([head]))
                update(number, len(self.heads))
        return worths

    def worth(self, heads: Sequence[AttentionHead]) -> HeadImportance:
        """The importance of several heads together, as that of the last one."""
        with ExitStack() as stack:
            for head in heads:
                stack.enter_context(masked_head(head))
            evaluation = self.session.evaluate(self.items)
            baseline = self.session.task.confidence(self.session.model, self.items, evaluation)
        scores_without, head = evaluation.to_json(), heads[-1]
        key, sign = self.metric_table.primary_metric.key, -1 if self.metric_table.lower else 1
        bounds = None
        if self.confidence is not None and baseline is not None:
            bounds = paired_interval(self.confidence[1], baseline[1])
        losses = [lookup(scores, "log_loss") for scores in (scores_without, self.scores)]
        loss = losses[0] - losses[1] if all(map(is_number, losses)) else None
        worth = sign * (self.score - lookup(scores_without, key))
        place = (head.module, head.number + 1, head.prior)
        return HeadImportance(*place, lookup(scores_without, key), worth, bounds, loss)

    def milliseconds(self) -> float:
        """CPU time per item in milliseconds, the least of three measurements."""
        times = []
        for _ in range(3):
            began = time.process_time()
            self.session.evaluate(self.items)
            times.append(time.process_time() - began)
        return 1000 * min(times) / len(self.items)
