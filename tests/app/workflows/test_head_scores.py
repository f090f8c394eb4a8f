"""Pruned heads: scores and size of the smaller model."""

import pytest

from headwise.app.reporter import Reporter
from headwise.app.workflows.head_scores import prune_file
from headwise.app.workflows.train import train_files
from headwise.artifacts import read_info
from headwise.metrics.metric_keys import SELECTIVE_PREDICTION

SMALL = {
    "model": {"task": "classify"},
    "base": {"name": "none"},
    "linear_model": {"kind": "none"},
    "encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1},
    "words": {"vector_size": 8},
    "train": {"epochs": 1, "refit": False},
    "split": {"test": 0.0},
}


def write(path, numbers):
    rows = [f"{'fine' if n % 2 else 'poor'} film {n},{'gb'[n % 2]}" for n in numbers]
    path.write_text("\n".join(["text,label", *rows, ""]))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")
    found = {"train": range(60), "dev": range(60, 90), "new": range(90, 130), "some": range(50, 120)}
    paths = {name: write(folder / f"{name}.csv", numbers) for name, numbers in found.items()}
    train_files(paths["train"], folder / "model", dev=paths["dev"], settings=SMALL, baseline=False)
    return folder, paths


@pytest.mark.parametrize(
    ("file", "judged", "said"),
    [
        ("train", 0, "trained on texts of this file"),
        ("dev", 30, "was selected by these texts"),
        ("new", 40, ""),
        ("some", 30, "40 of 70 texts also occur in"),
    ],
)
def test_scores_of_dev_are_not_of_texts_that_it_has_learnt_from(files, tmp_path, file, judged, said):
    folder, paths = files
    told = list[str]()
    hears = Reporter()
    hears.message = lambda remark: told.append(remark.text)  # type: ignore[method-assign]
    prune_file(folder / "model", paths[file], tmp_path / "o", reporter=hears)
    dev = read_info(tmp_path / "o")["metrics"].get("dev", {})
    assert dev.get("texts", 0) == judged
    assert (SELECTIVE_PREDICTION in dev) == (judged > 0)
    assert any(said in text for text in told) if said else not told


@pytest.mark.parametrize(("file", "judged"), [("text", False), ("other", True)])
def test_heads_of_a_language_model(tmp_path, file, judged):
    (tmp_path / "text").write_text("the cat sat on the mat.\n" * 60)
    (tmp_path / "other").write_text("the mat sat on the cat.\n" * 9)
    sizes = {"width": 8, "heads": 2, "head_size": 4, "layers": 1}
    settings = {
        "model": {"task": "language-model"},
        "encoder": sizes,
        "language": {"context": 16, "windows": 4},
        "train": {"epochs": 1},
    }
    train_files(tmp_path / "text", tmp_path / "model", settings=settings, baseline=False)
    found = prune_file(tmp_path / "model", tmp_path / file, tmp_path / "o")
    assert found.heads == 2
    assert ("dev" in read_info(tmp_path / "o")["metrics"]) == judged
