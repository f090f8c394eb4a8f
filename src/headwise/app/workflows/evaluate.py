"""Score a model on a file with the true answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack

from headwise.app.session import FileArguments, ModelSession
from headwise.app.training_report import score_unseen, unseen_name
from headwise.artifacts.model_info import DataInfo, MetricsInfo
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.items.soft_labels import evaluation_weights
from headwise.data.splits.contamination import in_fingerprint, repetition_warning
from headwise.metrics.classification_scores import wilson_interval
from headwise.models.evaluation.metric_table import ComparisonSystem, MetricTable, is_number, lookup
from headwise.models.evaluation.report_messages import ReportMessage
from headwise.models.predictions.predictor import many_unknown
from headwise.models.reports.document import ReportContents, scores_fragment
from headwise.models.tasks.task import Task
from headwise.text.parsing import cache_warning

_MANY_UNKNOWN_SYMBOLS = 0.01


@dataclass(frozen=True)
class EvaluationReport:
    """A model on a file.

    Attributes:
        task: What the model does.
        model: Its folder.
        file: The file as the user named it.
        evaluation: The scores.
        baseline: That of the model's training, if this is what it was tested on.
        unseen: The model on the items that it was not made of, where others are in the file.
        mistakes: What the model is surest of and wrong about.
        remarks: What else there is to say.
        sure: What the model is sure enough of, where that was asked: from which `probability`, which
            `share` of the items, and the `accuracy` of these with its `accuracy_interval`.
    """

    task: Task
    model: str
    file: str
    evaluation: Any
    baseline: ComparisonSystem | None
    unseen: ComparisonSystem | None
    mistakes: list[dict[str, Any]]
    remarks: list[ReportMessage]
    sure: Mapping[str, Any] | None = None

    @property
    def scores(self) -> dict[str, Any]:
        """The scores as JSON."""
        return {**self.evaluation.to_json(), **({} if self.sure is None else {"sure": self.sure})}

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "model": self.model,
            "file": self.file,
            **self.scores,
            "baseline": None if self.baseline is None else self.baseline.to_json(),
            "unseen": None if self.unseen is None else self.unseen.to_json(),
            "errors": self.mistakes,
        }

    def _repr_html_(self) -> str:
        scores, rivals = self.scores, [rival for rival in (self.baseline, self.unseen) if rival is not None]
        messages = [remark.text for remark in self.remarks]
        return scores_fragment(
            ReportContents("", self.file, self.task.sheet(scores), scores, rivals, messages)
        )


@renamed_parameters(heads="parses", listener="reporter")
def evaluate_file(
    folder: Path | str,
    file: Path | str,
    *,
    errors: int = 0,
    unsure: str | None = None,
    unknown_labels: Literal["stop", "skip"] = "stop",
    device: str = "auto",
    pipeline: str | None = None,
    **how: Unpack[FileArguments],
) -> EvaluationReport:
    """Score a model on a file with the true answers.

    If the file is the one that the model was tested on when it was trained, the simple baseline of that
    time stands beside it.

    Args:
        folder: The model's folder.
        file: The file; "-" is standard input.
        errors: How many mistakes to give.
        unsure: From which probability on the model is sure enough to answer, see
            `headwise.app.workflows.predict.predict_file`.
        unknown_labels: What to do with items whose labels are not the model's: stop, or leave them out and
            say how many they are.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        how: How the file is read, see `headwise.app.session.FileArguments`.

    Raises:
        HeadwiseError: The model or the file cannot be used, or an answer is not one of the model's.
    """
    if unknown_labels not in ("stop", "skip"):
        raise ConfigError(f"unknown_labels {unknown_labels!r}; expected stop or skip")
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    data = session.read(file, known_only=unknown_labels == "skip", **how)
    return evaluate(session, data, errors=errors, unsure=unsure)


def evaluate(
    session: ModelSession, data: Any, *, errors: int = 0, unsure: str | None = None
) -> EvaluationReport:
    """Score an opened model on what `ModelSession.read` has read; see `evaluate_file`."""
    task, model, kind, info = session.task, session.model, session.kind, session.info
    least = None if unsure is None else task.confidence_threshold(unsure, info.metrics.risk_coverage)
    evaluation = session.evaluate(data.items)
    mistakes = task.mistakes(model, data, evaluation, errors)
    sha256 = kind.fingerprint(data.items).sha256
    scores = evaluation.to_json()
    training_remarks, unseen = contamination_remarks(session, data.items)
    remarks = [
        *training_remarks,
        *task.evaluation_caveats(info.data.train.labels, data),
        *_out_of_vocabulary_warning(scores, info.metrics.unknown_words),
        *task.remarks(info.data.train.labels, scores),
        *task.label_shift(model, data.items, evaluation),
    ]
    if evaluation_weights(data.items) is not None:
        remarks.append(
            ReportMessage(f"scores count all {kind.nouns.many} the same, whatever their weights")
        )
    if repeated := repetition_warning(kind, data.items):
        remarks.append(ReportMessage(repeated, warning=True))
    if trouble := cache_warning(model):
        remarks.append(ReportMessage(trouble, warning=True))
    rival = _baseline(info.metrics, task.sheet(scores)) if sha256 == info.data.test.sha256 else None
    sure = None if least is None else _selective_scores(session, data.items, evaluation, least)
    return EvaluationReport(
        task, str(session.folder), data.path, evaluation, rival, unseen, mistakes, remarks, sure
    )


def contamination_remarks(
    session: ModelSession, items: Sequence[Any]
) -> tuple[list[ReportMessage], ComparisonSystem | None]:
    """What there is to say of items that a model was made of, and the model judged on the others: of what
    it was tested on in training, on those that are not nearly such items either, which only training knows.

    Args:
        session: The opened model.
        items: Those with their true answers.
    """
    remarks, seen = seen_in_training(session, items)
    kind, info = session.kind, session.info
    then = info.metrics.systems.get("unseen")
    if then is None or kind.fingerprint(items).sha256 != info.data.test.sha256:
        return remarks, score_unseen(session.task, session.model, items, seen)
    if then.name != unseen_name(len(items) - len(seen)):
        many = kind.nouns.many
        text = f"{many} that are nearly some that the model was trained on or chosen by are left out, too"
        remarks = [*remarks, ReportMessage(f"{text}: {then.name}", warning=True)]
    return remarks, then


def seen_in_training(
    session: ModelSession, items: Sequence[Any]
) -> tuple[list[ReportMessage], Collection[int]]:
    """What there is to say of items that a model was made of, and which it has learnt from, by number: not
    those that it was only chosen by. Of a stream it has learnt from all symbols or from none."""
    kind, info = session.kind, session.info
    sha256, many = kind.fingerprint(items).sha256, kind.nouns.many
    is_remembered = in_fingerprint(kind, info.data.seen, items)
    seen: Collection[int] = {
        number for number, remembered_item in enumerate(is_remembered) if remembered_item
    }
    remarks = _contamination_warning(info.data, sha256, many) or _overlap_warning(
        len(seen), len(is_remembered), many
    )
    if not kind.has_keys and info.data.is_training_file(sha256):
        seen = range(len(items))
    chose = sha256 == info.data.dev.sha256 and not info.training.is_refitted
    return remarks, set() if chose else seen


def _selective_scores(
    session: ModelSession, items: Any, evaluation: Any, least: float
) -> dict[str, Any] | None:
    """What a model is sure enough of; see `EvaluationReport.sure`."""
    confidences = session.task.confidence(session.model, items, evaluation)
    if confidences is None:
        return None
    right = confidences[1][confidences[0] >= least]
    scores = {"probability": least, "share": len(right) / len(items)}
    if len(right):
        bounds = wilson_interval(int(right.sum()), len(right))
        scores |= {"accuracy": float(right.mean()), "accuracy_interval": bounds}
    return scores


def _baseline(metrics: MetricsInfo, sheet: MetricTable) -> ComparisonSystem | None:
    """The baseline of a model's training, if it has the score that models are compared by."""
    baseline = metrics.baseline
    return baseline if baseline and is_number(lookup(baseline.scores, sheet.headline.key)) else None


def _contamination_warning(data: DataInfo, sha256: str, many: str) -> list[ReportMessage]:
    """A warning where a model is judged on what it was made of."""
    if data.is_training_file(sha256):
        text = f"the model was trained on {many} of this file, so these scores say nothing of new ones"
        return [ReportMessage(text, warning=True)]
    if sha256 == data.dev.sha256:
        return [
            ReportMessage(
                f"the model was chosen by these {many}: the scores are a little too good", warning=True
            )
        ]
    return []


def _overlap_warning(seen: int, items: int, many: str) -> list[ReportMessage]:
    """A warning where a model is judged on some of what it was made of."""
    if not seen:
        return []
    text = (
        f"{seen:,} of {items:,} {many} have the words of some that the model was trained on or chosen by: "
        "the scores are too good for new ones"
    )
    return [ReportMessage(text, warning=True)]


def _out_of_vocabulary_warning(scores: Mapping[str, Any], usual: float) -> list[ReportMessage]:
    """A warning where a model knows few of the words."""
    share = scores.get("unknown_words")
    if is_number(share) and many_unknown(share, usual):
        return [ReportMessage(f"the model does not know {100 * share:.1f} % of the words", warning=True)]
    symbols, unknown = scores.get("symbols"), scores.get("unknown_symbols")
    if is_number(symbols) and is_number(unknown) and unknown > _MANY_UNKNOWN_SYMBOLS * symbols:
        share = 100 * unknown / symbols
        return [
            ReportMessage(
                f"the model does not know {share:.1f} % of the {scores.get('unit')}", warning=True
            )
        ]
    return []
