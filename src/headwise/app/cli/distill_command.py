"""`headwise distill`: train a small model on labelled texts and on a teacher's labels of other texts."""

from pathlib import Path
from types import SimpleNamespace

from headwise.app.cli.argument_types import (
    FileArgument,
    OptionalFile,
    OptionalOutput,
    OptionalRecipe,
    Switch,
)
from headwise.app.cli.flags import flag_values, flags_of, section_flags
from headwise.app.cli.short_help import DEFAULT_TASK
from headwise.app.cli.train_command import train

_HIDDEN_FLAGS = {flag.name for flag in flags_of("data") if flag.owners and DEFAULT_TASK not in flag.owners}

_ADVICE = "only classifiers of texts learn from a teacher (else name --text-column and --label-column)"


def distill(
    file: FileArgument,
    /,
    *,
    teacher: str,
    unlabelled: OptionalFile = None,
    output: OptionalOutput = None,
    dev: OptionalFile = None,
    test: OptionalFile = None,
    base: str | None = None,
    recipe: OptionalRecipe = None,
    work: Path | None = None,
    resume: Switch = False,
    overwrite: Switch = False,
    no_baseline: Switch = False,
    teach: section_flags("teach") = None,
    data: section_flags("data", _HIDDEN_FLAGS) = None,
) -> int:
    """Train a small model on labels and on a teacher's predictions.

    The teacher labels unlabelled texts, and the model learns from both. It is headwise train with --teacher
    and --unlabelled; headwise train takes all other settings too. The teacher is fitted to the labelled
    training texts only. Unlabelled texts that are also in the labelled file are left out. The report
    compares teacher and model in test score and speed.

    Args:
        file: Labelled texts; see headwise train.
        teacher: A sentence encoder (a name on the Hugging Face hub, or a folder), with a linear classifier
            fitted to the labels; a headwise model folder; or a file of texts with labels or probabilities
            from any source, such as a large language model: one column per label, or label and confidence.
        unlabelled: Texts to label, in any of the formats. [the texts of the teacher's file]
        output: Folder of the model. [FILE without its suffix, plus .model]
        dev: Labelled texts that choose the best epoch and set the temperature. [split off]
        test: Labelled texts for the final report; read once. [split off]
        base: Pretrained word vectors or a previous model; see headwise train. [auto]
        recipe: A TOML file with settings, or a model folder.
        work: Folder that caches the vectors of a sentence encoder, for other training runs too. [none]
        resume: Continue the interrupted run in the output folder; give the same settings again.
        overwrite: Replace the model in the output folder.
        no_baseline: Do not fit the baseline.
    """
    from headwise.data.items.item_types import require_one_label_task

    named = flag_values(data)
    if recipe is None and not {"text_column", "label_column"} <= named.keys():  # else columns are named
        require_one_label_task(str(file), named, _ADVICE)
    return train(
        file, teacher=teacher, unlabelled=unlabelled, output=output, task=DEFAULT_TASK,
        dev=_listed(dev), test=_listed(test), base=base, recipe=recipe, work=work, resume=resume,
        overwrite=overwrite, no_baseline=no_baseline,
        settings=SimpleNamespace(teach=teach, data=data),
    )  # fmt: skip


def _listed(path: Path | None) -> tuple[Path, ...]:
    return () if path is None else (path,)
