"""The search over priors: what is tried how far, that it goes on, and what comes out."""

import json
import random
import tomllib

import pytest

from headwise.errors import ConfigError, HeadwiseError
from headwise.recipe import build_recipe
from headwise.verbs.search import LADDER, OWN, _Runs, recipe_text, search_priors

SMALL = {
    "base": {"name": "none"},
    "encoder": {"name": "ms-transformer", "width": 8, "heads": 2, "head_size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "train": {"epochs": 2},
}
FEW = {name: LADDER[name] for name in (OWN, "window 3", "everything", "directions")}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    chosen = random.Random(0)
    path = tmp_path_factory.mktemp("search") / "texts.tsv"
    rows = []
    for number in range(60):
        words = chosen.choices("abcdefgh", k=5)
        rows.append(f"{'yes' if 'a' in words else 'no'}\t{' '.join(words)} {number}")
    path.write_text("label\ttext\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.fixture(scope="module")
def found(texts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return folder, search_priors(texts, folder, seeds=2, settings=[SMALL], ladder=FEW)


def test_the_better_half_goes_on_and_the_own_priors_to_the_end(found, texts):
    folder, search = found
    runs = [json.loads(line) for line in (folder / "search.jsonl").read_text().splitlines()[1:]]
    assert search.rungs == 2
    assert search.finished
    assert sum(run["rung"] == 0 for run in runs) == 8
    last = {run["name"] for run in runs if run["rung"] == 1}
    assert OWN in last
    assert len(last) in (3, 4)
    assert [own.rung for own in search.tried] == sorted((own.rung for own in search.tried), reverse=True)
    best = search.tried[0]
    assert best.accuracy == max(own.accuracy for own in search.tried if own.rung == 1)
    for own in search.tried:
        if own.name != OWN:
            assert own.interval[0] <= own.gain <= own.interval[1]
    assert search.picture.startswith("<svg")
    assert not [path for path in folder.iterdir() if path.is_dir()]


def test_it_goes_on_without_training_again(found, texts):
    folder, search = found
    before = (folder / "search.jsonl").read_bytes()
    again = search_priors(texts, folder, seeds=2, settings=[SMALL], ladder=FEW, minutes=0)
    assert [own.name for own in again.tried] == [own.name for own in search.tried]
    assert (folder / "search.jsonl").read_bytes() == before
    with pytest.raises(HeadwiseError, match="runs of another search"):
        search_priors(texts, folder, settings=[SMALL, {"train": {"epochs": 3}}], ladder=FEW)


def test_the_recipe_is_one(found, tmp_path):
    _, search = found
    text = recipe_text(search.recipe, "said\ntwice")
    assert text.startswith("# said\n# twice\n")
    sections = tomllib.loads(text)
    assert build_recipe(sections) == build_recipe(search.recipe)
    assert tuple(sections["encoder"].get("priors", ())) == search.tried[0].priors


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "search.jsonl"
    runs = _Runs(path, {"a": 1})
    import numpy as np

    runs.add("x", 0, 0, np.array([True, False, True]), 2.0)
    path.write_text(path.read_text() + '{"name": "y", "ru')
    again = _Runs(path, {"a": 1})
    assert list(again.right) == [("x", 0, 0)]
    assert again.sum("x", 0, 1).tolist() == [1, 0, 1]
    assert again.seconds == 2.0
    again.add("y", 0, 0, np.array([True, True, False]), 1.0)
    assert list(_Runs(path, {"a": 1}).right) == [("x", 0, 0), ("y", 0, 0)]


@pytest.mark.parametrize("content", [b'{"a": 1', b"\xff\xfe", b'{"a": 2}\n'])
def test_a_file_of_something_else(tmp_path, content):
    path = tmp_path / "search.jsonl"
    path.write_bytes(content)
    with pytest.raises(HeadwiseError, match=r"search\.jsonl: the runs of another search"):
        _Runs(path, {"a": 1})
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"model": {"task": "tag"}}, "one label each"), ({"encoder": {"name": "bilstm"}}, "take no priors")],
)
def test_what_has_no_priors(texts, tmp_path, settings, said):
    with pytest.raises(ConfigError, match=said):
        search_priors(texts, tmp_path, settings=[settings])


def test_no_time(texts, tmp_path):
    with pytest.raises(ConfigError, match="no time"):
        search_priors(texts, tmp_path, settings=[SMALL], minutes=0)
