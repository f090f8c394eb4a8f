"""Reading a model folder as untrusted files; does not need torch.

Only regular files of limited size are read, and only strict JSON. The files of a `VerifiedFolder` are
verified against its manifest. A folder that cannot be read or written raises a `StoreError`.
"""

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import (
    CALIBRATION,
    CONFIG,
    EXPORTED,
    LIMITS,
    MANIFEST,
    METRICS,
    MODEL,
    RUN_FOLDER,
    STAGING,
    TRACEBACK,
    TRAINING,
    UNNORMALIZED,
    VOCABULARY,
    FolderKind,
)
from headwise.core.version import __version__


class StoreError(HeadwiseError):
    """A model folder cannot be read or written.

    Codes: HW501 the path is no folder, HW502 it holds no headwise model, HW503 a file is missing or the
    save was interrupted, HW504 a file is not the one that was saved, HW505 not a plain file (a link, a
    pipe) or not readable, HW506 too large, HW507 content that cannot be, HW508 another version's format,
    HW509 weights that do not fit the configuration, HW510 weights or a temperature that are no finite
    numbers, HW511 the folder has other files in it, HW512 it cannot be written.
    """

    code = "HW500"


@contextmanager
def open_plain(path: Path) -> Generator[tuple[BufferedReader, int]]:
    """Open a regular file for reading; yields the file and its size in bytes.

    Raises:
        StoreError: HW503 there is none; HW505 it is a link, a folder, a pipe or the like, or unreadable.
    """
    flags = os.O_RDONLY
    # Where the system has these flags, a file that becomes a link or a pipe between the check and the
    # opening is neither followed nor waited for.
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        _check_plain(path, path.lstat().st_mode)
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise StoreError(
            f"{path}: this file of the model is missing; copy the whole folder again", code="HW503"
        ) from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened ({error.strerror})", code="HW505") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        _check_plain(path, status.st_mode)
        yield file, status.st_size


def _check_plain(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "not a plain file"
        raise StoreError(
            f"{path}: this is {kind}; put the file itself there, a model folder has plain files only",
            code="HW505",
        )


def read_limited(path: Path) -> bytes:
    """The content of one of the files in `headwise.core.folder_layout.LIMITS`.

    Raises:
        StoreError: HW506 the file exceeds its limit; see also `open_plain`.
    """
    limit = LIMITS[path.name]
    with open_plain(path) as (file, size):
        if size > limit:
            raise StoreError(f"{path}: {size} bytes; at most {limit} are read of it", code="HW506")
        return file.read(limit)


def parse_json(content: bytes, where: str) -> JsonObject:
    """Parse a JSON object strictly: no duplicate keys, no NaN, no numbers too large for a float.

    Raises:
        StoreError: HW507 it is not such JSON.
    """

    def pairs(items: list[tuple[str, Any]]) -> JsonObject:
        table = dict(items)
        if len(table) < len(items):
            raise ValueError("a key occurs twice")
        return table

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"the number {text[:40]} is too large")
        return value

    def refuse(text: str) -> NoReturn:
        raise ValueError(f"{text} is not a number")

    try:
        data = json.loads(
            content.decode("utf-8"), object_pairs_hook=pairs, parse_float=number, parse_constant=refuse
        )
    except RecursionError:
        raise StoreError(f"{where}: nested too deeply", code="HW507") from None
    except ValueError as error:
        raise StoreError(f"{where}: cannot be read as JSON: {error!s:.300}", code="HW507") from None
    if not isinstance(data, dict):
        raise StoreError(f"{where}: expected a JSON object, found {data!r:.80}", code="HW507")
    return data


def to_json(value: object, *, indent: int | None = 2) -> bytes:
    """Serialise plain data as JSON: the inverse of `parse_json`."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # an unpaired surrogate, which JSON can escape but UTF-8 cannot encode
        return json.dumps(value, allow_nan=False, indent=indent).encode("ascii") + b"\n"


@dataclass(frozen=True)
class ManifestEntry:
    """The entry of a file in the manifest: its hash, and its size in bytes."""

    sha256: str
    size: int


class VerifiedFolder:
    """A model folder whose manifest has been read.

    Args:
        folder: The path of the folder.
        form: The expected kind of folder.

    Raises:
        StoreError: HW501 it is no folder, HW502 it holds something else, HW503 it is incomplete, HW508 it
            has the format of another version.
    """

    def __init__(self, folder: PathLike[str] | str, form: FolderKind = MODEL):
        self.form = form
        if not isinstance(folder, str | PathLike):
            raise StoreError(
                f"a {type(folder).__name__} is not a folder; give the folder of a model (of one in memory "
                "what estimator.save or headwise.save_model made)",
                code="HW501",
            )
        self.path = path = Path(folder)
        if not path.is_dir():
            problem = "this is not a folder" if path.exists() else "there is no such folder"
            raise StoreError(f"{path}: {problem}; give the folder of a model", code="HW501")
        if not (path / MANIFEST).is_symlink() and not (path / MANIFEST).exists():
            raise _no_manifest(path, form)
        manifest = parse_json(read_limited(path / MANIFEST), self.name(MANIFEST))
        self._check_format(manifest, MANIFEST)
        self._files = get_typed(manifest, "files", dict, self.name(MANIFEST))

    def name(self, file: str) -> str:
        """The path of a file, for messages."""
        return str(self.path / file)

    def entry(self, name: str) -> ManifestEntry:
        """The entry of a file in the manifest."""
        match self._files.get(name):
            case {"sha256": str(sha256), "size": int(size)} if re.fullmatch("[0-9a-f]{64}", sha256):
                return ManifestEntry(sha256, size)
        raise StoreError(f"{self.name(MANIFEST)}: no good entry for {name}", code="HW507")

    def content(self, name: str) -> bytes:
        """The content of a file, verified against the manifest."""
        entry = self.entry(name)
        content = read_limited(self.path / name)
        check_size(self.path / name, len(content), entry)
        check_digest(self.path / name, hashlib.sha256(content).hexdigest(), entry)
        return content

    def json(self, name: str) -> JsonObject:
        """The content of a JSON file, verified against the manifest."""
        data = parse_json(self.content(name), self.name(name))
        if name in (CONFIG, CALIBRATION, METRICS, TRAINING):
            data = _with_current_names(data)
        if name == CONFIG:
            self._check_format(data, name)
        return data

    def _check_format(self, data: JsonObject, name: str) -> None:
        version = data.get("format")
        if version == self.form.format:
            return
        if not isinstance(version, str) or not version.startswith(self.form.family):
            raise _no_model(self.path, self.form)
        raise StoreError(
            f"{self.name(name)}: the format is {version!r:.60}, this is headwise {__version__}, which "
            f"reads {self.form.format!r}; {self.form.how_to_create}, or load it with the headwise that "
            f"wrote it ({data.get('headwise')!s:.40})",
            code="HW508",
        )


_FORMER_NAMES = {
    "expert": "linear_model",
    "expert_weight": "linear_weight",
    "expert_share": "linear_share",
    "expert_alone": "linear_model_alone",
}


def _with_current_names(data: dict[str, Any]) -> dict[str, Any]:
    """Settings and figures under today's names; folders of headwise 0.1 call the linear model `expert`."""
    sections = {
        name: _with_current_names(data[name])
        for name in ("model", "recipe")
        if isinstance(data.get(name), dict)
    }
    return {_FORMER_NAMES.get(name, name): value for name, value in (data | sections).items()}


def current_tensor_name(name: str) -> str:
    """Today's name of a stored tensor, see `_FORMER_NAMES`."""
    return f"linear_model.{name[7:]}" if name.startswith("expert.") else name


def is_headwise_folder(folder: Path, form: FolderKind = MODEL) -> bool:
    """Whether a folder holds a headwise model of any version, complete or not."""
    for name in (MANIFEST, CONFIG):
        with suppress(StoreError):
            version = parse_json(read_limited(folder / name), name).get("format")
            if isinstance(version, str) and version.startswith(form.family):
                return True
    return False


def traceback_of(output: Path) -> Path | None:
    """The file with the error that stopped the run in an output folder; None where none did."""
    path = output / RUN_FOLDER / TRACEBACK
    return path if path.exists() else None


def _no_manifest(path: Path, form: FolderKind) -> StoreError:
    begun = not (path / CONFIG).exists() and any((path / name).is_dir() for name in (RUN_FOLDER, STAGING))
    if begun and (crash := traceback_of(path)) is not None:
        return StoreError(
            f"{path}: there is no model: an unexpected error stopped its training run (see {crash}). Train "
            "again with --overwrite once its cause is gone",
            code="HW503",
        )
    if begun or is_headwise_folder(path, form):
        return StoreError(
            f"{path}: the model is incomplete: it has no {MANIFEST}, {form.repair_advice}", code="HW503"
        )
    return _no_model(path, form)


def _no_model(path: Path, form: FolderKind) -> StoreError:
    for other_form in (MODEL, EXPORTED):
        if other_form is not form and is_headwise_folder(path, other_form):
            return StoreError(f"{path}: {other_form.other_kind_message}", code="HW502")
    try:
        config = parse_json(read_limited(path / CONFIG), CONFIG)
    except StoreError:
        config = {}
    if "model_type" in config or "architectures" in config:
        contents = f"it holds a Hugging Face model ({config.get('model_type')!s:.40})"
    else:
        contents = f"it has no {MANIFEST} of headwise"
    return StoreError(f"{path}: this is not the folder of a headwise model: {contents}", code="HW502")


def check_size(path: Path, size: int, entry: ManifestEntry) -> None:
    """Check that a file has the size in the manifest.

    Raises:
        StoreError: HW504.
    """
    if size != entry.size:
        raise StoreError(
            f"{path}: {size} bytes, but {entry.size} were saved; the file is damaged or from another "
            "model, copy the whole folder again",
            code="HW504",
        )


def check_digest(path: Path, digest: str, entry: ManifestEntry) -> None:
    """Check that a file has the hash in the manifest.

    Raises:
        StoreError: HW504.
    """
    if digest != entry.sha256:
        raise StoreError(
            f"{path}: the content is not what was saved; the file is damaged, changed or from another "
            "model, copy the whole folder again",
            code="HW504",
        )


def get_typed(data: JsonObject, key: str, kind: type, where: str) -> Any:
    """The value of a key in a JSON object, checked to be of the type `kind`.

    Raises:
        StoreError: HW507, the key is missing, or its value has another type.
    """
    if not isinstance(data.get(key), kind):
        raise StoreError(f"{where}: {key!r} is missing or of the wrong type", code="HW507")
    return data[key]


NORMALIZED_TEXTS = {"texts": "normalized"}
"""Marks, in CONFIG, models that read texts by `headwise.core.text_normalization`."""


def with_reading_rule(config: JsonMapping, settings: JsonObject) -> JsonObject:
    """Settings with a `tokenizer` that reads texts as the saved model did: models of folders without
    `NORMALIZED_TEXTS` read them as written.

    Args:
        config: The content of CONFIG.
        settings: The part of it that names the tokenizer.
    """
    name = settings.get("tokenizer", "penn")
    if NORMALIZED_TEXTS.items() <= config.items() or not isinstance(name, str):
        return settings
    return {**settings, "tokenizer": name.removesuffix(UNNORMALIZED) + UNNORMALIZED}


def read_vocabulary(files: VerifiedFolder, read: Callable[[JsonObject], Any]) -> Any:
    """The vocabulary of a folder, parsed by `read`.

    Raises:
        StoreError: HW507, it is invalid.
    """
    data = files.json(VOCABULARY)
    try:
        return read(data)
    except (HeadwiseError, TypeError) as error:
        raise StoreError(f"{files.name(VOCABULARY)}: {error.args[0]}", code="HW507") from error


def check_target(folder: Path) -> None:
    """Check that a model may be saved here: the path is free, an empty folder, or a headwise model.

    Raises:
        StoreError: HW501 the path is no folder, HW511 the folder has files of something else.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise StoreError(f"{folder}: a file of this name is in the way", code="HW501")
    entries = sorted(set(os.listdir(folder)) - {RUN_FOLDER, STAGING})
    if entries and not is_headwise_folder(folder):
        names = ", ".join(map(repr, entries[:5])) + (" ..." if len(entries) > 5 else "")
        raise StoreError(
            f"{folder}: this folder has files that are not of a headwise model ({names}); choose another "
            "or an empty one",
            code="HW511",
        )
