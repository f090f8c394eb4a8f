"""A training run on files, from top to bottom: resolve -> read -> plan -> fit -> evaluate -> save.

Each stage takes what the stage before it returns, a frozen dataclass: `TrainingRequest`, `RunData` and
`TrainingPlan` (`headwise.app.training_plan`), `TrainResult`, `TrainingReport`; the last is saved.
`train_files` is the function behind `headwise train`. Torch is imported when the files have been read, so
that an error in them is told at once.
"""

import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwise.app.configuration import Sections
from headwise.app.model_columns import columns_used
from headwise.app.output_checks import check_output_folder
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.training_checks import (
    TEACHER_CACHE,
    apply_line_lists,
    check_parses,
    clear_run,
    finished_run,
    propose_teacher,
    saved_distillation,
    warn_of_label_problems,
)
from headwise.app.training_plan import RunData, TrainingFiles, TrainingPlan
from headwise.app.training_request import TrainingRequest, resolve
from headwise.artifacts.model_folder import check_target
from headwise.core.allocator import is_out_of_memory, resume_collection
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.file_lock import locked
from headwise.core.folder_layout import RUN_FOLDER, TRACEBACK
from headwise.core.scratch import scratch_folder
from headwise.core.tokenizer import remembered_words
from headwise.core.torchrun import process_count
from headwise.core.training_libraries import check_training_libraries
from headwise.core.version import __version__
from headwise.data.files.compression import read_once
from headwise.data.files.file_lists import check_input_file, list_files, optional_files
from headwise.data.files.memory_tables import DataArgument, tables_as_files
from headwise.data.findings import count
from headwise.data.items.parses import NO_PARSES, ParseFiles
from headwise.data.splits.contamination import repetition_warning
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.training.callbacks import TrainingCallback, check_callbacks, notifying

if TYPE_CHECKING:
    from headwise.app.distillation import DistillationSettings
    from headwise.app.training_report import TrainingReport


@dataclass(frozen=True)
class TrainingJob:
    """A training run on files; `train_files` describes the arguments."""

    files: TrainingFiles
    output: Path
    settings: Sequence[Sections] | Sections = ()
    distillation: "DistillationSettings | None" = None
    work: Path | None = None
    resume: bool = False
    overwrite: bool = False
    baseline: bool = True
    reporter: Reporter = NULL_REPORTER
    callbacks: Sequence[TrainingCallback] = ()

    def run(self) -> "TrainingReport":
        """All stages.

        Raises:
            HeadwiseError: The data, the settings or the folder cannot be used, or another run is using it.
            TrainingInterrupted: Ctrl-C came; the state is saved.
            TrainingFinished: The run to resume is finished.
        """
        if self.resume and process_count() > 1:
            raise ConfigError("--resume under torchrun: continue with one process; it has the same batches")
        if process_count() > 1 and (pipes := [*filter(read_once, self.files.paths())]):
            raise ConfigError(f"{pipes[0]!r} cannot be read by each process of torchrun; give a file")
        for path in self.files.paths():
            check_input_file(path)  # before the output folder is made
        request = resolve(self.settings, self.files.train, reporter=self.reporter)
        check_target(self.output)
        with locked(self.output), remembered_words():
            contents = check_output_folder(self.output, resume=self.resume, overwrite=self.overwrite)
            if self.resume and contents == "nothing":
                self.reporter.note(f"{self.output}: there is no interrupted run; a new one starts")
            finished = self.resume and contents == "model"
            data = self.read(request, finished=finished)
            plan = self.plan(request, data)
            if finished:
                raise finished_run(self.output, plan)
            epochs = count(plan.run_config.train.epochs, "epoch")
            self.reporter.note(
                f"{plan.task.shape(plan.run_config.model)}, up to {epochs}, into {self.output}"
            )
            from headwise.training.data_parallel import joined_processes  # with it comes torch

            with joined_processes():
                report = fit_evaluate_save(
                    plan,
                    self.output,
                    resume=self.resume and contents == "run",
                    baseline=self.baseline,
                    reporter=self.reporter,
                    callbacks=self.callbacks,
                    files=self.files,
                )
            for warning in plan.warnings(report.fitted):
                self.reporter.warn(warning)
            return report

    def read(self, request: TrainingRequest, *, finished: bool = False) -> RunData:
        """The data of the files, and the teacher's labels of unlabelled texts.

        Raises:
            TrainingFinished: The run is `finished`. This is checked before the teacher runs, which may take
                hours.
        """
        with self.reporter.working(f"reading {', '.join(self.files.paths()[:3])}"):
            data = request.read(self.files)
        resume_collection()
        self.reporter.notes(data.parts.notes)
        warn_of_label_problems(data.parts, request, self.reporter)
        gold_parts = apply_line_lists(data.parts, request, self.files, self.reporter)
        if self.distillation is None:
            return RunData(gold_parts)
        from headwise.app.distillation import DistillationSet  # with it comes torch

        with self.reporter.teacher_progress() as progress:
            folder = self.work or self.output / RUN_FOLDER / TEACHER_CACHE
            distillation = DistillationSet(
                self.distillation,
                gold_parts,
                folder,
                reading=request.run_config.data,
                base=request.base_name(by_default=True),
                seed=request.run_config.train.seed,
                report=progress,
            )
            if finished and saved_distillation(self.output) is not None:
                untaught = RunData(distillation.placeholder_parts(), distillation)
                raise finished_run(self.output, request.plan(untaught))
            data = RunData(distillation.parts(gold_parts), distillation)
        self.reporter.notes(distillation.notes)
        return data

    def plan(self, request: TrainingRequest, data: RunData) -> TrainingPlan:
        """The settings for the data; all that can go wrong does so before training."""
        from headwise.nn.encoders.encoder import needs_trees  # with it comes torch

        with self.reporter.working("preparing the training run"):
            plan = request.plan(data, reporter=self.reporter)
        self.reporter.notes(plan.notes)
        encoder = plan.run_config.model.encoder
        if self.files.parses != NO_PARSES and not needs_trees(encoder):
            note = f"not used, as no head of {encoder_name(encoder)} uses dependency trees"
            self.reporter.note(f"--parses: {note}")
        if warning := plan.limit.message(plan.parts.item_type.nouns.many):
            self.reporter.warn(warning)
        for message in plan.task.data_messages(plan.parts, plan.run_config.model, plan.folds):
            self.reporter.message(message)
        check_parses(data.gold_parts, plan.run_config)
        if self.distillation is None:
            propose_teacher(plan, self.reporter)
        return plan


def fit_evaluate_save(
    plan: TrainingPlan,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    reporter: Reporter = NULL_REPORTER,
    callbacks: Sequence[TrainingCallback] = (),
    files: TrainingFiles | None = None,
) -> "TrainingReport":
    """Train a model as planned, evaluate it on the test items, and save it.

    Args:
        plan: The plan.
        output: Folder of the model, and of the run's state until it is saved.
        resume: Whether to resume the run in the folder.
        baseline: Also fit the baseline.
        reporter: Receives messages and progress.
        callbacks: Objects that follow the epochs.
        files: The files that the data are from, whose names the model folder records.
    """
    from headwise.app.training_report import evaluate_run  # with these comes torch
    from headwise.artifacts.save import save_model

    task, gold_parts, overlaps = plan.task, plan.data.gold_parts, plan.overlaps()
    for overlap in overlaps:
        reporter.warn(overlap.message(gold_parts.item_type.nouns))
    if repeated := repetition_warning(gold_parts.item_type, gold_parts.test, "test "):
        reporter.warn(repeated)
    primary_metric = task.primary_metric(plan.parts, plan.run_config.model)
    for callback in callbacks:
        callback.on_start(plan.run_config.to_json())
    with reporter.training(plan.run_config, primary_metric, task.unit(plan.parts)) as progress:
        report_epoch = notifying(callbacks, progress)
        result = plan.fit(output / RUN_FOLDER, resume=resume, report=report_epoch, stage=reporter.stage)
        reporter.stage("evaluating on test" + ", and a baseline" * baseline)
        with scratch_folder(output / RUN_FOLDER):
            report = evaluate_run(plan, result, overlaps, baseline=baseline)
    save_model(
        result.model,
        output,
        data=plan.fingerprints_json() | ({} if files is None else {"files": files.names_json()}),
        training=result.training(plan.run_config, columns=columns_used(plan.parts.files.get("train"))),
        metrics=report.metrics(),
    )
    clear_run(output)
    return report


@renamed_parameters(listener="reporter", teaching="distillation")
def train_files(
    file: DataArgument,
    output: Path | str,
    *,
    dev: DataArgument | None = None,
    test: DataArgument | None = None,
    drop: Path | str | None = None,
    weight: Path | str | None = None,
    parses: ParseFiles = NO_PARSES,
    settings: Sequence[Sections] | Sections = (),
    distillation: "DistillationSettings | None" = None,
    work: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    baseline: bool = True,
    reporter: Reporter = NULL_REPORTER,
    callbacks: Sequence[TrainingCallback] = (),
) -> "TrainingReport":
    """Train a model on a file or a table of labelled items, evaluate it beside a baseline, and save it.

    Args:
        file: The training file; a list of files, or a pattern such as part-*.parquet, is read as one file;
            "-" is standard input. Or a table in memory: of Arrow, a DataFrame, a `datasets.Dataset`.
        output: Folder of the model.
        dev: The file that selects the best epoch; by default dev items are split off.
        test: The file for the final report; by default test items are split off.
        drop: A list of lines to leave out of the training file (`headwise.data.splits.line_lists`).
        weight: A list of lines with weights.
        parses: The parse files of each file.
        settings: Sections of settings, as in a recipe; or several, of which later ones override earlier
            ones. `{"model": {"task": ...}}` names the task; by default it is inferred from the file.
        distillation: A teacher and unlabelled texts to learn from, too.
        work: Folder that caches the outputs of a teacher that is an encoder, for other runs too; by default
            the output folder holds them until the run ends.
        resume: Resume the interrupted run in the output folder, if there is one.
        overwrite: Replace the model in the output folder.
        baseline: Also fit the baseline.
        reporter: Receives messages and progress.
        callbacks: Objects that follow the training run, for example to log its scores.

    Raises:
        HeadwiseError: The data, the settings or the folder cannot be used, another run is using it, or a
            library for training is missing.
        TrainingInterrupted: Ctrl-C came; the state is saved.
        TrainingFinished: The run to resume is finished.
    """
    check_training_libraries()
    check_callbacks(callbacks)
    drop, weight = (None if path is None else str(path) for path in (drop, weight))
    with tables_as_files(file, dev, test) as (training, dev_files, test_files):
        if training is None:
            raise ConfigError("no training file; expected a file or a table")
        job = TrainingJob(
            TrainingFiles(
                list_files(training),
                optional_files(dev_files),
                optional_files(test_files),
                parses,
                drop,
                weight,
            ),
            Path(output),
            settings=settings,
            distillation=distillation,
            work=None if work is None else Path(work),
            resume=resume,
            overwrite=overwrite,
            baseline=baseline,
            reporter=reporter,
            callbacks=callbacks,
        )
        report = job.run()
    for callback in callbacks:
        callback.on_end(report.metrics())
    return report


_STEPS = {
    "read_parts": "reading the data",
    "fit_model": "training the model",
    "cross_fit": "training without a fold",
    "evaluate_run": "evaluating the model",
    "save_model": "saving the model",
}
"""What a function of a training run does, by its name."""


@contextmanager
def crash_as_error(output: Path) -> Generator[None]:
    """Turn an unexpected exception of a training run into an error, with its traceback in a file. Signals,
    a full disk and too little memory are not unexpected.

    As long as the file is in the folder of the run, the run is not offered for resuming, which would only
    meet the error again.

    Raises:
        HeadwiseError: HW413.
    """
    try:
        yield
    except (HeadwiseError, OSError):
        raise
    except Exception as error:
        if is_out_of_memory(error) or isinstance(error.__cause__, KeyboardInterrupt):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        step = next(
            (_STEPS[frame.name] for frame in reversed(frames) if frame.name in _STEPS), "preparing it"
        )
        what = "".join(traceback.format_exception_only(error)).strip()
        path = output / RUN_FOLDER / TRACEBACK
        path.parent.mkdir(parents=True, exist_ok=True)
        begin = f"headwise {__version__}, Python {sys.version.split()[0]}, while {step}\n"
        report = begin + "".join(traceback.format_exception(error))
        path.write_text(report, encoding="utf-8", errors="backslashreplace")
        raise HeadwiseError(
            f"an unexpected error stopped the training run while {step}: {what:.300}. Its traceback is in "
            f"{path}; please report it. headwise doctor may find its cause in the data; --resume meets it "
            "again as long as the cause is there",
            code="HW413",
        ) from error
