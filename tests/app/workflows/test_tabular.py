"""Models that read columns beside the text: trained on files and tables, saved, explained, reported."""

import csv
import json

import numpy as np
import pytest

from headwise import MultiLabelClassifier, TextClassifier, TextRegressor
from headwise.app.reporter import Reporter
from headwise.app.serve.answering import ModelService, RequestError
from headwise.app.session import ModelSession
from headwise.app.training_plan import TrainingFiles
from headwise.app.workflows.evaluate import evaluate_file
from headwise.app.workflows.export import export_model
from headwise.app.workflows.label_errors import out_of_fold_probabilities
from headwise.app.workflows.predict import predict_file
from headwise.app.workflows.report import report_file
from headwise.app.workflows.train import TrainingJob
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.core.errors import ConfigError
from headwise.data.columns.tabular_columns import TabularColumn
from headwise.data.errors import DataError
from headwise.data.items.examples import Example
from headwise.data.readers.tabular_cells import row_of
from headwise.linear.tabular_features import tabular_features_of

SMALL = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},
    "train": {"epochs": 1, "folds": 0},
}
WORDS = ("ship", "tree", "lamp", "rain", "road", "wolf", "king", "milk")


def table(count, seed=0):
    """Rows whose label is a word of the text together with a number or a country beside it."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        good, price = bool(random.integers(2)), round(float(random.lognormal(3)), 2)
        country = ("DE", "FR", "PL")[random.integers(3)]
        dear = (np.log(price) - 3) + 2 * (country == "PL") > 0.6
        words = " ".join(WORDS[place] for place in random.integers(0, 8, 4))
        rows.append(
            {
                "body": f"{'fine' if good else 'poor'} {words}",
                "label": f"{'fine' if good else 'poor'} {'dear' if dear else 'cheap'}",
                "price": "" if number % 20 == 7 else str(price),
                "country": country,
                "seen": f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}",
            }
        )
    return rows


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


class Notes(Reporter):
    def __init__(self):
        self.told = []

    def note(self, message):
        self.told.append(message)


FEATURES = "price,country,seen"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a model, and what training said."""
    folder, notes = tmp_path_factory.mktemp("tabular"), Notes()
    file = write(folder / "train.csv", table(400))
    settings = {**SMALL, "data": {"features": FEATURES, "text_column": "body"}}
    report = TrainingJob(TrainingFiles(file), folder / "model", settings, reporter=notes).run()
    return folder / "model", notes.told, report


@pytest.fixture
def new(tmp_path):
    return write(tmp_path / "new.csv", table(100, seed=1))


def test_training_says_which_columns_it_reads_as_what(trained):
    _, told, report = trained
    assert any(
        "price:number (20 of 400 missing), country:category, seen:date" in message for message in told
    )
    accuracy = report.test.to_json()["accuracy"]
    assert accuracy > 0.85
    assert accuracy > report.systems["baseline"].scores["accuracy"] + 0.15


def test_the_folder_keeps_the_columns_with_their_types(trained):
    folder, *_ = trained
    encodings = json.loads((folder / "config.json").read_text())["model"]["linear_model"]["tabular"]
    assert [(own["name"], own["type"]) for own in encodings] == [
        ("price", "number"),
        ("country", "category"),
        ("seen", "date"),
    ]
    assert encodings[1]["values"] == ["DE", "FR", "PL"]
    card = (folder / "README.md").read_text()
    assert "price (number), country (category), seen (date)" in card.replace("\\", "")
    assert "table.csv" in card


def test_a_file_is_evaluated_with_its_columns(trained, new):
    folder, *_ = trained
    assert evaluate_file(folder, new).scores["accuracy"] > 0.85


def test_predictions_need_the_columns_and_count_unseen_categories(trained, new, tmp_path):
    folder, *_ = trained
    rows = [{**row, "country": "XX"} if n < 3 else row for n, row in enumerate(table(20, seed=2))]
    notes = Notes()
    predict_file(folder, write(tmp_path / "a.csv", rows), tmp_path / "out.csv", reporter=notes)
    assert any("column 'country': 3 of 20 values are unknown" in message for message in notes.told)
    bare = [{name: row[name] for name in row if name != "price"} for row in rows]
    with pytest.raises(DataError, match="no column 'price', which the model was trained on") as raised:
        predict_file(folder, write(tmp_path / "b.csv", bare), tmp_path / "b-out.csv")
    assert raised.value.code == "HW147"
    wrong = [{**row, "price": "dear"} if n == 4 else row for n, row in enumerate(rows)]
    with pytest.raises(DataError, match=r"c\.csv:6.*'price': 'dear' is no number") as raised:
        predict_file(folder, write(tmp_path / "c.csv", wrong), tmp_path / "c-out.csv")
    assert raised.value.code == "HW145"
    with pytest.raises(ConfigError, match="--features is for training"):
        predict_file(folder, new, tmp_path / "d.csv", reading={"features": "price"})


def test_explanations_name_column_value_and_contribution(trained, new):
    folder, *_ = trained
    session = ModelSession.open(folder)
    items = session.read(new).items
    for item, explanation in zip(items, session.explain(items), strict=True):
        price, country, seen = explanation.columns
        assert (country.name, country.value) == ("country", item.tabular.values[1])
        assert len(seen.value) == len("2024-01-01")
        total = sum(word.attribution for word in explanation.words) + explanation.rest
        total += sum(column.attribution for column in explanation.columns)
        total += explanation.surface_features.attribution if explanation.surface_features else 0
        assert total == pytest.approx(explanation.margin, abs=1e-6)
        assert price.value == "missing" or float(price.value.replace(",", "")) > 0
        assert [own["name"] for own in explanation.to_json()["columns"]] == ["price", "country", "seen"]
        assert f"country {country.value}" in explanation.to_html()


def test_the_report_says_how_much_columns_count_beside_words(trained, new):
    folder, *_ = trained
    page = report_file(folder, new)
    assert "Columns" in page
    for name in ("the words of the text", "price", "country", "seen"):
        assert name in page


def test_requests_have_the_fields(trained):
    folder, *_ = trained
    service = ModelService(folder)
    record = {"body": "fine ship", "price": 900, "country": "PL", "seen": "2024-02-01"}
    (answer,) = service.predict([record])
    assert json.loads(answer)["prediction"] == "fine dear"
    (answer,) = service.predict([{**record, "price": None}])
    assert set(record) <= set(json.loads(answer))
    assert [column.name for column in service.explain([record])[0].columns] == ["price", "country", "seen"]
    with pytest.raises(RequestError, match="the fields 'price', 'country', 'seen' beside") as raised:
        service.records(texts=["fine ship"])
    assert raised.value.code == "HW147"
    with pytest.raises(DataError, match="no column 'price'") as raised:
        service.predict([{"body": "fine ship", "country": "PL", "seen": ""}])
    assert "expected the fields" in service.client_message(raised.value)


def test_an_export_is_refused(trained, tmp_path):
    folder, *_ = trained
    with pytest.raises(ExportError, match="'price', 'country', 'seen' beside the text") as raised:
        export_model(folder, tmp_path / "out")
    assert raised.value.code == "HW952"


def test_texts_alone_are_refused(trained):
    folder, *_ = trained
    model = ModelSession.open(folder).model
    with pytest.raises(ConfigError, match="reads the columns 'price', 'country', 'seen'") as raised:
        list(model.predict(["fine ship"]))
    assert raised.value.code == "HW147"


def test_what_cannot_be_learnt_with_columns_is_refused(trained, tmp_path):
    folder, *_ = trained
    file = write(tmp_path / "train.csv", table(60))
    how = {"data": {"features": FEATURES, "text_column": "body"}}
    with pytest.raises(ConfigError, match=r"linear-model\.kind none"):
        TrainingJob(
            TrainingFiles(file), tmp_path / "a", {**SMALL, **how, "linear_model": {"kind": "none"}}
        ).run()
    with pytest.raises(ConfigError, match="cannot start from another model"):
        TrainingJob(TrainingFiles(file), tmp_path / "b", {**how, "base": {"name": str(folder)}}).run()


def test_label_errors_are_judged_with_the_columns():
    rows = table(300)
    texts, labels = [row["body"] for row in rows], sorted({row["label"] for row in rows})
    targets = np.array([labels.index(row["label"]) for row in rows])
    columns = (TabularColumn("price", "number"), TabularColumn("country", "category"))
    items = [Example(row["body"], tabular=row_of((row["price"], row["country"]), columns)) for row in rows]
    right = [
        out_of_fold_probabilities(texts, targets, 4, base="none", numbers=numbers)[0].argmax(1) == targets
        for numbers in (None, tabular_features_of(items))
    ]
    assert right[1].mean() > right[0].mean() + 0.15


def fields(rows):
    return [{**row, "price": float(row["price"] or "nan")} for row in rows]


def test_a_classifier_reads_tables(tmp_path):
    rows, test = fields(table(300)), fields(table(100, seed=3))
    model = TextClassifier(
        text_column="body", feature_columns=["price", "country", "seen"], epochs=1, recipe=SMALL
    ).fit(rows, [row["label"] for row in rows])
    score = model.score(test, [row["label"] for row in test])
    assert score > 0.85
    model.save(tmp_path / "model")
    loaded = TextClassifier.load(tmp_path / "model")
    assert loaded.feature_columns == {"price": "number", "country": "category", "seen": "date"}
    np.testing.assert_array_equal(loaded.predict(test), model.predict(test))
    by_column = {name: [row[name] for row in test] for name in test[0]}
    np.testing.assert_array_equal(model.predict(by_column), model.predict(test))
    arrow = pytest.importorskip("pyarrow").table(by_column)
    np.testing.assert_array_equal(model.predict(arrow), model.predict(test))
    assert loaded.explain(test[:1])[0].columns[1].value == test[0]["country"]
    with pytest.raises(ConfigError, match="no column 'price'"):
        model.predict([{"body": "fine ship", "country": "DE", "seen": ""}])
    with pytest.raises(ConfigError, match="'price': 'dear' is no number"):
        model.predict([{**test[0], "price": "dear"}])
    with pytest.raises(ConfigError, match="no named columns"):
        model.predict(["fine ship"])


def test_a_regressor_and_a_multi_label_classifier_read_tables():
    rows = fields(table(200))
    numbers = [np.log(row["price"]) if row["price"] == row["price"] else 3.0 for row in rows]
    how = {"text_column": "body", "feature_columns": "price,country", "epochs": 1, "recipe": SMALL}
    regressor = TextRegressor(**how).fit(rows, numbers)
    assert regressor.score(rows, numbers) > 0.6
    sets = [row["label"].split() for row in rows]
    classifier = MultiLabelClassifier(**how).fit(rows, sets)
    assert classifier.score(rows, sets) > 0.8


def test_a_text_column_alone_is_only_the_texts():
    rows = table(60)
    labels = [row["label"].split()[0] for row in rows]
    model = TextClassifier(text_column="body", epochs=1, recipe=SMALL).fit(rows, labels)
    texts = [row["body"] for row in rows]
    plain = TextClassifier(epochs=1, recipe=SMALL).fit(texts, labels)
    np.testing.assert_array_equal(model.predict_proba(rows), plain.predict_proba(texts))


def test_columns_need_a_text_column_of_their_own():
    rows = table(20)
    with pytest.raises(ConfigError, match="give text_column"):
        TextClassifier(feature_columns=["price"]).fit(rows, ["a", "b"] * 10)
    with pytest.raises(ConfigError, match="each needs its own"):
        TextClassifier(text_column="body", feature_columns=["body:category"]).fit(rows, ["a", "b"] * 10)
