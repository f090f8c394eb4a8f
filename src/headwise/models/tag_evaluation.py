"""The evaluation of a tagger, as plain numbers to save or show."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from operator import eq
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.resampling import ScoreDifference
from headwise.metrics.span_errors import SpanError, count_span_errors, span_errors
from headwise.metrics.tag_schemes import Scheme, convert_tags, read_spans
from headwise.metrics.tagging_scores import (
    EntityScores,
    TokenScores,
    compare_entities,
    compare_tags,
    count_entities,
    score_entities,
    score_tags,
)

if TYPE_CHECKING:
    from headwise.nn.networks.tag_model import TagModel


@dataclass(frozen=True)
class TagEvaluation:
    """The evaluation of a tagger.

    Attributes:
        tokens: Token-level scores of the tags, in the scheme of the training file.
        entities: Span-level scores; None for tags without spans.
        unknown_words: Fraction of all words that are not in the vocabulary.
        predicted: The predicted tags of each sentence; not part of the JSON.
        probabilities: The probabilities of these tags, `[words]` for each sentence; not part of the JSON.
        errors: The number of wrong spans by kind, see `headwise.metrics.span_errors`; None for tags without
            spans.
    """

    tokens: TokenScores
    entities: EntityScores | None
    unknown_words: float
    predicted: list[list[str]] = field(repr=False, compare=False)
    probabilities: list[np.ndarray] = field(repr=False, compare=False)
    errors: dict[str, int] | None = None

    def worst(self, sentences: Sequence[TaggedSentence], count: int) -> list[tuple[int, int]]:
        """The wrongly tagged words, the most confident first: the index of the sentence, and of the word in
        it."""
        wrong = [
            (-float(self.probabilities[number][word]), number, word)
            for number, sentence in enumerate(sentences)
            for word, (tag, guess) in enumerate(zip(sentence.tags, self.predicted[number], strict=True))
            if tag != guess
        ]
        return [(number, word) for _, number, word in sorted(wrong)[:count]]

    def worst_spans(
        self, sentences: Sequence[TaggedSentence], count: int
    ) -> list[tuple[int, SpanError, float]]:
        """The wrong spans, the most confident first: the index of the sentence, the error, and the lowest
        probability of the predicted tags of its words."""
        wrong = []
        for number, sentence in enumerate(sentences):
            for error in span_errors(read_spans(self.predicted[number]), read_spans(sentence.tags)):
                start, end = error.words if error.predicted is None else error.predicted[:2]
                wrong.append((number, error, float(self.probabilities[number][start:end].min())))
        return sorted(wrong, key=lambda row: -row[2])[:count]

    def span_confidences(
        self, sentences: Sequence[TaggedSentence]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The probability of each predicted span, which is the lowest of its words, and whether the span is
        right, `[spans]`."""
        probabilities, right = [], []
        for tags, chances, sentence in zip(self.predicted, self.probabilities, sentences, strict=True):
            true = {*read_spans(sentence.tags)}
            for span in read_spans(tags):
                probabilities.append(float(chances[span.start : span.end].min()))
                right.append(span in true)
        return np.array(probabilities, dtype=np.float64), np.array(right, dtype=np.bool_)

    def to_json(self) -> JsonObject:
        scores: JsonObject = {"tokens": asdict(self.tokens), "unknown_words": self.unknown_words}
        if self.entities is not None:
            scores["entities"] = asdict(self.entities)
        if self.errors is not None:
            scores["span_errors"] = self.errors
        return scores


def evaluate_tags(model: "TagModel", sentences: Sequence[TaggedSentence]) -> TagEvaluation:
    """Predict the tags of sentences and compare them with the true tags.

    Args:
        model: The model.
        sentences: One or more sentences; their tags may be in another scheme than the model's.

    Raises:
        ValueError: There are no sentences.
    """
    encoded = model.encode_sentences(sentences)
    numbers, sure = model.decode(encoded)
    predicted = [model.names(tag_numbers) for tag_numbers in numbers]
    words = sum(map(len, encoded))
    unknown = sum(text.unknown for text in encoded) / max(words, 1)
    tokens, entities = score_tagging(predicted, sentences, model.written)
    errors = None
    if entities is not None:
        targets = [read_spans(sentence.tags) for sentence in sentences]
        errors = count_span_errors([read_spans(tags) for tags in predicted], targets)
    return TagEvaluation(tokens, entities, unknown, predicted, sure, errors)


def score_tagging(
    predicted: Sequence[Sequence[str]], sentences: Sequence[TaggedSentence], scheme: Scheme
) -> tuple[TokenScores, EntityScores | None]:
    """Token-level and span-level scores of predicted tags; `entities` is None for plain tags."""
    truth = [list(sentence.tags) for sentence in sentences]
    if scheme != "plain":
        truth = [convert_tags(tags, scheme) for tags in truth]
    names = sorted({tag for tags in (*truth, *predicted) for tag in tags})
    number = {name: n for n, name in enumerate(names)}

    def numbers(tags: Sequence[str]) -> np.ndarray:
        return np.array([number[tag] for tag in tags], dtype=np.int64)

    tokens = score_tags([numbers(tags) for tags in predicted], [numbers(tags) for tags in truth], names)
    if scheme == "plain":
        return tokens, None
    return tokens, score_entities([read_spans(t) for t in predicted], [read_spans(t) for t in truth])


def tag_counts(
    predicted: Sequence[Sequence[str]], sentences: Sequence[TaggedSentence], scheme: Scheme
) -> NDArray[np.int64]:
    """The numerator and denominator that each sentence adds to the span F1, or for plain tags to the
    accuracy, `[sentences, 2]`."""
    truth = [list(sentence.tags) for sentence in sentences]
    if scheme == "plain":
        right = [sum(map(eq, *pair)) for pair in zip(predicted, truth, strict=True)]
        return np.stack([right, [len(tags) for tags in truth]], axis=1)
    counts = count_entities(*([read_spans(tags) for tags in tag_lists] for tag_lists in (predicted, truth)))
    return np.stack([2 * counts[:, 0], counts[:, 1] + counts[:, 2]], axis=1)


def compare_taggers(
    first: Sequence[Sequence[str]],
    second: Sequence[Sequence[str]],
    sentences: Sequence[TaggedSentence],
    scheme: Scheme,
) -> ScoreDifference:
    """Paired comparison of two taggers by span F1, or for plain tags by accuracy."""
    truth = [list(sentence.tags) for sentence in sentences]
    if scheme != "plain":
        return compare_entities(
            *([read_spans(tags) for tags in tag_lists] for tag_lists in (first, second, truth))
        )
    return compare_tags(*([np.array(tags) for tags in tag_lists] for tag_lists in (first, second, truth)))
