"""Recipes: layers of settings, TOML files, defaults by the size of the data."""

import json
import tomllib
from functools import partial
from pathlib import Path

import pytest

from headwise.app import configuration as recipe_module
from headwise.app.configuration import SECTIONS, build_config, read_preset
from headwise.app.training_plan import RunData
from headwise.app.training_request import resolve
from headwise.artifacts.model_folder import StoreError
from headwise.core.errors import ConfigError
from headwise.data.items.examples import Example
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import TASKS, encoder_rules, find_task
from headwise.models.tasks.encoder_rules import EncoderRules
from headwise.models.tasks.task_settings import text_defaults
from headwise.nn.encoders import ENCODERS, BPTransformerConfig, MSTransformerConfig, TransformerConfig
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER, encoder_name
from headwise.nn.networks.model_config import ModelConfig
from headwise.training.settings import RunConfig

SIZES = (10, 4_999, 5_000, 50_000, 50_001)
usual_defaults = partial(text_defaults, encoder=DEFAULT_ENCODER)


def test_nothing_said_is_default():
    assert build_config() == build_config({}, {}) == RunConfig()


def test_later_layers_go_over_earlier_ones():
    built = build_config(
        {"train": {"epochs": 3, "seed": 1}, "words": {"dropout": 0.1}},
        {"train": {"epochs": 4}, "model": {"readout": "max"}},
        {"train": {"batch-texts": 7, "epochs": 5}},
    )
    assert (built.train.epochs, built.train.seed, built.train.batch_texts) == (5, 1, 7)
    assert (built.model.words.dropout, built.model.readout) == (0.1, "max")


def test_dashes_and_underscores_name_the_same_setting():
    layers: list[dict] = [{"encoder": {"head-size": 4}}, {"encoder": {"head_size": 8}}]
    assert build_config(*layers).model.encoder == MSTransformerConfig(head_size=8)
    assert build_config(*layers[::-1]).model.encoder == MSTransformerConfig(head_size=4)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        ({"trian": {}}, "unknown section 'trian'; did you mean 'train'"),
        ({"train": {"epoch": 3}}, "train: unknown setting 'epoch'; did you mean 'epochs'"),
        (
            {"train": {"batch-text": 3}},
            "train: unknown setting 'batch-?_?text'; did you mean 'batch_texts'",
        ),
        (
            {"model": {"task": "masked-words"}, "base": {"name": "english"}},
            r"base: the task masked-words has no such settings; its words begin with vectors \(--vectors",
        ),
        ({"train": 3}, "train: expected a table of settings, got 3"),
        ({"encoder": "transformer"}, "encoder: expected a table of settings, got 'transformer'"),
        ({"train": {"epochs": "3"}}, "train: epochs: expected a whole number, got '3'"),
        ({"train": {"epochs": 0}}, "train: epochs must be at least 1, got 0"),
        ({"encoder": {"layers": 0}}, "encoder: layers must be at least 1, got 0"),
        ({"encoder": {"name": "ms-transfomer"}}, "unknown encoder 'ms-transfomer'; did you mean 'ms-tr"),
        ({"encoder": {"lajers": 1}}, "encoder: unknown setting 'lajers'; did you mean 'layers'"),
        ({"model": {"reedout": "max"}}, "model: unknown setting 'reedout'; did you mean 'readout'"),
        ({"model": {"words": {}}}, "model: unknown setting 'words'"),
        ({"words": {"tokenizer": "pen"}}, "words: tokenizer: unknown value 'pen'; did you mean 'penn'"),
        ({"data": {"format": "cvs"}}, "data: format: expected one of csv"),
        ({"split": {"dev": 2}}, "split: dev must be at least 0 and less than 1, got 2"),
        ({"vectors": {"fil": "a"}}, "vectors: unknown setting 'fil'; did you mean 'file'"),
        ({"classifier": {"dropout": 2}}, "classifier: dropout must be"),
    ],
)
def test_what_does_not_fit_is_named(layer, message):
    with pytest.raises(ConfigError, match=message):
        build_config(layer)


def test_settings_of_another_encoder_do_not_carry_over():
    defaults, file = {"encoder": {"name": "ms-transformer", "width": 12}}, {"encoder": {"alpha": 0.1}}
    other = {"encoder": {"name": "transformer", "layers": 1}}
    assert build_config(defaults, file).model.encoder == MSTransformerConfig(width=12, alpha=0.1)
    assert build_config(defaults, file, other).model.encoder == TransformerConfig(layers=1)
    # ... and what was said of the encoder that is named last counts, whatever came between.
    back = {"encoder": {"name": "ms-transformer"}}
    again = build_config(defaults, file, other, back).model.encoder
    assert again == MSTransformerConfig(width=12, alpha=0.1)


def test_naming_the_default_encoder_changes_nothing():
    defaults = usual_defaults(100, vectors=False)
    named = {"encoder": {"name": "ms-transformer"}}
    assert build_config(defaults, named) == build_config(defaults)


@pytest.mark.parametrize(("items", "patience"), [(19_999, None), (20_000, 2)])
def test_with_many_texts_and_a_base_fewer_epochs_are_waited_for(items, patience):
    task = TASKS["classify"]
    plain = task.defaults(items, vectors=False, encoder="ms-transformer")
    assert "patience" not in plain["train"]
    assert task.defaults_with_base(plain, items)["train"].get("patience") == patience


@pytest.mark.parametrize(
    ("texts", "labels", "asked", "encoder"),
    [
        (3_999, 3, {}, "ms-transformer"),
        (4_000, 25, {}, "ms-san"),
        (4_000, 26, {}, "ms-transformer"),
        (19_999, 2, {"train": {"epochs": 2}}, "ms-san"),
        (20_000, 2, {}, "ms-san"),
        (30_000, 30, {}, "ms-san"),
        (30_000, 31, {}, "ms-transformer"),
        (4_000, 2, {"encoder": {"layers": 2}}, "ms-transformer"),
        (4_000, 2, {"encoder": {"name": "star-transformer"}}, "star-transformer"),
        (4_000, 2, {"base": {"name": "none"}}, "ms-transformer"),
    ],
)
def test_several_thousand_texts_of_few_labels_have_heads_that_know_the_order(texts, labels, asked, encoder):
    asked = {"base": {"encoder": "off"}, **asked}
    recipe = _chosen([f"this is the text number {n} of us" for n in range(texts)], labels, asked)
    assert encoder_name(recipe.model.encoder) == encoder
    if encoder == "ms-san":
        own = recipe.model.encoder
        assert (own.width, own.heads, own.layers, own.distances) == (64, 6, 1, ("word", "none"))
        assert not recipe.model.base.probe
        assert recipe.model.readout == "attentive,max"
    elif recipe.model.base.name:
        assert recipe.model.base.probe


@pytest.mark.parametrize(("words", "started"), [(100, True), (101, False)])
def test_several_thousand_texts_start_from_the_encoder_of_the_base_first(words, started):
    model = _chosen([f"{n} " + "a " * (words - 1) for n in range(5_000)], 25, {}).model
    assert model.base.encoder == ("on" if started else "off")
    assert encoder_name(model.encoder) == ("ms-transformer" if started else "ms-san")


@pytest.mark.parametrize(
    ("texts", "long", "chosen", "patience"),
    [
        (19_999, 202, "ms-san", 1),
        (19_999, 190, "ms-san", 5),
        (20_000, 202, "ms-transformer", 2),
        (20_000, 190, "ms-san", 2),
    ],
)
def test_many_long_texts_take_too_long_for_what_the_order_of_words_brings(texts, long, chosen, patience):
    """A file may begin with the short ones."""
    items = [f"{n} a" for n in range(texts // 2)]
    items += [f"{n} " + "a " * (long - 1) for n in range(texts // 2, texts)]
    asked = {"base": {"encoder": "off"}}
    config = _chosen(items, 2, asked)
    assert (encoder_name(config.model.encoder), config.train.patience) == (chosen, patience)


@pytest.mark.parametrize(("most", "chosen"), [(60_000, "ms-san"), (59_999, "ms-transformer")])
def test_so_do_words_that_are_many_in_all(monkeypatch, most, chosen):
    monkeypatch.setattr(encoder_rules, "RULES", EncoderRules(most_words=most))
    items = [f"a text {n}" for n in range(20_000)]
    asked = {"base": {"encoder": "off"}}
    assert encoder_name(_chosen(items, 2, asked).model.encoder) == chosen


def _chosen(texts, labels, asked):
    """What is chosen for texts that have so many labels in turn."""
    items = [Example(text, str(n % labels)) for n, text in enumerate(texts)]
    kind = find_task("classify").item_type_for(build_config().model)
    return resolve(asked).plan(RunData(DataParts(kind, items, items[:50], []))).run_config


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("name", ENCODERS)
def test_defaults_by_size_fit_every_encoder(name, vectors):
    for texts in SIZES:
        built = build_config(
            text_defaults(texts, vectors=vectors, encoder=name), {"encoder": {"name": name}}
        )
        assert type(built.model.encoder) is ENCODERS[name][1]
        assert built.model.encoder.width == (300 if vectors else 128)


def test_other_encoders_keep_their_papers_settings():
    built = build_config(text_defaults(100, vectors=False, encoder="bp-transformer"))
    assert built.model.encoder == BPTransformerConfig(width=128)
    assert built.model.readout == BPTransformerConfig.readout


def test_json_round_trip():
    settings = {
        "data": {"format": "csv", "label-column": "2", "header": False},
        "split": {"dev": 0.2, "seed": 3},
        "vectors": {"file": "v.txt", "extra-words": 5},
        "encoder": {"name": "transformer", "layers": 1, "bias": False},
        "model": {"readout": "mean,max"},
        "classifier": {"class-weights": "a=2.0"},
        "train": {"epochs": 2, "learning-rate": 1},
    }
    for built in (
        RunConfig(),
        build_config(settings),
        build_config(usual_defaults(10, vectors=True)),
    ):
        plain = json.loads(json.dumps(built.to_json()))
        assert build_config(plain) == built
        assert set(plain) < set(SECTIONS)  # the others are of other tasks


@pytest.mark.parametrize("name", ENCODERS)
def test_json_round_trip_of_every_encoder(name):
    built = RunConfig(model=ModelConfig(encoder=ENCODERS[name][1](width=24), readout="max"))
    assert build_config(built.to_json()) == built


def test_a_toml_file(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('[train]\nepochs = 3\n[encoder]\nname = "transformer"\nhead-size = 8\n')
    built = build_config(read_preset(path), {"train": {"epochs": 4}})
    assert (built.train.epochs, built.model.encoder) == (4, TransformerConfig(head_size=8))


def test_toml_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "r.toml"
    with pytest.raises(ConfigError, match=r"r\.toml: cannot read the recipe: No such file"):
        read_preset(path)
    path.write_text("[train]\nepochs = = 3\n")
    with pytest.raises(ConfigError, match=r"r\.toml: not a TOML file: .*line 2, column 10"):
        read_preset(path)
    path.write_bytes(b"[train]\n# \xff\n")
    with pytest.raises(ConfigError, match=r"r\.toml: not a TOML file"):
        read_preset(path)
    for text in (f"[train]\nepochs = {'9' * 5_000}\n", f"[train]\nepochs = {'[' * 5_000}\n"):
        path.write_text(text)
        with pytest.raises(ConfigError, match=r"r\.toml: not a TOML file"):
            read_preset(path)
    with pytest.raises(StoreError, match="not the folder of a headwise model"):
        read_preset(tmp_path)


def test_recipes_that_come_along(tmp_path, monkeypatch):
    (tmp_path / "quick.toml").write_text("[train]\nepochs = 1\n")
    (tmp_path / "__init__.py").write_text("")
    monkeypatch.setattr(recipe_module, "files", lambda _: tmp_path)
    monkeypatch.chdir(tmp_path)
    assert read_preset(Path("quick")) == {"train": {"epochs": 1}}
    with pytest.raises(ConfigError, match="unknown recipe 'qick'; did you mean 'quick'"):
        read_preset(Path("qick"))
    with pytest.raises(ConfigError, match="unknown recipe '__init__'"):
        read_preset(Path("__init__"))
    Path("quick").write_text("[train]\nepochs = 2\n")  # a file of the user's goes before
    assert read_preset(Path("quick")) == {"train": {"epochs": 2}}


def test_every_recipe_that_comes_along_can_be_built():
    for item in recipe_module.files("headwise.app.presets").iterdir():
        if item.name.endswith(".toml"):
            build_config(tomllib.loads(item.read_text("utf-8")))


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf[train]\nepochs = 3\n", b"[train]\r\nepochs = 3\r\n"])
def test_a_recipe_of_an_editor_on_windows(tmp_path, content):
    (tmp_path / "r.toml").write_bytes(content)
    assert read_preset(tmp_path / "r.toml") == {"train": {"epochs": 3}}


def test_a_recipe_that_does_not_exist():
    with pytest.raises(ConfigError, match="no-such-recipe"):
        read_preset(Path("no-such-recipe"))


def test_more_texts_fewer_epochs():
    epochs = [usual_defaults(texts, vectors=False)["train"]["epochs"] for texts in SIZES]
    assert epochs == sorted(epochs, reverse=True)
    counts = [usual_defaults(texts, vectors=True)["words"]["min_count"] for texts in SIZES]
    assert counts == sorted(counts)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (
            {"thresholds": {"min_texts": 1 << 25}},
            "thresholds: min_texts is 33554432; 0 to 16777216 is possible",
        ),
        ({"encoder": {"layers": 5000}}, "encoder: layers is 5000; 0 to 4096 is possible"),
    ],
)
def test_what_no_folder_could_hold_is_refused_before_training(layer, said):
    with pytest.raises(ConfigError) as raised:
        build_config({"model": {"task": "multi-label"}}, layer)
    assert raised.value.args[0] == said
    fine = build_config({"model": {"task": "multi-label"}, "thresholds": {"min_texts": 100_000}})
    assert fine.model.thresholds.min_texts == 100_000
