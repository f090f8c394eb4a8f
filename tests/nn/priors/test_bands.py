"""Which priors compile to a band, and that the band is the dense form, by brute force."""

import pytest
import torch

from headwise.nn.encoders import MSSANConfig, MSTransformerConfig
from headwise.nn.priors import PRIORS, PositionPairs, alibi, parse_prior

BANDS = {
    *("everything", "window(1)", "window(5)", "window(n/16)", "window(n/3)", "window(2n)"),
    *("forward", "backward", "earlier", "later", "word-distance", "word-distance(-0.5)"),
    *("forward + window(n/4)", "backward + word-distance(0.25)", "window(7) + word-distance"),
    *("forward + window(n/2) + word-distance(0.5)", "earlier + window(5)", "later + word-distance(2)"),
    *("forward + backward", "earlier + later", "earlier + window(1)", "sum(word-distance + word-distance)"),
}
DENSE = {
    *(
        "dilated(2)",
        "gaussian(2)",
        "random-blocks",
        "tree-distance",
        "tree-distance(fallback=word)",
        "rotary",
    ),
    *("same-sentence", "same-paragraph", "sentence-distance", "sentence-distance(0.5, reach=1)"),
    *("parent", "child", "sibling", "tree-relations", "sink", "matrix"),
    *("shifted-window(3)", "learned-slope", "kerple", "fire", "adaptive-span", "forgetting", "cope"),
    *("shaw", "transformer-xl", "t5-buckets", "tree-buckets", "global-tokens(window(3))", "forward + shaw"),
}
HEADS = {
    "ms-san": MSSANConfig(distances=("word", "none"), distance_alpha=0.5).layer_priors,
    "ms-san, separate": MSSANConfig(distances=("none", "word"), separate=True).layer_priors,
    "ms-transformer": MSTransformerConfig().layer_priors,
    **{f"alibi, {sided}": [alibi(4, sided)] for sided in ("both", "left", "right", "halves")},
}


def equals_its_band(prior) -> bool:
    for n in (0, 1, 2, 3, 7, 16, 33):
        band = prior.band(torch.tensor([n]))
        expected = torch.full((n, n), float("-inf"), dtype=torch.float64)
        for i in range(n):
            for j in range(max(0, i - int(band.left)), min(n - 1, i + int(band.right)) + 1):
                expected[i, j] = -band.slope * abs(i - j)
        got = prior.bias(PositionPairs.of_length(n), torch.float64).expand(n, n)
        torch.testing.assert_close(got, expected)
    return True


@pytest.mark.parametrize("text", sorted(BANDS))
def test_the_band_is_the_dense_form(text):
    assert equals_its_band(parse_prior(text))


@pytest.mark.parametrize("name", list(HEADS))
def test_heads_of_encoders_compile(name):
    assert all(equals_its_band(prior) for priors in HEADS[name] for prior in priors)


@pytest.mark.parametrize("text", sorted(DENSE))
def test_what_is_no_band_says_so(text):
    prior = parse_prior(text)
    assert prior.band(torch.tensor([3])) is None
    assert (parse_prior("forward") + prior).band(torch.tensor([3])) is None


def test_all_priors_are_here():
    assert {parse_prior(text).name for text in BANDS | DENSE} == set(PRIORS)
