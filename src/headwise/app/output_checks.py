"""Checks that a command destroys neither its input, nor a model, nor a run, nor another file."""

from pathlib import Path

from headwise.artifacts.model_folder import check_target, is_headwise_folder, traceback_of
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import EXPORTED, MANIFEST, RUN_FOLDER, RUN_STATE, TRACEBACK
from headwise.models.output_file import OutputError, is_compressed


def check_output_file(output: Path, file: Path, *, resume: bool | None = None, overwrite: bool) -> None:
    """Check that writing the output destroys neither the input, nor a model, nor an existing file.

    Args:
        output: The output file.
        file: The input file.
        resume: Whether an existing output is resumed; None if such outputs cannot be resumed.
        overwrite: Whether an existing output may be replaced.

    Raises:
        ConfigError, OutputError: It would destroy something, or the options exclude each other.
    """
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other; give one of them")
    if resume and is_compressed(output):
        raise OutputError(
            f"{output}: a compressed output cannot be resumed; start over with --overwrite, or write a "
            "plain file and compress it afterwards",
            code="HW602",
        )
    place = output.resolve().parent
    if is_headwise_folder(place) or is_headwise_folder(place, EXPORTED):
        raise OutputError(f"{output} is in the folder of a model; give another --output", code="HW604")
    if not output.exists():
        return
    if output.is_dir():
        raise OutputError(f"{output} is a folder; give a file as --output", code="HW604")
    if file.exists() and output.samefile(file):
        raise OutputError(f"{output} is the file to be read; give another --output", code="HW604")
    if not resume and not overwrite and output.is_file():
        go_on = "" if resume is None else "--resume to continue it, or "
        raise OutputError(f"{output} exists; add {go_on}--overwrite to replace it", code="HW601")


def check_output_folder(output: Path, *, resume: bool | None, overwrite: bool) -> str:
    """Check that nothing in the folder is lost by mistake, and that a run does not fail at its end because
    of it.

    Args:
        output: The folder.
        resume: Whether to resume the run in it; None for commands that cannot.
        overwrite: Whether to replace what is in it.

    Returns:
        What it holds: the state of a "run", a "model", or "nothing". The traceback of a run that an
        unexpected error stopped is removed.

    Raises:
        ConfigError: It holds a model or a run and neither flag is set, or other files.
    """
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other; give one of them")
    check_target(output)
    begun = (output / RUN_FOLDER / RUN_STATE).exists()
    contents = "run" if begun else "model" if (output / MANIFEST).exists() else "nothing"
    if not resume and not overwrite and (begun or is_headwise_folder(output)):
        what = "an interrupted run" if begun else "a model"
        advice = "--resume to continue it, " if begun and resume is not None else ""
        if begun and (crash := traceback_of(output)) is not None:
            raise ConfigError(
                f"{output} holds a run that an unexpected error stopped (see {crash}); add --overwrite to "
                "start again, or name another folder. --resume continues it once the cause is gone"
            )
        raise ConfigError(
            f"{output} holds {what}; add {advice}--overwrite to replace it, or name another folder"
        )
    # safetensors writes to a hidden temporary file first, which a kill leaves behind.
    foreign = [
        path.name
        for path in (output / RUN_FOLDER).glob("*")
        if ".safetensors" not in path.name and not path.name.startswith(".") and path.name != TRACEBACK
    ]
    if foreign:
        raise ConfigError(
            f"{output / RUN_FOLDER}: this folder has files that are not of a training run ("
            f"{foreign[0]!r}, ...); name another folder"
        )
    (output / RUN_FOLDER / TRACEBACK).unlink(missing_ok=True)
    return contents
