"""Exporting: what is written, what is refused, what is compared."""

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.artifacts.onnx import export_agreement as compare_module
from headwise.artifacts.onnx import onnx_errors as errors
from headwise.artifacts.onnx import onnx_export as export
from headwise.artifacts.onnx.graph import ENCODERS as EXPORTED_ENCODERS
from headwise.artifacts.onnx.graph import check_exportable, example_input, onnx_of
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.artifacts.onnx.onnx_export import write_exported
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.artifacts.onnx.padded_network import EncoderGraph
from headwise.core.folder_layout import EXPORTED
from headwise.nn.encoders import ENCODERS
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.vocabulary import Vocabulary

from .conftest import WINDOW, WORDS

FILES = {
    *("README.md", "calibration.json", "config.json", "encoder.onnx", "labels.json", "manifest.json"),
    *(
        "metrics.json",
        "network.safetensors",
        "readout.onnx",
        "requirements.txt",
        "tables.safetensors",
        "training.json",
    ),
    "vocabulary.json",
}


def model_with(name: str, **settings) -> TextClassifierModel:
    config = ModelConfig(encoder=ENCODERS[name][1](width=8, **settings), readout="max")
    return TextClassifierModel(config, Vocabulary.build([WORDS]), ["x", "y"]).eval()


def test_what_is_written(make_model, tmp_path, needs_onnx, graphs_once):
    done = write_exported(make_model("ms-transformer"), tmp_path / "deep" / "er")
    assert {path.name for path in done.folder.iterdir()} == FILES
    assert done.sizes.keys() == FILES - {"manifest.json"}
    assert done.compared.texts > 10
    assert done.compared.longest > 100
    assert 0 <= done.compared.difference < 1e-4
    assert is_headwise_folder(done.folder, EXPORTED)
    for name in ("encoder.onnx", "readout.onnx"):
        content = (done.folder / name).read_bytes()
        assert not re.search(rb"\.py|site-packages|/home|/tmp|headwise/", content)


def test_an_exported_model_is_replaced_where_that_is_asked_for(
    make_model, tmp_path, needs_onnx, graphs_once
):
    folder = tmp_path / "x"
    model = make_model("ms-transformer")
    write_exported(model, folder)
    with pytest.raises(ExportError, match=r"HW954.*add --overwrite"):
        write_exported(model, folder)
    with torch.no_grad():
        model.head.layers[-1].bias += torch.tensor([3.0, 0.0, 0.0])
    (folder / "base.json").write_text("{}")  # of a model with a base
    (folder / ".saving").mkdir()  # of an export that was killed
    (folder / ".saving" / "config.json").write_text("{}")
    write_exported(model, folder, overwrite=True)
    np.testing.assert_allclose(
        load_exported(folder).predict_proba(["w1"]), model.predict_proba(["w1"]), atol=1e-6
    )
    assert {path.name for path in folder.iterdir()} == FILES


def test_files_of_something_else_are_not_touched(trained, make_model, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    model = make_model("ms-transformer")
    for folder in (tmp_path, tmp_path / "notes.txt", trained("classify")[0]):
        before = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        with pytest.raises(ExportError, match=r"HW954.*files of something else"):
            write_exported(model, folder, overwrite=True)
        assert (sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []) == before


def test_what_disagrees_is_not_put_in_place(make_model, tmp_path, monkeypatch, needs_onnx, graphs_once):
    monkeypatch.setattr(compare_module, "_TOLERANCE", -1.0)
    with pytest.raises(ExportError, match=r"HW953.*exported network differs from the model"):
        write_exported(make_model("ms-transformer"), tmp_path / "x")
    assert not list((tmp_path / "x").iterdir())


def test_lstms_are_exported_again_in_the_same_process(make_model, needs_onnx):
    lstm = torch.ops.aten.lstm.input
    key = torch._C.DispatchKey.AutogradCPU  # what PyTorch leaves behind when it has exported one
    lstm._dispatch_cache[key] = lstm.py_kernels[torch._C.DispatchKey.CompositeImplicitAutograd]
    graph = EncoderGraph(make_model("bilstm"), WINDOW)
    inputs = {"vectors": example_input("vectors", 8), "lengths": example_input("lengths", 8)}
    assert onnx_of(graph, inputs, ("states", "summaries"))


@pytest.mark.parametrize("name", [name for name in ENCODERS if name not in EXPORTED_ENCODERS])
def test_encoders_that_are_not_exported(name, tmp_path):
    with pytest.raises(ExportError, match=rf"HW952.*the encoder {name}: .*; exported are ms-transformer"):
        write_exported(model_with(name), tmp_path / "x")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"distances": ("tree",)}, "heads go by dependency trees"),
        ({"distances": ("tree",), "tree_fallback": "word"}, "heads go by dependency trees"),
        ({"distances": ("xl",)}, "prior transformer-xl"),
        ({"priors": ("global-tokens(rotary)",)}, "prior rotary"),
    ],
)
def test_heads_that_are_not_exported(settings, message):
    model = model_with("ms-san", heads=2, head_size=4, feedforward=4, **settings)
    with pytest.raises(ExportError, match=f"HW952.*{message}"):
        check_exportable(model, "text classifier")


def test_other_tasks_and_pretrained_encoders_are_not_exported():
    with pytest.raises(ExportError, match=r"HW952.*a language model: only taggers and models"):
        check_exportable(torch.nn.Linear(1, 1), "language model")  # type: ignore[arg-type]
    model = model_with("transformer", heads=2, head_size=4, feedforward=4)
    model.config = replace(model.config, pretrained=replace(model.config.pretrained, name="some/bert"))
    with pytest.raises(ExportError, match=r"HW952.*pretrained encoder 'some/bert'"):
        check_exportable(model, "text classifier")


def test_a_missing_library_is_told(make_model, tmp_path, monkeypatch):
    load = errors.importlib.import_module

    def missing(name, *package):
        if name.startswith("onnx"):
            raise ImportError(name)
        return load(name, *package)

    monkeypatch.setattr(errors.importlib, "import_module", missing)
    with pytest.raises(
        ExportError, match=r"HW951.*onnx, which is not.*: pip install onnx onnxscript onnxruntime"
    ):
        write_exported(make_model("ms-transformer"), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_what_the_requirements_name_is_what_is_needed():
    """Not what trains; with the versions that the package itself asks for."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert [*export.NEEDED] == [re.match(r"[\w-]+", line)[0] for line in project["dependencies"]]  # type: ignore[index]
    for onnx in (True, False):
        lines = [line for line in export._requirements(onnx=onnx).splitlines() if not line.startswith("#")]
        named = {re.match(r"[\w-]+", line)[0] for line in lines}  # type: ignore[index]
        assert ("onnxruntime" in named) == onnx
        assert "numpy" in named
        assert not {"torch", "scikit-learn", "scipy", "joblib"} & named


def test_one_kind_of_folder_is_not_taken_for_the_other(trained, exported_model):
    (folder, _), (_, target) = trained("classify"), exported_model("classify")
    with pytest.raises(StoreError, match=r"HW502.*this is an exported model, which headwise predict"):
        load_model(target)
    with pytest.raises(StoreError, match=r"HW502.*this is a model folder, not an exported one"):
        load_exported(folder)
    assert json.loads((target / "config.json").read_text())["format"] == "headwise-exported-1"
