"""Commands that need neither PyTorch nor SciPy nor scikit-learn: none of these can be imported."""

import json
import re
import subprocess
import sys
import urllib.request

import pytest

from headwise.app.workflows.evaluate import evaluate_file
from headwise.artifacts import save_model
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.task_layers.layer_configs import PairConfig
from tests.runtime.test_pair_parity import WITH_NODE
from tests.runtime.test_pair_parity import new_model as new_pair_model
from tests.runtime.test_pair_parity import with_linear_model as with_pair_member
from tests.runtime.test_parity import ENCODERS, SCALES, new_model
from tests.runtime.test_tagger_parity import new_model as new_tagger
from tests.runtime.test_tagger_parity import with_linear_model as with_crf

BLOCK = """
import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocked())
"""
BLOCKED = f"""
BLOCKED = ("torch", "scipy", "sklearn", "joblib", "threadpoolctl")
{BLOCK}
from headwise.app.cli import main

sys.exit(main(sys.argv[1:]))
"""


def command_of(*arguments):
    return [sys.executable, "-c", BLOCKED, *map(str, arguments)]


def run_blocked(*arguments):
    return subprocess.run(command_of(*arguments), capture_output=True, text=True, timeout=120, check=False)


def test_prediction_imports_neither_torch_nor_scipy(tmp_path):
    encoder, readout = ENCODERS["one layer"]
    folder, texts = tmp_path / "model", tmp_path / "texts.csv"
    training = {"columns": {"text": "text", "label": "label"}}
    save_model(new_model("label", encoder, readout), folder, data={}, training=training, metrics={})
    texts.write_text("text\na b\n日本 unheard\n", encoding="utf-8")
    done = run_blocked("predict", folder, texts)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert len(rows) == 3
    assert rows[0].startswith("text,prediction,probability")


def test_what_is_missing_is_named(tmp_path):
    folder, texts = tmp_path / "model", tmp_path / "texts.csv"
    model = new_model("label", MSTransformerConfig(**SCALES, positions="sinusoidal"), "mean")
    save_model(model, folder, data={}, training={}, metrics={})
    texts.write_text("text\na b\n", encoding="utf-8")
    done = run_blocked("predict", folder, texts)
    assert done.returncode == 2
    assert "[HW957] position embeddings: this needs torch" in done.stderr
    assert "pip install '.[train]'" in done.stderr


@pytest.fixture(scope="module")
def pair_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs") / "model"
    model = with_pair_member(new_pair_model("pair", WITH_NODE, "max", PairConfig(interaction="match")))
    training = {"columns": {"first": "first", "second": "second", "label": "label"}}
    save_model(model, folder, data={}, training=training, metrics={})
    return folder


@pytest.fixture(scope="module")
def tagger_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tags") / "model"
    model = with_crf(new_tagger(["O", "B-A", "E-A", "I-A", "S-B"]))
    save_model(model, folder, data={}, training={}, metrics={})
    return folder


def test_pairs_are_predicted(pair_folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("first,second\na b,b\n日本,\n", encoding="utf-8")
    done = run_blocked("predict", pair_folder, pairs)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_texts_are_tagged_and_tags_explained(tagger_folder, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("Anna saw größe .\n", encoding="utf-8")
    done = run_blocked("predict", tagger_folder, texts)
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.splitlines()[:4]] == ["Anna", "saw", "größe", "."]
    done = run_blocked("explain", tagger_folder, texts, "--json")
    assert done.returncode == 0, done.stderr
    for explanation in map(json.loads, done.stdout.splitlines()):
        assert explanation["line"] == 1


def test_labels_of_the_linear_model_alone_are_explained(pair_folder, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("first,second\na b,b\n", encoding="utf-8")
    done = run_blocked("explain", pair_folder, pairs)
    assert done.returncode == 2
    assert "[HW957] explanations of an encoder: this needs torch" in done.stderr


def test_training_says_at_once_what_it_needs(tmp_path):
    texts = tmp_path / "texts.csv"
    texts.write_text("text,label\n" + "a b,x\nb c,y\n" * 6, encoding="utf-8")
    done = run_blocked("train", texts)
    assert done.returncode == 2
    assert "[HW957] this needs torch; in the source folder of headwise: pip install" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["texts.csv"]


def test_doctor(tmp_path):
    pairs = tmp_path / "texts.csv"
    pairs.write_text("text,label\n" + "a b,x\nb c,y\n" * 6, encoding="utf-8")
    done = run_blocked("doctor", pairs)
    assert "HW" in done.stdout
    assert "HW957" not in done.stderr


def scores_of(report):
    """The numbers of an evaluation, by the way to them."""
    if isinstance(report, dict):
        return {f"{key}.{way}": value for key in report for way, value in scores_of(report[key]).items()}
    if isinstance(report, list):
        return scores_of({str(place): value for place, value in enumerate(report)})
    return {"": report} if isinstance(report, float | int) else {}


def test_models_are_evaluated(pair_folder, tagger_folder, tmp_path):
    pairs, sentences = tmp_path / "pairs.csv", tmp_path / "sentences.conll"
    pairs.write_text("first,second,label\na b,b,x\n日本 . a,b a,y\nb,. a,z\n", encoding="utf-8")
    sentences.write_text("Anna\tB-A\nsaw\tO\n\ngröße\tO\n日本\tB-B\n\n", encoding="utf-8")
    for folder, file in ((pair_folder, pairs), (tagger_folder, sentences)):
        done = run_blocked("evaluate", folder, file, "--json", "--errors", 2)
        assert done.returncode == 0, done.stderr
        expected = scores_of(json.loads(json.dumps(evaluate_file(folder, file, errors=2).to_json())))
        assert scores_of(json.loads(done.stdout)) == pytest.approx(expected, abs=1e-5)


def test_a_server_tags_texts(tagger_folder):
    command = command_of("serve", tagger_folder, "--port", 0)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = next(filter(None, (re.search(r"http://\S+\d", line) for line in server.stderr)))
            request = urllib.request.Request(
                f"{address[0]}/predict",
                json.dumps({"texts": ["Anna saw", ""]}).encode(),
                {"content-type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                predictions = json.load(answer)["predictions"]
        finally:
            server.terminate()
    assert [prediction["words"] for prediction in predictions] == [["Anna", "saw"], []]


def without(library, code):
    """What a process prints that cannot import a library."""
    code = f"BLOCKED = {library!r},\n{BLOCK}\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("library", "statement"),
    [
        ("torch", "import headwise.training.fit"),
        ("torch", "import headwise.app.estimators.classifiers"),
        ("torch", "from headwise.encoders import MSTransformer"),  # an old name
        ("scipy", "import headwise.linear.linear_fit"),
        ("sklearn", "import headwise.app.estimators.base_estimator"),
    ],
)
def test_modules_that_need_a_library_name_it(library, statement):
    code = f"import headwise\ntry: {statement}\nexcept ImportError as error: print(error, error.name)"
    status, output, errors = without(library, code)
    assert status == 0, errors
    assert "[HW957] import headwise." in output
    assert f"this needs {library}; in the source folder of headwise: pip install '.[train]'" in output
    assert output.endswith(f" {library}\n")


def test_other_modules_are_imported_as_before():
    modules = "headwise.training.settings, headwise.core.html, headwise.data"
    status, _, errors = without("torch", f"import {modules}")
    assert status == 0, errors
    status, _, errors = without("openpyxl", "import headwise.data.files.workbook, headwise.nowhere")
    assert "No module named 'headwise.nowhere'" in errors
    assert "HW957" not in errors


def test_the_sources_of_modules_are_found():
    code = "import inspect, headwise.core.html as module; print(inspect.getsource(module)[:3])"
    status, output, errors = without("torch", code)
    assert status == 0, errors
    assert output.startswith('"""')
