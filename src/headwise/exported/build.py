"""Builder: makes an exported model from the files of its folder, and checks them against each other."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headwise.errors import HeadwiseError
from headwise.exported.models import ExportedModel
from headwise.exported.runner import Runner
from headwise.exported.session import Session
from headwise.exported.settings import Settings
from headwise.exported.spelling import SPELLING_READS, SpelledReader, SpellingReader
from headwise.exported.tables import BASE as BASE_TABLES
from headwise.exported.tables import (
    CHAIN,
    EXPERT,
    WORDS,
    Expert,
    base_of,
    base_shapes,
    expert_tables,
    unpacked,
)
from headwise.exported.tagger import Chain, ExportedTagger, chain_shapes
from headwise.exported.vectors import BaseReader, WordReader
from headwise.features.vocabulary import Vocabulary
from headwise.linear.pair_features import NUMBERS, compared_size
from headwise.linear.tag_tables import TagTables
from headwise.store.errors import StoreError
from headwise.store.folder import Folder
from headwise.store.layout import BASE, CONFIG, ENCODER, LABELS, READOUT, SPELLING, TABLES


class Builder:
    """Builds models from a folder.

    Args:
        files: The folder.
        settings: Settings of the model.
        vocabulary: Its word vocabulary.
        threads: Number of threads; see `load_exported`.
    """

    def __init__(self, files: Folder, settings: Settings, vocabulary: Vocabulary, threads: int | None):
        self.files, self.settings, self.vocabulary, self.threads = files, settings, vocabulary, threads

    def build(self, kind: Any, outputs: Mapping[str, Any]) -> ExportedModel | ExportedTagger:
        """Build a model without the factors that were fitted after training (temperature, thresholds).

        Args:
            kind: Class of the model.
            outputs: Result of its `read_outputs`.

        Raises:
            StoreError: The files contradict each other.
            ExportError: As `Session`.
        """
        return self._tagger(outputs) if kind is ExportedTagger else self._model(kind, outputs)

    def _model(self, kind: Any, outputs: Mapping[str, Any]) -> ExportedModel:
        settings, size = self.settings, self.settings.base.size
        count = len(outputs.get("labels", "."))  # a number is one
        tables = expert_tables(settings.expert, count, settings.tokenizer, sets=kind.SETS, pairs=kind.PAIRS)
        reader, linear, _ = self._tables(tables, {})
        expert = None if tables is None else Expert(linear, tables.vectors)
        if expert and expert.vectors not in (0, compared_size(size) - NUMBERS if kind.PAIRS else size):
            raise self._bad(CONFIG, "an expert of other vectors than the base's")
        base = reader if isinstance(reader, BaseReader) else None
        read = ("tokens", *(("summary",) if settings.network.summary else ()), "lengths")
        if kind.PAIRS:
            read = tuple(f"{name}_{side}" for name in read for side in (1, 2))
            read = (*read, "compared") if base else read
        else:
            read = *read, "vectors", "weights"
        model = kind(settings, self.vocabulary, self._runner(reader, read), base, expert, count)
        for name, value in outputs.items():
            setattr(model, name, tuple(value) if name == "labels" else value)
        return model

    def _tagger(self, outputs: Mapping[str, Any]) -> ExportedTagger:
        tags, characters = tuple(outputs["tags"]), self.settings.characters
        sizes = self.settings.expert
        tables = TagTables(sizes.features, tags, sizes.grouped) if sizes.features else None
        shapes = chain_shapes(len(tags)) if self.settings.tags.crf else {}
        chain = {name: (np.float32, shape) for name, shape in shapes.items()}
        reader, expert, tables_read = self._tables(tables, chain)
        spelling = None
        if characters.size:
            graph = self._session(SPELLING, SPELLING_READS, 1)
            if graph.widths != [characters.size]:
                raise self._bad(
                    CONFIG,
                    f"{characters.size} features of the spelling, but its graph gives {graph.widths[0]}",
                )
            spelling = SpellingReader(graph, characters, outputs["alphabet"])
        runner = self._runner(SpelledReader(reader, spelling), ("tokens",))
        prepare = reader.prepare if isinstance(reader, BaseReader) else None
        try:
            parts = (expert, Chain.of(tables_read, len(tags)), outputs)
            return ExportedTagger(self.settings, self.vocabulary, runner, prepare, *parts)
        except (HeadwiseError, ValueError) as error:
            raise self._bad(LABELS, error.args[0]) from error

    def _tables(
        self, expert: Any, chain: Mapping[str, Any]
    ) -> tuple[WordReader | BaseReader, Any, dict[str, np.ndarray]]:
        """The word vectors, the linear model, and the tables of a tagger's CRF.

        Args:
            expert: Sizes and meaning of the tables of the linear model; None without one.
            chain: Types and shapes of the tables of the CRF.
        """
        sizes, word_count = self.settings.base, len(self.vocabulary)
        listed = ()
        shapes: dict[str, Any] = {CHAIN + name: shape for name, shape in chain.items()}
        if sizes.size:
            if sizes.size != self.settings.network.vectors or self.vocabulary.extra:
                raise self._bad(CONFIG, "the network reads other vectors than the base's")
            listed = self._listed()
            table_shapes = base_shapes(len(listed), word_count, sizes)
            shapes |= {BASE_TABLES + name: shape for name, shape in table_shapes.items()}
        else:
            shapes[f"{WORDS}vectors"] = np.float32, (word_count, self.settings.network.vectors)
        if expert is not None:
            shapes |= {EXPERT + name: shape for name, shape in expert.shapes().items()}
        tables = unpacked(self.files.content(TABLES), shapes, self.files.name(TABLES))
        if sizes.size:
            selected = _of(tables, BASE_TABLES)
            reader = BaseReader(base_of(selected, listed), selected.get("vectors"))
        else:
            reader = WordReader(tables[f"{WORDS}vectors"])
        linear = None
        if expert is not None:
            selected = _of(tables, EXPERT)
            for problem in expert.misplaced(selected):
                raise self._bad(TABLES, problem, "HW509")
            linear = expert.model(selected)
        return reader, linear, _of(tables, CHAIN)

    def _listed(self) -> tuple[str, ...]:
        """The words of the base."""
        match self.files.json(BASE):
            case {"words": list(words)} if all(isinstance(word, str) for word in words):
                if len(set(words)) == len(words):
                    return tuple(words)
        raise self._bad(BASE, "expected a list of different words")

    def _runner(self, reader: WordReader | BaseReader | SpelledReader, read: tuple[str, ...]) -> Runner:
        """The two graphs; the second one reads `read`."""
        network = self.settings.network
        encoder = self._session(ENCODER, ("vectors", "lengths"), 1 + network.summary)
        return Runner(encoder, self._session(READOUT, read, 1), network, self.settings.windows, reader)

    def _session(self, name: str, inputs: tuple[str, ...], outputs: int) -> Session:
        """Load a graph, after a check of its file's hash."""
        return Session(self.files.content(name), inputs, outputs, self.files.name(name), self.threads)

    def _bad(self, name: str, problem: str, code: str = "HW507") -> StoreError:
        return StoreError(f"{self.files.name(name)}: {problem}", code=code)


def _of(tables: Mapping[str, np.ndarray], part: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(part): table for name, table in tables.items() if name.startswith(part)}
