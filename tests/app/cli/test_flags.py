"""Flags are made from configurations: every field has one, and its help tells the truth."""

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, Literal

import pytest
from cyclopts import App, CycloptsError

from headwise.app.cli import main
from headwise.app.cli.command_line import _parsed, build_app
from headwise.app.cli.flags import SECTION_HEADINGS, flag_values, flags, flags_of, section_values
from headwise.app.cli.short_help import unnamed_flags


@dataclass(frozen=True)
class First:
    """Settings."""

    size: int = 3
    """How large."""
    share: float = 0.5
    """How much."""
    kind: Literal["a", "b"] = "a"
    """Which."""
    on: bool = False
    """Whether."""
    words: tuple[str, ...] = ("x", "y")
    """What."""
    name: str | None = None
    """Who."""


@dataclass(frozen=True)
class Second:
    """Others."""

    size: int = 4
    """How large, but elsewhere."""
    kind: Literal["c"] = "c"
    """Which, but elsewhere."""
    only: int = 1
    """Not in the first."""


@dataclass(frozen=True)
class Third:
    """A third."""

    size: int = 3
    """How large, elsewhere again."""


def parse(configs: Mapping[str, type], *tokens: str, prefix: str = "*", **options: Any) -> dict[str, Any]:
    holder: Any = flags("Holder", configs, prefix=prefix, group="Group", order=1, **options)
    app = App(result_action="return_value", print_error=False, exit_on_error=False)
    found: dict[str, Any] = {}

    def command(*, settings: holder = None) -> None:  # type: ignore[valid-type]
        found.update(flag_values(settings))

    app.default(command)
    app(list(tokens))
    return found


def help_of(configs: Mapping[str, type], capsys, **options: Any) -> str:
    parse(configs, "--help", **options)
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().out).split())


def test_only_what_is_said_is_given():
    assert parse({"": First}) == {}
    assert parse({"": First}, "--size", "3") == {"size": 3}


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["--share", "1"], {"share": 1.0}),
        (["--kind", "b"], {"kind": "b"}),
        (["--on"], {"on": True}),
        (["--no-on"], {"on": False}),
        (["--words", "p", "q", "--on"], {"words": ("p", "q"), "on": True}),
        (["--words", "p", "--words", "q"], {"words": ("p", "q")}),
        (["--name", "n"], {"name": "n"}),
        (["--size=-1"], {"size": -1}),
    ],
)
def test_every_type(tokens, expected):
    assert parse({"": First}, *tokens) == expected


def test_every_field_has_a_flag_unless_it_is_left_out(capsys):
    shown = help_of({"": First}, capsys, omit={"share"})
    for item in fields(First):
        assert (f"--{item.name}" in shown) == (item.name != "share")


def test_help_shows_docstrings_and_defaults(capsys):
    shown = help_of({"": First}, capsys, by_data={"share"})
    for text in ("How large. [3]", "How much. [by data]", "Which. [a]", "Whether. [false]", "What. [x y]"):
        assert text in shown
    assert "Who. [" not in shown
    assert "--empty-words" not in shown


def test_hidden_flags_work_all_the_same(capsys):
    assert "--size" not in help_of({"": First}, capsys, hidden={"size"})
    assert parse({"": First}, "--size", "1", hidden={"size"}) == {"size": 1}


def test_predict_does_not_ask_for_a_label_column(run):
    assert "--label-column" not in run("predict", "--help")[1]
    assert "--text-column" in run("predict", "--help")[1]


def test_fields_of_several_configurations(capsys):
    three = {"first": First, "second": Second, "third": Third}
    shown = help_of(three, capsys, prefix="--encoder")
    assert "How large. [by encoder]" in shown
    assert "Not in the first. (second) [1]" in shown
    assert "elsewhere" not in shown
    # Any of the kinds passes here; the configuration that is chosen looks again.
    assert parse(three, "--encoder.kind", "c", prefix="--encoder") == {"kind": "c"}


def test_flags_of_train_show_the_defaults_that_are_used(run):
    """What depends on the data is marked so; everything else is the dataclass's default."""
    from headwise.models.tasks import TASKS
    from headwise.training.settings import TrainConfig

    out = " ".join(re.sub(r"[│╭╮╰╯─]", " ", run("train", "--help-all")[1]).split())
    out = out[out.index(" Training ") :]
    moved: set[str] = set()
    for task in TASKS.values():
        for items, vectors in product((10, 6_000, 30_000, 90_000), (False, True)):
            own = task.defaults(items, vectors=vectors, encoder="ms-transformer")
            moved |= set(own["train"])
            if task.uses_embeddings:
                moved |= set(task.defaults_with_base(own, items)["train"])
    assert {"learning_rate", "folds", "patience"} < moved  # of models with a base, which is the default
    for item in fields(TrainConfig):
        flag = "--" + item.name.replace("_", "-")
        text = out[out.index(f" {flag} ") :]
        default = text[text.index("[") + 1 : text.index("]")]
        wanted = str(item.default).lower() if isinstance(item.default, bool) else str(item.default)
        assert default == ("by data" if item.name in moved else wanted)


def shown_flags(text: str) -> set[str]:
    return set(re.findall(r"(?<=[ \u2502])--[a-z][\w.-]*", text.split("\u256d", 1)[1]))


@pytest.fixture(scope="module")
def every_flag() -> set[str]:
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("COLUMNS", "80")
        main(["train", "--help-all"])
    return shown_flags(out.getvalue())


@pytest.mark.parametrize(
    "task", ["classify", "multi-label", "tag", "pair", "pair-score", "regress", "bags"]
)
def test_help_of_the_task_at_hand(run, task, every_flag):
    code, out, _ = run("train", "--task", task, "--help")
    assert code == 0
    assert f"the flags that matter most for the task {task}" in " ".join(out.split())
    flags = shown_flags(out)
    assert flags < every_flag
    assert {"--output", "--task", "--epochs", "--seed", "--label-column"} - flags <= {"--label-column"}
    assert 20 <= len(flags) <= 42
    assert re.search(r"--help-all lists 1\d\d more", " ".join(out.split()))
    own = {
        "tag": "--tagger.crf",
        "bags": "--bags.model",
        "pair": "--pair.features",
        "multi-label": "--label-columns",
    }
    for other, flag in own.items():
        assert (flag in flags) == (other == task or (other, task) == ("pair", "pair-score"))


def test_the_task_at_hand_is_that_of_the_file(run, tmp_path):
    (tmp_path / "a.conll").write_text("a\tO\nb\tB-X\n\n" * 20)
    _, out, _ = run("train", "a.conll", "--help")
    assert "--tagger.crf" in out
    _, out, _ = run("train", "no.conll", "--help", "--encoder", "bilstm")
    assert "--tagger.crf" not in out
    assert "--encoder.heads" not in out


@pytest.mark.parametrize("command", ["predict", "evaluate", "explain"])
def test_help_of_a_command_with_a_model_has_the_flags_of_its_task(run, command, model):
    complete = shown_flags(run(command, "--help")[1])
    code, out, _ = run(command, str(model), "--help")
    assert code == 0
    assert f"(task classify); headwise {command} --help lists all" in " ".join(out.split())
    omitted = complete - shown_flags(out)
    assert {"--first-column", "--tag-column", "--bag-column"} <= omitted
    assert not omitted & {"--text-column", "--format", "--encoding", "--parses"}
    assert shown_flags(out) < complete
    assert ("--label-column" in shown_flags(out)) == (command == "evaluate")


def test_help_of_a_command_with_a_folder_that_is_no_model_has_all_flags(run, tmp_path):
    (tmp_path / "config.json").write_text('{"model": []}')
    for words in ([], [str(tmp_path)], ["missing"]):
        assert "--tag-column" in run("predict", *words, "--help")[1]
    (tmp_path / "config.json").write_text('{"model": {"task": "juggle"}}')
    assert "--tag-column" in run("predict", str(tmp_path), "--help")[1]


def test_every_flag_works_however_little_of_it_is_shown(run, tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,b\n")
    _, _, err = run("train", "a.csv", "--words.min-count", "x")
    assert "--words.min-count" in err


def settings_of(words: Sequence[str], **options: bool) -> tuple[dict, dict[str, Any]]:
    """The settings and the other arguments of a training command."""
    _, bound = _parsed(["train", *words], **options)
    given = dict(bound.arguments)
    return section_values(given.pop("settings", None)), given


def test_a_flag_that_is_named_is_made():
    arguments = build_app("train")["train"].assemble_argument_collection()
    settings = [argument for argument in arguments if len(argument.keys) == 2]  # a section and a field
    assert len(settings) > 170
    for argument in settings:
        section, field = argument.keys
        for name in argument.names:
            for word in (name, f"{name}=1", "--" + name[2:].replace("-", "_")):
                assert field not in unnamed_flags([word])[section], word


@pytest.mark.parametrize(
    "words",
    [
        "a.csv",
        "a.csv --epochs 2 --encoder.layers=1 --encoder.head-size 4 --learning-rate 0.01",
        "a.csv a.csv --tagger.crf --no-refit --header --teach.no-linear --encoder.head_size 3",
        "a.csv --no-label none --label-column x --base none --base.no-names --unknown --unknown.keep 0.5",
        "a.csv --pretrained.layers 1 2 3 --seed 3 --dev a.csv",
        "--split.dev 0.1 a.csv --output m --device cpu --weight-column -3",
    ],
)
def test_a_training_is_parsed_with_the_flags_that_it_names_as_with_all(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()
    assert settings_of(words.split(), only_named=True) == settings_of(words.split())


@pytest.mark.parametrize(
    "words",
    ["--epoch 2", "--epochs two", "--encoder.layers", "--encoder.layer 2", "--Epochs 2", "--header=x"],
)
def test_what_fails_with_all_flags_fails_with_those_that_are_named(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").touch()
    for only_named in (True, False):
        with pytest.raises(CycloptsError):
            settings_of(["a.csv", *words.split()], only_named=only_named)


def test_every_flag_of_a_training_says_what_it_is_for():
    """Those too whose field stands in a class that the configuration inherits from."""
    for section in SECTION_HEADINGS:
        for flag in flags_of(section):
            assert re.match(r"\w", flag.help), f"{section}.{flag.name}"


@pytest.mark.parametrize(
    "words",
    [
        ["train", "x.csv", "--epochs", "1.5"],
        ["train", "x.csv", "--encoder.layers", "2.5"],
        ["suggest", "m", "x.csv", "-n", "2.7"],
        ["tune", "x.csv", "--seeds", "1.5"],
        ["curve", "x.csv", "--more", "1.5"],
        ["priors", "--search", "x.csv", "--seeds", "1.5"],
        ["pretrain", "x.txt", "--output", "o", "--epochs", "1.5"],
        ["sample", "m", "--length", "1.5"],
        ["probe", "m", "x.csv", "--most", "1.5"],
    ],
)
def test_fractions_are_no_whole_numbers(words, capsys):
    assert main(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "is not a whole number" in said
    assert next(word for word in reversed(words) if word.startswith("-")) in said
