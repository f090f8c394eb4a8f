"""speed_gpu.py where there is no GPU: that its code runs, and what it makes of its times."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = """
from benchmarks.speed import speed
from benchmarks.speed import speed_gpu
speed_gpu.HEADS, speed_gpu.VOCABULARY = 2, 50
words = ["--only", "gpu", "--device", "cpu", "--lengths", "8", "--tokens", "8", "--rounds", "1"]
raise SystemExit(speed.main([*words, "--json", "speed.json"]))
"""


def test_without_a_gpu_it_says_so(tmp_path, monkeypatch, capsys):
    from benchmarks.speed import speed

    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("benchmarks.speed.speed.keep_freed_memory", lambda: True)
    monkeypatch.setenv("HEADWISE_KERNELS", "off")
    assert speed.main(["--only", "gpu", "--json", str(tmp_path / "speed.json")]) == 2
    assert capsys.readouterr().out == "gpu is skipped: there is no CUDA GPU here\n"


def test_its_code_runs_on_the_cpu(tmp_path):
    """In a process of its own: Triton's interpreter is chosen when Triton is imported."""
    pytest.importorskip("triton", reason="Triton is missing")
    environment = os.environ | {
        "TRITON_INTERPRET": "1",
        "HEADWISE_KERNELS": "off",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src"))),
    }
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert "gpu is skipped: on the CPU its code runs" in done.stdout
    assert "| windows of n/16 to n/4 | float32 | forward and backward | 8 |" in done.stdout
    assert "differs" not in done.stdout + done.stderr
    assert "failed" not in done.stdout + done.stderr
    assert not (tmp_path / "speed.json").exists()


def test_the_least_favourable_length_counts():
    from benchmarks.speed.speed_gpu import DENSE, FLEX, OURS, rows

    def case(words, flex, training="forward"):
        times = {OURS: 2.0, DENSE: 1.0} | ({FLEX: flex} if flex else {})
        return {
            "words": words,
            "windows": "narrow",
            "dtype": "bfloat16",
            "pass": training,
            "milliseconds": times,
        }

    table_rows = rows([case(128, 0.1), case(1024, 6.0), case(4096, 3.0), case(16384, None)])
    assert [(row.value, row.bar) for row in table_rows] == [(1.5, ">= 1.2"), (0.5, "")]
    assert table_rows[0].what.endswith("narrow, bfloat16, forward; least of 1,024 to 4,096 words, at 4,096")
    assert [row.value for row in rows([case(128, 1.0), case(256, 4.0)])] == [2.0, 0.5]
