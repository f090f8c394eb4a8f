"""Draw the pictures of the docs: `python docs/make_images.py`; a test checks that they are up to date."""

from pathlib import Path

from headwise.nn.priors import Backward, Everything, Forward, Window, WordDistance, allocate_scales
from headwise.nn.priors.drawing import draw

IMAGES = Path(__file__).parent / "images"
SCALES = ("1", "3", "n/16", "n/8", "n/4")
LENGTH = 32


def pictures() -> dict[str, str]:
    """The SVG texts by file name."""
    found = {
        f"ms-trans-layer-{layer}.svg": draw(
            allocate_scales(layer, 3, 10, SCALES, 0.5), LENGTH, f"MS-Transformer, layer {layer} of 3"
        )
        for layer in (1, 2, 3)
    }
    some = [
        *(Everything(), Window(width=5), Window(fraction=1 / 4), Forward(), Backward()),
        *(WordDistance(0.3), Forward() + WordDistance(0.3)),
    ]
    return found | {"priors.svg": draw(some, 16)}


if __name__ == "__main__":
    for name, picture in pictures().items():
        (IMAGES / name).write_text(picture, encoding="utf-8")
