"""From settings and data to a planned training run.

`resolve(settings)` gives a `TrainingRequest`; with data it gives a `TrainingPlan`; a plan is fitted.
Estimators, searches, learning curves and `headwise.app.workflows.train.TrainingJob` all start so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwise.app.configuration import Sections, build_config
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.training_plan import InMemoryData, RunData, TrainingFiles, TrainingPlan
from headwise.artifacts import read_info
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import MANIFEST
from headwise.core.tokenizer import get_tokenizer
from headwise.data.files.file_lists import Files, first_path
from headwise.data.files.fingerprint import file_sha256
from headwise.data.findings import abbreviate
from headwise.data.items.item_types import infer_task
from headwise.data.items.labels import training_spellings
from headwise.data.items.parses import NO_PARSES, ParseReader
from headwise.data.items.word_limits import NO_LIMIT, WordLimit
from headwise.data.splits.data_parts import DataParts, read_parts
from headwise.data.splits.repeated_items import RepeatedItems
from headwise.models.tasks import find_task, find_task_settings
from headwise.models.tasks.task import Task
from headwise.models.tasks.task_settings import Settings, teacher_settings
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.text.parse_files import read_parses, read_phrase_parses
from headwise.text.static_embeddings.base_choice import AUTO, NONE, check_single_vector_source, choose_base
from headwise.text.static_embeddings.base_vectors import StaticEmbeddings
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import WordVectors
from headwise.training.settings import RunConfig

if TYPE_CHECKING:
    from headwise.training.warm_start import PreviousModel


class SettingsSources:
    """A cache of word vectors and static embeddings (bases) for one data set, so that repeated plans read
    each of them once.

    Args:
        parts: The data.

    Attributes:
        vectors: The word vectors of a file, see `load_vectors`.
        base: The base of a name, for the training texts cut by a tokenizer; and a note, see `choose_base`.
    """

    def __init__(self, parts: DataParts):
        self.parts = parts
        self.vectors: Callable[[str], WordVectors] = cache(load_vectors)
        self.base: Callable[[str, str], tuple[StaticEmbeddings | None, str]] = cache(self._base)

    def _base(self, name: str, tokenizer: str) -> tuple[StaticEmbeddings | None, str]:
        """The base for the tokens of the training texts, and a note; see `choose_base`."""
        cut, item_type = get_tokenizer(tokenizer).words, self.parts.item_type
        return choose_base(
            name, (words for item in self.parts.train for words in item_type.words(item, cut))
        )


@dataclass(frozen=True)
class _PlannedBase:
    """The base of a training run.

    Attributes:
        section: The section `base` of the settings; its name is empty without a base.
        encoder: Settings of the encoder that suits the base; empty for those by the number of items.
        clusters: Whether the base lists clusters of words.
        note: A note on the choice, if there is one.
    """

    section: JsonObject = field(default_factory=lambda: {"name": ""})
    encoder: dict[str, JsonObject] = field(default_factory=dict)
    clusters: bool = False
    note: str = ""


@dataclass(frozen=True)
class TrainingRequest:
    """The user's settings, before the data are read.

    Attributes:
        layers: Sections of settings; later layers override earlier ones.
        run_config: These settings over the defaults of any data: enough to read the data.
        task: The task.
        previous_model: A model to start from (warm start); its settings are the first layer.
    """

    layers: tuple[Sections, ...]
    run_config: RunConfig
    task: Task
    previous_model: "PreviousModel | None" = None

    def read(self, files: TrainingFiles) -> RunData:
        """The data of files; see `headwise.data.splits.data_parts.read_parts`.

        Raises:
            HeadwiseError: The settings do not fit the task, or a file cannot be read.
        """
        self.task.check(self.run_config)
        item_type, run_config = self.task.item_type_for(self.run_config.model), self.run_config
        if files.parses != NO_PARSES and not item_type.sides:
            raise item_type.no_parses_error()
        cut = get_tokenizer(run_config.model.words.tokenizer).words
        reader = ParseReader(cut, read_parses, read_phrase_parses)
        paths = files.train, files.dev, files.test
        return RunData(
            read_parts(
                item_type,
                *paths,
                run_config.data,
                run_config.split,
                files.parses,
                reader,
                unknown_label=run_config.model.unknown.label,
            )
        )

    def split(
        self, items: Sequence[object], dev: Sequence[object] | None = None, labels: Sequence[str] = ()
    ) -> RunData:
        """The data of items in memory; without `dev`, dev items are split off.

        Args:
            items: Training items of the task, with labels.
            dev: Items that select the best epoch.
            labels: All labels, if there may be more than the items have.
        """
        self.task.check(self.run_config)
        item_type, split = self.task.item_type_for(self.run_config.model), self.run_config.split
        rule = split.repeated_texts
        items = RepeatedItems.of(item_type, items, rule).taken_from(items)
        if dev is not None:
            dev = RepeatedItems.of(item_type, dev, rule).taken_from(dev)
        outside: dict[str, Sequence[Any]] = {}
        if unknown := self.run_config.model.unknown.label:
            every = {"train": items, "dev": dev or ()}
            outside = {
                name: [item for item in part if unknown in item.labels] for name, part in every.items()
            }
            items, held = ([item for item in part if unknown not in item.labels] for part in every.values())
            dev, labels = dev and held, [label for label in labels if label != unknown]
            if not any(outside.values()):
                many = item_type.nouns.many
                raise ConfigError(f"no {item_type.nouns.one} has the label {unknown!r} of unknown {many}")
        files = {"train": InMemoryData([*items, *(dev or ())], labels)} if labels else {}
        if dev is not None:
            files["dev"] = InMemoryData(dev, labels)
        else:
            cut = item_type.split(items, split.dev, seed=split.seed)
            items, dev = cut.train, cut.dev
        return RunData(DataParts(item_type, items, dev, [], files=files, out_of_scope=outside))

    def plan(
        self, data: RunData, *, sources: SettingsSources | None = None, reporter: Reporter = NULL_REPORTER
    ) -> TrainingPlan:
        """The plan of a run on these data: default settings for them, overridden by the requested ones.

        Args:
            data: The data.
            sources: A cache, for repeated plans on the same data.
            reporter: Receives messages on the warm start and on ignored settings.

        Raises:
            ConfigError: The settings fit neither each other nor the previous model.
        """
        parts, previous = data.parts, self.previous_model
        _check_tabular_columns(data, previous)
        if previous is not None:
            previous = previous.for_parts(parts)
            _report_warm_start(previous, parts, reporter)
        reporter.notes(_ignored_settings(self.run_config, data))
        layers = self.layers
        if data.distillation is not None:
            gold_texts = len(data.gold_parts.train)
            layers = (teacher_settings(gold_texts, gold_texts + len(data.distillation.texts)), *layers)
        sources = sources or SettingsSources(parts)
        vectors_file = self.run_config.vectors.file
        vectors = sources.vectors(vectors_file) if vectors_file else None
        base = self._plan_base(layers, data, sources)
        defaults = self._defaults(len(parts.train), vectors, base)
        base_layer = {"base": base.section} if "base" in self.run_config.sections else {}
        run_config = build_config(defaults, base.encoder, self.task.suggested(parts), *layers, base_layer)
        if previous is not None:
            previous.check(run_config)
            run_config = replace(run_config, init_from=previous)
        limit = _word_limit(run_config, data)
        return TrainingPlan(self.task, data, run_config, vectors, base.note, limit)

    def _plan_base(
        self, layers: Sequence[Sections], data: RunData, sources: SettingsSources
    ) -> _PlannedBase:
        """The base that is requested, or that suits the words of the data."""
        name = self.base_name(find_task_settings(self.task.name).uses_embeddings)
        if name == NONE:
            return _PlannedBase()
        base, note = sources.base(name, self.run_config.model.words.tokenizer)
        if base is None:
            return _PlannedBase(note=note)
        encoder = self._encoder_with_base(base, layers, data)
        section = {
            "name": base.name if name == AUTO else name,
            "size": base.size,
            "subwords": len(base.subwords),
            "encoder": encoder.get("base", {}).get("encoder", "off"),
        }
        if section["encoder"] == "on":
            note = f"{note}; starts from its encoder (--base.encoder off: without)"
        return _PlannedBase(section, encoder, base.groups is not None, note)

    def _defaults(self, items: int, vectors: WordVectors | None, base: _PlannedBase) -> Settings:
        """The default settings for a number of training items."""
        task_settings, previous = find_task_settings(self.task.name), self.previous_model
        encoder = self.run_config.model.encoder
        learnt = vectors is not None or (previous is not None and previous.has_no_task)
        if base.encoder:
            learnt = False
            encoder = build_config({"encoder": base.encoder.get("encoder", {})}).model.encoder
        defaults = task_settings.defaults(items, vectors=learnt, encoder=encoder_name(encoder))
        if vectors is not None:
            defaults["words"]["vector_size"] = vectors.size
        if not base.section["name"]:
            return defaults
        settings = task_settings.defaults_with_base(defaults, items)
        if not base.clusters and "characters" in settings:
            settings["characters"]["clusters"] = 0
        return settings

    def _encoder_with_base(
        self, base: StaticEmbeddings, layers: Sequence[Sections], data: RunData
    ) -> dict[str, JsonObject]:
        """Settings of the encoder that suits a base, if the user names none: that of the base where it
        suits the data or is requested.

        Raises:
            ConfigError: The encoder of the base is requested, but there is none.
        """
        requested = self.run_config.model.base.encoder
        pretrained = {
            self.task.head_section if name == "classifier" else name: settings
            for name, settings in base.encoder.items()
        }
        if requested == "on":
            if not pretrained or not self.task.supports_base_encoder:
                reason = "the task " + self.task.name if pretrained else f"the base {base.name}"
                raise ConfigError(f"base.encoder: {reason} has no pretrained encoder; leave that out")
            return {**pretrained, "base": {"encoder": "on"}}
        if any(layer.get("encoder") for layer in layers):
            return {}
        changed = any(
            settings.keys() & layer.get(name, {}).keys()
            for layer in layers
            for name, settings in pretrained.items()
        )
        if changed or requested == "off":
            pretrained = {}
        taught = len(data.parts.train) - len(data.gold_parts.train)
        return self.task.encoder_with_base(data.parts, pretrained, taught)

    def base_name(self, by_default: bool) -> str:
        """The name of the requested base; NONE without one.

        Raises:
            ConfigError: Word vectors or a pretrained encoder are requested, too.
        """
        if "base" not in self.run_config.sections:
            return NONE
        name = self.run_config.model.base.name
        alternatives = self.run_config.vectors.file, self.run_config.model.pretrained.name
        if name in ("", AUTO):
            return NONE if any(alternatives) or not (by_default or name == AUTO) else AUTO
        if name != NONE:
            check_single_vector_source(*alternatives)
        return name


def _check_tabular_columns(data: RunData, previous: "PreviousModel | None") -> None:
    """Check that the settings can be combined with further columns.

    Raises:
        ConfigError: A warm start, or a teacher.
    """
    if not any(getattr(item, "tabular", None) for item in data.gold_parts.train[:1]):
        return
    if previous is not None:
        raise ConfigError(
            "--features: a model with columns beside the text cannot start from another model; leave out "
            "--base MODEL or --features"
        )
    if data.distillation is not None:
        raise ConfigError(
            "--features: a teacher labels texts without the columns beside them; leave out --teacher or "
            "--features"
        )


def resolve(
    settings: Sequence[Sections] | Sections = (),
    file: Files | None = None,
    *,
    warm_start: bool = True,
    reporter: Reporter = NULL_REPORTER,
) -> TrainingRequest:
    """Resolve the user's settings.

    Args:
        settings: Sections of settings, as in a recipe; or several, of which later ones override earlier
            ones.
        file: The training file, which the task is inferred from if the settings do not name it.
        warm_start: Whether the name of a base may be a model folder, to start from that model.
        reporter: Receives a note on the inferred task.

    Raises:
        ConfigError: A setting is invalid.
        StoreError: The model to start from cannot be loaded.
    """
    layers = (settings,) if isinstance(settings, Mapping) else tuple(settings)
    if file is not None:
        layers, note = with_task(first_path(file), layers)
        reporter.notes([note] if note else [])
    previous, layers = _split_init_from(layers) if warm_start else (None, layers)
    run_config = build_config(*layers)
    if previous is not None:
        previous.check_task(run_config)
        fitting = {"model", *run_config.sections}
        layers = ({name: of for name, of in previous.settings().items() if name in fitting}, *layers)
        run_config = build_config(*layers)
    return TrainingRequest(layers, run_config, find_task(run_config.model.task), previous)


def with_task(file: str, layers: Sequence[Sections]) -> tuple[tuple[Sections, ...], str]:
    """Layers of settings that name the task, which is inferred from the file if none does; and a note on
    that."""
    if any("task" in layer.get("model", {}) for layer in layers):
        return tuple(layers), ""
    reading = {name: value for layer in layers for name, value in layer.get("data", {}).items()}
    inferred, why = infer_task(file, reading)
    note = f"task {inferred} guessed from the file ({why}) - override with --task" if why else ""
    return ({"model": {"task": inferred}}, *layers), note


def _word_limit(run_config: RunConfig, data: RunData) -> WordLimit:
    """The limit on the words of a text in this run; no limit if long texts are an error."""
    windows = run_config.model.windows
    if "windows" not in run_config.sections or windows.long == "error":
        return NO_LIMIT
    tokenizer = get_tokenizer(run_config.model.words.tokenizer)
    return WordLimit.of(data.gold_parts, tokenizer, windows.most_words, run_config.train.batch_tokens)


def _split_init_from(layers: tuple[Sections, ...]) -> "tuple[PreviousModel | None, tuple[Sections, ...]]":
    """The previous model that the settings name as base, if they name one, and the settings without its
    name.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: Training cannot start from such models.
    """
    names = [base["name"] for layer in layers if "name" in (base := layer.get("base", {}))]
    if not names or not (Path(names[-1]) / MANIFEST).is_file():
        return None, layers
    from headwise.artifacts import load_model  # with it comes torch
    from headwise.training.warm_start import PreviousModel

    folder = Path(names[-1])
    previous = PreviousModel(names[-1], load_model(folder), file_sha256(folder / MANIFEST))
    if not previous.has_no_task:
        previous = replace(previous, training_fingerprint=read_info(folder).data.training_fingerprint)
    base = ({k: v for k, v in layer.get("base", {}).items() if k != "name"} for layer in layers)
    return previous, tuple({**layer, "base": section} for layer, section in zip(layers, base, strict=True))


def _report_warm_start(previous: "PreviousModel", parts: DataParts, reporter: Reporter) -> None:
    reporter.note(previous.message())
    labels = parts.files["train"].labels if "train" in parts.files else ()
    if names := training_spellings(labels, getattr(previous.model, "labels", ())):
        shown = abbreviate([f"{label!r} ({their_label!r} there)" for label, their_label in names.items()])
        reporter.warn(
            f"numbers as labels that {previous.name} spells otherwise are new labels to it: "
            f"{shown}; write them the same way to reuse what it has learned of them"
        )


def _ignored_settings(run_config: RunConfig, data: RunData) -> Iterator[str]:
    """Notes on the user's settings that have no effect on these data."""
    has_dev = "dev" in data.parts.files
    if run_config.train.folds and (has_dev or data.distillation is not None):
        why = "dev texts are given" if has_dev else "there is a teacher"
        yield f"folds {run_config.train.folds}: not used, as {why}; dev chooses"
    if run_config.train.refit and has_dev:
        yield "refit: not used, as dev texts are given; they choose, and are not trained on"
