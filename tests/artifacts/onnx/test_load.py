"""Loading what was exported, damaged or forged: clear errors, and never another model."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from headwise.artifacts import StoreError
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.artifacts.onnx import onnx_runner as runner_module
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.artifacts.onnx.onnx_load import exported_info, load_exported
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import EXPORTED

from .conftest import ENGINES


@pytest.fixture
def copied(exported_model, tmp_path) -> Path:
    """What was exported of a classifier with base and linear_model, to be spoilt."""
    return Path(shutil.copytree(exported_model("classify")[1], tmp_path / "copied"))


def sign(folder: Path) -> None:
    """Make the manifest right for the files as they are, as whoever forges a model would."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        content = (folder / name).read_bytes()
        manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def forge(folder: Path, name: str, change) -> None:
    data = json.loads((folder / name).read_text())
    change(data)
    (folder / name).write_text(json.dumps(data))
    sign(folder)


READ = (
    "config.json",
    "vocabulary.json",
    "labels.json",
    "calibration.json",
    "base.json",
    "tables.safetensors",
    "network.safetensors",
)


@pytest.mark.parametrize("name", [*READ, "encoder.onnx", "readout.onnx"])
def test_damage_is_found(copied, name):
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(bytes(content))
    with pytest.raises(StoreError, match=rf"HW504.*{name}"):
        load_exported(copied)
    (copied / name).write_bytes(bytes(content[:-1]))
    with pytest.raises(StoreError, match=rf"HW504.*{name}"):
        load_exported(copied)
    (copied / name).unlink()
    with pytest.raises(StoreError, match=rf"HW503.*{name}"):
        load_exported(copied)


def test_without_its_manifest_it_is_incomplete(copied):
    (copied / "manifest.json").unlink()
    assert is_headwise_folder(copied, EXPORTED)
    with pytest.raises(StoreError, match=r"HW503.*Export again or copy the whole folder"):
        load_exported(copied)


def test_no_such_folder(tmp_path):
    assert not is_headwise_folder(tmp_path / "nowhere", EXPORTED)
    with pytest.raises(StoreError, match="HW501"):
        load_exported(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="HW502"):
        load_exported(tmp_path)


def test_another_version(copied):
    forge(copied, "manifest.json", lambda data: data.update(format="headwise-exported-9"))
    with pytest.raises(StoreError, match=r"HW508.*export the model again"):
        load_exported(copied)


FORGED = {
    "task": lambda m: m.update(task="tag"),
    "no task": lambda m: m.update(task=3),
    "tokenizer": lambda m: m.update(tokenizer="none such"),
    "unknown": lambda m: m.update(more=1),
    "windows": lambda m: m["windows"].update(words=-1),
    "overlap": lambda m: m["windows"].update(words=5, overlap=5),
    "long": lambda m: m["windows"].update(long="never"),
    "base size": lambda m: m["base"].update(size=7),
    "no base": lambda m: m.update(base={"size": 0, "subwords": 0, "trained": False}),
    "huge base": lambda m: m["base"].update(subwords=1 << 60),
    "more subwords": lambda m: m["base"].update(subwords=65),
    "not trained": lambda m: m["base"].update(trained=not m["base"]["trained"]),
    "vectors": lambda m: m["network"].update(vectors=5),
    "no vectors": lambda m: m["network"].update(vectors=0),
    "width": lambda m: m["network"].update(width=0),
    "summary": lambda m: m["network"].update(summary=not m["network"]["summary"]),
    "linear_model words": lambda m: m["linear_model"].update(words=3),
    "linear_model kept": lambda m: m["linear_model"].update(kept=4),
    "linear_model vectors": lambda m: m["linear_model"].update(vectors=3),
    "linear_model form": lambda m: m["linear_model"].update(form=not m["linear_model"]["form"]),
    "linear_model reach": lambda m: m["linear_model"].update(reach=99),
    "list": lambda m: m.update(linear_model=[1]),
}


GRAPHS_ALONE = ("summary",)  # what is a setting of the graphs alone


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FORGED)
def test_settings_that_contradict_the_rest(copied, name, engine):
    if engine == "auto" and name in GRAPHS_ALONE:
        pytest.skip("nothing reads this setting")
    forge(copied, "config.json", lambda data: FORGED[name](data["model"]))
    with pytest.raises(HeadwiseError) as raised:
        load_exported(copied, engine=engine)
    assert raised.value.code in ("HW507", "HW509", "HW956"), raised.value


@pytest.mark.parametrize(
    ("file", "change", "code"),
    [
        ("labels.json", lambda d: d.update(labels=["a"]), "HW507"),
        ("labels.json", lambda d: d.update(labels=["a", "b", "c"]), "HW509"),
        ("labels.json", lambda d: d.update(labels=3), "HW507"),
        ("calibration.json", lambda d: d.update(temperature=0), "HW510"),
        ("calibration.json", lambda d: d.pop("linear_weight"), "HW510"),
        ("calibration.json", lambda d: d.update(thresholds=[1]), "HW510"),
        ("vocabulary.json", lambda d: d["words"].append("more"), "HW507"),
        ("vocabulary.json", lambda d: (d["words"].append("more"), d["counts"].append(1)), "HW509"),
        ("vocabulary.json", lambda d: (d["words"].append("more"), d["counts"].append(0)), "HW507"),
        ("base.json", lambda d: d["words"].pop(), "HW509"),
        ("base.json", lambda d: d.update(words=["a", "a"]), "HW507"),
        ("base.json", lambda d: d.update(words=3), "HW507"),
    ],
)
def test_files_that_contradict_the_rest(copied, file, change, code):
    forge(copied, file, change)
    with pytest.raises(StoreError) as raised:
        load_exported(copied)
    assert raised.value.code == code, raised.value


FORGED_NETWORKS = {
    "no table": lambda n: ["ms-transformer"],
    "other task": lambda n: {**n, "task": "regress"},
    "wider": lambda n: {**n, "encoder": {**n["encoder"], "width": 16}},
    "no base": lambda n: {**n, "base": {**n["base"], "name": ""}},
    "unknown": lambda n: {**n, "more": 1},
    "huge": lambda n: {**n, "encoder": {**n["encoder"], "heads": 1 << 40}},
}


@pytest.mark.parametrize("name", FORGED_NETWORKS)
def test_a_network_that_contradicts_the_rest(copied, name):
    forge(copied, "config.json", lambda data: data.update(network=FORGED_NETWORKS[name](data["network"])))
    with pytest.raises(StoreError) as raised:
        load_exported(copied)
    assert raised.value.code in ("HW507", "HW509"), raised.value


def test_weights_of_the_network_that_cannot_be(copied):
    path = copied / "network.safetensors"
    weights = load_file(path)
    name = next(name for name in weights if name.endswith("query.weight"))
    for change, code in ((np.nan, "HW510"), (None, "HW509")):
        forged = {**weights, name: weights[name].astype(np.float32) * (change or 1)}
        if change is None:
            del forged[name]
        save_file(forged, path)
        sign(copied)
        with pytest.raises(StoreError, match=code):
            load_exported(copied)


@pytest.mark.parametrize("what", ["nan", "shape", "type", "more", "less", "garbage"])
def test_tables_that_cannot_be(copied, what):
    path = copied / "tables.safetensors"
    tables = load_file(path)
    if what == "nan":
        tables["linear_model.bias"] = np.full_like(tables["linear_model.bias"], np.nan)
    elif what == "shape":
        tables["base.scales"] = tables["base.scales"][1:].copy()
    elif what == "type":
        tables["base.values"] = tables["base.values"].astype(np.int32)
    elif what == "more":
        tables["strange"] = np.zeros(1, dtype=np.float32)
    elif what == "less":
        del tables["base.weights"]
    save_file(tables, path)
    if what == "garbage":
        path.write_bytes(b"\xff" * 100)
    sign(copied)
    with pytest.raises(StoreError, match="HW510" if what == "nan" else "HW509"):
        load_exported(copied)


@pytest.mark.parametrize("name", ["encoder.onnx", "readout.onnx"])
def test_graphs_that_cannot_be_run(copied, name):
    second = {"encoder.onnx": "readout.onnx", "readout.onnx": "encoder.onnx"}[name]
    for content in (b"", b"no graph at all", (copied / second).read_bytes()):
        (copied / name).write_bytes(content)
        sign(copied)
        with pytest.raises(ExportError, match=rf"HW956.*{name}"):
            load_exported(copied, engine="onnxruntime")


def test_a_graph_that_reads_other_files_is_refused(copied, tmp_path, monkeypatch):
    onnx = pytest.importorskip("onnx")
    (tmp_path / "secret").write_bytes(b"\0" * 64)
    monkeypatch.chdir(tmp_path)
    graph = onnx.load(copied / "readout.onnx")
    tensor = next(
        initializer
        for initializer in graph.graph.initializer
        if len(initializer.raw_data) == 0 or initializer.dims
    )
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "secret"
    (copied / "readout.onnx").write_bytes(graph.SerializeToString())
    sign(copied)
    with pytest.raises(ExportError, match=r"HW956.*readout.onnx.*it names other files"):
        load_exported(copied, engine="onnxruntime")


def test_links_and_huge_files_are_refused(copied, tmp_path):
    (copied / "encoder.onnx").rename(tmp_path / "elsewhere")
    (copied / "encoder.onnx").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="HW505"):
        load_exported(copied)


def test_a_text_that_is_too_long_is_told(pair_of, monkeypatch):
    (_, exported), (_, windows) = map(pair_of, ("ms-transformer", "ms-transformer, windows"))
    monkeypatch.setattr(runner_module, "MOST_WORDS", 20)
    with pytest.raises(ExportError, match=r"HW955.*a text of 21 words.*reads at most 20 at once"):
        exported.predict_proba(["w1 " * 21])
    assert windows.predict_proba(["w1 " * 21]).shape == (1, 3)


def test_what_is_kept_of_the_folder(exported_model):
    info = exported_info(exported_model("classify")[1])
    assert info["training"] == {"recipe": {"data": {"text_column": "text"}}}
    assert info["metrics"] == {"dev": {}, "test": {"unknown_words": 0.0}}
