"""Language models from files: how they are read and cut, what is saved, and what comes back."""

import json
import math
import random
import zipfile
from pathlib import Path

import pytest
import torch

from headwise.app.configuration import build_config, read_preset
from headwise.app.training_plan import RunData, TrainingPlan
from headwise.app.workflows.train import fit_evaluate_save
from headwise.artifacts import load_model, read_info
from headwise.artifacts.model_folder import StoreError
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.errors import DataError
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.models.tasks import find_task
from headwise.models.tasks.language_model_task import frequencies

TEXT = "the cat sat on the mat\nthe dog ate the cat\n" * 30


def recipe_of(encoder="bp-transformer", **sections):
    sizes = {"width": 16, "heads": 2, "head_size": 8, "layers": 2, "feedforward": 16}
    sides = {"k": 2, "causal": True} if encoder == "bp-transformer" else {}
    sides |= {"priors": ["forward"], "classification_node": False} if encoder == "transformer" else {}
    layer = {
        "model": {"task": "language-model"},
        "encoder": {"name": encoder, **sizes, **sides},
        "language": {"context": 16},
        "train": {"epochs": 2, "score": "loss", "batch_texts": 8, "learning_rate": 0.01},
    }
    return build_config(layer, sections)


def read(train: str, recipe, dev: str | None = None, test: str | None = None) -> DataParts:
    """The parts of the files, for the task of the recipe."""
    kind = find_task(recipe.model.task).item_type_for(recipe.model)
    return read_parts(kind, train, dev, test, recipe.data, recipe.split)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return str(path)


def test_a_file_is_cut_at_its_end(file):
    texts = read(file, recipe_of(split={"dev": 0.1, "test": 0.2}))
    parts = (texts.train, texts.dev, texts.test)
    assert [len(part) for part in parts] == [903, 129, 258]
    assert "".join(part.symbols.decode(part.ids) for part in parts) == TEXT
    assert "129 for dev and 258 for test" in " ".join(texts.notes)
    assert len(read(file, recipe_of(split={"test": 0})).test) == 0


def test_parts_as_files(file, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("the fox\n" * 20)
    texts = read(file, recipe_of(), str(other))
    assert (len(texts.dev), texts.dev.unknown) == (160, 40)  # f and x
    assert len(texts.train) + len(texts.test) == len(TEXT)
    assert any("dev: 40 characters that the vocabulary does not have" in note for note in texts.notes)
    both = read(file, recipe_of(), str(other), str(other))
    assert len(both.train) == len(TEXT)
    # All bytes are known, for there is no symbol for unknown ones, and the next file may have any.
    found = read(file, recipe_of(language={"unit": "bytes"}), str(other), str(other))
    assert found.dev.symbols.decode(found.dev.ids) == "the fox\n" * 20
    assert len(set(found.train.symbols.encode(bytes(range(256))))) == 256


def test_enwik8_in_small(tmp_path):
    """The recipe's parts of the file as it is published: 90, 5 and 5 of a hundred; all bytes are known."""
    data = random.Random(0).randbytes(2000)
    with zipfile.ZipFile(tmp_path / "enwik8.zip", "w") as zipped:
        zipped.writestr("enwik8", data)
    recipe = build_config(read_preset(Path("enwik8-bp-transformer")))
    texts = read(str(tmp_path / "enwik8.zip"), recipe)
    parts = (texts.train, texts.dev, texts.test)
    assert [len(part) for part in parts] == [1800, 100, 100]
    names = texts.train.symbols.names
    assert sorted(map(ord, names)) == list(range(256))
    assert b"".join(names[i].encode("latin-1") for part in parts for i in part.ids) == data


def test_words(file):
    texts = read(file, recipe_of(language={"unit": "words", "max_symbols": 6}))
    assert len(texts.train.symbols) == 6
    assert {"the", "<eos>", "<unk>"} < set(texts.train.symbols.names)
    assert texts.train.unknown > 0


def test_errors(file, tmp_path):
    with pytest.raises(HeadwiseError, match="there are no dev symbols"):
        read(file, recipe_of(split={"dev": 0}))
    short = tmp_path / "short.txt"
    short.write_text("ab")
    with pytest.raises(DataError, match="too few to cut off"):
        read(str(short), recipe_of())
    texts = read(file, recipe_of())
    recipe = build_config(recipe_of().to_json(), {"encoder": {"causal": False}})
    plan = TrainingPlan(find_task("language-model"), RunData(texts), recipe)
    with pytest.raises(ConfigError, match="causal = true"):
        fit_evaluate_save(plan, tmp_path)


@pytest.mark.parametrize("encoder", ["bp-transformer", "transformer"])
@pytest.mark.parametrize("unit", ["characters", "words", "bytes"])
def test_a_model_and_its_folder(file, tmp_path, encoder, unit):
    recipe = recipe_of(encoder, language={"unit": unit})
    texts = read(file, recipe)
    outcome = fit_evaluate_save(
        TrainingPlan(find_task("language-model"), RunData(texts), recipe), tmp_path / "m"
    )
    loaded = load_model(tmp_path / "m")
    assert loaded.config == outcome.fitted.model.config
    assert loaded.symbols == outcome.fitted.model.symbols
    for name, weights in outcome.fitted.model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], weights)
    scores = loaded.score(texts.test)
    assert scores == outcome.test
    assert torch.equal(loaded.next_logits([0, 1]), outcome.fitted.model.next_logits([0, 1]))
    info = read_info(tmp_path / "m")
    assert info["metrics"]["test"] == json.loads(json.dumps(scores.to_json()))
    assert info["data"]["train"]["texts"] == len(texts.train)
    assert not (tmp_path / "m" / "training").exists()
    card = (tmp_path / "m" / "README.md").read_text()
    assert "# A headwise language model" in card
    assert "`headwise sample`" in card
    assert f"{len(texts.train):,}" in card
    assert ("perplexity per word" if unit == "words" else "bits per") in card
    if unit == "characters":  # it has learned something
        assert outcome.test.bits < outcome.systems["baseline"].scores["bits_per_character"]


def test_frequencies(file):
    texts = read(file, recipe_of())
    names, rest = texts.train.symbols.names, TEXT[: len(texts.train)]
    chances = {name: (rest.count(name) + 1) / (len(rest) + len(names)) for name in names if name != "<unk>"}
    last = TEXT[-len(texts.test) :]
    nats = -sum(math.log(chances[name]) for name in last)
    assert frequencies(texts.train, texts.test).nats == pytest.approx(nats)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("config.json", lambda data: data["model"]["encoder"].update(causal=False), "causal = true"),
        ("config.json", lambda data: data["model"]["language"].update(unit="words"), "needs two or more"),
        ("config.json", lambda data: data["model"]["language"].update(context=10**12), "is possible"),
        ("vocabulary.json", lambda data: data.update(counts=[1]), "damaged"),
        ("vocabulary.json", lambda data: data["names"].append("new"), "damaged"),
    ],
)
def test_a_folder_that_makes_no_sense(file, tmp_path, name, change, message):
    import hashlib

    recipe = recipe_of(train={"epochs": 1})
    plan = TrainingPlan(find_task("language-model"), RunData(read(file, recipe)), recipe)
    fit_evaluate_save(plan, tmp_path / "m")
    path, manifest = tmp_path / "m" / name, tmp_path / "m" / "manifest.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    entries = json.loads(manifest.read_text())
    content = path.read_bytes()
    entries["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    manifest.write_text(json.dumps(entries))
    with pytest.raises(StoreError, match=message):
        load_model(tmp_path / "m")
