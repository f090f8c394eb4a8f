"""Attacks on what reads model folders, states of training runs, outputs to resume, and command lines."""

import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import headwise.app.cli.predict_command
import headwise.app.cli.train_command  # noqa: F401 - here, so that no attack has to import it
from campaign import Campaign
from headwise.app.configuration import build_config, read_preset
from headwise.app.workflows.evaluate import evaluate_file
from headwise.app.workflows.explain import explain_file
from headwise.app.workflows.head_scores import heads_file
from headwise.app.workflows.learning_curve import MeasurementCache
from headwise.app.workflows.predict import predict_file
from headwise.app.workflows.report import report_file
from headwise.app.workflows.suggest_texts import suggest_file
from headwise.app.workflows.trials import TrialLog
from headwise.artifacts import load_model
from headwise.artifacts.model_folder import to_json
from headwise.artifacts.runtime_load import load_for_prediction, unsupported_reason
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import DATA, ENVIRONMENT, MANIFEST, METRICS, TRAINING, WEIGHTS
from headwise.data.files.fingerprint import file_sha256
from headwise.data.items.item_types import rows_to_predict
from headwise.models.tasks import find_task
from headwise.training.run_state import RunProgress, load_state, save_state
from inputs import SEEDS, STRANGE, altered, damaged
from readers import TEXT, VALUES, quietly

GOLDEN = Path(__file__).parents[1] / "tests" / "artifacts" / "golden"
_NO_NUMBER = re.compile(r"(?<![\w-])(nan|-?inf)(?![\w-])")
_WRITTEN = (DATA, ENVIRONMENT, METRICS, TRAINING)
"""Files of a folder that only who judges looks into."""
VERBS: tuple[Callable[[Path, Path], Any], ...] = (
    evaluate_file,
    report_file,
    heads_file,
    suggest_file,
    lambda folder, new: report_file(folder),
    lambda folder, new: [*explain_file(folder, new)],
)
"""What else is done with a folder and a file."""
OF_MODELS = {"predict", "evaluate", "explain", "suggest", "heads", "probe"}
"""Commands that take a model and a file."""
IDENTITY = {"train": {"seed": 1}, "texts": {"train": "abc"}}


@dataclass(frozen=True)
class Sound:
    """A folder of a task, as it is before an attack.

    Attributes:
        folder: Where it is.
        new: A file to predict.
        files: The contents of its files by name.
        says: Its model's predictions for the file.
    """

    folder: Path
    new: Path
    files: dict[str, bytes]
    says: list[str]

    @classmethod
    def of(cls, task: str, place: Path) -> "Sound":
        """A copy of the golden folder of a task, in `place`."""
        folder = place / task
        shutil.copytree(GOLDEN / task, folder)
        model, new = folder / "model", next(folder.glob("new.*"))
        files = {path.name: path.read_bytes() for path in model.iterdir()}
        return cls(model, new, files, [*says(load_model(model), new)])

    def write(self, name: str, data: bytes | None) -> None:
        """Give a file of the folder other contents, or take it away."""
        path = self.folder / name
        if path.is_symlink() or path.is_dir() or data is None:
            path.unlink() if path.is_symlink() or path.is_file() else path.rmdir()
        if data is not None:
            path.write_bytes(data)


def says(model: Any, new: Path) -> Iterator[str]:
    """A model's predictions for a file, as text."""
    task = find_task(model.config.task)
    kind = task.item_type_for(model.config)
    if task.predictor is None:
        text = kind.read(str(new), schema=task.schema(model)).items
        yield repr(task.evaluate(model, text).to_json())
        return
    rows = [*rows_to_predict(kind, model.config.task, str(new), {}, schema=task.schema(model))][:3]
    predictor = task.predictor(model, kind.nouns, 16_384, {})
    layout = predictor.layout(predictor.form, rows)
    yield from map(layout.record, rows, predictor.predict_uncounted([row.item for row in rows]))


def attack_folder(campaign: Campaign, sounds: list[Sound]) -> None:
    """A model folder with one file damaged, with and without a manifest that is made to fit."""
    chance = campaign.chance
    sound, donor = chance.choice(sounds), chance.choice(sounds)
    read = [name for name in sound.files if name not in _WRITTEN]
    task = sound.folder.parent.name
    name = chance.choice(read if chance.random() < 0.95 else _WRITTEN)  # which takes the verbs, and long
    before = sound.files[name]
    data, how = _replacement(name, before, donor.files.get(name, b""), chance)
    changed = data != before
    if how:
        sound.write(name, None)
        with suppress(FileExistsError):
            how(sound.folder / name)
    else:
        sound.write(name, data)
    signed = name != MANIFEST and not how and chance.random() < 0.7
    if signed:
        manifest = json.loads(sound.files[MANIFEST])
        manifest["files"][name] = {"sha256": file_sha256(sound.folder / name), "size": len(data)}
        sound.write(MANIFEST, to_json(manifest))

    def use() -> None:
        model = load_model(sound.folder)
        predictions = [*says(model, sound.new)]
        if unsupported_reason(model.config) is None:
            without_torch = [*says(load_for_prediction(sound.folder), sound.new)]
            if len(without_torch) != len(predictions):
                raise AssertionError("another number of predictions without torch")
        if _NO_NUMBER.search("".join(predictions)) and not _NO_NUMBER.search(data.decode("latin-1")):
            raise AssertionError("a prediction that is no number")
        if not signed and name != MANIFEST and changed and name not in _WRITTEN and name != "README.md":
            raise AssertionError("damage that nobody noticed")
        if not signed and predictions != sound.says:
            raise AssertionError("another prediction, and nobody noticed")
        if name in _WRITTEN or chance.random() < 0.02:
            chance.choice(VERBS)(sound.folder, sound.new)

    campaign.attack(f"folder {task}", data, use)
    for file in {name, MANIFEST}:
        if file == name or signed:
            sound.write(file, sound.files[file])


def _replacement(
    name: str, before: bytes, donor_data: bytes, chance: random.Random
) -> tuple[bytes, Callable[[Path], Any] | None]:
    """Other contents for a file of a folder; or what is to be in its place."""
    way = chance.random()
    if way < 0.02:
        ways: list[Callable[[Path], Any]] = [
            lambda path: None,
            lambda path: path.mkdir(),
            lambda path: path.symlink_to("/dev/zero"),
            lambda path: path.symlink_to(path),
        ]
        return b"", chance.choice(ways)
    if way < 0.05 and donor_data:
        return donor_data, None
    if name == WEIGHTS and way < 0.7:
        return _other_weights(before, chance), None
    if name.endswith(".json") and way < 0.75:
        return altered(before, chance), None
    return damaged(before, chance, donor_data), None


def _other_weights(before: bytes, chance: random.Random) -> bytes:
    """Weights with another header, or with numbers that are huge or not finite."""
    size = int.from_bytes(before[:8], "little")
    head, numbers = before[8 : 8 + size], bytearray(before[8 + size :])
    if chance.random() < 0.5:
        head = altered(head, chance)
    else:
        for _ in range(chance.choice([1, 5, 500])):
            at = chance.randrange(len(numbers) // 2) * 2
            numbers[at : at + 2] = chance.choice(
                [b"\xff\x7b", b"\xff\xfb", b"\x00\x7c", b"\x00\x7e", b"\x01\x00"]
            )
    return (len(head)).to_bytes(8, "little") + head + numbers


def attack_output(campaign: Campaign, sounds: list[Sound], wholes: dict[str, bytes]) -> None:
    """An unfinished output that is resumed: cut off anywhere, it ends as if uninterrupted;
    damaged, it is resumed or refused, and then left unchanged."""
    chance = campaign.chance
    sound = chance.choice([sound for sound in sounds if len(sound.says) > 1])
    task = sound.folder.parent.name
    form = chance.choice([".jsonl", ".conll"] if task == "tag" else [".csv", ".jsonl"])
    output = sound.new.with_name(f"output{form}")
    if (complete := wholes.get(f"{task}{form}")) is None:
        predict_file(sound.folder, sound.new, output, overwrite=True)
        complete = wholes[f"{task}{form}"] = output.read_bytes()
    data = complete[: chance.randrange(len(complete) + 1)]
    cut = chance.random() < 0.5
    if not cut:
        data = damaged(data, chance, complete)
    output.write_bytes(data)

    def use() -> None:
        try:
            predict_file(sound.folder, sound.new, output, resume=True)
        except HeadwiseError:
            if cut or output.read_bytes() != data:
                raise AssertionError("refused, or refused and changed") from None
            raise
        if cut and output.read_bytes() != complete:
            raise AssertionError("gone on with, it ends otherwise")

    campaign.attack("output", data, use)


def attack_state(campaign: Campaign, place: Path) -> None:
    """The state of a training run."""
    chance, path = campaign.chance, place / "state.safetensors"
    if not (place / "sound.safetensors").exists():
        progress = RunProgress(epoch=1, step=4, best_epoch=0, best_score=0.5, history=[{"epoch": 1.0}])
        save_state(place / "sound.safetensors", {"model/w": torch.ones(4)}, progress, IDENTITY)
    sound = (place / "sound.safetensors").read_bytes()
    size = int.from_bytes(sound[:8], "little")
    if chance.random() < 0.3:
        data = damaged(sound, chance)
    else:
        head = json.loads(sound[8 : 8 + size])
        inner = head["__metadata__"]
        key = chance.choice([*inner])
        inner[key] = altered(inner[key].encode(), chance).decode() if inner[key][0] == "{" else "x"
        text = json.dumps(head).encode()
        data = len(text).to_bytes(8, "little") + text + sound[8 + size :]
    path.write_bytes(data)

    def use() -> None:
        load_state(path, IDENTITY)

    campaign.attack("state", data, use)


def attack_recipe(campaign: Campaign, place: Path) -> None:
    """A recipe in TOML: damaged, or with settings that make no sense."""
    chance, path = campaign.chance, place / "recipe.toml"
    data = SEEDS["recipe"]
    if chance.random() < 0.5:
        data = damaged(data, chance, data)
    else:
        lines = data.decode().splitlines()
        for _ in range(chance.choice([1, 2])):
            at = chance.randrange(len(lines))
            value = json.dumps(chance.choice([v for v in (*STRANGE, *VALUES) if v is not None]))
            lines[at] = f"{lines[at].partition(' ')[0]} = {value}"
        data = "\n".join(lines).encode("utf-8", "replace")
    path.write_bytes(data)
    campaign.attack("recipe", data, lambda: build_config(read_preset(path)))


def attack_measured(campaign: Campaign, place: Path) -> None:
    """The stored measurements that a curve or a search resumes from."""
    chance, path = campaign.chance, place / "measured"
    run = {"key": "a", "seconds": 1.5, "tally": "00" * 24}
    curve = {"identity": IDENTITY, "measured": {"8 0": 0.5, "16 1": 0.75}}
    search, way = chance.random() < 0.5, chance.random()
    sound = json.dumps(run if search else curve).encode()
    data = altered(sound, chance) if way < 0.7 else damaged(sound, chance)
    if search:
        data = json.dumps(IDENTITY).encode() + b"\n" + data + b"\n"
    path.write_bytes(data)

    def use() -> None:
        if not search:
            MeasurementCache(path, IDENTITY).add("32 1", 0.5)
            return
        TrialLog(path, IDENTITY).add("b", np.ones((2, 3), np.float32), 1.0)
        if "b" not in TrialLog(path, IDENTITY).all_parts:
            raise AssertionError("what was measured is lost")

    campaign.attack("measured", data, use)


def attack_flags(campaign: Campaign, place: Path, flags: dict[str, list[str]]) -> None:
    """A command line of flags with values that make no sense; the file that it names is not there."""
    chance = campaign.chance
    command = chance.choice([*flags])
    arguments = [chance.choice(["train", "predict"] if chance.random() < 0.02 else [command])]
    arguments += [str(place / "nothing.csv")] * (command != "priors") * (1 + (command in OF_MODELS))
    for _ in range(chance.choice([1, 1, 2, 4])):
        flag = chance.choice(flags[command])
        value = chance.choice([*TEXT, *map(str, VALUES)])
        arguments += [f"{flag}={value}"] if chance.random() < 0.5 else [flag, value]
    data = "\n".join(arguments).encode("utf-8", "replace")

    def use() -> None:
        (inner := place / "inner" / "most").mkdir(parents=True, exist_ok=True)
        with chdir(inner):  # where files that are named may be written
            if (code := quietly(arguments)) not in (0, 1, 2):
                raise AssertionError(f"exit code {code}")

    campaign.attack("flags", data, use)


def known_flags() -> dict[str, list[str]]:
    """The flags of the commands that read files."""
    from headwise.app.cli import COMMANDS, build_app

    os.environ["HF_HUB_OFFLINE"] = "1"  # a teacher may be named that is not there
    flags = {}
    for command in COMMANDS:
        arguments = build_app(command)[command].assemble_argument_collection()
        names = {name for argument in arguments for name in argument.names if name.startswith("--")}
        flags[command] = sorted(names)
    return flags
