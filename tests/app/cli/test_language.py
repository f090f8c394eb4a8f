"""Language models at the command line: train, evaluate, sample."""

import io
import json

import pytest

from headwise.app.cli import main

TEXT = "the cat sat on the mat.\nthe dog ate the cat.\n" * 40
SMALL = [
    *("--encoder.width", "16", "--encoder.heads", "2", "--encoder.head-size", "8", "--encoder.layers", "1"),
    *(
        "--encoder.feedforward",
        "16",
        "--language.context",
        "16",
        "--language.windows",
        "20",
        "--epochs",
        "2",
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a text and two models of it."""
    folder = tmp_path_factory.mktemp("language")
    (folder / "text.txt").write_text(TEXT)
    common = ["train", str(folder / "text.txt"), "--task", "language-model", *SMALL]
    assert main([*common, "-o", str(folder / "plain")]) == 0
    bpt = ["--encoder", "bp-transformer", "--encoder.k", "2"]
    assert main([*common, *bpt, "-o", str(folder / "bpt"), "--language.unit", "words"]) == 0
    return folder


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def test_train_tells(folder, capsys, tmp_path):
    code, out, err = run(
        capsys,
        *("train", folder / "text.txt", "--task", "language-model", "-o", tmp_path / "m", *SMALL),
        *("--encoder", "bp-transformer", "--dev", folder / "text.txt", "--split.test", "0"),
    )
    assert code == 0
    assert "an epoch is 20 windows of 16 characters" in err
    assert "bp-transformer (width 16" in err
    assert "bits" in err
    assert "There are no test symbols" in out
    assert "headwise sample" in out


def test_a_table_is_told(capsys, tmp_path):
    (tmp_path / "t.csv").write_text("label,text\n" + "good,the cat sat\nbad,the dog ate\n" * 80)
    code, _, err = run(
        capsys, "train", tmp_path / "t.csv", "--task", "language-model", "-o", tmp_path / "m", *SMALL
    )
    assert code == 0
    assert "looks like csv" in err
    assert "HW283" in err


def test_probe_takes_no_parses(folder, capsys):
    text = folder / "text.txt"
    code, _, err = run(capsys, "probe", folder / "plain", text, "--parses", text)
    assert code == 2
    assert "reads no syntax" in " ".join(err.split())


def test_defaults_are_an_encoder_that_looks_back(folder):
    config = json.loads((folder / "plain" / "config.json").read_text())["model"]
    assert config["encoder"]["name"] == "transformer"
    assert config["encoder"]["priors"] == ["forward + word-distance(1)", "forward"]
    assert json.loads((folder / "bpt" / "config.json").read_text())["model"]["encoder"]["causal"] is True


def test_evaluate(folder, capsys):
    code, out, _ = run(capsys, "evaluate", folder / "plain", folder / "text.txt", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["symbols"] == len(TEXT)
    assert 0.5 < found["bits_per_character"] < 5
    code, out, _ = run(capsys, "evaluate", folder / "bpt", folder / "text.txt", "--json")
    assert json.loads(out)["perplexity_per_word"] > 1
    code, out, _ = run(capsys, "evaluate", folder / "plain", folder / "text.txt")
    assert "bits per character" in out
    assert f"{len(TEXT):,}" in out


def test_unknown_characters_are_told(folder, capsys, tmp_path):
    (tmp_path / "other.txt").write_text("THE CAT " * 10)
    _, out, err = run(capsys, "evaluate", folder / "plain", tmp_path / "other.txt", "--json")
    assert json.loads(out)["unknown_symbols"] == 60
    assert "the model does not know 75.0 % of the characters" in err


def test_sample(folder, capsys):
    common = ("sample", folder / "plain", "--prompt", "the ", "--length", "40")
    texts = [run(capsys, *common, "--seed", seed)[1] for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]
    assert texts[0].startswith("the ")
    assert len(texts[0]) == len("the ") + 40 + 1
    greedy = run(capsys, *common, "--temperature", "0")[1]
    assert greedy == run(capsys, *common, "--top-k", "1", "--seed", "9")[1]
    words = run(capsys, "sample", folder / "bpt", "--prompt", "the cat", "--length", "9")[1]
    assert len(words.replace("\n", " \n ").split(" ")) >= 9


def test_a_prompt_from_standard_input(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("the cat"))
    code, out, err = run(capsys, "sample", folder / "plain", "--prompt", "-", "--length", "5")
    assert code == 0, err
    assert (out.startswith("the cat"), len(out)) == (True, len("the cat") + 5 + 1)


def test_sample_errors(folder, capsys):
    code, _, err = run(capsys, "sample", folder / "plain", "--prompt", "Hello!")
    assert code == 2
    assert "the prompt has characters that the model does not know: 'H', 'l', '!'" in err
    code, _, err = run(capsys, "sample", folder / "plain", "--temperature", "-1")
    assert code == 2
    assert "temperature" in err


def test_a_long_prompt_is_cut(folder, capsys):
    long = run(capsys, "sample", folder / "plain", "--prompt", TEXT[:100], "--length", "5")
    short = run(capsys, "sample", folder / "plain", "--prompt", TEXT[84:100], "--length", "5")
    assert long[1][-6:] == short[1][-6:]
    assert "the model looks back to the last 16" in long[2]


def test_other_models_do_not_write(folder, capsys, tmp_path):
    (tmp_path / "texts.csv").write_text(
        "text,label\n" + "".join(f"good {n},yes\nbad {n},no\n" for n in range(30))
    )
    assert main(["train", str(tmp_path / "texts.csv"), "--epochs", "1", "-o", str(tmp_path / "m")]) == 0
    code, _, err = run(capsys, "sample", tmp_path / "m")
    assert code == 2
    assert "only language models write" in err


def test_what_a_language_model_does_not_do(folder, capsys, tmp_path):
    code, _, err = run(capsys, "predict", folder / "plain", folder / "text.txt")
    assert (code, "headwise sample" in err) == (2, True)
    code, _, err = run(capsys, "evaluate", folder / "plain", folder / "text.txt", "--errors", "2")
    assert code == 2
    text = ("train", folder / "text.txt", "--task", "language-model", "-o", tmp_path / "m")
    code, _, err = run(capsys, *text, "--encoder", "bilstm")
    assert (code, "must not see what it is to predict" in err) == (2, True)
    code, _, err = run(capsys, *text, "--encoder.priors", "everything")
    assert (code, "sees symbols to come" in err) == (2, True)
    code, _, err = run(capsys, *text, "--parses", folder / "text.txt")
    assert code == 2


def test_a_run_that_was_stopped(folder, capsys, tmp_path, monkeypatch):
    from headwise.training.loop import _TrainingRun

    update, calls = _TrainingRun.update, []

    def stop_once(self, batches):
        if len(calls) == 4:
            calls.append(None)
            raise KeyboardInterrupt
        calls.append(None)
        return update(self, batches)

    arguments = ("train", folder / "text.txt", "--task", "language-model", "-o", tmp_path / "m", *SMALL)
    arguments += ("--checkpoint-seconds", "0")
    monkeypatch.setattr(_TrainingRun, "update", stop_once)
    assert run(capsys, *arguments)[0] == 130
    assert run(capsys, *arguments, "--resume")[0] == 0
    whole = (folder / "plain" / "model.safetensors").read_bytes()
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == whole


def test_doctor(folder, capsys):
    code, out, _ = run(capsys, "doctor", folder / "text.txt", "--task", "language-model")
    assert code == 0
    assert "format plain text\n" in out
    assert "distinct  empty  words: min" in " ".join(out.split("\n\n")[1].splitlines())
    assert "character" in out


def test_a_file_without_labels_hints_at_the_task(folder, capsys, tmp_path):
    code, _, err = run(capsys, "train", folder / "text.txt", "-o", tmp_path / "m")
    assert code == 2
    assert "plain text is for train --task language-model" in " ".join(err.split())


def test_any_bytes_are_gone_on_with_and_only_text_by_others(folder, tmp_path, capsys):
    (tmp_path / "any.dat").write_bytes(bytes(range(256)) * 40)
    flags = ("--task", "language-model", "--language.unit", "bytes", *SMALL)
    assert run(capsys, "train", tmp_path / "any.dat", "-o", tmp_path / "m", *flags)[0] == 0
    code, out, err = run(capsys, "sample", tmp_path / "m", "--prompt", "\udcff", "--length", "3")
    assert code == 0, err
    assert out.startswith("\ufffd")
    code, _, err = run(capsys, "sample", folder / "plain", "--prompt", "\udcff", "--length", "3")
    assert code == 2
    assert "HW280" in err
    cold = ("--temperature", "1e-320", "--length", "3")
    assert run(capsys, "sample", folder / "plain", *cold)[0] == 0
