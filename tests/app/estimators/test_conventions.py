"""Conventions of scikit-learn beyond `fit` and `predict`: vectors, decisions, weights, parameters."""

import pickle
import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from headwise import (
    MultiLabelClassifier,
    PairClassifier,
    TextClassifier,
    TextClassifierModel,
    load_model,
    train_files,
)
from headwise.artifacts import StoreError
from headwise.core.errors import ConfigError
from headwise.nn.networks.text_models import MultiLabelModel

WORDS = ["door", "lamp", "roof", "hall", "stair"]
TEXTS = [f"{('stuck', 'dark')[n % 2]} {WORDS[n % 5]} {WORDS[n // 5 % 5]}" for n in range(40)]
LABELS = [("repair", "light")[n % 2] for n in range(40)]
THREE = [("repair", "light", "other")[n % 3] for n in range(40)]
SETS = [["light", "all"] if n % 2 else ["all"] for n in range(40)]


@pytest.fixture(scope="module")
def fitted(tiny):
    return TextClassifier(recipe=tiny, epochs=2).fit(TEXTS, LABELS)


class Recorder:
    """A callback that keeps what it receives."""

    def __init__(self):
        self.events = []

    def on_start(self, settings):
        self.events.append(("start", settings["train"]["epochs"]))

    def on_epoch(self, epoch, scores, part):
        self.events.append(("epoch", epoch, sorted(scores), part))

    def on_end(self, metrics):
        self.events.append(("end", sorted(metrics)))

    def __deepcopy__(self, memo):
        return self


def test_vectors_of_texts(fitted):
    vectors = fitted.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (40, len(fitted.get_feature_names_out()))
    assert fitted.get_feature_names_out()[1] == "textclassifier1"
    np.testing.assert_allclose(fitted.encode(TEXTS[:3]), vectors[:3], atol=1e-5)
    assert np.array_equal(fitted.transform(TEXTS), vectors)
    assert fitted.encode([]).shape == (0, vectors.shape[1])


def test_vectors_of_pairs_hold_both_texts(tiny):
    pairs = list(zip(TEXTS, TEXTS[::-1], strict=True))
    estimator = PairClassifier(recipe=tiny, epochs=1).fit(pairs, LABELS)
    width = len(estimator.get_feature_names_out())
    vectors = estimator.encode([("dark door", "dark hall"), ("dark hall", "dark door")])
    assert vectors.shape == (2, width)
    np.testing.assert_allclose(vectors[0, : width // 2], vectors[1, width // 2 :], atol=1e-5)


def test_it_is_a_step_of_pipelines(tiny):
    step = TextClassifier(recipe=tiny, epochs=1)
    pipeline = make_pipeline(step, LogisticRegression()).fit(TEXTS, LABELS)
    assert pipeline.score(TEXTS, LABELS) > 0.7
    length = FunctionTransformer(lambda texts: np.array([[len(text)] for text in texts]))
    union = FeatureUnion([("vectors", clone(step)), ("length", length)])
    width = union.fit_transform(TEXTS, LABELS).shape[1]
    assert width == len(union.transformer_list[0][1].get_feature_names_out()) + 1


def test_it_is_a_stage_of_a_column_transformer(tiny):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"subject": TEXTS, "hours": range(40)})
    stages = [
        ("text", TextClassifier(recipe=tiny, epochs=1), "subject"),
        ("rest", "passthrough", ["hours"]),
    ]
    transformer = ColumnTransformer(stages).fit(table, LABELS)
    names = transformer.get_feature_names_out()
    assert transformer.transform(table).shape == (40, len(names))
    assert (names[0], names[-1]) == ("text__textclassifier0", "rest__hours")


def test_decisions_agree_with_probabilities(fitted, tiny):
    decisions = fitted.decision_function(TEXTS)
    assert decisions.shape == (40,)
    probabilities = fitted.predict_proba(TEXTS)
    np.testing.assert_allclose(1 / (1 + np.exp(-decisions)), probabilities[:, 1], atol=1e-6)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(TEXTS)), probabilities, atol=1e-9)
    several = TextClassifier(recipe=tiny, epochs=1).fit(TEXTS, THREE)
    decisions = several.decision_function(TEXTS)
    assert decisions.shape == (40, 3)
    assert np.array_equal(several.classes_[decisions.argmax(axis=1)], several.predict(TEXTS))
    sets = MultiLabelClassifier(recipe=tiny, epochs=1).fit(TEXTS, SETS)
    np.testing.assert_allclose(np.exp(sets.predict_log_proba(TEXTS)), sets.predict_proba(TEXTS), atol=1e-9)


def test_weights_of_labels(tiny):
    rare = ["light"] * 36 + ["repair"] * 4
    recipe = {**tiny, "linear_model": {"kind": "none"}}
    dev = (["dark roof tile", "stuck attic door"], ["light", "repair"])
    usual = TextClassifier(recipe=recipe, epochs=1).fit(TEXTS, rare, dev=dev)
    weighted = clone(usual).set_params(class_weight={"repair": 9.0}).fit(TEXTS, rare, dev=dev)
    assert usual.history_[0]["loss"] != weighted.history_[0]["loss"]
    settings = clone(usual).set_params(class_weight="balanced").fit(TEXTS, rare, dev=dev).recipe_
    assert settings["classifier"]["class_weights"] == "balanced"
    numbers = clone(usual).set_params(class_weight={0: 2, 1: 1.5}).fit(TEXTS, [n % 2 for n in range(40)])
    assert numbers.recipe_["classifier"]["class_weights"] == "0=2.0,1=1.5"


@pytest.mark.parametrize("wrong", ["even", {}, {"a,b": 1.0}, [1.0, 2.0], {"light": "2"}, {"light": None}])
def test_weights_of_labels_that_are_none(tiny, wrong):
    with pytest.raises(ValueError, match=r"class_weight (is|has) .*; expected"):
        TextClassifier(recipe=tiny, class_weight=wrong).fit(TEXTS, LABELS)


def test_weights_of_labels_that_y_lacks(tiny):
    with pytest.raises(ConfigError, match="class weight for unknown label 'none'"):
        TextClassifier(recipe=tiny, class_weight={"none": 2.0}, epochs=1).fit(TEXTS, LABELS)


def test_single_settings_of_the_recipe(tiny):
    classifier = TextClassifier(recipe={"train": {"batch_texts": 8}})
    classifier.set_params(recipe__train__learning_rate=0.01, epochs=2)
    assert classifier.recipe == {"train": {"batch_texts": 8, "learning_rate": 0.01}}
    assert classifier.epochs == 2
    assert classifier.get_params()["recipe__train__learning_rate"] == 0.01
    assert "recipe__train__learning_rate" not in classifier.get_params(deep=False)
    with pytest.raises(ValueError, match="'recipe__train' names no setting"):
        classifier.set_params(recipe__train=1)
    with pytest.raises(ValueError, match="'train' of the recipe is 5, no section"):
        TextClassifier(recipe={"train": 5}).set_params(recipe__train__epochs=1)
    with pytest.raises(ConfigError, match="unknown setting 'learing_rate'; did you mean 'learning_rate'"):
        TextClassifier(recipe={"train": {"learing_rate": 1}}).fit(TEXTS, LABELS)
    untouched = {"train": {"batch_texts": 8}}
    TextClassifier(recipe=untouched).set_params(recipe__train__batch_texts=9)
    assert untouched == {"train": {"batch_texts": 8}}


def test_a_grid_over_settings_of_the_recipe(tiny):
    grid = {"recipe__train__learning_rate": [1e-7, 1e-2]}
    search = GridSearchCV(TextClassifier(recipe=tiny, epochs=2), grid, cv=2).fit(TEXTS, LABELS)
    assert search.best_estimator_.recipe_["train"]["learning_rate"] in (1e-7, 1e-2)
    rates = [own["recipe__train__learning_rate"] for own in search.cv_results_["params"]]
    assert rates == [1e-7, 1e-2]


def test_callbacks_follow_a_fit(tiny):
    recorder = Recorder()
    estimator = TextClassifier(recipe=tiny, epochs=2, callbacks=[recorder])
    clone(estimator).fit(TEXTS, LABELS, dev=(["dark roof"], ["light"]))
    assert recorder.events[0] == ("start", 2)
    assert [event[1] for event in recorder.events if event[0] == "epoch"] == [1, 2]
    assert {"accuracy", "loss"} <= set(recorder.events[1][2])
    assert recorder.events[-1] == ("end", ["calibration", "dev"])


class EpochsOnly:
    on_epoch = print


def test_a_callback_without_a_method_is_named_before_training(tiny, tmp_path):
    message = (
        r"callbacks\[0\] is .*EpochsOnly object.* without on_start and on_end; expected an object with"
    )
    with pytest.raises(TypeError, match=message):
        TextClassifier(recipe=tiny, callbacks=[EpochsOnly()]).fit(TEXTS, LABELS)
    with pytest.raises(TypeError, match=message):
        train_files(tmp_path / "absent.csv", tmp_path / "m", callbacks=[EpochsOnly()])
    with pytest.raises(TypeError, match="callbacks is None; expected a list"):
        TextClassifier(recipe=tiny, callbacks=None).fit(TEXTS, LABELS)


def test_callbacks_follow_a_run_on_files(tiny, tmp_path):
    rows = [f"{text}\t{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "f.tsv").write_text("\n".join(["text\tlabel", *rows]), "utf-8")
    recorder = Recorder()
    settings = [tiny, {"train": {"epochs": 1}}]
    report = train_files(tmp_path / "f.tsv", tmp_path / "m", settings=settings, callbacks=[recorder])
    assert recorder.events[0][0] == "start"
    assert {"dev", "test"} <= set(recorder.events[-1][1])
    assert report.score("accuracy") == report.test.scores.accuracy
    with pytest.raises(ConfigError, match=r"there is no score 'acuracy'; expected one of: .*accuracy"):
        report.score("acuracy")


def test_column_names_of_soft_labels_in_arrow(tiny):
    arrow = pytest.importorskip("pyarrow")
    shares = np.linspace(0, 1, len(TEXTS))
    y = arrow.table({"dark": shares, "bright": 1 - shares})
    assert TextClassifier(recipe=tiny, epochs=1).fit(TEXTS, y).classes_.tolist() == ["bright", "dark"]


def test_columns_of_arrow_and_polars(fitted, tiny):
    arrow = pytest.importorskip("pyarrow")
    wanted = fitted.predict(TEXTS).tolist()
    for column in (arrow.array(TEXTS), arrow.chunked_array([TEXTS[:7], TEXTS[7:]])):
        assert fitted.predict(column).tolist() == wanted
    again = TextClassifier(recipe=tiny, epochs=2).fit(arrow.array(TEXTS), arrow.chunked_array([LABELS]))
    assert again.predict(TEXTS).tolist() == wanted
    with pytest.raises(TypeError, match=r"X\[1\] is None"):
        fitted.predict(arrow.array(["dark", None]))


@pytest.mark.parametrize("base", ["none", "english"])
def test_a_pickled_estimator_leaves_its_caches_behind(tiny, base):
    own = TextClassifier(recipe={**tiny, "base": {"name": base}, "train": {"folds": 0}}, epochs=1)
    own.fit(TEXTS, LABELS)
    size = len(pickle.dumps(own))
    own.predict([f"word{number} other{number * 7}" for number in range(5_000)])
    assert len(pickle.dumps(own)) < size + 20_000


def test_a_model_has_the_expected_class(fitted, tmp_path):
    fitted.save(tmp_path / "m")
    model = load_model(tmp_path / "m", TextClassifierModel)
    (prediction,) = model.predict(["stuck door"])
    chances = prediction.label_probabilities
    assert list(chances) == sorted(chances, key=chances.get, reverse=True)
    assert chances == dict(zip(model.labels, prediction.probabilities, strict=True))
    with pytest.raises(StoreError, match="is a TextClassifierModel; expected a MultiLabelModel") as error:
        load_model(tmp_path / "m", MultiLabelModel)
    assert error.value.code == "HW507"


def test_the_example_of_tracking_logs_every_epoch(tiny, tmp_path):
    rows = [f"{text}\t{label}" for text, label in zip(TEXTS, LABELS, strict=True)]
    (tmp_path / "f.tsv").write_text("\n".join(["text\tlabel", *rows]), "utf-8")
    example = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "tracking.py"))
    logged = []
    tracker = SimpleNamespace(log=lambda values, step: logged.append((step, values)))
    settings = [tiny, {"train": {"epochs": 2, "folds": 0}}]
    callbacks = [example["TrackingCallback"](tracker)]
    report = train_files(tmp_path / "f.tsv", tmp_path / "m", settings=settings, callbacks=callbacks)
    steps, final = [step for step, values in logged if "accuracy" in values], logged[-1][1]
    assert steps == list(range(1, len(steps) + 1))
    assert final["final/accuracy"] == report.score("accuracy")


def test_columns_of_pandas_that_have_numbers_as_names(tiny):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(TEXTS)
    classifier = TextClassifier(recipe=tiny, epochs=1, text_column="0").fit(table, LABELS)
    assert classifier.predict(table).tolist() == classifier.predict(table[[0]].rename(columns=str)).tolist()
    with pytest.raises(TypeError, match="text_column is 0; expected a text, '0'"):
        TextClassifier(recipe=tiny, text_column=0).fit(table, LABELS)


def test_a_saved_estimator_reads_the_same_column_of_a_table(tiny, tmp_path):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"number": range(len(TEXTS)), "message": TEXTS, "label": LABELS})
    classifier = TextClassifier(recipe=tiny, epochs=1, text_column="message").fit(table, LABELS)
    classifier.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.text_column == "message"
    for X in (table, TEXTS, table["message"]):
        assert (again.predict_proba(X) == classifier.predict_proba(table)).all()


def test_a_table_without_its_text_column_is_told_how_to_name_it(tiny):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"message": TEXTS, "label": LABELS})
    with pytest.raises(ValueError, match=r"give X\[NAME\], or text_column=NAME"):
        TextClassifier(recipe=tiny).fit(table, LABELS)
    with pytest.raises(ConfigError, match=r"X has no column 'mesage'.*; did you mean 'message'"):
        TextClassifier(recipe=tiny, text_column="mesage").fit(table, LABELS)


def test_missing_texts_of_a_table_are_told(tiny):
    pandas = pytest.importorskip("pandas")
    texts = [None, pandas.NA, *TEXTS[2:]]
    table = pandas.DataFrame({"message": pandas.array(texts, dtype="string"), "more": TEXTS})
    with pytest.warns(UserWarning, match="'message' is missing in 2 rows, which are read as empty texts"):
        TextClassifier(recipe=tiny, epochs=1, text_column="more+message").fit(table, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextClassifier(recipe=tiny, epochs=1, text_column="more").fit(table, LABELS)


def test_pairs_in_a_wide_table_are_told_how_to_be_named(tiny):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"first": TEXTS, "second": TEXTS, "number": 1})
    with pytest.raises(TypeError, match=r"give two of the 3 columns, X\[\[FIRST, SECOND\]\]"):
        PairClassifier(recipe=tiny).fit(table, LABELS)
