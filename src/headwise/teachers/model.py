"""A headwise model as teacher for distillation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.fingerprint import file_sha256
from headwise.errors import ConfigError
from headwise.models.classifier import Model
from headwise.store import load_model, read_info
from headwise.store.layout import MANIFEST
from headwise.teachers.teacher import Teacher

_CHUNK = 4096


class ModelTeacher(Teacher):
    """A trained headwise classifier as teacher, used unchanged.

    Args:
        folder: The model folder.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: It is not a single-label text classifier.
    """

    def __init__(self, folder: Path):
        self.model = load_model(folder)
        if not isinstance(self.model, Model):
            task = self.model.config.task
            raise ConfigError(f"--teacher {folder}: a model of the task {task}, not a classifier of texts")
        self.fingerprint = file_sha256(folder / MANIFEST)  # the manifest has the hashes of all files
        self.name, self.seen = f"the model {folder.name}", read_info(folder)["data"].get("seen")

    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        return self.model.labels

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        parts = [
            self.model.predict_proba(texts[start : start + _CHUNK]).astype(np.float32)
            for start in range(0, len(texts), _CHUNK)
        ]
        return np.concatenate([np.zeros((0, len(self.model.labels)), np.float32), *parts])
