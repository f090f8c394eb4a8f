"""Small models, their folders, and a forger's tools."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch

from headwise.artifacts import save_model
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import default_readout
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = ["a", "b", "größe", "日本", "👍"]


@pytest.fixture
def make_model() -> Callable[..., TextClassifierModel]:
    """Makes a model; its weights depend on `seed`."""

    def make(
        seed: int = 0,
        *,
        encoder: str = "ms-transformer",
        labels: tuple[str, ...] = ("x", "y"),
        readout: str | None = None,
        **settings: Any,
    ) -> TextClassifierModel:
        torch.manual_seed(seed)
        sizes = {"width": 8, "heads": 2, "head_size": 4, "layers": 2, "tree_fallback": "word", **settings}
        kind = ENCODERS[encoder][1]
        field_names = {field.name for field in fields(kind)}
        config = ModelConfig(
            words=WordConfig(vector_size=6),
            encoder=kind(**{name: value for name, value in sizes.items() if name in field_names}),
            readout=readout or default_readout(kind),
            classifier=ClassifierConfig(hidden=5),
        )
        model = TextClassifierModel(config, Vocabulary.build([WORDS, [f"s{seed}"]]), list(labels))
        model.temperature = 1.25 + seed
        return model.eval()

    return make


@pytest.fixture
def save(tmp_path) -> Callable[..., Path]:
    """Saves a model and gives its folder."""

    def do(model: TextClassifierModel, folder: Path | None = None, **options: Any) -> Path:
        folder = folder or tmp_path / "model"
        save_model(model, folder, **{"data": {}, "training": {}, "metrics": {}} | options)
        return folder

    return do


@pytest.fixture
def folder(make_model, save) -> Path:
    """The folder of a saved model."""
    return save(make_model())


@pytest.fixture
def sign() -> Callable[[Path], None]:
    """Makes the manifest right for the files as they are, as whoever forges a model would."""

    def do(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        for name in manifest["files"]:
            content = (folder / name).read_bytes()
            manifest["files"][name] = {
                "sha256": hashlib.sha256(content).hexdigest(),
                "size": len(content),
            }
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return do


@pytest.fixture
def forge(folder, sign) -> Callable[[str, Callable[[Any], Any]], Path]:
    """Changes a JSON file of a saved model, in place or into what the change returns, and signs."""

    def do(name: str, change: Callable[[Any], Any]) -> Path:
        data = json.loads((folder / name).read_text())
        changed = change(data)
        (folder / name).write_text(json.dumps(data if changed is None else changed))
        if name != "manifest.json":
            sign(folder)
        return folder

    return do
