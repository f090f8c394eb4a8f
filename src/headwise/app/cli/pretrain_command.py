"""`headwise pretrain`: train static embeddings (a base) on unlabelled texts."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from headwise.app.cli.argument_types import FileArgument, OptionalFile, OptionalInteger, Switch
from headwise.app.cli.console import messages, note, standard_output, warn
from headwise.app.cli.flags import flag_values, flags
from headwise.app.cli.progress import WithProgressBar
from headwise.core.config import from_dict
from headwise.core.errors import ConfigError
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.text_lines import read_lines
from headwise.training.pretraining import (
    CardNotes,
    ContextConfig,
    PretrainConfig,
    StudentConfig,
    TeacherConfig,
)

_NESTED = {"teacher", "student", "context"}
PlainFlags = flags("PlainFlags", {"": PretrainConfig}, prefix="*", group="Base", order=1, omit=_NESTED)
TeacherFlags = flags(
    "TeacherFlags", {"": TeacherConfig}, prefix="--teacher", group="Teacher", order=2, omit={"name"}
)
StudentFlags = flags("StudentFlags", {"": StudentConfig}, prefix="--student", group="Teacher", order=2)
ContextFlags = flags(
    "ContextFlags", {"": ContextConfig}, prefix="--context", group="Text as teacher", order=3
)

_CARD = Group("Card", sort_key=4)
_SOURCE = Parameter(group=_CARD, show_default=False, negative_iterable=())


def pretrain(
    *files: FileArgument,
    output: Path,
    teacher: Annotated[str, Parameter(show_default=False)] = "",
    epochs: Annotated[OptionalInteger, Parameter(show_default=False)] = None,
    word_list: OptionalFile = None,
    text_column: str | None = None,
    encoding: str = "utf-8",
    encoding_errors: Literal["strict", "replace"] = "strict",
    work: Path | None = None,
    resume: Switch = False,
    overwrite: Switch = False,
    name: Annotated[str, Parameter(group=_CARD, show_default=False)] = "",
    licence: Annotated[str, Parameter(group=_CARD, show_default=False)] = "",
    source: Annotated[tuple[str, ...], _SOURCE] = (),
    plain: PlainFlags = None,
    teacher_settings: TeacherFlags = None,
    student: StudentFlags = None,
    context: ContextFlags = None,
) -> int:
    """Train a base (static embeddings) on unlabelled texts.

    The texts can be in any language. A base has a vector for each listed word, and vectors for subwords,
    from which the vectors of all other words are computed. The vectors are trained to reproduce a sentence
    encoder's vectors of the texts as the mean of their words (--teacher), to predict the context of words
    in the texts, or both. Use the base with headwise train FILE --base FOLDER.

    Args:
        files: Texts of any size, plain or compressed: one paragraph or sentence per line, or a column of a
            table (csv, tsv, jsonl).
        output: Folder of the base.
        teacher: A sentence encoder: a name on the Hugging Face hub, or a folder; several are separated by
            commas, unless there is a folder of that name. [none, the texts alone]
        epochs: Passes over the texts; sets --student.epochs with a teacher, else --context.epochs.
        word_list: A file of words, one per line, the most frequent first; they are listed in addition to
            the most frequent words of the texts.
        text_column: Column of the text in tables: its name, or its number from 1. [guessed and reported]
        encoding: Character encoding of the files.
        encoding_errors: What to do with bytes that cannot be decoded: stop, or read them as U+FFFD.
        work: Folder that caches the teacher's vectors, so that no text is encoded twice, and the state
            after each epoch. [OUTPUT.work, removed at the end]
        resume: Continue an interrupted run; give the same settings again.
        overwrite: Replace the base in the output folder.
        name: Name of the base. [that of the folder]
        licence: Licence of the base, for its card.
        source: Origin and licence of texts, for the card; may be given several times.
    """
    from headwise.training.pretraining.pretrain import pretrain_files

    if not files:
        raise ConfigError("no texts; expected files such as reviews.txt")
    settings = flag_values(plain) | {
        "teacher": flag_values(teacher_settings) | ({"name": teacher} if teacher else {}),
        "student": flag_values(student),
        "context": flag_values(context),
    }
    if epochs is not None:
        settings["student" if teacher else "context"].setdefault("epochs", epochs)
    config = from_dict(PretrainConfig, settings)
    options = ReadOptions(text_column=text_column, encoding=encoding, encoding_errors=encoding_errors)
    lines = [] if word_list is None else read_lines(str(word_list), encoding, encoding_errors)
    listed = [line.strip() for _, line in lines]
    notes = CardNotes(licence, "\n\n".join(source), command=shlex.join(["headwise", *sys.argv[1:]]))
    try:
        with PretrainProgress() as progress:
            made = pretrain_files(
                [str(file) for file in files], output, config, name=name, word_list=listed, notes=notes,
                options=options, work=work, resume=resume, overwrite=overwrite, report=progress, note=note,
            )  # fmt: skip
    except KeyboardInterrupt:
        warn("stopped; the same command with --resume continues")
        raise
    base, console = made.base, standard_output()
    console.print(f"{len(base.words):,} words and {len(base.subwords):,} vectors for runs of letters,")
    size = sum(path.stat().st_size for path in output.iterdir()) / 1e6
    console.print(f"{base.size} features, {size:.1f} MB, in {output}.")
    for what, score in made.scores.items():
        console.print(f"{what}: {score}")
    console.print(f"Use it with: headwise train FILE --base {shlex.quote(str(output))}")
    return 0


class PretrainProgress(WithProgressBar):
    """Progress on standard error: one bar per step; without a terminal, one line when a step begins."""

    def __init__(self) -> None:
        console = messages()
        self._live = console.is_terminal
        self._console = console
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[done]} {task.fields[tell]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console,
            disable=not self._live,
        )
        self._steps: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int | None, tell: str) -> None:
        """Update the bar of a step; see `headwise.training.pretraining.pretrain.StepReporter`."""
        if stage not in self._steps:
            self._steps[stage] = self.bar.add_task(stage, total=total, done="", tell="")
            if not self._live:
                self._console.print(f"- {stage}", style="dim")
        self.bar.update(self._steps[stage], completed=done, total=total, done=f"{done:,}", tell=tell)
