"""What a verb works with: a model in a folder, and a file with the true answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from headwise.app.configuration import Sections
from headwise.app.model_columns import reading_options_as_trained
from headwise.app.reporter import Reporter
from headwise.app.row_reading import rows_as_trained, unused_parses_notes
from headwise.artifacts import load_model, read_info
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import MANIFEST
from headwise.core.tokenizer import get_tokenizer
from headwise.data.errors import NO_LABEL_CODES, DataError
from headwise.data.files.fingerprint import file_sha256
from headwise.data.files.text_lines import file_name
from headwise.data.items.dataset import InputRows
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.item_types import (
    ITEM_TYPES,
    infer_task,
    options_for,
    require_one_label_task,
    rows_to_predict,
)
from headwise.data.items.labels import label_names
from headwise.data.items.parses import ParseReader, with_parses
from headwise.models.tasks import find_task
from headwise.models.tasks.task import Task
from headwise.nn.networks.text_model import WordModel
from headwise.text.parse_files import read_parses, read_phrase_parses
from headwise.text.parsing import new_parser
from headwise.text.static_embeddings.base_folder import choose_base
from headwise.text.static_embeddings.word_groups import WordClusters
from headwise.text.text_configs import SyntaxConfig
from headwise.training.warm_start import PreviousModel


def open_model(folder: Path | str, device: str = "auto", pipeline: str | None = None) -> Any:
    """Load a model folder.

    Args:
        folder: The folder.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
        pipeline: A spaCy pipeline that parses texts for it, in place of the one that it names.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: The device cannot be used, or the model reads no texts.
    """
    model = load_model(folder, device=device)
    if pipeline is not None:
        if not isinstance(model, WordModel):
            raise ConfigError("--pipeline parses texts, but this model reads none")
        model.features.parser = new_parser(SyntaxConfig(pipeline))
    return model


def open_rows(
    folder: Path | str,
    file: Path | str,
    pipeline: str | None,
    device: str,
    reading: Mapping[str, Any] | None,
    listener: Reporter,
    heads: Path | str | None = None,
) -> tuple[Any, Task, InputRows[Any]]:
    """A model, what it does, and the records of a file as it reads them; see `open_model` and
    `read_answers`."""
    model = open_model(folder, device, pipeline)
    task = find_task(model.config.task)
    return model, task, rows_for(task, model, read_info(folder), file, reading, listener, heads)


def rows_for(
    task: Task,
    model: Any,
    info: Mapping[str, Any],
    file: Path | str,
    reading: Mapping[str, Any] | None,
    listener: Reporter,
    heads: Path | str | None = None,
) -> InputRows[Any]:
    """The records of a file as a model reads them, with their parses; `info` is what its folder says of it,
    for the rest see `read_answers`."""

    def read(path: str, options: Mapping[str, Any]) -> InputRows[Any]:
        return rows_to_predict(kind, task.name, path, options, like=task.schema(model))

    kind, trees = task.item_type_for(model.config), _uses_trees(model)
    return rows_as_trained(kind, info, file, reading or {}, read, listener, heads, trees=trees)


def read_answers(
    task: Task,
    model: Any,
    folder: Path | str,
    file: Path | str,
    heads: Path | str | None,
    reading: Mapping[str, Any] | None,
    listener: Reporter,
    *,
    known_only: bool = False,
) -> Any:
    """A file with the true answers, as it is read for a model.

    Args:
        task: What the model does.
        model: The model.
        folder: Its folder, which errors name, and which says what columns it was trained on.
        file: The file; "-" is standard input.
        heads: The syntax of the texts.
        reading: How the file is read, where that is neither as in training (see
            `reading_options_as_trained`) nor to be guessed.
        listener: Is told what was noticed.
        known_only: Leave out items with labels that are not the model's.

    Raises:
        HeadwiseError: The file cannot be read, or an answer is not one of the model's.
    """
    kind = task.item_type_for(model.config)
    if heads is not None and not kind.sides:
        raise kind.no_parses_error()
    path = file_name(file)
    resolved, column_notes = reading_options_as_trained(kind, read_info(folder), path, reading or {})
    options = task.options(model, options_for(task.name, resolved))
    try:
        data = kind.read(path, options, like=task.schema(model))
    except DataError as error:
        if error.code in NO_LABEL_CODES and not getattr(options, "label_column", None):
            listener.note("a file without answers is one for headwise predict")
        raise
    reader = ParseReader(get_tokenizer(model.config.words.tokenizer).words, read_parses, read_phrase_parses)
    data = with_parses(kind, data, None if heads is None else str(heads), reader)
    data, spelt = kind.answer.respell_as_training(getattr(model, "labels", ()), data)
    listener.notes(
        (*data.notes, *column_notes, *spelt, *unused_parses_notes(heads, trees=_uses_trees(model)))
    )
    if known_only:
        data, left_out = kind.answer.without_unknown_labels(getattr(model, "labels", ()), data, kind.nouns)
        for remark in left_out:
            listener.warn(remark)
    task.check_labels(model, data, str(folder))
    return data


def _uses_trees(model: Any) -> bool:
    return getattr(getattr(model, "features", None), "trees", "none") != "none"


def read_labelled(
    file: str, reading: Mapping[str, Any] | None, least: int, listener: Reporter
) -> tuple[Any, list[str]]:
    """A file of texts with one label each, and the names of the labels.

    Args:
        file: The file; "-" is standard input.
        reading: How it is read, where that is not to be guessed.
        least: How many texts it must have.
        listener: Is told what was noticed.

    Raises:
        HeadwiseError: The file cannot be read, or has too few texts or labels.
    """
    kind, options = ITEM_TYPES["classify"], dict(reading or {})
    task = require_one_label_task(file, options)
    data = kind.read(file, options_for(task, options))
    listener.notes(data.notes)
    names = label_names(item.label for item in data.items)
    if len(data.items) < least or len(names) < 2:
        raise ConfigError(
            f"{data.path}: {len(data.items):,} texts with {len(names)} labels; expected {least} or more "
            "texts with two or more labels"
        )
    return data, names


def read_tagged_file(
    file: str, reading: Mapping[str, Any] | None, least: int, listener: Reporter
) -> Any | None:
    """A file of tagged sentences, likewise; None if it is none."""
    data = _read_if_kind("tag", "tagged sentences", file, reading, listener)
    if data is not None and (len(data.items) < least or len(data.labels) < 2):
        raise ConfigError(
            f"{data.path}: {len(data.items):,} sentences with {len(data.labels)} tags; expected {least} or "
            "more sentences with two or more tags"
        )
    return data


def read_label_sets(
    file: str, reading: Mapping[str, Any] | None, least: int, listener: Reporter
) -> Any | None:
    """A file of texts with any number of labels, likewise; None if it is none."""
    data = _read_if_kind("multi-label", "label sets", file, reading, listener)
    if data is not None and (len(data.items) < least or not any(item.labels for item in data.items)):
        raise ConfigError(
            f"{data.path}: {len(data.items):,} texts with sets of labels; expected {least} or more texts, "
            "and a label"
        )
    return data


def _read_if_kind(
    task_name: str, what: str, file: str, reading: Mapping[str, Any] | None, listener: Reporter
) -> Any | None:
    """A file that is for tasks of the kind of the wanted one; None if it is for others."""
    kind, options = ITEM_TYPES[task_name], dict(reading or {})
    task, why = infer_task(file, options)
    if ITEM_TYPES[task] is not kind:
        return None
    listener.note(f"a file of {what} ({why})")
    data = kind.read(file, options_for(task, options))
    listener.notes(data.notes)
    return data


def base_vectors(texts: Sequence[str], base: str) -> tuple[Any, str]:
    """Vectors of texts by a base, `[texts, size]`, None without one, and what there is to say of it; `base`
    is `auto`, `none`, or what `--base` takes."""
    words = [get_tokenizer("penn").words(text) for text in texts]
    chosen, note = choose_base(base, words)
    return None if chosen is None else chosen.texts(words), note


def word_groups(sentences: Sequence[TaggedSentence], base: str) -> tuple[WordClusters | None, str]:
    """The groups of words that a base knows, None where there are none, and what there is to say of it;
    `base` as for `base_vectors`."""
    chosen, note = choose_base(base, [sentence.tokens for sentence in sentences])
    return None if chosen is None else chosen.groups, note


def with_task(file: str, layers: Sequence[Sections] | Sections) -> tuple[tuple[Sections, ...], str]:
    """Sections of settings, or several, that name the task, if need be as a first one by the looks of the
    file; and what there is to say of that."""
    layers = [layers] if isinstance(layers, Mapping) else layers
    if any("task" in layer.get("model", {}) for layer in layers):
        return tuple(layers), ""
    reading = {name: value for layer in layers for name, value in layer.get("data", {}).items()}
    inferred, why = infer_task(file, reading)
    note = f"task {inferred} guessed from the file ({why}) - override with --task" if why else ""
    return ({"model": {"task": inferred}}, *layers), note


def split_init_from(layers: Sequence[Sections]) -> tuple[PreviousModel | None, tuple[Sections, ...]]:
    """The earlier model that sections of settings name as base, if they name one, and the sections without
    its name.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: Such models cannot be gone on with.
    """
    names = [base["name"] for layer in layers if "name" in (base := layer.get("base", {}))]
    if not names or not (Path(names[-1]) / MANIFEST).is_file():
        return None, tuple(layers)
    folder = Path(names[-1])
    previous_model = PreviousModel(names[-1], load_model(folder), file_sha256(folder / MANIFEST))
    if not previous_model.bare:
        previous_model = replace(previous_model, seen=read_info(folder)["data"].get("seen"))
    base = [{k: v for k, v in layer.get("base", {}).items() if k != "name"} for layer in layers]
    return previous_model, tuple(
        {**layer, "base": base_section} for layer, base_section in zip(layers, base, strict=True)
    )
