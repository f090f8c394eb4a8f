"""Explanations of a tagger's predictions by occlusion of each word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import expit
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tag_schemes import read_spans
from headwise.models.explanation import Explanation, WordAttribution

_NOTHING = "_"
"""The replacement of an occluded word, which keeps the distances between the other words."""
_FAR = 50
"""Words farther than this from every explained word are not occluded."""
_AT_ONCE = 2_000  # sentences
_LEAST = 1e-30  # of a probability


@dataclass(frozen=True)
class _Target:
    """A prediction to explain: a span of words `start` up to `end`, and `word`, its least certain word."""

    prediction: str
    start: int
    end: int
    word: int


def explain_tags(model: Any, sentences: Sequence[TaggedSentence]) -> list[Explanation]:
    """Explanations of each span that a tagger predicts; for tags without spans, of the tag of each word.

    The margin is the log-odds of the tag given the sentence; for a span, that of its least certain word.
    The attribution of a word is the fall of the margin when the word is replaced (occlusion). The time
    grows with the square of the sentence length.
    """
    encoded = model.encode_sentences(sentences)
    tags, marginals = model.decode(encoded)[0], model.marginals(encoded)
    # Several tags of the model may be written as the same tag: their probabilities are added.
    tag_masks = [model.same == model.same[predicted_tags][:, None] for predicted_tags in tags]
    targets = [_targets(model, *rows) for rows in zip(tags, marginals, tag_masks, strict=True)]
    margins = [_margins(*rows) for rows in zip(marginals, targets, tag_masks, strict=True)]
    without = [np.tile(row, (len(text.tokens), 1)) for row, text in zip(margins, sentences, strict=True)]
    left_out = [
        (number, place)
        for number, text in enumerate(sentences)
        for place in range(len(text.tokens))
        if any(abs(place - target.word) <= _FAR for target in targets[number])
    ]
    for start in range(0, len(left_out), _AT_ONCE):
        batch = left_out[start : start + _AT_ONCE]
        changed = [_occlude(sentences[number], place) for number, place in batch]
        marginals_without = model.marginals(model.encode_sentences(changed))
        for (number, place), chances in zip(batch, marginals_without, strict=True):
            without[number][place] = _margins(chances, targets[number], tag_masks[number])
    return [
        _explanation(number, sentences[number], target, margin, margin - less)
        for number in range(len(sentences))
        for target, margin, less in zip(targets[number], margins[number], without[number].T, strict=True)
    ]


def _targets(
    model: Any, tags: NDArray[np.int64], chances: NDArray[np.float64], tag_masks: NDArray[np.bool_]
) -> list[_Target]:
    names = model.names(tags)
    if model.scheme == "plain":
        return [_Target(name, place, place + 1, place) for place, name in enumerate(names)]
    sure = (chances * tag_masks).sum(axis=1)
    return [
        _Target(kind, start, end, start + int(sure[start:end].argmin()))
        for start, end, kind in read_spans(names)
    ]


def _margins(
    chances: NDArray[np.float64], targets: Sequence[_Target], tag_masks: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The log-odds of the predicted tag at the decisive word of each target, `[targets]`; `tag_masks`,
    `[words, tags]`, marks the tags of the model that are written as the predicted one."""
    words = np.array([target.word for target in targets], dtype=np.int64)
    word_chances, of_target = chances[words], tag_masks[words]
    in_favour, against = (word_chances * of_target).sum(axis=1), (word_chances * ~of_target).sum(axis=1)
    return np.log(np.maximum(in_favour, _LEAST)) - np.log(np.maximum(against, _LEAST))


def _occlude(sentence: TaggedSentence, place: int) -> TaggedSentence:
    return replace(sentence, tokens=(*sentence.tokens[:place], _NOTHING, *sentence.tokens[place + 1 :]))


def _explanation(
    item: int, sentence: TaggedSentence, target: _Target, margin: float, attributions: NDArray[np.float64]
) -> Explanation:
    text, places = sentence.text, sentence.spans
    if text is None or places is None:
        text = " ".join(sentence.tokens)
        ends = np.cumsum([len(token) + 1 for token in sentence.tokens]) - 1
        places = [
            (int(end) - len(token), int(end)) for token, end in zip(sentence.tokens, ends, strict=True)
        ]
    words = tuple(
        WordAttribution(text[start:end], start, end, float(attribution), {})
        for (start, end), attribution in zip(places, attributions, strict=True)
    )
    return Explanation(
        item=item,
        texts=(text,),
        prediction=target.prediction,
        probability=float(expit(margin)),
        margin=float(margin),
        rest=float(margin - attributions.sum()),
        words=words,
        explained_span=(places[target.start][0], places[target.end - 1][1]),
    )
