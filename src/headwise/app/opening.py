"""What a training starts from: its task, and the model that it goes on with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from headwise.app.configuration import Sections
from headwise.artifacts import load_model, read_info
from headwise.core.folder_layout import MANIFEST
from headwise.data.files.fingerprint import file_sha256
from headwise.data.items.item_types import infer_task
from headwise.training.warm_start import PreviousModel


def with_task(file: str, layers: Sequence[Sections] | Sections) -> tuple[tuple[Sections, ...], str]:
    """Sections of settings, or several, that name the task, if need be as a first one by the looks of the
    file; and what there is to say of that."""
    layers = [layers] if isinstance(layers, Mapping) else layers
    if any("task" in layer.get("model", {}) for layer in layers):
        return tuple(layers), ""
    reading = {name: value for layer in layers for name, value in layer.get("data", {}).items()}
    inferred, why = infer_task(file, reading)
    note = f"task {inferred} guessed from the file ({why}) - override with --task" if why else ""
    return ({"model": {"task": inferred}}, *layers), note


def split_init_from(layers: Sequence[Sections]) -> tuple[PreviousModel | None, tuple[Sections, ...]]:
    """The earlier model that sections of settings name as base, if they name one, and the sections without
    its name.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: Such models cannot be gone on with.
    """
    names = [base["name"] for layer in layers if "name" in (base := layer.get("base", {}))]
    if not names or not (Path(names[-1]) / MANIFEST).is_file():
        return None, tuple(layers)
    folder = Path(names[-1])
    previous_model = PreviousModel(names[-1], load_model(folder), file_sha256(folder / MANIFEST))
    if not previous_model.bare:
        previous_model = replace(previous_model, seen=read_info(folder).data.seen)
    base = [{k: v for k, v in layer.get("base", {}).items() if k != "name"} for layer in layers]
    return previous_model, tuple(
        {**layer, "base": base_section} for layer, base_section in zip(layers, base, strict=True)
    )
