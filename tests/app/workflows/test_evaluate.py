"""What the evaluation of a model on a file reports besides its scores."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from headwise import evaluate_file, train_files
from headwise.app.reporter import Reporter
from headwise.app.session import open_task_session
from headwise.app.workflows.model_comparison import compare_models
from headwise.artifacts.model_folder import StoreError
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tagging_scores import score_tags
from headwise.models.tag_evaluation import TagEvaluation, score_tagging
from headwise.models.tasks.tag import TagTask

SMALL = {
    "model": {"task": "classify"},
    "encoder": {"width": 8, "heads": 2, "head_size": 4, "layers": 1},
    "words": {"vector_size": 8},
    "train": {"epochs": 1},
}


def write(path, rows):
    path.write_text("\n".join(["text,label", *(f"{text},{label}" for text, label in rows)]) + "\n")
    return path


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    rows = [(f"{'fine' if n % 2 else 'poor'} film {n}", "gb"[n % 2]) for n in range(60)]
    train, dev = write(folder / "train.csv", rows), write(folder / "dev.csv", rows[:20])
    whole = train_files(train, folder / "split", settings=SMALL)
    train_files(train, folder / "given", dev=dev, settings=[SMALL])
    assert len(whole.parts.train) < 60
    return folder


@pytest.fixture
def trained(trained_once, tmp_path):
    """Copies, so that each test can write beside them."""
    shutil.copytree(trained_once, tmp_path, dirs_exist_ok=True)
    return tmp_path, {name: tmp_path / f"{name}.csv" for name in ("train", "dev")}


def said(folder, file) -> str:
    return " ".join(remark.text for remark in evaluate_file(folder, file).messages if remark.warning)


def test_texts_that_a_model_was_trained_on(trained):
    folder, files = trained
    for model in ("split", "given"):  # the first was trained on a part of the file
        assert "was trained on texts of this file" in said(folder / model, files["train"])
    assert "was selected by these texts" in said(folder / "given", files["dev"])
    other = write(folder / "other.csv", [("fine film 3", "g"), ("poor film", "b")])
    assert "1 of 2 texts also occur in the training or dev data" in said(folder / "given", other)
    other = write(folder / "other.csv", [("fine film 99", "g"), ("poor film", "b")])
    assert "trained on" not in said(folder / "given", other)


def test_what_was_unseen_in_training_is_so_afterwards(tmp_path):
    """Also texts that differ from those of training in a word, of which only training knows."""
    words = [" ".join(f"{own}{n}" for own in "abcdefgh") for n in range(60)]
    rows = [(f"{'fine' if n % 2 else 'poor'} {own}", "gb"[n % 2]) for n, own in enumerate(words)]
    near = [(f"{text} more", label) for text, label in rows[:10]]
    test = write(
        tmp_path / "test.csv", [*near, *rows[10:15], *((f"new {text}", own) for text, own in rows[55:])]
    )
    train = write(tmp_path / "train.csv", rows[:50])
    outcome = train_files(train, tmp_path / "model", test=test, settings=SMALL)
    found = evaluate_file(tmp_path / "model", test)
    assert found.unseen.name == outcome.systems["unseen"].name == "not in training (5)"
    assert "near-duplicates of texts that the model was trained on" in said(tmp_path / "model", test)


def test_weights_are_said_not_to_count(trained):
    folder, _ = trained
    rows = [f"{'fine' if n % 2 else 'poor'} film {n},{'gb'[n % 2]},{n % 3}" for n in range(60, 80)]
    weighed, alike = folder / "weighed.csv", folder / "alike.csv"
    weighed.write_text("\n".join(["text,label,weight", *rows]) + "\n")
    alike.write_text("\n".join(["text,label,weight", *(f"{row[:-1]}2" for row in rows)]) + "\n")
    with_weights, without = (evaluate_file(folder / "split", file) for file in (weighed, alike))
    told = "scores count all texts the same, whatever their weights"
    assert told in [remark.text for remark in with_weights.messages]
    assert told not in [remark.text for remark in without.messages]
    assert with_weights.scores == without.scores


def test_two_models_on_the_same_texts(trained, tmp_path):
    folder, _ = trained
    rows = [(f"{'fine' if n % 2 else 'poor'} film {n}", "gb"[n % 2]) for n in range(60, 100)]
    file = write(folder / "new.csv", rows)
    mislabelled = [(f"{'fine' if n % 2 else 'poor'} film {n}", "bg"[n % 2]) for n in range(200, 240)]
    wrong = write(folder / "wrong.csv", mislabelled * 2)
    train_files(wrong, folder / "other", dev=wrong, settings=SMALL | {"train": {"epochs": 8}})
    report = evaluate_file(folder / "split", file, against=folder / "other")
    alone, other = evaluate_file(folder / "split", file), evaluate_file(folder / "other", file)
    assert report.scores == alone.scores
    assert report.against.scores == other.scores
    ahead = report.against.difference
    assert ahead["accuracy"] == pytest.approx(alone.score("accuracy") - other.score("accuracy"))
    assert ahead["accuracy"] > 0
    assert ahead["interval"][0] <= ahead["accuracy"] <= ahead["interval"][1]
    reverse = evaluate_file(folder / "other", file, against=folder / "split").against.difference
    assert reverse["accuracy"] == pytest.approx(-ahead["accuracy"])
    assert reverse["interval"] == pytest.approx((-ahead["interval"][1], -ahead["interval"][0]))
    assert report.to_json()["against"]["name"] == str(folder / "other")
    assert "other" in report._repr_html_()
    itself = evaluate_file(folder / "split", file, against=folder / "split").against.difference
    assert itself == {"accuracy": 0.0, "interval": (0.0, 0.0)}
    warnings = [m.text for m in evaluate_file(folder / "split", wrong, against=folder / "other").messages]
    assert any(text.startswith(f"{folder / 'other'}: the model was trained on texts") for text in warnings)


@pytest.fixture(scope="module")
def trained_in_two_weeks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weeks")
    last = [(f"{'fine' if n % 2 else 'poor'} film {n}", "gb"[n % 2]) for n in range(60)]
    this = [(f"{('fine', 'poor', 'late')[n % 3]} film {n}", "gbl"[n % 3]) for n in range(60, 90)]
    write(folder / "last.csv", last)
    write(folder / "this.csv", this)
    write(folder / "both.csv", last + this)
    dev = write(folder / "dev.csv", [(f"{text} again", label) for text, label in this])
    settings = SMALL | {"train": {"epochs": 8}, "split": {"test": 0}}
    old_dev = write(folder / "old_dev.csv", [row for row in last if row[0].endswith("7")])
    train_files(folder / "last.csv", folder / "old", dev=old_dev, settings=settings)
    train_files(folder / "both.csv", folder / "new", dev=dev, settings=settings)
    return folder, this


@pytest.fixture
def two_weeks(trained_in_two_weeks, tmp_path):
    """A model of last week, and one of this week, which has a new label."""
    folder, this = trained_in_two_weeks
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path, this


def test_a_model_of_more_labels_is_compared_on_the_labels_of_both(two_weeks):
    folder, this = two_weeks
    rows = [(f"{text} or so", label) for text, label in this]
    file = write(folder / "next.csv", rows)
    common = write(folder / "common.csv", [row for row in rows if row[1] != "l"])
    report = evaluate_file(folder / "new", file, against=folder / "old")
    old, new = evaluate_file(folder / "old", common), evaluate_file(folder / "new", common)
    assert report.scores == evaluate_file(folder / "new", file).scores
    assert report.against.name == f"{folder / 'old'} (20)"
    assert report.against.scores == old.scores
    gain = new.score("accuracy") - old.score("accuracy")
    assert report.against.difference["accuracy"] == pytest.approx(gain)
    warnings = [message.text for message in report.messages if message.warning]
    assert any(
        f"10 of 30 texts have labels that {folder / 'old'} does not have" in text for text in warnings
    )


def test_the_model_of_fewer_labels_is_compared_where_others_are_left_out(two_weeks):
    folder, this = two_weeks
    file = write(folder / "next.csv", [(f"{text} or so", label) for text, label in this])
    with pytest.raises(DataError, match="'l' does not occur"):
        evaluate_file(folder / "old", file, against=folder / "new")
    report = evaluate_file(folder / "old", file, against=folder / "new", unknown_labels="skip")
    assert report.score("texts") == report.against.scores["texts"] == 20
    assert report.against.name == str(folder / "new")


def test_models_are_compared_on_texts_that_neither_was_trained_on(two_weeks):
    folder, this = two_weeks
    new_rows = [(f"{text} or so", label) for text, label in this if label != "l"]
    file = write(folder / "mixed.csv", [row for row in this if row[1] != "l"] + new_rows)
    report = evaluate_file(folder / "old", file, against=folder / "new")
    alone = [evaluate_file(folder / name, write(folder / "n.csv", new_rows)) for name in ("old", "new")]
    assert report.score("texts") == 40
    assert report.against.name == f"{folder / 'new'} (20)"
    assert report.against.scores == alone[1].scores
    gain = alone[0].score("accuracy") - alone[1].score("accuracy")
    assert report.against.difference["accuracy"] == pytest.approx(gain)
    texts = [message.text for message in report.messages]
    assert f"{folder / 'new'} is compared on the 20 texts that neither model was trained on" in texts
    assert not any(text.startswith(f"{folder / 'new'}: ") for text in texts)  # no warning of optimism


def test_files_that_two_models_read_in_different_ways_are_not_compared(two_weeks):
    folder, _ = two_weeks
    file = folder / "columns.csv"
    file.write_text("text,label\n" + "fine film,g\npoor film,b\n" * 10)
    one, two = evaluate_file(folder / "new", file), evaluate_file(folder / "old", file)
    assert one.score("texts") == two.score("texts") == 20
    sessions = [open_task_session(folder / name) for name in ("new", "old")]
    data = [session.read(file) for session in sessions]
    shorter = data[1].with_items(data[1].items[3:])
    with pytest.raises(ConfigError, match="it reads 17 texts"):
        compare_models(sessions[0], data[0], one.evaluation, sessions[1], shorter)


def test_what_can_be_compared(trained, tmp_path):
    folder, files = trained
    (tmp_path / "n.csv").write_text("text,number\n" + "".join(f"film {n},{n}.5\n" for n in range(60)))
    settings = SMALL | {"model": {"task": "regress"}}
    train_files(tmp_path / "n.csv", tmp_path / "numbers", settings=settings)
    with pytest.raises(ConfigError, match="a model of the task regress; expected one of the task classify"):
        evaluate_file(folder / "split", files["dev"], against=tmp_path / "numbers")
    with pytest.raises(StoreError, match="there is no such folder"):
        evaluate_file(folder / "split", files["dev"], against=tmp_path / "none")
    longer = {**settings, "train": {"epochs": 9}}
    train_files(tmp_path / "n.csv", tmp_path / "better", settings=longer)
    new = tmp_path / "new.csv"
    new.write_text("text,number\n" + "".join(f"a film {n},{n}.5\n" for n in range(60)))
    first, other = (evaluate_file(tmp_path / name, new) for name in ("numbers", "better"))
    ahead = evaluate_file(tmp_path / "numbers", new, against=tmp_path / "better").against
    gain = other.score("mae") - first.score("mae")  # less is better
    assert ahead.difference["score"] == pytest.approx(gain)
    assert ahead.difference["interval"][0] <= gain <= ahead.difference["interval"][1]


def test_whole_numbers_that_are_spelt_otherwise(tmp_path):
    rows = [(f"{'fine' if n % 2 else 'poor'} film {n}", n % 2) for n in range(60)]
    train_files(write(tmp_path / "train.csv", rows), tmp_path / "model", settings=SMALL)
    notes, listener = list[str](), Reporter()
    listener.note = notes.append  # type: ignore[method-assign]
    others = [
        write(tmp_path / f"other{own}.csv", [(f"{t} x", f"{n}{own}") for t, n in rows])
        for own in ("", ".0")
    ]
    found = [evaluate_file(tmp_path / "model", other, reporter=listener).evaluation for other in others]
    assert found[0].scores == found[1].scores
    assert sum("read as training spells them: '0.0' as '0', '1.0' as '1'" in note for note in notes) == 1


def test_the_surest_errors_of_tags_come_first():
    own = [TaggedSentence(("a", "b"), ("X", "Y")), TaggedSentence(("c",), ("X",))]
    predicted, sure = [["Y", "X"], ["Y"]], [np.array([0.6, 0.9]), np.array([0.7])]
    numbers = [[np.array([0, 1]), np.array([0])], [np.array([1, 0]), np.array([1])]]
    tokens = score_tags(*numbers, ["X", "Y"])
    found = TagEvaluation(tokens, None, 0.0, predicted, sure)
    assert found.worst(own, 9) == [(0, 1), (1, 0), (0, 0)]
    assert found.worst(own, 1) == [(0, 1)]


def test_the_surest_errors_of_spans_come_first_each_once():
    words = ("in", "New", "York", "Ann", "Lee", "ran")
    sentences = [
        TaggedSentence(words, ("O", "B-LOC", "I-LOC", "B-PER", "I-PER", "O")),
        TaggedSentence(("a", "b"), ("O", "O"), text="<a  b>", spans=((1, 2), (4, 5))),
    ]
    predicted = [["B-LOC", "I-LOC", "O", "O", "O", "B-ORG"], ["B-LOC", "I-LOC"]]
    sure = [np.array([0.9, 0.8, 0.7, 0.95, 0.96, 0.6]), np.array([0.9, 0.85])]
    tokens, entities = score_tagging(predicted, sentences, "iob2")
    found = TagEvaluation(tokens, entities, 0.0, predicted, sure)
    data = SimpleNamespace(items=sentences, where=lambda number, word: f"a.conll:{number}:{word}")
    mistakes = TagTask().mistakes(None, data, found, 9)
    assert [TagTask().describe_error(mistake) for mistake in mistakes] == [
        'PER "Ann Lee" missed (95.0 %)',
        'LOC "a  b" is spurious (85.0 %)',
        'LOC "New York" predicted as LOC "in New" (80.0 %)',
        'ORG "ran" is spurious (60.0 %)',
    ]
    assert [mistake["error"] for mistake in mistakes] == ["missed", "spurious", "ends", "spurious"]
    assert [mistake["where"] for mistake in mistakes] == [
        "a.conll:0:3",
        "a.conll:1:0",
        "a.conll:0:0",
        "a.conll:0:5",
    ]
    assert TagTask().mistakes(None, data, found, 2) == mistakes[:2]
    assert TagTask().evaluated_units(found) == "spans"


def test_types_of_spans_that_training_lacks(tmp_path):
    def tagged(name, kind):
        rows = [f"Ann B-{kind}\nran O\nhome O\n" if n % 2 else f"so{n} O\nit O\n" for n in range(40)]
        (tmp_path / name).write_text("\n".join(rows))
        return tmp_path / name

    settings = {**SMALL, "model": {"task": "tag"}, "base": {"name": "none"}}
    folder = tmp_path / "model"
    (tmp_path / "both.txt").write_text(
        tagged("a.txt", "PER").read_text() + "\n" + tagged("b.txt", "LOC").read_text()
    )
    train_files(tagged("a.txt", "PER"), folder, settings=settings)
    assert "the training data have no 'LOC': all such tags count as errors" in said(
        folder, tmp_path / "both.txt"
    )
    assert "have no" not in said(folder, tmp_path / "a.txt")
