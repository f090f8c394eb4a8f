"""Training that starts from a model with a pretrained encoder."""

import pytest
import torch

from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.core.errors import ConfigError

SMALL = {
    "encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1},
    "train": {"epochs": 1, "refit": False, "folds": 0},
    "linear_model": {"kind": "none"},
}
FROZEN = {"train": {**SMALL["train"], "learning_rate": 0.0, "vectors_learning_rate": 0.0}}


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_it_needs_the_same_encoder(tmp_path, bert, task):
    for name, word in (("old", "cat"), ("new", "the")):
        rows = [f"{word} {'ab'[n % 2]} {n},{'xy'[n % 2]}" for n in range(40)]
        if task == "tag":
            rows = [f"{word} O\n{'ab'[n % 2]}{n} {'XY'[n % 2]}\n" for n in range(40)]
        head = ["text,label"] if task == "classify" else []
        (tmp_path / f"{name}.txt").write_text("\n".join([*head, *rows, ""]))
    options = {"format": "csv" if task == "classify" else "columns"}
    rest = {"model": {"task": task}, "data": options}
    encoder = {"pretrained": {"name": str(bert), "overlap": 4}}
    old = tmp_path / "old"
    train_files(tmp_path / "old.txt", old, settings=[rest, SMALL, encoder], baseline=False)
    base = {"base": {"name": str(old)}}
    with pytest.raises(ConfigError, match=r"it has the pretrained encoder .*; add --pretrained"):
        train_files(tmp_path / "new.txt", tmp_path / "m", settings=[rest, base], baseline=False)
    assert not (tmp_path / "m").exists()
    frozen = {"pretrained": {**encoder["pretrained"], "learning_rate": 0.0}}
    settings = [rest, FROZEN, frozen, base]
    train_files(tmp_path / "new.txt", tmp_path / "m", settings=settings, baseline=False)
    before, after = load_model(old).state_dict(), load_model(tmp_path / "m").state_dict()
    for name in before:
        if name.startswith(("encoder.", "embedding.encoder.")):
            torch.testing.assert_close(after[name], before[name])
