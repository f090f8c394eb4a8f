"""Loading an exported folder: without torch, and without running anything but its graphs."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from headwise.data.kinds import KINDS
from headwise.exported.models import BY_KIND, ExportedModel
from headwise.exported.runner import Runner
from headwise.exported.session import Session
from headwise.exported.settings import Settings
from headwise.exported.tables import BASE as BASE_TABLES
from headwise.exported.tables import (
    EXPERT,
    WORDS,
    Expert,
    base_of,
    base_shapes,
    expert_tables,
    unpacked,
)
from headwise.exported.vectors import BaseReader, WordReader
from headwise.features.vocabulary import Vocabulary
from headwise.linear.pair_features import NUMBERS, compared_size
from headwise.models.answers.outputs import OutputsError
from headwise.store.errors import StoreError
from headwise.store.folder import Folder, get, is_ours, read_factors, read_vocabulary
from headwise.store.layout import (
    BASE,
    CONFIG,
    ENCODER,
    EXPORTED,
    LABELS,
    METRICS,
    READOUT,
    TABLES,
    TRAINING,
)


def is_exported(folder: Path | str) -> bool:
    """Whether a folder holds an exported model, of any version and perhaps incomplete."""
    return is_ours(Path(folder), EXPORTED)


def load_exported(folder: PathLike[str] | str, *, threads: int | None = None) -> Any:
    """Load a folder that `headwise export` wrote, ready to predict: an `ExportedModel`, which has the
    methods of the model that it was (`predict`, `predict_proba`) and its `labels`.

    Args:
        folder: What was exported.
        threads: How many compute; None for as many as OMP_NUM_THREADS says, else the processor's cores.

    Raises:
        StoreError: It is no such folder, or damaged; see there.
        ExportError: HW951 onnxruntime is not installed, HW956 it cannot run the network.
    """
    files = Folder(folder, EXPORTED)
    where = files.name(CONFIG)
    settings = Settings.of(get(files.json(CONFIG), "model", dict, where), where)
    kind = _kind(settings, where)
    vocabulary = read_vocabulary(files, Vocabulary.from_json)
    said = files.json(LABELS)
    try:
        outputs = kind.read_outputs(said)
    except OutputsError as error:
        raise StoreError(f"{files.name(LABELS)}: {error.args[0]}", code="HW507") from error
    count = len(outputs.get("labels", "."))  # a number is one
    reader, expert = _tables(files, settings, vocabulary, kind, count)
    runner = _runner(files, settings, reader, threads, pairs=kind.PAIRS)
    base = reader if isinstance(reader, BaseReader) else None
    model: ExportedModel = kind(settings, vocabulary, runner, base, expert, count)
    for name, value in {**outputs, **read_factors(files, kind, outputs.get("labels"))}.items():
        setattr(model, name, tuple(value) if name == "labels" else value)
    return model


def exported_info(folder: PathLike[str] | str) -> dict[str, Any]:
    """What an exported folder keeps of what its model's folder says: `training`, the columns that it was
    trained on, and `metrics`, how sure it has to be."""
    files = Folder(folder, EXPORTED)
    return {name.removesuffix(".json"): files.json(name) for name in (TRAINING, METRICS)}


def _kind(settings: Settings, where: str) -> Any:
    kind = KINDS.get(settings.task)
    found = None if kind is None else BY_KIND.get((type(kind), type(kind.answer)))
    if found is None:
        raise StoreError(f"{where}: no exported model does {settings.task!r:.40}", code="HW507")
    return found


def _tables(
    files: Folder, settings: Settings, vocabulary: Vocabulary, kind: Any, outputs: int
) -> tuple[WordReader | BaseReader, Expert | None]:
    """What looks words up, and the expert."""
    sizes, where = settings.base, files.name(CONFIG)
    listed, known = (), len(vocabulary)
    shapes: dict[str, Any] = {}
    if sizes.size:
        if sizes.size != settings.network.vectors or vocabulary.extra:
            raise StoreError(f"{where}: the network reads other vectors than the base's", code="HW507")
        listed = _listed(files)
        shapes |= {BASE_TABLES + name: own for name, own in base_shapes(len(listed), known, sizes).items()}
    else:
        shapes[f"{WORDS}vectors"] = np.float32, (known, settings.network.vectors)
    tables = expert_tables(settings.expert, outputs, settings.tokenizer, sets=kind.SETS, pairs=kind.PAIRS)
    if tables is not None:
        shapes |= {EXPERT + name: own for name, own in tables.shapes().items()}
    found = unpacked(files.content(TABLES), shapes, files.name(TABLES))
    if sizes.size:
        own = _of(found, BASE_TABLES)
        reader = BaseReader(base_of(own, listed), own.get("vectors"))
    else:
        reader = WordReader(found[f"{WORDS}vectors"])
    if tables is None:
        return reader, None
    own = _of(found, EXPERT)
    for problem in tables.misplaced(own):
        raise StoreError(f"{files.name(TABLES)}: {problem}", code="HW509")
    if tables.vectors not in (0, compared_size(sizes.size) - NUMBERS if kind.PAIRS else sizes.size):
        raise StoreError(f"{where}: an expert of other vectors than the base's", code="HW507")
    return reader, Expert(tables.model(own), tables.vectors)


def _of(tables: Mapping[str, np.ndarray], part: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(part): own for name, own in tables.items() if name.startswith(part)}


def _listed(files: Folder) -> tuple[str, ...]:
    """The words of the base."""
    match files.json(BASE):
        case {"words": list(words)} if all(isinstance(word, str) for word in words):
            if len(set(words)) == len(words):
                return tuple(words)
    raise StoreError(f"{files.name(BASE)}: expected a list of different words", code="HW507")


def _runner(
    files: Folder,
    settings: Settings,
    reader: WordReader | BaseReader,
    threads: int | None,
    *,
    pairs: bool,
) -> Runner:
    """The graphs, once their files are seen to be those that were saved."""
    network = settings.network
    given = ("tokens", *(("summary",) if network.summary else ()), "lengths")
    based = isinstance(reader, BaseReader)
    if pairs:
        given = (
            *(f"{name}_{side}" for name in given for side in (1, 2)),
            *(("compared",) if based else ()),
        )
    else:
        given = (*given, "vectors", "weights")
    encoder, readout = (
        Session(files.content(name), inputs, count, files.name(name), threads)
        for name, inputs, count in (
            (ENCODER, ("vectors", "lengths"), 1 + network.summary),
            (READOUT, given, 1),
        )
    )
    return Runner(encoder, readout, network, settings.windows, reader)
