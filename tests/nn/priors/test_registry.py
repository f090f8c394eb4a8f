"""Registered user-defined priors work wherever the built-in ones do."""

import json
import subprocess
import sys
from dataclasses import dataclass, make_dataclass
from typing import ClassVar, Literal

import pytest
import torch

from headwise import TextClassifier
from headwise.app.cli import main
from headwise.artifacts import load_model
from headwise.core.errors import ConfigError
from headwise.nn.encoders import Transformer, TransformerConfig
from headwise.nn.priors import (
    PRIORS,
    Band,
    Prior,
    Sum,
    Window,
    format_prior,
    from_json,
    parse_prior,
    register,
)

TEXTS = [f"{('bad', 'good')[number % 2]} w{number}" for number in range(30)]
LABELS = [text.split()[0] for text in TEXTS]
TINY = {"heads": 2, "head_size": 4, "width": 8, "layers": 1}


@dataclass(frozen=True)
class TowardsEnd(Prior):
    """What stands late in a text counts more."""

    alpha: float = 0.1
    steps: int = 1
    normalized: bool = False
    kind: Literal["soft", "hard"] = "soft"
    inner: Prior | None = None
    name: ClassVar[str] = "towards-end"

    def score(self, pairs):
        return -self.alpha * (pairs.length - 1 - pairs.key)


@pytest.fixture(autouse=True)
def registered():
    """Only for a test, so that the others do not know of it."""
    register(TowardsEnd)
    yield
    PRIORS.pop(TowardsEnd.name, None)


def test_spelling_and_json():
    for prior in (
        TowardsEnd(),
        TowardsEnd(0.5, 3, normalized=True, kind="hard", inner=Window(width=3)),
        Window(width=5) + TowardsEnd(2.0),
    ):
        assert parse_prior(format_prior(prior)) == prior
    assert format_prior(TowardsEnd(0.5, normalized=True)) == "towards-end(0.5, normalized=true)"
    assert from_json(TowardsEnd(0.5).to_json()) == TowardsEnd(0.5)
    assert from_json(Sum((TowardsEnd(0.5),)).to_json()) == Sum((TowardsEnd(0.5),))


@dataclass(frozen=True)
class Shift(Prior):
    """Fields of every kind that can be spelled."""

    by: int
    scale: float | None = 2.0
    side: Literal["Left", "right-1"] = "Left"
    inner: Prior | None = None
    name: ClassVar[str] = "shift"


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        (Shift(-3), "shift(-3)"),
        (Shift(3, None), None),
        (Shift(0, 5.0, "right-1"), "shift(0, scale=5, side=right-1)"),
        (Shift(1, -0.25), "shift(1, scale=-0.25)"),
        (Shift(1, inner=Window(width=5) + Shift(-2)), "shift(1, inner=window(5) + shift(-2))"),
    ],
)
def test_all_kinds_of_fields_come_back(prior, text):
    register(Shift)
    try:
        assert from_json(json.loads(json.dumps(prior.to_json()))) == prior
        if text is None:
            with pytest.raises(ConfigError, match=r"scale of Shift.* is None, which has no spelling"):
                format_prior(prior)
        else:
            assert format_prior(prior) == text
            assert parse_prior(text) == prior
    finally:
        PRIORS.pop(Shift.name)


@dataclass(frozen=True)
class Near(Window):
    """A window with one more field, which may not be negative."""

    more: int = 2
    name: ClassVar[str] = "near"

    def __post_init__(self):
        super().__post_init__()
        if self.more < 0:
            raise ValueError("more is negative")


def test_a_subclass_of_a_window_comes_back_and_its_own_errors_are_told():
    register(Near)
    try:
        for prior in (Near(width=5), Near(width=5, more=3), Near(fraction=0.25, more=3)):
            assert parse_prior(format_prior(prior)) == prior
            assert from_json(prior.to_json()) == prior
        with pytest.raises(ConfigError, match="character 1: more is negative"):
            parse_prior("near(5, more=-1)")
        with pytest.raises(ConfigError, match="more is negative"):
            from_json({"prior": "near", "width": 5, "more": -1})
    finally:
        PRIORS.pop(Near.name)


@pytest.mark.parametrize("kind", [tuple[int, int], str, Literal["two words"], int | str, list])
def test_fields_that_cannot_be_spelled_are_refused(kind):
    made = make_dataclass("Odd", [("field", kind)], bases=(Prior,), namespace={"name": "odd"}, frozen=True)
    with pytest.raises(ConfigError, match=r"Odd\.field is of the type"):
        register(made)


def test_encoders_recipes_and_saved_models(tmp_path):
    recipe = {
        "encoder": {**TINY, "name": "transformer", "priors": ["towards-end(0.5)", "window(3)"]},
        "words": {"vector_size": 8},
        "base": {"name": "none"},
        "linear_model": {"kind": "none"},
    }
    classifier = TextClassifier(recipe=recipe, epochs=1).fit(TEXTS, LABELS)
    assert classifier.model_.encoder.blocks[0].attention.priors[0] == TowardsEnd(0.5)
    classifier.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.encoder.blocks[0].attention.priors[0] == TowardsEnd(0.5)
    del PRIORS[TowardsEnd.name]
    with pytest.raises(
        ConfigError, match=r"unknown prior 'towards-end'.*import the module that registers it"
    ):
        Transformer(TransformerConfig(**TINY, priors=("towards-end(0.5)",)))


def test_the_command_line_knows_what_was_imported(tmp_path, capsys):
    rows = "".join(f"{label}\t{text}\n" for label, text in zip(LABELS, TEXTS, strict=True))
    (tmp_path / "texts.tsv").write_text("label\ttext\n" + rows)
    sizes = "--encoder.layers 1 --encoder.width 8 --encoder.heads 2 --encoder.head-size 4 --epochs 1"
    sizes += " --base none --linear-model.kind none"
    call = ["train", str(tmp_path / "texts.tsv"), "--encoder", "transformer", *sizes.split()]
    call += ["--no-baseline", "--encoder.priors", "towards-end(2)", "--output"]
    assert main([*call, str(tmp_path / "model")]) == 0
    capsys.readouterr()
    # Where nobody has imported it, loading the folder says so, and imports nothing by itself.
    code = "from headwise.app.cli import main; raise SystemExit(main(['evaluate', "
    code += f"{str(tmp_path / 'model')!r}, "
    code += f"{str(tmp_path / 'texts.tsv')!r}]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "unknown prior 'towards-end'" in done.stderr
    assert "import the module that registers it" in done.stderr


@dataclass(frozen=True)
class Named(Prior):
    name: ClassVar[str] = "window"


@dataclass
class Changeable(Prior):
    name: ClassVar[str] = "changeable"


@dataclass(frozen=True)
class Unspeakable(Prior):
    name: ClassVar[str] = "two words"


@dataclass(frozen=True)
class Nameless(Window):
    pass


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (Named, "'window', which is that of another prior"),
        (Changeable, "expected a frozen dataclass"),
        (Unspeakable, "the name 'two words'; expected"),
        (Nameless, "the name None; expected"),
        (TowardsEnd(), "is not a prior"),
        (dict, "is not a prior"),
    ],
)
def test_what_cannot_be_registered(prior, message):
    before = dict(PRIORS)
    with pytest.raises(ConfigError, match=message):
        register(prior)
    assert before == PRIORS


def test_the_same_class_once_more():
    assert register(TowardsEnd) is TowardsEnd


def test_an_unregistered_prior_has_no_spelling():
    del PRIORS[TowardsEnd.name]
    with pytest.raises(ConfigError, match=r"headwise\.nn\.priors\.register"):
        format_prior(TowardsEnd())


@dataclass(frozen=True)
class OwnBand(Prior):
    """A window of five words that falls with the distance; `off` is what is wrong with its band."""

    off: str = ""
    name: ClassVar[str] = "own-band"

    def visible(self, pairs):
        return (pairs.key - pairs.query).abs() <= 2

    def score(self, pairs):
        return -0.5 * (pairs.key - pairs.query).abs().double()

    @property
    def sees_self(self) -> bool:
        return True

    def band(self, lengths):
        reach = (lengths - 1).clamp(0, 2)
        wider = (lengths - 1).clamp(0, 3)
        slope = {"slope": 0.25, "no slope": 0.0}.get(self.off, 0.5)
        left = torch.where(lengths > 100, wider, reach) if self.off == "long" else reach
        return Band(wider if self.off == "left" else left, wider if self.off == "right" else reach, slope)


@pytest.mark.parametrize(
    ("off", "message"),
    [
        ("left", r"word 0 adds -1\.5 for word 3 by the band, and nothing \(it is not seen\) by visible"),
        ("right", r"word 3 adds -1\.5 for word 0 by the band, and nothing"),
        ("slope", r"word 1 adds -0\.25 for word 0 by the band, and -0\.5 by visible and score"),
        ("no slope", "by the band"),
        ("long", "in a text of 120 words"),
    ],
)
def test_a_wrong_band_is_told_at_first_use(off, message):
    from headwise.nn.attention import attention
    from headwise.nn.layout import Layout

    rows = torch.randn(125, 1, 4)
    for prior in (OwnBand(off), OwnBand(off) + Window(width=99)):
        with pytest.raises(ConfigError, match=rf"OwnBand.*{message}"):
            attention(rows, rows, rows, [prior], Layout([120, 5]))


def test_a_right_band_is_used():
    from headwise.nn.attention import attention
    from headwise.nn.attention.bands import band_of
    from headwise.nn.layout import Layout

    rows, layout = torch.randn(125, 1, 4), Layout([120, 5])
    assert band_of(OwnBand(), layout) is not None
    actual, expected = (
        attention(rows, rows, rows, [OwnBand()], layout, impl) for impl in ("auto", "reference")
    )
    torch.testing.assert_close(actual, expected)


@dataclass(frozen=True)
class NotSelf(OwnBand):
    def visible(self, pairs):
        return pairs.key == pairs.query + 1

    def band(self, lengths):
        return Band(torch.full_like(lengths, -1), (lengths - 1).clamp(0, 1), 0.5)


def test_a_word_that_does_not_see_itself_as_it_says():
    from headwise.nn.attention.bands import band_of
    from headwise.nn.layout import Layout

    with pytest.raises(ConfigError, match="says that every word sees itself"):
        band_of(NotSelf(), Layout([3]))
