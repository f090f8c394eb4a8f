"""Draw the pictures of the docs: `python docs/make_images.py`; a test checks that they are up to date."""

import sys
from pathlib import Path

from headwise.nn.priors import Backward, Everything, Forward, Window, WordDistance, allocate_scales
from headwise.nn.priors.drawing import draw

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
SCALES = ("1", "3", "n/16", "n/8", "n/4")
LENGTH = 32


def pictures() -> dict[str, str]:
    """The SVG texts by file name."""
    images = {
        f"ms-trans-layer-{layer}.svg": draw(
            allocate_scales(layer, 3, 10, SCALES, 0.5), LENGTH, f"MS-Transformer, layer {layer} of 3"
        )
        for layer in (1, 2, 3)
    }
    shown_priors = [
        *(Everything(), Window(width=5), Window(fraction=1 / 4), Forward(), Backward()),
        *(WordDistance(0.3), Forward() + WordDistance(0.3)),
    ]
    return images | {"priors.svg": draw(shown_priors, 16)} | curves()


def curves() -> dict[str, str]:
    """What benchmarks/papers/tagging_curves.py has measured on CoNLL-2003, and learning_curves.py."""
    sys.path.insert(0, str(DOCS.parent))
    from benchmarks.papers import learning_curves, tagging_curves

    tags, texts = tagging_curves.TaggingCurves(), learning_curves.LearningCurves()
    tag_runs, text_runs = (
        bench.current_runs(list(bench.paper), list(bench.systems)) for bench in (tags, texts)
    )
    return {
        "tagging-curves.svg": tagging_curves.picture(tag_runs, "conll2003"),
        "learning-curves.svg": learning_curves.picture(text_runs),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (IMAGES / name).write_text(picture, encoding="utf-8")
