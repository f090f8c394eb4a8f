"""The bases that are installed, by name; `open_base` loads one, or several of one vector space as one.

A base is looked for in these places, the first that has it wins:

1. the package headwise, which brings `english`;
2. each folder that the environment variable HEADWISE_BASES lists;
3. `headwise/bases` in the user's data folder;
4. the package `headwise_bases`, if it is installed;
5. the folder `bases` of a source checkout.
"""

import os
from collections.abc import Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from headwise.text.static_embeddings.base_folder import ABOUT, load_base
from headwise.text.static_embeddings.base_vectors import BaseError, QuantizedMatrix, StaticEmbeddings

VARIABLE = "HEADWISE_BASES"
DEFAULT = "english"
AND = "+"
"""Stands between the names of bases that are merged."""


def bundled_bases() -> dict[str, Path]:
    """The bases that come with headwise, by name."""
    return _bases_in(Path(str(files("headwise"))) / "text" / "bases")


def installed_bases() -> dict[str, Path]:
    """All bases that can be chosen by name: the folder of each."""
    bases = bundled_bases()
    for folder in _places():
        bases = _bases_in(folder) | bases
    return bases


def _places() -> list[Path]:
    package = Path(str(files("headwise")))
    spec = find_spec("headwise_bases")
    return [
        *(Path(name).expanduser() for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name),
        user_folder(),
        *(Path(name) for name in (spec.submodule_search_locations or () if spec else ())),
        *([package.parents[1] / "bases"] if package.parent.name == "src" else []),
    ]


def user_folder() -> Path:
    """The folder of the user's bases."""
    if os.name == "nt":
        data = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return data / "headwise" / "bases"


def _bases_in(folder: Path) -> dict[str, Path]:
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{ABOUT}"))}


def find_base(name: str) -> Path:
    """The folder of a base: an installed one, or a path.

    Raises:
        BaseError: HW801, there is none.
    """
    bases = installed_bases()
    if name in bases:
        return bases[name]
    folder = Path(name)
    if (folder / ABOUT).is_file():
        return folder
    names = ", ".join(bases) or "none"
    hint = (
        f"there is no {ABOUT} in this folder"
        if folder.is_dir()
        else "there is none of this name, and no such folder"
    )
    raise BaseError(
        f"base {name!r}: {hint}; installed bases: {names}; headwise pretrain makes others", code="HW801"
    )


def open_base(name: str) -> StaticEmbeddings:
    """Load a base by its name or folder, or several with `+` between them as one (`german+french`).

    Raises:
        BaseError: HW801 there is none; HW802 a file is damaged; HW803 the bases have different vector
            spaces.
    """
    folders = base_folders(name)
    if len(folders) == 1:
        return load_base(folders[0])
    return merge_bases([load_base(folder) for folder in folders])


def base_folders(name: str) -> list[Path]:
    """The folders of a base, or of several with `+` between their names.

    Raises:
        BaseError: HW801 there is none.
    """
    names = [name] if Path(name).is_dir() else name.split(AND)
    return [find_base(part) for part in names]


def merge_bases(bases: Sequence[StaticEmbeddings]) -> StaticEmbeddings:
    """Several bases of one vector space as one base.

    A word that several of them list has the vector of the first, and unlisted words have the n-gram vectors
    of the first. The encoder is that of the first that has one.

    Args:
        bases: Bases with the same `space` in their cards.

    Raises:
        BaseError: HW803, their spaces differ.
    """
    first = bases[0]
    names = AND.join(base.name for base in bases)
    spaces = {(str(base.about.get("space", base.name)), base.size) for base in bases}
    if len(spaces) > 1:
        raise BaseError(
            f"base {names!r}: these bases have different vector spaces, so that they cannot be merged; "
            "choose one of them",
            code="HW803",
        )
    words, values, scales, weights = list(first.words), [first.table.values], [first.table.scales], []
    weights.append(first.weights[:-1])
    listed = set(words)
    for base in bases[1:]:
        rows = [row for row, word in enumerate(base.words) if word not in listed]
        words.extend(base.words[row] for row in rows)
        listed.update(base.words)
        values.append(base.table.values[rows])
        scales.append(base.table.scales[rows])
        weights.append(base.weights[rows])
    return StaticEmbeddings(
        names,
        tuple(words),
        QuantizedMatrix(np.concatenate(values), np.concatenate(scales)),
        first.subwords,
        np.concatenate([*weights, first.weights[-1:]]),
        first.about,
        encoder=next((base.encoder for base in bases if base.encoder), {}),
    )
