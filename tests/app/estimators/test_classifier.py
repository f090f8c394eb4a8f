"""Each clause of scikit-learn's contract, and what is ours, on texts whose label is plain to see."""

import os
import random
import signal
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from headwise import HeadwiseError, TextClassifier
from headwise.app.cli import main
from headwise.app.estimators import base_estimator as base
from headwise.training.text_objectives import ClassificationObjective

BASED = {"encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8}, "words": {"vector_size": 8}}
TINY = BASED | {"base": {"name": "none"}}


def texts_of(label: str, count: int = 20) -> list[str]:
    chance = random.Random(label)
    return [" ".join([label, *chance.choices("abcdefgh", k=5)]) for _ in range(count)]


X = [*texts_of("good"), *texts_of("bad"), *texts_of("odd")]
Y = ["good"] * 20 + ["bad"] * 20 + ["odd"] * 20


def tiny(**settings) -> TextClassifier:
    return TextClassifier(**{"recipe": TINY, "epochs": 2, **settings})


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    return tiny(recipe=BASED).fit(X, Y)


def test_learns(fitted):
    assert fitted.score(X, Y) > 0.9
    assert len(fitted.history_) == 2
    assert fitted.recipe_["train"]["epochs"] == 2
    assert fitted.recipe_["encoder"]["layers"] == 1


def test_probabilities_are_in_the_order_of_the_classes(fitted):
    found = fitted.predict_proba(X)
    assert fitted.classes_.tolist() == ["bad", "good", "odd"]
    assert found.shape == (60, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (fitted.classes_[found.argmax(axis=1)] == fitted.predict(X)).all()


def test_a_notebook_shows_what_was_fitted(fitted):
    shown = fitted._repr_mimebundle_()["text/html"]
    assert "bad, good, odd" in shown
    assert "accuracy on dev" in shown
    assert "<script" not in shown
    assert fitted._repr_html_() == shown
    assert "bad, good, odd" not in tiny()._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("names", [(9, 10, 2), ("9", "10", "2"), (2.0, 10.0, 9.0)])
def test_labels_that_the_model_orders_otherwise(names, tmp_path):
    """The model sorts 2, 9, 10 by value; NumPy sorts texts by alphabet. Types come back from the folder."""
    targets = np.repeat(names, 20)
    classifier = tiny().fit(X, targets)
    assert classifier.score(X, targets) > 0.9
    assert classifier.classes_.tolist() == sorted(names)
    classifier.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.classes_.tolist() == sorted(names)
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))


def test_truth_values(tmp_path):
    targets = [label == "good" for label in Y]
    classifier = tiny().fit(X, targets)
    classifier.save(tmp_path / "model")
    predicted = TextClassifier.load(tmp_path / "model").predict(X)
    assert predicted.dtype == bool
    assert (predicted == targets).mean() > 0.9


def test_saved_once_more_after_loading(fitted, tmp_path):
    fitted.save(tmp_path / "one")
    TextClassifier.load(tmp_path / "one").save(tmp_path / "two")
    for name in ("data.json", "training.json", "metrics.json", "model.safetensors", "calibration.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_commands_use_its_folder_and_it_theirs(fitted, tmp_path, capsys):
    fitted.save(tmp_path / "model")
    (tmp_path / "new.txt").write_text("good a b\n")
    assert main(["predict", str(tmp_path / "model"), str(tmp_path / "new.txt")]) == 0
    assert "good a b,good," in capsys.readouterr().out
    table = "label\ttext\n" + "".join(f"{y}\t{x}\n" for x, y in zip(X, Y, strict=True))
    (tmp_path / "texts.tsv").write_text(table)
    flags = "--epochs 1 --encoder.layers 1 --encoder.width 8 --encoder.heads 2 --encoder.head-size 4"
    assert main(["train", str(tmp_path / "texts.tsv"), "-o", str(tmp_path / "other"), *flags.split()]) == 0
    assert TextClassifier.load(tmp_path / "other").predict(["a text"])[0] in Y


@pytest.mark.fits_anew
def test_repeats_itself_and_leaves_no_trace_in_its_parameters(fitted):
    again = tiny(recipe=BASED)
    before = again.get_params()
    again.fit(X, Y)
    assert again.get_params() == before
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    other = tiny(recipe=BASED, random_state=np.random.RandomState(5)).fit(X, Y)
    assert not np.array_equal(other.predict_proba(X), fitted.predict_proba(X))


def test_clone_and_parameters():
    classifier = tiny(encoder="transformer", random_state=3)
    copy = clone(classifier)
    assert copy is not classifier
    assert copy.get_params() == classifier.get_params()
    assert copy.set_params(epochs=7) is copy
    assert copy.epochs == 7
    with pytest.raises(ValueError, match="Invalid parameter 'epoch'"):
        copy.set_params(epoch=7)


def test_in_a_pipeline_cross_validation_and_search():
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("classify", tiny())])
    assert cross_val_score(pipeline, X, Y, cv=2).mean() > 0.7
    search = GridSearchCV(tiny(), {"epochs": np.array([1, 2]), "encoder": ["transformer"]}, cv=2)
    search.fit(X, Y)
    assert search.best_params_["epochs"] in (1, 2)


def test_general_estimator_checks():
    with warnings.catch_warnings(record=True):  # it says that most checks need numbers
        warnings.simplefilter("always")
        check_estimator(tiny())


def test_given_dev_texts(fitted):
    kept = [place for place in range(60) if place % 4]
    classifier = tiny().fit([X[own] for own in kept], [Y[own] for own in kept], dev=(X[::4], Y[::4]))
    assert classifier._info["data"]["train"]["texts"] == 45
    assert classifier._info["data"]["dev"]["texts"] == 15
    with pytest.raises(ValueError, match=r"labels of dev that y does not have: \['strange'\]"):
        tiny().fit(X, Y, dev=(["a"], ["strange"]))


class Polars:
    """As much of a Polars DataFrame as is used, which has no `ndim` and goes through its columns."""

    def __init__(self, values):
        self.values, self.shape = values, values.shape

    def __iter__(self):
        return iter(self.values.T)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_a_table_of_one_column_is_one_of_texts():
    table = np.array([["good"], ["bad"]], dtype=object)
    assert base.texts_of(table) == base.texts_of(Polars(table)) == ["good", "bad"]
    with pytest.raises(ValueError, match="X has 2 dimensions"):
        base.texts_of(Polars(table.reshape(1, 2)))
    two = Polars(table.reshape(1, 2))
    two.columns = ["text", "n"]
    with pytest.raises(ValueError, match="one column of texts of its 2: 'text', 'n'"):
        base.texts_of(two)


@pytest.mark.parametrize(
    ("texts", "labels", "error", "message"),
    [
        ("good", ["good"], TypeError, "X is one text; give a list"),
        ([["good"]], ["good"], TypeError, r"X\[0\] is \['good'\]; expected a text"),
        (np.array([["good", "bad"]]), ["good"], ValueError, "X has 2 dimensions"),
        (["good", float("nan")], ["good", "bad"], TypeError, r"X\[1\] is nan; expected a text"),
        (["good"], ["good", "bad"], ValueError, "inconsistent numbers of samples"),
        (["good", "bad"], [0.5, 0.7], ValueError, "Unknown label type: continuous"),
        (["good", "bad"], ["good", float("nan")], ValueError, r"y\[1\] is nan; expected a label"),
        (["good", "bad"], ["one", "one"], ValueError, r"only one class, \['one'\]"),
        ([], [], ValueError, "y has no label; a classifier needs two or more"),
        (
            ["good", "bad"],
            ["one", "two"],
            HeadwiseError,
            "HW141.*; if these are not labels, give other ones as y",
        ),
    ],
)
def test_what_cannot_be_fitted(texts, labels, error, message):
    with pytest.raises(error, match=message):
        tiny().fit(texts, labels)


def test_wrong_settings_are_named():
    with pytest.raises(HeadwiseError, match="did you mean 'epochs'"):
        tiny(recipe={"train": {"epoch": 3}}).fit(X, Y)
    with pytest.raises(HeadwiseError, match="epochs: expected a whole number, got '3'"):
        tiny(epochs="3").fit(X, Y)
    with pytest.raises(HeadwiseError, match="unknown encoder 'lstm'"):
        tiny(encoder="lstm", recipe=None).fit(X, Y)


def test_recipe_file(tmp_path):
    (tmp_path / "recipe.toml").write_text('[encoder]\nname = "bilstm"\nwidth = 8\nhidden = 4\n')
    classifier = tiny(recipe=tmp_path / "recipe.toml", epochs=1).fit(X, Y)
    assert classifier.recipe_["encoder"]["name"] == "bilstm"


def test_the_seeds_of_a_recipe_are_those_of_the_run():
    small = {**BASED, "split": {"seed": 9, "test": 0.5}}
    small["train"] = {**small.get("train", {}), "seed": 5}
    made = tiny(recipe=small, epochs=1).fit(X, Y).recipe_
    assert (made["train"]["seed"], made["split"]["seed"]) == (5, 9)
    assert made["split"]["test"] == 0.0  # there is no test part
    made = tiny(recipe=small, epochs=1, random_state=3).fit(X, Y).recipe_
    assert (made["train"]["seed"], made["split"]["seed"]) == (3, 3)


def test_a_recipe_of_another_task_is_refused():
    with pytest.raises(HeadwiseError, match=r"for the task 'regress'; a TextClassifier is for 'classify'"):
        tiny(recipe={"model": {"task": "regress"}}).fit(X, Y)
    with pytest.raises(HeadwiseError, match="train"):
        tiny(recipe={"train": 5}).fit(X, Y)


def test_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        tiny().predict(X)
    with pytest.raises(NotFittedError):
        tiny().save(tmp_path / "model")


def test_ctrl_c_stops_it_and_leaves_nothing_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    evaluate = ClassificationObjective.evaluate

    def interrupted(objective):
        os.kill(os.getpid(), signal.SIGINT)
        return evaluate(objective)

    monkeypatch.setattr(ClassificationObjective, "evaluate", interrupted)
    classifier = tiny()
    with pytest.raises(KeyboardInterrupt):
        classifier.fit(X, Y)
    assert not hasattr(classifier, "model_")
    assert not any(tmp_path.iterdir())


class Frame(np.ndarray):
    """What is read of a DataFrame."""

    columns: list

    @classmethod
    def of(cls, values, columns) -> "Frame":
        frame = np.asarray(values).view(cls)
        frame.columns = list(columns)
        return frame


NAMES = ["bad", "good", "odd"]
CERTAIN = np.eye(3)[[NAMES.index(label) for label in Y]]


def test_labels_may_be_probabilities_and_texts_have_weights():
    shares = 0.7 * CERTAIN + 0.1
    own = tiny(recipe=BASED).fit(X, Frame.of(shares, NAMES))
    assert own.classes_.tolist() == NAMES
    assert own.score(X, Y) > 0.9
    assert tiny().fit(X, shares, sample_weight=np.ones(60)).classes_.tolist() == [0, 1, 2]
    heavy = np.where(np.array(Y) == "odd", 0.0, 1.0)
    assert "odd" not in tiny(recipe=BASED).fit(X, Y, heavy).predict(X)


@pytest.mark.parametrize(
    ("y", "weights", "found"),
    [
        (np.full((60, 3), 0.5), None, r"y\[0\] is \[0.5, .*add up to 1"),
        (np.full((60, 2), np.nan), None, r"y\[0\]"),
        (Y, np.full(60, -1.0), "sample_weight"),
        (Y, np.ones(59), "inconsistent"),
        (Y, np.ones((60, 2)), r"sample_weight has the shape \(60, 2\); expected one number for each of X"),
        (Y, 2.0, r"sample_weight has the shape \(\)"),
        (Y, ["heavy"] * 60, "sample_weight must be finite numbers"),
    ],
)
def test_probabilities_and_weights_that_are_none(y, weights, found):
    with pytest.raises(ValueError, match=found):
        tiny().fit(X, y, weights)


@pytest.mark.parametrize("columns", [["bad", "good", "bad"], [1, 1, 2]])
def test_columns_of_the_same_name_would_lose_what_one_of_them_says(columns):
    with pytest.raises(ValueError, match=r"y has columns of the same name: .*; expected one for each"):
        tiny().fit(X, Frame.of(CERTAIN, columns))


def test_probabilities_of_dev_are_those_of_all_labels():
    """What is missing was taken as the rest of the probability."""
    for y in (Frame.of(CERTAIN, NAMES), Y):
        for columns in (["bad", "good"], ["bad", "good", "odd", "new"], ["bad", "good", "new"]):
            dev = Frame.of(np.eye(len(columns))[:2], columns)
            with pytest.raises(
                ValueError, match=r"y of dev has the columns \['bad'.*\['bad', 'good', 'odd'"
            ):
                tiny().fit(X, y, dev=(X[:2], dev))
    other = Frame.of(CERTAIN[:, ::-1], NAMES[::-1])
    news = [f"{text} new {'xyz'[n % 3] * 3} {n}" for n, text in enumerate(X)]
    own, usual = (tiny().fit(X, Y, dev=(news, dev)) for dev in (other, Frame.of(CERTAIN, NAMES)))
    np.testing.assert_array_equal(own.predict_proba(X), usual.predict_proba(X))
    with pytest.raises(ValueError, match=r"columns \[0, 1\]; expected .* \[0, 1, 2\]"):
        tiny().fit(X, CERTAIN, dev=(X, np.full((len(X), 2), 0.5)))


def test_truth_values_that_are_objects_are_scored():
    truths = np.array([label == "good" for label in Y], dtype=object)
    assert tiny(recipe=BASED).fit(X, truths).score(X, truths) > 0.5


def test_labels_of_another_kind_than_the_models_are_not_scored(fitted):
    with pytest.raises(
        TypeError, match=r"y has the label 1 \(int\); expected .* like 'bad' \(str\): .* file"
    ):
        fitted.score(X[:2], [1, 2])


def test_minus_zero_is_zero():
    own = tiny().fit(X, np.where(np.array(Y) == "good", np.tile([-0.0, 0.0], 30), 1.0))
    assert own.model_.labels == ("0.0", "1.0")
    assert own.classes_.tolist() == [0.0, 1.0]
    assert np.allclose(own.predict_proba(X[:5]).sum(axis=1), 1)


def test_dev_labels_of_another_type():
    own = [label == "good" for label in Y]
    with pytest.raises(ValueError, match=r"that y does not have: \[.*it has \[False, True\]"):
        tiny().fit(X, own, dev=(X, np.array(own).astype(int)))


def test_dates_are_no_labels():
    with pytest.raises(TypeError, match=r"datetime64\[D\]; give them as texts"):
        tiny().fit(X, np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]").repeat(30))


@pytest.mark.parametrize("off", [torch.no_grad, torch.inference_mode])
def test_it_is_fitted_where_gradients_are_switched_off(off):
    with off():
        own = tiny(recipe=BASED).fit(X, Y)
    again = tiny(recipe=BASED).fit(X, Y)
    assert (own.predict_proba(X[:3]) == again.predict_proba(X[:3])).all()


@pytest.mark.fits_anew
def test_fits_in_threads_are_those_of_one():
    alone = tiny(random_state=0).fit(X, Y).predict_proba(X)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(lambda _: tiny(random_state=0).fit(X, Y).predict_proba(X), range(4)):
            np.testing.assert_array_equal(found, alone)


@pytest.mark.parametrize("dev", [X, (X,), "ab", (X, Y, Y), 5])
def test_dev_is_a_pair(dev):
    with pytest.raises(TypeError, match="dev is not a pair"):
        tiny().fit(X, Y, dev=dev)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_another_default_of_numbers_changes_nothing(dtype, tmp_path):
    usual = tiny(recipe=BASED, random_state=0).fit(X, Y)
    usual.save(tmp_path / "m")
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        other = tiny(recipe=BASED, random_state=0).fit(X, Y)
        loaded = TextClassifier.load(tmp_path / "m")
        assert torch.get_default_dtype() == dtype
    finally:
        torch.set_default_dtype(before)
    for own in (other, loaded):
        assert {p.dtype for p in own.model_.parameters()} == {torch.float32}
        np.testing.assert_array_equal(own.predict_proba(X), usual.predict_proba(X))


def test_what_an_earlier_model_was_told_of_these_texts_is_not_taken_for_skill(tmp_path):
    """Of texts with labels by lot nothing can be learnt but the texts themselves: that of which a model's
    linear model then is sure, on those that were dev texts, would make it sure of new ones too."""

    def drawn(seed: int, count: int) -> tuple[list[str], list[str]]:
        chance = random.Random(seed)
        words = [" ".join(chance.choices("abcdefghijklmnop", k=8)) for _ in range(count)]
        return words, chance.choices(["no", "yes"], k=count)

    tiny().fit(*drawn(1, 150)).save(tmp_path / "first")
    second = tiny(recipe={"base": {"name": str(tmp_path / "first")}}, random_state=3)
    with pytest.warns(UserWarning, match="dev texts are .*first's training texts too"):
        second.fit(*drawn(1, 150))
    assert second.predict_proba(drawn(2, 300)[0]).max(axis=1).mean() < 0.6
