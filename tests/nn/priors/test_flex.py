"""Priors for PyTorch's flexible attention, against the reference."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_mask, flex_attention

from headwise.core.errors import ConfigError
from headwise.nn.attention.reference import attention
from headwise.nn.layout import Layout
from headwise.nn.priors import (
    Dilated,
    Earlier,
    Everything,
    Forward,
    Gaussian,
    GlobalTokens,
    Rotary,
    Shaw,
    ShiftedWindow,
    TreeDistance,
    Window,
    WordDistance,
    flex_mods,
)

PRIORS = (
    Everything(),
    Window(width=3),
    Window(fraction=0.5),
    ShiftedWindow(3),
    Forward() + WordDistance(0.5),
    Gaussian(2.0),
    Dilated(2),
    GlobalTokens(Window(width=3)),
    Earlier(),
)
LENGTHS = (5, 1, 9)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_the_same_as_the_reference():
    random = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(3, len(PRIORS), 9, 4, generator=random, dtype=torch.float64) for _ in range(3))
    lengths = torch.tensor(LENGTHS)
    score_mod, mask_mod = flex_mods(PRIORS, lengths)
    mask = create_mask(mask_mod, 3, len(PRIORS), 9, 9, device="cpu")
    texts, heads = torch.arange(3)[:, None, None, None], torch.arange(len(PRIORS))[:, None, None]
    place = torch.arange(9)

    def both(score, text, head, query, key):
        score = score_mod(score, text, head, query, key)
        return torch.where(mask_mod(text, head, query, key), score, float("-inf"))

    output = flex_attention(q, k, v, score_mod=both)
    rows = [x.transpose(1, 2) for x in (q, k, v)]
    flat = [torch.cat([x[t, :n] for t, n in enumerate(LENGTHS)]) for x in rows]
    expected = attention(*flat, PRIORS, Layout(LENGTHS)).split(LENGTHS)
    for text, n in enumerate(LENGTHS):
        got = output[text, :, :n].transpose(0, 1).nan_to_num()  # a query that sees nothing
        torch.testing.assert_close(got, expected[text], rtol=1e-10, atol=1e-10)
    assert torch.equal(mask, mask_mod(texts, heads, place[:, None], place[None, :]).expand_as(mask))


@pytest.mark.parametrize("prior", [Shaw(), Rotary(), Forward() + Rotary(), TreeDistance(1.0)], ids=str)
def test_what_no_function_of_positions_can_say(prior):
    with pytest.raises(ConfigError, match="only fixed priors"):
        flex_mods([prior], torch.tensor([3]))
