"""`headwise train` on a subset, as a user runs it: a process of its own, files, defaults."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.runs import Result
from benchmarks.defaults.default_sets import DataSet, Kind, Part

TASKS: dict[Kind, str] = {"classify": "classify", "pair": "pair", "tag": "tag"}


def write_part(part: Part, kind: Kind, path: Path) -> Path:
    """A file that `headwise train` reads: jsonl, or columns for tags."""
    rows = zip(part.items, part.labels, strict=True)
    if kind == "tag":
        path = path.with_suffix(".conll")
        sentences = ("".join(f"{word} {tag}\n" for word, tag in zip(*row, strict=True)) for row in rows)
        path.write_text("\n".join(sentences), encoding="utf-8")
        return path
    path = path.with_suffix(".jsonl")
    names = ("premise", "hypothesis") if kind == "pair" else ("text",)
    with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
        for item, label in rows:
            texts = item if kind == "pair" else (item,)
            file.write(json.dumps({**dict(zip(names, texts, strict=True)), "label": label}) + "\n")
    return path


def run_headwise(data: DataSet, train: Part, seed: int, options: Sequence[str], folder: Path) -> Result:
    """Train on the part, test on the set's test texts.

    Args:
        options: More of them for `headwise train`.
        folder: Where the files and the model are written; what has been trained there before is replaced.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [
        write_part(part, data.kind, folder / name) for part, name in ((train, "train"), (data.test, "test"))
    ]
    model = folder / "model"
    command = [sys.executable, "-m", "headwise", "train", str(files[0]), "--test", str(files[1])]
    command += [
        "--output",
        str(model),
        "--overwrite",
        "--task",
        TASKS[data.kind],
        "--seed",
        str(seed),
        *options,
    ]
    began = time.monotonic()
    with open(folder / "log.txt", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status):
        end = "".join((folder / "log.txt").read_text().splitlines(keepends=True)[-15:])
        raise SystemExit(f"{' '.join(command)} failed:\n{end}")
    metrics = json.loads((model / "metrics.json").read_text())
    return {
        **scores_of(metrics),
        "seconds": round(seconds, 1),
        "peak_mib": round(usage.ru_maxrss / 1024),
        "size_mib": round(sum(path.stat().st_size for path in model.rglob("*")) / 2**20, 2),
        "texts_per_second": round(speed(model, data)),
    }


def scores_of(metrics: dict[str, Any]) -> Result:
    """The scores to store from a metrics.json, without those that it lacks."""
    test = metrics["test"]
    if "tokens" in test:
        scores = {"test": test["entities"]["f1"] if "entities" in test else test["tokens"]["accuracy"]}
        scores["macro_f1"] = test["tokens"].get("macro_f1")
    else:
        scores = {"test": test["accuracy"], "macro_f1": test.get("macro_f1")}
    scores |= {name: test.get(name) for name in ("log_loss", "calibration_error", "unknown_words")}
    for name in ("encoder_alone", "linear_model_alone", "baseline"):
        member = metrics.get(name) or {}
        scores[name] = member.get("accuracy", member.get("score"))
    if "tokens" not in test and "unseen" in metrics:  # else there is none
        scores["unseen"] = metrics["unseen"]["accuracy"]
    if "encoder_alone" not in metrics and "linear_model_alone" not in metrics:
        scores["encoder_alone"] = scores["test"]  # there is no linear model
    return {name: round(value, 5) for name, value in scores.items() if value is not None}


def speed(model: Path, data: DataSet) -> float:
    """Test texts that the model labels in a second, once it is loaded and warm."""
    from headwise.artifacts import load_model

    loaded: Any = load_model(model)
    items = [" ".join(item) for item in data.test.items] if data.kind == "tag" else list(data.test.items)
    for _ in loaded.predict(items[:64]):
        pass
    began = time.monotonic()
    for _ in loaded.predict(items):
        pass
    return len(items) / (time.monotonic() - began)
