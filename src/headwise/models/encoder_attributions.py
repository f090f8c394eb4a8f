"""Attributions of words through the encoder, by integrated gradients, and through the linear probe of a
base (see `headwise.models.word_attributions`)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headwise.linear.attributions import Doubles, leave_one_out_attributions
from headwise.nn.networks.text_model import TextEncoderModel

STEPS = 4
"""Points of the Gauss-Legendre quadrature along the integration path."""
_TOKENS = 16_384  # words per batch, over all quadrature points


def encoder_parts(
    model: Any, encoded: Sequence[object], output_weights: NDArray[np.float64]
) -> dict[str, list[Doubles]]:
    """The attributions through the encoder, and through the linear probe if there is one, by the name of
    the part; for the arguments see `encoder_attributions`."""
    parts = {"encoder": encoder_attributions(model, encoded, output_weights)}
    if getattr(model, "probe", None) is not None:
        parts["base"] = _probe_attributions(model, encoded, output_weights)
    return parts


def encoder_attributions(
    model: TextEncoderModel,
    encoded: Sequence[object],
    output_weights: NDArray[np.float64],
    *,
    steps: int = STEPS,
) -> list[Doubles]:
    """The attribution of each word through the encoder, `[words]` for each text, by integrated gradients.

    Args:
        model: See `headwise.models.word_attributions.attribute_words`.
        encoded: See `attribute_words`.
        output_weights: See `attribute_words`.
        steps: The number of quadrature points.
    """
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    attributions: list[Doubles] = [np.zeros(0)] * len(encoded)
    for places, batch in model.batches(encoded, batch_texts=64, batch_tokens=max(_TOKENS // steps, 1)):
        copies = model.collate([encoded[place] for place in places] * steps, model.device)
        with torch.no_grad():
            words, cls = model.embed(copies)
        sides = copies.layout.texts // (len(places) * steps)
        at, counts = (
            torch.from_numpy(np.tile(np.repeat(column, len(places)), sides)).to(words.values)[
                copies.layout.text_of, None
            ]
            for column in ((nodes + 1) / 2, weights / 2)
        )
        batch_weights = torch.from_numpy(output_weights[places]).to(words.values).repeat(steps, 1)
        means = words.mean()[copies.layout.text_of]
        away = words.values - means
        with torch.enable_grad():
            inner = (means + at * away).requires_grad_()
            states = model.encode_words(words.with_values(inner))
            outputs = model.read(replace(states, cls=cls))
            (slopes,) = torch.autograd.grad((outputs * batch_weights).sum(), inner)
        rows = (slopes * away * counts).sum(dim=1).cpu().double().numpy()
        # The rows of all first texts of pairs, for all steps, come before those of the second texts.
        sizes = np.array(batch.layout.sizes).reshape(sides, len(places))
        halves = np.split(rows, np.cumsum(sizes.sum(1) * steps)[:-1])
        parts = [
            np.split(half.reshape(steps, -1).sum(0), np.cumsum(lengths)[:-1])
            for half, lengths in zip(halves, sizes, strict=True)
        ]
        for number, place in enumerate(places):
            attributions[place] = np.concatenate([part[number] for part in parts])
    return attributions


def _probe_attributions(
    model: Any, encoded: Sequence[object], output_weights: NDArray[np.float64]
) -> list[Doubles]:
    weight = model.probe.weight.detach().cpu().double().numpy()
    lines = output_weights @ weight
    if model.reads_pairs:
        return leave_one_out_attributions(model.pair_sides(encoded), [line.dot for line in lines])
    rows = model.word_contributions(encoded, trained=True)
    return [addends @ line for addends, line in zip(rows, lines, strict=True)]
