"""Sequence labelling: a tag for each word, such as the names in a text or its parts of speech."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from headwise.data.diagnosis import some
from headwise.data.errors import DataError
from headwise.data.kinds.sentence import SentenceKind
from headwise.data.parts import Parts
from headwise.data.shares import that_count
from headwise.encoders import ENCODERS
from headwise.features.alphabet import Alphabet
from headwise.features.vocabulary import Vocabulary
from headwise.linear.tag_crf import NAME, fit_crf
from headwise.models.answers.tags import TaggedText
from headwise.models.model_config import TEXT_SECTIONS, ModelConfig
from headwise.models.tag_model import TagModel
from headwise.predictions.tags import TagPredictor
from headwise.report.explanation import Explanation
from headwise.report.remarks import Remark, on_plain_tags
from headwise.report.rival import Rival
from headwise.report.sheet import RATES, Each, Line, Sheet, lookup
from headwise.report.tag_explanation import explain_tags
from headwise.report.tags import TagEvaluation, compare_taggers, evaluate_tags, judge_tags, tag_counts
from headwise.scores.scheme_check import Detection, detect_scheme
from headwise.scores.schemes import Scheme, convert
from headwise.scores.suggest import doubt_of_tags
from headwise.tasks.defaults import Settings, text_defaults
from headwise.tasks.labels import LEAST, expert_say
from headwise.tasks.task import Task
from headwise.train.fit import train_and_dev
from headwise.train.fitted import Finished, Fitted
from headwise.train.recipe import Recipe
from headwise.train.tag_expert import add_expert, add_expert_again
from headwise.train.tagging import TaggingObjective

_CONTEXT = 6  # words shown on either side of an error
_STRANGE = 0.9
"""Share of tags that the model does not have above which they are those of another task."""


class Tag(Task):
    """A tag for each word of a sentence."""

    name = "tag"
    title, purpose = "tagger", "sequence labelling"
    model = TagModel
    sections = (*TEXT_SECTIONS, "characters", "tagger", "expert")
    in_python = True
    based = True
    judged_parts, after = "words", "linear expert"
    predictor = TagPredictor
    answered_file, predictions = "TAGGED_SENTENCES", "predictions.jsonl"

    def kind_for(self, config: ModelConfig) -> SentenceKind:
        return SentenceKind(tokenizer=config.words.tokenizer)

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Every word of a sentence is an example, so fewer sentences are enough."""
        own = text_defaults(items, vectors=vectors, encoder=encoder, config=ENCODERS[encoder][1])
        del own["classifier"], own["expert"], own["model"]
        own["words"] |= {"dropout": 0.3, "min_count": 1}
        own["train"] |= {"epochs": 20 if items < 5_000 else 12, "batch_texts": 16, "patience": 5}
        own["train"]["refit"] = items < 5_000
        return own

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        """The vectors of the base say what words are about: what they are in a sentence is to be learned,
        and capitals, of which the base knows nothing, stand beside them."""
        settings = super().defaults_with_base(settings, items)
        settings["base"]["dropout"] = 0.3
        settings["characters"] = {"shape": 10}
        few = items < 5_000
        settings["train"] |= {
            "epochs": 12 if few else 8,
            "batch_texts": 16 if few else 32,
            "learning_rate": 2e-3,
            "vectors_learning_rate": 1e-3,
        }
        return settings

    def suggested(self, parts: Parts[Any]) -> Settings:
        return {"train": {"score": self._score(parts)}}

    def announce(self, parts: Parts[Any], recipe: Recipe) -> list[Remark]:
        found = _scheme(parts)
        scheme = Remark(f"tag scheme {found.scheme} guessed ({found.reason})")
        return [scheme, *super().announce(parts, recipe)]

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> TagModel:
        config, scheme = recipe.model, _scheme(parts).scheme
        tags = {tag for own in parts.train for tag in own.tags}
        if scheme != "plain":
            tags = {tag for own in parts.train for tag in convert(own.tags, config.tagger.scheme)}
        names = sorted(tags, key=lambda tag: (tag != "O", tag))
        every = (word for own in parts.train for word in own.tokens)
        alphabet = Alphabet.build(every, min_count=config.characters.min_count)
        return TagModel(config, words, names, scheme, alphabet)

    def objective(self, model: Any, parts: Parts[Any]) -> TaggingObjective:
        return TaggingObjective(model, parts.train, parts.dev)

    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        if model.config.expert.kind == "linear":
            add_expert(objective)
        return Finished(evaluate_tags(model, that_count(parts.dev)).to_json(), kept=model)

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:
        add_expert_again(objective, finished.kept)

    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        return self._score(parts)

    def told(self, fitted: Fitted) -> list[str]:
        model = fitted.model
        if model.expert is None:
            return []
        told = f"A linear CRF on {len(model.expert.keys):,} features of words stands beside the encoder"
        return [f"{told} {expert_say(model)}"]

    def judge(self, model: Any, items: Any) -> TagEvaluation:
        return evaluate_tags(model, items)

    def tally_sheet(self, parts: Parts[Any], config: ModelConfig) -> Sheet:
        return self.sheet({"entities": {} if self.headline(parts, config) == "f1" else None})

    def tally(self, model: Any, items: Any, judged: TagEvaluation) -> np.ndarray:
        """The loss is the mean of the words of a sentence, each for itself."""
        losses = []
        for chances, own in zip(model.marginals(model.encode_sentences(items)), items, strict=True):
            targets = model.targets(own)
            true = np.where(targets < 0, 0.0, chances[np.arange(len(targets)), targets])
            losses.append(-np.log(true.clip(LEAST)).mean() if len(true) else 0.0)
        return np.column_stack([losses, tag_counts(judged.predicted, items, model.written)])

    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        """A CRF on the spelling of words and their neighbours."""
        learnt = train_and_dev(parts) if refit else parts
        guessed = fit_crf(learnt.train, model.written).predict(parts.test)
        difference = compare_taggers(judged.predicted, guessed, parts.test, model.written)
        return _rival(NAME, guessed, parts.test, model.written, asdict(difference))

    def others(self, model: Any, items: Any, judged: Any) -> dict[str, Rival]:
        if model.expert is None:
            return {}
        encoded, found = model.encode_sentences(items), {}
        for name, weights in (("encoder", (1.0, 0.0)), ("expert", (0.0, 1.0))):
            guessed = [model.names(own) for own in model.decode(encoded, weights=weights)[0]]
            found[f"{name}_alone"] = _rival(f"{name} alone", guessed, items, model.written)
        return found

    def explain(self, model: Any, items: Sequence[Any]) -> list[Explanation]:
        return explain_tags(model, [model.sentence(own) for own in items])

    def doubts(self, model: Any, items: Sequence[Any]) -> tuple[list[TaggedText], np.ndarray]:
        said = model.tag(items)
        return said, doubt_of_tags([np.array(own.probabilities) for own in said])

    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        of = self.kind.nouns.many
        counts = (
            Line("unknown words", "unknown_words", rivals=False),
            Line(of, "tokens.texts", "count", rivals=False),
            Line("words", "tokens.words", "count", rivals=False),
        )
        bounds = "tokens.accuracy_interval"
        accuracy = Line("accuracy of words", "tokens.accuracy", interval=bounds, card=True)
        if lookup(scores, "entities") is None:
            lines = (accuracy, Line("macro F1", "tokens.macro_f1", card=True), *counts)
            return Sheet(lines, of, Each("tokens.tags", "tag", "tag", ("words", "words"), RATES))
        lines = (
            Line("F1 of spans", "entities.f1", interval="entities.f1_interval", card=True),
            Line("precision", "entities.precision"),
            Line("recall", "entities.recall"),
            Line("macro F1", "entities.macro_f1"),
            accuracy,
            Line("spans", "entities.spans", "count", rivals=False),
            Line("  predicted", "entities.predicted", "count", rivals=False),
            *counts,
        )
        return Sheet(lines, of, Each("entities.types", "type", "type", ("spans", "spans"), RATES))

    def remarks(
        self, info: Mapping[str, Any], scores: Mapping[str, Any], *, thresholds: bool = False
    ) -> list[Remark]:
        return on_plain_tags(scores)

    def check_answers(self, model: Any, data: Any, where: str) -> None:
        """Tags that the model does not have count as wrong, where some of what is tagged has its own."""
        if not data.items:
            raise DataError("HW103", "no tagged sentences", path=data.path)
        known = {_type(tag) for tag in model.tags} - {"O"}
        found = {tag: count for tag, count in data.tags.items() if tag != "O"}
        if found and model.written != "plain" and not data.entities:
            raise DataError(
                "HW140",
                f"tags that mark no spans, such as {next(iter(found))!r}",
                expected=f"spans of the types that {where} has: {some(sorted(known))}",
                advice="name another column with --tag-column, or write B- before the type where a span "
                "begins and I- where it goes on",
                path=data.path,
            )
        strange = {tag: count for tag, count in found.items() if _type(tag) not in known}
        if sum(strange.values()) > _STRANGE * sum(found.values()):
            raise DataError(
                "HW140",
                f"tags that do not occur in {where}: {some(sorted({*map(_type, strange)}))}",
                expected=f"tags such as {some(sorted(known))}",
                advice="name another column with --tag-column, or map the tags to these",
                path=data.path,
            )

    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        found = []
        for number, word in judged.worst(data.items, count):
            own = data.items[number]
            found.append(
                {
                    "where": data.where(number, word),
                    "word": own.tokens[word],
                    "tag": own.tags[word],
                    "predicted": judged.predicted[number][word],
                    "probability": float(judged.probabilities[number][word]),
                    "text": " ".join(own.tokens[max(0, word - _CONTEXT) : word + _CONTEXT + 1]),
                }
            )
        return found

    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        chance = f"{100 * mistake['probability']:.1f} %"
        return f"{mistake['word']}: {mistake['tag']} taken for {mistake['predicted']} ({chance})"

    @staticmethod
    def _score(parts: Parts[Any]) -> str:
        """The dev score that such taggers are chosen by."""
        return "accuracy" if _scheme(parts).scheme == "plain" else "f1"


def _rival(
    name: str,
    guessed: Sequence[Sequence[str]],
    items: Sequence[Any],
    scheme: Scheme,
    difference: Mapping[str, Any] | None = None,
) -> Rival:
    """A rival that gives sentences these tags of a scheme."""
    tokens, entities = judge_tags(guessed, items, scheme)
    scores: dict[str, Any] = {"tokens": {"accuracy": tokens.accuracy, "macro_f1": tokens.macro_f1}}
    if entities is not None:
        keys = ("f1", "f1_interval", "precision", "recall", "macro_f1")
        scores["entities"] = {key: getattr(entities, key) for key in keys}
    return Rival(name, scores, difference)


def _scheme(parts: Parts[Any]) -> Detection:
    """The tag scheme of the training file."""
    whole = parts.files["train"].items if "train" in parts.files else [*parts.train, *parts.dev]
    return detect_scheme(own.tags for own in whole)


def _type(tag: str) -> str:
    """The type of the span that a tag is of; of a plain tag itself."""
    return tag.partition("-")[2] or tag
