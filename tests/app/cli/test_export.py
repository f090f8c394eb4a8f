"""`headwise export`, and what is made of it by processes that cannot import torch."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra `onnx` is not installed")
pytest.importorskip("onnx", reason="the extra `onnx` is not installed")

BLOCKED = """
import sys
for name in ("torch", "sklearn", "joblib", "threadpoolctl", "onnx", "onnxscript", "transformers", "spacy"):
    sys.modules[name] = None  # importing it is an error
"""
COMMAND = f"""{BLOCKED}
from headwise.app.cli import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def without_torch(tmp_path):
    """Runs `headwise` in a process that cannot import torch: (exit code, standard output, error)."""
    script = tmp_path / "without_torch.py"
    script.write_text(COMMAND)

    def run(*arguments) -> tuple[int, str, str]:
        environment = {**os.environ, "HEADWISE_TRACEBACK": "0"}
        done = subprocess.run(
            [sys.executable, str(script), *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture(scope="module")
def model(save) -> Path:
    """The folder of a model that tells bad from good; its graph has the only layer."""
    return save(["bad", "good"], layers=1)


@pytest.fixture(scope="module")
def exported(model, tmp_path_factory, same_graphs) -> Path:
    """What was exported of a model that tells bad from good."""
    from headwise.app.workflows.export import export_model

    with same_graphs():
        return export_model(model, tmp_path_factory.mktemp("exported") / "small").folder


def test_as_many_unknown_words_as_in_the_test_are_no_news(save, without_torch, tmp_path, graphs_once):
    from headwise.app.workflows.export import export_model

    folder = export_model(
        save(["bad", "good"], layers=1, metrics={"test": {"unknown_words": 0.31}}), tmp_path / "own"
    ).folder
    for text, warns in (("w1 w2 w3 w1 zzz zzz", False), ("w1 zzz zzz", True)):
        (tmp_path / "in.txt").write_text(text + "\n")
        assert ("does not know" in without_torch("predict", folder, "in.txt")[2]) == warns


def rows_of(path: Path) -> list[list[str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def same(one: Path, other: Path, numbers: int) -> bool:
    """Whether two tables say the same but for last digits of the `numbers` behind."""
    first, second = rows_of(one), rows_of(other)
    assert first[0] == second[0]
    assert [row[:-numbers] for row in first] == [row[:-numbers] for row in second]
    pairs = zip(first[1:], second[1:], strict=True)
    return all(
        abs(float(p) - float(q)) <= 2e-6
        for own, its in pairs
        for p, q in zip(own[-numbers:], its[-numbers:], strict=True)
    )


def test_the_command(run, model, table, tmp_path, graphs_once):
    code, out, err = run("export", model, "x")
    assert code == 0, err
    assert "compared on" in err
    assert "Exported: x (" in out
    assert "headwise predict x NEW_TEXTS" in out
    code, _, err = run("export", model, "x")
    assert (code, "[HW954]" in err) == (2, True)
    assert run("export", model, "--output", "x", "--overwrite")[0] == 0
    table(tmp_path / "in.csv", 40)
    for folder, output in ((model, "one.csv"), ("x", "other.csv")):
        assert run("predict", folder, "in.csv", "-o", output)[0] == 0
    assert same(tmp_path / "one.csv", tmp_path / "other.csv", 3)


def test_what_is_to_be_typed_next_can_be(run, model, graphs_once):
    code, out, _ = run("export", model, "mine & yours")
    assert code == 0
    assert "pip install -r 'mine & yours/requirements.txt'; pip" in out
    assert "headwise predict 'mine & yours' NEW_TEXTS" in out


def test_a_full_disk(run, model, monkeypatch, graphs_once):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    code, _, err = run("export", model, "x")
    assert (code, "x: cannot be written: No space left" in err) == (2, True), err
    assert "HW604" in err


def test_commands_that_need_the_model_itself_say_so(run, exported, table, tmp_path):
    table(tmp_path / "in.csv", 5)
    for arguments in (("evaluate", exported, "in.csv"), ("export", exported, "x")):
        code, _, err = run(*arguments)
        assert (code, "[HW502]" in err, "this is an exported model" in err) == (2, True, True)
    code, _, err = run("predict", exported, "in.csv", "--device", "cuda")
    assert (code, "exported models run on the CPU" in err) == (2, True)


def test_predicting_without_torch(run, without_torch, model, exported, table, tmp_path):
    table(tmp_path / "in.csv", 60)
    assert run("predict", model, "in.csv", "-o", "one.csv")[0] == 0
    code, out, err = without_torch("predict", exported, "in.csv", "-o", "other.csv")
    assert (code, out) == (0, ""), err
    assert "60 texts predicted" in err
    assert same(tmp_path / "one.csv", tmp_path / "other.csv", 3)
    content = (tmp_path / "other.csv").read_bytes()
    (tmp_path / "other.csv").write_bytes(content[: len(content) // 2])
    code, _, err = without_torch("predict", exported, "in.csv", "-o", "other.csv", "--resume")
    assert code == 0, err
    assert (tmp_path / "other.csv").read_bytes() == content
    code, out, err = without_torch("predict", exported, "in.csv", "--format-out", "jsonl")
    assert code == 0, err
    assert len([json.loads(line) for line in out.splitlines()]) == 60


def test_a_tagger_without_torch(run, without_torch, tmp_path):
    sentences = (f"w{n % 7} O\nin O\n{'Rome' if n % 2 else 'Oslo'} B-LOC\n\n" for n in range(60))
    (tmp_path / "tags.conll").write_text("".join(sentences))
    sizes = ("--encoder.width", 8, "--encoder.heads", 2, "--encoder.head-size", 4, "--encoder.layers", 1)
    assert run("train", "tags.conll", "-o", "tagger", "--epochs", 1, *sizes)[0] == 0
    code, out, err = run("export", "tagger", "x")
    assert code == 0, err
    assert "--output predictions.jsonl" in out
    (tmp_path / "in.txt").write_text(
        "w3 in Rome\n\nOslo, w5 in Oslo\n"
    )  # whose words are cut as in training
    (tmp_path / "in.conll").write_text("w3 O\nin O\nRome O\n\nOslo O\n")
    for name in ("in.txt", "in.conll"):
        assert run("predict", "tagger", name, "-o", "one.jsonl", "--overwrite")[0] == 0
        code, _, err = without_torch("predict", "x", name, "-o", "other.jsonl", "--overwrite")
        assert code == 0, err
        lines = ((tmp_path / own).read_text().splitlines() for own in ("one.jsonl", "other.jsonl"))
        for one, other in zip(*(map(json.loads, own) for own in lines), strict=True):
            assert other.pop("probabilities") == pytest.approx(one.pop("probabilities"), abs=1e-5)
            for own, its in zip(one.pop("spans"), other.pop("spans"), strict=True):
                assert its.pop("probability") == pytest.approx(own.pop("probability"), abs=1e-5)
                assert own == its
            assert one == other


def test_workers_without_torch(without_torch, exported, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("".join(f"w{n % 7} w{n % 5}\n" for n in range(3_000)))
    for workers in (1, 2):
        code, _, err = without_torch(
            *("predict", exported, "in.txt", "-o", f"{workers}.csv", "--workers", workers)
        )
        assert code == 0, err
    assert same(tmp_path / "1.csv", tmp_path / "2.csv", 3)


def test_what_needs_torch_says_so(without_torch, model, table, tmp_path):
    table(tmp_path / "in.csv", 5)
    for arguments in (("suggest", model, "in.csv"), ("train", "in.csv")):
        code, _, err = without_torch(*arguments)
        assert code == 2, err
        message = "[HW957] this needs torch; in the source folder of headwise: pip install '.[train]'"
        assert err.count(message) == 1, err


@pytest.mark.parametrize(
    "call", ["load_model({!r})", "calibrate_file({!r}, 'in.csv', 'out')", "TextClassifier()"]
)
def test_what_needs_torch_says_so_from_python(model, tmp_path, call):
    """As an error of headwise, and still as the one that Python has for it."""
    code = f"{BLOCKED}\nimport headwise\ntry:\n    headwise.{call.format(str(model))}\n"
    code += "except headwise.HeadwiseError as e:\n    print(e.code, isinstance(e, ModuleNotFoundError), e)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    said = re.match(r"HW957 True \[HW957\] this needs (torch|sklearn); in the source folder", done.stdout)
    assert said, done.stdout
    assert ("load_exported opens what 'headwise export'" in done.stdout) == (not call.startswith("calib"))


def test_what_is_no_folder_is_told_without_torch(without_torch, table, tmp_path):
    table(tmp_path / "in.csv", 5)
    for folder, code in (("nowhere", "HW501"), (tmp_path, "HW502")):
        assert f"[{code}]" in without_torch("predict", folder, "in.csv")[2]


def test_the_public_name_without_torch(exported):
    code = f"{BLOCKED}\nimport headwise; m = headwise.load_exported({str(exported)!r}); "
    code += "print(m.labels, [p.label for p in m.predict(['w1 w2'])], m.predict_proba(['w1']).shape)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("('bad', 'good') ['")
    assert done.stdout.endswith("(1, 2)\n")


def test_serving_without_torch(exported):
    pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
    code = f"""{BLOCKED}
from headwise.app.serve.answering import ModelService
from headwise.app.serve.http_app import create_app
answering = ModelService({str(exported)!r})
create_app(answering)
print(*answering.predict([{{"text": "w1 w2"}}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["prediction"] in ("bad", "good")
