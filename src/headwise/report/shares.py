"""What each word of a text adds to what a model says of it, by the parts of the model.

What is explained is one number, `toward @ logits`: the margin of a label, or a predicted number. Of the
linear parts (the expert; the base's own say) it is divided exactly. The encoder's part is divided by
integrated gradients (Sundararajan, Taly, Yan: Axiomatic attribution for deep networks; ICML 2017) along the
way from a text whose words all have its mean vector to the text itself; what the former would get, and what
the steps leave over, belongs to no word.

Chosen by what the removal of the first three words does to the probability (help desk, 300 texts): with a
base and an expert it is lowered by .44 whichever way the encoder is divided (.42 where each word's share is
what the whole model says less without it); of an encoder alone by .28, by .24 on the way from zeros, where
normalisation hides the size of vectors, and by .29 by leaving out each word, which takes time with the
square of the length.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headwise.linear.pair_features import NUMBERS, compared_words
from headwise.linear.shares import Shares, column_of, form_shares, pair_shares, text_shares, vector_shares
from headwise.linear.text_expert import TextExpert
from headwise.linear.text_model import LinearModel
from headwise.models.pair_model import words_by
from headwise.models.text_model import Reader

STEPS = 4
"""Points on the way at which the gradient is looked at (Gauss and Legendre's)."""
_TOKENS = 16_384  # words at a time, all steps together
_MOST_LEFT_OUT = 400  # words of a pair up to which each is left out once


def divide(model: Any, encoded: Sequence[Any], toward: NDArray[np.float64]) -> list[dict[str, Shares]]:
    """What each word adds to `toward @ logits`, by the parts of the model that have a say.

    Args:
        model: Of texts or of pairs.
        encoded: What it reads of them; a text may come more than once.
        toward: What each output counts, for each of them, `[texts, outputs]`.

    Returns:
        For each text, the shares of its words by the part's name (`encoder`, `base`, `expert`), `[words]`;
        of pairs, the words of both texts.
    """
    found: dict[str, list[Shares]] = {}
    expert, own = getattr(model, "expert", None), toward * getattr(model, "encoder_weight", 1.0)
    if own.any():
        found["encoder"] = encoder_shares(model, encoded, own)
    if own.any() and getattr(model, "probe", None) is not None:
        found["base"] = _probe_shares(model, encoded, own)
    if expert is not None and model.expert_weight:
        found["expert"] = _expert_shares(model, encoded, toward * model.expert_weight)
    return [{name: rows[number] for name, rows in found.items()} for number in range(len(encoded))]


def of_form(model: Any, encoded: Sequence[Any], toward: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """What the form of each text adds to `toward @ logits` through the expert, by the numbers that say it,
    `[texts, FORM]` (see `headwise.linear.shares.form_shares`); None where it is not read."""
    expert = getattr(model, "expert", None)
    if expert is None or not expert.form or not model.expert_weight:
        return None
    texts = [text.text for text in encoded]
    return form_shares(expert.linear_model(), texts, toward * model.expert_weight)


def encoder_shares(
    model: Reader, encoded: Sequence[Any], toward: NDArray[np.float64], *, steps: int = STEPS
) -> list[Shares]:
    """What each word adds through the encoder, by integrated gradients.

    Args:
        model: See `divide`.
        encoded: Likewise.
        toward: Likewise.
        steps: At how many points the gradient is looked at.
    """
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    found: list[Shares] = [np.zeros(0)] * len(encoded)
    for places, batch in model.batches(encoded, batch_texts=64, batch_tokens=max(_TOKENS // steps, 1)):
        copies = model.collate([encoded[place] for place in places] * steps, model.device)
        with torch.no_grad():
            words, cls = model.embed(copies)
        sides = copies.layout.texts // (len(places) * steps)
        at, counts = (
            torch.from_numpy(np.tile(np.repeat(own, len(places)), sides)).to(words.values)[
                copies.layout.text_of, None
            ]
            for own in ((nodes + 1) / 2, weights / 2)
        )
        wanted = torch.from_numpy(toward[places]).to(words.values).repeat(steps, 1)
        means = words.mean()[copies.layout.text_of]
        away = words.values - means
        with torch.enable_grad():
            inner = (means + at * away).requires_grad_()
            states = model.encode_words(words.with_values(inner))
            outputs = model.read(replace(states, cls=cls))
            (slopes,) = torch.autograd.grad((outputs * wanted).sum(), inner)
        rows = (slopes * away * counts).sum(dim=1).cpu().double().numpy()
        # All steps of the first texts of pairs stand before those of the second texts.
        sizes = np.array(batch.layout.sizes).reshape(sides, len(places))
        halves = np.split(rows, np.cumsum(sizes.sum(1) * steps)[:-1])
        parts = [
            np.split(half.reshape(steps, -1).sum(0), np.cumsum(own)[:-1])
            for half, own in zip(halves, sizes, strict=True)
        ]
        for number, place in enumerate(places):
            found[place] = np.concatenate([part[number] for part in parts])
    return found


def _each_text(
    model: Any, encoded: Sequence[Any], of_words: Callable[[Any], torch.Tensor]
) -> list[NDArray]:
    """Something of each word of texts."""
    found: list[NDArray] = [np.zeros(0)] * len(encoded)
    for places, batch in model.batches(encoded):
        rows = of_words(batch).cpu().double().numpy()
        parts = np.split(rows, np.cumsum(batch.layout.sizes)[:-1])
        for place, part in zip(places, parts, strict=True):
            found[place] = part
    return found


@torch.no_grad()
def _probe_shares(model: Any, encoded: Sequence[Any], toward: NDArray[np.float64]) -> list[Shares]:
    if model.reads_pairs:
        lines = toward @ model.probe.weight.cpu().double().numpy()
        return _comparisons(model, encoded, [line.dot for line in lines])

    def say(batch: Any) -> torch.Tensor:
        return model.embedding.addends(batch.words, batch.spelling) @ model.probe.weight.T

    rows = _each_text(model, encoded, say)
    return [own @ line for own, line in zip(rows, toward, strict=True)]


@torch.no_grad()
def _expert_shares(model: Any, encoded: Sequence[Any], toward: NDArray[np.float64]) -> list[Shares]:
    expert: TextExpert = model.expert
    linear = expert.linear_model()
    if linear.pairs:
        found = [
            np.concatenate(pair_shares(linear, (pair.first.text, pair.second.text), line))
            for pair, line in zip(encoded, toward, strict=True)
        ]
        if expert.vectors:
            says = [partial(_dense_say, linear, line) for line in toward]
            for own, more in zip(found, _comparisons(model, encoded, says), strict=True):
                own[: len(more)] += more
        return found
    found = [text_shares(linear, text.text, line) for text, line in zip(encoded, toward, strict=True)]
    if expert.vectors:
        read = lambda batch: model.embedding.addends(batch.words, batch.spelling, trained=False)  # noqa: E731
        adds = _each_text(model, encoded, read)
        for own, addends, line in zip(found, adds, toward, strict=True):
            own[: len(addends)] += vector_shares(linear, addends, line)[0]
    return found


def _dense_say(linear: LinearModel, toward: NDArray[np.float64], compared: NDArray) -> float:
    """What a linear model of pairs says from how the texts compare as wholes."""
    vectors, numbers = np.split(compared[None], [-NUMBERS], axis=1)
    dense = linear.dense(1, vectors, numbers)
    return float((dense @ linear.machine.dense)[0] @ column_of(toward, linear))


def _comparisons(
    model: Any, encoded: Sequence[Any], says: Sequence[Callable[[NDArray], float]]
) -> list[Shares]:
    """What each word of pairs adds to what is said of how the texts compare: what is less without it.
    Where texts are long it is not divided."""
    found = []
    for pair, say in zip(encoded, says, strict=True):
        sides = words_by(model.embedding, model.collate([pair], model.device))
        sizes = [len(words) for words, _ in sides]
        shares = np.zeros(sum(sizes))
        if len(shares) <= _MOST_LEFT_OUT:
            whole = say(compared_words(*sides))
            for place in range(len(shares)):
                side, word = (0, place) if place < sizes[0] else (1, place - sizes[0])
                rest = list(sides)
                rest[side] = (np.delete(sides[side][0], word), np.delete(sides[side][1], word, axis=0))
                shares[place] = whole - say(compared_words(*rest))
        found.append(shares)
    return found
