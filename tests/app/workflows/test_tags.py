import random
from pathlib import Path

import numpy as np
import pytest
import torch

from headwise.app.configuration import build_config
from headwise.app.training_plan import RunData
from headwise.app.training_request import resolve
from headwise.app.workflows.train import fit_evaluate_save
from headwise.artifacts import load_model, read_info
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.models.tasks import find_task
from headwise.nn.networks.tag_model import TagModel
from headwise.training.tagging_objective import TaggingObjective

TAG = find_task("tag")

LAYERS = {
    "model": {"task": "tag"},
    "words": {"vector_size": 16},
    "encoder": {"name": "ms-transformer", "width": 16, "heads": 2, "head_size": 8, "layers": 1},
    "characters": {"features": 8, "vector_size": 8},
    "train": {"epochs": 6, "learning_rate": 0.01, "batch_texts": 8},
}


def sentences(count, seed=0):
    """Names are the words after `mr`; a place is `port` and the word after it."""
    chance = random.Random(seed)
    found = []
    for line in range(count):
        words, tags = [], []
        for _ in range(chance.randint(1, 4)):
            kind = chance.choice(["plain", "name", "place"])
            word = f"w{chance.randint(0, 30)}"
            if kind == "plain":
                words, tags = [*words, word], [*tags, "O"]
            elif kind == "name":
                words, tags = [*words, "mr", word], [*tags, "O", "B-PER"]
            else:
                words, tags = [*words, "port", word], [*tags, "B-LOC", "I-LOC"]
        found.append(TaggedSentence(tuple(words), tuple(tags), line + 1))
    return found


def write(path: Path, own) -> str:
    blocks = ("\n".join(f"{w}\t{t}" for w, t in zip(s.tokens, s.tags, strict=True)) for s in own)
    path.write_text("\n\n".join(blocks) + "\n")
    return str(path)


def read(train: str, recipe, dev: str | None = None, test: str | None = None) -> DataParts:
    """The parts of the files, for the task of the recipe."""
    kind = find_task(recipe.model.task).item_type_for(recipe.model)
    return read_parts(kind, train, dev, test, recipe.data, recipe.split)


@pytest.fixture
def data(tmp_path):
    return read(write(tmp_path / "train.conll", sentences(160)), build_config(LAYERS))


def test_learns_saves_and_is_judged(data, tmp_path):
    plan = resolve(LAYERS).plan(RunData(data))
    outcome = fit_evaluate_save(plan, tmp_path / "model")
    assert outcome.test is not None
    assert outcome.test.entities is not None
    assert outcome.test.entities.f1 > 0.9
    assert outcome.systems["baseline"].scores["entities"]["f1"] > 0.9
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, TagModel)
    assert loaded.tag(data.test) == outcome.fitted.model.tag(data.test)
    info = read_info(tmp_path / "model")
    assert info["metrics"]["test"]["entities"]["f1"] == outcome.test.entities.f1
    assert info["data"]["train"]["sha256"] == data.item_type.fingerprint(data.train).sha256
    assert info["data"]["train"]["labels"]["B-PER"] > 0
    assert not (tmp_path / "model" / "training").exists()


def test_the_file_says_the_scheme_and_is_split_without_overlap(data):
    assert TAG.suggested(data) == {"train": {"score": "f1"}}
    parts = [{own.tokens for own in part} for part in (data.train, data.dev, data.test)]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert sum(map(len, (data.train, data.dev, data.test))) == 160


@pytest.mark.parametrize("crf", [True, False])
def test_dev_scores_by_hand(crf):
    own = sentences(30)
    recipe = build_config(LAYERS, {"tagger": {"crf": crf}})
    torch.manual_seed(0)
    model, _ = TAG.build(DataParts(ITEM_TYPES_BY_TASK["tag"], own, [], []), recipe, None)
    strange = TaggedSentence(("w1", "w2"), ("B-XXX", "O"))
    objective = TaggingObjective(model.eval(), own, [*own[:5], strange])
    scores = objective.evaluate()
    said = model.tag([*own[:5], strange])
    words = [(t, g) for s, o in zip([*own[:5], strange], said, strict=True)
             for t, g in zip(s.tags, o.tags, strict=True)]  # fmt: skip
    assert scores["accuracy"] <= np.mean([t == g for t, g in words]) + 1e-9
    # The loss is that of the sentences whose tags are known.
    known = TaggingObjective(model, own, own[:5]).evaluate()["loss"]
    assert scores["loss"] == pytest.approx(known, rel=1e-5)
    # Of each sentence, as the training loss is.
    assert known == pytest.approx(objective.loss(range(5)).item() / 5, rel=1e-5)


def test_plain_tags_are_chosen_by_accuracy(tmp_path):
    path = tmp_path / "pos.conll"
    path.write_text("\n\n".join(f"the\tDT\nw{n}\tNN\nruns\tVB" for n in range(40)) + "\n")
    data = read(str(path), build_config(LAYERS))
    assert TAG.suggested(data) == {"train": {"score": "accuracy"}}
