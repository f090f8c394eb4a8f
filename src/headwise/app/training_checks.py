"""Checks before a training run on files, with messages.

The training files are checked for labels that make a model worse, for parses, and for unlabelled texts,
which a sentence encoder in the local cache of the Hugging Face hub could label. The output folder is
checked so that nothing in it is lost by mistake.
"""

import os
import shlex
import shutil
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

from headwise.app.reporter import Reporter
from headwise.app.training_plan import TrainingFiles, TrainingPlan
from headwise.app.training_request import TrainingRequest
from headwise.artifacts import read_info
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.folder_layout import RUN_FOLDER
from headwise.data.doctor.check_registry import checks_of
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.files.compression import read_once
from headwise.data.files.file_lists import place
from headwise.data.items.item_types import infer_task
from headwise.data.splits.data_parts import PART_NAMES, DataParts
from headwise.data.splits.line_lists import drop_listed_items, reweight_listed_items
from headwise.text.syntax import ParseError
from headwise.training.settings import RunConfig


def warn_of_label_problems(parts: DataParts, request: TrainingRequest, reporter: Reporter) -> None:
    """Report what the doctor finds in the labels of the training file, as it makes a model worse."""
    file = CheckedFile("train", parts.files["train"], parts.item_type)
    kinds = parts.item_type.label_type, parts.item_type
    checks = [check for kind in kinds for check in checks_of(kind).in_training]
    findings = [finding for check in checks for finding in check(file)]
    for finding in findings:
        reporter.warn(f"{finding.message}; {finding.fix}")
    if findings and os.path.exists(file.data.path) and not read_once(file.data.path):
        arguments = " ".join(_reading_arguments(file.data.path, request.run_config))
        reporter.note(f"run `headwise doctor {arguments}` for the lines")


ENGLISH_TEACHERS = ("sentence-transformers/all-mpnet-base-v2", "sentence-transformers/all-MiniLM-L6-v2")
"""Teachers of English texts, the best first."""
MULTILINGUAL_TEACHERS = (
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
)
"""Teachers of texts in other languages, the best first."""


def installed_teacher(*, english: bool | None = None) -> str | None:
    """The name of the best recommended sentence encoder that needs no download; None if there is none, or
    if the extra `pretrained` is not installed. The network is not used.

    Args:
        english: Whether the texts are English; None if that is unclear: the teachers of English come first.
    """
    if find_spec("transformers") is None or find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import constants

    names = {
        True: ENGLISH_TEACHERS,
        False: MULTILINGUAL_TEACHERS,
        None: ENGLISH_TEACHERS + MULTILINGUAL_TEACHERS,
    }
    folder = Path(constants.HF_HUB_CACHE)
    return next((name for name in names[english] if _is_cached(folder, name)), None)


def _is_cached(folder: Path, name: str) -> bool:
    """Whether a snapshot with configuration and safetensors weights is in the cache folder."""
    snapshots = (folder / f"models--{name.replace('/', '--')}" / "snapshots").glob("*")
    return any(
        (snapshot / "config.json").exists() and (snapshot / "model.safetensors").exists()
        for snapshot in snapshots
    )


LEAST_UNLABELLED = 200
"""Number of texts without a label from which on a teacher is proposed."""


def propose_teacher(plan: TrainingPlan, reporter: Reporter) -> None:
    """Propose distillation where the training file has many texts without a label and a sentence encoder is
    installed that can label them."""
    parts, config = plan.data.gold_parts, plan.run_config
    data = parts.files.get("train")
    unlabelled = getattr(data, "unlabelled", 0)
    if not parts.item_type.is_text_classification or unlabelled < LEAST_UNLABELLED:
        return
    base = config.model.base.name
    teacher = installed_teacher(english="english" in base if base and not Path(base).exists() else None)
    if data is None or teacher is None or not os.path.exists(data.path) or read_once(data.path):
        return
    arguments = " ".join(_reading_arguments(data.path, config))
    reporter.note(
        f"{unlabelled:,} texts without a label are not used; a teacher can label them: headwise distill "
        f"{arguments} --unlabelled {shlex.quote(data.path)} --teacher {teacher}"
    )


def _reading_arguments(path: str, run_config: RunConfig) -> list[str]:
    """The arguments of a command that is to read a file as training does."""
    options = {
        option.name: value
        for option in fields(run_config.data)
        if (value := getattr(run_config.data, option.name)) != option.default
    }
    task = run_config.model.task
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
    many = parts.item_type.nouns.many
    if files.drop is not None:
        parts, dropped = drop_listed_items(parts, files.drop)
        reporter.note(f"{dropped:,} {many} of {files.drop} are left out; those of test stay")
    if files.weight is not None:
        if not hasattr(request.run_config.data, "weight_column"):
            raise ConfigError(f"--weight is for texts and pairs of texts, not for a {request.task.title}")
        parts, count = reweight_listed_items(parts, files.weight)
        reporter.note(f"{count:,} {many} count as much as {files.weight} says; those of test as ever")
    return parts


def check_parses(parts: DataParts, run_config: RunConfig) -> None:
    """Check that no item of any part lacks the parse that the encoder needs: the test items are read only
    after training.

    Raises:
        ParseError: HW235, naming the file and the flag for its parses.
    """
    from headwise.nn.encoders.encoder import tree_use_of  # with it comes torch

    if run_config.model.syntax.pipeline is not None or tree_use_of(run_config.model.encoder) != "error":
        return
    for name, part in parts.named.items():
        without_parse = [item for item in part if not parts.item_type.has_parses(item)]
        if not without_parse:
            continue
        has_file = name in parts.files
        path = parts.files[name if has_file else "train"].path
        flag = f"--{name}-parses" if has_file and name != "train" else "--parses"
        more = f" (nor have {len(without_parse) - 1:,} more of it)" if len(without_parse) > 1 else ""
        raise ParseError(
            f"{place(path, without_parse[0].line)}: no parse{more}, but the encoder goes by dependency "
            f"trees. Give the parses of {path} with {flag} FILE, name a spaCy pipeline that makes them "
            "(--syntax.pipeline), or train with --encoder.tree-fallback word: then the way from word to "
            "word takes their place",
            code="HW235",
        )


TEACHER_CACHE = ".teacher"
"""Folder with the outputs of a teacher, in the folder of the run's state."""


class TrainingFinished(HeadwiseError):
    """The run to resume is finished, so there is nothing to do."""

    code = "HW401"


def saved_distillation(output: Path) -> dict[str, str | float] | None:
    """The identity of the distillation set of the model in a folder; None without one."""
    return read_info(output)["data"].get("lesson")


def finished_run(output: Path, plan: TrainingPlan) -> TrainingFinished:
    """The error for a run to resume that is finished; removes files that a kill left behind.

    Args:
        output: Folder of the model.
        plan: The requested run. If the model's distillation set was saved, the two are compared instead of
            the data.

    Raises:
        HeadwiseError: HW403, the model in the folder comes from other data or settings.
    """
    from headwise.training.run_state import compare_runs  # with it comes torch

    info, distillation = read_info(output), plan.data.distillation
    if distillation is not None and (identity := saved_distillation(output)) is not None:
        texts, requested = identity, distillation.identity()
    else:
        texts, requested = (
            {name: fingerprint.get("sha256") for name in PART_NAMES if (fingerprint := prints.get(name))}
            for prints in (info["data"], plan.parts.fingerprints_json())
        )
    before = {"texts": texts, **info.training.recipe}
    compare_runs(before, {"texts": requested, **plan.run_config.to_json()}, output)
    clear_run(output)
    return TrainingFinished(
        f"{output}: the run is finished and its model saved, so there is nothing to resume"
    )


def clear_run(output: Path) -> None:
    """Remove the state of a finished run, which is many times the size of the model."""
    from headwise.training.run_state import remove_run  # with it comes torch

    shutil.rmtree(output / RUN_FOLDER / TEACHER_CACHE, ignore_errors=True)
    remove_run(output / RUN_FOLDER)
