"""A state that is damaged, foreign or hostile is refused with a clear error."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import RUN_STATE
from headwise.training.loop import run_epochs
from headwise.training.run_state import RunProgress, load_state, load_tensors, save_state, write_tensors
from headwise.training.settings import TrainConfig

CONFIG = TrainConfig(epochs=2, batch_texts=16, average=0.9)
HUGE = "1" * 5000


@pytest.fixture(scope="module")
def trained(make_objective, tmp_path_factory) -> Path:
    objective, folder = make_objective(), tmp_path_factory.mktemp("trained")
    run_epochs(objective.model, objective, CONFIG, folder)
    return folder


@pytest.fixture
def folder(trained, tmp_path) -> Path:
    """The folder of a run of two epochs."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


def rewrite(path: Path, change: Callable[[dict[str, torch.Tensor], dict[str, str]], Any]) -> None:
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    change(tensors, metadata)
    save_file(tensors, path, metadata)


def refused(make_objective, folder: Path) -> str:
    objective = make_objective(seed=5)
    before = {name: value.clone() for name, value in objective.model.state_dict().items()}
    with pytest.raises(HeadwiseError) as caught:
        run_epochs(objective.model, objective, CONFIG, folder, resume=True)
    assert caught.value.code == "HW402"
    assert all(torch.equal(before[name], value) for name, value in objective.model.state_dict().items())
    return str(caught.value)


def test_round_trip(tmp_path):
    tensors = {"a": torch.arange(6.0).view(2, 3), "random/cpu": torch.get_rng_state()}
    progress = RunProgress(
        epoch=1, batch=3, step=7, loss=0.1, best_epoch=0, history=[{"epoch": 1, "x": 0.5}]
    )
    save_state(tmp_path / "s", tensors, progress, {"a": (1, 2)})
    loaded, counters = load_state(tmp_path / "s", {"a": (1, 2)})
    assert counters == progress
    assert counters.best_score == float("-inf")
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())


def test_what_is_loaded_does_not_change_with_the_file(tmp_path):
    save_state(tmp_path / "s", {"a": torch.ones(1000)}, RunProgress(), {})
    loaded, _ = load_state(tmp_path / "s", {})
    with open(tmp_path / "s", "r+b") as file:  # in place, as a mapped file would show
        file.seek(-4000, 2)
        file.write(b"\0" * 4000)
    assert loaded["a"].sum() == 1000


@pytest.mark.parametrize("keep", [0, 7, 8, 100, -1])
def test_truncated(make_objective, folder, keep):
    content = (folder / RUN_STATE).read_bytes()
    (folder / RUN_STATE).write_bytes(content[:keep])
    assert RUN_STATE in refused(make_objective, folder)


def test_a_folder_of_that_name(make_objective, folder):
    (folder / RUN_STATE).unlink()
    (folder / RUN_STATE).mkdir()
    refused(make_objective, folder)


def change_counter(**changes: Any):
    def change(tensors, metadata):
        metadata["progress"] = json.dumps({**json.loads(metadata["progress"]), **changes})

    return change


def drop_counter(name: str):
    def change(tensors, metadata):
        counters = json.loads(metadata["progress"])
        del counters[name]
        metadata["progress"] = json.dumps(counters)

    return change


METADATA = {
    "no format": lambda _, m: m.pop("format"),
    "other format": lambda _, m: m.update(format="headwise-training-state-9"),
    "no progress": lambda _, m: m.pop("progress"),
    "no identity": lambda _, m: m.pop("identity"),
    "no JSON": lambda _, m: m.update(progress="{"),
    "identity no JSON": lambda _, m: m.update(identity="nonsense"),
    "identity no table": lambda _, m: m.update(identity="3"),
    "no table": lambda _, m: m.update(progress="[1]"),
    "huge number": lambda _, m: m.update(progress='{"epoch": ' + HUGE + "}"),
    "nested": lambda _, m: m.update(progress="[" * 100_000),
    "missing counter": drop_counter("step"),
    "missing history": drop_counter("history"),
    "unknown counter": change_counter(more=1),
    "text": change_counter(epoch="2"),
    "negative": change_counter(batch=-1),
    "future best": change_counter(best_epoch=7),
    "history of numbers": change_counter(history=[1, 2]),
    "history too short": change_counter(history=[]),
    "no history": change_counter(history=None),
    "best of text": change_counter(best_score="high"),
}


@pytest.mark.parametrize("change", METADATA.values(), ids=METADATA)
def test_bad_counters(make_objective, folder, change):
    rewrite(folder / RUN_STATE, change)
    assert RUN_STATE in refused(make_objective, folder)


VECTORS = "embedding.vectors.weight"
TENSORS = {
    "no weights": lambda t, _: t.pop(f"model/{VECTORS}"),
    "other weights": lambda t, _: t.update({"model/other": torch.zeros(2)}),
    "unknown": lambda t, _: t.update(other=torch.zeros(2)),
    "shape": lambda t, _: t.update({f"model/{VECTORS}": torch.zeros(2, 8)}),
    "type": lambda t, _: t.update({f"model/{VECTORS}": t[f"model/{VECTORS}"].double()}),
    "one moment missing": lambda t, _: t.pop(f"optimizer/{VECTORS}/exp_avg"),
    "moment of another shape": lambda t, _: t.update({f"optimizer/{VECTORS}/exp_avg_sq": torch.zeros(1)}),
    "strange moment": lambda t, _: t.update({f"optimizer/{VECTORS}/more": torch.zeros(1)}),
    "no average": lambda t, _: t.pop(f"average/{VECTORS}"),
    "no generator": lambda t, _: t.pop("random/cpu"),
    "generator of another size": lambda t, _: t.update({"random/cpu": torch.zeros(3, dtype=torch.uint8)}),
}


@pytest.mark.parametrize("change", TENSORS.values(), ids=TENSORS)
def test_bad_tensors(make_objective, folder, change):
    rewrite(folder / RUN_STATE, change)
    assert RUN_STATE in refused(make_objective, folder)


def test_an_impossible_generator(make_objective, folder):
    rewrite(folder / RUN_STATE, lambda t, _: t["random/cpu"].fill_(255))
    objective = make_objective()
    with pytest.raises(HeadwiseError, match="random"):
        run_epochs(objective.model, objective, CONFIG, folder, resume=True)


def test_a_generator_of_another_device_is_no_matter(make_objective, folder):
    rewrite(folder / RUN_STATE, lambda t, _: t.update({"random/cuda": torch.zeros(16, dtype=torch.uint8)}))
    objective = make_objective()
    assert run_epochs(objective.model, objective, CONFIG, folder, resume=True).finished


BEST = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "missing": lambda path: path.unlink(),
    "another model's": lambda path: save_file({"a": torch.zeros(1)}, path),
    "the state": lambda path: shutil.copy(path.parent / RUN_STATE, path),
}


@pytest.mark.parametrize("change", BEST.values(), ids=BEST)
def test_damaged_best_weights(make_objective, folder, change):
    (path,) = folder.glob("best-*.safetensors")
    change(path)
    objective = make_objective()
    with pytest.raises(HeadwiseError, match=path.name) as caught:
        run_epochs(objective.model, objective, CONFIG, folder, resume=True)
    assert caught.value.code == "HW402"


def test_a_state_of_an_older_version_names_its_kernels_and_is_resumed(tmp_path):
    path, identity = tmp_path / "state.safetensors", {"texts": "t"}
    save_state(path, {"a": torch.arange(2)}, RunProgress(step=3), identity)
    tensors, metadata = load_tensors(path)
    assert "kernels" not in metadata
    write_tensors(tensors, path, {**metadata, "kernels": json.dumps({"banded_kernels": False})})
    loaded, progress = load_state(path, identity)
    assert loaded["a"].tolist() == [0, 1]
    assert progress.step == 3
