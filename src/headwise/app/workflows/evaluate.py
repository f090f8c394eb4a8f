"""Evaluate a model on a labelled file."""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Unpack

from headwise.app.reporter import NULL_REPORTER
from headwise.app.session import FileArguments, open_task_session
from headwise.app.session_base import TaskSession
from headwise.app.workflows.model_comparison import compare_models, open_comparable
from headwise.artifacts.model_info import DataInfo
from headwise.core.config import JsonMapping, JsonObject, is_number, lookup
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.files.compression import STANDARD_INPUT
from headwise.data.files.file_lists import list_files, paths_of
from headwise.data.files.memory_tables import DataArgument, tables_as_files
from headwise.data.items.labels import evaluation_weights
from headwise.data.splits.contamination import in_fingerprint, repetition_warning
from headwise.metrics.novelty import NoveltyScores, novelty_json
from headwise.models.evaluation_types import Evaluation, score_by_name
from headwise.models.predictor import many_unknown
from headwise.models.report_page import ReportContents, scores_fragment
from headwise.models.report_parts import ComparisonSystem, ReportMessage, score_unseen
from headwise.models.tasks.task import Task
from headwise.text.parsing import cache_warning

_MANY_UNKNOWN_SYMBOLS = 0.01


@renamed_parameters(remarks="messages", sure="selective_prediction")
@dataclass(frozen=True)
class EvaluationReport:
    """The evaluation of a model on a file.

    Attributes:
        task: The task of the model.
        model: The folder of the model.
        file: The file as the user named it.
        evaluation: The evaluation by the task.
        baseline: The baseline of the training run, if these are its test items; None otherwise.
        unseen: The model on the items that it was not trained on, if the file has others too.
        mistakes: The most confident errors.
        messages: Notes and warnings on the scores.
        novelty: Scores of the novelty detector; None without one.
        against: Another model on the same items, and the difference; None without one.
        selective_prediction: Selective prediction, if requested: the confidence threshold
            (`probability`), the `share` of items above it, and their `accuracy` with its
            `accuracy_interval`.
    """

    task: Task
    model: str
    file: str
    evaluation: Evaluation
    baseline: ComparisonSystem | None
    unseen: ComparisonSystem | None
    mistakes: list[JsonObject]
    messages: list[ReportMessage]
    selective_prediction: JsonMapping | None = None
    novelty: NoveltyScores | None = None
    against: ComparisonSystem | None = None

    @property
    def systems(self) -> list[ComparisonSystem]:
        """What the model is shown beside."""
        return [system for system in (self.unseen, self.baseline, self.against) if system is not None]

    @property
    def scores(self) -> JsonObject:
        """The scores as JSON."""
        sure = {} if self.selective_prediction is None else {"sure": self.selective_prediction}
        return {**self.evaluation.to_json(), **sure, **novelty_json(self.novelty)}

    def score(self, name: str) -> float:
        """A score by its name, such as `accuracy`.

        Raises:
            ConfigError: There is no such score.
        """
        return score_by_name(self.scores, name)

    def to_json(self) -> JsonObject:
        """A JSON object."""
        return {
            "model": self.model,
            "file": self.file,
            **self.scores,
            "baseline": None if self.baseline is None else self.baseline.to_json(),
            "unseen": None if self.unseen is None else self.unseen.to_json(),
            **({} if self.against is None else {"against": self.against.to_json()}),
            "errors": self.mistakes,
        }

    def __repr__(self) -> str:
        summary = self.task.metric_table(self.scores).summary(self.scores)
        return f"<EvaluationReport of {self.model}: {summary} on {self.file}>"

    def _repr_html_(self) -> str:
        scores = self.scores
        systems = self.systems
        messages = [message.text for message in self.messages]
        return scores_fragment(
            ReportContents("", self.file, self.task.metric_table(scores), scores, systems, messages)
        )


@renamed_parameters(heads="parses", listener="reporter")
def evaluate_file(
    folder: Path | str,
    file: DataArgument,
    *,
    errors: int = 0,
    unsure: str | None = None,
    unknown_labels: Literal["stop", "skip"] = "stop",
    unknown_label: str | None = None,
    against: Path | str | None = None,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> EvaluationReport:
    """Evaluate a model on a labelled file.

    If the file holds the test items of the training run, the baseline of that run is reported too.

    Args:
        folder: The model's folder.
        file: The file, or several, which are read as one; "-" is standard input. Or a table in memory.
        errors: Number of errors to report, the most confident first.
        unsure: The confidence threshold of selective prediction, see
            `headwise.app.workflows.predict.predict_file`.
        unknown_labels: What to do with items whose labels are not the model's: `stop`, or `skip` them with
            a note.
        unknown_label: The label of out-of-scope items, on which the novelty detector is evaluated.
        against: The folder of another model of the same task, to compare the model with on these items:
            on those with labels that both have, and that neither was trained on, if there are any.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Raises:
        HeadwiseError: The model or the file cannot be used, or a label is not one of the model's.
    """
    if unknown_labels not in ("stop", "skip"):
        raise ConfigError(f"unknown_labels {unknown_labels!r}; expected stop or skip")
    session = open_task_session(folder, device=device, pipeline=pipeline)
    scope = {"skip_unknown_labels": unknown_labels == "skip", "unknown_label": unknown_label}
    with tables_as_files(file) as (labelled,):
        data, outside = session.read_scoped(labelled or "", **scope, **file_arguments)
        least = None if unsure is None else session.confidence_threshold(unsure)
        evaluated = EvaluatedItems.of(session, data, outside)
        report = evaluated.report(errors, least)
        if against is None:
            return report
        if STANDARD_INPUT in paths_of(list_files(labelled or "")):
            raise ConfigError("--against reads the file twice, and standard input cannot be; give a file")
        second = open_comparable(against, session, device=device, pipeline=pipeline)
        silent: FileArguments = {**file_arguments, "reporter": NULL_REPORTER}
        # a file of today may have labels that an older model does not have
        second_scope = {**scope, "skip_unknown_labels": True}
        second_data, _ = second.read_scoped(labelled or "", **second_scope, **silent)
    check = ContaminationCheck(second, second_data.items)
    learnt = evaluated.learnt, check.learnt
    comparison = compare_models(session, data, evaluated.evaluation, second, second_data, learnt)
    warnings = [] if comparison.is_unseen else check.messages
    named = [replace(message, text=f"{against}: {message.text}") for message in warnings]
    messages = [*report.messages, *named, *comparison.messages]
    return replace(report, against=comparison.system, messages=messages)


class ContaminationCheck:
    """Checks which labelled items a model was trained on.

    Args:
        session: The opened model.
        items: The items.

    Attributes:
        messages: Warnings.
        learnt: The indices of the items that the model was trained on, without those used for model
            selection only; of a stream of symbols, all or none.
        is_test: Whether these are the test items of the training run.
    """

    def __init__(self, session: TaskSession, items: Any):
        self.session, self.items = session, items
        item_type, data = session.item_type, session.info.data
        sha256 = item_type.fingerprint(items).sha256
        is_remembered = in_fingerprint(item_type, data.training_fingerprint, items)
        learnt: Collection[int] = {number for number, remembered in enumerate(is_remembered) if remembered}
        self.messages = _contamination_messages(data, sha256, len(learnt), len(items), item_type.nouns.many)
        if not item_type.has_keys and data.is_training_file(sha256):
            learnt = range(len(items))
        was_choice = sha256 == data.dev.sha256 and not session.info.training.is_refitted
        self.learnt: Collection[int] = set() if was_choice else learnt
        self.is_test = sha256 == data.test.sha256

    def unseen(self) -> tuple[ComparisonSystem | None, list[ReportMessage]]:
        """The evaluation on the items that the model was not trained on; None if it was trained on none.
        Also a message if near-duplicates, which only the training run can detect, are left out too."""
        in_training = self.session.info.metrics.systems.get("unseen") if self.is_test else None
        if in_training is None:
            return score_unseen(self.session.task.evaluate, self.session.model, self.items, self.learnt), []
        new = len(self.items) - len(self.learnt)
        # older folders have other names, such as "model on 5 unseen"
        if in_training.name.endswith((f"({new:,})", f" on {new:,} unseen")):
            return in_training, []
        many = self.session.item_type.nouns.many
        text = f"near-duplicates of {many} that the model was trained on or selected by are left out, too"
        return in_training, [ReportMessage(f"{text}: {in_training.name}", warning=True)]


def _contamination_messages(
    data: DataInfo, sha256: str, repeated: int, items: int, many: str
) -> list[ReportMessage]:
    """A warning if a model is evaluated on its training or dev items."""
    if data.is_training_file(sha256):
        text = f"the model was trained on {many} of this file, so these scores do not hold for new ones"
    elif sha256 == data.dev.sha256:
        text = f"the model was selected by these {many}: the scores are optimistic"
    elif repeated:
        where = "in the training or dev data (the same words)"
        text = f"{repeated:,} of {items:,} {many} also occur {where}: the scores are optimistic"
    else:
        return []
    return [ReportMessage(text, warning=True)]


@dataclass(frozen=True)
class EvaluatedItems:
    """Labelled items, and the evaluation of a model on them.

    Attributes:
        session: The opened model.
        data: The data set of the items.
        evaluation: The evaluation by the task.
        seconds: Duration of the evaluation; 0 if unknown.
        part: "test " if the items are the test part of the file.
        is_test: Whether they are the test items of the training run, which the scores in the folder are of.
        unseen: The model on the items that it was not trained on, if there are others too.
        messages: Warnings about contamination.
        novelty: The evaluation of the novelty detector; None without one.
        learnt: The indices of the items that the model was trained on.
    """

    session: TaskSession
    data: Any
    evaluation: Evaluation
    seconds: float = 0.0
    part: str = ""
    is_test: bool = True
    unseen: ComparisonSystem | None = None
    messages: Sequence[ReportMessage] = ()
    novelty: NoveltyScores | None = None
    learnt: Collection[int] = ()

    @classmethod
    def of(cls, session: TaskSession, data: Any, outside: Sequence[object] = ()) -> "EvaluatedItems":
        """Evaluate a model on items from `TaskSession.read_scoped`; those `outside` are out of scope."""
        began = time.perf_counter()
        evaluation = session.evaluate(data.items)
        seconds = time.perf_counter() - began
        check = ContaminationCheck(session, data.items)
        unseen, messages = check.unseen()
        messages = [*check.messages, *messages]
        novelty = session.task.evaluate_novelty(session.model, data.items, outside, evaluation)
        return cls(
            *(session, data, evaluation, seconds, "", check.is_test, unseen, messages, novelty),
            learnt=check.learnt,
        )

    @property
    def scores(self) -> JsonObject:
        """The scores as JSON."""
        return {**self.evaluation.to_json(), **novelty_json(self.novelty)}

    def score_messages(self, scores: JsonMapping) -> list[ReportMessage]:
        """Notes and warnings on scores, as JSON."""
        task, labels = self.session.task, self.session.info.data.train.labels
        shift = task.label_shift(self.session.model, self.data.items, self.evaluation)
        return [*task.score_messages(labels, scores), *shift]

    def report(self, errors: int = 0, least: float | None = None) -> EvaluationReport:
        """The evaluation report.

        Args:
            errors: Number of errors to report.
            least: The confidence threshold of selective prediction.
        """
        session, data = self.session, self.data
        task, item_type, info = session.task, session.item_type, session.info
        mistakes = task.mistakes(session.model, data, self.evaluation, errors)
        scores = self.evaluation.to_json()
        messages = [
            *self.messages,
            *task.evaluation_caveats(info.data.train.labels, data),
            *_out_of_vocabulary_warning(scores, info.metrics.unknown_words),
            *self.score_messages(scores),
        ]
        if evaluation_weights(data.items) is not None:
            messages.append(
                ReportMessage(f"scores count all {item_type.nouns.many} the same, whatever their weights")
            )
        if repeated := repetition_warning(item_type, data.items):
            messages.append(ReportMessage(repeated, warning=True))
        if trouble := cache_warning(session.model):
            messages.append(ReportMessage(trouble, warning=True))
        baseline = info.metrics.baseline if self.is_test else None
        key = task.metric_table(scores).primary_metric.key
        if baseline is not None and not is_number(lookup(baseline.scores, key)):
            baseline = None  # an older folder compares models by another score
        folder, evaluation, sure = str(session.folder), self.evaluation, None
        if least is not None:
            sure = task.selective_scores(session.model, data.items, evaluation, least)
        return EvaluationReport(
            *(task, folder, data.path, evaluation, baseline, self.unseen, mistakes, messages, sure),
            novelty=self.novelty,
        )


def _out_of_vocabulary_warning(scores: JsonMapping, usual: float) -> list[ReportMessage]:
    """A warning if many words or symbols are out of vocabulary."""
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
