"""The files of a saved model, to be stored inside the files of another library."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headwise.artifacts.model_folder import open_plain, parse_json, read_limited
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import LIMITS, MANIFEST, WEIGHTS

if TYPE_CHECKING:
    from headwise.app.session import ModelSession


class AdapterError(HeadwiseError):
    """A model cannot be used by another library, or cannot be saved with it.

    Codes: HW911 the library does not support models of this task, HW912 the files are not those of the
    model that was loaded.
    """

    code = "HW911"


class ModelFiles(Mapping[str, bytes]):
    """The files of a model by name, the manifest last. They are held in memory, or read from a folder on
    access.

    Args:
        name: Name of the model in messages.
        held: Contents of the files in memory. With a `folder`, the manifest alone, as it was when the model
            was loaded.
        folder: Folder of all other files; None if all files are in memory.

    Raises:
        StoreError: The folder holds no headwise model, or the manifest cannot be read.
        AdapterError: HW912, `held` are not the files of a model folder.
    """

    def __init__(self, name: str, held: Mapping[str, bytes], folder: Path | None = None):
        is_valid = isinstance(held, Mapping) and all(
            isinstance(content, bytes) for content in held.values()
        )
        if not is_valid or MANIFEST not in held:
            raise AdapterError(f"{name}: these are not the files of a headwise model", code="HW912")
        self.name, self._held, self.folder = name, dict(held), folder
        listed = parse_json(held[MANIFEST], f"{name}/{MANIFEST}").get("files")
        there = listed if folder is not None and isinstance(listed, dict) else held
        # Known names only: an untrusted manifest may list others.
        self._names = [name for name in (*LIMITS, WEIGHTS) if name in there and name != MANIFEST]

    @classmethod
    def of(cls, folder: Path) -> "ModelFiles":
        """The files of a model folder."""
        from headwise.artifacts import read_info  # with it comes torch

        read_info(folder)  # raises if the folder holds no model
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

    def open(self, device: str) -> "ModelSession":
        """Open the model from the files.

        Raises:
            StoreError: The files are not sound.
            ConfigError: The device cannot be used.
        """
        from headwise.app.session import ModelSession

        if self.folder is not None:
            return ModelSession.open(self.folder, device=device)
        with tempfile.TemporaryDirectory(prefix="headwise-") as place:
            self._write(Path(place))
            return ModelSession.open(place, device=device)

    def copy(self, folder: Path) -> None:
        """Write the files into another folder, which is created if it does not exist.

        Raises:
            StoreError: A file cannot be read.
            AdapterError: HW912, the source folder has been replaced by another model.
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
        (folder / MANIFEST).unlink(missing_ok=True)  # without it, an interrupted copy is not loadable
        for name, content in self.items():
            (folder / name).write_bytes(content)
