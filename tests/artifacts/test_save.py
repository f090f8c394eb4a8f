"""What is saved is loaded; what is in the way stays; a killed save leaves no mixture."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from headwise.artifacts import StoreError, load_model, read_info
from headwise.artifacts import save as save_module
from headwise.core.errors import HeadwiseError
from headwise.nn.encoders import ENCODERS
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.vocabulary import Vocabulary
from headwise.training.fit import round_to_half

TEXTS = ["a b", "", "日本 größe 👍 unseen", "a " * 50]
FILES = {
    *("model.safetensors", "config.json", "vocabulary.json", "labels.json", "calibration.json"),
    *("environment.json", "data.json", "training.json", "metrics.json", "README.md", "manifest.json"),
}


def same(first: TextClassifierModel, second: TextClassifierModel, predictions: list | None = None) -> bool:
    """Whether two models are the same; `predictions`: of the first, where they are there already."""
    return (
        (predictions or list(first.predict(TEXTS))) == list(second.predict(TEXTS))
        and first.config == second.config
        and first.labels == second.labels
        and first.temperature == second.temperature
        and first.features.vocabulary == second.features.vocabulary
    )


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("readout", [None, "attentive,max"])
def test_round_trip(make_model, save, encoder, readout):
    model = make_model(encoder=encoder, readout=readout)
    loaded = load_model(save(model))
    assert same(model, loaded)
    assert not loaded.training
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), loaded.parameters(), strict=True))
    assert {p.device.type for p in (*loaded.parameters(), *loaded.buffers())} == {"cpu"}


def test_round_trip_with_every_optional_part(make_model, save):
    model = make_model(
        positions="learned", max_positions=60, classification_node=False, bias=True, readout="max"
    )
    assert same(model, load_model(save(model)))


def test_round_trip_of_relative_positions(make_model, save):
    model = make_model(encoder="ms-san", heads=4, distances=("shaw", "xl"), shaw_span=3)
    assert sum("learned" in name for name, _ in model.named_parameters()) == 2 * (2 + 3)  # layers, tables
    assert same(model, load_model(save(model)))


def test_a_loaded_model_can_be_trained_and_saved_again(make_model, save, tmp_path):
    loaded = load_model(save(make_model()))
    optimizer = torch.optim.AdamW(loaded.parameters(), lr=0.1)
    loaded.train()(_batch(loaded)).sum().backward()
    optimizer.step()
    assert not same(loaded.eval(), load_model(tmp_path / "model"))
    assert same(loaded, load_model(save(loaded, tmp_path / "again")))


def _batch(model: TextClassifierModel):
    from headwise.nn.embeddings.encoded_batches import batch_of

    return batch_of(model.features.encode(TEXTS))


def test_frozen_vectors_stay_frozen(make_model, save):
    model = make_model()
    config = replace(model.config, words=replace(model.config.words, train_vectors=False))
    frozen = TextClassifierModel(config, model.features.vocabulary, model.labels)
    assert not load_model(save(frozen)).embedding.vectors.weight.requires_grad


def test_the_files(make_model, save):
    folder = save(
        make_model(),
        data={"train": {"sha256": "ab", "texts": 3, "labels": {"x": 1, "y": 2}}},
        training={"recipe": {"train": {"seed": 17}}, "history": [{"epoch": 1}]},
        metrics={"calibration": {"expected_calibration_error_before": 0.5, "temperature": 99}},
    )
    assert names(folder) == FILES
    info = read_info(folder)
    assert set(info) == {"config", "labels", "calibration", "environment", "data", "training", "metrics"}
    assert info["calibration"] == {
        "expected_calibration_error_before": 0.5,
        "temperature": 1.25,
        "encoder_weight": 1.0,
        "linear_weight": 0.0,
        "linear_share": 0.0,
    }
    assert info["data"]["train"]["labels"] == {"x": 1, "y": 2}
    assert info["environment"]["seed"] == 17
    assert info["environment"]["torch"] == torch.__version__
    assert info["labels"] == {"labels": ["x", "y"]}
    assert not any("pickle" in path.suffix or path.suffix in (".pt", ".bin") for path in folder.iterdir())


def test_equal_models_give_equal_files(make_model, save, tmp_path):
    first, second = (save(make_model(), tmp_path / name) for name in "ab")
    assert all((first / name).read_bytes() == (second / name).read_bytes() for name in FILES)


def test_other_users_may_read_the_weights_as_they_may_the_rest(folder):
    assert len({path.stat().st_mode for path in folder.iterdir()}) == 1


def test_loading_draws_no_random_numbers(make_model, save):
    for encoder in ENCODERS:
        folder = save(make_model(encoder=encoder))
        before = torch.get_rng_state()
        load_model(folder)
        assert torch.equal(before, torch.get_rng_state())


def test_loading_does_not_import_the_compiler_of_torch(make_model, save, tmp_path):
    # It takes 3 s. In a fresh process, as other tests may have imported it.
    code = """
import sys
from headwise.artifacts import load_model
for folder in sys.argv[1:]:
    load_model(folder)
    if "torch._dynamo" in sys.modules:
        sys.exit(folder)
"""
    settings = {"positions": "learned", "max_positions": 9, "heads": 4, "distances": ("shaw", "xl")}
    folders = [save(make_model(encoder=name, **settings), tmp_path / name) for name in ENCODERS]
    done = subprocess.run(
        [sys.executable, "-c", code, *folders], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_half_precision(make_model, save, tmp_path):
    model = make_model(width=64)
    full, half = save(model), save(model, tmp_path / "half", dtype="float16")
    stored = load_file(half / "model.safetensors")
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    size = (full / "model.safetensors").stat().st_size
    assert (half / "model.safetensors").stat().st_size < 0.6 * size
    loaded = load_model(half)
    assert {p.dtype for p in loaded.parameters()} == {torch.float32}
    np.testing.assert_allclose(loaded.predict_proba(TEXTS), model.predict_proba(TEXTS), atol=0.01)


def test_weights_that_fit_into_16_bits_take_no_more(make_model, save):
    model = make_model(width=64)
    round_to_half(model)
    with torch.no_grad():
        model.head.layers[1].bias[0] = 0.1
    folder = save(model)
    stored = load_file(folder / "model.safetensors")
    wide = {name for name, tensor in stored.items() if tensor.dtype == torch.float32}
    assert "head.layers.1.bias" in wide
    assert not wide & {name for name, _ in model.named_parameters()} - {"head.layers.1.bias"}
    loaded = load_model(folder)
    assert {p.dtype for p in loaded.parameters()} == {torch.float32}
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_too_large_for_half_precision(make_model, save, tmp_path):
    model = make_model()
    with torch.no_grad():
        model.head.layers[1].bias[0] = 70_000.0
    with pytest.raises(StoreError, match=r"head.layers.1.bias.*float16") as caught:
        save(model, dtype="float16")
    assert caught.value.code == "HW510"
    assert not (tmp_path / "model").exists()


def test_unknown_dtype(make_model, save):
    with pytest.raises(StoreError, match="float32 or float16, got 'int8'"):
        save(make_model(), dtype="int8")


LABELS = [
    ("日本", "größe", "👍🏽", "e\u0301", "\u00e9"),
    ("a|b", "<script>alert(1)</script>", "`", "# x\n- y", "\u202eabc", " ", ""),
    ("\ud800", "\udfff", "x"),  # halves of surrogate pairs, from careless JSON
]


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_characters(make_model, save, labels):
    assert load_model(save(make_model(labels=labels))).labels == labels


def test_what_json_cannot_tell_apart_is_not_saved(make_model, save, tmp_path):
    with pytest.raises(StoreError, match="labels") as caught:  # two halves become one character
        save(make_model(labels=("\ud83d\udc4d", "x")))
    assert caught.value.code == "HW507"
    assert names(tmp_path / "model") == set()


@dataclass
class Numbers:
    accuracy: np.float64
    counts: np.ndarray
    where: Path


def test_plain_data(make_model, save):
    metrics = {
        "test": Numbers(np.float64(0.5), np.array([[1, 2]]), Path("a/b")),
        "loss": float("nan"),
        "best": [float("-inf"), np.float32(np.inf), np.int64(3), np.bool_(True), None, (1, 2)],
        "größe": "\ud800",
    }
    assert read_info(save(make_model(), metrics=metrics))["metrics"] == {
        "test": {"accuracy": 0.5, "counts": [[1, 2]], "where": "a/b"},
        "loss": None,
        "best": [None, None, 3, True, None, [1, 2]],
        "größe": "\ud800",
    }


def test_data_that_json_cannot_say(make_model, save, tmp_path):
    with pytest.raises(StoreError, match=r"metrics\.json.*set") as caught:
        save(make_model(), metrics={"a": {1, 2}})
    assert caught.value.code == "HW507"
    assert not (tmp_path / "model").exists()


def test_what_could_not_be_loaded_is_not_saved(make_model, save, monkeypatch):
    monkeypatch.setitem(save_module.LIMITS, "training.json", 1000)
    with pytest.raises(StoreError, match=r"training\.json") as caught:
        save(make_model(), training={"history": list(range(1000))})
    assert caught.value.code == "HW506"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite(make_model, save, tmp_path, value):
    model = make_model()
    with torch.no_grad():
        model.encoder.node.state[3] = value
    with pytest.raises(StoreError, match=r"encoder\.node\.state") as caught:
        save(model)
    assert caught.value.code == "HW510"
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 0.0, -1.0])
def test_an_impossible_temperature_leaves_the_old_model(make_model, save, tmp_path, value):
    old, new = make_model(0), make_model(1)
    folder = save(old)
    new.temperature = value
    with pytest.raises(HeadwiseError):
        save(new)
    assert same(old, load_model(folder))
    assert names(folder) == FILES


def test_a_model_that_is_not_what_its_configuration_says(make_model, save, tmp_path):
    model = make_model()
    model.head.layers[1] = torch.nn.Linear(8, 7)
    with pytest.raises(StoreError, match=r"head\.layers\.1\.weight"):
        save(model)


# What may be in the folder already


def test_an_older_model_is_replaced(make_model, save):
    save(make_model(0))
    folder = save(make_model(1))
    assert same(make_model(1), load_model(folder))
    assert names(folder) == FILES


def test_the_state_of_the_run_and_files_of_the_user_stay(make_model, save, tmp_path):
    run = tmp_path / "model" / "training"
    run.mkdir(parents=True)
    (run / "state.safetensors").write_bytes(b"state")
    folder = save(make_model(0))
    (folder / "notes.txt").write_text("mine")
    save(make_model(1))
    assert (run / "state.safetensors").read_bytes() == b"state"
    assert (folder / "notes.txt").read_text() == "mine"
    assert same(make_model(1), load_model(folder))


def test_an_edited_card_stays_beside_the_new_one(make_model, save):
    folder = save(make_model(0))
    for number in (1, 2):
        (folder / "README.md").write_text(f"edited {number}")
        assert load_model(folder)  # editing it is no damage
        save(make_model(number))
    assert (folder / "README.edited-1.md").read_text() == "edited 1"
    assert (folder / "README.edited-2.md").read_text() == "edited 2"
    assert "edited" not in (folder / "README.md").read_text()
    save(make_model(0))
    assert names(folder) == FILES | {"README.edited-1.md", "README.edited-2.md"}


@pytest.mark.parametrize(
    "content",
    [
        {"thesis.doc": "x"},
        {"config.json": '{"model_type": "bert"}', "model.safetensors": "x"},
        {"manifest.json": '{"name": "web app"}'},
        {"manifest.json": "not JSON", "config.json": "[]"},
        {"training": "a file of this name", "x": ""},
    ],
)
def test_a_folder_of_other_files_is_left_alone(make_model, save, tmp_path, content):
    folder = tmp_path / "model"
    folder.mkdir()
    for name, text in content.items():
        (folder / name).write_text(text)
    with pytest.raises(StoreError, match="choose another") as caught:
        save(make_model())
    assert caught.value.code == "HW511"
    assert {path.name: path.read_text() for path in folder.iterdir()} == content


def test_a_file_in_the_way(make_model, save, tmp_path):
    (tmp_path / "model").write_text("mine")
    with pytest.raises(StoreError) as caught:
        save(make_model())
    assert caught.value.code == "HW501"
    with pytest.raises(StoreError) as caught:
        save(make_model(), tmp_path / "model" / "deeper")
    assert caught.value.code == "HW512"
    assert (tmp_path / "model").read_text() == "mine"


def test_a_staging_folder_of_someone_else_is_left_alone(make_model, save, tmp_path):
    staging = tmp_path / "model" / ".saving"
    staging.mkdir(parents=True)
    (staging / "mine").write_text("x")
    with pytest.raises(StoreError) as caught:
        save(make_model())
    assert caught.value.code == "HW512"
    assert (staging / "mine").read_text() == "x"


def test_a_link_for_a_staging_folder_is_not_followed(make_model, save, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.json").write_text("mine")
    (tmp_path / "model" / ".saving").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="link"):
        save(make_model())
    assert (tmp_path / "elsewhere" / "config.json").read_text() == "mine"


def test_links_in_the_folder_are_replaced_not_written_through(make_model, save, tmp_path):
    folder = save(make_model(0))
    outside = tmp_path / "outside.json"
    outside.write_text("mine")
    (folder / "labels.json").unlink()
    (folder / "labels.json").symlink_to(outside)
    save(make_model(1))
    assert outside.read_text() == "mine"
    assert same(make_model(1), load_model(folder))


def test_the_folder_may_be_a_link(make_model, save, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "model").symlink_to(tmp_path / "real")
    assert same(make_model(), load_model(save(make_model())))


# Interrupted saves


class Killed(BaseException):
    """Stands for a kill: nothing in the code may catch it."""


class Machine:
    """Lets a save do so many things to the disk, and then nothing any more, not even tidy up."""

    NAMES = ("replace", "unlink", "rmdir", "fsync", "mkdir", "chmod")

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: BaseException):
        self.calls, self.limit, self.forever = 0, 10**9, isinstance(error, Killed)
        for name in self.NAMES:
            monkeypatch.setattr(os, name, self.wrap(getattr(os, name), error))

    def wrap(self, function, error):
        def wrapped(*args, **kwargs):
            self.calls += 1
            if self.calls == self.limit or (self.forever and self.calls > self.limit):
                raise error
            return function(*args, **kwargs)

        return wrapped


def interrupted_saves(make_model, tmp_path, machine: Machine, save, *, old: bool):
    """The folder after saves that are stopped at the first, second, ... thing that they do."""
    new, copies = make_model(1), tmp_path / "copies"
    start = save(make_model(0), tmp_path / "old") if old else None
    limit, total = 0, 10**9
    while limit <= total:
        folder = copies / str(limit)
        if start is not None:
            shutil.copytree(start, folder)
        machine.calls, machine.limit = 0, limit or 10**9
        error = None
        try:
            save(new, folder)
        except (Killed, StoreError) as caught:
            error = caught
        total = total if limit else machine.calls
        machine.limit = 10**9
        yield folder, error
        limit += 1
    assert total > 30


@pytest.mark.parametrize("old", [False, True])
def test_killed_at_any_point(make_model, save, tmp_path, monkeypatch, old):
    machine = Machine(monkeypatch, Killed())
    models, seen = {0: make_model(0), 1: make_model(1)}, set()
    predictions = {seed: list(model.predict(TEXTS)) for seed, model in models.items()}
    for folder, _ in interrupted_saves(make_model, tmp_path, machine, save, old=old):
        try:
            loaded = load_model(folder)
        except StoreError as error:
            state = error.code
        else:
            (state,) = (seed for seed, model in models.items() if same(model, loaded, predictions[seed]))
        seen.add(state)
        save(models[1], folder)  # and saving again mends it
        assert same(models[1], load_model(folder), predictions[1])
        assert names(folder) == FILES
    assert seen == ({0, 1, "HW503"} if old else {"HW501", "HW502", "HW503", 1})


def test_a_full_disk_at_any_point(make_model, save, tmp_path, monkeypatch):
    machine = Machine(monkeypatch, OSError(28, "No space left on device"))
    models, untouched = {0: make_model(0), 1: make_model(1)}, 0
    for folder, error in interrupted_saves(make_model, tmp_path, machine, save, old=True):
        if error is None:  # it came while tidying up
            assert same(models[1], load_model(folder))
            continue
        assert isinstance(error, StoreError)
        assert error.code == "HW512"
        assert "No space left" in str(error)
        if (folder / "manifest.json").exists():
            loaded = load_model(folder)
            untouched += same(models[0], loaded)
            assert same(models[0], loaded) or same(models[1], loaded)
        else:
            with pytest.raises(StoreError, match="incomplete"):
                load_model(folder)
    assert untouched > 12  # all the writing comes before the old model is touched


def test_an_exception_leaves_nothing_behind(make_model, save, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    folder = save(make_model(0))
    monkeypatch.setattr(save_module, "save_file", fail)
    with pytest.raises(StoreError, match="No space left"):
        save(make_model(1))
    assert names(folder) == FILES
    assert same(make_model(0), load_model(folder))


def test_a_large_vocabulary_is_fast_enough(tmp_path, save):
    words = ("<unk>", *(f"word{number}" for number in range(20_000)))
    model = TextClassifierModel(ModelConfig(), Vocabulary(words, (1,) * len(words)), ["x", "y"])
    folder = save(model)
    before = os.times()
    load_model(folder)
    after = os.times()
    assert (after.user + after.system) - (
        before.user + before.system
    ) < 2.0  # 0.1 s where nothing else runs
    assert json.loads((folder / "vocabulary.json").read_text())["words"][:2] == ["<unk>", "word0"]
