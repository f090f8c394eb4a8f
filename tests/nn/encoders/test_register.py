"""An encoder of one's own is trained, saved and loaded by its name."""

import subprocess
import sys
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from headwise import TextClassifier, load_model
from headwise.app.cli.flags import flags_of
from headwise.artifacts.onnx.graph import check_exportable
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.encoders import ENCODER_CONFIGS, ENCODERS, Encoded, register
from headwise.nn.ragged import Ragged

TEXTS = [f"{word} film number {n}" for n in range(15) for word in ("fine", "dull")]
LABELS = ["good", "bad"] * 15


@dataclass(frozen=True)
class GatedConfig:
    """Settings of the encoder of these tests."""

    readout = "mean"
    width: int = 64
    """Size of a word vector."""
    scale: float = 1.0
    """Factor of the gates."""


class Gated(nn.Module):
    def __init__(self, config: GatedConfig):
        super().__init__()
        self.scale, self.gate = config.scale, nn.Linear(config.width, config.width)

    def forward(self, x: Ragged) -> Encoded:
        return Encoded(x.with_values(x.values * torch.sigmoid(self.scale * self.gate(x.values))))


@pytest.fixture(autouse=True)
def registered():
    register("gated", GatedConfig)(Gated)
    yield
    flags_of.cache_clear()
    ENCODERS.pop("gated", None), ENCODER_CONFIGS.pop("gated", None)


def test_it_is_trained_saved_and_loaded(tmp_path):
    recipe = {"encoder": {"scale": 2.0}}
    classifier = TextClassifier(encoder="gated", epochs=1, recipe=recipe).fit(TEXTS, LABELS)
    classifier.save(tmp_path / "m")
    model = load_model(tmp_path / "m")
    assert isinstance(model.encoder, Gated)
    assert model.config.encoder == GatedConfig(model.config.encoder.width, scale=2.0)
    expected = classifier.predict_proba(TEXTS[:4])
    assert [list(p.probabilities) for p in model.predict(TEXTS[:4])] == [*map(list, expected)]
    with pytest.raises(HeadwiseError, match="the encoder gated: it is not one of headwise"):
        check_exportable(model, "classifier")


def test_a_folder_whose_encoder_is_not_registered_says_what_to_import(tmp_path):
    TextClassifier(encoder="gated", epochs=1).fit(TEXTS, LABELS).save(tmp_path / "m")
    ENCODERS.pop("gated"), ENCODER_CONFIGS.pop("gated")
    with pytest.raises(
        HeadwiseError, match=r"unknown encoder 'gated'.*import the module that registers it"
    ):
        load_model(tmp_path / "m")


def test_a_program_that_imports_it_has_it_on_the_command_line(tmp_path):
    (tmp_path / "gates.py").write_text(f"""
import sys
from dataclasses import dataclass
sys.path.insert(0, {str(sys.path[0])!r})
from torch import nn
from headwise.nn.encoders import Encoded, register

@dataclass(frozen=True)
class PlainConfig:
    readout = "mean"
    width: int = 64
    \"\"\"Size of a word vector.\"\"\"
    depth: int = 1
    \"\"\"Number of layers.\"\"\"

@register("plain", PlainConfig)
class Plain(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(config.width, config.width) for _ in range(config.depth))
    def forward(self, x):
        for layer in self.layers:
            x = x.with_values(layer(x.values).relu())
        return Encoded(x)

from headwise.app.cli import main
sys.exit(main())
""")
    rows = [f"{label}\t{text}" for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "texts.tsv").write_text("\n".join(["label\ttext", *rows]))

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "gates.py", *arguments], cwd=tmp_path, capture_output=True, text=True
        )

    settings = ["--encoder", "plain", "--encoder.depth", "2", "--epochs", "1"]
    trained = run("train", "texts.tsv", "--output", "m", *settings)
    assert trained.returncode == 0, trained.stderr
    predicted = run("predict", "m", "texts.tsv", "--output", "p.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + len(TEXTS)


@dataclass
class Changeable:
    width: int = 8


@dataclass(eq=False)
class ChangeableByIdentity:
    width: int = 8


@dataclass(frozen=True)
class Nameless:
    size: int = 8


@dataclass(frozen=True)
class WithoutDefault:
    depth: int
    width: int = 8


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("Gated", GatedConfig, "expected lower-case letters"),
        ("other", Changeable, "expected a frozen dataclass"),
        ("other", ChangeableByIdentity, "expected a frozen dataclass"),
        ("other", Nameless, "with a 'width'"),
        ("other", dict, "is no configuration"),
        ("other", WithoutDefault, "no default for depth"),
    ],
)
def test_what_cannot_be_registered_says_why(name, config, message):
    with pytest.raises(ConfigError, match=message):
        register(name, config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda encoded: encoded.tokens, "the encoder bare returned Ragged; expected an Encoded"),
        (
            lambda encoded: Encoded(encoded.tokens.with_values(encoded.tokens.values[:, 1:])),
            r"returned Encoded with states \[\d+, 63\]; expected .* a state for each word, \[\d+, 64\]",
        ),
        (lambda encoded: Encoded(encoded.tokens[:1]), r"with states \[\d, 64\]; expected"),
    ],
)
def test_an_encoder_that_returns_something_else_is_named(change, message):
    @dataclass(frozen=True)
    class BareConfig(GatedConfig):
        """As its parent."""

    class Bare(Gated):
        def forward(self, x: Ragged) -> Encoded:
            return change(super().forward(x))

    register("bare", BareConfig)(Bare)
    try:
        with pytest.raises(ConfigError, match=message):
            TextClassifier(encoder="bare", epochs=1, recipe={"encoder": {"width": 64}}).fit(TEXTS, LABELS)
    finally:
        ENCODERS.pop("bare"), ENCODER_CONFIGS.pop("bare")


def test_an_encoder_has_a_configuration_of_its_own():
    with pytest.raises(ConfigError, match="GatedConfig is the configuration of the encoder 'gated'"):
        register("other", GatedConfig)(Gated)


def test_names_of_other_encoders_are_taken_and_an_edited_class_is_not_another():
    with pytest.raises(ConfigError, match="the name of another encoder"):
        register("ms-san", GatedConfig)(Gated)
    assert register("gated", GatedConfig)(Gated) is Gated


def test_an_encoder_of_a_session_without_source_has_flags_without_texts():
    names = {"__name__": "session"}
    fields = "    width: int = 8\n    gates: int = 2\n"
    exec(f"from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Typed:\n{fields}", names)
    register("gated", names["Typed"])(Gated)
    flags_of.cache_clear()
    assert any("gates" in flag.name for flag in flags_of("encoder"))
