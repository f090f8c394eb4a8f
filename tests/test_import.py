"""`import headwise` is light, in a fresh process."""

import importlib
import os
import subprocess
import sys
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

import headwise
from headwise.core.moved_modules import MOVED_MODULES
from headwise.core.openmp import processor_quota, set_openmp_defaults


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_loads_nothing_large():
    loaded = fresh("import sys, headwise; print(*sorted({name.split('.')[0] for name in sys.modules}))")
    heavy = {"torch", "numpy", "scipy", "sklearn", "safetensors", "rich", "cyclopts", "regex"}
    heavy |= {"jinja2", "filelock", "typing", "dataclasses"}
    assert not heavy & set(loaded.split())


@pytest.mark.parametrize("chosen", ["", "ACTIVE"])
def test_threads_of_torch_sleep_while_they_wait_unless_the_user_says_otherwise(chosen):
    policy = f"os.environ['OMP_WAIT_POLICY'] = {chosen!r}" if chosen else "os.environ.clear()"
    shown = "print('torch' in sys.modules, os.environ['OMP_WAIT_POLICY'])"
    loaded = fresh(f"import os, sys; {policy}; import headwise; {shown}")
    assert loaded == f"False {chosen or 'PASSIVE'}"


@pytest.mark.parametrize(
    ("files", "processors"),
    [
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "max 100000\n"}, 0),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 0),
        ({"cpu.max": "?"}, 0),
        ({}, 0),
    ],
)
def test_the_processors_of_a_container(tmp_path, files, processors):
    (tmp_path / "cpu").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert processor_quota(str(tmp_path)) == processors


@pytest.mark.parametrize(("chosen", "quota", "threads"), [("", 1, "1"), ("7", 1, "7"), ("", 0, None)])
def test_no_more_threads_than_a_container_may_use(monkeypatch, chosen, quota, threads):
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("headwise.core.openmp.processor_quota", lambda folder: quota)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if chosen:
        monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    set_openmp_defaults()
    assert os.environ.get("OMP_NUM_THREADS") == threads


def test_the_flags_of_all_settings_need_neither_torch_nor_numpy():
    code = "import sys, headwise.app.cli.train_command; from headwise.app.cli.flags import every_flag"
    loaded = fresh(f"{code}; every_flag(); print(*sys.modules)").split()
    assert "headwise.nn.networks.model_config" in loaded
    assert "headwise.training.settings" in loaded
    assert not {"torch", "numpy", "scipy", "regex"} & set(loaded)


def test_import_needs_few_modules():
    # Counted, not timed: seconds also measure what else the machine does.
    counted = "; print(len(sys.modules))"
    assert int(fresh(f"import sys, headwise{counted}")) - int(fresh(f"import sys{counted}")) < 60


def test_messages_in_a_file_need_no_rich():
    code = "import sys; from headwise.app.cli.terminal import TerminalReporter\n"
    code += "from headwise.app.cli.console import warn; from pathlib import Path\n"
    code += "warn('some\\x1b' + ' words' * 40)\n"
    code += "with TerminalReporter().reading(Path('texts.txt'), 0, shown=True) as update: update(1, 1)\n"
    code += "print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert done.stderr == "warning some\\x1b" + " words" * 40 + "\n"


UPDATE = """
import torch
from headwise.training.optimizer import AdamW
weight = torch.ones(2, requires_grad=True)
optimizer = AdamW([{"params": [weight], "lr": 0.1, "weight_decay": 0.0}])
weight.sum().backward()
optimizer.step()
optimizer.zero_grad()
"""


def test_predicting_loads_nothing_for_training_and_training_no_optional_library_and_no_compiler():
    code = (
        "import sys, headwise.app.workflows.predict, headwise.nn.networks.text_models; print(*sys.modules)"
    )
    code += f"\nimport headwise.training.fit{UPDATE}print(*sys.modules)"
    predicting, training = map(str.split, fresh(code).splitlines())
    assert "headwise.nn.networks.linear_members" in predicting
    assert not {"sklearn", "scipy.stats", "scipy.optimize", "torch._dynamo"} & set(predicting)
    libraries = {name.split(".")[0] for name in training}
    assert {"headwise", "torch"} <= libraries
    assert not {"transformers", "datasets", "spacy", "onnx", "matplotlib", "pandas"} & libraries
    assert "torch._dynamo" not in training  # an update would load it


def test_predicting_texts_loads_nothing_of_other_tasks():
    loaded = fresh(
        "import sys, headwise.app.workflows.predict, headwise.app.session; print(*sys.modules)"
    ).split()
    assert "headwise.runtime.text_network" in loaded
    assert not {"torch", "scipy", "sqlite3", "multiprocessing", "concurrent.futures.process"} & set(loaded)
    rooms = ("data.doctor.label_checks", "data.splits.duplicates", "data.items.bag_items", "linear.tag_crf")
    rooms += ("runtime.pair_network", "runtime.tag_network", "nn.priors.learned_decay")
    assert not {f"headwise.{module}" for module in rooms} & set(loaded)


def test_a_path_that_does_not_exist_is_reported_without_any_library():
    code = "import sys; from headwise.app.cli import main; "
    code += f"main(['predict', {str(Path(__file__).parent)!r}, 'missing.txt']); print(*sys.modules)"
    loaded = fresh(code).split()
    assert not {"numpy", "cyclopts", "dataclasses", "hashlib", "zipfile", "tempfile"} & set(loaded)


def test_a_plain_prediction_imports_what_it_needs(tmp_path):
    model, texts = tmp_path / "model", tmp_path / "texts.txt"
    small_model(model)
    texts.write_text("Hi, I've seen it. They don't!\n")
    code = "import sys; from headwise.app.cli import main; "
    code += f"main(['predict', {str(model)!r}, {str(texts)!r}]); print(*sys.modules)"
    loaded = set(fresh(code).splitlines()[-1].split())
    assert "headwise.runtime.text_network" in loaded
    libraries = {"torch", "scipy", "cyclopts", "attr", "rich", "regex", "jinja2"}
    libraries |= {"logging", "statistics", "difflib", "zipfile", "lzma", "concurrent.futures"}
    modules = """
        app.cli.flags app.cli.predict_command training.settings models.metric_table
        models.report_messages metrics.novelty metrics.operating_points metrics.classification_scores
        data.formats.conll data.doctor.doctor_report data.readers.tagged_files data.splits.split_config
        nn.encoders.transformer_configs nn.encoders.recurrent_configs nn.priors.notation linear.svm_solver
        linear.linear_settings text.parsing text.character_features
    """
    assert not (libraries | {f"headwise.{module}" for module in modules.split()}) & loaded
    for module in modules.split():  # a module that was moved is adapted here
        assert find_spec(f"headwise.{module}")


def small_model(folder: Path) -> None:
    """Save a model of texts that the runtime without torch computes."""
    from headwise.artifacts import save_model
    from headwise.nn.encoders import MSTransformerConfig
    from headwise.nn.networks.model_config import ModelConfig
    from headwise.nn.networks.text_models import TextClassifierModel
    from headwise.text.text_configs import WordConfig
    from headwise.text.vocabulary import Vocabulary

    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=1)
    config = ModelConfig(words=WordConfig(vector_size=8), encoder=encoder)
    model = TextClassifierModel(config, Vocabulary.build([["seen", "it"]]), ["no", "yes"])
    save_model(model, folder, data={}, training={}, metrics={})


@pytest.mark.parametrize("name", headwise.__all__)
def test_public_names_exist(name):
    assert getattr(headwise, name) is not None
    assert name in dir(headwise)


def test_no_public_name_is_that_of_a_package():
    """Else it would be the one or the other, by what was imported before."""
    assert not {name for name in headwise.__all__ if find_spec(f"headwise.{name}")}


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'Windw'"):
        headwise.Windw  # noqa: B018


@pytest.mark.parametrize("old", MOVED_MODULES)
def test_old_modules_lead_to_modules(old):
    """Who moves a module or renames a public class adapts the table in `headwise.core.moved_modules`."""
    new, names = MOVED_MODULES[old]
    module = importlib.import_module(new)
    assert all(hasattr(module, name) for name in names.values())
    importlib.import_module(old)


def test_the_package_is_one_folder():
    """Else its data is not found beside its code: an editable installation may have two."""
    assert (Path(str(files("headwise"))) / "data" / "samples" / "helpdesk.tsv").is_file()
