"""The work folder of a base that is being made: what has been read, said and learnt so far.

passages-KEY.txt, counts-KEY.json   the passages that the teacher reads, and the counts of all words
text-KEY.numbers                    all of the text as numbers of words, for the text as teacher
answers-KEY/                        what the teacher says, in float16, 8,192 texts a file
state-KEY/                          the state of the learning after each epoch

KEY stands for all that decides the content, so that nothing is taken for something else, and what other
settings share is made once.
"""

import hashlib
import io
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from headwise.data.archives import split_member
from headwise.data.compression import open_bytes
from headwise.data.fingerprint import file_sha256
from headwise.data.tables import table_kind
from headwise.pretrain.errors import PretrainError
from headwise.store.whole import named_when_whole

MARK = "headwise-pretrain.json"
_OURS = ("passages-", "counts-", "text-", "answers-", "state-")


def key_of(*parts: Any) -> str:
    """A short text that is another for other parts, which are data for JSON."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def key_of_files(files: Sequence[str]) -> str:
    """The same for files: their names, sizes and times of change.

    Raises:
        DataError: HW101 to HW104, a file cannot be opened.
    """
    _check_open(files)
    states = [os.stat(split_member(file)[0]) for file in files]
    return key_of(
        [(Path(file).name, own.st_size, own.st_mtime_ns) for file, own in zip(files, states, strict=True)]
    )


def key_of_contents(files: Sequence[str]) -> str:
    """The same for what is in files, as it lies on disk, in their order.

    Raises:
        DataError: HW101 to HW104, a file cannot be opened.
    """
    _check_open(files)
    return key_of([file_sha256(split_member(file)[0]) for file in files])


def _check_open(files: Sequence[str]) -> None:
    for file in files:
        if table_kind(file) is None:
            with open_bytes(file):
                pass


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Lets what cannot be written here say what that is, also where the system does not (a full disk).

    Raises:
        OSError: It cannot be written.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        number, said = getattr(error, "errno", None), getattr(error, "strerror", None) or str(error)
        raise OSError(number, said, getattr(error, "filename", None) or str(path)) from error


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """As `named_when_whole`, and what cannot be written is named."""
    with naming(path), named_when_whole(path) as part:
        yield part


def write_array(array: NDArray[Any], path: Path) -> None:
    """Write an array to a .npy file, whole. (NumPy's own writing to files says nothing of a disk that is
    full before the last bytes.)

    Raises:
        OSError: It cannot be written.
    """
    content = io.BytesIO()
    np.save(content, array)
    with whole(path) as partial:
        partial.write_bytes(content.getbuffer())


@dataclass(frozen=True)
class Work:
    """A work folder.

    Attributes:
        folder: Where it is.
        ours: Whether it is made for one run and goes with it.
    """

    folder: Path
    ours: bool

    @classmethod
    def at(cls, folder: Path, *, ours: bool) -> "Work":
        """Use a folder, which is made if need be.

        Raises:
            PretrainError: HW811, it is a file, or holds something else.
        """
        if folder.exists() and not (folder / MARK).is_file():
            if not folder.is_dir():
                raise PretrainError(f"--work {folder}: a file, not a folder", code="HW811")
            others = [path.name for path in folder.iterdir() if not path.name.startswith(_OURS)]
            if others:
                raise PretrainError(
                    f"--work {folder}: holds something else ({others[0]!r}, ...); give a folder of its own",
                    code="HW811",
                )
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(json.dumps({"format": "headwise-pretrain-1"}) + "\n", encoding="utf-8")
        return cls(folder, ours)

    def path(self, kind: str, key: str, ending: str = "") -> Path:
        """The place of one thing."""
        return self.folder / f"{kind}-{key}{ending}"

    def states(self) -> list[Path]:
        """Folders of learning that has not come to its end."""
        return sorted(self.folder.glob("state-*"))

    def dear(self) -> bool:
        """Whether it holds what took long: answers of a teacher, or states."""
        return any(self.folder.glob("answers-*")) or bool(self.states())

    def forget_states(self) -> None:
        """Begin the learning anew."""
        for path in self.states():
            shutil.rmtree(path)

    def clear(self) -> None:
        """Remove what is no longer needed once the base is written: the states, or the whole folder if it
        was made for this run."""
        self.forget_states()
        if self.ours:
            for path in self.folder.iterdir():
                if path.is_dir() and path.name.startswith(_OURS):
                    shutil.rmtree(path)
                elif path.name == MARK or path.name.removeprefix(".").startswith(_OURS):
                    path.unlink()
            if not any(self.folder.iterdir()):
                self.folder.rmdir()
