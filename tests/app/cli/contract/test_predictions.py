"""What every task promises of its predictions: files, and going on with one that was interrupted."""

import csv
import io
import json
import pickle

import pytest

from headwise.app.session import ModelSession
from headwise.artifacts import load_model, read_info, save_model

DRIFT: dict[str, dict[str, str]] = {}
NOTHING = ("language-model", "masked-words")  # which predict nothing
RESUMED = (
    "test_an_output_is_resumed_byte_for_byte",
    "test_a_foreign_file_is_left_alone",
    "test_predictions_of_another_model_are_left_alone",
    "test_predictions_of_another_file_are_left_alone",
)
LEFT_OUT = dict.fromkeys(("test_predict", "test_what_is_said_can_be_sent"), NOTHING)
# The input of pair-score is that of pair, and its output that of regress.
LEFT_OUT |= dict.fromkeys(RESUMED, (*NOTHING, "pair-score"))


def records(path) -> list:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    if path.suffix == ".conll":
        return path.read_text().rstrip("\n").split("\n\n")
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_predict(call, own, sizes, tmp_path):
    for suffix in own.row.outputs:
        path = tmp_path / f"out{suffix}"
        code, out, err = call("predict", own.model, own.test, "--output", path)
        assert (code, out) == (0, ""), err
        assert f"{sizes[1]} " in err
        assert len(found := records(path)) == sizes[1]
        code, out, _ = call("predict", own.model, own.test, "--format-out", suffix[1:])
        assert (code, out) == (0, path.read_bytes().decode())
        assert call("predict", own.model, own.test, "--output", path)[0] == 2  # it is not lost by mistake
        again = ("--overwrite", "--workers", "2")  # of so few, this process predicts them alone
        assert call("predict", own.model, own.test, "--output", path, *again)[0] == 0
        assert records(path) == found


@pytest.mark.parametrize("kind", ["classify", "pair", "bags"])
def test_the_unsure_are_marked(call, trained_of, tmp_path, kind):
    own = trained_of(kind)
    for suffix in own.row.outputs:
        plain, marked = (tmp_path / f"{name}{suffix}" for name in ("plain", "marked"))
        assert call("predict", own.model, own.test, "--output", plain)[0] == 0
        code, _, err = call("predict", own.model, own.test, "--output", marked, "--unsure", "0.6")
        assert code == 0, err
        rows, found = records(plain), records(marked)
        marks = [str(row.pop("unsure")).lower() for row in found]
        assert found == rows
        assert marks == [str(float(row["probability"]) < 0.6).lower() for row in rows]
        assert f"unsure of {marks.count('true')} " in err
        whole = marked.read_bytes()
        marked.write_bytes(whole[: len(whole) // 2])
        assert (
            call("predict", own.model, own.test, "--output", marked, "--unsure", "0.6", "--resume")[0] == 0
        )
        assert marked.read_bytes() == whole
    code, out, err = call("evaluate", own.model, own.test, "--unsure", "0.6", "--json")
    assert code == 0, err
    assert json.loads(out)["sure"]["share"] == pytest.approx(marks.count("false") / len(marks))
    code, out, err = call("evaluate", own.model, own.train, "--unsure", "precision=0.1")
    assert code == 0, err
    assert "answered" in out


def test_the_spans_of_which_a_tagger_is_unsure_are_marked(call, trained_of, tmp_path):
    own = trained_of("tag")
    for suffix in (".jsonl", ".csv"):
        plain, marked = (tmp_path / f"{name}{suffix}" for name in ("plain", "marked"))
        assert call("predict", own.model, own.test, "--output", plain)[0] == 0
        code, _, err = call("predict", own.model, own.test, "--output", marked, "--unsure", "0.6")
        assert code == 0, err
        rows, found = ([spans_of(record) for record in records(path)] for path in (plain, marked))
        marks = [span.pop("unsure") for spans in found for span in spans]
        assert found == rows
        assert marks == [span["probability"] < 0.6 for spans in rows for span in spans]
        assert f"unsure of {sum(marks)} spans" in err
        whole = marked.read_bytes()
        marked.write_bytes(whole[: len(whole) // 2])
        again = "predict", own.model, own.test, "--output", marked, "--resume"
        assert call(*again)[0] == 2  # without the marks it would be another file
        assert call(*again, "--unsure", "0.6")[0] == 0
        assert marked.read_bytes() == whole
    code, out, err = call("evaluate", own.model, own.test, "--unsure", "0.6", "--json")
    assert code == 0, err
    scores = json.loads(out)
    sure, entities = scores["sure"], scores["entities"]
    assert sure["share"] == pytest.approx(marks.count(False) / len(marks))
    right = round(sure.get("accuracy", 0) * marks.count(False))
    assert sure["recall"] == pytest.approx(right / entities["spans"])
    code, out, err = call("evaluate", own.model, own.train, "--unsure", "precision=0.1")
    assert (code, "answered" in out) == (0, True), err
    code, _, err = call("predict", own.model, own.test, "--unsure", "0.6")
    assert (code, "[HW603]" in err, "--format-out jsonl" in err) == (2, True, True)


def spans_of(record):
    return json.loads(record["spans"]) if isinstance(record["spans"], str) else record["spans"]


@pytest.mark.parametrize("kind", ["multi-label", "regress"])
def test_who_chooses_no_label_is_not_unsure(call, trained_of, kind):
    own = trained_of(kind)
    for command in ("predict", "evaluate"):
        code, _, err = call(command, own.model, own.test, "--unsure", "0.9")
        assert (code, "one of several labels" in err) == (2, True), err


@pytest.mark.parametrize(
    ("name", "then"),
    [("language-model", "headwise sample"), ("masked-words", "headwise train FILE --base")],
)
def test_what_predicts_nothing_says_what_it_does(call, trained_of, name, then):
    own = trained_of(name)
    code, _, err = call("predict", own.model, own.test)
    assert code == 2
    assert then in err
    assert then in own.said[0]


@pytest.fixture(scope="session")
def whole_of(call, trained_of, tmp_path_factory):
    """`whole_of(task, suffix)`: predictions of the training file that nothing has interrupted."""
    made: dict[tuple[str, str], bytes] = {}

    def of(task: str, suffix: str) -> bytes:
        if (task, suffix) not in made:
            own = trained_of(task)
            path = tmp_path_factory.mktemp("whole") / f"out{suffix}"
            assert call("predict", own.model, own.train, "--output", path)[0] == 0
            made[task, suffix] = path.read_bytes()
        return made[task, suffix]

    return of


def test_an_output_is_resumed_byte_for_byte(call, own, whole_of, tmp_path):
    for suffix in own.row.outputs:
        content, path = whole_of(own.task, suffix), tmp_path / f"out{suffix}"
        lines = content.splitlines(keepends=True)
        first, some = len(lines[0]), len(b"".join(lines[: len(lines) // 2]))
        # Nothing, a part of the head, all of it, of a record, whole records, and all.
        for size in (0, first - 1, first, first + 3, some, some + 1, len(content)):
            path.write_bytes(content[:size])
            code, _, err = call("predict", own.model, own.train, "--output", path, "--resume")
            assert code == 0, (size, err)
            assert path.read_bytes() == content, (suffix, size)


def test_a_foreign_file_is_left_alone(call, own, whole_of, tmp_path):
    for suffix in own.row.outputs:
        content, path = whole_of(own.task, suffix), tmp_path / f"out{suffix}"
        for foreign in (b"my diary\nday one\n", b'{"a": 1}\n', content + content[len(content) // 2 :]):
            path.write_bytes(foreign)
            code, _, err = call("predict", own.model, own.train, "--output", path, "--resume")
            assert (code, "HW60" in err) == (2, True), (suffix, foreign[:20])
            assert path.read_bytes() == foreign


def half(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: len(lines) // 2])


def test_predictions_of_another_model_are_left_alone(call, own, whole_of, tmp_path):
    model, info = load_model(own.model), read_info(own.model)
    for tensor in (*model.parameters(), *model.buffers()):
        if tensor.is_floating_point():
            tensor.data.mul_(1.25)
    save_model(model, tmp_path / "m", **{part: info[part] for part in ("data", "training", "metrics")})
    for suffix in own.row.outputs[:1]:  # that with probabilities: files of equal tags are equal
        path, begun = tmp_path / f"out{suffix}", half(whole_of(own.task, suffix))
        path.write_bytes(begun)
        code, _, err = call("predict", tmp_path / "m", own.train, "--output", path, "--resume")
        assert (code, "HW602" in err) == (2, True), err
        assert path.read_bytes() == begun


def test_predictions_of_another_file_are_left_alone(call, own, sizes, whole_of, tmp_path):
    other = tmp_path / f"other{own.row.suffix}"
    other.write_text(own.row.make(sizes[0], 7))
    for suffix in own.row.outputs:
        path, begun = tmp_path / f"out{suffix}", half(whole_of(own.task, suffix))
        path.write_bytes(begun)
        code, _, err = call("predict", own.model, other, "--output", path, "--resume")
        assert (code, "HW602" in err) == (2, True), err
        assert path.read_bytes() == begun


def test_what_is_said_can_be_sent(own):
    """To other processes: items go there, and what they say of them comes back."""
    session = ModelSession.open(own.model)
    predictor = session.predictor(1000, {}, None)
    rows = list(session.rows(own.test))
    items = pickle.loads(pickle.dumps([row.item for row in rows]))
    said = pickle.loads(pickle.dumps(predictor.predict(items)))
    layout = predictor.layout(own.row.outputs[0][1:], rows)
    records = [
        list(map(layout.record, rows, found))
        for found in (said.predictions, predictor.predict_uncounted(items))
    ]
    assert records[0] == records[1]
    assert predictor.items == 0
    assert predictor.take(said) is said.predictions
    assert predictor.items == len(rows)
