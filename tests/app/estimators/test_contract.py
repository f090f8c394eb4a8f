"""What every estimator promises, whatever its task; a new one joins by a row in `ROWS`."""

import enum
import pickle
import re
import warnings
from collections.abc import Iterable
from inspect import signature
from multiprocessing.reduction import ForkingPickler
from typing import get_type_hints

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils import estimator_checks

from headwise import (
    MultiLabelClassifier,
    PairClassifier,
    PairRegressor,
    TextClassifier,
    TextTagger,
)

from .conftest import ROWS, SIDES, plain


def test_unfitted(row, unfitted, tmp_path):
    for method in row.methods:
        answers = (row.y,) if method == "score" else ()
        with pytest.raises(NotFittedError):
            getattr(unfitted, method)(row.X, *answers)
    with pytest.raises(NotFittedError):
        unfitted.save(tmp_path / "model")


def test_general_checks(unfitted):
    """All checks that hand over no numbers; scikit-learn leaves the others out for texts, and says so."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        results = estimator_checks.check_estimator(unfitted)
    assert {result["status"] for result in results} == {"passed"}
    for check in (
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_mixin_order,
        estimator_checks.check_valid_tag_types,
    ):
        check(type(unfitted).__name__, unfitted)


def test_tags_say_that_it_reads_texts(unfitted):
    tags = unfitted.__sklearn_tags__()
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array


def test_cross_validation(row, unfitted):
    y = row.y
    if row.kind is MultiLabelClassifier:  # scikit-learn takes no lists of names
        y = np.array([["yes" in labels, "all" in labels] for labels in y], dtype=int)
    scores = cross_val_score(clone(unfitted).set_params(epochs=1), row.X, y, cv=2)
    assert np.isfinite(scores).all()


def test_saved_is_loaded(row, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = row.kind.load(tmp_path / "model")
    for method in row.methods:
        answers = (row.y,) if method == "score" else ()
        found, wanted = (getattr(own, method)(row.X, *answers) for own in (loaded, fitted))
        assert (found == wanted) if answers else plain(found) == plain(wanted)
    assert (loaded.recipe_, loaded.history_) == (fitted.recipe_, fitted.history_)
    if row.kind in (TextClassifier, PairClassifier, MultiLabelClassifier):
        assert "expected_calibration_error_after" in loaded._info["metrics"]["calibration"]


def test_what_was_loaded_is_trained_again_as_it_was(row, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = clone(row.kind.load(tmp_path / "model")).fit(row.X, row.y)
    assert again.recipe_ == fitted.recipe_
    for method in row.methods:
        answers = (row.y,) if method == "score" else ()
        found, wanted = (getattr(own, method)(row.X, *answers) for own in (again, fitted))
        assert (found == wanted) if answers else plain(found) == plain(wanted)


def test_arrays_are_taken_as_lists_are_and_hints_say_so(row, unfitted, fitted):
    arrays = [np.array(own, dtype=object) for own in (row.X, row.y)]
    own = clone(unfitted).fit(*arrays)
    assert plain(own.predict(arrays[0])) == plain(fitted.predict(row.X))
    for method in ("fit", *row.methods):
        hints = get_type_hints(getattr(row.kind, method))
        assert {hints[name] for name in ("X", "y") if name in hints} <= {Iterable[object]}


def test_one_text_is_no_list_of_texts(row, fitted):
    with pytest.raises(TypeError, match="X is one text"):
        fitted.predict("a text")


def test_a_mapping_is_no_list_of_items(row, fitted):
    """Its keys would be read as the texts."""
    with pytest.raises(TypeError, match=r"X is a dict of 'text', 'label'; give a list of .*X\['text'\]"):
        fitted.predict({"text": list(row.X), "label": list(row.y)})
    with pytest.raises(TypeError, match=r"X\[0\] is {'a': 'b', 'c': 'd'}; expected"):
        fitted.predict([{"a": "b", "c": "d"}])


def test_what_can_only_be_gone_through_is_gone_through_once(row, unfitted, fitted):
    for make in (iter, lambda own: dict(enumerate(own)).values()):
        again = clone(unfitted).fit(make(row.X), make(row.y))
        assert plain(again.predict(make(row.X))) == plain(fitted.predict(row.X))
        assert again.score(make(row.X), make(row.y)) == fitted.score(row.X, row.y)


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_set_has_no_order(row, unfitted, fitted, kind):
    """Its texts would get the labels of others, and other ones in each process."""
    items = [tuple(item) if isinstance(item, list) else item for item in row.X]
    answers = [tuple(answer) if isinstance(answer, list) else answer for answer in row.y]
    for call in (lambda: clone(unfitted).fit(kind(items), row.y), lambda: fitted.predict(kind(items))):
        with pytest.raises(TypeError, match=rf"X is a {kind.__name__}, which has no order; give a list of"):
            call()
    with pytest.raises(TypeError, match=r"y is (frozenset\()?{.*; expected .*, as many as X has items"):
        clone(unfitted).fit(row.X, kind(answers))
    if row.kind in (TextTagger, PairClassifier, PairRegressor):
        with pytest.raises(TypeError, match=r"X\[0\] is .*; expected"):
            fitted.predict([kind(("first", "second"))])


LABELS = {
    "int": [3, 11],
    "bool": [False, True],
    "str": ["3", "11"],
    "float": [0.5, 2.0],
    "numpy int": [np.int32(3), np.int32(11)],
    "numpy bool": [np.bool_(False), np.bool_(True)],
    "numpy str": [np.str_("no"), np.str_("yes")],
    "objects": np.array(["no", "yes"], dtype=object),
    "strings": np.array(["no", "yes"], getattr(np.dtypes, "StringDType", lambda: str)()),  # NumPy 2
    "numbers of two types": np.array([3, np.int64(11)], dtype=object),
    "small": np.array([-3, 11], dtype=np.int8),
    "half": np.array([-1.0, 2.0], dtype=np.float16),
}


@pytest.mark.parametrize(
    ("task", "name"),
    [*(("classify", name) for name in LABELS), *(("pair", name) for name in ("int", "str", "objects"))],
)
def test_labels_of_every_type(task, name, tiny, tmp_path):
    row, labels = ROWS[task], LABELS[name]
    whole = [label.is_integer() for label in labels if isinstance(label, float)]
    y = [labels[side] for side in SIDES] if not isinstance(labels, np.ndarray) else labels[SIDES]
    if whole and not all(whole):  # scikit-learn takes numbers with a fraction for a regression
        with pytest.raises(ValueError, match="continuous"):
            row.kind(recipe=tiny).fit(row.X, y)
        return
    estimator = row.kind(recipe=tiny, epochs=3).fit(row.X, y)
    assert estimator.classes_.tolist() == sorted(np.asarray(labels).tolist())
    estimator.save(tmp_path / "model")
    loaded = row.kind.load(tmp_path / "model")
    assert loaded.classes_.tolist() == estimator.classes_.tolist()
    assert loaded.classes_.dtype == estimator.classes_.dtype or estimator.classes_.dtype == object
    for own in (estimator, loaded):
        found = own.predict(row.X)
        assert type(found.tolist()[0]) is type(np.asarray(labels).tolist()[0])
        assert own.score(row.X, y) == np.mean(found == np.asarray(y))
        assert own.score(row.X, y) > 0.9


class Mood(str, enum.Enum):  # noqa: UP042  (the str of a StrEnum is its value)
    """Members of the same length, whose names begin alike: as an array they would be merged."""

    bad = "gray"
    fine = "blue"


@pytest.mark.parametrize("task", ["classify", "pair"])
@pytest.mark.parametrize(
    "form", [list, lambda own: np.array(own, dtype=object), lambda own: [[y] for y in own]]
)
def test_members_of_an_enum_are_the_texts_that_they_stand_for(task, form, tiny):
    row = ROWS[task]
    moods = [(Mood.bad, Mood.fine)[side] for side in SIDES]
    y = form(moods)
    estimator = row.kind(recipe=tiny, epochs=3).fit(row.X, y)
    assert estimator.classes_.tolist() == ["blue", "gray"]
    assert {type(label) for label in estimator.predict(row.X).tolist()} == {str}
    assert estimator.score(row.X, y) == np.mean(estimator.predict(row.X) == [own.value for own in moods])


def test_members_of_an_enum_in_lists(tiny):
    row = ROWS["multi-label"]
    sets = [[Mood.bad, Mood.fine] if side else [Mood.fine] for side in SIDES]
    many = MultiLabelClassifier(recipe=tiny, epochs=1).fit(row.X, sets)
    assert many.classes_.tolist() == ["blue", "gray"]
    assert many.score(row.X, sets) == many.score(row.X, [[mood.value for mood in own] for own in sets])
    row = ROWS["tag"]
    tags = [[Mood.bad, *[Mood.fine] * 4] for _ in row.X]
    assert TextTagger(recipe=tiny, epochs=1).fit(row.X, tags).classes_ == ["blue", "gray"]


@pytest.mark.parametrize("task", ["classify", "pair"])
@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (["yes", None], ValueError, r"y\[1\] is None; expected a label"),
        ([1.0, float("nan")], ValueError, r"y\[1\] is nan; expected a label"),
        (np.array(["yes", 1], dtype=object), TypeError, "labels of several types, int, str"),
        (["yes", 1], TypeError, "labels of several types, int, str"),
    ],
)
def test_labels_that_are_none(task, labels, error, message, tiny):
    row = ROWS[task]
    with pytest.raises(error, match=message):
        row.kind(recipe=tiny).fit(row.X[:2], labels)


@pytest.mark.parametrize(
    ("task", "y", "message"),
    [
        ("multi-label", [["yes"], None], r"y\[1\] is None; expected a list of labels"),
        ("multi-label", [["yes"], [None]], r"y\[1\] has the label None; expected texts"),
        ("tag", [["X"] * 5, None], r"y\[1\] is None; expected a list of tags"),
        ("tag", [["X"] * 5, ["X"] * 4 + [None]], r"y\[1\] is .*None.*; expected a list of tags"),
        ("regress", [1.0, None], "NaN|None"),
    ],
)
def test_other_answers_that_are_none(task, y, message, tiny):
    row = ROWS[task]
    with pytest.raises((TypeError, ValueError), match=message):
        row.kind(recipe=tiny).fit(row.X[:2], y)


@pytest.mark.parametrize("wrong", [None, 5, "yes", {"a": 1}])
def test_what_is_no_list_is_named(row, unfitted, wrong):
    with pytest.raises(TypeError, match=r"y is .*; expected .*, as many as X has items"):
        clone(unfitted).fit(row.X, wrong)
    if wrong in (None, 5):
        with pytest.raises(TypeError, match=r"X is (None|5); expected a list of"):
            clone(unfitted).fit(wrong, row.y)


def test_it_is_silent_or_tells_each_epoch(row, unfitted, capsys):
    clone(unfitted).fit(row.X, row.y)
    assert capsys.readouterr() == ("", "")
    own = clone(unfitted).set_params(verbose=True).fit(row.X, row.y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  loss ")[0] for line in lines] == ["epoch 1", "epoch 2"]
    assert all(
        f"loss {epoch['loss']:.3f}" in line.split("  dev ")[1]
        for epoch, line in zip(own.history_, lines, strict=True)
    )


def test_parameters_can_be_pickled(unfitted):
    """What scikit-learn sends to other processes."""
    assert pickle.loads(pickle.dumps(unfitted)).get_params() == unfitted.get_params()


@pytest.mark.parametrize(("base", "loaded"), [("none", False), ("english", True)])
def test_a_fitted_one_travels_to_another_process_and_stays_what_it_was(row, tiny, base, loaded, tmp_path):
    """A pool pickles by PyTorch's rules, which move tensors into shared memory and free what they had."""
    own = row.kind(recipe={**tiny, "base": {"name": base}, "train": {"folds": 0}}, epochs=1)
    own.fit(row.X, row.y)
    if loaded:
        own.save(tmp_path / "model")
        own = row.kind.load(tmp_path / "model")
    wanted = plain(own.predict(row.X))
    sent = ForkingPickler.dumps(own)
    taken = [np.full(1 << size, 7, dtype=np.uint8) for size in range(4, 20)]  # what was freed is used anew
    assert plain(own.predict(row.X)) == wanted
    assert plain(pickle.loads(sent).predict(row.X)) == wanted
    del taken


def test_vectors_of_hardly_any_word_are_told(row, unfitted, tmp_path):
    """As the command tells it: such a model would be silently bad."""
    for words, told in (("good bad " + " ".join("abcdefgh"), False), ("gut schlecht", True)):
        file = tmp_path / "v.txt"
        file.write_text("".join(f"{word} {n} 1 2 3\n" for n, word in enumerate(words.split())), "utf-8")
        own = clone(unfitted).set_params(vectors=file, recipe={"encoder": unfitted.recipe["encoder"]})
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            own.fit(row.X, row.y)
        assert ["has vectors of 0.0 % of the words" in str(own.message) for own in found] == [True] * told


def test_dev_items_that_are_trained_on_are_told(row, unfitted):
    """As the command tells it: they choose and calibrate as if the model knew new ones as well."""
    own = clone(unfitted)
    with pytest.warns(UserWarning, match=r"^10 of 10 dev \w+ are training \w+ too \(100\.0 %\)"):
        own.fit(row.X, row.y, dev=(row.X[:10], row.y[:10]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own.fit(row.X[10:], row.y[10:], dev=(row.X[:10], row.y[:10]))


def test_another_default_device_changes_nothing(row, tiny, tmp_path):
    """`torch.set_default_device` stands at the head of many a notebook; of meta there are no values."""
    base = "none" if row.kind is MultiLabelClassifier else "english"
    own = row.kind(recipe={**tiny, "base": {"name": base}, "train": {"folds": 0}}, epochs=1)
    usual = clone(own).fit(row.X, row.y)
    usual.save(tmp_path / "m")
    torch.set_default_device("meta")
    try:
        loaded = row.kind.load(tmp_path / "m")
        found = [plain(fitted.predict(row.X)) for fitted in (usual, loaded, own.fit(row.X, row.y))]
        assert torch.empty(0).is_meta
    finally:
        torch.set_default_device(None)
    assert found == [plain(usual.predict(row.X))] * 3


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (
            {"learning_rate": 1.0},
            "pass recipe={'train': {'learning_rate': ...}}; its arguments are ",
        ),
        ({"base": "english"}, "pass recipe={'base': {SETTING: ...}}"),
        (
            {"epochs": 1, "max_iter": 3},
            "no argument 'max_iter'; its arguments are callbacks, class_weight, encoder",
        ),
    ],
)
def test_an_unknown_argument_is_told_where_the_setting_belongs(arguments, hint):
    with pytest.raises(TypeError, match=re.escape(hint)):
        TextClassifier(**arguments)
    assert "epochs" in signature(TextClassifier).parameters


def test_a_subclass_has_arguments_of_its_own():
    class Short(TextClassifier):
        def __init__(self, depth: int = 1):
            super().__init__(epochs=depth, recipe={"encoder": {"layers": depth}})
            self.depth = depth

    class Named(TextClassifier):
        def __init__(self, name: str, **arguments):
            super().__init__(**arguments)
            self.name = name

    assert Short(depth=2).epochs == 2
    assert Named("a", epochs=3).epochs == 3
    for wrong in (lambda: Short(epochs=2), lambda: Named("a", lr=1)):
        with pytest.raises(TypeError, match=r"has no argument '(epochs|lr)'"):
            wrong()
