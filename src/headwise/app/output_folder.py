"""The output folder of a training run: what it holds, and a run in it that has finished."""

import shutil
from pathlib import Path

from headwise.app.training_plan import TrainingPlan
from headwise.artifacts import read_info
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.artifacts.save import check_target
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.folder_layout import MANIFEST, RUN_FOLDER
from headwise.data.splits.data_parts import PART_NAMES
from headwise.training.loop import STATE, remove_run
from headwise.training.run_state import compare_runs

TEACHER_CACHE = ".teacher"
"""Folder with the outputs of a teacher, in the folder of the run's state."""


class TrainingFinished(HeadwiseError):
    """A run that is to be resumed has finished before: there is nothing to do, and nothing wrong."""

    code = "HW401"


def check_output_folder(output: Path, *, resume: bool | None, overwrite: bool) -> str:
    """Check that nothing in the folder is lost by mistake, and that a run does not fail at its end because
    of it.

    Args:
        output: The folder.
        resume: Whether to resume the run in it; None for commands that cannot.
        overwrite: Whether to replace what is in it.

    Returns:
        What it holds: the state of a "run", a "model", or "nothing".

    Raises:
        ConfigError: It holds a model or a run and neither flag is set, or other files.
    """
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other; give one of them")
    check_target(output)
    begun = (output / RUN_FOLDER / STATE).exists()
    contents = "run" if begun else "model" if (output / MANIFEST).exists() else "nothing"
    if not resume and not overwrite and (begun or is_headwise_folder(output)):
        what = "an interrupted run" if begun else "a model"
        advice = "--resume to go on with it, " if begun and resume is not None else ""
        raise ConfigError(
            f"{output} holds {what}; add {advice}--overwrite to replace it, or name another folder"
        )
    # safetensors writes to a hidden temporary file first, which a kill leaves behind.
    foreign = [
        path.name
        for path in (output / RUN_FOLDER).glob("*")
        if ".safetensors" not in path.name and not path.name.startswith(".")
    ]
    if foreign:
        raise ConfigError(
            f"{output / RUN_FOLDER}: this folder has files that are not of a training run ("
            f"{foreign[0]!r}, ...); name another folder"
        )
    return contents


def saved_distillation(output: Path) -> dict[str, str | float] | None:
    """The identity of the distillation set of the model in a folder; None without one."""
    return read_info(output)["data"].get("lesson")


def finished_run(output: Path, plan: TrainingPlan) -> TrainingFinished:
    """The error for a run that is to be resumed but has finished; removes what a kill has left of it.

    Args:
        output: Folder of the model.
        plan: The requested run. If the model's distillation set was saved, the two are compared instead of
            the data.

    Raises:
        HeadwiseError: HW403, the model in the folder comes from other data or settings.
    """
    info, distillation = read_info(output), plan.data.distillation
    if distillation is not None and (identity := saved_distillation(output)) is not None:
        texts, requested = identity, distillation.identity()
    else:
        texts, requested = (
            {name: fingerprint.get("sha256") for name in PART_NAMES if (fingerprint := prints.get(name))}
            for prints in (info["data"], plan.parts.prints())
        )
    before = {"texts": texts, **info.training.recipe}
    compare_runs(before, {"texts": requested, **plan.config.to_json()}, output)
    clear_run(output)
    return TrainingFinished(
        f"{output}: the run is finished and its model saved, so there is nothing to resume"
    )


def clear_run(output: Path) -> None:
    """Remove the state of a finished run, which is many times the size of the model."""
    shutil.rmtree(output / RUN_FOLDER / TEACHER_CACHE, ignore_errors=True)
    remove_run(output / RUN_FOLDER)
