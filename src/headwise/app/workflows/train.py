"""Train a model on files, evaluate it and save it in a folder."""

from collections.abc import Sequence
from pathlib import Path

from headwise.app.configuration import Sections
from headwise.app.distillation import DistillationSettings
from headwise.app.reporter import NULL_REPORTER, CallbackReporter, Reporter
from headwise.app.training_job import TrainingJob
from headwise.app.training_plan import TrainingFiles
from headwise.app.training_report import TrainingReport
from headwise.app.workflows.memory_tables import DataArgument, tables_as_files
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.files.file_lists import list_files, optional_files
from headwise.data.items.parses import NO_PARSES, ParseFiles
from headwise.training.callbacks import TrainingCallback


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
    distillation: DistillationSettings | None = None,
    work: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    baseline: bool = True,
    reporter: Reporter = NULL_REPORTER,
    callbacks: Sequence[TrainingCallback] = (),
) -> TrainingReport:
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
        HeadwiseError: The data, the settings or the folder cannot be used, or another run is using it.
        TrainingInterrupted: Ctrl-C came; the state is saved.
        TrainingFinished: The run to resume is finished.
    """
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
            settings,
            distillation,
            None if work is None else Path(work),
            resume,
            overwrite,
            baseline,
            CallbackReporter(reporter, callbacks) if callbacks else reporter,
        )
        report = job.run()
    for callback in callbacks:
        callback.on_end(report.metrics())
    return report
