"""What a Python user gives in the place of a file or a folder."""

import pytest

import headwise
from headwise.core.errors import ConfigError

OF_A_FILE = ("noise_file", "curve_file", "doctor_files")
OF_A_MODEL = ("evaluate_file", "predict_file", "explain_file", "suggest_file", "heads_file")


@pytest.mark.parametrize("name", [*OF_A_FILE, "tune_file", "train_files"])
def test_texts_are_no_file(name, tmp_path):
    more = (tmp_path / "m",) if name in ("tune_file", "train_files") else ()
    for given in ({"text": "a"}, 3):
        with pytest.raises(ConfigError, match="expected the name of a file, got a"):
            getattr(headwise, name)(given, *more)


@pytest.mark.parametrize("name", OF_A_FILE)
def test_files_are_paths_or_texts(name, tmp_path):
    path = tmp_path / "data.csv"
    lines = (f"a {n % 7} {'good' if n % 2 else 'bad'} w{n},{n % 2}\n" for n in range(120))
    path.write_text("text,label\n" + "".join(lines))
    found = [getattr(headwise, name)(own, **more) for own in (path, str(path)) for more in [_quick(name)]]
    assert str(found[0]) == str(found[1])


def _quick(name):
    return {"curve_file": {"seeds": 2, "base": "none"}, "noise_file": {"base": "none"}}.get(name, {})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    path = folder / "data.csv"
    lines = (f"a {'good' if n % 2 else 'bad'} w{n},{n % 2}\n" for n in range(60))
    path.write_text("text,label\n" + "".join(lines))
    headwise.train_files(path, folder / "m", settings=[{"base": {"name": "none"}, "train": {"epochs": 1}}])
    return folder / "m", path


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_texts_are_no_file_to_a_model(name, made):
    """A list is one of files."""
    with pytest.raises(headwise.HeadwiseError, match="a text: no such file"):
        list(getattr(headwise, name)(made[0], ["a text"]))


@pytest.mark.parametrize("name", OF_A_MODEL)
def test_a_model_is_no_folder(name, made):
    with pytest.raises(headwise.HeadwiseError, match="a TextClassifierModel is not a folder") as caught:
        list(getattr(headwise, name)(headwise.load_model(made[0]), made[1]))
    assert caught.value.code == "HW501"


def test_results_are_printed_as_one_line(made):
    model, path = made
    quick = [{"base": {"name": "none"}, "train": {"epochs": 1}}]
    trained = headwise.train_files(path, model.parent / "again", settings=quick)
    shown = {
        "Dataset of 60 items from": headwise.read_examples(path),
        "EvaluationReport of": headwise.evaluate_file(model, path),
        "TrainingReport: accuracy": trained,
        "CalibrationReport of": headwise.calibrate_file(model, path, model.parent / "calibrated"),
        "Explanation of": next(iter(headwise.explain_file(model, path)))[1],
    }
    for start, result in shown.items():
        assert repr(result).startswith(f"<{start} "), repr(result)
        assert "\n" not in repr(result)
        assert len(repr(result)) < 400
    assert "on test texts; TF-IDF + linear SVM " in repr(trained)


def test_weights_of_attention_are_those_of_a_model(made):
    with pytest.raises(ConfigError, match=r"expected a model, got a .*Path; headwise.load_model"):
        headwise.attention_weights(made[0], "a good text")
