"""`headwise predict`: predictions for a file of any size."""

# The type of the flags is created at run time from the configurations.
# pyright: reportInvalidTypeForm=false

import shlex
from pathlib import Path

from headwise.app.cli.console import FileArgument, Integer, OptionalOutput, Switch
from headwise.app.cli.flags import LABEL_SETTINGS, flag_values, section_flags
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import ConfigError
from headwise.data.files.archives import split_member


def predict(
    model: Path,
    file: FileArgument,
    /,
    *,
    output: OptionalOutput = None,
    format_out: str | None = None,
    resume: Switch = False,
    overwrite: Switch = False,
    escape_formulas: Switch = False,
    unsure: str | None = None,
    parses: Path | None = None,
    pipeline: str | None = None,
    batch_tokens: Integer = 16_384,
    device: str = "auto",
    workers: Integer = 1,
    # The files may have labels, but these are not used.
    read: section_flags("data", LABEL_SETTINGS) = None,
) -> int:
    """Label the texts of a file, of any size.

    A classifier gives every record of the file back, in the same order: its own fields, and then the
    prediction, its probability and the probabilities of all labels. A tagger gives the words and their
    tags, or the spans that they mark with their characters. Memory does not grow with the file.

    Args:
        model: Folder of the model.
        file: A csv, tsv or jsonl file, or one text a line, compressed or not; for taggers also files of
            tagged sentences; "-" is standard input.
        output: File for the predictions: .csv, .tsv, .jsonl (taggers: .jsonl, .conll), with .gz or .xz
            after it to compress. Standard output by default.
        format_out: Format of the predictions, if not that of the output's suffix.
        resume: Go on with an output that was interrupted.
        overwrite: Replace an output that exists.
        escape_formulas: Put a ' before cells of csv and tsv that a spreadsheet would compute (=, +, -, @).
        unsure: Add a column that is true where the prediction is less probable than this, such as 0.9; or,
            as precision=0.95, where it is less probable than it takes for the others to be right so often
            (by what was held out in training).
        parses: File with one dependency parse per record, for a model with dependency trees; see headwise
            train.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        batch_tokens: Words that the model reads at once: fewer need less memory.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
        workers: Processes that predict at once, each with the model in its memory: for large files, as many
            as the machine has cores. The predictions are the same but for last digits.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used.
    """
    from headwise.app.workflows.predict import predict_file  # with it comes torch

    check_file(model, file)
    keep_freed_memory()
    predict_file(
        model,
        file,
        output,
        form=format_out,
        resume=resume,
        overwrite=overwrite,
        escape_formulas=escape_formulas,
        unsure=unsure,
        parses=parses,
        pipeline=pipeline,
        batch_tokens=batch_tokens,
        device=device,
        workers=workers,
        reading=flag_values(read),
        reporter=TerminalReporter(),
    )
    return 0


def check_file(model: Path, file: Path, command: str = "predict") -> None:
    """Raise an error with a hint if the file argument looks like a text."""
    path = Path(split_member(str(file))[0])
    if str(file) != "-" and not path.exists() and any(character.isspace() for character in str(file)):
        raise ConfigError(
            f"there is no file {str(file)!r}; to {command} a text itself, give it on standard input: "
            f"echo {shlex.quote(str(file))} | headwise {command} {model} -"
        )
