"""`headwise evaluate`: score a model on a file with the true answers."""

# The flags' type is made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.cli.file_argument import FileArgument
from headwise.cli.flags import flags, given
from headwise.cli.parsing import tell_trouble, use_pipeline
from headwise.cli.requests import EvaluateRequest
from headwise.cli.tasks import TASKS
from headwise.data.tasks import DATA
from headwise.errors import ConfigError
from headwise.memory import keep_freed_memory
from headwise.store import load_model
from headwise.train.fit import pick_device

ReadFlags = flags("ReadFlags", DATA, prefix="*", group="Reading files", order=1)


def evaluate(
    model: Path,
    file: FileArgument,
    /,
    *,
    json: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    errors: int = 0,
    heads: Path | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    read: ReadFlags = None,
) -> int:
    """Score a model on a file with the true answers.

    If the file is the one that the model was tested on when it was trained, the simple baseline of that
    time stands beside it.

    Args:
        model: Folder of the model.
        file: Texts with the true answers, compressed or not; "-" is standard input.
        json: Print JSON instead of tables.
        errors: How many of the texts to show that the model is surest of and wrong about.
        heads: Dependency syntax of the texts, for a model that goes by it, as `headwise train` takes it.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.

    Raises:
        HeadwiseError: The model or the file cannot be used, or a label is not one of the model's.
    """
    if errors < 0:
        raise ConfigError(f"--errors {errors}; expected 0 or more")
    keep_freed_memory()
    loaded = load_model(model, device=pick_device(device))
    use_pipeline(loaded, pipeline)
    request = EvaluateRequest(
        model=loaded,
        folder=model,
        file=file,
        heads=heads,
        json=json,
        errors=errors,
        read=given(read),
    )
    code = TASKS[loaded.config.task].evaluate(request)
    tell_trouble(loaded)
    return code
