"""`headwise train`, end to end."""

import csv
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwise.app.configuration import build_config
from headwise.artifacts import load_model, read_info
from headwise.core.file_lock import locked

WORDS = {
    "good": ["fine", "great", "lovely", "nice"],
    "bad": ["poor", "awful", "dull", "weak"],
    "mixed": ["average", "fair", "okay", "usual"],
}
FILLER = ["the", "film", "was", "a", "really", "and", "plot", "actor", "in", "of", "story", "with"]
RECIPE = """\
[base]
name = "none"
[words]
vector-size = 8
dropout = 0.1
[encoder]
width = 8
heads = 2
head-size = 4
layers = 1
[classifier]
hidden = 8
[train]
epochs = 2
learning-rate = 0.01
"""
SMALL = ("--recipe", "small.toml")


def reviews(texts: int, seed: int = 0) -> list[tuple[str, str]]:
    """Texts and labels, one in twelve of the rare label "mixed"."""
    chance = random.Random(seed)
    rows = []
    for number in range(texts):
        label = "mixed" if number % 12 == 5 else chance.choice(["good", "bad"])
        words = [*chance.choices(FILLER, k=chance.randint(2, 9)), *chance.choices(WORDS[label], k=2)]
        chance.shuffle(words)
        rows.append((f"{' '.join(words)} {seed} {number}", label))
    return rows


def write_csv(path: Path, rows: list[tuple[str, str]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *rows])


@pytest.fixture
def files(tmp_path):
    """reviews.csv and small.toml in the folder in which the commands run."""
    write_csv(tmp_path / "reviews.csv", reviews(150))
    (tmp_path / "small.toml").write_text(RECIPE)
    return tmp_path


def model_bytes(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def used(folder: Path) -> dict:
    return json.loads((folder / "training.json").read_text())["recipe"]


# The whole command


def test_a_file_alone_is_enough(files, spawn):
    """As a newcomer would do it: in a process of its own, with all defaults."""
    process = spawn("train", "reviews.csv")
    out, err = (stream.decode() for stream in process.communicate())
    assert process.returncode == 0, err
    folder = files / "reviews.model"
    assert list(map(str, load_model(folder).labels)) == ["bad", "good", "mixed"]
    for note in (
        "columns guessed: text='text', label='label'",
        "- 128 texts in 3 folds, each scored by a model that was not trained on it, and 22 test texts",
        "out of fold in epoch",
    ):
        assert note in " ".join(err.split() + out.split())
    assert not re.search(r"\bdev\b", err + out), "with folds there is no dev part"
    epochs = len(json.loads((folder / "training.json").read_text())["history"])
    for number in (1, 2, 3):
        told = err.split(f"fold {number} of 3, trained on the other folds:")[1].split("\nfold ")[0]
        assert len(re.findall(r"^epoch +\d+  loss \d\.\d{3}  fold accuracy", told, re.M)) >= epochs
    test = read_info(folder)["metrics"]["test"]
    # The model, perhaps its encoder and its linear model alone, and the baseline; each with its interval.
    assert re.search(r"^ +model .* linear SVM *$", out, re.M)
    assert re.search(rf"^ +accuracy +{100 * test['accuracy']:.1f} % .* %", out, re.M)
    assert re.search(r"95 % interval( +\d+\.\d – \d+\.\d %){2,4} *$", out, re.M)
    assert re.search(r"model ahead by( +[+-]?\d+\.\d points){1,2} *$", out, re.M)
    assert re.search(r"its interval( +(no difference|[+-]?\d+\.\d to [+-]?\d+\.\d)){1,2} *$", out, re.M)
    assert re.search(r"McNemar p( +(= )?[01<]\S*)+", out)
    assert re.search(r"mixed +2 ", out)
    assert "headwise predict reviews.model NEW_TEXTS" in out
    assert max(map(len, out.splitlines())) <= 80
    card = (folder / "README.md").read_text()
    dev = read_info(folder)["metrics"]["dev"]
    assert (dev["texts"], dev["folds"]) == (128, 3)
    assert f"| this model | out of fold | 128 | {100 * dev['accuracy']:.1f} % |" in card
    assert f"| this model | test | 22 | {100 * test['accuracy']:.1f} % |" in card
    assert "| TF-IDF + linear SVM | test | 22 | " in card
    assert "Expected calibration error out of fold: " in card
    assert not re.search(r"\bon dev\b", card)


def test_the_model_can_be_used(files, run):
    assert run("train", "reviews.csv", *SMALL, "-o", "m")[0] == 0
    (files / "new.txt").write_text("a fine lovely film\nan awful dull plot\n")
    code, out, _ = run("predict", "m", "new.txt")
    assert code == 0
    assert len(out.splitlines()) == 3
    code, out, _ = run("evaluate", "m", "reviews.csv")
    assert code == 0


def test_given_parts_are_used(files, run):
    write_csv(files / "dev.csv", reviews(20, seed=1))
    write_csv(files / "test.csv", reviews(30, seed=2))
    code, out, err = run("train", "reviews.csv", *SMALL, "--dev", "dev.csv", "--test", "test.csv")
    assert code == 0
    assert "150 training, 20 dev and 30 test texts" in err
    data = json.loads((files / "reviews.model" / "data.json").read_text())
    assert [data[part]["texts"] for part in ("train", "dev", "test")] == [150, 20, 30]
    # Evaluating on the same file shows the same score, the baseline beside it.
    again = run("evaluate", "reviews.model", "test.csv")[1]
    first, second = (
        next(line.split() for line in text.splitlines() if line.split()[:1] == ["accuracy"])
        for text in (out, again)
    )
    assert (first[1], first[-2]) == (second[1], second[-2])


def test_without_a_baseline(files, run):
    code, out, _ = run("train", "reviews.csv", *SMALL, "--no-baseline")
    assert code == 0
    assert "TF-IDF" not in out
    assert "accuracy" in out
    assert "baseline" not in json.loads((files / "reviews.model" / "metrics.json").read_text())


def test_scores_as_json_and_nothing_else(files, run):
    command = ("train", "reviews.csv", *SMALL, "-o", "m", "--json", "--quiet", "--no-baseline")
    code, out, err = run(*command)
    assert code == 0
    printed = json.loads(out)
    assert printed["folder"] == "m"
    stored = read_info("m").metrics.test
    assert printed["test"]["accuracy"] == stored["accuracy"]
    assert "epoch" not in err
    code, out, _ = run(*command, "--resume")  # of a finished run
    assert (code, json.loads(out)) == (0, printed)


def test_quiet_runs_print_warnings_only(files, run):
    code, out, err = run("train", "reviews.csv", *SMALL, "-o", "m", "--quiet", "--no-baseline")
    assert (code, out) == (0, "")
    assert all("warning" in line for line in err.splitlines() if not line.startswith(" "))


def test_no_epoch_is_called_best_where_the_last_is_kept(files, run):
    code, out, err = run("train", "reviews.csv", *SMALL, "--score", "last", "--no-baseline")
    assert code == 0
    assert "kept epoch 2 of 2" in out
    assert err.count("epoch ") == 2
    assert "best" not in out + err
    for score, said in (("accuracy", "best on dev in epoch"), ("loss", "lowest loss on dev in epoch")):
        asked = (*SMALL, "--score", score, "--no-baseline", "-o", score)
        assert said in run("train", "reviews.csv", *asked)[1]


def test_without_test_texts(files, run):
    code, out, _ = run("train", "reviews.csv", *SMALL, "--split.test", "0")
    assert code == 0
    assert "no test texts" in out


def test_another_encoder(files, run):
    code, _, err = run(
        *("train", "reviews.csv", "--encoder", "transformer", "--encoder.layers", "1", "--epochs", "1"),
        *("--encoder.width", "8", "--encoder.heads", "2", "--encoder.head-size", "4"),
        *("--encoder.feedforward", "8", "--words.vector-size", "8"),
    )
    assert code == 0
    assert "transformer (width 8, layers 1, heads 2), up to 1 epoch" in err
    assert used(files / "reviews.model")["encoder"]["name"] == "transformer"


def test_several_values_for_one_flag(files, run):
    scales = ("--encoder.scales", "1", "n/2")
    assert run("train", "reviews.csv", *SMALL, *scales, "--epochs", "1")[0] == 0
    assert used(files / "reviews.model")["encoder"]["scales"] == ["1", "n/2"]


def test_vectors(files, run):
    (files / "v.txt").write_text("fine 1 2 3 4\nawful 0 0 1 1\nunseen 1 1 1 1\n")
    code, out, err = run(
        *("train", "reviews.csv", "--vectors", "v.txt", "--epochs", "1", "--encoder.layers", "1"),
        *("--encoder.width", "8"),
    )
    assert code == 0
    assert "v.txt has vectors of" in err
    assert "take vectors of their language" in err
    assert "Words with a pretrained vector: tokens" in out
    assert used(files / "reviews.model")["words"]["vector_size"] == 4
    assert "unseen" in load_model(files / "reviews.model").features.vocabulary


def test_threads_that_wait_sleep(files):
    """Or two busy programs on one machine bring each other to a crawl. It must be said before torch is."""
    code = (
        "import os, sys\n"
        "from importlib.abc import MetaPathFinder\n"
        "class Look(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'torch': sys.exit('policy: ' + os.environ.get('OMP_WAIT_POLICY', 'none'))\n"
        "sys.meta_path.insert(0, Look())\n"
        "from headwise.app.cli import main\n"
        "main(['train', sys.argv[1], '--output', sys.argv[1] + '.model'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = [sys.executable, "-c", code, str(files / "reviews.csv")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "policy: PASSIVE" in done.stderr


# Input formats


FORMS = {
    "jsonl": lambda rows: [json.dumps({"text": text, "label": label}) for text, label in rows],
    "tsv": lambda rows: ["label\ttext", *(f"{label}\t{text}" for text, label in rows)],
    "txt": lambda rows: [f"{label}\t{text}" for text, label in rows],
    "ft": lambda rows: [f"__label__{label} {text}" for text, label in rows],
    "sst": lambda rows: [
        f"({1 if label == 'bad' else 3} (2 {text.split()[0]}) (2 {text.split()[-2]}{number}))"
        for number, (text, label) in enumerate(rows)
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_format(files, run, form):
    (files / f"data.{form}").write_text("\n".join([*FORMS[form](reviews(100)), ""]))
    code, _, err = run("train", f"data.{form}", *SMALL, "--epochs", "1", "--no-baseline")
    assert code == 0, err
    assert "70 training, 15 dev and 15 test texts" in err
    labels = load_model(files / "data.model").labels
    assert labels == (("1", "3") if form == "sst" else ("bad", "good", "mixed"))


def test_standard_input_needs_an_output(files, run):
    content = (files / "reviews.csv").read_bytes()
    code, _, err = run("train", "-", *SMALL, stdin=content)
    assert code == 2
    assert "--output" in err
    assert run("train", "-", *SMALL, "--output", "m", stdin=content)[0] == 0
    load_model(files / "m")


# Settings


def test_recipe_and_flags_fill_the_same_settings_and_flags_win(files, run):
    flags = ("--train.epochs", "1")
    code, _, err = run("train", "reviews.csv", *SMALL, *flags)
    assert code == 2
    assert "--train.epochs" in err
    flags = (
        "--epochs",
        "1",
        "--encoder.heads",
        "1",
        "--readout",
        "max",
        "--seed",
        "3",
        "--words.case",
        "keep",
    )
    assert run("train", "reviews.csv", *SMALL, *flags)[0] == 0
    in_toml = RECIPE.replace("epochs = 2", "epochs = 1\nseed = 3").replace("heads = 2", "heads = 1")
    in_toml = in_toml.replace("[words]", '[words]\ncase = "keep"') + '[model]\nreadout = "max"\n'
    (files / "all.toml").write_text(in_toml)
    assert run("train", "reviews.csv", "--recipe", "all.toml", "-o", "other.model")[0] == 0
    first, second = used(files / "reviews.model"), used(files / "other.model")
    assert first == second
    assert model_bytes(files / "reviews.model") == model_bytes(files / "other.model")
    built = build_config(first)
    assert (built.train.epochs, built.train.seed, built.model.readout) == (1, 3, "max")
    # And the saved recipe, as a recipe, is the same run.
    assert build_config(first).to_json() == first


@pytest.mark.parametrize(
    ("arguments", "toml", "message"),
    [
        (["--epoch", "1"], "", "--epoch.*--epochs"),
        (["--encoder.layer", "1"], "", "--encoder.layer.*--encoder.layers"),
        (["--encoder", "transfomer"], "", "unknown encoder 'transfomer'; did you mean 'transformer'"),
        ([], "[train]\nepoch = 1", "train: unknown setting 'epoch'; did you mean 'epochs'"),
        ([], "[trian]\nepochs = 1", "unknown section 'trian'; did you mean 'train'"),
        ([], "[train\n", r"small\.toml: not a TOML file: .*line 1"),
        (["--epochs", "0"], "", "train: epochs must be at least 1, got 0"),
        (["--epochs", "x"], "", "--epochs"),
        (["--learning-rate=-1"], "", "train: learning_rate must be at least 0, got -1"),
        (["--learning-rate", "nan"], "", "learning.rate"),
        (["--words.dropout", "2"], "", "words: dropout must be at least 0 and less than 1, got 2"),
        (["--encoder.dropout", "2"], "", "encoder: dropout must be"),
        (["--encoder.layers", "0"], "", "encoder: layers must be at least 1, got 0"),
        (["--encoder.width", "0"], "", "encoder: width must be at least 1, got 0"),
        (["--encoder.heads", "0"], "", "encoder: heads must be at least 1, got 0"),
        (["--encoder.scales", "2"], "", "odd whole number"),
        (["--encoder.positions", "sinus"], "", "positions.*did you mean 'sinusoidal'"),
        (["--readout", "man"], "", "unknown readout 'man'"),
        (["--classifier.class-weights", "godo=2"], "", "unknown label 'godo'; labels are bad, good, mixed"),
        (["--classifier.class-weights", "2"], "", "cannot read the class weight '2'"),
        (
            ["--classifier.thresholds", "godo:fpr=.1"],
            "",
            "unknown label 'godo'; labels are bad, good, mixed",
        ),
        (["--classifier.thresholds", "f2"], "", "cannot read 'f2'; expected a label, one of recall"),
        (["--classifier.thresholds", "good:fpr=.1,bad:fpr=.1"], "", "a text gets one label here: name one"),
        (["--split.dev", "1"], "", "split: dev must be at least 0 and less than 1, got 1"),
        (["--split.dev", "0"], "", "no dev texts"),
        (["--device", "cdua"], "", "the device 'cdua' cannot be used"),
        (["--words.vector-size", "0"], "", "vector_size must be at least 1"),
        (["--dev", "none.csv"], "", "none.csv"),
        (["--vectors", "none.txt"], "", "none.txt"),
        (["--label-column", "lable"], "", "lable.*'label'"),
        (["--resume", "--overwrite"], "", "--resume and --overwrite exclude each other"),
        (["--encoder", "transformer", "--encoder.alpha", "1"], "", "encoder: unknown setting 'alpha'"),
    ],
)
def test_what_does_not_fit_is_said_before_training(files, run, arguments, toml, message):
    if toml:
        (files / "small.toml").write_text(toml)
    code, out, err = run("train", "reviews.csv", *SMALL, *arguments)
    assert code == 2
    assert not out
    assert re.search(message, " ".join(err.split())), err
    assert "Traceback" not in err
    assert "epoch  1" not in err
    assert not list(files.glob("reviews.model/*")), "nothing is left behind"


def test_weights_for_rare_labels(files, run):
    for name, weights in (("a", "none"), ("b", "balanced"), ("c", "mixed=5,good=1")):
        flags = ("--classifier.class-weights", weights, "--no-baseline", "-o", name)
        assert run("train", "reviews.csv", *SMALL, *flags)[0] == 0
    assert len({model_bytes(files / name) for name in "abc"}) == 3


def test_a_rate_that_is_to_be_kept(files, run):
    """What it is, or what of it can be promised; a baseline without it is no rival."""
    for name, share in (("a", 0.5), ("b", 0.001)):
        asked = f"mixed:fpr={share}"
        code, out, err = run(
            "train", "reviews.csv", *SMALL, "--classifier.thresholds", asked, "--output", name
        )
        assert code == 0, err
        told = " ".join(out.split())
        assert f"'mixed' is given for a false positive rate of at most {100 * share:.4g} %" in told
        assert ("is to be expected" in told) == (name == "a")
        assert ("is the best that can be promised" in told) == (name == "b")
        assert "than this model" not in err
        (point,) = json.loads((files / name / "metrics.json").read_text())["dev"]["operating_points"]
        assert point["kept"] == (name == "a")
        assert (point["expected"] <= share) == point["kept"]


# What is there is not lost


def test_a_model_is_not_replaced_by_mistake(files, run):
    assert run("train", "reviews.csv", *SMALL)[0] == 0
    before = model_bytes(files / "reviews.model")
    code, _, err = run("train", "reviews.csv", *SMALL, "--seed", "1")
    assert code == 2
    assert "reviews.model holds a model; add --overwrite" in err
    assert model_bytes(files / "reviews.model") == before
    assert run("train", "reviews.csv", *SMALL, "--seed", "1", "--overwrite")[0] == 0
    assert model_bytes(files / "reviews.model") != before


@pytest.mark.parametrize("flag", [(), ("--overwrite",)])
@pytest.mark.parametrize("place", ["notes.txt", "training/notes.txt", "sub/notes.txt"])
def test_files_of_something_else_stay(files, run, flag, place):
    foreign = files / "reviews.model" / place
    foreign.parent.mkdir(parents=True)
    foreign.write_text("mine")
    code, _, err = run("train", "reviews.csv", *SMALL, *flag)
    assert code == 2
    assert foreign.read_text() == "mine"
    assert "epoch  1" not in err
    assert [path.name for path in (files / "reviews.model").iterdir()] == [place.split("/")[0]]


def test_a_file_in_the_way_of_the_folder(files, run):
    (files / "reviews.model").write_text("mine")
    code, _, err = run("train", "reviews.csv", *SMALL, "--overwrite")
    assert code == 2
    assert "a file of this name is in the way" in err


def test_a_folder_that_cannot_be_made(files, run):
    code, _, err = run("train", "reviews.csv", *SMALL, "-o", "small.toml/model")
    assert code == 2
    assert "HW407" in err
    assert "small.toml/model" in err
    assert "epoch  1" not in err


def test_resuming_what_has_not_begun_begins_it(files, run):
    code, _, err = run("train", "reviews.csv", *SMALL, "--resume")
    assert code == 0
    assert "there is no interrupted run; a new one starts" in err


def test_a_second_training_waits_for_the_first(files, run):
    with locked(files / "reviews.model"):
        code, _, err = run("train", "reviews.csv", *SMALL, "--overwrite")
    assert code == 2
    assert f"[HW408] reviews.model: another training run is writing to it (process {os.getpid()} on " in err
    assert not (files / "reviews.model").exists()
    assert run("train", "reviews.csv", *SMALL)[0] == 0


# Interrupted and resumed


LONG = (*SMALL, "--epochs", "6", "--accumulate", "2", "--patience", "30", "--average", "0.9")
LONG += ("--folds", "3")  # three more are trained, without a third of the texts each


def started(folder: Path, process) -> None:
    """Wait until a run has saved a state."""
    while not (folder / "training" / "state.safetensors").exists() and process.poll() is None:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """The weights of the long run that nothing interrupts, in a process that is started as users do."""
    folder = tmp_path_factory.mktemp("whole")
    write_csv(folder / "reviews.csv", reviews(150))
    (folder / "small.toml").write_text(RECIPE)
    command = [sys.executable, "-m", "headwise", "train", "reviews.csv", *LONG]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return model_bytes(folder / "reviews.model")


def kill_and_resume(folder: Path, fork, seed: int, kills: int, *flags: str) -> int:
    """Kill a run again and again at random moments, then let it finish; how often it was resumed."""
    chance = random.Random(seed)
    resumed = 0
    model = folder / "reviews.model"
    for number in range(kills + 1):
        again = ("--resume",) if number else ()
        process = fork("train", "reviews.csv", *LONG, *flags, *again)
        if number < kills:
            if again or chance.random() < 0.5:
                first = next((line for line in process.stderr if line.startswith(b"epoch ")), b"")
                assert first or process.wait() == 0, process.stderr.read().decode()
            else:
                started(model, process)
            time.sleep(chance.random() * chance.choice([0.1, 0.1, 1.0]))
            process.send_signal(signal.SIGKILL)
        _, err = process.communicate()
        resumed += bool(again)
        if process.returncode == 0:
            return resumed
        assert process.returncode == -signal.SIGKILL, err.decode()
    raise AssertionError("the last run was not killed and did not finish")


def test_killed_and_resumed_is_the_same_run(files, fork, whole):
    assert kill_and_resume(files, fork, 0, 1) > 0
    assert model_bytes(files / "reviews.model") == whole


def test_stopped_before_anything_is_saved(files, run, monkeypatch):
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("headwise.app.training_request.read_parts", stopped)
    code, _, err = run("train", "reviews.csv", *SMALL)
    assert code == 130
    assert "stopped before the first update: nothing is saved yet, so the same command starts over" in err
    assert "--resume" not in err


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "seconds"), [(1, "0"), (2, "0.2")])
def test_killed_many_times(files, fork, whole, seed, seconds):
    """How often the state is saved is part of the settings, but not of the weights."""
    assert kill_and_resume(files, fork, seed, 2, "--checkpoint-seconds", seconds) > 0
    assert model_bytes(files / "reviews.model") == whole


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_stopped_and_resumed(files, fork, run, whole, number, code):
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip(
            f"{signal.Signals(number).name} is ignored here, as by nohup, and so it is by what is started"
        )
    process = fork("train", "reviews.csv", *LONG)
    started(files / "reviews.model", process)
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == code, err.decode()
    assert not out
    assert "--resume" in err.decode().splitlines()[-1]
    assert "Traceback" not in err.decode()
    # Without --resume it is not lost by mistake; with other settings or data it is not mixed up.
    answer = run("train", "reviews.csv", *LONG)
    assert answer[0] == 2
    assert "holds an interrupted run; add --resume to continue it" in answer[2]
    answer = run("train", "reviews.csv", *LONG, "--learning-rate", "0.5", "--resume")
    assert answer[0] == 2
    assert "train.learning_rate was 0.01 and is now 0.5" in answer[2]
    write_csv(files / "other.csv", reviews(150, seed=9))
    answer = run("train", "other.csv", *LONG, "-o", "reviews.model", "--resume")
    assert answer[0] == 2
    assert "texts.train was '" in answer[2]
    if number == signal.SIGINT:
        process = fork("train", "reviews.csv", *LONG, "--resume")
        _, err = process.communicate()
        assert process.returncode == 0
        assert re.search(rb"continues in epoch \d+ after [\d,]+ updates?", err)
        assert model_bytes(files / "reviews.model") == whole


def test_what_the_doctor_has_against_the_labels_is_told(run, narrow, tmp_path):
    file = tmp_path / "texts.csv"
    rows = [f"a film {n},{('good', 'Good', 'bad')[n % 3]}\n" for n in range(60)]
    file.write_text("text,label\n" + "".join(rows) + "a film 0,bad\nsome film,odd\n")
    code, _, err = run("train", str(file), "--epochs", "1", "--output", str(tmp_path / "model"))
    assert code == 0, err
    told = " ".join(err.split())
    assert "warning 1 text occurs with different labels" in told
    assert "warning 1 class with fewer than 5 texts: 'odd' (1)" in told
    assert "warning labels that differ only in spelling: '" in told
    assert f"run `headwise doctor {file}` for the lines" in told
    os.mkfifo(tmp_path / "pipe.csv")  # as of a <(command): no doctor could read it again
    with ThreadPoolExecutor(1) as other:
        other.submit((tmp_path / "pipe.csv").write_text, file.read_text())
        code, _, err = run("train", str(tmp_path / "pipe.csv"), "--epochs", "1", "-o", str(tmp_path / "m"))
    assert code == 0, err
    assert "1 class with fewer than 5 texts: 'odd' (1)" in " ".join(err.split())
    assert "headwise doctor" not in err


def test_the_doctor_that_says_where_is_told_how_the_file_is_read(run, narrow, tmp_path):
    """Without these flags that command would end with an error, or look at another column."""
    file = tmp_path / "some tickets.csv"
    rows = [f"{n};a film {n};{('good', 'bad')[n % 2]};{('high', 'low')[n % 2]}\n" for n in range(60)]
    file.write_text("id;text;queue;priority\n" + "".join(rows) + "61;a film;odd;high\n")
    asked = ("--label-column", "queue", "--delimiter", ";")
    code, _, err = run("train", str(file), *asked, "--epochs", "1", "--output", str(tmp_path / "model"))
    assert code == 0, err
    found = re.search(r"- run `headwise (doctor .*?)` for the lines", " ".join(err.split()))
    code, out, err = run(*shlex.split(found[1]))
    assert code == 0, err
    assert "'odd' (1)" in " ".join(out.split())


def test_weights_of_goods_are_told(run, narrow, tmp_path):
    file = tmp_path / "texts.csv"
    rows = [f"a film {n},{('good', 'bad')[n % 2]},{10 ** (n % 4)}\n" for n in range(60)]
    file.write_text("text,label,weight\n" + "".join(rows))
    code, _, err = run("train", str(file), "--epochs", "1", "--output", str(tmp_path / "model"))
    assert code == 0, err
    told = " ".join(err.split())
    assert "warning by the weights in column 'weight' 60 texts tell as much as 18 of equal weight" in told
    assert "--weight-column none" in told


def test_several_files_are_trained_on_and_predicted_as_one(run, tmp_path):
    for part, start in enumerate(range(0, 60, 20)):
        rows = [f"{'a good film' if n % 2 else 'a bad film'} {n},{n % 2}" for n in range(start, start + 20)]
        (tmp_path / f"part-{part}.csv").write_text("\n".join(["text,label", *rows, ""]))
    small = ("--epochs", "1", "--encoder.width", "8", "--encoder.heads", "2", "--encoder.layers", "1")
    code, _, err = run("train", "part-0.csv", "part-1.csv", "--dev", "part-2.csv", *small, "--output", "m")
    assert code == 0, err
    assert "2 files are read one after the other" in " ".join(err.split())
    code, out, err = run("predict", "m", "part-*.csv")
    assert code == 0, err
    assert [line.split(",")[0].split()[-1] for line in out.splitlines()[1:]] == [*map(str, range(60))]
    code, out, err = run("evaluate", "m", "part-0.csv", "part-1.csv", "--json")
    assert (code, '"file": "part-0.csv and 1 more"' in out) == (0, True), err
