"""`headwise train`: train a model on a labelled file."""

import atexit
import os
import shutil
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

from cyclopts import Group, Parameter

from headwise.app.cli.argument_types import (
    FileArgument,
    OptionalFile,
    OptionalFiles,
    OptionalOutput,
    OptionalOutputFile,
    OptionalParses,
    OptionalRecipe,
)
from headwise.app.cli.console import check_page_output, print_json, warn
from headwise.app.cli.flags import every_flag, section_values
from headwise.app.cli.path_checks import check_one_standard_input, check_output_is_folder, is_standard
from headwise.app.cli.terminal import QuietReporter, TerminalReporter
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError, TrainingInterrupted
from headwise.core.torchrun import process_rank
from headwise.data.files.compression import read_once
from headwise.data.files.file_lists import (
    check_labelled_folder,
    first_path,
    list_files,
    optional_files,
    paths_of,
)
from headwise.models.tasks import TASKS
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER, ENCODER_CONFIGS

_FILES, _MODEL, _RUN = (
    Group(title, sort_key=place) for place, title in enumerate(("Files", "Model", "Run"))
)
_SWITCH = Parameter(group=_RUN, negative=(), show_default=False)


def train(
    file: Annotated[FileArgument, Parameter(group=_FILES, show_default=False)],
    /,
    *more: Annotated[FileArgument, Parameter(group=_FILES, show_default=False)],
    output: Annotated[OptionalOutput, Parameter(group=_FILES)] = None,
    task: Annotated[
        str | None, Parameter(group=_FILES, help=f"{', '.join(TASKS)}. \\[inferred from the file]")
    ] = None,
    dev: Annotated[OptionalFiles, Parameter(group=_FILES, show_default=False)] = (),
    test: Annotated[OptionalFiles, Parameter(group=_FILES, show_default=False)] = (),
    drop: Annotated[OptionalFile, Parameter(group=_FILES)] = None,
    weight: Annotated[OptionalFile, Parameter(group=_FILES)] = None,
    vectors: Annotated[OptionalFile, Parameter(group=_MODEL)] = None,
    base: Annotated[str | None, Parameter(group=_MODEL)] = None,
    pretrained: Annotated[str | None, Parameter(group=_MODEL)] = None,
    encoder: Annotated[
        str | None,
        Parameter(
            group=_MODEL,
            help=(f"{', '.join(ENCODER_CONFIGS)}. \\[{DEFAULT_ENCODER}; ms-san for larger data sets]"),
        ),
    ] = None,
    readout: Annotated[str | None, Parameter(group=_MODEL)] = None,
    unknown: Annotated[bool, Parameter(group=_MODEL, negative=(), show_default=False)] = False,
    unknown_label: Annotated[str | None, Parameter(group=_MODEL)] = None,
    recipe: Annotated[OptionalRecipe, Parameter(group=_MODEL)] = None,
    parses: Annotated[OptionalParses, Parameter(group=_FILES)] = None,
    dev_parses: Annotated[OptionalParses, Parameter(group=_FILES)] = None,
    test_parses: Annotated[OptionalParses, Parameter(group=_FILES)] = None,
    unlabelled: Annotated[OptionalFile, Parameter(group=_FILES)] = None,
    teacher: Annotated[str | None, Parameter(group=_MODEL)] = None,
    work: Annotated[Path | None, Parameter(group=_FILES)] = None,
    resume: Annotated[bool, _SWITCH] = False,
    overwrite: Annotated[bool, _SWITCH] = False,
    no_baseline: Annotated[bool, _SWITCH] = False,
    report: Annotated[OptionalOutputFile, Parameter(group=_FILES)] = None,
    json: Annotated[bool, _SWITCH] = False,
    quiet: Annotated[bool, _SWITCH] = False,
    settings: "every_flag()" = None,  # evaluated where all are needed: see `train_flags`
) -> int:
    """Train a model on a labelled file, and evaluate it.

    The file alone is enough. Task, format and columns are guessed; dev and test texts are split off if they
    are not given. Settings marked \\[by data] depend on the task, the number of texts and the pretrained
    vectors. The report compares the model with a baseline on the same test texts.

    Args:
        file: The training texts, plain or compressed; "-" is standard input. Labelled: csv, tsv, jsonl,
            "label, tab, text", fastText, sentiment trees. Tagged: columns (CoNLL), CoNLL-U, word/TAG,
            bracketed trees. Bags of instances: csv with a row of numbers for each instance. A pattern
            ("part-*.csv") stands for several files with the same columns.
        more: More training files with the same columns.
        output: Folder of the model. [FILE without its suffix, plus .model]
        task: Replaced by the list of tasks.
        dev: Labelled texts that choose the best epoch and set the temperature. [split off]
        test: Labelled texts for the final report; read once. [split off]
        drop: A csv file with the lines of FILE to leave out of training, as headwise noise writes it
            (first remove the lines whose labels are right).
        weight: A csv file of lines like --drop whose column "weight" (or "probability of label") is the
            training weight of each line; texts that are not listed have weight 1.
        vectors: Pretrained word vectors in GloVe or word2vec text format (plain, .gz, .xz), or .npy with a
            file of the words next to it.
        base: Pretrained word vectors: auto, the name or folder of a base, the folder of a previous model to
            continue from (warm start), or none. [auto: an installed base of the texts' language, if
            it covers at least 40 % of the words]
        pretrained: A Hugging Face encoder (a name on the hub, or a folder) as embedding layer, instead of
            word vectors.
        encoder: Replaced by the list of encoders.
        readout: Pooling of words to a text vector: node+max; node,max; mean,max; node; max; mean;
            attentive; attentive,max; or attentive,cls. [by data]
        unknown: Store a novelty detector: predictions say which texts are like none of the training texts
            (out of scope), with a novelty score.
        unknown_label: The label of texts that belong to none of the labels, as --unknown with examples:
            they are not trained on, but choose how the novelty score is computed.
        recipe: A TOML file with settings: \\[train] epochs = 5 is --epochs 5, \\[encoder] layers = 1 is
            --encoder.layers 1. Or a model folder: the settings that it was trained with. Flags take
            precedence.
        parses: Dependency parses of the training texts, for encoders that use them (ms-san): one line per
            text with the head of each word (numbers from 1, 0 for a root), "words, tab, heads", or CoNLL-U.
        dev_parses: Dependency parses of the dev texts.
        test_parses: Dependency parses of the test texts.
        unlabelled: Unlabelled texts for the teacher to label; see headwise distill.
        teacher: The teacher of unlabelled texts: a sentence encoder (a name on the hub, or a folder), a
            model folder, or a file of texts with labels or probabilities.
        work: Folder that caches the vectors of a sentence encoder, for other training runs too. [none]
        resume: Continue the interrupted run in the output folder; give the same settings again. Starts the
            run if there is none, and does nothing if it is finished.
        overwrite: Replace the model in the output folder.
        no_baseline: Do not fit the baseline.
        report: Also write a page about the model to this file (see `headwise report`); an existing page is
            replaced.
        json: Print the folder and its scores as JSON instead of tables.
        quiet: Print warnings and errors only.
    """
    check_page_output(report)
    check_output_is_folder(output)
    if process_rank():  # the first process that torchrun has started prints and writes
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        folder = mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        output, work, report = Path(folder) / "model", None, None
    texts = list_files([file, *more])
    inputs = {"FILE": (file, *more), "--dev": dev, "--test": test, "--drop": drop, "--weight": weight}
    inputs |= {"--parses": parses, "--dev-parses": dev_parses, "--test-parses": test_parses}
    inputs |= {"--recipe": recipe, "--unlabelled": unlabelled}
    check_one_standard_input(inputs)
    if is_standard(vectors):
        raise ConfigError("--vectors -: word vectors are read more than once; give a file")
    if task is None:  # only other tasks read texts without labels
        for path in paths_of(texts):
            check_labelled_folder(path)
    from headwise.app.configuration import read_preset

    terminal = QuietReporter() if quiet else TerminalReporter()
    presets = (read_preset(recipe, task=task, reporter=terminal),) if recipe else ()
    from headwise.app.training_checks import TrainingFinished
    from headwise.app.workflows.train import crash_as_error, train_files
    from headwise.data.items.parses import ParseFiles

    output = output or _output_for(Path(first_path(texts)))
    named = section_values(settings)
    teach = named.pop("teach", {})
    for section, name, value in (
        ("vectors", "file", vectors and str(vectors)),
        ("base", "name", base),
        ("pretrained", "name", pretrained),
        ("encoder", "name", encoder),
        ("unknown", "label", unknown_label),
        ("model", "readout", readout),
        ("model", "task", task),
    ):
        if value:
            named[section] = named.get(section, {}) | {name: value}
    if unknown or named.get("unknown"):
        named["unknown"] = {"detect": True} | named.get("unknown", {})
    try:
        with crash_as_error(output):
            finished_run = train_files(
                texts,
                output,
                dev=optional_files(dev),
                test=optional_files(test),
                drop=drop,
                weight=weight,
                parses=ParseFiles(
                    *(None if path is None else str(path) for path in (parses, dev_parses, test_parses))
                ),
                settings=(*presets, named),
                distillation=distillation_settings(teacher, unlabelled, teach),
                work=work,
                resume=resume,
                overwrite=overwrite,
                baseline=not no_baseline,
                reporter=terminal,
            )
    except KeyboardInterrupt:  # a second Ctrl-C, or one after the last epoch
        _warn_of_stop(output)
        raise
    except TrainingInterrupted as stop:
        warn(stop.args[0])
        return 128 + stop.signal  # the shell convention: 130 for Ctrl-C
    except TrainingFinished as message:  # the run had finished before: success
        terminal.note(message.args[0])
        finished_run = None
        if json:
            from headwise.artifacts import read_info

            print_json({"folder": str(output), **read_info(output)["metrics"]})
    else:
        if json:
            print_json({"folder": str(output), **finished_run.metrics()})
        elif not quiet and not is_standard(report):
            from headwise.app.cli.train_display import print_report  # with it comes torch

            print_report(finished_run, output, terminal)
    if report is not None:
        from headwise.app.cli.report_command import write_page
        from headwise.app.workflows.report import report_file, training_report_page

        if finished_run is not None:
            page = training_report_page(finished_run, output)
        else:
            test_files, test_heads = optional_files(test), test_parses if test else None
            page = report_file(output, test_files, parses=test_heads, reading=named.get("data", {}))
        write_page(report, page)
    return 0


def _warn_of_stop(output: Path) -> None:
    """Say how a run that was stopped at once goes on."""
    from headwise.core.folder_layout import RUN_FOLDER, RUN_STATE

    if (output / RUN_FOLDER / RUN_STATE).exists():
        warn(f"stopped at once; --resume continues from the last state saved in {output / RUN_FOLDER}")
    else:
        warn("stopped before the first update: nothing is saved yet, so the same command starts over")


def distillation_settings(teacher: str | None, unlabelled: Path | None, settings: JsonObject) -> Any:
    """The distillation settings (`headwise.app.distillation.DistillationSettings`) of the
    flags; None without a teacher.

    Raises:
        ConfigError: There are unlabelled texts or settings, but no teacher.
    """
    if teacher is None:
        if unlabelled is not None or settings:
            given_flag = "--unlabelled" if unlabelled is not None else f"--teach.{next(iter(settings))}"
            from headwise.app.training_checks import installed_teacher

            name = installed_teacher()
            proposal = "" if name is None else f"; installed here: --teacher {name}"
            raise ConfigError(f"{given_flag} needs a --teacher{proposal}")
        return None
    from headwise.app.distillation import DistillationSettings
    from headwise.core.config import from_dict
    from headwise.training.settings import DistillationConfig

    texts = None if unlabelled is None else str(unlabelled)
    return DistillationSettings(teacher, texts, from_dict(DistillationConfig, settings))


def _output_for(file: Path) -> Path:
    if read_once(str(file)):
        raise ConfigError("texts from standard input or a pipe need --output, the folder of the model")
    return Path(file.name.split(".")[0] + ".model")
