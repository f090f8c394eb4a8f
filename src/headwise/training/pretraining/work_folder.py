"""The work folder of a base in training: intermediate results and states.

passages-KEY.txt, counts-KEY.json   the passages for the teacher, and the counts of all words
text-KEY.numbers                    the whole text as word ids, for context prediction
answers-KEY/                        embeddings of the teacher, in float16, 8,192 texts per file
state-KEY/                          the training state after each epoch

KEY is a hash of everything that determines the content, so results are reused only where they are valid,
also by runs with other settings.

Identity of a base (inputs and settings), and checks of the output folder.
"""

import hashlib
import io
import json
import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from headwise.core.config import JsonMapping, JsonObject, differences, to_dict
from headwise.core.file_lock import atomic_output
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.archives import split_member
from headwise.data.files.compression import open_bytes
from headwise.data.files.fingerprint import file_sha256
from headwise.data.files.tables import table_kind
from headwise.text.static_embeddings.base_folder import ABOUT, FILES, load_base
from headwise.text.static_embeddings.base_vectors import StaticEmbeddings
from headwise.training.pretraining.base_config import PretrainConfig, PretrainError

MARK = "headwise-pretrain.json"
_OURS = ("passages-", "counts-", "text-", "answers-", "state-")


def hash_of(*parts: Any) -> str:
    """A short hash of JSON data."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def hash_of_file_stats(files: Sequence[str]) -> str:
    """A short hash of files by names, sizes and modification times.

    Raises:
        DataError: HW101 to HW104, a file cannot be opened.
    """
    _check_open(files)
    states = [os.stat(split_member(file)[0]) for file in files]
    return hash_of(
        [
            (Path(file).name, status.st_size, status.st_mtime_ns)
            for file, status in zip(files, states, strict=True)
        ]
    )


def hash_of_contents(files: Sequence[str]) -> str:
    """A short hash of the contents of files on disk, in their order.

    Raises:
        DataError: HW101 to HW104, a file cannot be opened.
    """
    _check_open(files)
    return hash_of([file_sha256(split_member(file)[0]) for file in files])


def _check_open(files: Sequence[str]) -> None:
    for file in files:
        if table_kind(file) is None:
            with open_bytes(file):
                pass


@contextmanager
def name_failed_path(path: Path) -> Generator[None]:
    """Add the path to errors of writing, also where the system gives none (a full disk).

    Raises:
        OSError: The path cannot be written.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        number, reason = getattr(error, "errno", None), getattr(error, "strerror", None) or str(error)
        raise OSError(number, reason, getattr(error, "filename", None) or str(path)) from error


@contextmanager
def atomic_path(path: Path) -> Generator[Path]:
    """Like `atomic_output`, with the path in errors (see `name_failed_path`): yields a temporary path,
    which is renamed to `path` when it is complete."""
    with name_failed_path(path), atomic_output(path) as part:
        yield part


def write_array(array: NDArray, path: Path) -> None:
    """Write an array to a .npy file atomically. (NumPy's own writing does not always report a full disk.)

    Raises:
        OSError: The file cannot be written.
    """
    content = io.BytesIO()
    np.save(content, array)
    with atomic_path(path) as partial:
        partial.write_bytes(content.getbuffer())


def write_text(text: str, path: Path) -> None:
    """Write a text atomically, lone surrogates included.

    Raises:
        OSError: The file cannot be written.
    """
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8", errors="surrogatepass")


@dataclass(frozen=True)
class WorkFolder:
    """A work folder.

    Attributes:
        folder: Its path.
        is_temporary: Whether it was created for one run, and is removed with it.
    """

    folder: Path
    is_temporary: bool

    @classmethod
    def at(cls, folder: Path, *, is_temporary: bool) -> "WorkFolder":
        """Use a folder, which is created if needed.

        Raises:
            PretrainError: HW811, the path is a file, or the folder has other files.
        """
        if folder.exists() and not (folder / MARK).is_file():
            if not folder.is_dir():
                raise PretrainError(f"--work {folder}: a file, not a folder", code="HW811")
            foreign = [path.name for path in folder.iterdir() if not path.name.startswith(_OURS)]
            if foreign:
                raise PretrainError(
                    f"--work {folder}: holds something else ({foreign[0]!r}, ...); give a folder of "
                    "its own",
                    code="HW811",
                )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(json.dumps({"format": "headwise-pretrain-1"}) + "\n", encoding="utf-8")
        return cls(folder, is_temporary)

    def path(self, kind: str, key: str, ending: str = "") -> Path:
        """Path of an entry."""
        return self.folder / f"{kind}-{key}{ending}"

    def states(self) -> list[Path]:
        """Folders with the states of unfinished training."""
        return sorted(self.folder.glob("state-*"))

    def has_expensive_results(self) -> bool:
        """Whether the folder has results that took long: embeddings of a teacher, or training states."""
        return any(self.folder.glob("answers-*")) or bool(self.states())

    def forget_states(self) -> None:
        """Delete the training states."""
        for path in self.states():
            shutil.rmtree(path)

    def clear(self) -> None:
        """Remove what is not needed after the base is written: the states, or the whole folder if it was
        created for this run."""
        self.forget_states()
        if self.is_temporary:
            for path in self.folder.iterdir():
                if path.is_dir() and path.name.startswith(_OURS):
                    shutil.rmtree(path)
                elif path.name == MARK or path.name.removeprefix(".").startswith(_OURS):
                    path.unlink()
            if not any(self.folder.iterdir()):
                self.folder.rmdir()


def base_identity(
    files: list[str], config: PretrainConfig, word_list: Sequence[str], options: ReadOptions
) -> JsonObject:
    """The inputs and settings that determine a base, as JSON data without paths; long data are hashed."""
    read = {"contents": hash_of_contents(files), "word_list": hash_of(list(word_list)), **to_dict(options)}
    teacher = to_dict(config.teacher) | {"name": teacher_names(config)}
    settings = to_dict(config) | {"teacher": teacher}
    return {"files": [Path(file).name for file in files], "read": read, "settings": settings}


def existing_base(requested: JsonMapping, output: Path, *, overwrite: bool) -> StaticEmbeddings | None:
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
        raise PretrainError(f"{output} is not a folder; give another --output", code="HW811")
    there = {path.name for path in output.iterdir()}
    if foreign := sorted(there - set(FILES)):  # a model that began with a base has a base.json too
        raise PretrainError(
            f"{output} holds {foreign[0]}, which is not a file of a base; give another --output",
            code="HW811",
        )
    if ABOUT in there and not overwrite:
        raise PretrainError(
            f"{output} holds a base; add --overwrite to replace it, or give another --output", code="HW811"
        )


def teacher_names(config: PretrainConfig) -> str:
    """The names of the teachers, separated by commas."""
    return ", ".join(map(teacher_name, config.teacher.names))


def teacher_name(name: str) -> str:
    """The name on the hub, or the name of a folder without its path."""
    return Path(name).name if Path(name).expanduser().is_dir() else name
