"""draw: a picture of what every head may see, as one self-contained SVG."""

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256

import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.core.html import render
from headwise.nn.priors.base import PositionPairs, Prior

_GRID = 96  # pixels of a head's grid, whatever the length
_GAP = 16
_LINE = 13  # pixels from one line of text to the next
_UNITS = {"sentence": 5, "paragraph": 10}  # nodes of each
_LETTER = 5.4  # pixels of a letter, about


def draw(
    priors: Sequence[Prior] | Sequence[Sequence[Prior]],
    length: int = 24,
    title: str | None = None,
    *,
    tree: Tensor | None = None,
    marks: Mapping[str, Tensor] | None = None,
    legend: bool = True,
) -> str:
    """Draw what every head may see in a text of `length` nodes: the source of an SVG picture.

    Each head is a small square, queries downwards and keys to the right. Cells that the query may not
    see are empty; the others are the darker the larger `exp(score)` is, compared with the head's largest.
    The same arguments give the same text, with light and dark colours after the reader's preference.

    Args:
        priors: One prior per head, or one such sequence per layer (a row of squares for each).
        length: Nodes of the text.
        title: A heading.
        tree: The distances in the text's dependency tree, `[length, length]`, for priors that go by it.
        marks: By name, the numbers of the text's nodes, `[length]`, for priors that compare them; by
            default every sentence has 5 words and every paragraph 10.
        legend: Whether to say below what rows and columns are.

    Raises:
        ConfigError: There is nothing to draw, the length is not positive, or the tree or the marks are of
            another length.
    """
    heads = [entry for entry in priors if isinstance(entry, Prior)]
    layers = [heads] if heads else [list(entry) for entry in priors if not isinstance(entry, Prior)]
    if not layers or not all(layers) or len(heads) not in (0, len(priors)):
        raise ConfigError("draw needs one prior per head, or such a list for each layer; none may be empty")
    if length < 1:
        raise ConfigError(f"the length of the text to draw must be at least 1, got {length}")
    if tree is not None and tuple(tree.shape) != (length, length):
        raise ConfigError(f"a text of {length} nodes has a tree of as many, got {tuple(tree.shape)}")

    if marks is None:
        marks = {name: torch.arange(length) // size for name, size in _UNITS.items()}
    if any(tuple(numbers.shape) != (length,) for numbers in marks.values()):
        raise ConfigError(f"a text of {length} nodes has as many marks of each name")
    labels = [[str(head).replace(" + ", "\n+ ").split("\n") for head in layer] for layer in layers]
    longest = max(len(line) for layer in labels for lines in layer for line in lines)
    column = max(_GRID, math.ceil(longest * _LETTER)) + _GAP
    row = _GRID + _GAP + _LINE * max(len(lines) for layer in labels for lines in layer)
    left = 4 if heads else 52
    top = 26 if title else 4

    squares = {prior: _square(prior, length, tree, marks) for layer in layers for prior in layer}
    drawn = [
        [(str(prior), lines, squares[prior][0]) for prior, lines in zip(layer, texts, strict=True)]
        for layer, texts in zip(layers, labels, strict=True)
    ]
    note = f"rows: query, columns: key, {length} {'node' if length == 1 else 'nodes'}"
    picture = render(
        "priors.svg.jinja",
        title=title,
        legend=note if legend else "",
        layers=drawn,
        numbered=not heads,
        squares=list(dict(squares.values()).items()),
        grid=_GRID,
        length=length,
        width=max(left + max(map(len, layers)) * column, math.ceil(len(title or "") * 8.5) + 8),
        height=top + len(layers) * row + (6 if legend else 6 - _LINE),
        left=left,
        top=top,
        row=row,
        column=column,
        line_height=_LINE,
    )
    return str(picture)


def _square(
    prior: Prior, length: int, tree: Tensor | None, marks: Mapping[str, Tensor]
) -> tuple[str, list[tuple[float, str]]]:
    """The id of a head's square, and its cells by opacity. The id is a hash of the content, so that
    drawings can share a page, and equal heads one definition."""
    shades: dict[float, list[str]] = {}
    for query, row in enumerate(_cell_weights(prior, length, tree, marks)):
        for key, weight in enumerate(row):
            if weight is not None:
                shade = round(0.12 + 0.88 * weight, 2)  # never so faint that it looks unseen
                shades.setdefault(shade, []).append(f"M{key} {query}h.88v.88h-.88z")
    cells = [(shade, "".join(places)) for shade, places in sorted(shades.items())]
    return "hw-" + sha256(f"{length} {cells}".encode()).hexdigest()[:12], cells


def _cell_weights(
    prior: Prior, length: int, tree: Tensor | None, marks: Mapping[str, Tensor]
) -> list[list[float | None]]:
    """For every query and key: `exp(score)` as a part of the head's largest, None where not visible."""
    nothing = {part.name: torch.zeros(length, length) for part in prior.matrices}
    pairs = PositionPairs.of_length(length, tree=tree, marks=marks, matrices=nothing)
    bias = prior.bias(pairs).expand(length, length)
    weights = (bias - bias.max()).exp().tolist()
    return [
        [weight if score > -math.inf else None for weight, score in zip(*rows, strict=True)]
        for rows in zip(weights, bias.tolist(), strict=True)
    ]
