"""The distillation set: labelled texts, and unlabelled texts with a teacher's soft labels."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from headwise.app.reporter import ProgressCallback
from headwise.app.teachers import (
    BaseSentenceEncoder,
    EncoderTeacher,
    LabelFileTeacher,
    ModelTeacher,
    Teacher,
)
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.core.activations import softmax
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.columns.reading_options import ReadOptions, SoftLabelOptions
from headwise.data.files.compression import plain_name
from headwise.data.files.fingerprint import hash_fields
from headwise.data.findings import abbreviate
from headwise.data.items.examples import Example
from headwise.data.items.labels import SoftLabel, all_labels
from headwise.data.readers.labelled_files import read_rows
from headwise.data.splits.contamination import ComparedKeys, PartOverlap, fingerprint_overlaps
from headwise.data.splits.data_parts import DataParts
from headwise.data.splits.text_signatures import normal_text
from headwise.text.static_embeddings.base_choice import AUTO, NONE, choose_base
from headwise.text.static_embeddings.base_encoder import BASE_ENCODER_LABELS
from headwise.training.fit import merge_dev_into_train
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.settings import DistillationConfig

_FILES = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".xlsx", ".parquet")
"""Endings that no encoder's name has."""
_TIMED = 256  # number of texts for the speed measurement
_NEAR_DUPLICATES = "too similar to dev or test texts"


@dataclass(frozen=True)
class DistillationSettings:
    """Distillation settings: the teacher and the unlabelled texts.

    Attributes:
        teacher: A sentence encoder (name on the Hugging Face hub, or folder), a headwise model folder, or a
            file of labelled texts.
        unlabelled: A file of texts; None for the texts of the teacher's file.
        config: See `DistillationConfig`.
    """

    teacher: str
    unlabelled: str | None = None
    config: DistillationConfig = field(default_factory=DistillationConfig)


class DistillationSet:
    """Data splits with a training part extended by texts that a teacher labels.

    Args:
        settings: The distillation settings.
        parts: The splits labelled by people.
        work: Folder that caches the vectors of an encoder.
        reading: Reading options of the labelled file; the other files have the same encoding.
        base: The base whose encoder a sentence encoder has beside it, as `choose_base` takes it.
        seed: Seed of the sample of unlabelled texts.
        report: Called with the progress of encoding.

    Attributes:
        gold_parts: The splits labelled by people.
        notes: Messages for the user.
        teacher: The teacher.

    Raises:
        HeadwiseError: The teacher or the texts cannot be used.
    """

    def __init__(
        self,
        settings: DistillationSettings,
        parts: DataParts,
        work: Path,
        *,
        reading: SoftLabelOptions,
        base: str = NONE,
        seed: int = 0,
        report: ProgressCallback = lambda _done, _total: None,
    ):
        if not parts.item_type.is_text_classification:
            raise ConfigError("--teacher: only classifiers of texts (--task classify) learn from a teacher")
        self.config, self.gold_parts, self.notes = settings.config, parts, list[str]()
        decoding: JsonObject = {"encoding": reading.encoding, "encoding_errors": reading.encoding_errors}
        soft_options: JsonObject = decoding | {"empty_labels": reading.empty_labels}
        self.teacher: Teacher = self._make_teacher(
            settings, work, SoftLabelOptions(**soft_options), report, base
        )
        texts = self._texts(settings, seed, decoding)
        self.texts = self._new(texts, parts, settings.unlabelled or settings.teacher)

    def _make_teacher(
        self,
        settings: DistillationSettings,
        work: Path,
        options: SoftLabelOptions,
        report: ProgressCallback,
        base: str,
    ) -> Teacher:
        path, config = Path(settings.teacher), settings.config
        if path.is_file() or plain_name(path.name).endswith(_FILES):
            return LabelFileTeacher(path, options)
        if path.is_dir() and is_headwise_folder(path):
            return ModelTeacher(path)
        encoder = TeacherConfig(settings.teacher, revision=config.revision, max_pieces=config.max_pieces)
        base_encoder = self._base_sentence_encoder(base)
        return EncoderTeacher(encoder, base_encoder, linear=config.linear, work=work, report=report)

    def _base_sentence_encoder(self, name: str) -> BaseSentenceEncoder | None:
        """The encoder of a base, as `choose_base` takes it, where it suits the labels."""
        train = self.gold_parts.train
        if len(all_labels(train)) > BASE_ENCODER_LABELS:
            return None
        base, _ = choose_base(name, (get_tokenizer("penn").words(item.text) for item in train))
        if base is None or not base.encoder:
            return None
        self.notes.append(f"the teacher reads the sentence vectors of the base {base.name}, too")
        return BaseSentenceEncoder(base.name if name == AUTO else name, base)

    def _texts(self, settings: DistillationSettings, seed: int, decoding: JsonMapping) -> list[str]:
        self.notes += [f"teacher: {note}" for note in self.teacher.notes]
        if settings.unlabelled is not None:
            options = ReadOptions(text_column=settings.config.column, **decoding)
            rows = read_rows(settings.unlabelled, options)
            self.notes += [f"unlabelled: {note}" for note in rows.notes]
            texts = (row.item.text for row in rows)
        elif self.teacher.texts is not None:
            texts = self.teacher.texts
        else:
            raise ConfigError(f"--teacher {settings.teacher}: give texts to label with --unlabelled")
        drawn, total = sample_texts(texts, settings.config.most, seed)
        if len(drawn) < total:
            self.notes.append(
                f"a random sample of {len(drawn):,} of {total:,} texts, limited by --teach.most"
            )
        return drawn

    def _new(self, texts: Sequence[str], parts: DataParts, file: str) -> list[str]:
        """The unlabelled texts to use: distinct texts that are in no split and that the teacher can label.
        Near-duplicates of dev and test texts are left out too, as they would make scores optimistic."""
        labelled = {normal_text(item.text) for part in parts.named.values() for item in part}
        out = {"labelled too": 0, _NEAR_DUPLICATES: 0, "repeated or empty": 0, "unknown to the teacher": 0}
        unlabelled: dict[str, str] = {}
        for text, knows in zip(texts, self.teacher.can_label(texts), strict=True):
            key = normal_text(text)
            if not key or key in unlabelled:
                out["repeated or empty"] += 1
            elif key in labelled:
                out["labelled too"] += 1
            elif not knows:
                out["unknown to the teacher"] += 1
            else:
                unlabelled[key] = text
        keys, held_out, sides = list(unlabelled), (*parts.dev, *parts.test), parts.item_type.sides
        source = ComparedKeys.of(lambda: (normal_text(item.text) for item in held_out), sides)
        _, is_near = ComparedKeys.of(lambda: keys, sides).shared_with(source)
        near_duplicates = np.flatnonzero(is_near).tolist()
        for number in near_duplicates:
            del unlabelled[keys[number]]
        out[_NEAR_DUPLICATES] = len(near_duplicates)
        left = ", ".join(f"{count:,} {what}" for what, count in out.items() if count)
        summary = f"{len(unlabelled):,} unlabelled texts from {file}" + (
            f"; left out: {left}" if left else ""
        )
        if not unlabelled:
            raise HeadwiseError(f"there are {summary}; give texts that are not labelled yet", code="HW411")
        self.notes.append(summary)
        return list(unlabelled.values())

    def identity(self) -> dict[str, str | float]:
        """The identity of the distillation set: hashes of its texts and teacher, and its settings."""
        prints = {name: fingerprint.sha256 for name, fingerprint in self.gold_parts.fingerprints().items()}
        sources = {"teacher": self.teacher.fingerprint, "unlabelled": hash_fields(self.texts)}
        settings = {name: getattr(self.config, name) for name in ("label_weight", "temperature", "linear")}
        return {**prints, **sources, **settings}

    def placeholder_parts(self) -> DataParts:
        """The result of `parts` with placeholder labels instead of the teacher's: enough to choose settings
        by, without running the teacher."""
        labels = self.gold_parts.labels
        shares = SoftLabel(labels, np.full(len(labels), 1 / len(labels), np.float32))
        texts = [Example(text, shares.likeliest, shares=shares) for text in self.texts]
        return replace(self.gold_parts, train=[*self.gold_parts.train, *texts])

    def parts(self, gold_parts: DataParts) -> DataParts:
        """The splits with the teacher's soft labels in the training part. The teacher is first fitted to
        the people's labels."""
        weight = self.config.label_weight
        train, dev = (
            [replace(item, weight=weight * item.weight) for item in part]
            for part in (gold_parts.train, gold_parts.dev)
        )
        self.labels = tuple(self.teacher.learn(gold_parts.train, gold_parts.labels))
        probabilities = sharpened(self.teacher.probabilities(self.texts), self.config.temperature)
        taught = []
        for text, row, weight in zip(
            self.texts, probabilities, self.teacher.weights(self.texts), strict=True
        ):
            shares = SoftLabel(self.labels, row)
            taught.append(Example(text, shares.likeliest, weight=weight, shares=shares))
        self._check(gold_parts, Counter(example.label for example in taught if example.label))
        return replace(gold_parts, train=[*train, *taught], dev=dev, labels=())

    def _check(self, gold_parts: DataParts, taught_labels: Counter[str]) -> None:
        """Compare the teacher's labels with the human ones. If only some are new, the model learns them; if
        all are, the teacher belongs to another task, or spells labels differently."""
        human_labels = [*all_labels([item for part in gold_parts.named.values() for item in part])]
        new = [repr(label) for label, _ in taught_labels.most_common() if label not in human_labels]
        if len(new) == len(taught_labels):
            raise ConfigError(
                f"--teacher: {self.teacher.name}: {abbreviate(new)}; expected labels that the labelled "
                f"texts have, such as {abbreviate([*map(repr, human_labels)])}"
            )
        note = f"labels that only the teacher gives, which the model learns too: {abbreviate(new)}"
        if new and note not in self.notes:  # with a refit, parts are made twice
            self.notes.append(note)

    def overlaps(self) -> tuple[PartOverlap, ...]:
        """Dev and test texts that the teacher was trained on, which make scores optimistic."""
        return fingerprint_overlaps(
            self.gold_parts.item_type,
            self.teacher.training_fingerprint,
            self.teacher.name,
            self.gold_parts.named,
        )

    def train_plus_dev(self) -> DataParts:
        """The data of the refit on training and dev items together."""
        return self.parts(merge_dev_into_train(self.gold_parts))

    def teacher_predictions(self, items: Sequence[Any], labels: Sequence[str]) -> np.ndarray | None:
        """The teacher's predicted label indices of items; None where it cannot label all of them."""
        texts = [item.text for item in items]
        if not self.teacher.can_label(texts).all():
            return None
        scores = np.zeros((len(texts), len(labels)), np.float32)
        columns = [labels.index(label) for label in self.labels]
        scores[:, columns] = self.teacher.probabilities(texts)
        return scores.argmax(axis=1)

    def speeds(self, model: Any, items: Sequence[Any]) -> dict[str, float] | None:
        """Measured speed of teacher and model in texts/s; None for a file."""
        if self.teacher.texts is not None:
            return None
        texts = [item.text for item in items] or self.texts
        return {
            "teacher": texts_per_second(
                lambda batch: self.teacher.probabilities(batch, keep=False), texts[:_TIMED]
            ),
            "model": texts_per_second(model.predict_proba, texts[: 16 * _TIMED]),
        }


def sample_texts(texts: Iterable[str], most: int, seed: int) -> tuple[list[str], int]:
    """A uniform sample of at most `most` texts of a stream, in order (0 = all), and the number of texts in
    the stream."""
    drawn: list[tuple[int, str]] = []
    choose, total = random.Random(seed), 0
    for number, text in enumerate(texts):
        total += 1
        if not most or number < most:
            drawn.append((number, text))
        elif (place := choose.randrange(number + 1)) < most:
            drawn[place] = (number, text)
    return [text for _, text in sorted(drawn)], total


def sharpened(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities `[texts, labels]` raised to the power 1 / temperature and renormalised."""
    if temperature == 1:
        return probabilities
    # In log space: with many labels, powers would underflow to 0.
    return softmax(np.log(np.maximum(probabilities, 1e-12)) / temperature, axis=1).astype(np.float32)


def texts_per_second(read: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """Speed in texts/s after a warm-up."""
    read(texts[:32])
    start = time.perf_counter()
    read(texts)
    return len(texts) / max(time.perf_counter() - start, 1e-9)
