"""Train a model on files: files in, a judged model in a folder out."""

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from headwise.app.configuration import Sections, build_config, resolve_recipe
from headwise.app.distillation.distillation import DistillationSet, DistillationSettings
from headwise.app.model_columns import columns_used
from headwise.app.opening import split_init_from, with_task
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.training_report import TrainingReport, evaluate_training, with_teacher_scores
from headwise.artifacts import read_info
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.artifacts.save import check_target, save_model
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.file_lock import locked
from headwise.core.folder_layout import MANIFEST, RUN_FOLDER
from headwise.core.tokenizer import get_tokenizer
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.doctor.findings import abbreviate, count
from headwise.data.files.compression import read_once
from headwise.data.files.text_lines import file_name
from headwise.data.items.item_types import infer_task
from headwise.data.items.labels import training_spellings
from headwise.data.items.parses import NO_PARSES, ParseFiles, ParseReader
from headwise.data.splits.contamination import repetition_warning
from headwise.data.splits.data_parts import PART_NAMES, DataParts, read_parts
from headwise.data.splits.line_lists import drop_listed_items, reweight_listed_items
from headwise.models.tasks import find_task
from headwise.models.tasks.task import Task
from headwise.models.tasks.task_settings import teacher_settings
from headwise.nn.attention.cpu import compiled
from headwise.nn.encoders.encoder import needs_trees, tree_use_of
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.text.parse_files import read_parses, read_phrase_parses
from headwise.text.parsing import cache_warning
from headwise.text.syntax import ParseError
from headwise.text.vocabulary import WordVectors
from headwise.training.fit import fit
from headwise.training.loop import STATE, remove_run
from headwise.training.run_config import RunConfig
from headwise.training.run_state import compare_runs
from headwise.training.warm_start import PreviousModel

TEACHER_CACHE = ".teacher"
"""Folder of what a teacher says, in that of the run's state."""


class TrainingFinished(HeadwiseError):
    """A run is to be resumed that has come to its end before: nothing to do, and nothing wrong."""

    code = "HW401"


def train_files(
    file: Path | str,
    output: Path | str,
    *,
    dev: Path | str | None = None,
    test: Path | str | None = None,
    drop: Path | str | None = None,
    weight: Path | str | None = None,
    parses: ParseFiles = NO_PARSES,
    settings: Sequence[Sections] | Sections = (),
    teaching: DistillationSettings | None = None,
    work: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    baseline: bool = True,
    listener: Reporter = NULL_REPORTER,
) -> TrainingReport:
    """Train a model on a file with the answers, judge it beside a simple baseline, and save it.

    Args:
        file: The training data; "-" is standard input.
        output: Folder of the model.
        dev: Data that choose the best epoch; split off by default.
        test: Data for the final report; likewise.
        drop: A list of lines of the training file that are not trained on
            (`headwise.data.splits.line_lists`).
        weight: The same with how much each of them counts.
        parses: Files with the syntax of the texts of each.
        settings: Sections of settings, as in a recipe; or several, the later over the earlier.
            `{"model": {"task": ...}}` names the task, which by default is found out from the file.
        teaching: A teacher and unlabelled texts, which are learnt from too.
        work: Folder that keeps what an encoder says of texts, for other trainings too; by default it is
            kept in the output folder until the training is over.
        resume: Go on with the run in the output folder that was interrupted, if it had begun.
        overwrite: Replace the model in the output folder.
        baseline: Also fit the baseline.
        listener: Is told what happens.

    Raises:
        HeadwiseError: The data, the settings or the folder cannot be used, or another training is using it.
        TrainingInterrupted: Ctrl-C came; the state is saved.
        TrainingFinished: The run to resume has come to its end before.
    """
    output, file = Path(output), file_name(file)
    layers, guessed = with_task(file, settings)
    listener.notes([guessed] if guessed else [])
    previous_model, layers = split_init_from(layers)
    requested = build_config(*layers)
    task = find_task(requested.model.task)
    check_target(output)
    with locked(output), compiled.wait_for_kernels():  # to the end, so that resumed it computes in one way
        done = check_output_folder(output, resume=resume, overwrite=overwrite)
        if resume and done == "nothing":
            listener.note(f"{output}: there is no interrupted run, so this one begins")
        task.check(requested)
        kind = task.item_type_for(requested.model)
        if parses != NO_PARSES and not kind.sides:
            raise kind.no_parses_error()
        parts = read_parts(
            kind,
            file,
            None if dev is None else file_name(dev),
            None if test is None else file_name(test),
            requested.data,
            requested.split,
            parses,
            ParseReader(
                get_tokenizer(requested.model.words.tokenizer).words, read_parses, read_phrase_parses
            ),
        )
        listener.notes(parts.notes)
        _report_findings(parts, requested, listener)
        parts = _apply_lists(task, parts, requested, drop, weight, listener)
        lesson = None
        if teaching is not None:
            with listener.teacher_progress() as report:
                folder = Path(work) if work else output / RUN_FOLDER / TEACHER_CACHE
                how = {"reading": requested.data, "seed": requested.train.seed, "report": report}
                lesson = DistillationSet(teaching, parts, folder, **how)
                human = len(parts.train)
                layers = (teacher_settings(human, human + len(lesson.texts)), *layers)
                if done == "model" and resume and "lesson" in read_info(output)["data"]:
                    raise _finished_distillation(output, lesson, layers, previous_model)
                parts = lesson.parts(parts)
            listener.notes(lesson.notes)
        if previous_model is not None:
            previous_model = previous_model.for_parts(parts)
            listener.note(previous_model.message())
            if names := training_spellings(
                parts.files["train"].labels, getattr(previous_model.model, "labels", ())
            ):
                shown = abbreviate(
                    [f"{label!r} ({their_label!r} there)" for label, their_label in names.items()]
                )
                listener.warn(
                    f"numbers as labels that {previous_model.name} spells otherwise are new labels to it: "
                    f"{shown}; write them alike to go on with what it knows of them"
                )
        _report_ignored(requested, parts, lesson, listener)
        recipe, vectors, notes = resolve_recipe(parts, layers, previous_model)
        listener.notes(notes)
        if parses != NO_PARSES and not needs_trees(recipe.model.encoder):
            encoder = encoder_name(recipe.model.encoder)
            listener.note(f"--parses: not used, as no head of {encoder} goes by the dependency tree")
        for remark in task.data_remarks(parts, recipe):
            listener.remark(remark)
        _check_parses(parts if lesson is None else lesson.human, recipe)
        if done == "model" and resume:
            raise finished_run(output, parts, recipe)
        epochs = count(recipe.train.epochs, "epoch")
        listener.note(f"{task.shape(recipe.model)}, up to {epochs}, into {output}")
        outcome = train_parts(
            parts,
            recipe,
            output,
            vectors=vectors,
            lesson=lesson,
            resume=resume and done == "run",
            baseline=baseline,
            listener=listener,
        )
        coverage = outcome.fitted.coverage
        for trouble in (
            coverage and coverage.trouble(recipe.vectors.file),
            cache_warning(outcome.fitted.model),
        ):
            if trouble:
                listener.warn(trouble)
        return outcome


def _report_findings(parts: DataParts[Any], requested: RunConfig, listener: Reporter) -> None:
    """Tell what the doctor has against the answers of the training file, as it makes a model worse."""
    file = CheckedFile("train", parts.files["train"], parts.kind)
    findings = [finding for check in parts.kind.answer.warned for finding in check(file)]
    for finding in findings:
        listener.warn(f"{finding.message}; {finding.fix}")
    if findings and not read_once(file.data.path):
        listener.note(
            f"headwise doctor {' '.join(_reading_arguments(file.data.path, requested))} says where"
        )


def _reading_arguments(path: str, requested: RunConfig) -> list[str]:
    """The arguments of a command that is to read a file as training does."""
    options = {
        option.name: value
        for option in fields(requested.data)
        if (value := getattr(requested.data, option.name)) != option.default
    }
    task = requested.model.task
    words = [shlex.quote(path), *(["--task", task] if infer_task(path, options)[0] != task else [])]
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", shlex.quote(str(value))]
    return words


def _report_ignored(
    requested: RunConfig, parts: DataParts[Any], lesson: DistillationSet | None, listener: Reporter
) -> None:
    """Tell what was asked for and is not done."""
    train, has_dev = requested.train, "dev" in parts.files
    if train.folds and (has_dev or lesson is not None):
        why = "dev texts are given" if has_dev else "there is a teacher"
        listener.note(f"folds {train.folds}: not used, as {why}; dev chooses")
    if train.refit and has_dev:
        listener.note("refit: not used, as dev texts are given; they choose, and are not trained on")


def _check_parses(parts: DataParts[Any], recipe: RunConfig) -> None:
    """Check that no item lacks the parse that the encoder needs, of whichever part: the test texts are read
    only after training.

    Raises:
        ParseError: HW235, naming the file and the flag for its parses.
    """
    if recipe.model.syntax.pipeline is not None or tree_use_of(recipe.model.encoder) != "error":
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


def _apply_lists(
    task: Task,
    parts: DataParts[Any],
    requested: RunConfig,
    drop: Path | str | None,
    weight: Path | str | None,
    listener: Reporter,
) -> DataParts[Any]:
    """Parts without the lines that a list drops, and with the weights that another gives."""
    many = parts.kind.nouns.many
    if drop is not None:
        parts, dropped = drop_listed_items(parts, str(drop))
        listener.note(f"{dropped:,} {many} of {drop} are left out; those of test stay")
    if weight is not None:
        if not hasattr(requested.data, "weight_column"):
            raise ConfigError(f"--weight is for texts and pairs of texts, not for a {task.title}")
        parts, count = reweight_listed_items(parts, str(weight))
        listener.note(f"{count:,} {many} count as much as {weight} says; those of test as ever")
    return parts


def train_parts(
    parts: DataParts[Any],
    recipe: RunConfig,
    output: Path,
    *,
    vectors: WordVectors | None = None,
    lesson: DistillationSet | None = None,
    resume: bool = False,
    baseline: bool = True,
    listener: Reporter = NULL_REPORTER,
) -> TrainingReport:
    """Train a model on data that are read, judge it, and save it in `output`.

    The run's state is kept in `output/training`; it is what `resume` goes on with. The parts are those that
    a `lesson` has made, if there is one.
    """
    task, folder = find_task(recipe.model.task), output / RUN_FOLDER
    headline = task.headline(parts, recipe.model)
    together = None if lesson is None else lesson.together
    human = parts if lesson is None else lesson.human
    shared = human.overlaps()
    if recipe.init_from is not None:
        shared = (*shared, *recipe.init_from.overlaps(human))
    if lesson is not None:
        shared = (*shared, *lesson.overlaps())
    for overlap in shared:
        listener.warn(overlap.message(parts.kind.nouns))
    if repeated := repetition_warning(human.kind, human.test, "test "):
        listener.warn(repeated)
    with listener.training(recipe, headline, task.unit(parts)) as report:
        fitted = fit(
            task,
            parts,
            recipe,
            folder,
            vectors=vectors,
            resume=resume,
            together=together,
            report=report,
            stage=listener.stage,
        )
        listener.stage("judging it on test" + ", and a baseline" * baseline)
        outcome = evaluate_training(task, human, recipe, fitted, baseline=baseline, shared=shared)
    if lesson is not None:
        outcome = with_teacher_scores(outcome, lesson)
    save_model(
        fitted.model,
        output,
        data=parts.prints(recipe.seen) | ({} if lesson is None else {"lesson": lesson.identity()}),
        training=fitted.training(recipe, columns=columns_used(parts.files.get("train"))),
        metrics=outcome.metrics(),
    )
    shutil.rmtree(folder / TEACHER_CACHE, ignore_errors=True)
    remove_run(folder)  # it is over, and its state many times the model's size
    return outcome


def _finished_distillation(
    output: Path, lesson: DistillationSet, layers: Sequence[Sections], previous_model: PreviousModel | None
) -> HeadwiseError:
    """`finished_run` of one with a teacher, which is not asked again: it may read for hours."""
    parts = lesson.placeholder_parts()
    previous_model = None if previous_model is None else previous_model.for_parts(parts)
    recipe, _, _ = resolve_recipe(parts, layers, previous_model)
    return finished_run(output, parts, recipe, lesson)


def finished_run(
    output: Path, parts: DataParts[Any], recipe: RunConfig, lesson: DistillationSet | None = None
) -> HeadwiseError:
    """What to say of a run that is to be resumed but has ended; what a kill has left of it is removed.

    Args:
        output: Folder of the model.
        parts: The data that are asked for.
        recipe: The settings.
        lesson: Is compared in place of the data, if there is one; the model's has been kept.

    Raises:
        HeadwiseError: HW403, the model in the folder comes from other data or settings.
    """
    info = read_info(output)
    if lesson is None:
        prints = (info["data"], parts.prints())
        texts, requested = (
            {name: fingerprint.get("sha256") for name in PART_NAMES if (fingerprint := of.get(name))}
            for of in prints
        )
    else:
        texts, requested = info["data"]["lesson"], lesson.identity()
    before = {"texts": texts, **info["training"].get("recipe", {})}
    compare_runs(before, {"texts": requested, **recipe.to_json()}, output)
    shutil.rmtree(output / RUN_FOLDER / TEACHER_CACHE, ignore_errors=True)
    remove_run(output / RUN_FOLDER)
    return TrainingFinished(
        f"{output}: the run is finished and its model saved, so there is nothing to resume"
    )


def check_output_folder(output: Path, *, resume: bool | None, overwrite: bool) -> str:
    """What is there is not lost by mistake, and a run does not fail at its end because of it. `resume` is
    None for what cannot go on with a run.

    Returns:
        What is there: the state of a "run", a "model", or "nothing".
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
