"""Write the tables in the docs that come from the code: `python docs/make_tables.py`.

A table stands between `<!-- table: name -->` and `<!-- end -->`; a test checks that all are up to date.
"""

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from docstring_parser import parse_from_object

from headwise.data.errors import CODES
from headwise.encoders import ENCODERS
from headwise.encoders.base import default_readout
from headwise.priors import head_counts
from headwise.recipe import size_defaults

DOCS = Path(__file__).parent

_TABLE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + "\n"


def shown(value: Any) -> str:
    """A value as it is written in a recipe."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{' '.join(map(str, value))}`"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else f"`{value}`"


def error_codes() -> str:
    """The codes of data files."""
    return table(["code", "meaning"], [[f"`{code}`", meaning] for code, meaning in CODES.items()])


def defaults() -> str:
    """The settings that the number of texts decides, for the default encoder."""
    sizes = {"under 5,000": 4_999, "5,000 to 50,000": 50_000, "over 50,000": 50_001}
    cases = {
        f"{size}, {what}": size_defaults(texts, vectors=vectors)
        for vectors, what in ((False, "no vectors"), (True, "vectors"))
        for size, texts in sizes.items()
    }
    settings = {
        (section, name): None
        for sections in cases.values()
        for section, values in sections.items()
        for name in values
    }
    rows = []
    for section, name in settings:
        found = [sections.get(section, {}).get(name) for sections in cases.values()]
        rows.append([f"`{section}.{name}`", *("-" if v is None else shown(v) for v in found)])
    return table(["setting", *cases], rows)


def encoder(name: str) -> str:
    """The settings of an encoder, from the docstrings of its configuration."""
    config = ENCODERS[name][1]
    help_of = {param.arg_name: param.description for param in parse_from_object(config).params}
    rows = [
        [f"`{field.name}`", shown(field.default), " ".join((help_of[field.name] or "").split())]
        for field in fields(config)
    ]
    return table(["setting", "default", "meaning"], rows)


def encoders() -> str:
    """All encoders with their readouts."""
    rows = [
        [f"[`{name}`](#{name})", f"`headwise.encoders.{module.__name__}`", f"`{default_readout(config)}`"]
        for name, (module, config) in ENCODERS.items()
    ]
    return table(["name", "class", "readout"], rows)


def heads() -> str:
    """The heads of each scale (MS-Trans, Eq. 11-12): 10 heads, 3 layers, 5 scales."""
    rows = [
        [f"{alpha:g}", *(" ".join(map(str, head_counts(layer, 3, 10, 5, alpha))) for layer in (1, 2, 3))]
        for alpha in (1.0, 0.5, 0.0, -0.5, -1.0)
    ]
    return table(["alpha", "layer 1", "layer 2", "layer 3"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "codes": error_codes,
    "defaults": defaults,
    "encoders": encoders,
    "heads": heads,
    **{f"encoder:{name}": lambda name=name: encoder(name) for name in ENCODERS},
}


def with_tables(page: str) -> str:
    """A page with its tables made anew."""
    return _TABLE.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], page)


if __name__ == "__main__":
    for path in sorted(DOCS.glob("*.md")):
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8")
