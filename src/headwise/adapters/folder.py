"""The files of a saved model, to be handed on with something else that is saved."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headwise.adapters.errors import AdapterError
from headwise.store import read_info
from headwise.store.files import open_plain, parse_json, read_limited
from headwise.store.layout import LIMITS, MANIFEST, WEIGHTS
from headwise.verbs.models import open_model


class ModelFiles(Mapping[str, bytes]):
    """The files of a model by their names, the manifest last: of a folder, from which they are read when
    they are asked for, or held in memory.

    Args:
        name: What to call the model in messages.
        held: The files in memory; of a folder the manifest, as it was when the model was loaded.
        folder: Where the others are.

    Raises:
        StoreError: The folder holds no headwise model, or the manifest cannot be read.
        AdapterError: HW912, what is held are no files of a folder.
    """

    def __init__(self, name: str, held: Mapping[str, bytes], folder: Path | None = None):
        whole = isinstance(held, Mapping) and all(isinstance(own, bytes) for own in held.values())
        if not whole or MANIFEST not in held:
            raise AdapterError(f"{name}: these are not the files of a headwise model", code="HW912")
        self.name, self._held, self.folder = name, dict(held), folder
        listed = parse_json(held[MANIFEST], f"{name}/{MANIFEST}").get("files")
        there = listed if folder is not None and isinstance(listed, dict) else held
        # Names of ours alone: whoever made the files may have listed others.
        self._names = [own for own in (*LIMITS, WEIGHTS) if own in there and own != MANIFEST]

    @classmethod
    def of(cls, folder: Path) -> "ModelFiles":
        """Those of a folder that holds a model."""
        read_info(folder)  # says what else it holds
        return cls(str(folder), {MANIFEST: read_limited(folder / MANIFEST)}, folder)

    def __getitem__(self, name: str) -> bytes:
        if name in self._held:
            return self._held[name]
        if name not in self._names or self.folder is None:
            raise KeyError(name)
        with open_plain(self.folder / name) as (file, _):
            return file.read()

    def __iter__(self) -> Iterator[str]:
        return iter([*self._names, MANIFEST])

    def __len__(self) -> int:
        return len(self._names) + 1

    def load(self, device: str) -> Any:
        """The model.

        Raises:
            StoreError: The files are not sound.
            ConfigError: The device cannot be used.
        """
        if self.folder is not None:
            return open_model(self.folder, device)
        with tempfile.TemporaryDirectory(prefix="headwise-") as place:
            self._write(Path(place))
            return open_model(place, device)

    def copy(self, folder: Path) -> None:
        """Write them into another folder, which is made if need be.

        Raises:
            StoreError: One cannot be read.
            AdapterError: HW912, the folder that they are in holds another model by now.
        """
        if self.folder is not None:
            if read_limited(self.folder / MANIFEST) != self._held[MANIFEST]:
                raise AdapterError(
                    f"{self.folder}: the folder has changed since the model was loaded; load it again",
                    code="HW912",
                )
            if folder.exists() and folder.samefile(self.folder):
                return
        folder.mkdir(parents=True, exist_ok=True)
        self._write(folder)

    def _write(self, folder: Path) -> None:
        (folder / MANIFEST).unlink(missing_ok=True)  # an interrupted copy is no model
        for name, content in self.items():
            (folder / name).write_bytes(content)
