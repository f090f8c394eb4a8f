"""Loading a model folder.

No code from the folder is executed, and all contents are validated: the files against the manifest
(damage), and the contents against each other (manipulation, as an attacker can write a valid manifest).
"""

import hashlib
from contextlib import suppress
from functools import partial
from os import PathLike
from typing import Any

import torch

from headwise.store.build import build_empty, parse_config
from headwise.store.errors import StoreError
from headwise.store.files import open_plain, to_json
from headwise.store.folder import Folder, check_digest, check_size, get, read_factors, read_vocabulary
from headwise.store.layout import (
    BASE,
    CALIBRATION,
    CONFIG,
    DATA,
    ENVIRONMENT,
    LABELS,
    METRICS,
    PRETRAINED,
    TOKENIZER,
    TRAINING,
    WEIGHTS,
)
from headwise.store.weights import DTYPES, WeightsFile
from headwise.tasks import find_task
from headwise.train.device import pick_device, usual

_INFO = (CONFIG, LABELS, CALIBRATION, ENVIRONMENT, DATA, TRAINING, METRICS)


@usual()
def load_model(folder: PathLike[str] | str, *, device: torch.device | str = "cpu") -> Any:
    """Load a model folder that `save_model` wrote, ready to predict (in eval mode): the model of its task,
    see `headwise.tasks.TASKS`.

    Draws no random numbers. The folder itself may be reached through a link; the files in it must be
    plain files.

    Args:
        folder: A folder that `save_model` wrote.
        device: The device of the model: cpu, cuda, ..., or auto for a GPU if there is one.

    Raises:
        StoreError: The folder cannot be loaded (see `StoreError`); the message names the file.
        ConfigError: The device cannot be used.
    """
    device = pick_device(device)
    files = Folder(folder)
    settings = files.json(CONFIG)
    where = files.name(CONFIG)
    config = parse_config(get(settings, "model", dict, where), f"{where}: model")
    dtype = DTYPES.get(get(settings, "weights", str, where))
    if dtype is None:
        raise StoreError(f"{where}: weights must be {' or '.join(DTYPES)}", code="HW507")
    task = find_task(config.task)
    kind = task.model
    vocabulary = read_vocabulary(files, kind.read_vocabulary)
    outputs = files.json(LABELS)
    parts = _pretrained(files) if config.pretrained.name else None
    if config.base.name:
        parts = {BASE: files.json(BASE)}
    entry = files.entry(WEIGHTS)
    path = files.path / WEIGHTS
    with open_plain(path) as (file, size):
        check_size(path, size, entry)
        try:
            weights = WeightsFile(file, size, path)
            # Every layer has weights, so a larger number is wrong, and would take long to build.
            counts = (getattr(getattr(config, section), "layers", 0) for section in task.sections)
            layers = max(count for count in counts if isinstance(count, int))
            if layers > len(weights):
                raise StoreError(
                    f"{where}: {layers} layers, but {WEIGHTS} holds {len(weights)} tensors", code="HW509"
                )
            model = build_empty(config, vocabulary, outputs, (where, files.name(LABELS)), parts)
            tensors, digest = weights.read(model.state_dict(), dtype)
        except StoreError:
            # The most likely cause is a damaged file; if the hash confirms that, report it instead.
            file.seek(0)
            check_digest(path, hashlib.file_digest(file, "sha256").hexdigest(), entry)
            raise
    check_digest(path, digest, entry)
    try:
        model.load_state_dict(tensors, assign=True)
    except RuntimeError as error:  # index tensors with out-of-range values
        raise StoreError(f"{path}: {error}", code="HW509") from error
    for name, factor in read_factors(files, kind, outputs.get("labels")).items():
        setattr(model, name, factor)
    model.card = partial(_card, files)
    return model.eval().to(device)


def _card(files: Folder, model: Any) -> str:
    """The notebook display of a loaded model; without scores if the folder has changed since."""
    from headwise.store.shown import model_html  # imported only when needed

    info = {}
    for name in (DATA, METRICS):
        with suppress(StoreError):
            info[name.removesuffix(".json")] = files.json(name)
    return model_html(model, info)


def read_info(folder: PathLike[str] | str) -> dict[str, Any]:
    """The metadata of a model folder, without loading the model.

    Returns:
        The contents of the JSON files by name without `.json`: config, labels, calibration, environment,
        data, training and metrics. The vocabulary, which can be large, is left out.

    Raises:
        StoreError: The folder cannot be read (see `StoreError`).
    """
    files = Folder(folder)
    return {name.removesuffix(".json"): files.json(name) for name in _INFO}


def _pretrained(files: Folder) -> dict[str, Any]:
    """The files of a pretrained encoder, for `PretrainedEmbedding.from_files`."""
    return {PRETRAINED: files.json(PRETRAINED), TOKENIZER: to_json(files.json(TOKENIZER)).decode()}
