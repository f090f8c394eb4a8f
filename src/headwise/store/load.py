"""Loading a model folder.

Nothing in the folder is run, and nothing is believed before it is checked: the files against the manifest
(damage), and, as whoever made the folder can make a manifest too, all contents against each other (malice).
"""

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import torch

from headwise import __version__
from headwise.errors import HeadwiseError
from headwise.store.build import build_empty, parse_config
from headwise.store.errors import StoreError
from headwise.store.files import open_plain, parse_json, read_limited, to_json
from headwise.store.layout import (
    BASE,
    CALIBRATION,
    CONFIG,
    DATA,
    ENVIRONMENT,
    FAMILY,
    FORMAT,
    LABELS,
    MANIFEST,
    METRICS,
    PRETRAINED,
    RUN,
    STAGING,
    TOKENIZER,
    TRAINING,
    VOCABULARY,
    WEIGHTS,
)
from headwise.store.weights import DTYPES, WeightsFile
from headwise.tasks import find_task
from headwise.train.device import float32, pick_device

_INFO = (CONFIG, LABELS, CALIBRATION, ENVIRONMENT, DATA, TRAINING, METRICS)


@float32()
def load_model(folder: PathLike[str] | str, *, device: torch.device | str = "cpu") -> Any:
    """Load a model folder that `save_model` wrote, ready to predict (in eval mode): the model of its task,
    see `headwise.tasks.TASKS`.

    Draws no random numbers. The folder itself may be reached through a link; the files in it must be
    plain files.

    Args:
        folder: What `save_model` wrote.
        device: Where the model computes: cpu, cuda, ..., or auto for a GPU where there is one.

    Raises:
        StoreError: See there; the message names the file.
        ConfigError: The device cannot be used.
    """
    device = pick_device(device)
    files = _Folder(folder)
    settings = files.json(CONFIG)
    where = files.name(CONFIG)
    config = parse_config(_get(settings, "model", dict, where), f"{where}: model")
    dtype = DTYPES.get(_get(settings, "weights", str, where))
    if dtype is None:
        raise StoreError(f"{where}: weights must be {' or '.join(DTYPES)}", code="HW507")
    task = find_task(config.task)
    kind = task.model
    vocabulary = _vocabulary(files, kind.read_vocabulary)
    outputs = files.json(LABELS)
    parts = _pretrained(files) if config.pretrained.name else None
    if config.base.name:
        parts = {BASE: files.json(BASE)}
    fitted = files.json(CALIBRATION)
    at = files.name(CALIBRATION)
    factors: dict[str, Any] = {
        name: _factor(fitted, name, low, at)
        for name, low in kind.FACTORS.items()
        if name in fitted or not hasattr(kind, name)  # else it may be left out
    }
    entry = files.entry(WEIGHTS)
    path = files.path / WEIGHTS
    with open_plain(path) as (file, size):
        _check_size(path, size, entry)
        try:
            weights = WeightsFile(file, size, path)
            # Every layer has weights of its own; a claim of more would only cost time to build.
            counts = (getattr(getattr(config, section), "layers", 0) for section in task.sections)
            layers = max(count for count in counts if isinstance(count, int))
            if layers > len(weights):
                raise StoreError(
                    f"{where}: {layers} layers, but {WEIGHTS} holds {len(weights)} tensors", code="HW509"
                )
            model = build_empty(config, vocabulary, outputs, (where, files.name(LABELS)), parts)
            tensors, digest = weights.read(model.state_dict(), dtype)
        except StoreError:
            # The likeliest reason by far is damage, and then that is what is to be said.
            file.seek(0)
            _check_digest(path, hashlib.file_digest(file, "sha256").hexdigest(), entry)
            raise
    _check_digest(path, digest, entry)
    try:
        model.load_state_dict(tensors, assign=True)
    except RuntimeError as error:  # weights that point to places which are not there
        raise StoreError(f"{path}: {error}", code="HW509") from error
    for name, low in kind.LABEL_FACTORS.items():
        if name not in fitted and hasattr(kind, name):  # it may be left out
            continue
        factors[name] = _label_factors(fitted, name, low, at, len(outputs["labels"]))
    for name, factor in factors.items():
        setattr(model, name, factor)
    model.card = partial(_card, files)
    return model.eval().to(device)


def _card(files: "_Folder", model: Any) -> str:
    """What a notebook shows of a loaded model; of a folder that has changed since, without its scores."""
    from headwise.store.shown import model_html  # which few need

    info = {}
    for name in (DATA, METRICS):
        with suppress(StoreError):
            info[name.removesuffix(".json")] = files.json(name)
    return model_html(model, info)


def read_info(folder: PathLike[str] | str) -> dict[str, Any]:
    """What a model folder says of its model, without loading it.

    Returns:
        The contents of the JSON files by name without `.json`: config, labels, calibration, environment,
        data, training and metrics. The vocabulary, which can be large, is left out.

    Raises:
        StoreError: See there.
    """
    files = _Folder(folder)
    return {name.removesuffix(".json"): files.json(name) for name in _INFO}


@dataclass(frozen=True)
class _Entry:
    """What the manifest says of a file."""

    sha256: str
    size: int


class _Folder:
    """A model folder of which the manifest has been read."""

    def __init__(self, folder: PathLike[str] | str):
        if not isinstance(folder, str | PathLike):
            raise StoreError(
                f"a {type(folder).__name__} is no folder; give the folder of a model (of one in memory "
                "what estimator.save or headwise.save_model made)",
                code="HW501",
            )
        self.path = path = Path(folder)
        if not path.is_dir():
            problem = "this is no folder" if path.exists() else "there is no such folder"
            raise StoreError(f"{path}: {problem}; give the folder of a model", code="HW501")
        if not (path / MANIFEST).is_symlink() and not (path / MANIFEST).exists():
            raise _no_manifest(path)
        manifest = parse_json(read_limited(path / MANIFEST), self.name(MANIFEST))
        self._check_format(manifest, MANIFEST)
        self._files = _get(manifest, "files", dict, self.name(MANIFEST))

    def name(self, file: str) -> str:
        """What to call a file in messages."""
        return str(self.path / file)

    def entry(self, name: str) -> _Entry:
        """What the manifest says of a file."""
        match self._files.get(name):
            case {"sha256": str(sha256), "size": int(size)} if re.fullmatch("[0-9a-f]{64}", sha256):
                return _Entry(sha256, size)
        raise StoreError(f"{self.name(MANIFEST)}: no good entry for {name}", code="HW507")

    def json(self, name: str) -> dict[str, Any]:
        """The content of a JSON file, if it is the one that was saved."""
        entry = self.entry(name)
        content = read_limited(self.path / name)
        _check_size(self.path / name, len(content), entry)
        _check_digest(self.path / name, hashlib.sha256(content).hexdigest(), entry)
        data = parse_json(content, self.name(name))
        if name == CONFIG:
            self._check_format(data, name)
        return data

    def _check_format(self, data: dict[str, Any], name: str) -> None:
        found = data.get("format")
        if found == FORMAT:
            return
        if not isinstance(found, str) or not found.startswith(FAMILY):
            raise _no_model(self.path)
        raise StoreError(
            f"{self.name(name)}: the format is {found!r:.60}, this is headwise {__version__}, which reads "
            f"{FORMAT!r}; train the model again, or load it with the headwise that wrote it "
            f"({data.get('headwise')!s:.40})",
            code="HW508",
        )


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a headwise model, of any version and perhaps incomplete."""
    for name in (MANIFEST, CONFIG):
        try:
            found = parse_json(read_limited(folder / name), name).get("format")
        except StoreError:
            continue
        if isinstance(found, str) and found.startswith(FAMILY):
            return True
    return False


def _no_manifest(path: Path) -> StoreError:
    begun = not (path / CONFIG).exists() and any((path / name).is_dir() for name in (RUN, STAGING))
    if begun or is_ours(path):
        return StoreError(
            f"{path}: the model is incomplete: it has no {MANIFEST}, as training or saving was interrupted "
            "or not all files were copied. Go on with --resume, save again or copy the whole folder",
            code="HW503",
        )
    return _no_model(path)


def _no_model(path: Path) -> StoreError:
    try:
        config = parse_json(read_limited(path / CONFIG), CONFIG)
    except StoreError:
        config = {}
    if "model_type" in config or "architectures" in config:
        found = f"it holds a Hugging Face model ({config.get('model_type')!s:.40})"
    else:
        found = f"it has no {MANIFEST} of headwise"
    return StoreError(f"{path}: this is not the folder of a headwise model: {found}", code="HW502")


def _check_size(path: Path, size: int, entry: _Entry) -> None:
    if size != entry.size:
        raise StoreError(
            f"{path}: {size} bytes, but {entry.size} were saved; the file is damaged or from another "
            "model, copy the whole folder again",
            code="HW504",
        )


def _check_digest(path: Path, digest: str, entry: _Entry) -> None:
    if digest != entry.sha256:
        raise StoreError(
            f"{path}: the content is not what was saved; the file is damaged, changed or from another "
            "model, copy the whole folder again",
            code="HW504",
        )


def _get(data: dict[str, Any], key: str, kind: type, where: str) -> Any:
    if not isinstance(data.get(key), kind):
        raise StoreError(f"{where}: {key!r} is missing or of the wrong type", code="HW507")
    return data[key]


def _vocabulary(files: _Folder, read: Callable[[dict[str, Any]], Any]) -> Any:
    data = files.json(VOCABULARY)
    try:
        return read(data)
    except (HeadwiseError, TypeError) as error:
        raise StoreError(f"{files.name(VOCABULARY)}: {error.args[0]}", code="HW507") from error


def _pretrained(files: _Folder) -> dict[str, Any]:
    """What `PretrainedEmbedding.from_files` reads."""
    return {PRETRAINED: files.json(PRETRAINED), TOKENIZER: to_json(files.json(TOKENIZER)).decode()}


def _label_factors(data: dict[str, Any], name: str, least: float, where: str, labels: int) -> list[float]:
    values = data.get(name)
    if not isinstance(values, list) or len(values) != labels:
        raise StoreError(f"{where}: {name} must be {labels} numbers, one for each label", code="HW510")
    return [_factor({name: value}, name, least, where) for value in values]


def _factor(data: dict[str, Any], name: str, least: float, where: str) -> float:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1e12:
        raise StoreError(
            f"{where}: {name} must be a number between {least:g} and 1e12, found {value!r:.80}",
            code="HW510",
        )
    return float(value)
