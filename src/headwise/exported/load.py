"""Loading an exported folder: without torch, and without running anything but its graphs."""

from os import PathLike
from pathlib import Path
from typing import Any

from headwise.data.answers import Tags
from headwise.data.kinds import KINDS
from headwise.data.kinds.sentence import SentenceKind
from headwise.exported.build import Builder
from headwise.exported.models import BY_KIND as MODELS
from headwise.exported.settings import Settings
from headwise.exported.tagger import ExportedTagger
from headwise.features.vocabulary import Vocabulary
from headwise.models.answers.outputs import OutputsError
from headwise.store.errors import StoreError
from headwise.store.folder import Folder, get, is_ours, read_factors, read_vocabulary
from headwise.store.layout import CONFIG, EXPORTED, LABELS, METRICS, TRAINING

BY_KIND = {**MODELS, (SentenceKind, Tags): ExportedTagger}


def is_exported(folder: Path | str) -> bool:
    """Whether a folder holds an exported model, of any version and perhaps incomplete."""
    return is_ours(Path(folder), EXPORTED)


def load_exported(folder: PathLike[str] | str, *, threads: int | None = None) -> Any:
    """Load a folder that `headwise export` wrote, ready to predict: an `ExportedModel` or an
    `ExportedTagger`, which has the methods of the model that it was (`predict`, of labels and numbers
    `predict_proba`) and its `labels`.

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
    model = Builder(files, settings, vocabulary, threads).build(kind, outputs)
    for name, value in read_factors(files, kind, outputs.get("labels")).items():
        setattr(model, name, value)
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
