"""All priors with their formulas, sources and pictures: a page that opens without a network, or a picture.

    python -m benchmarks.papers.prior_gallery priors.html
    python -m benchmarks.papers.prior_gallery priors.svg

An existing file is replaced.
"""

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from headwise.nn.priors.base import LearnedPrior, PositionPairs, Prior
from headwise.nn.priors.direction import Backward, Earlier, Forward, Later
from headwise.nn.priors.distance import Gaussian, TreeDistance, WordDistance, alibi
from headwise.nn.priors.document import SameParagraph, SameSentence, SentenceDistance
from headwise.nn.priors.drawing import draw
from headwise.nn.priors.learned import learned_modules
from headwise.nn.priors.learned_decay import AdaptiveSpan, Cope, Fire, Forgetting, Kerple, LearnedSlope
from headwise.nn.priors.learned_distance import Rotary, Shaw, T5Buckets, TreeBuckets
from headwise.nn.priors.scales import allocate_scales
from headwise.nn.priors.sparse import Dilated, GlobalTokens, RandomBlocks
from headwise.nn.priors.terms import distance_sinusoids
from headwise.nn.priors.tree_relations import Child, Parent, Sibling, TreeRelations
from headwise.nn.priors.window import Everything, ShiftedWindow, Window

LENGTH = 24
# "Two kids at a ballgame wash their hands", the example of MS-SAN: distances in its dependency tree.
SENTENCE = (
    *((0, 1, 3, 3, 2, 2, 4, 3), (1, 0, 2, 2, 1, 1, 3, 2)),
    *((3, 2, 0, 2, 1, 3, 5, 4), (3, 2, 2, 0, 1, 3, 5, 4)),
    *((2, 1, 1, 1, 0, 2, 4, 3), (2, 1, 3, 3, 2, 0, 2, 1)),
    *((4, 3, 5, 5, 4, 2, 0, 1), (3, 2, 4, 4, 3, 1, 1, 0)),
)
PARENTS = (1, 5, 4, 4, 1, -1, 7, 5)


@dataclass(frozen=True)
class Exhibit:
    """A prior, or several that belong together.

    Attributes:
        title: Its name.
        code: How to write it in Python.
        formula: What a query i may see, or what is added to its score with the key j.
        source: Where it is from.
        heads: The priors to draw.
        tree: Draw them for a sentence with a dependency tree.
    """

    title: str
    code: str
    formula: str
    source: str
    heads: tuple[Prior, ...]
    tree: bool = False

    def draw(self) -> str:
        """The picture, an SVG."""
        tree = torch.tensor(SENTENCE) if self.tree else None
        marks = {"parent": torch.tensor(PARENTS)} if self.tree else None
        return draw(
            self.heads, len(SENTENCE) if self.tree else LENGTH, tree=tree, marks=marks, legend=False
        )


@dataclass(frozen=True)
class _Shades(Prior):
    """Stands for a prior whose scores are learned or depend on the content, and says which pairs of
    positions they are the same for."""

    label: str
    shades: Callable[[PositionPairs], Tensor]
    name: ClassVar[str] = "shades"

    def score(self, pairs: PositionPairs) -> Tensor:
        return self.shades(pairs)

    def __str__(self) -> str:
        return self.label


def _by_bucket(prior: T5Buckets | TreeBuckets | TreeRelations) -> Prior:
    """Another shade for each bucket, as if its number had been learned."""
    return _Shades(str(prior), lambda pairs: _shade(prior.bucket(pairs)))


def _shade(number: Tensor) -> Tensor:
    """Well mixed logarithms of weights from 0.1 to 1."""
    return (0.1 + 0.9 * (number * 0.6180339887 % 1)).log()


def _shaw(span: int) -> Prior:
    return _Shades(str(Shaw(span)), lambda p: _shade((p.key - p.query).clamp(-span, span) + span))


def _learned(prior: LearnedPrior) -> Prior:
    """The scores of a head with parameters close to its initial ones, for a text of equal words."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(1)
        [terms] = learned_modules([prior], 16, 16)
        for parameter in terms.parameters():
            parameter += 0.3 * torch.randn_like(parameter)

    def score(pairs: PositionPairs) -> Tensor:
        rows = torch.full((int(pairs.length), 16), 0.25)
        score = terms.score(rows, rows, pairs, 0)
        assert score is not None
        return score.detach().double()

    return _Shades(str(prior), score)


def _turned(pairs: PositionPairs) -> Tensor:
    """The product of a query and a key that differ by nothing but their turn."""
    n = int(pairs.length)
    rows = Rotary().rotate(torch.full((n, 16), 0.5, dtype=torch.float64), torch.arange(n))
    return rows @ rows.T


def _sinusoids(pairs: PositionPairs) -> Tensor:
    """The product of R_{i-j} and R_0."""
    n = int(pairs.length)
    table = distance_sinusoids(n, 16, torch.float64, torch.device("cpu"))
    return (table @ table[n])[pairs.query - pairs.key + n] / 2


SECTIONS: dict[str, tuple[Exhibit, ...]] = {
    "Who sees whom": (
        Exhibit("Everything", "Everything()", "all j", "Vaswani et al. 2017", (Everything(),)),
        Exhibit(
            "Window",
            "Window(width=5), Window(fraction=1/4)",
            "|i − j| ≤ (ω − 1) / 2, ω an odd number or a part of the text",
            "Multi-Scale Transformer, Guo et al. 2020, Eq. 6–8",
            (Window(width=1), Window(width=5), Window(fraction=1 / 4), Window(fraction=3 / 4)),
        ),
        Exhibit(
            "Shifted window",
            "ShiftedWindow(width=5)",
            "width positions around i, moved inward at the ends",
            "NATTEN, Hassani et al. 2023, Eq. 2",
            (ShiftedWindow(5), ShiftedWindow(11)),
        ),
        Exhibit(
            "Directions",
            "Forward(), Backward(), Earlier(), Later()",
            "j ≤ i,  j ≥ i,  j < i,  j > i",
            "MS-SAN, Qi et al. 2020, Eq. 3–4; DiSAN, Shen et al. 2018",
            (Forward(), Backward(), Earlier(), Later()),
        ),
        Exhibit(
            "Dilated window",
            "Dilated(step=3, width=13)",
            "i − j divisible by the step, |i − j| ≤ (width − 1) / 2",
            "Longformer, Beltagy et al. 2020",
            (Dilated(2, 13), Dilated(3)),
        ),
        Exhibit(
            "Random blocks",
            "RandomBlocks(size=3, count=1, seed=0)",
            "the blocks around the own one, and count others drawn by lot",
            "BigBird, Zaheer et al. 2020",
            (RandomBlocks(3, 1), RandomBlocks(3, 1, seed=1), RandomBlocks(2, 2, 0, seed=2)),
        ),
        Exhibit(
            "Global tokens",
            "GlobalTokens(Window(width=5), count=1)",
            "i < count or j < count, or what the inner prior lets see",
            "Longformer, Beltagy et al. 2020",
            (GlobalTokens(Window(width=5)), GlobalTokens(Window(width=3) + Forward(), 3)),
        ),
    ),
    "What distance costs": (
        Exhibit(
            "Word distance",
            "WordDistance(alpha=0.5)",
            "− α |i − j|",
            "MS-SAN, Qi et al. 2020, Eq. 5–6",
            (WordDistance(0.1), WordDistance(0.5)),
        ),
        Exhibit(
            "ALiBi",
            'alibi(4), alibi(4, "left"), alibi(4, "halves")',
            "− 2^(−8h/H) |i − j| for head h of H",
            "Press et al. 2022",
            alibi(4),
        ),
        Exhibit(
            "Gaussian",
            "Gaussian(sigma=3), Gaussian(sigma=2, offset=-2)",
            "− |(i − j)² / 2σ² + offset|",
            "Gaussian Transformer, Guo et al. 2019",
            (Gaussian(1.0), Gaussian(3.0), Gaussian(2.0, -2.0)),
        ),
        Exhibit(
            "Tree distance",
            "TreeDistance(alpha=0.5)",
            "− α d(i, j), d the steps in the dependency tree of “Two kids at a ballgame wash their hands”",
            "MS-SAN, Qi et al. 2020, Eq. 6",
            (TreeDistance(0.5), Forward() + TreeDistance(0.5), WordDistance(0.5)),
            tree=True,
        ),
    ),
    "Document structure": (
        Exhibit(
            "Sentences and paragraphs",
            "SameSentence(), SameParagraph()",
            "s(i) = s(j), s the sentence or the paragraph of a word; here 5 and 10 words long",
            "Segatron, Bai et al. 2021",
            (SameSentence(), SameParagraph(), Backward() + SameSentence()),
        ),
        Exhibit(
            "Sentence distance",
            "SentenceDistance(alpha=0.5), SentenceDistance(alpha=0.5, reach=1)",
            "− α |s(i) − s(j)|, s the sentence of a word; within a window of sentences",
            "Segatron, Bai et al. 2021, with the penalty of ALiBi",
            (SentenceDistance(0.5), SentenceDistance(0.5, reach=1), SentenceDistance(0.0, reach=1)),
        ),
    ),
    "What positions say to content, and what is learned": (
        Exhibit(
            "Rotary",
            "Rotary(base=10000)",
            "qᵢ and kⱼ turned by their positions; here the product of equal ones",
            "RoFormer, Su et al. 2021",
            (_Shades("rotary", _turned),),
        ),
        Exhibit(
            "Shaw",
            "Shaw(span=4)",
            "qᵢ · a(clip(j − i)) / √d, and a vector on the value; one shade for each vector",
            "Shaw et al. 2018, Eq. 3–4",
            (_shaw(4), _shaw(9)),
        ),
        Exhibit(
            "Transformer-XL",
            "TransformerXL()",
            "(u · kⱼ + (qᵢ + v) · W R(i − j)) / √d; here R(i − j) · R(0)",
            "Dai et al. 2019",
            (_Shades("transformer-xl", _sinusoids),),
        ),
        Exhibit(
            "T5 buckets",
            "T5Buckets(buckets=16, furthest=20)",
            "a number for each bucket of j − i; one shade for each bucket",
            "Raffel et al. 2020",
            (_by_bucket(T5Buckets(16, 20)), _by_bucket(T5Buckets(8, 9))),
        ),
        Exhibit(
            "Learned decays",
            "LearnedSlope(), Kerple(), Kerple('power'), Fire(hidden=32), AdaptiveSpan(start=4, ramp=4)",
            "a slope, a logarithm, a power, a small network, a window with a soft edge; each learned",
            "Press et al. 2022; KERPLE, Chi et al. 2022; FIRE, Li et al. 2024; Sukhbaatar et al. 2019",
            (
                *(_learned(LearnedSlope()), _learned(Kerple()), _learned(Kerple("power"))),
                *(_learned(Fire()), _learned(AdaptiveSpan(4, 4))),
            ),
        ),
        Exhibit(
            "Decays by content",
            "Forgetting(), Cope(furthest=16)",
            "gates of the words in between; here all words are equal",
            "Forgetting Transformer, Lin et al. 2025; CoPE, Golovneva et al. 2024",
            (_learned(Forgetting()), _learned(Cope())),
        ),
        Exhibit(
            "Tree buckets",
            "TreeBuckets(furthest=8)",
            "a number for each distance in the dependency tree; one shade for each",
            "Graphormer, Ying et al. 2021, has it for graphs",
            (_by_bucket(TreeBuckets(8)), _by_bucket(TreeBuckets(2))),
            tree=True,
        ),
        Exhibit(
            "Relations in the tree",
            "Parent(), Child(), Sibling(), TreeRelations()",
            "p(i) = j, i = p(j), p(i) = p(j), p the word that a word depends on; a learned number for each",
            "LISA, Strubell et al. 2018; Shaw et al. 2018, with numbers",
            (Parent(), Child(), Sibling(), _by_bucket(TreeRelations())),
            tree=True,
        ),
        Exhibit(
            "Matrix",
            "Matrix(scale=1)",
            "scale · M(i, j), M a matrix of yours for each text; here minus the distances in the tree",
            "your own scores",
            (_Shades("matrix", lambda p: -torch.tensor(SENTENCE)[p.query, p.key].double()),),
            tree=True,
        ),
        Exhibit(
            "Sink",
            "Sink()",
            "w = exp(logit) / (exp(s) + Σ exp(logits)), s learned for each head",
            "Miller 2023; gpt-oss, OpenAI 2025",
            (Everything(),),
        ),
    ),
    "Put together": (
        Exhibit(
            "Sums",
            "Forward() + Window(width=9) + WordDistance(0.3)",
            "what all of them let see, their scores added",
            "any priors on one head",
            (
                Forward() + Window(width=9) + WordDistance(0.3),
                Backward() + Dilated(2),
                Window(fraction=1 / 2) + Gaussian(3.0),
            ),
        ),
        Exhibit(
            "BigBird",
            "GlobalTokens(RandomBlocks(3, 1), count=3)",
            "global, random and neighbouring blocks",
            "Zaheer et al. 2020",
            tuple(GlobalTokens(RandomBlocks(3, 1, seed=seed), 3) for seed in range(3)),
        ),
        Exhibit(
            "MS-SAN, its heads",
            "Forward() + WordDistance(1), Forward() + TreeDistance(1), Forward(), Backward() + ...",
            "M = direction − α · distance",
            "Qi et al. 2020, Figure 2",
            tuple(
                direction + distance if distance else direction
                for direction in (Forward(), Backward())
                for distance in (WordDistance(), TreeDistance(), None)
            ),
            tree=True,
        ),
        Exhibit(
            "MS-Trans, its second layer",
            'allocate_scales(2, 3, 6, ("1", "3", "n/8", "n/4", "n/2"), alpha=0.5)',
            "many small windows below, as many large ones as small on top",
            "Guo et al. 2020, Eq. 11–12",
            allocate_scales(2, 3, 6, ("1", "3", "n/8", "n/4", "n/2"), 0.5),
        ),
    ),
}
"""What is on show, section by section."""


_PAGE = """\
:root { color-scheme: light dark; --paper: #fff; --card: #f8f9fb; --line: #dfe3e8; --ink: #1f2328;
  --soft: #59636e; --accent: #1f5fbf; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --card: #151b23; --line: #2f3742; --ink: #e6edf3; --soft: #9198a1;
    --accent: #79b8ff; }
}
body { margin: 0 auto; max-width: 76rem; padding: 2.5rem 1.5rem 4rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.75rem; letter-spacing: -.01em; }
h2 { margin: 2.5rem 0 1rem; padding-bottom: .4rem; border-bottom: 1px solid var(--line);
  font-size: 1.15rem; }
h3 { margin: 0; font-size: 1rem; }
.lead { max-width: 46rem; margin: .5rem 0 0; color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; }
article { flex: 1 1 auto; max-width: 100%; min-width: 15rem; box-sizing: border-box;
  padding: 1rem 1.15rem .6rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); }
article p { width: 0; min-width: 100%; margin: .15rem 0; }
.code { color: var(--accent); font: 12.5px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.formula { font-size: .9rem; }
.source { color: var(--soft); font-size: .8rem; }
.picture { overflow-x: auto; margin-top: .7rem; }
.picture svg { display: block; }"""


def gallery_html() -> str:
    """The gallery as a page that opens without a network, light or dark after the reader's preference."""
    body = []
    for heading, exhibits in SECTIONS.items():
        cards = "\n".join(map(_card, exhibits))
        body.append(f'<h2>{escape(heading)}</h2>\n<div class="cards">\n{cards}\n</div>')
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Priors of headwise</title>\n<style>\n{_PAGE}\n</style>\n</head>\n<body>",
            f'<h1>Priors</h1>\n<p class="lead">{escape(_LEAD)}</p>',
            *body,
            "</body>\n</html>\n",
        ]
    )


_LEAD = (
    f"What a head may see, and how strongly, in a text of {LENGTH} nodes. Every row of a square is a "
    "query, every column a key. A cell is empty where the query does not see the key; its colour is the "
    "stronger the more the prior favours it. Priors add up on one head."
)


def _card(exhibit: Exhibit) -> str:
    lines = {"code": exhibit.code, "formula": exhibit.formula, "source": exhibit.source}
    return "\n".join(
        [
            f"<article>\n<h3>{escape(exhibit.title)}</h3>",
            *(f'<p class="{kind}">{escape(line)}</p>' for kind, line in lines.items()),
            f'<div class="picture">{exhibit.draw()}</div>\n</article>',
        ]
    )


_WIDE = 1080  # pixels of the gallery as one picture
_TOP = 24  # pixels of an exhibit's title


def gallery_svg() -> str:
    """The gallery as one picture, without the formulas."""
    x, y, row = 0, 0, 0
    placed = []
    for exhibit in (exhibit for exhibits in SECTIONS.values() for exhibit in exhibits):
        picture = exhibit.draw()
        width, height = (int(n) for n in re.findall(r'(?:width|height)="(\d+)"', picture)[:2])
        width = max(width, math.ceil(len(exhibit.title) * 8.5))
        if x and x + width > _WIDE:
            x, y, row = 0, y + row + 20, 0
        placed.append(f'<text class="hw-title" x="{x + 4}" y="{y + 14}">{escape(exhibit.title)}</text>')
        placed.append(picture.replace("<svg ", f'<svg x="{x}" y="{y + _TOP}" ', 1).rstrip())
        x, row = x + width + 24, max(row, height + _TOP)
    height = y + row
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="hw-draw" role="img" width="{_WIDE}" '
            f'height="{height}" viewBox="0 0 {_WIDE} {height}">',
            "<title>Priors of headwise</title>",
            *placed,
            "</svg>\n",
        ]
    )


def main(arguments: list[str]) -> int:
    """Write the gallery to the file that the arguments name; returns the exit code."""
    forms = {".html": gallery_html, ".svg": gallery_svg}
    if len(arguments) != 1 or Path(arguments[0]).suffix not in forms:
        print("give one file for the gallery, named .html or .svg", file=sys.stderr)
        return 2
    path = Path(arguments[0])
    path.write_text(forms[path.suffix](), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
