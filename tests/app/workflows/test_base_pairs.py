"""Pairs that begin with a base: what matching words say, to network, linear model and explanation."""

import numpy as np
import pytest

from headwise.app.workflows.report import report_file
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.data.items.examples import Pair
from headwise.linear.pair_features import NUMBERS, dense_pair_features
from headwise.models.word_attributions import attribute_words
from headwise.runtime import pair_outputs as pair_reads
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.training import text_objectives as reading

SMALL = {
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "train": {"epochs": 2, "batch-texts": 8, "folds": 0},
}
KINDS = [[f"{kind}{number}" for number in range(24)] for kind in "abc"]
"""Words of three meanings: those of a row mean the same, and no two words are alike as they are written."""


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("base")
    random = np.random.default_rng(0)
    words = [word for kind in KINDS for word in kind]
    rows = np.repeat(2 * np.eye(3, 6), 24, axis=0) + 0.1 * random.normal(size=(72, 6))
    runs = QuantizedMatrix.of(0.1 * random.normal(size=(64, 6)).astype(np.float32))
    weights = np.ones(len(words) + 1, dtype=np.float32)
    save_base(
        StaticEmbeddings("tiny", tuple(words), QuantizedMatrix.of(rows.astype(np.float32)), runs, weights),
        folder / "b",
        "#\n",
    )
    return str(folder / "b")


def pairs(path, count: int, seed: int, scored: bool = False) -> str:
    """Do both texts have words of the same meanings? Only the base knows."""
    random = np.random.default_rng(seed)
    lines = ["first,second,score" if scored else "first,second,label"]
    for _ in range(count):
        one, other = (random.permutation(3)[:2] for _ in range(2))
        same = set(one) == set(other)
        texts = (" ".join(random.choice(KINDS[kind]) for kind in kinds) for kinds in (one, other))
        answer = f"{random.normal(4 if same else 1, 0.1):.3f}" if scored else "same" if same else "other"
        lines.append(",".join([*texts, answer]))
    path.write_text("\n".join(lines))
    return str(path)


def run(tmp_path, base: str, task: str, **options):
    scored = task == "pair-score"
    head = {"regressor" if scored else "classifier": {"hidden": 8}}
    files = (
        pairs(tmp_path / f"{part}.csv", 80, seed, scored) for seed, part in enumerate(("train", "test"))
    )
    train, test = files
    settings = [
        {"model": {"task": task}},
        {"base": {"name": base}},
        SMALL,
        head,
        options.pop("settings", {}),
    ]
    return train_files(train, tmp_path / "model", test=test, settings=settings, baseline=False, **options)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, base):
    """A training run of two folds, and the folder of its model."""
    folder = tmp_path_factory.mktemp("trained")
    return run(folder, base, "pair", settings={"train": {"folds": 2}}), folder / "model"


def test_labels_of_pairs_that_only_the_base_tells_apart(trained):
    outcome, folder = trained
    assert outcome.test.scores.accuracy > 0.9
    model = outcome.fitted.model
    some = [("a1 b2", "b5 a7"), ("a1 b2", "c5 a7"), ("", "a1"), ("", ""), ("zebra", "a1")]
    loaded = load_model(folder)
    np.testing.assert_array_equal(loaded.predict_proba(some), model.predict_proba(some))
    alone = np.concatenate([loaded.predict_proba([pair]) for pair in some])
    np.testing.assert_allclose(alone, loaded.predict_proba(some), atol=1e-5)
    assert {next(iter(loaded.predict([pair]))).label for pair in some[:2]} == {"same", "other"}


@pytest.mark.parametrize("folds", [0, 2])
def test_of_very_many_pairs_the_linear_parts_read_some(tmp_path, base, folds, monkeypatch):
    monkeypatch.setattr(reading, "MOST_PAIRS", 30)
    outcome = run(tmp_path, base, "pair", settings={"train": {"folds": folds}})
    assert outcome.test.scores.accuracy > 0.8


def test_the_network_begins_as_what_the_words_that_match_say(tmp_path, base):
    settings = {
        "linear_model": {"kind": "none"},
        "train": {"learning-rate": 1e-9, "vectors-learning-rate": 1e-9},
    }
    outcome = run(tmp_path, base, "pair", settings=settings)
    assert outcome.test.scores.accuracy > 0.9


def test_scores_of_pairs_likewise(tmp_path, base):
    settings = {"train": {"learning-rate": 1e-9, "vectors-learning-rate": 1e-9}}
    outcome = run(tmp_path, base, "pair-score", settings=settings)
    assert outcome.test.scores.pearson > 0.9


def test_what_is_compared_and_to_which_words_it_belongs(trained):
    model = trained[0].fitted.model
    encoded = model.encoded([Pair("a1 b2 c3", "b5 a7"), Pair("a1 a2", "")])
    texts, vectors, numbers = model.linear_inputs(encoded)
    assert texts == [("a1 b2 c3", "b5 a7"), ("a1 a2", "")]
    read = model.embedding._base  # the base again
    for pair, own, counts in zip(encoded, vectors, numbers, strict=True):
        sides = []
        for text in (pair.first, pair.second):
            rows, weights = read.vectors(text.text.split())
            rows = rows * weights[:, None]
            sides.append((text.words, rows / max(np.linalg.norm(rows.sum(axis=0)), 1e-12)))
        expected = dense_pair_features(*sides)
        np.testing.assert_allclose(np.append(own, counts), expected, atol=1e-5)
    assert numbers.shape == (2, NUMBERS)
    output_weights = np.array([[-1.0, 1.0]]) * (1 if model.labels[1] == "same" else -1)
    (shares,) = attribute_words(model, encoded[:1], output_weights)
    found = sum(shares[part] for part in ("base", "linear_model") if part in shares)
    assert found.argmin() == 2  # nothing matches c3


def test_how_pairs_compare_is_the_same_where_it_is_not_kept(trained, monkeypatch):
    model = trained[0].fitted.model
    some = [("a1 b2", "b5 a7"), ("a1 b2", "c5 a7"), ("", "a1"), ("", ""), ("zebra", "a1")]
    kept, found = model.encoded(some), model.predict_proba(some)
    assert all(pair.compared is not None for pair in kept)
    monkeypatch.setattr(pair_reads, "MAX_PRECOMPUTED_PAIRS", 4)
    anew = model.encoded(some)
    assert all(pair.compared is None for pair in anew)
    np.testing.assert_allclose(model.predict_proba(some), found, atol=1e-6)
    for one, other in zip(model.linear_inputs(kept)[1:], model.linear_inputs(anew)[1:], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(model.logits([kept[0], *anew[1:]]), model.logits(kept), atol=1e-5)


@pytest.mark.parametrize("task", ["pair", "pair-score"])
def test_without_a_probe_the_linear_member_alone_says_what_the_base_knows(tmp_path, base, task):
    settings = {"base": {"probe": False}, "train": {"learning-rate": 1e-9, "vectors-learning-rate": 1e-9}}
    outcome = run(tmp_path, base, task, settings=settings)
    scores, model = outcome.test.scores, outcome.fitted.model
    assert (scores.pearson if task == "pair-score" else scores.accuracy) > 0.9
    assert model.probe is None
    assert model.linear_weight > 0
    some = [Pair("a1 b2", "b5 a7"), Pair("a1 b2", "c5 a7"), Pair("", "a1")]
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.outputs_of(loaded.encoded(some)), model.outputs_of(model.encoded(some))
    )
    (shares,) = attribute_words(model, model.encoded(some[:1]), np.ones((1, model.outputs.count)))
    assert "base" not in shares


@pytest.mark.parametrize("task", ["pair", "pair-score"])
@pytest.mark.usefixtures("three_folds")
def test_how_many_pairs_say_who_learns_what_a_base_knows(task):
    from headwise.models.tasks import TASKS
    from headwise.models.tasks.task_settings import FEWEST

    def settings(items):
        own = TASKS[task]
        plain = own.defaults(items, vectors=False, encoder="ms-transformer")
        return own.defaults_with_base(plain, items)

    few, many = settings(FEWEST - 1), settings(FEWEST)
    assert few["base"].get("probe", True)
    assert "interaction" not in few["pair"]
    assert not many["base"]["probe"]
    assert many["pair"]["interaction"] == "match"
    assert (many["train"]["folds"], settings(1_000)["train"]["folds"]) == (3, 0)


def test_the_report_shows_which_words_of_a_pair_were_compared(tmp_path, base):
    run(tmp_path, base, "pair", settings={"pair": {"interaction": "match"}})
    page = report_file(tmp_path / "model", tmp_path / "test.csv")
    assert "layer 2, on the other text: " in page
    assert "layer 2 (second text), on the other text: " in page
