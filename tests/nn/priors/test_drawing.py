"""The picture of a list of priors."""

import re
from collections import Counter
from xml.etree import ElementTree

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.priors import Backward, Forward, Prior, TreeDistance, Window, WordDistance, allocate_scales
from headwise.nn.priors.drawing import draw

SVG = "{http://www.w3.org/2000/svg}"
MS_TRANS = [allocate_scales(layer, 3, 10, ("1", "3", "n/16", "n/8", "n/4"), 0.5) for layer in (1, 2, 3)]
MS_SAN = [Forward() + WordDistance(0.5), Forward(), Backward() + WordDistance(0.5), Backward()]


class Blind(Prior):
    name = "blind"

    def visible(self, pairs):
        return torch.zeros_like(pairs.key, dtype=torch.bool)

    def __str__(self) -> str:
        return "sees <nothing> & nobody"


def heads_of(svg: str) -> list[tuple[str, Counter]]:
    """For each head drawn: its tooltip, and how often each shade stands in its square."""
    root = ElementTree.fromstring(svg)
    squares = {}
    for group in root.iterfind(f"{SVG}defs/{SVG}g"):
        shades = Counter()
        for path in group.iter(f"{SVG}path"):
            cells = re.findall(r"M(\d+) (\d+)h", path.attrib["d"])
            assert len(cells) == len(set(cells)) == path.attrib["d"].count("M")
            shades[float(path.attrib["opacity"])] += len(cells)
        squares["#" + group.attrib["id"]] = shades
    heads = []
    for group in root.iterfind(f"{SVG}g"):
        title, use = group.find(f"{SVG}title"), group.find(f"{SVG}use")
        assert title is not None
        assert use is not None
        heads.append((title.text or "", squares[use.attrib["href"]]))
    return heads


@pytest.mark.parametrize("length", [1, 2, 7, 24, 33])
@pytest.mark.parametrize("layers", [[MS_SAN], MS_TRANS], ids=["ms-san", "ms-trans"])
def test_cells_drawn_are_the_visible_ones(layers, length, visible):
    heads = heads_of(draw(layers, length))
    priors = [prior for layer in layers for prior in layer]
    for (title, shades), prior in zip(heads, priors, strict=True):
        assert title.endswith(str(prior))
        assert shades.total() == sum(map(sum, visible(prior, length)))


def test_shade_follows_the_exponential_of_the_score():
    [(_, shades)] = heads_of(draw([WordDistance(0.6931471805599453)], 3))  # log 2: half, a quarter
    assert shades == {1.0: 3, round(0.12 + 0.44, 2): 4, round(0.12 + 0.22, 2): 2}
    [(_, far)] = heads_of(draw([WordDistance(-0.6931471805599453)], 3))
    assert far == {1.0: 2, 0.56: 4, 0.34: 3}
    [(_, faint)] = heads_of(draw([WordDistance(1000.0)], 3))
    assert faint == {1.0: 3, 0.12: 6}  # seen, if barely


def test_one_layer_or_several():
    flat, nested = draw(MS_SAN), draw([MS_SAN])
    assert "layer 1" not in flat
    assert "layer 1" in nested
    assert [shades for _, shades in heads_of(flat)] == [shades for _, shades in heads_of(nested)]
    assert "layer 3" in draw(MS_TRANS)
    assert len(heads_of(draw([[Forward()], [Forward(), Backward()]]))) == 3


def test_text_is_escaped():
    title = 'a <b> & "c" \x00 </svg>'
    svg = draw([Blind()], title=title)
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert title.replace("\x00", "") in texts
    assert "sees <nothing> & nobody" in texts
    [(_, shades)] = heads_of(svg)
    assert shades.total() == 0


def test_same_picture_every_time_and_nothing_from_outside():
    assert draw(MS_TRANS, title="x") == draw([list(layer) for layer in MS_TRANS], title="x")
    assert "prefers-color-scheme: dark" in draw(MS_SAN)
    assert re.findall(r"https?://\S+", draw(MS_SAN)) == ['http://www.w3.org/2000/svg"']


def test_equal_ids_mean_equal_squares():
    """Several drawings may stand in one page."""
    seen = {}
    for length in (5, 6):
        for prior in [Window(width=2 * k + 1) for k in range(6)] + MS_SAN:
            root = ElementTree.fromstring(draw([prior], length))
            [square] = root.iterfind(f"{SVG}defs/{SVG}g")
            source = ElementTree.tostring(square)
            assert seen.setdefault(square.attrib["id"], source) == source


def test_a_tree_is_drawn_for_its_own_length():
    tree = torch.tensor([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    chain = heads_of(draw([WordDistance(0.5)], 3))
    assert [shades for _, shades in heads_of(draw([TreeDistance(0.5)], 3, tree=tree))] == [chain[0][1]]
    with pytest.raises(ConfigError, match="4 nodes has a tree of as many"):
        draw([TreeDistance(0.5)], 4, tree=tree)


def test_the_legend_may_be_left_out():
    assert "rows: query" in draw(MS_SAN)
    assert "rows: query" not in draw(MS_SAN, legend=False)


def test_errors():
    for nothing in ([], [[]], [[Forward()], []], [Forward(), [Forward()]]):
        with pytest.raises(ConfigError, match="one prior per head"):
            draw(nothing)
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        draw([Forward()], 0)
