"""`headwise predict`: predictions for a file of any size."""

import shlex
from pathlib import Path

from headwise.app.cli.argument_types import (
    Integer,
    ModelFolder,
    OptionalOutput,
    OptionalParses,
    Switch,
    TextsArgument,
    Workers,
)
from headwise.app.cli.flags import LABEL_SETTINGS, OpeningArgument, file_arguments, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, is_standard, names_text
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.errors import ConfigError
from headwise.data.files.file_lists import list_files


def predict(
    model: ModelFolder,
    file: TextsArgument,
    /,
    *more: TextsArgument,
    output: OptionalOutput = None,
    format_out: str | None = None,
    resume: Switch = False,
    overwrite: Switch = False,
    escape_formulas: Switch = False,
    shard_rows: Integer | None = None,
    unsure: str | None = None,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    batch_tokens: Integer = 16_384,
    workers: Workers = 1,
    # The files may have labels, but these are not used.
    read: section_flags("data", LABEL_SETTINGS) = None,
) -> int:
    """Predict the labels of a file of any size.

    A classifier writes every record of the file in the same order: its fields, then the prediction, its
    probability and the probabilities of all labels (not on a terminal, if there are more than eight). A
    tagger writes the words with their tags, or the spans with their characters. Memory does not grow with
    the file. A classifier with a novelty detector (headwise train --unknown) also writes whether a text is
    unknown, and its novelty score.

    Args:
        model: Folder of the model.
        file: A csv, tsv or jsonl file, or one text per line, plain or compressed; for taggers also files of
            tagged sentences; "-" is standard input. A pattern ("part-*.csv") stands for several files with
            the same columns.
        more: More files with the same columns.
        output: File for the predictions: .csv, .tsv, .jsonl (taggers: .csv, .jsonl, .conll), plus .gz or
            .xz to compress; .xlsx, .parquet or .arrow, which appear when they are complete: until then the
            records are in a .jsonl file beside them, which --resume continues. A {} in the name stands for
            the numbers of several files. Default: standard output.
        format_out: Format of the predictions, if it differs from the output's suffix. csv then has commas
            and decimal points; otherwise it has semicolons and decimal commas if the input has them.
        resume: Continue an interrupted output.
        overwrite: Replace an existing output.
        escape_formulas: Put a ' before cells of csv and tsv that a spreadsheet would compute (=, +, -, @).
        shard_rows: Number of rows in each of several files: --output is a name such as part-{}.csv, or a
            folder (of Parquet files, or of those of --format-out).
        unsure: Add a column that is true where the model should abstain: where the probability of the
            prediction is below this (0.9), or below the probability at which the other predictions reach a
            precision on the held-out data of training (precision=0.95). Taggers mark each span.
        parses: Dependency parses of the texts, one per record, for a model that uses them; see headwise
            train.
        batch_tokens: Words per batch: fewer need less memory.
        workers: Number of processes that predict in parallel, each with the model in memory; for large
            files, the number of cores. With auto, one process predicts for ten seconds; if the file takes
            longer, a process for each core goes on. Predictions differ in the last digits at most.
    """
    files = (file, *more)
    for path in files:
        check_file(model, path)
    check_one_standard_input({"FILE": files, "--parses": parses})
    texts = list_files(files)
    from headwise.app.workflows.predict import predict_file  # with it comes torch

    predict_file(
        model,
        texts,
        None if is_standard(output) else output,
        form=format_out,
        resume=resume,
        overwrite=overwrite,
        escape_formulas=escape_formulas,
        shard_rows=shard_rows,
        unsure=unsure,
        batch_tokens=batch_tokens,
        workers=workers,
        **file_arguments(parses, opening, read),
        reporter=TerminalReporter(),
    )
    return 0


def check_file(model: Path, file: Path, command: str = "predict") -> None:
    """Raise an error with a hint if the file argument looks like a text."""
    if names_text(file):
        raise ConfigError(
            f"there is no file {str(file)!r}; to {command} a text itself, give it on standard input: "
            f"echo {shlex.quote(str(file))} | headwise {command} {model} -"
        )
