"""Configurations from plain data: what fits is taken over, what does not is an error that says where."""

import json
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.config import (
    check_choice,
    check_range,
    differences,
    from_dict,
    to_dict,
    unknown_name_error,
)
from headwise.core.errors import ConfigError
from headwise.data.splits.split_config import SplitConfig
from headwise.nn.encoders import ENCODERS, MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.training.settings import TrainConfig, VectorsConfig


@dataclass(frozen=True)
class Inner:
    size: int = 1
    name: str = "a"


@dataclass(frozen=True)
class Outer:
    integer: int
    number: float = 0.5
    flag: bool = False
    text_name: str = "x"
    choice: Literal["one", "two"] = "one"
    words: tuple[str, ...] = ("1", "3")
    numbers: tuple[int, ...] = ()
    perhaps: int | None = None
    inner: Inner = field(default_factory=Inner)
    table: dict[str, int] = field(default_factory=dict)


EVERYTHING: dict[str, Any] = {
    "integer": 3,
    "number": 2,
    "flag": True,
    "text_name": "y",
    "choice": "two",
    "words": ["a"],
    "numbers": (1, 2),
    "perhaps": 4,
    "inner": {"size": 2},
    "table": {"k": 1},
}


def test_every_type():
    got = from_dict(Outer, EVERYTHING)
    assert got == Outer(3, 2.0, True, "y", "two", ("a",), (1, 2), 4, Inner(2), {"k": 1})
    assert type(got.number) is float


def test_numbers_of_numpy_are_numbers():
    values = {
        "integer": np.int64(3),
        "number": np.float32(0.5),
        "flag": np.True_,
        "text_name": np.str_("y"),
    }
    got = from_dict(Outer, {**values, "numbers": [np.int8(1)], "perhaps": np.uint8(4)})
    assert got == Outer(3, 0.5, True, "y", numbers=(1,), perhaps=4)
    assert json.dumps(to_dict(got)) == json.dumps(
        to_dict(Outer(3, 0.5, True, "y", numbers=(1,), perhaps=4))
    )
    for wrong in ({"integer": np.float64(3.0)}, {"integer": np.True_}, {"number": np.array([0.5])}):
        with pytest.raises(ConfigError, match="expected a"):
            from_dict(Outer, {"integer": 3, **wrong})


def test_what_is_left_out_is_default():
    assert from_dict(Outer, {"integer": 1}) == Outer(1)
    assert from_dict(Outer, {"integer": 1, "perhaps": None}) == Outer(1)


def test_dashes_and_underscores_are_the_same():
    assert from_dict(Outer, {"integer": 1, "text-name": "z"}) == from_dict(
        Outer, {"integer": 1, "text_name": "z"}
    )


@given(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(st.text()),
    st.none() | st.integers(),
)
@settings(max_examples=40)
def test_round_trip(integer, number, flag, words, perhaps):
    config = Outer(integer, number, flag, words=tuple(words), perhaps=perhaps, inner=Inner(integer))
    assert from_dict(Outer, to_dict(config)) == config


def test_to_dict_is_plain():
    plain = to_dict(Outer(1))
    assert plain["words"] == ["1", "3"]
    assert plain["inner"] == {"size": 1, "name": "a"}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("integer", 1.0, "integer: expected a whole number, got 1.0"),
        ("integer", True, "integer: expected a whole number, got True"),
        ("integer", None, "integer: expected a whole number, got None"),
        ("number", "1", "number: expected a number, got '1'"),
        ("number", False, "number: expected a number, got False"),
        ("number", 10**400, "number: expected a number, got 1000"),
        ("number", math.inf, "number: expected a number, got inf"),
        ("number", math.nan, "number: expected a number, got nan"),
        ("flag", 1, "flag: expected true or false, got 1"),
        ("text_name", 5, "text_name: expected a text, got 5"),
        ("choice", "three", "choice: expected one of one, two, got 'three'"),
        ("choice", ["one"], r"choice: expected one of one, two, got \['one'\]"),
        ("words", "abc", "words: expected a list, got 'abc'"),
        ("words", ["a", 1], "words: expected a text, got 1"),
        ("numbers", [1.5], "numbers: expected a whole number, got 1.5"),
        ("perhaps", "a", "perhaps: expected a whole number, got 'a'"),
        ("inner", 1, "inner: expected a table of settings, got 1"),
        ("inner", {"size": "a"}, "inner: size: expected a whole number, got 'a'"),
        ("inner", {"sise": 1}, "inner: unknown setting 'sise'; did you mean 'size'?"),
        ("table", [], r"table: expected .*dict.*, got \[\]"),
    ],
)
def test_wrong_values_are_located(name, value, message):
    with pytest.raises(ConfigError, match=f"^.HW001. f.json: {message}"):
        from_dict(Outer, {"integer": 1, name: value}, "f.json")


def test_missing_and_unknown_settings():
    with pytest.raises(ConfigError, match="the setting 'integer' is missing"):
        from_dict(Outer, {})
    with pytest.raises(ConfigError, match=r"unknown setting 'text-nam'; did you mean 'text-name'\?"):
        from_dict(Outer, {"integer": 1, "text-nam": "a"})
    with pytest.raises(ConfigError, match="unknown setting 'zzz'; expected one of integer, number"):
        from_dict(Outer, {"integer": 1, "zzz": "a"})
    with pytest.raises(ConfigError, match="expected a table"):
        from_dict(Outer, [])  # type: ignore[arg-type]


def test_unknown_names_the_nearest():
    assert "did you mean 'transformer'?" in str(
        unknown_name_error("encoder", "transfomer", ["bilstm", "transformer"])
    )
    assert "expected one of a, b" in str(unknown_name_error("encoder", "zzzz", ["a", "b"]))


@dataclass(frozen=True)
class Checked:
    size: float | None = 1
    kind: str = "a"


@pytest.mark.parametrize("value", [0, 0.5, 0.999, None])
def test_in_range(value):
    check_range(Checked(value), "size", low=0, high=1, open=True)


@pytest.mark.parametrize("value", [-1e-9, 1, math.inf, math.nan])
def test_out_of_an_open_range(value):
    with pytest.raises(ConfigError, match=f"size must be at least 0 and less than 1, got {value}"):
        check_range(Checked(value), "size", low=0, high=1, open=True)


def test_out_of_a_closed_range_and_without_an_end():
    check_range(Checked(1), "size", low=0, high=1)
    with pytest.raises(ConfigError, match=r"size must be at least 0 and at most 1, got 1.5"):
        check_range(Checked(1.5), "size", low=0, high=1)
    for value in (0, math.inf, math.nan):
        with pytest.raises(ConfigError, match=f"size must be at least 1, got {value}$"):
            check_range(Checked(value), "size", low=1)


@pytest.mark.parametrize("value", ["12", True, 2.0, [3]])
def test_what_is_no_whole_number(value):
    with pytest.raises(ConfigError, match="layers must be a whole number, got"):
        MSTransformerConfig(layers=value)
    assert MSTransformerConfig(layers=np.int64(2)).layers == 2
    with pytest.raises(ConfigError, match="size must be a number, got 'a'"):
        check_range(Checked("a"), "size", low=0)  # type: ignore[arg-type]


def test_check_choice():
    check_choice(Checked(), "kind", ("a", "b"))
    with pytest.raises(ConfigError, match=r"kind: unknown value 'lineer'; did you mean 'linear'\?"):
        check_choice(Checked(kind="lineer"), "kind", ("linear", "cosine"))


WRONG = [
    (TrainConfig, {"epochs": 0}),
    (TrainConfig, {"batch_texts": 0}),
    (TrainConfig, {"batch_tokens": -1}),
    (TrainConfig, {"accumulate": 0}),
    (TrainConfig, {"learning_rate": -0.1}),
    (TrainConfig, {"weight_decay": -1.0}),
    (TrainConfig, {"warmup": 1.0}),
    (TrainConfig, {"average": 1.0}),
    (TrainConfig, {"patience": -1}),
    (TrainConfig, {"clip": -1.0}),
    (TrainConfig, {"seed": -1}),
    (TrainConfig, {"seed": 2**64}),
    (TrainConfig, {"checkpoint_seconds": -1.0}),
    (TrainConfig, {"schedule": "lineer"}),
    (TrainConfig, {"score": "f2"}),
    (TrainConfig, {"precision": "float16"}),
    (WordConfig, {"tokenizer": "pen"}),
    (WordConfig, {"case": "upper"}),
    (WordConfig, {"min_count": 0}),
    (WordConfig, {"max_words": 0}),
    (WordConfig, {"vector_size": 0}),
    (WordConfig, {"initial_std": -1.0}),
    (WordConfig, {"dropout": 2.0}),
    (WordConfig, {"word_dropout": 1.0}),
    (ClassifierConfig, {"hidden": 0}),
    (ClassifierConfig, {"dropout": 1.0}),
    (ClassifierConfig, {"label_smoothing": -0.1}),
    (ClassifierConfig, {"normalize": "bach"}),
    (SplitConfig, {"dev": -0.1}),
    (SplitConfig, {"test": 1.0}),
    (VectorsConfig, {"extra_words": -1}),
    *(
        (ENCODERS[name][1], wrong)
        for name in ("ms-transformer", "transformer")
        for wrong in (
            {"width": 0},
            {"layers": 0},
            {"heads": 0},
            {"head_size": 0},
            {"max_positions": 0},
            {"dropout": 2.0},
            {"positions": "sinus"},
            {"attention": "flash"},
        )
    ),
    (ENCODERS["transformer"][1], {"feedforward": 0}),
]


@pytest.mark.parametrize(("config", "wrong"), WRONG)
def test_impossible_settings_are_named(config, wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"here: {name}( must be |: )"):
        from_dict(config, wrong, "here")


def test_shares_that_leave_nothing():
    with pytest.raises(ConfigError, match="leave nothing to train on"):
        SplitConfig(dev=0.5, test=0.5)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_encoder_round_trips(name):
    config = ModelConfig(encoder=ENCODERS[name][1]())
    assert config.to_json()["encoder"]["name"] == name
    assert ModelConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"encoder": {"name": "transfomer"}}, "unknown encoder 'transfomer'; did you mean 'transformer'"),
        ({"encoder": {"name": ["transformer"]}}, "unknown encoder"),
        ({"words": {"dropuot": 1}}, "f: words: unknown setting 'dropuot'; did you mean 'dropout'"),
        ({"enkoder": {}}, "f: task classify: unknown setting 'enkoder'; did you mean 'encoder'"),
        ({"tagger": {}}, "f: task classify: unknown setting 'tagger'"),
    ],
)
def test_a_model_configuration_that_does_not_fit(data, message):
    with pytest.raises(ConfigError, match=message):
        ModelConfig.from_json(data, "f")


def test_differences_are_told_setting_by_setting():
    saved = {"train": {"epochs": 4, "seed": 0}, "files": ["a"]}
    assert differences(saved, {"train": {"seed": 0, "epochs": 4}, "files": ("a",)}) == ""
    now = {"train": {"epochs": 5, "seed": 0}, "files": ["a"], "read": {"key": "x"}}
    assert differences(saved, now) == "read.key was None and is now 'x'; train.epochs was 4 and is now 5"


def test_of_many_differences_task_and_data_come_first():
    settings = {f"a{number}": number for number in range(9)}
    saved = {"a": settings, "texts": {"train": "f" * 64}, "model": {"task": "tag"}}
    message = differences(saved, {"texts": {"train": "0" * 64}, "model": {"task": "pair"}})
    first, second, *more = message.split("; ")
    assert first == "model.task was 'tag' and is now 'pair'"
    assert second == "texts.train was 'ffffffff...' and is now '00000000...'"
    assert (len(more), more[-1]) == (5, "and 5 more")


def test_of_fingerprints_in_a_list_stands_the_beginning():
    message = differences({"data": ["0" * 64, "b"]}, {"data": ["1" * 64, "b"]})
    assert message == "data was ['00000000...', 'b'] and is now ['11111111...', 'b']"
