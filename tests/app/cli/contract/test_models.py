"""What every task promises of its models: training, the card, scores, folders."""

import json
import re
import shutil

import pytest

from headwise.artifacts import load_model, read_info, save_model
from headwise.artifacts.model_card import escape
from headwise.core.errors import HeadwiseError
from headwise.models.tasks import TASKS, find_task

DRIFT: dict[str, dict[str, str]] = {}
LEFT_OUT = {
    # A file of texts and numbers may hold labels that are numbers; the last two read any text.
    "test_the_task_is_found_out_from_the_file": ("regress", "pair-score", "language-model", "masked-words"),
    "test_one_text_is_not_taken_for_its_letters": ("bags", "language-model", "masked-words"),
    # Its model is that of pair, its objective that of regress.
    "test_a_training_that_was_stopped_and_resumed_is_the_same": ("pair-score",),
    "test_folds_and_refit_are_done_or_refused": ("pair-score",),
}


def metrics_of(own) -> dict:
    return json.loads((own.model / "metrics.json").read_text())


def scores(call, own, *arguments, model=None) -> dict:
    """What evaluate finds, without the paths."""
    code, out, err = call("evaluate", model or own.model, *arguments, "--json")
    assert code == 0, err
    found = json.loads(out)
    return {name: value for name, value in found.items() if name not in ("model", "file")}


def dig(found: dict, path: tuple[str, ...]):
    for name in path:
        found = found[name]
    return found


def test_every_task_has_a_row(rows):
    assert set(rows) == set(TASKS)


def test_training_tells_what_it_does(own):
    out, err = own.said
    assert "epoch  1" in err
    assert "headwise evaluate" in out
    assert "Traceback" not in err
    assert (own.model / "manifest.json").exists()
    assert not (own.model / "training").exists()  # the state of a run that is over


def test_the_card_has_the_baseline(own):
    name = metrics_of(own)["baseline"]["name"]
    quality = (own.model / "README.md").read_text().split("## Quality")[1].split("\n## ")[0]
    assert f"| {escape(name)} | test |" in quality
    assert ("| out of fold |" if "folds" in metrics_of(own)["dev"] else "| dev |") in quality


def test_items_are_called_by_their_name(own):
    noun = own.row.noun
    card = (own.model / "README.md").read_text()
    data = card.split("## Data")[1].split("\n## ")[0]
    assert f"| part | {noun} |" in data
    assert noun in "".join(own.said)
    assert noun == "texts" or " texts" not in data


def test_evaluate(call, own):
    code, out, err = call("evaluate", own.model, own.test)
    assert (code, "Traceback" in err) == (0, False), err
    assert out.strip()
    found, written = scores(call, own, own.test), metrics_of(own)["test"]
    assert dig(found, own.row.score) == pytest.approx(dig(written, own.row.score))


def test_a_model_is_not_ahead_of_itself(call, own):
    report = scores(call, own, own.test, "--against", own.model)
    against = report.pop("against")
    assert report == scores(call, own, own.test)
    assert dig(against, own.row.score) == dig(report, own.row.score)
    if own.task not in ("language-model", "masked-words"):  # whose scores are no ratios of sums
        assert against["difference"]["interval"] == [0.0, 0.0]


def test_a_model_is_not_ahead_of_itself_on_the_items_that_it_was_not_trained_on(call, own):
    if own.task in ("language-model", "masked-words"):
        pytest.skip("it does not store which items it was trained on")
    report = scores(call, own, own.train, own.test, "--against", own.model)
    against, unseen = report["against"], report["unseen"]
    assert against["name"].startswith(f"{own.model} (")
    assert dig(against, own.row.score) == dig(unseen, own.row.score)
    assert against["difference"]["interval"] == [0.0, 0.0]


def test_evaluate_knows_the_test_file_of_the_training(call, own):
    assert scores(call, own, own.test)["baseline"]["name"]
    assert not scores(call, own, own.train).get("baseline")


def test_doctor(call, own, task):
    code, out, err = call("doctor", own.train, own.test, "--task", task)
    assert (code, "Traceback" in err) == (0, False), (out, err)
    assert "test" in out


def test_the_task_is_found_out_from_the_file(call, own, task):
    code, _, err = call("doctor", own.train)
    assert code == 0
    if task != "classify":  # which is what is not guessed to be something else
        assert f"task {task} guessed from the file" in err


def test_saved_is_loaded(call, own, tmp_path):
    model, info = load_model(own.model), read_info(own.model)
    again = tmp_path / "again"
    save_model(model, again, **{part: info[part] for part in ("data", "training", "metrics")})
    for name in ("model.safetensors", "config.json", "README.md"):
        assert (again / name).read_bytes() == (own.model / name).read_bytes(), name
    assert scores(call, own, own.test, model=again) == scores(call, own, own.test)


def test_a_model_is_not_replaced_by_mistake(call, own, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(own.model, model)
    before = {path.name: path.read_bytes() for path in model.iterdir()}
    code, _, err = call(*own.training(model))
    assert code == 2
    assert str(model) in err
    # Who starts a run again until it succeeds is told that it has; what a kill has left goes.
    (model / "training").mkdir()
    (model / "training" / "best-1.safetensors").touch()
    code, _, err = call(*own.training(model), "--resume")
    assert code == 0, err
    assert "the run is finished" in err
    code, _, err = call(*own.training(model), "--seed", 7, "--resume")
    assert code == 2
    assert "[HW403]" in err
    assert before == {path.name: path.read_bytes() for path in model.iterdir()}


@pytest.mark.fits_anew
def test_a_training_that_was_stopped_and_resumed_is_the_same(call, own, tmp_path, monkeypatch):
    from headwise.training import loop

    training, finish = own.training(tmp_path / "model"), loop._TrainingRun.finish_epoch

    def killed(run):
        finish(run)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop._TrainingRun, "finish_epoch", killed)
    code, _, err = call(*training)
    assert code == 130
    assert "--resume" in err
    monkeypatch.setattr(loop._TrainingRun, "finish_epoch", finish)
    assert call(*training)[0] == 2
    assert call(*training, "--resume")[0] == 0
    for name in ("model.safetensors", "config.json", "metrics.json"):
        assert (tmp_path / "model" / name).read_bytes() == (own.model / name).read_bytes(), name


def test_data_of_another_task_are_refused(call, own, trained_of, task, tmp_path):
    other = trained_of("bags" if task != "bags" else "classify").test
    if task in ("language-model", "masked-words"):  # which read any text
        (other := tmp_path / "nothing.txt").write_text("")
    code, _, err = call("evaluate", own.model, other)
    assert code == 2
    assert err.count("[HW") == 1, err
    assert "Traceback" not in err


def test_damage_is_noticed(call, own, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(own.model, model)
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    code, _, err = call("evaluate", model, own.test)
    assert (code, "[HW50" in err) == (2, True)


def test_settings_of_other_tasks_are_refused(call, own, task, tmp_path):
    flag = ["--tagger.crf"] if task == "bags" else ["--bags.width", "8"]
    code, _, err = call("train", own.train, "--task", task, "--output", tmp_path / "model", *flag)
    assert code == 2
    assert f"the task {task} has no such settings" in err
    assert not (tmp_path / "model" / "manifest.json").exists()


def test_one_text_is_not_taken_for_its_letters(own, task):
    model = load_model(own.model)
    with pytest.raises(HeadwiseError, match="expected a list of texts"):
        model.predict("one text")  # at once, before the first prediction is read
    items = [("one text", "another")] if task.startswith("pair") else ["one text"]
    assert len(list(model.predict(items))) == 1


def test_folds_and_refit_are_done_or_refused(call, own, task, tmp_path):
    """What is asked for is never silently left out."""
    flags = re.sub(r"--folds \d|--no-refit", "", own.row.flags) + own.row.plain
    flags = re.sub(r"--epochs \d", "--epochs 1", flags)
    if "--folds 2" not in own.row.flags:
        code, _, err = call(*own.training(tmp_path / "folds", f"{flags} --folds 2"))
        assert code == (0 if find_task(task).supports_cross_fitting else 2), err
        assert code == 0 or "not 2 folds" in err
    code, _, err = call(*own.training(tmp_path / "given", f"{flags} --refit"), "--dev", own.test)
    assert code == (2 if task == "language-model" else 0), err
    assert "refit: " in err
    code, _, err = call(*own.training(tmp_path / "again", f"{flags} --folds 0 --refit"))
    assert code == (2 if task == "language-model" else 0), err


def test_a_list_of_lines_is_of_items(call, own, task, tmp_path):
    (listed := tmp_path / "listed.csv").write_text("line\n3\n")
    flags = re.sub(r"--folds \d", "--folds 0", own.row.flags) + own.row.plain
    code, _, err = call(*own.training(tmp_path / "model", flags), "--drop", listed)
    assert "Traceback" not in err
    assert code == (2 if task == "language-model" or "HW127" in err else 0), err


def test_heads_are_probed(call, own, task):
    code, out, err = call("probe", own.model, own.test, "--json")
    assert code == (2 if task == "bags" else 0), err
    assert "Traceback" not in err
    assert code or len(json.loads(out)) == 2
