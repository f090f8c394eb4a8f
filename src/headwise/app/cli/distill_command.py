"""`headwise distill`: train a small model on labelled texts and on a teacher's labels of other texts."""

# The types of the flags are created at run time from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from types import SimpleNamespace

from headwise.app.cli.console import FileArgument, OptionalOutput, Switch
from headwise.app.cli.flags import flag_values, flags_of, section_flags
from headwise.app.cli.train_command import train
from headwise.app.cli.train_help import DEFAULT_TASK

_HIDDEN_FLAGS = {flag.name for flag in flags_of("data") if flag.owners and DEFAULT_TASK not in flag.owners}

_ADVICE = "only classifiers of texts learn from a teacher (else name --text-column and --label-column)"


def distill(
    file: FileArgument,
    /,
    *,
    teacher: str,
    unlabelled: Path | None = None,
    output: OptionalOutput = None,
    dev: Path | None = None,
    test: Path | None = None,
    base: str | None = None,
    recipe: Path | None = None,
    work: Path | None = None,
    resume: Switch = False,
    overwrite: Switch = False,
    no_baseline: Switch = False,
    teach: section_flags("teach") = None,
    data: section_flags("data", _HIDDEN_FLAGS) = None,
) -> int:
    """Train a small model on labels and on what a teacher says.

    The teacher says it of texts without labels, and the model learns from both. The same as headwise train
    with --teacher and --unlabelled, which takes all other settings too. The teacher is fitted on the
    labelled training texts alone; unlabelled texts that the labelled file has are left out. The report says
    how good the teacher is on the test texts, and how much faster the model.

    Args:
        file: Labelled texts, as headwise train takes them.
        teacher: A sentence encoder (a name of the Hugging Face hub, or a folder), which gets a linear
            classifier that is fitted on the labels; a model folder of headwise; or a file of texts with
            labels or probabilities that anyone has written, such as a large language model: a column a
            label, or label and confidence.
        unlabelled: Texts to label, in any of the formats. [those of a file of answers]
        output: Folder of the model. [FILE without its ending, and .model]
        dev: Labelled texts that choose the best epoch and set the temperature. [split off]
        test: Labelled texts for the final report; read once. [split off]
        base: What the model knows of words before it sees a label; see headwise train. [auto]
        recipe: A TOML file with settings.
        work: Folder that keeps what a sentence encoder says of texts, for other trainings too. [none]
        resume: Go on with the interrupted run in the output folder; give the same settings again.
        overwrite: Replace the model in the output folder.
        no_baseline: Do not fit the simple baseline.
    """
    from headwise.data.items.item_types import require_one_label_task

    named = flag_values(data)
    if recipe is None and not {"text_column", "label_column"} <= named.keys():  # else columns are named
        require_one_label_task(str(file), named, _ADVICE)
    return train(
        file, teacher=teacher, unlabelled=unlabelled, output=output, task=DEFAULT_TASK, dev=dev, test=test,
        base=base, recipe=recipe, work=work, resume=resume, overwrite=overwrite, no_baseline=no_baseline,
        settings=SimpleNamespace(teach=teach, data=data),
    )  # fmt: skip
