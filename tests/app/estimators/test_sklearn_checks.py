"""The checks of `sklearn.utils.estimator_checks` that hand over tables, with texts in their place.

scikit-learn itself runs only a few checks on estimators whose tags forbid two-dimensional input.
"""

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .conftest import ROWS, Row, plain


def new(estimator) -> Any:
    """An unfitted estimator with the same parameters."""
    return clone(estimator)


def answers(estimator, row: Row, method: str, X=None):
    X = row.X if X is None else X
    return estimator.score(X, row.y) if method == "score" else plain(getattr(estimator, method)(X))


@pytest.mark.fits_anew
def test_fit_returns_self_and_a_second_one_gives_the_same_model(row, unfitted, fitted):
    """check_estimators_fit_returns_self, check_estimators_overwrite_params,
    check_dont_overwrite_parameters; check_fit_idempotent, check_non_transformer_estimators_n_iter;
    check_readonly_memmap_input."""
    estimator = new(unfitted)
    before, attributes = joblib.hash(estimator.get_params()), set(vars(estimator))
    assert estimator.fit(row.X, row.y) is estimator
    assert joblib.hash(estimator.get_params()) == before
    added = set(vars(estimator)) - attributes
    assert all(name.startswith("_") or name.endswith("_") for name in added)
    X, y = np.empty(len(row.X), dtype=object), np.empty(len(row.y), dtype=object)
    X[:], y[:] = row.X, row.y
    X.flags.writeable = y.flags.writeable = False
    estimator.fit(X, y)
    for method in row.methods:
        assert answers(estimator, row, method) == answers(fitted, row, method)
    assert plain(estimator.predict(X)) == plain(fitted.predict(row.X))


def test_predictions_change_nothing(row, fitted):
    """check_dict_unchanged."""
    before = {name: repr(value) for name, value in vars(fitted).items() if name.endswith("_")}
    for method in row.methods:
        answers(fitted, row, method)
    assert {name: repr(value) for name, value in vars(fitted).items() if name.endswith("_")} == before


def test_it_is_fitted_after_fit_only(row, unfitted, fitted):
    """check_fit_check_is_fitted, check_n_features_in: texts have no number of features."""
    with pytest.raises(NotFittedError):
        check_is_fitted(unfitted)
    check_is_fitted(fitted)
    assert not hasattr(fitted, "n_features_in_")
    assert not hasattr(fitted, "feature_names_in_")


def test_another_random_state_gives_another_model(row, unfitted, fitted):
    """The same number gives the same one, see above."""
    method = "predict" if is_regressor(unfitted) else "predict_proba"
    if not hasattr(unfitted, method):
        pytest.skip("the tags of two models may be the same")
    other = new(unfitted).set_params(random_state=1).fit(row.X, row.y)
    assert answers(other, row, method) != answers(fitted, row, method)


def test_predictions_do_not_depend_on_other_items(row, fitted):
    """check_methods_subset_invariance, check_methods_sample_order_invariance."""
    order = np.random.default_rng(0).permutation(len(row.X))
    for method in set(row.methods) - {"score"}:
        together = answers(fitted, row, method)
        single = [answers(fitted, row, method, [item])[0] for item in row.X[:5]]
        shuffled = answers(fitted, row, method, [row.X[place] for place in order])
        expected = [together[place] for place in order]
        if method == "predict" and not is_regressor(fitted):
            assert single == together[:5]
            assert shuffled == expected
        else:
            assert np.allclose(single, together[:5], atol=1e-6)
            assert np.allclose(shuffled, expected, atol=1e-6)


def test_a_pickle_predicts_the_same(row, fitted):
    """check_estimators_pickle."""
    copy = pickle.loads(pickle.dumps(fitted))
    for method in row.methods:
        assert answers(copy, row, method) == answers(fitted, row, method)


def test_a_pipeline_predicts_the_same(row, unfitted, fitted):
    """check_pipeline_consistency."""
    pipeline = make_pipeline(new(unfitted)).fit(row.X, row.y)
    for method in row.methods:
        assert answers(pipeline, row, method) == answers(fitted, row, method)


def test_no_items(row, unfitted):
    """check_estimators_empty_data_messages."""
    with pytest.raises(ValueError, match=r"no |empty|0 "):
        new(unfitted).fit([], [])


def test_lengths_of_items_and_answers(row, unfitted):
    """check_fit_score_takes_y, check_sample_weights_shape: as many answers as items."""
    with pytest.raises(ValueError, match=r"39.*40|40.*39"):
        new(unfitted).fit(row.X, row.y[1:])


def test_an_unknown_parameter(unfitted):
    """check_set_params."""
    with pytest.raises(ValueError, match="Invalid parameter 'colour'"):
        new(unfitted).set_params(colour="red")


def test_sample_weights(row, unfitted):
    """check_sample_weights_list, check_sample_weights_not_an_array, check_sample_weights_not_overwritten,
    check_sample_weights_shape, check_all_zero_sample_weights_error."""
    if not has_fit_parameter(unfitted, "sample_weight"):
        pytest.skip("it takes no weights")
    weights = np.linspace(0.5, 2, len(row.X))
    before = weights.copy()
    expected = plain(new(unfitted).fit(row.X, row.y, sample_weight=weights).predict(row.X))
    assert (weights == before).all()
    for given in (weights.tolist(), dict(enumerate(weights)).values()):
        estimator = new(unfitted).fit(row.X, row.y, sample_weight=given)
        assert plain(estimator.predict(row.X)) == expected
    assert plain(new(unfitted).fit(row.X, row.y, sample_weight=iter(weights)).predict(row.X)) == expected
    two_columns, unordered = weights[:, None].repeat(2, axis=1), set(weights)
    for wrong in (weights[1:], two_columns, unordered, np.zeros(len(row.X)), -weights):
        with pytest.raises(ValueError, match=r"weight|inconsistent numbers of samples"):
            new(unfitted).fit(row.X, row.y, sample_weight=wrong)


def test_no_weights_are_equal_weights(row, unfitted, fitted):
    """check_sample_weight_equivalence, where it is exact."""
    if not has_fit_parameter(unfitted, "sample_weight"):
        pytest.skip("it takes no weights")
    weighted = new(unfitted).fit(row.X, row.y, sample_weight=np.ones(len(row.X)))
    for method in row.methods:
        assert answers(weighted, row, method) == answers(fitted, row, method)


@pytest.mark.parametrize("task", ["pair-score", "regress"])
def test_numbers_of_any_type(task, tiny):
    """check_regressors_int, check_regressors_no_decision_function, check_supervised_y_no_nan."""
    row = ROWS[task]
    unfitted = row.kind(recipe=tiny, epochs=1)
    whole = [int(number) for number in row.y]
    expected = plain(new(unfitted).fit(row.X, row.y).predict(row.X))
    for y in (whole, np.array(whole, dtype=np.int8), np.array(row.y, dtype=np.float32)):
        assert plain(new(unfitted).fit(row.X, y).predict(row.X)) == expected
    assert not hasattr(unfitted, "decision_function")
    assert not hasattr(unfitted, "predict_proba")
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"nan|NaN|inf|finite"):
            new(unfitted).fit(row.X, [wrong, *row.y[1:]])
    with pytest.raises((TypeError, ValueError), match=r"Complex|number"):
        new(unfitted).fit(row.X, [1j, *row.y[1:]])


@pytest.mark.parametrize("task", ["classify", "pair"])
def test_a_single_label(task, tiny):
    """check_classifiers_one_label, check_classifiers_one_label_sample_weights."""
    row = ROWS[task]
    with pytest.raises(ValueError, match="y has only one class"):
        row.kind(recipe=tiny, epochs=1).fit(row.X, ["yes"] * len(row.X))
