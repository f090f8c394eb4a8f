"""Dependency syntax from files, through train, evaluate and predict."""

import csv
import random
import shutil
from pathlib import Path

import pytest

from headwise.artifacts import load_model

SETTINGS = (
    *("--encoder", "ms-san", "--encoder.width", "8", "--encoder.heads", "6", "--encoder.head-size", "2"),
    *("--encoder.feedforward", "8", "--words.vector-size", "8", "--classifier.hidden", "8"),
    *("--epochs", "1", "--linear-model.kind", "none", "--words.tokenizer", "whitespace", "--no-baseline"),
    *("--base", "none", "--folds", "0", "--learning-rate", "0.05"),
)


def heads(words: int, chance: random.Random) -> list[int]:
    """Of a random tree: each word depends on one before it, the first is the root."""
    return [0, *(chance.randint(1, word) for word in range(1, words))]


@pytest.fixture(scope="module")
def contents() -> dict[str, str]:
    """reviews.csv with its reviews.heads, and the same in the other forms of parses."""
    chance = random.Random(0)
    rows = []
    for number in range(80):
        words = chance.choices(["a", "b", "c", "good", "bad"], k=chance.randint(1, 8))
        words.append(str(number))
        rows.append((words, heads(len(words), chance), "yes" if "good" in words else "no"))
    lines = [" ".join(map(str, own)) for _, own, _ in rows]
    conllu = ""
    for words, own, _ in rows:
        for number, (word, head) in enumerate(zip(words, own, strict=True), start=1):
            conllu += "\t".join([str(number), word, *"____", str(head), *"___"]) + "\n"
        conllu += "\n"
    return {
        "reviews.csv": "".join(
            f"{text},{label}\n"
            for text, label in [("text", "label"), *((" ".join(w), y) for w, _, y in rows)]
        ),
        "reviews.heads": "".join(f"{line}\n" for line in lines),
        "reviews.parsed": "".join(
            f"{' '.join(w)}\t{line}\n" for (w, _, _), line in zip(rows, lines, strict=True)
        ),
        "reviews.conllu": conllu,
    }


@pytest.fixture
def files(contents, tmp_path) -> Path:
    """The folder of these files, in which the commands run."""
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return tmp_path


@pytest.fixture(scope="module")
def trained(train_once, contents) -> Path:
    return train_once(contents, "reviews.csv", "--parses", "reviews.heads", *SETTINGS)[0]


@pytest.fixture
def model(files, trained) -> Path:
    """The folder `reviews.model` among the files, of a model that was trained on the parses."""
    return Path(shutil.copytree(trained / "reviews.model", files / "reviews.model"))


def test_train_evaluate_and_predict_with_heads(files, run):
    code, _, err = run("train", "reviews.csv", "--parses", "reviews.heads", *SETTINGS)
    assert code == 0, err
    model = files / "reviews.model"
    assert load_model(model).features.trees == "error"
    code, _, err = run("evaluate", model, "reviews.csv", "--parses", "reviews.parsed")
    assert code == 0, err
    for form in ("heads", "parsed", "conllu"):
        code, _, err = run(
            "predict", model, "reviews.csv", "--parses", f"reviews.{form}", "-o", f"{form}.csv"
        )
        assert code == 0, err
    assert (files / "heads.csv").read_text() == (files / "parsed.csv").read_text()
    assert (files / "heads.csv").read_text() == (files / "conllu.csv").read_text()


def test_explain_and_probe_take_heads(files, model, run):
    for command in ("explain", "probe"):
        code, _, err = run(command, "reviews.model", "reviews.csv")
        assert code == 2
        assert "--parses" in " ".join(err.split())
        found = [
            run(command, "reviews.model", "reviews.csv", "--parses", f"reviews.{form}", "--json")
            for form in ("heads", "conllu")
        ]
        assert [code for code, _, _ in found] == [0, 0], found
        assert found[0][1] == found[1][1]


@pytest.mark.parametrize("command", [("heads", "reviews.csv"), ("report", "--data", "reviews.csv")])
def test_heads_and_report_take_heads(files, model, run, command):
    verb, *data = command
    code, _, err = run(verb, "reviews.model", *data)
    assert code == 2
    assert "--parses" in " ".join(err.split())
    code, _, err = run(verb, "reviews.model", *data, "--parses", "reviews.conllu")
    assert code == 0, err
    if verb == "report":
        assert "<h2>Heads" in (files / "report.html").read_text()
    else:  # as it was called before
        for old in (["--syntax", "reviews.conllu"], ["--heads=reviews.conllu"]):
            code, _, err = run(verb, "reviews.model", *data, *old)
            assert code == 0
            assert (
                f"- {old[0].split('=')[0]} is now --parses; the old name goes with the next release" in err
            )


def test_parses_of_a_report_need_their_texts(files, run):
    run("train", "reviews.csv", "--parses", "reviews.heads", *SETTINGS, "--report", "first.html")
    assert (files / "first.html").exists()
    code, _, err = run("report", "reviews.model", "--parses", "reviews.heads")
    assert code == 2
    assert "--data" in err


def test_parses_that_nobody_reads_are_told(files, run):
    tree = SETTINGS.index("--encoder.feedforward")
    other = [{"ms-san": "transformer"}.get(own, own) for own in (*SETTINGS[:tree], *SETTINGS[tree + 2 :])]
    said = "uses dependency trees"
    code, _, err = run("train", "reviews.csv", "--parses", "reviews.heads", *other)
    assert code == 0, err
    assert f"--parses: not used, as no head of transformer {said}" in err
    for verb in ("predict", "evaluate", "explain"):
        code, _, err = run(verb, "reviews.model", "reviews.csv", "--parses", "reviews.heads")
        assert code == 0, err
        assert f"--parses reviews.heads: not used, as no head of the model {said}" in err
    assert said not in run("predict", "reviews.model", "reviews.csv")[2]


def test_suggest_takes_heads(files, model, run):
    with open(files / "reviews.csv", newline="") as file:
        texts = [row["text"].split() for row in csv.DictReader(file)]
    (files / "new.csv").write_text("\n".join(["text", *(" ".join(["new", *words[1:]]) for words in texts)]))
    code, _, err = run("suggest", "reviews.model", "new.csv")
    assert code == 2
    assert "--parses" in " ".join(err.split())
    code, out, _ = run("suggest", "reviews.model", "new.csv", "--parses", "reviews.heads", "--count", "2")
    assert code == 0
    assert len(out.splitlines()) == 3


def test_the_trees_matter(files, model, run):
    lines = (files / "reviews.heads").read_text().splitlines()
    chains = [" ".join(map(str, range(len(line.split())))) for line in lines]
    (files / "chains.heads").write_text("".join(f"{line}\n" for line in chains))
    for name in ("reviews", "chains"):
        run("predict", "reviews.model", "reviews.csv", "--parses", f"{name}.heads", "-o", f"{name}.out.csv")
    assert (files / "reviews.out.csv").read_text() != (files / "chains.out.csv").read_text()


def test_texts_without_parses_are_an_error_that_says_what_to_do(files, run):
    code, _, err = run("train", "reviews.csv", *SETTINGS)
    assert code == 2
    for advice in ("--parses", "--syntax.pipeline", "tree-fallback", "80 of 80 texts have no parse"):
        assert advice in " ".join(err.split())


@pytest.mark.parametrize("part", ["dev", "test"])
def test_the_flag_for_the_parses_that_are_missing_is_named(files, run, part):
    """Before training, also of the test texts, which are read after it."""
    lines = (files / "reviews.csv").read_text().splitlines()
    (files / "other.csv").write_text("\n".join([lines[0], *lines[1:21], ""]))
    code, out, err = run(
        "train", "reviews.csv", "--parses", "reviews.heads", f"--{part}", "other.csv", *SETTINGS
    )
    assert code == 2
    assert "[HW235] other.csv:2: no parse (nor have 19 more of it)" in " ".join(err.split())
    assert f"Give the parses of other.csv with --{part}-parses FILE" in " ".join(err.split())
    assert "epoch" not in out
    code, _, err = run("train", "reviews.csv", *SETTINGS)
    assert "Give the parses of reviews.csv with --parses FILE" in " ".join(err.split())


def test_no_output_is_left_of_a_prediction_without_parses(files, model, run):
    (files / "before.csv").write_text("something\n")
    for name, options in (("new.csv", ()), ("new.jsonl.gz", ()), ("before.csv", ("--overwrite",))):
        code, _, err = run("predict", "reviews.model", "reviews.csv", "-o", name, *options)
        assert code == 2
        assert "HW235" in err
    assert not list(files.glob("new.*"))
    assert (files / "before.csv").read_text() == "something\n"
    code, _, err = run(
        "predict", "reviews.model", "reviews.csv", "-o", "new.csv", "--parses", "reviews.heads"
    )
    assert code == 0, err


def test_a_server_that_could_answer_nobody_is_not_begun(files, model, run):
    code, _, err = run("serve", "reviews.model", "--port", "0")
    assert code == 2
    assert "HW235" in err
    assert "--pipeline" in err


def test_on_request_the_distance_between_words_takes_their_place(files, run):
    code, _, err = run("train", "reviews.csv", *SETTINGS, "--encoder.tree-fallback", "word")
    assert code == 0, err
    assert "80 of 80 texts have no parse" in " ".join(err.split())
    assert run("predict", "reviews.model", "reviews.csv")[0] == 0


@pytest.mark.parametrize("lines", [79, 81])
def test_another_number_of_parses(files, model, run, lines):
    kept = (files / "reviews.heads").read_text().splitlines()
    (files / "other.heads").write_text("".join(f"{line}\n" for line in [*kept, "0"][:lines]))
    code, _, err = run("train", "reviews.csv", "--parses", "other.heads", "-o", "m", *SETTINGS)
    assert code == 2
    assert "the 80 texts" in err or "79 lines for 80 texts" in err
    code, _, err = run("predict", "reviews.model", "reviews.csv", "--parses", "other.heads", "-o", "o.csv")
    assert code == 2
    assert "parses" in err


def test_a_pipeline_that_is_not_there(files, run):
    code, _, err = run("train", "reviews.csv", *SETTINGS, "--syntax.pipeline", "no_such_pipeline")
    assert code == 2
    assert "no_such_pipeline" in err or "spaCy" in err


def test_parses_of_texts_that_are_not_given(files, run):
    code, _, err = run("train", "reviews.csv", "--dev-parses", "reviews.heads", *SETTINGS)
    assert code == 2
    assert "parses of dev texts, but there is no file of them" in " ".join(err.split())
