"""Identity of a base (inputs and settings), and checks of the output folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headwise.config import differences, to_dict
from headwise.data.options import ReadOptions
from headwise.features.bases import Base, load_base
from headwise.features.bases.folder import ABOUT, FILES
from headwise.pretrain.config import PretrainConfig
from headwise.pretrain.errors import PretrainError
from headwise.pretrain.work import key_of, key_of_contents


def identity(
    files: list[str], config: PretrainConfig, word_list: Sequence[str], options: ReadOptions
) -> dict[str, Any]:
    """The inputs and settings that determine a base, as JSON data without paths; long data are hashed."""
    read = {"contents": key_of_contents(files), "word_list": key_of(list(word_list)), **to_dict(options)}
    return {"files": [Path(file).name for file in files], "read": read, "settings": _settings(config)}


def finished(requested: Mapping[str, Any], output: Path, *, overwrite: bool) -> Base | None:
    """The base in the output folder if it has the requested identity; None if it differs and `overwrite`.

    Raises:
        PretrainError: HW811, the base there comes from other text or settings.
    """
    about = (base := load_base(output)).about
    # Bases of earlier versions lack the key "read".
    comparable = {name: value for name, value in requested.items() if name in about or name != "read"}
    if conflict := differences({name: about.get(name) for name in comparable}, comparable):
        if overwrite:
            return None
        raise PretrainError(
            f"{output}: the base there comes from other text or settings: {conflict}. Resume with the "
            "same, add --overwrite to replace it, or give another --output",
            code="HW811",
        )
    return base


def check_output(output: Path, *, overwrite: bool) -> None:
    """Reject an output folder with other files, or with a base that must not be replaced.

    Raises:
        PretrainError: HW811.
    """
    if not output.exists():
        return
    if not output.is_dir():
        raise PretrainError(f"{output} is no folder; give another --output", code="HW811")
    there = {path.name for path in output.iterdir()}
    if foreign := sorted(there - set(FILES)):  # a model that began with a base has a base.json too
        raise PretrainError(
            f"{output} holds {foreign[0]}, which is no file of a base; give another --output", code="HW811"
        )
    if ABOUT in there and not overwrite:
        raise PretrainError(
            f"{output} holds a base; add --overwrite to replace it, or give another --output", code="HW811"
        )


def _settings(config: PretrainConfig) -> dict[str, Any]:
    settings = to_dict(config)
    settings["teacher"]["name"] = teacher_names(config)
    return settings


def teacher_names(config: PretrainConfig) -> str:
    """The names of the teachers, separated by commas."""
    return ", ".join(map(teacher_name, config.teacher.names))


def teacher_name(name: str) -> str:
    """The name on the hub, or the name of a folder without its path."""
    return Path(name).name if Path(name).expanduser().is_dir() else name
