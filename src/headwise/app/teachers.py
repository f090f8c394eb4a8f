"""Teachers: the sources of soft labels for distillation.

`Teacher` is their interface. A teacher is a file of labels or label probabilities, a frozen sentence
encoder with a linear head, or a headwise classifier.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.app.reporter import ProgressCallback
from headwise.artifacts import load_model, read_info
from headwise.core.activations import softmax
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import MANIFEST
from headwise.data.columns.reading_options import SoftLabelOptions
from headwise.data.errors import NO_LABEL_CODES, DataError
from headwise.data.files.fingerprint import file_sha256
from headwise.data.items.item_types import DEFAULT_TASK, ITEM_TYPES_BY_TASK
from headwise.data.items.label_types import SINGLE_LABEL_TYPE
from headwise.data.items.labels import (
    all_labels,
    label_targets,
    rename_labels,
    soft_targets,
    training_spellings,
    training_weights,
)
from headwise.data.readers.labelled_files import read_examples
from headwise.data.splits.duplicates import first_in_group
from headwise.data.splits.text_signatures import normal_text
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.static_embeddings.base_vectors import StaticEmbeddings
from headwise.text.vocabulary import Vocabulary
from headwise.training.label_names import named_labels, names_are_predictive, with_names
from headwise.training.linear_probe import FOLDS, fit_linear_probe
from headwise.training.pretraining.base_config import TeacherConfig
from headwise.training.pretraining.sentence_encoder import SentenceEncoder, embed_with_teacher
from headwise.training.pretraining.work_folder import hash_of
from headwise.training.target_labels import target_labels


class Teacher(ABC):
    """A source of label probabilities for texts.

    Attributes:
        name: Display name.
        fingerprint: Hash of the teacher; teachers with the same hash give the same labels.
        notes: Messages for the user.
        texts: The texts that it can label; None if it labels any.
        training_fingerprint: Fingerprint of its training set
            (`headwise.data.splits.contamination.make_fingerprint`), if known.
    """

    name: str
    fingerprint: str
    notes: Sequence[str] = ()
    texts: Sequence[str] | None = None
    training_fingerprint: Any = None

    @abstractmethod
    def learn(self, items: Sequence[object], labels: Sequence[str]) -> Sequence[str]:
        """Fit the teacher to texts labelled by people, if it needs that.

        Args:
            items: The labelled examples.
            labels: All labels of these.

        Returns:
            The labels that the teacher predicts.
        """

    def can_label(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether it can label each text, `[texts]`."""
        return np.ones(len(texts), dtype=np.bool_)

    @abstractmethod
    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        """The label probabilities of texts, `[texts, labels]`.

        Args:
            texts: Texts that it can label.
            keep: Whether to cache results, as the same texts may be requested again in the same order.
        """

    def weights(self, texts: Sequence[str]) -> Sequence[float]:
        """Weights of texts that it can label."""
        return [1.0] * len(texts)


class LabelFileTeacher(Teacher):
    """A teacher that looks texts up in a file (see `headwise.data.columns.soft_label_columns`); for
    repeated texts, the first row counts.

    Args:
        file: Csv, tsv or jsonl file with one column of probabilities per label, or with labels and their
            confidence.
        options: Reading options.

    Raises:
        DataError: It cannot be read.
    """

    def __init__(self, file: Path, options: SoftLabelOptions):
        try:
            data = read_examples(file, options, answers=True)
        except DataError as error:
            if error.code not in NO_LABEL_CODES:
                raise
            raise DataError(
                error.code,
                error.problem,
                expected="a file of answers as teacher: texts with a label each (and how sure it is), or a "
                "column of probabilities a label",
                advice="texts to be labelled go to --unlabelled, and --teacher is what labels them: such a "
                "file, a sentence encoder or a model folder",
                path=error.path,
                line=error.line,
                column=error.column,
            ) from None
        self.name, self.notes = f"the answers in {file.name}", data.notes
        self.fingerprint = ITEM_TYPES_BY_TASK[DEFAULT_TASK].fingerprint(data.items).sha256
        self._items: JsonObject = {}
        for item in data.items:
            self._items.setdefault(normal_text(item.text), item)
        self.texts = [item.text for item in data.items]
        self._labels: Sequence[str] = ()

    def learn(self, items: Sequence[object], labels: Sequence[str]) -> Sequence[str]:
        names = training_spellings(all_labels([*self._items.values()]), labels)
        self._items = {text: rename_labels(item, names) for text, item in self._items.items()}
        self._labels = all_labels([*items, *self._items.values()])
        return self._labels

    def can_label(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([normal_text(text) in self._items for text in texts], dtype=np.bool_)

    def weights(self, texts: Sequence[str]) -> Sequence[float]:
        return [self._items[normal_text(text)].weight for text in texts]

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        items = [self._items[normal_text(text)] for text in texts]
        shares = soft_targets(items, self._labels)
        if shares is None:  # hard labels
            number = {label: n for n, label in enumerate(self._labels)}
            shares = np.zeros((len(items), len(self._labels)), np.float32)
            shares[range(len(items)), [number[item.label] for item in items]] = 1
        return shares


_TRIED = 64  # number of texts for the bfloat16 check
_SHARD = 1024  # texts per cache file


class BaseSentenceEncoder:
    """The sentence vectors of a base by its encoder: `M [v; h]` at length 1 (see
    `headwise.text.static_embeddings.base_encoder`).

    Args:
        name: Name or folder of the base.
        base: The base; it has an encoder.
    """

    def __init__(self, name: str, base: StaticEmbeddings):
        sections = {section: dict(values) for section, values in base.encoder.items()}
        readout = sections.pop("model")["readout"]
        of_base = {"name": name, "size": base.size, "subwords": len(base.subwords), "encoder": "on"}
        config = ModelConfig.from_json({"readout": readout, **sections, "base": of_base})
        self._model: Any = TextClassifierModel(config, Vocabulary.build([], min_count=1), ["0", "1"])
        encoder: Any = self._model.base_encoder
        self.fingerprint = hashlib.sha256(encoder.outputs.tobytes()).hexdigest()

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, `[texts, size]`."""
        model = self._model
        items = model.encoded(texts)
        vectors = model.base_encoder.sentence_vectors(model.base_vectors(items), model.head_states(items))
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


class EncoderTeacher(Teacher):
    """A frozen sentence encoder as teacher. Its head is a linear model of the vectors, words and character
    n-grams, whose weights cross-validation chooses (encoders know topics better than opinions), or a
    logistic regression on the vectors alone. The vectors may be those of the sentence encoder beside those
    of a base that has an encoder, which know other things.

    Args:
        config: The encoder.
        base_encoder: The encoder of a base beside it; None for the encoder alone.
        linear: Whether the head also reads words and character n-grams.
        work: Folder that caches its vectors.
        report: Receives the numbers of encoded and of all texts.

    Raises:
        PretrainedError: HW701 to HW706, the encoder cannot be loaded.
    """

    def __init__(
        self,
        config: TeacherConfig,
        base_encoder: BaseSentenceEncoder | None = None,
        *,
        linear: bool,
        work: Path,
        report: ProgressCallback,
    ):
        self.name = Path(config.name).name
        self._encoder, self._base_encoder, self._linear = SentenceEncoder(config), base_encoder, linear
        self.fingerprint = self._encoder.fingerprint
        if base_encoder is not None:
            self.fingerprint = hash_of(self.fingerprint, base_encoder.fingerprint)
        self._work, self._report, self._tried_bfloat16 = work, report, False

    def vectors(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        """The vectors of texts, `[texts, size]`; those of the sentence encoder are cached in the work
        folder if `keep`."""
        vectors = self._sentence_vectors(texts, keep=keep)
        if self._base_encoder is None:
            return vectors
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.hstack([vectors / lengths, self._base_encoder.vectors(texts)])

    def _sentence_vectors(self, texts: Sequence[str], *, keep: bool) -> NDArray[np.float32]:
        if not self._tried_bfloat16:
            self._encoder.try_bfloat16(list(texts[:_TRIED]))
            self._tried_bfloat16 = True
        if not keep:
            return self._encoder.read(texts).astype(np.float32)
        folder = self._work / f"answers-{hash_of(self._encoder.fingerprint, list(texts))}"
        return embed_with_teacher(self._encoder, texts, folder, self._report, size=_SHARD).astype(
            np.float32
        )

    def learn(self, items: Sequence[Any], labels: Sequence[str]) -> Sequence[str]:
        texts, classes = [item.text for item in items], len(labels)
        soft, weights = soft_targets(items, labels), training_weights(items)
        targets = label_targets(items, labels) if soft is None else soft
        counts = target_labels(SINGLE_LABEL_TYPE).counts(targets, weights, classes)
        vectors, names = self.vectors(texts), named_labels(labels, counts)
        of_names = self.vectors(list(names.values())) if names else vectors[:0]
        label_name_count = 0
        if names_are_predictive(SINGLE_LABEL_TYPE, of_names, vectors, targets, list(names)):
            texts, vectors = [*texts, *names.values()], np.vstack([vectors, of_names])
            label_name_count = len(names)
            targets, weights = with_names(SINGLE_LABEL_TYPE, targets, weights, list(names), classes)
        if self._linear:
            self._logits = fit_linear(
                LinearExamples(
                    texts,
                    targets,
                    classes,
                    dense=vectors,
                    sample_weight=weights,
                    label_name_count=label_name_count,
                )
            ).model.scores
        else:
            same = first_in_group(texts, FOLDS)
            matrix, bias = fit_linear_probe(
                vectors, targets, classes, weights=weights, same=same, label_name_count=label_name_count
            )
            self._logits = lambda _, vectors: vectors @ matrix.T + bias
        return labels

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        return softmax(self._logits(texts, self.vectors(texts, keep=keep)), axis=1)


_CHUNK = 4096


class ModelTeacher(Teacher):
    """A trained headwise classifier as teacher, used unchanged.

    Args:
        folder: The model folder.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: It is not a single-label text classifier.
    """

    def __init__(self, folder: Path):
        model = load_model(folder)
        if not isinstance(model, TextClassifierModel):
            task = model.config.task
            raise ConfigError(f"--teacher {folder}: a model of the task {task}, not a classifier of texts")
        self.model = model
        self.fingerprint = file_sha256(folder / MANIFEST)  # the manifest has the hashes of all files
        self.name = f"the model {folder.name}"
        self.training_fingerprint = read_info(folder).data.training_fingerprint

    def learn(self, items: Sequence[object], labels: Sequence[str]) -> Sequence[str]:
        return self.model.labels

    def probabilities(self, texts: Sequence[str], *, keep: bool = True) -> NDArray[np.float32]:
        parts = [
            self.model.predict_proba(texts[start : start + _CHUNK]).astype(np.float32)
            for start in range(0, len(texts), _CHUNK)
        ]
        return np.concatenate([np.zeros((0, len(self.model.labels)), np.float32), *parts])
