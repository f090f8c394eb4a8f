"""Old spellings work for one release, with a warning that names the new one."""

import importlib
import inspect
import subprocess
import sys
import warnings
from dataclasses import dataclass

import pytest

import headwise
from headwise.core.deprecation import renamed_parameters
from headwise.core.moved_modules import MOVED_MODULES, install

MOVED_NAMES = [
    (old, old_name, new, new_name)
    for old, (new, names) in MOVED_MODULES.items()
    for old_name, new_name in names.items()
]


@renamed_parameters(heads="parses", listener="reporter")
def count(file, *, parses=(), reporter=None):
    """Counts."""
    return len(file), list(parses), reporter


def test_old_parameter_warns_at_the_line_of_the_call():
    with pytest.warns(DeprecationWarning, match=r"'heads' of count\(\) is now 'parses'") as caught:
        assert count("abc", heads=[1]) == (3, [1], None)
    assert caught[0].filename == __file__


def test_new_parameter_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count("abc", parses=[1], reporter=2) == (3, [1], 2)


def test_signature_shows_the_new_name():
    assert [*inspect.signature(count).parameters] == ["file", "parses", "reporter"]
    assert count.__doc__ == "Counts."


def test_old_and_new_parameter_together():
    with pytest.raises(
        TypeError, match=r"count\(\) got 'parses' and its old name 'heads'; pass only 'parses'"
    ):
        count("abc", parses=[1], heads=[2])


def test_unknown_parameter():
    with pytest.raises(TypeError, match="haeds"):
        count("abc", haeds=[2])


def test_fields_of_a_dataclass():
    @renamed_parameters(heads="parse")
    @dataclass(frozen=True)
    class Sentence:
        words: tuple[str, ...]
        parse: tuple[int, ...] = ()

    with pytest.warns(DeprecationWarning, match="'heads'"):
        assert Sentence(("a",), heads=(0,)) == Sentence(("a",), (0,))
    assert Sentence(("a",), (0,)).heads == (0,)


def test_old_public_name():
    with pytest.warns(
        DeprecationWarning, match="headwise.Model is now headwise.TextClassifierModel"
    ) as caught:
        assert headwise.Model is headwise.TextClassifierModel
    assert caught[0].filename == __file__
    assert "Model" not in dir(headwise)


@pytest.mark.parametrize(("old", "old_name", "new", "new_name"), MOVED_NAMES)
def test_old_names_in_old_modules(old, old_name, new, new_name):
    module = importlib.import_module(old)
    vars(module).pop(old_name, None)
    with pytest.warns(DeprecationWarning, match=f"{old}.{old_name} is now {new}.{new_name}"):
        assert getattr(module, old_name) is getattr(importlib.import_module(new), new_name)


def test_no_old_module_hides_a_new_one():
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            "-c",
            "import headwise.models, headwise.nn.priors, headwise.data.files",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr


FORMERLY_DOCUMENTED = """
from headwise.attention import SelfAttention
from headwise.attention.reference import attention
from headwise.cli import main
from headwise.data import split_examples
from headwise.data.example import Example
from headwise.data.tagged import read_tagged
from headwise.encoders import SetTransformer, SetTransformerConfig
from headwise.encoders.set_models import SetModel, SetModelConfig
from headwise.features.parse_files import read_parses
from headwise.features.pretrained import PretrainedConfig
from headwise.features.syntax import tree_distances
from headwise.linear.baseline import fit_baseline
from headwise.models.sampling import SampleConfig, encode_prompt, sample, text_of
from headwise.pretrain import pretrain_files
from headwise.priors import Backward, Everything, Forward, Pairs, Prior, Window, from_json, head_counts
from headwise.priors.draw import draw
from headwise.priors.window import Window
from headwise.ragged import Layout, Ragged
from headwise.report.labels import evaluate_labels
from headwise.scores.metrics import compare
from headwise.serve.answering import Answering
from headwise.serve.app import create_app
from headwise.store import load_model, read_info
from headwise.teachers.config import TeachConfig
from headwise.teachers.lesson import Teaching
from headwise.verbs.spaces import LADDER, settings_space
from headwise.verbs.train import train_files
"""


def test_imports_of_the_last_release():
    """In a fresh process, each warned about at its line and nowhere else."""
    code = f"import warnings\nwarnings.simplefilter('always')\n{FORMERLY_DOCUMENTED}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = FORMERLY_DOCUMENTED.strip().splitlines()
    new = [line for line in lines if "headwise.data import" in line]
    warned = {line.split(":")[1] for line in done.stderr.splitlines() if "DeprecationWarning" in line}
    assert len(warned) == len(lines) - len(new)
    assert all(line.startswith("<string>:") for line in done.stderr.splitlines() if "Warning" in line)


def test_unknown_modules_and_names():
    with pytest.raises(ModuleNotFoundError, match="lokc"):
        importlib.import_module("headwise.store.lokc")
    with pytest.raises(ImportError, match="Windw"):
        from headwise.priors import Windw  # noqa: F401


def test_installed_once():
    before = [*sys.meta_path]
    install()
    assert sys.meta_path == before
