"""`headwise priors`: the priors that there are, and a page with their pictures."""

from inspect import getdoc
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table

from headwise.cli.console import note, output
from headwise.errors import ConfigError, HeadwiseError


def priors(*, draw: Annotated[Path | None, Parameter(show_default=False)] = None) -> None:
    """List the priors that an attention head may have.

    A prior says where a head may look and how strongly. Any of them can sit on any head of a self-attention
    layer, alone or added to others.

    Args:
        draw: Write a gallery of all priors to this file, a page (.html) or a picture (.svg).

    Raises:
        HeadwiseError: The file is of another kind, or cannot be written.
    """
    # With these comes torch.
    from headwise.priors import PRIORS, alibi
    from headwise.priors.gallery import gallery_html, gallery_svg

    forms = {".html": gallery_html, ".svg": gallery_svg}
    if draw is not None:
        if draw.suffix.lower() not in forms:
            raise ConfigError(f"{draw}: the gallery is a page or a picture; name the file .html or .svg")
        try:
            draw.write_text(forms[draw.suffix.lower()](), encoding="utf-8")
        except OSError as error:
            raise HeadwiseError(
                f"{draw}: cannot be written ({error.strerror or error})", code="HW604"
            ) from error
        note(f"the gallery is in {draw}")
        return
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, prior in {**PRIORS, alibi.__name__: alibi}.items():
        table.add_row(name, summary(prior))
    output().print(table)


def summary(documented: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((getdoc(documented) or "").split("\n\n")[0].split()).replace("`", "")
