"""Checks of training files before training, with messages."""

import shlex
from dataclasses import fields

from headwise.app.reporter import Reporter
from headwise.app.training_plan import TrainingFiles, TrainingRequest
from headwise.core.errors import ConfigError
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.files.compression import read_once
from headwise.data.items.item_types import infer_task
from headwise.data.splits.data_parts import DataParts
from headwise.data.splits.line_lists import drop_listed_items, reweight_listed_items
from headwise.nn.encoders.encoder import tree_use_of
from headwise.text.syntax import ParseError
from headwise.training.run_config import RunConfig


def warn_of_label_problems(parts: DataParts, request: TrainingRequest, reporter: Reporter) -> None:
    """Report what the doctor finds in the labels of the training file, as it makes a model worse."""
    file = CheckedFile("train", parts.files["train"], parts.kind)
    findings = [finding for check in parts.kind.answer.warned for finding in check(file)]
    for finding in findings:
        reporter.warn(f"{finding.message}; {finding.fix}")
    if findings and not read_once(file.data.path):
        reporter.note(
            f"headwise doctor {' '.join(_reading_arguments(file.data.path, request.config))} says where"
        )


def _reading_arguments(path: str, config: RunConfig) -> list[str]:
    """The arguments of a command that is to read a file as training does."""
    options = {
        option.name: value
        for option in fields(config.data)
        if (value := getattr(config.data, option.name)) != option.default
    }
    task = config.model.task
    words = [shlex.quote(path), *(["--task", task] if infer_task(path, options)[0] != task else [])]
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", shlex.quote(str(value))]
    return words


def apply_line_lists(
    parts: DataParts, request: TrainingRequest, files: TrainingFiles, reporter: Reporter
) -> DataParts:
    """Parts without the lines that one list drops, and with the weights that another list gives.

    Raises:
        HeadwiseError: A list cannot be read, or the items have no weights.
    """
    many = parts.kind.nouns.many
    if files.drop is not None:
        parts, dropped = drop_listed_items(parts, files.drop)
        reporter.note(f"{dropped:,} {many} of {files.drop} are left out; those of test stay")
    if files.weight is not None:
        if not hasattr(request.config.data, "weight_column"):
            raise ConfigError(f"--weight is for texts and pairs of texts, not for a {request.task.title}")
        parts, count = reweight_listed_items(parts, files.weight)
        reporter.note(f"{count:,} {many} count as much as {files.weight} says; those of test as ever")
    return parts


def check_parses(parts: DataParts, config: RunConfig) -> None:
    """Check that no item of any part lacks the parse that the encoder needs: the test items are read only
    after training.

    Raises:
        ParseError: HW235, naming the file and the flag for its parses.
    """
    if config.model.syntax.pipeline is not None or tree_use_of(config.model.encoder) != "error":
        return
    for name, part in parts.named.items():
        bare = [item for item in part if not parts.kind.has_parses(item)]
        if not bare:
            continue
        has_file = name in parts.files
        path = parts.files[name if has_file else "train"].path
        flag = f"--{name}-parses" if has_file and name != "train" else "--parses"
        more = f" (nor have {len(bare) - 1:,} more of it)" if len(bare) > 1 else ""
        raise ParseError(
            f"{path}:{bare[0].line}: no parse{more}, but the encoder goes by dependency trees. Give the "
            f"parses of {path} with {flag} FILE, name a spaCy pipeline that makes them "
            "(--syntax.pipeline), or train with --encoder.tree-fallback word: then the way from word to "
            "word takes their place",
            code="HW235",
        )
