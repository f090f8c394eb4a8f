"""A user's script under the strict rules of pyright: no errors, and no type that nobody knows."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from headwise.nn.encoders.encoder_configs import ENCODER_CONFIGS, EncoderName

SCRIPT = Path(__file__).parent / "data" / "helpdesk_script.py"
SOURCE = Path(__file__).parents[3] / "src"


@pytest.mark.slow
def test_the_script_has_known_types_only(tmp_path):
    checker = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which("pyright")
    if checker is None:
        pytest.skip("pyright is not installed")
    shutil.copy(SCRIPT, tmp_path / "script.py")
    settings = {"include": ["script.py"], "typeCheckingMode": "strict", "extraPaths": [str(SOURCE)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [checker, "--pythonpath", sys.executable, "--outputjson", "-p", str(tmp_path)]
    checked = subprocess.run(command, capture_output=True, text=True)
    if not checked.stdout.startswith("{"):
        pytest.skip(f"pyright does not run here: {checked.stderr[-200:]}")
    messages = [entry["message"] for entry in json.loads(checked.stdout)["generalDiagnostics"]]
    types = [message for message in messages if message.startswith("Type of")]
    assert sorted(set(messages) - set(types)) == []
    assert len(types) == len(re.findall(r"^ *reveal_type\(", SCRIPT.read_text("utf-8"), re.MULTILINE))
    assert [message for message in types if re.search(r"\b(Any|Unknown)\b", message)] == []


def test_names_of_encoders_are_those_of_the_registry():
    assert list(get_args(EncoderName)) == list(ENCODER_CONFIGS)
