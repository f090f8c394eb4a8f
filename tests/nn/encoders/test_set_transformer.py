"""The Set Transformer against its equations and against what follows from them (the oracles are numbered
in names; those about mixtures of Gaussians and about constant guesses belong to the tasks)."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from headwise.core.errors import ConfigError
from headwise.nn.encoders import SetTransformer, SetTransformerConfig
from headwise.nn.encoders.set_transformer import ISAB, MAB, PMA, SAB
from headwise.nn.ragged import Ragged

WIDTH = 12
CONFIG = SetTransformerConfig(width=WIDTH, heads=3, induced=4)
SIZES = (5, 0, 1, 9, 5)
BLOCKS, NORMS, SCALES = ("paper", "released", "tf"), ("off", "post", "pre"), ("model", "head")
exactly = {"rtol": 1e-10, "atol": 1e-10}
every_variant = pytest.mark.parametrize(
    "config",
    [replace(CONFIG, block=b, norm=n) for b in BLOCKS for n in NORMS],
    ids=lambda c: f"{c.block}-{c.norm}",
)


def made(module: nn.Module) -> nn.Module:
    random = torch.Generator().manual_seed(0)
    for parameter in module.double().parameters():
        parameter.data = torch.randn(parameter.shape, generator=random, dtype=torch.float64) / 2
    return module.eval()


def normed(norm, x):
    return nn.functional.layer_norm(x, (x.shape[-1],), norm.weight, norm.bias)


def mab_by_hand(mab: MAB, x, y):
    """One pair of sets, written again from the two codes and the paper."""
    c, width = mab.config, mab.query.out_features
    x_in, y_in = (normed(mab.query_norm, x), normed(mab.key_norm, y)) if c.norm == "pre" else (x, y)
    q, k, v = mab.query(x_in), mab.key(y_in), mab.value(y_in)
    heads = []
    for q_h, k_h, v_h in zip(q.chunk(c.heads, -1), k.chunk(c.heads, -1), v.chunk(c.heads, -1), strict=True):
        divisor = (width if c.scale == "model" else width / c.heads) ** 0.5
        seen = (q_h @ k_h.T / divisor).softmax(-1) @ v_h if len(y) else torch.zeros_like(q_h)
        heads.append(seen if c.block == "paper" else q_h + seen)
    h = torch.cat(heads, -1)
    if c.block == "paper":
        h = x + h @ mab.out.weight.T + mab.out.bias
    h = normed(mab.norm1, h) if c.norm == "post" else h
    inner = mab.feedforward(normed(mab.feedforward_norm, h) if c.norm == "pre" else h)
    h = (h + inner).clamp(min=0) if c.block == "tf" else h + inner.clamp(min=0)
    return normed(mab.norm2, h) if c.norm == "post" else h


@pytest.mark.parametrize("scale", SCALES)
@every_variant
def test_equations(config, scale, words):
    config = replace(config, scale=scale)
    mab, isab = made(MAB(WIDTH, WIDTH, WIDTH, config)), made(ISAB(WIDTH, WIDTH, config, induced=4))
    sab, pma = made(SAB(WIDTH, WIDTH, config)), made(PMA(WIDTH, config, seeds=2))
    x, second = words(SIZES, WIDTH), words((2, 3, 0, 1, 8), WIDTH, seed=1)
    results = [mab(x, second), isab(x), sab(x), pma(x)]
    for t, (rows, keys) in enumerate(zip(x, second, strict=True)):
        expected_rows = [
            mab_by_hand(mab, rows, keys),
            mab_by_hand(isab.spread, rows, mab_by_hand(isab.gather, isab.points.rows, rows)),
            mab_by_hand(sab.mab, rows, rows),
            mab_by_hand(pma.mab, pma.seeds.rows, rows),
        ]
        for got, expected in zip(results, expected_rows, strict=True):
            torch.testing.assert_close(got[t], expected, **exactly)


def test_the_encoder_is_a_stack_and_a_seed(words):
    encoder, x = made(SetTransformer(CONFIG)), words(SIZES, WIDTH)
    first, second = encoder.blocks
    assert isinstance(first, ISAB)
    tokens = second(first(x))
    encoded = encoder(x)
    torch.testing.assert_close(encoded.tokens.values, tokens.values, **exactly)
    torch.testing.assert_close(encoded.summary, encoder.pma(tokens).values, **exactly)
    assert all(isinstance(block, SAB) for block in SetTransformer(replace(CONFIG, induced=0)).blocks)


# The oracles


def blocks_of(config):
    return (
        made(SAB(WIDTH, WIDTH, config)),
        made(ISAB(WIDTH, WIDTH, config, induced=4)),
        made(PMA(WIDTH, config, seeds=2)),
    )


@every_variant
def test_o1_order_does_not_matter(config, words):
    sab, isab, pma = blocks_of(config)
    x, order = words((9,), WIDTH), torch.randperm(9, generator=torch.Generator().manual_seed(0))
    shuffled = x.map(lambda rows: rows[order])
    for block in (sab, isab):
        torch.testing.assert_close(block(shuffled).values, block(x).values[order], **exactly)
    torch.testing.assert_close(pma(shuffled).values, pma(x).values, **exactly)


@every_variant
def test_o2_doubling_the_set_changes_nothing(config, words):
    sab, isab, pma = blocks_of(config)
    x = words((5, 2), WIDTH)
    doubled = Ragged.from_list([torch.cat([rows, rows]) for rows in x])
    for block in (sab, isab):
        for got, expected in zip(block(doubled), block(x), strict=True):
            torch.testing.assert_close(got, torch.cat([expected, expected]), **exactly)
    torch.testing.assert_close(pma(doubled).values, pma(x).values, **exactly)


def test_o3_a_seed_of_zeros_sees_the_mean_of_the_values(words):
    pma, x = made(PMA(WIDTH, replace(CONFIG, bias=False), seeds=1)), words(SIZES, WIDTH)
    pma.seeds.rows.data.zero_()
    h = x.map(pma.mab.value).mean()
    expected = h + torch.relu(pma.mab.feedforward(h))
    torch.testing.assert_close(pma(x).values, expected, **exactly)


@every_variant
def test_o4_sets_of_any_sizes_give_together_what_they_give_alone(config, words):
    x = words((5, 0, 1, 40, 2, 0, 5), WIDTH)
    for block in blocks_of(config):
        together = block(x)
        for t in range(len(x)):
            torch.testing.assert_close(block(x[[t]]).values, together[t], **exactly)


@every_variant
def test_o4_an_empty_set_gives_what_the_seeds_give_by_themselves(config, words):
    pma, x = made(PMA(WIDTH, config, seeds=2)), words((0,), WIDTH)
    expected = mab_by_hand(pma.mab, pma.seeds.rows, x.values)
    torch.testing.assert_close(pma(x).values, expected, **exactly)
    if config.block != "paper":  # all else of the keys is gone
        pma.mab.value.bias.data.fill_(7.0)
        torch.testing.assert_close(pma(x).values, expected, **exactly)


def test_o5_isab_with_as_many_points_as_elements_is_not_sab(words):
    sab, isab = made(SAB(WIDTH, WIDTH, CONFIG)), made(ISAB(WIDTH, WIDTH, CONFIG, induced=5))
    isab.spread.load_state_dict(sab.mab.state_dict())
    x = words((5,), WIDTH)
    assert not torch.allclose(isab(x).values, sab(x).values, atol=1e-3)


def parameters(*modules):
    return sum(p.numel() for module in modules for p in module.parameters())


def test_o6_parameters_of_max_regression():
    config = SetTransformerConfig(width=64)
    modules = SAB(1, 64, config), SAB(64, 64, config), PMA(64, config, seeds=1), nn.Linear(64, 1)
    assert parameters(*modules) == 37_953


def test_o6_parameters_of_mixtures_of_gaussians():
    config = SetTransformerConfig(width=128)
    encoder = ISAB(2, 128, config, induced=32), ISAB(128, 128, config, induced=32)
    decoder = PMA(128, config, seeds=4), SAB(128, 128, config), SAB(128, 128, config), nn.Linear(128, 4)
    assert parameters(*encoder, *decoder) == 423_172


def test_o6_parameters_of_point_clouds():
    config = SetTransformerConfig(width=256)
    encoder = ISAB(3, 256, config, induced=16), ISAB(256, 256, config, induced=16)
    assert parameters(*encoder, PMA(256, config, seeds=1), nn.Linear(256, 40)) == 1_140_264


@every_variant
def test_o8_an_element_alone_is_mapped_by_itself(config, words):
    """The weight of a single key is 1, whatever query and key are."""
    sab, x = made(SAB(WIDTH, WIDTH, config)), words((1, 1, 1), WIDTH)
    before = sab(x).values
    sab.mab.key.weight.data.normal_()
    assert torch.equal(sab(x).values, before)
    if config.block == "paper":
        sab.mab.query.weight.data.normal_()
        assert torch.equal(sab(x).values, before)


@pytest.mark.parametrize("heads", [1, 3])
def test_o9_the_scales_coincide_where_there_is_one_head(heads, words):
    x = words(SIZES, WIDTH)
    model, head = (
        made(SAB(WIDTH, WIDTH, replace(CONFIG, heads=heads, scale=scale)))(x).values for scale in SCALES
    )
    assert torch.allclose(model, head, rtol=1e-12, atol=1e-12) is (heads == 1)


def test_points_and_seeds_are_laid_out_once_for_a_batch(words):
    encoder, x = SetTransformer(CONFIG).double(), words(SIZES, WIDTH)
    first = encoder.blocks[0].points(x.layout)
    assert encoder.blocks[1].points(x.layout).layout is first.layout
    assert encoder.pma.seeds(x.layout).layout is not first.layout


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"heads": 5}, "5 heads cannot share a width of 12"),
        ({"heads": 0}, "heads must be at least 1"),
        ({"block": "papers"}, "block: unknown value 'papers'; did you mean 'paper'"),
        ({"norm": "on"}, "norm: unknown value"),
        ({"scale": "full"}, "scale: unknown value"),
        ({"induced": -1}, "induced must be at least 0"),
    ],
)
def test_errors(config, message):
    with pytest.raises(ConfigError, match=message):
        SetTransformer(replace(CONFIG, **config))


def test_the_papers_residual_cannot_change_the_width():
    with pytest.raises(ConfigError, match="keeps its width of 2, which cannot become 12"):
        SAB(2, WIDTH, replace(CONFIG, block="paper"))
