"""Sequence labelling: a tag for each word, such as the names in a text or its parts of speech."""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from headwise.core.config import JsonMapping, JsonObject, lookup
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.findings import abbreviate
from headwise.data.formats.tag_checks import marks_entities, span_type
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.data.readers.tagged_files import TaggedData
from headwise.data.splits.data_parts import DataParts
from headwise.linear.tag_crf import SPELLING_CRF, fit_crf
from headwise.metrics.classification_scores import selective_scores
from headwise.metrics.label_quality import tag_uncertainty
from headwise.metrics.metric_keys import SELECTIVE_PREDICTION
from headwise.metrics.operating_points import RiskCoverageCurve
from headwise.metrics.span_errors import KINDS, SpanError
from headwise.metrics.tag_schemes import Detection, Scheme, convert_tags, detect_scheme
from headwise.models.explanation import Explanation
from headwise.models.metric_table import PER_CLASS_METRICS, MetricRow, MetricTable, PerClassTable
from headwise.models.prediction_records import TagPredictor
from headwise.models.report_messages import plain_tag_messages
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tag_evaluation import (
    TagEvaluation,
    compare_taggers,
    evaluate_tags,
    score_tagging,
    tag_counts,
)
from headwise.models.tag_explanation import explain_tags
from headwise.models.tasks.classify import LEAST, member_name
from headwise.models.tasks.task import Task
from headwise.models.tasks.task_settings import Settings
from headwise.models.tasks.training_messages import contribution_message
from headwise.nn.networks.model_config import ModelConfig
from headwise.runtime.tag_outputs import TaggedText
from headwise.text.character_features import Alphabet
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.nn.networks.tag_model import TagModel
    from headwise.training.settings import RunConfig
    from headwise.training.tagging_objective import TagEnsembleFitter, TaggingObjective
    from headwise.training.train_result import TrainResult

_CONTEXT = 6  # words shown on either side of an error
_STRANGE = 0.9
"""Share of unknown tags above which a file is taken to belong to another task."""


class TagTask(Task["TagModel", Sequence[TaggedSentence], TaggedData, TagEvaluation]):
    """Sequence labelling: a tag for each word of a sentence."""

    name = "tag"
    model_class = "headwise.nn.networks.tag_model:TagModel"
    title, purpose = "tagger", "sequence labelling"
    in_python = True
    post_training_step = "linear model"
    predictor = TagPredictor
    labelled_file, predictions = "TAGGED_SENTENCES", "predictions.jsonl"

    def item_type_for(self, config: ModelConfig) -> TaggedSentenceItems:
        return TaggedSentenceItems(tokenizer=config.words.tokenizer)

    def suggested(self, parts: DataParts[Sequence[TaggedSentence]]) -> Settings:
        return {"train": {"score": self._score(parts)}}

    def data_messages(
        self, parts: DataParts[Sequence[TaggedSentence]], config: ModelConfig, folds: int
    ) -> list[ReportMessage]:
        detection = _scheme(parts)
        scheme = ReportMessage(f"tag scheme {detection.scheme} guessed ({detection.reason})")
        return [scheme, *super().data_messages(parts, config, folds)]

    def make(
        self, words: Vocabulary, parts: DataParts[Sequence[TaggedSentence]], run_config: RunConfig
    ) -> TagModel:
        config, scheme = run_config.model, _scheme(parts).scheme
        tags = {tag for sentence in parts.train for tag in sentence.tags}
        if scheme != "plain":
            tags = {
                tag for sentence in parts.train for tag in convert_tags(sentence.tags, config.tagger.scheme)
            }
        every = (word for sentence in parts.train for word in sentence.tokens)
        alphabet = Alphabet.build(every, min_count=config.characters.min_count)
        if (previous := run_config.init_from) is not None and not previous.has_no_task:
            tags.update(previous.model.tags)  # a few new sentences have not every tag of a long span
            alphabet = previous.model.alphabet.extended(alphabet)
        names = sorted(tags, key=lambda tag: (tag != "O", tag))
        return self.model(config, words, names, scheme, alphabet)

    def objective(self, model: TagModel, parts: DataParts[Sequence[TaggedSentence]]) -> TaggingObjective:
        from headwise.training.tagging_objective import TaggingObjective

        return TaggingObjective(model, parts.train, parts.dev)

    def ensemble_fitter(self, objective: TaggingObjective) -> TagEnsembleFitter:
        from headwise.training.tagging_objective import TagEnsembleFitter

        return TagEnsembleFitter(objective, lambda: _dev_scores(objective.model, objective.dev))

    def selective_scores(
        self, model: TagModel, items: Sequence[TaggedSentence], evaluation: TagEvaluation, least: float
    ) -> JsonObject | None:
        """The predictions are spans; `recall` is the share of all true spans that are predicted with at
        least this probability.

        Raises:
            ConfigError: The tags mark no spans.
        """
        if evaluation.entities is None:
            raise ConfigError("--unsure is for taggers of spans; the tags of this one mark no spans")
        confidences, right = evaluation.span_confidences(items)
        recall = int(right[confidences >= least].sum()) / max(evaluation.entities.spans, 1)
        return {**selective_scores(confidences, right, least), "recall": recall}

    def primary_metric(self, parts: DataParts[Sequence[TaggedSentence]], config: ModelConfig) -> str:
        return self._score(parts)

    def training_summary(self, fitted: TrainResult) -> list[str]:
        model = fitted.model
        if model.linear_model is None:
            return []
        features = f"{len(model.linear_model.keys):,} features of words"
        return [f"A linear CRF on {features} {contribution_message(model)}"]

    def evaluate(self, model: TagModel, items: Sequence[TaggedSentence]) -> TagEvaluation:
        return evaluate_tags(model, items)

    def metric_part_table(
        self, parts: DataParts[Sequence[TaggedSentence]], config: ModelConfig
    ) -> MetricTable:
        return self.metric_table({"entities": {} if self.primary_metric(parts, config) == "f1" else None})

    def metric_parts(
        self, model: TagModel, items: Sequence[TaggedSentence], evaluation: TagEvaluation
    ) -> np.ndarray:
        """The loss is the mean over the words of a sentence, by their marginal probabilities."""
        losses = []
        for chances, sentence in zip(model.marginals(model.encode_sentences(items)), items, strict=True):
            targets = model.targets(sentence)
            true = np.where(targets < 0, 0.0, chances[np.arange(len(targets)), targets])
            losses.append(-np.log(true.clip(LEAST)).mean() if len(true) else 0.0)
        return np.column_stack([losses, tag_counts(evaluation.predicted, items, model.written)])

    def baseline(
        self,
        parts: DataParts[Sequence[TaggedSentence]],
        model: TagModel,
        evaluation: TagEvaluation,
        *,
        refit: bool = False,
    ) -> ComparisonSystem | None:
        """The baseline: a CRF on the spelling of words and their neighbours."""
        from headwise.training.fit import merge_dev_into_train

        learnt = merge_dev_into_train(parts) if refit else parts
        guessed = fit_crf(learnt.train, model.written).predict(parts.test)
        difference = compare_taggers(evaluation.predicted, guessed, parts.test, model.written)
        return _tag_baseline(SPELLING_CRF, guessed, parts.test, model.written, asdict(difference))

    def ablations(
        self, model: TagModel, items: Sequence[TaggedSentence], evaluation: TagEvaluation
    ) -> dict[str, ComparisonSystem]:
        if model.linear_model is None:
            return {}
        encoded, comparisons = model.encode_sentences(items), {}
        for name, weights in (("encoder", (1.0, 0.0)), ("linear_model", (0.0, 1.0))):
            guessed = [model.names(numbers) for numbers in model.decode(encoded, weights=weights)[0]]
            comparisons[f"{name}_alone"] = _tag_baseline(member_name(name), guessed, items, model.written)
        return comparisons

    def explain(self, model: TagModel, items: Sequence[TaggedSentence]) -> list[Explanation]:
        return explain_tags(model, [model.sentence(item) for item in items])

    def uncertainty(
        self, model: TagModel, items: Sequence[TaggedSentence]
    ) -> tuple[list[TaggedText], np.ndarray]:
        tagged = model.tag(items)
        return tagged, tag_uncertainty([np.array(text.probabilities) for text in tagged])

    def metric_table(self, scores: JsonMapping) -> MetricTable:
        of = self.item_type.nouns.many
        counts = (
            MetricRow("unknown words", "unknown_words", compared=False),
            MetricRow(of, "tokens.texts", "count", compared=False),
            MetricRow("words", "tokens.words", "count", compared=False),
        )
        bounds = "tokens.accuracy_interval"
        accuracy = MetricRow("accuracy of words", "tokens.accuracy", interval=bounds, card=True)
        if lookup(scores, "entities") is None:
            lines = (accuracy, MetricRow("macro F1", "tokens.macro_f1", card=True), *counts)
            return MetricTable(
                lines, of, PerClassTable("tokens.tags", "tag", "tag", ("words", "words"), PER_CLASS_METRICS)
            )
        lines = (
            MetricRow("F1 of spans", "entities.f1", interval="entities.f1_interval", card=True),
            MetricRow("precision", "entities.precision"),
            MetricRow("recall", "entities.recall"),
            MetricRow("macro F1", "entities.macro_f1"),
            accuracy,
            MetricRow("answered", "sure.share", compared=False),
            MetricRow("  precision", "sure.accuracy", interval="sure.accuracy_interval", compared=False),
            MetricRow("  recall", "sure.recall", compared=False),
            MetricRow("spans", "entities.spans", "count", compared=False),
            MetricRow("  predicted", "entities.predicted", "count", compared=False),
            *(
                MetricRow(f"  {title}", f"span_errors.{kind}", "count", compared=False, if_any=True)
                for kind, title in KINDS.items()
            ),
            *counts,
        )
        return MetricTable(
            lines,
            of,
            PerClassTable("entities.types", "type", "type", ("spans", "spans"), PER_CLASS_METRICS),
        )

    def score_messages(
        self, labels: Mapping[str, int], scores: JsonMapping, *, thresholds: bool = False
    ) -> list[ReportMessage]:
        return plain_tag_messages(scores)

    def evaluation_caveats(self, labels: Mapping[str, int], data: TaggedData) -> list[ReportMessage]:
        """A warning if the file has tags or types of spans that the training data lack."""
        kind = span_type if marks_entities(labels) else str
        strange = sorted({*map(kind, data.tags)} - {*map(kind, labels), "O"})
        if not strange:
            return []
        text = (
            f"the training data have no {abbreviate([*map(repr, strange)])}: all such tags count as errors"
        )
        return [ReportMessage(text, warning=True)]

    def check_labels(self, model: TagModel, data: TaggedData, where: str) -> None:
        """Check that some of the tags of a file are known to the model; unknown tags count as wrong."""
        if not data.items:
            raise DataError("HW103", "no tagged sentences", path=data.path)
        kind = str if model.written == "plain" else span_type
        model_types = {kind(tag) for tag in model.tags} - {"O"}
        file_tags = {tag: count for tag, count in data.tags.items() if tag != "O"}
        if file_tags and model.written != "plain" and not data.entities:
            raise DataError(
                "HW140",
                f"tags that mark no spans, such as {next(iter(file_tags))!r}",
                expected=f"spans of the types that {where} has: {abbreviate(sorted(model_types))}",
                advice="name another column with --tag-column, or write B- before the type where a span "
                "begins and I- where it continues",
                path=data.path,
            )
        strange = {tag: count for tag, count in file_tags.items() if kind(tag) not in model_types}
        if sum(strange.values()) > _STRANGE * sum(file_tags.values()):
            raise DataError(
                "HW140",
                f"tags that do not occur in {where}: {abbreviate(sorted({*map(kind, strange)}))}",
                expected=f"tags such as {abbreviate(sorted(model_types))}",
                advice="name another column with --tag-column, or map the tags to these",
                path=data.path,
            )

    def mistakes(
        self, model: TagModel, data: TaggedData, evaluation: TagEvaluation, count: int
    ) -> list[JsonObject]:
        if evaluation.entities is not None:
            return [
                _span_mistake(data, number, error, probability)
                for number, error, probability in evaluation.worst_spans(data.items, count)
            ]
        rows = []
        for number, word in evaluation.worst(data.items, count):
            sentence = data.items[number]
            rows.append(
                {
                    "where": data.where(number, word),
                    "word": sentence.tokens[word],
                    "tag": sentence.tags[word],
                    "predicted": evaluation.predicted[number][word],
                    "probability": float(evaluation.probabilities[number][word]),
                    "text": " ".join(sentence.tokens[max(0, word - _CONTEXT) : word + _CONTEXT + 1]),
                }
            )
        return rows

    def evaluated_units(self, evaluation: TagEvaluation) -> str:
        return "words" if evaluation.entities is None else "spans"

    def describe_error(self, mistake: JsonMapping) -> str:
        chance = f"{100 * mistake['probability']:.1f} %"
        if "error" in mistake:
            return f"{_span_problem(mistake)} ({chance})"
        return f"{mistake['word']}: {mistake['tag']} predicted as {mistake['predicted']} ({chance})"

    @staticmethod
    def _score(parts: DataParts[Sequence[TaggedSentence]]) -> str:
        """The dev score by which the best epoch is chosen."""
        return "accuracy" if _scheme(parts).scheme == "plain" else "f1"


def _dev_scores(model: TagModel, dev: Sequence[TaggedSentence]) -> JsonObject:
    """The scores on dev, with the precision of spans at each probability (selective prediction)."""
    evaluation = evaluate_tags(model, dev)
    scores = evaluation.to_json()
    if evaluation.entities is not None:
        scores[SELECTIVE_PREDICTION] = RiskCoverageCurve.of(*evaluation.span_confidences(dev)).to_json()
    return scores


def _span_mistake(data: TaggedData, number: int, error: SpanError, probability: float) -> JsonObject:
    """A wrong span as JSON, with the words around it."""
    sentence, (start, end) = data.items[number], error.words
    true, predicted = error
    return {
        "where": data.where(number, start),
        "error": error.kind,
        "tag": "" if true is None else true.type,
        "span": "" if true is None else _words_of(sentence, true.start, true.end),
        "predicted": "" if predicted is None else predicted.type,
        "predicted_span": "" if predicted is None else _words_of(sentence, predicted.start, predicted.end),
        "probability": probability,
        "text": _words_of(sentence, max(0, start - _CONTEXT), end + _CONTEXT),
    }


def _words_of(sentence: TaggedSentence, start: int, end: int) -> str:
    """Words of a sentence as its text has them."""
    if sentence.text is None or sentence.spans is None:
        return " ".join(sentence.tokens[start:end])
    places = sentence.spans[start:end]
    return sentence.text[places[0][0] : places[-1][1]]


def _span_problem(mistake: JsonMapping) -> str:
    """What is wrong with a span."""
    true, predicted = (
        f'{kind or "span"} "{text}"' if text else ""
        for kind, text in (
            (mistake["tag"], mistake["span"]),
            (mistake["predicted"], mistake["predicted_span"]),
        )
    )
    if not predicted:
        return f"{true} missed"
    return f"{true} predicted as {predicted}" if true else f"{predicted} is spurious"


def _tag_baseline(
    name: str,
    guessed: Sequence[Sequence[str]],
    items: Sequence[TaggedSentence],
    scheme: Scheme,
    difference: JsonMapping | None = None,
) -> ComparisonSystem:
    tokens, entities = score_tagging(guessed, items, scheme)
    scores: JsonObject = {"tokens": {"accuracy": tokens.accuracy, "macro_f1": tokens.macro_f1}}
    if entities is not None:
        keys = ("f1", "f1_interval", "precision", "recall", "macro_f1")
        scores["entities"] = {key: getattr(entities, key) for key in keys}
    return ComparisonSystem(name, scores, difference)


def _scheme(parts: DataParts[Sequence[TaggedSentence]]) -> Detection:
    """Detect the tag scheme of the training file."""
    sentences = parts.files["train"].items if "train" in parts.files else [*parts.train, *parts.dev]
    return detect_scheme(sentence.tags for sentence in sentences)
