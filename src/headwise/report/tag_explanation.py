"""Why a tagger gives words their tags: what it says of them without each word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from headwise.data.sentence import Tagged
from headwise.report.explanation import Explanation, WordShare
from headwise.scores.schemes import read_spans

_NOTHING = "_"
"""Stands in the place of a word that is left out, so that the distances of the others stay."""
_FAR = 50
"""Words that are farther from all that is explained are not left out."""
_AT_ONCE = 2_000  # sentences
_LEAST = 1e-30  # of a probability


@dataclass(frozen=True)
class _Asked:
    """Something to explain: a span from word to word, and the word that decides."""

    said: str
    start: int
    end: int
    word: int


def explain_tags(model: Any, sentences: Sequence[Tagged]) -> list[Explanation]:
    """Why a tagger finds each span that it finds; of tags that mark no spans, why each word has its own.

    The margin is the log-odds of the tag given the sentence; of a span, of its least sure word. The share
    of a word is by how much the margin falls where another stands in its place (occlusion), in time that
    grows with the square of the length.
    """
    encoded = model.encode_sentences(sentences)
    tags, whole = model.decode(encoded)[0], model.marginals(encoded)
    own_tags = [model.same == model.same[own][:, None] for own in tags]  # those that are written alike
    asked = [_asked(model, *own) for own in zip(tags, whole, own_tags, strict=True)]
    margins = [_margins(*own) for own in zip(whole, asked, own_tags, strict=True)]
    without = [np.tile(own, (len(text.tokens), 1)) for own, text in zip(margins, sentences, strict=True)]
    left_out = [
        (number, place)
        for number, text in enumerate(sentences)
        for place in range(len(text.tokens))
        if any(abs(place - own.word) <= _FAR for own in asked[number])
    ]
    for start in range(0, len(left_out), _AT_ONCE):
        some = left_out[start : start + _AT_ONCE]
        changed = [_without(sentences[number], place) for number, place in some]
        found = model.marginals(model.encode_sentences(changed))
        for (number, place), chances in zip(some, found, strict=True):
            without[number][place] = _margins(chances, asked[number], own_tags[number])
    return [
        _explanation(number, sentences[number], own, margin, margin - less)
        for number in range(len(sentences))
        for own, margin, less in zip(asked[number], margins[number], without[number].T, strict=True)
    ]


def _asked(
    model: Any, tags: NDArray[np.int64], chances: NDArray[np.float64], own_tags: NDArray[np.bool_]
) -> list[_Asked]:
    names = model.names(tags)
    if model.scheme == "plain":
        return [_Asked(name, place, place + 1, place) for place, name in enumerate(names)]
    sure = (chances * own_tags).sum(axis=1)
    return [
        _Asked(kind, start, end, start + int(sure[start:end].argmin()))
        for start, end, kind in read_spans(names)
    ]


def _margins(
    chances: NDArray[np.float64], asked: Sequence[_Asked], own_tags: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Log-odds of the tags of the words that decide, `[asked]`; `own_tags` `[words, tags]` says which these
    are."""
    words = np.array([own.word for own in asked], dtype=np.int64)
    said, own = chances[words], own_tags[words]
    for_it, others = (said * own).sum(axis=1), (said * ~own).sum(axis=1)
    return np.log(np.maximum(for_it, _LEAST)) - np.log(np.maximum(others, _LEAST))


def _without(own: Tagged, place: int) -> Tagged:
    return replace(own, tokens=(*own.tokens[:place], _NOTHING, *own.tokens[place + 1 :]))


def _explanation(
    item: int,
    sentence: Tagged,
    asked: _Asked,
    margin: float,
    shares: NDArray[np.float64],
) -> Explanation:
    text, places = sentence.text, sentence.spans
    if text is None or places is None:
        text = " ".join(sentence.tokens)
        ends = np.cumsum([len(token) + 1 for token in sentence.tokens]) - 1
        places = [
            (int(end) - len(token), int(end)) for token, end in zip(sentence.tokens, ends, strict=True)
        ]
    words = tuple(
        WordShare(text[start:end], start, end, float(share), {})
        for (start, end), share in zip(places, shares, strict=True)
    )
    return Explanation(
        item=item,
        texts=(text,),
        said=asked.said,
        probability=float(expit(margin)),
        margin=float(margin),
        rest=float(margin - shares.sum()),
        words=words,
        about=(places[asked.start][0], places[asked.end - 1][1]),
    )
