"""`headwise predict`: what a model says of a file, of any size."""

# The flags' type is made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.attention import compiled
from headwise.cli.file_argument import FileArgument
from headwise.cli.flags import flags, given
from headwise.cli.parsing import tell_trouble, use_pipeline
from headwise.cli.prediction_file import COMPRESSED, OutputError
from headwise.cli.requests import PredictRequest
from headwise.cli.tasks import TASKS
from headwise.data.tasks import DATA
from headwise.errors import ConfigError
from headwise.memory import keep_freed_memory
from headwise.store import load_model
from headwise.train.fit import pick_device

# Files to predict may have labels, but they are not used.
ReadFlags = flags(
    "ReadFlags", DATA, prefix="*", group="Reading files", order=1, hidden={"label_column", "label_columns"}
)


def predict(
    model: Path,
    file: FileArgument,
    /,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    format_out: str | None = None,
    resume: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    heads: Path | None = None,
    pipeline: str | None = None,
    batch_tokens: int = 16_384,
    device: str = "auto",
    read: ReadFlags = None,
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
        heads: Dependency syntax of the texts, for a model that goes by it, as `headwise train` takes it: as
            many parses as the file has records.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        batch_tokens: Words that the model reads at once: fewer need less memory.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used.
    """
    if batch_tokens < 1:
        raise ConfigError(f"--batch-tokens {batch_tokens}; expected 1 or more")
    if output is not None:
        _check_output(output, file, resume=resume, overwrite=overwrite)
    elif resume or overwrite:
        raise ConfigError("--resume and --overwrite need --output, the file they are about")
    keep_freed_memory()
    loaded = load_model(model, device=pick_device(device))
    use_pipeline(loaded, pipeline)
    request = PredictRequest(
        model=loaded,
        file=file,
        output=output,
        format_out=format_out,
        resume=resume,
        heads=heads,
        batch_tokens=batch_tokens,
        read=given(read),
    )
    # An output that is gone on with has to end as if nothing had happened, whoever computes by then.
    with compiled.waiting() if output is not None else nullcontext():
        code = TASKS[loaded.config.task].predict(request)
    tell_trouble(loaded)
    return code


def _check_output(output: Path, file: Path, *, resume: bool, overwrite: bool) -> None:
    """Nothing is lost by mistake, the input least of all."""
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other; give one of them")
    if resume and output.suffix.lower() in COMPRESSED:
        raise OutputError(
            f"{output}: a compressed output cannot be resumed; begin anew with --overwrite, or write a "
            "plain file and compress it afterwards",
            code="HW602",
        )
    if not output.exists():
        return
    if file.exists() and output.samefile(file):
        raise OutputError(f"{output} is the file to be read; give another --output", code="HW604")
    if not resume and not overwrite and output.is_file():
        raise OutputError(
            f"{output} exists; add --resume to go on with it where it was interrupted, or --overwrite to "
            "replace it",
            code="HW601",
        )
