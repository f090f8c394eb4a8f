"""Parses at the command line: of a file to predict, and by a spaCy pipeline."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from headwise.cli.console import warn
from headwise.data.rows import Row
from headwise.errors import ConfigError
from headwise.features.parse import SyntaxConfig
from headwise.features.parse_cache import CachedParser, new_parser
from headwise.features.parse_files import iterate_parses
from headwise.features.syntax import HeadsError
from headwise.models.table import SavedModel
from headwise.models.text_model import TextModel


def with_heads(rows: Iterator[Row], path: Path) -> Iterator[Row]:
    """The rows with their parses, one for each.

    Raises:
        HeadsError: HW234, the file has more or fewer of them.
    """
    parses = iterate_parses(str(path))
    number = 0
    for number, row in enumerate(rows, start=1):
        heads = next(parses, None)
        if heads is None:
            raise HeadsError(
                f"{path}: {number - 1:,} parses, but the file to predict has more", code="HW234"
            )
        yield replace(row, item=replace(row.item, heads=heads))
    if next(parses, None) is not None:
        raise HeadsError(f"{path}: more parses than the {number:,} records to predict", code="HW234")


def use_pipeline(model: SavedModel, pipeline: str | None) -> None:
    """Let a spaCy pipeline parse for the model, in place of the one that it names; None changes nothing."""
    if pipeline is None:
        return
    if not isinstance(model, TextModel):
        raise ConfigError("--pipeline parses texts, but this model reads none")
    model.features.parser = new_parser(SyntaxConfig(pipeline))


def tell_trouble(model: SavedModel) -> None:
    """Warn if parses could not be kept."""
    parser = getattr(model.features, "parser", None)
    if isinstance(parser, CachedParser) and parser.trouble is not None:
        warn(f"the parses could not be kept, and will be made again next time: {parser.trouble}")
