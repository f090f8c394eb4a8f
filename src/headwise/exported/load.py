"""Loading of an exported model: without torch, and without running any code of its folder but the
graphs."""

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
    """Whether a folder holds an exported model of any version, possibly an incomplete one."""
    return is_ours(Path(folder), EXPORTED)


def load_exported(folder: PathLike[str] | str, *, threads: int | None = None) -> Any:
    """Load an exported model, an `ExportedModel` or an `ExportedTagger`. It has the prediction methods of
    the original (`predict`, and `predict_proba` for labels) and its `labels`.

    Args:
        folder: The exported folder.
        threads: Number of threads; None for OMP_NUM_THREADS, else the number of processor cores.

    Raises:
        StoreError: It is no such folder, or damaged; see there.
        ExportError: HW951 onnxruntime is not installed, HW956 it cannot run the network.
    """
    files = Folder(folder, EXPORTED)
    where = files.name(CONFIG)
    settings = Settings.of(get(files.json(CONFIG), "model", dict, where), where)
    kind = _kind(settings, where)
    vocabulary = read_vocabulary(files, Vocabulary.from_json)
    labels = files.json(LABELS)
    try:
        outputs = kind.read_outputs(labels)
    except OutputsError as error:
        raise StoreError(f"{files.name(LABELS)}: {error.args[0]}", code="HW507") from error
    model = Builder(files, settings, vocabulary, threads).build(kind, outputs)
    for name, value in read_factors(files, kind, outputs.get("labels")).items():
        setattr(model, name, value)
    return model


def exported_info(folder: PathLike[str] | str) -> dict[str, Any]:
    """The metadata of an exported folder: `training` has the columns that the model was trained on,
    `metrics` the scores that selective prediction needs."""
    files = Folder(folder, EXPORTED)
    return {name.removesuffix(".json"): files.json(name) for name in (TRAINING, METRICS)}


def _kind(settings: Settings, where: str) -> Any:
    kind = KINDS.get(settings.task)
    model_class = None if kind is None else BY_KIND.get((type(kind), type(kind.answer)))
    if model_class is None:
        raise StoreError(f"{where}: no exported model does {settings.task!r:.40}", code="HW507")
    return model_class
