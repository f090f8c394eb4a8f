"""Train a model on files: files in, a judged model in a folder out."""

from collections.abc import Sequence
from pathlib import Path

from headwise.app.configuration import Sections
from headwise.app.distillation.distillation import DistillationSettings
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.training_job import TrainingJob
from headwise.app.training_plan import TrainingFiles
from headwise.app.training_report import TrainingReport
from headwise.data.files.text_lines import file_name
from headwise.data.items.parses import NO_PARSES, ParseFiles


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
    dev, test = (None if path is None else file_name(path) for path in (dev, test))
    drop, weight = (None if path is None else str(path) for path in (drop, weight))
    return TrainingJob(
        TrainingFiles(file_name(file), dev, test, parses, drop, weight),
        Path(output),
        settings,
        teaching,
        None if work is None else Path(work),
        resume,
        overwrite,
        baseline,
        listener,
    ).run()
