"""Lesson: what people have labelled and, beside it, what a teacher says of texts without labels."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from headwise.data.answers import Label
from headwise.data.compression import plain_name
from headwise.data.diagnosis import some
from headwise.data.duplicates import normal_text
from headwise.data.example import Example
from headwise.data.fingerprint import hash_fields
from headwise.data.kinds.text import TextKind
from headwise.data.labels import all_labels
from headwise.data.options import ReadOptions, SoftOptions
from headwise.data.overlap import Overlap, Seen, known_overlaps
from headwise.data.parts import Parts
from headwise.data.read import read_rows
from headwise.data.shares import Shares
from headwise.errors import ConfigError, HeadwiseError
from headwise.pretrain.config import TeacherConfig
from headwise.store.folder import is_ours
from headwise.teachers.answers import AnswersTeacher
from headwise.teachers.config import TeachConfig
from headwise.teachers.encoder import EncoderTeacher
from headwise.teachers.model import ModelTeacher
from headwise.teachers.teacher import Teacher, Update
from headwise.train.fit import train_and_dev

_FILES = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".xlsx", ".parquet")  # no encoder's name ends so
_TIMED = 256  # texts
_NEAR = "nearly dev or test texts"


@dataclass(frozen=True)
class Teaching:
    """Who is to teach, and on what.

    Attributes:
        teacher: A sentence encoder (a name of the Hugging Face hub, or a folder), a model folder of ours,
            or a file of texts with answers.
        unlabelled: A file of texts; None for those of the file of answers.
        config: See there.
    """

    teacher: str
    unlabelled: str | None = None
    config: TeachConfig = field(default_factory=TeachConfig)


class Lesson:
    """Parts of data with more to train on.

    Args:
        teaching: Who teaches, and on what.
        parts: What people have labelled.
        work: Folder that keeps what an encoder says.
        reading: The options of the labelled file, in whose encoding the others are.
        seed: Of the sample of the unlabelled texts.
        report: Is told how far an encoder's reading is.

    Attributes:
        human: The parts as they were.
        notes: What there is to tell.
        teacher: Who teaches.

    Raises:
        HeadwiseError: The teacher or the texts cannot be used.
    """

    def __init__(
        self,
        teaching: Teaching,
        parts: Parts[Any],
        work: Path,
        *,
        reading: Any,
        seed: int = 0,
        report: Update = lambda _done, _total: None,
    ):
        if not (isinstance(parts.kind, TextKind) and type(parts.kind.answer) is Label):
            raise ConfigError("--teacher: only classifiers of texts (--task classify) learn from a teacher")
        self.config, self.human, self.notes = teaching.config, parts, list[str]()
        decoding = {"encoding": reading.encoding, "encoding_errors": reading.encoding_errors}
        own = decoding | {"empty_labels": reading.empty_labels}
        self.teacher: Teacher = _find(teaching, work, SoftOptions(**own), report)
        texts = self._texts(teaching, seed, decoding)
        self.texts = self._new(texts, parts, teaching.unlabelled or teaching.teacher)

    def _texts(self, teaching: Teaching, seed: int, decoding: Mapping[str, Any]) -> list[str]:
        self.notes += [f"teacher: {note}" for note in self.teacher.notes]
        if teaching.unlabelled is not None:
            options = ReadOptions(text_column=teaching.config.column, **decoding)
            rows = read_rows(teaching.unlabelled, options)
            self.notes += [f"unlabelled: {note}" for note in rows.notes]
            texts = (row.item.text for row in rows)
        elif self.teacher.texts is not None:
            texts = self.teacher.texts
        else:
            raise ConfigError(f"--teacher {teaching.teacher}: give texts to label with --unlabelled")
        found, total = sample(texts, teaching.config.most, seed)
        if len(found) < total:
            self.notes.append(f"a random sample of {len(found):,} of {total:,} texts, as --teach.most says")
        return found

    def _new(self, texts: Sequence[str], parts: Parts[Any], file: str) -> list[str]:
        """The texts that no part has, each once, if the teacher has an answer; those that are nearly dev or
        test texts are left out too, as what is said of these would be too good."""
        labelled = {normal_text(item.text) for part in parts.named.values() for item in part}
        out = {"labelled too": 0, _NEAR: 0, "repeated or empty": 0, "unknown to the teacher": 0}
        found: dict[str, str] = {}
        for text, knows in zip(texts, self.teacher.knows(texts), strict=True):
            key = normal_text(text)
            if not key or key in found:
                out["repeated or empty"] += 1
            elif key in labelled:
                out["labelled too"] += 1
            elif not knows:
                out["unknown to the teacher"] += 1
            else:
                found[key] = text
        keys, judged = list(found), (*parts.dev, *parts.test)
        _, near = Seen(parts.kind, (normal_text(item.text) for item in judged)).places(keys)
        for number in near:
            del found[keys[number]]
        out[_NEAR] = len(near)
        left = ", ".join(f"{count:,} {what}" for what, count in out.items() if count)
        said = f"{len(found):,} unlabelled texts from {file}" + (f"; left out: {left}" if left else "")
        if not found:
            raise HeadwiseError(f"there are {said}; give texts that are not labelled yet", code="HW411")
        self.notes.append(said)
        return list(found.values())

    def identity(self) -> dict[str, str | float]:
        """What makes it this lesson: hashes of what is learnt from, and how its answers are taken."""
        prints = {name: own.sha256 for name, own in self.human.fingerprints().items()}
        whole = {"teacher": self.teacher.fingerprint, "unlabelled": hash_fields(self.texts)}
        how = {name: getattr(self.config, name) for name in ("label_weight", "temperature", "linear")}
        return {**prints, **whole, **how}

    def unanswered(self) -> Parts[Any]:
        """What `parts` gives, but for answers of the teacher, which is not asked: enough to choose settings
        by."""
        labels = tuple(all_labels(self.human.train))
        shares = Shares(labels, np.full(len(labels), 1 / len(labels), np.float32))
        texts = [Example(text, shares.likeliest, shares=shares) for text in self.texts]
        return replace(self.human, train=[*self.human.train, *texts])

    def parts(self, human: Parts[Any]) -> Parts[Any]:
        """Parts of data whose training part has what the teacher says of the texts too, once it has learnt
        from the people's."""
        weight = self.config.label_weight
        train, dev = (
            [replace(item, weight=weight * item.weight) for item in own] for own in (human.train, human.dev)
        )
        self.labels = tuple(self.teacher.learn(human.train, all_labels(human.train)))
        given = sharpened(self.teacher.probabilities(self.texts), self.config.temperature)
        taught = []
        for text, own, weight in zip(self.texts, given, self.teacher.weights(self.texts), strict=True):
            shares = Shares(self.labels, own)
            taught.append(Example(text, shares.likeliest, weight=weight, shares=shares))
        self._check(human, Counter(own.label for own in taught if own.label))
        return replace(human, train=[*train, *taught], dev=dev)

    def _check(self, human: Parts[Any], said: Counter[str]) -> None:
        """Tell of labels that people have not given: of some texts they are new to the model, of all of
        them the teacher is one for another task, or spells them otherwise."""
        known = [*all_labels([item for part in human.named.values() for item in part])]
        new = [repr(label) for label, _ in said.most_common() if label not in known]
        if len(new) == len(said):
            raise ConfigError(
                f"--teacher: {self.teacher.name}: {some(new)}; expected labels that the labelled texts "
                f"have, such as {some([*map(repr, known)])}"
            )
        note = f"labels that only the teacher gives, which the model learns too: {some(new)}"
        if new and note not in self.notes:  # parts are made twice where all texts are trained on at last
            self.notes.append(note)

    def overlaps(self) -> tuple[Overlap, ...]:
        """Dev and test texts that a teacher of ours has learnt from, which make scores too good."""
        return known_overlaps(self.human.kind, self.teacher.seen, self.teacher.name, self.human.named)

    def together(self, parts: Parts[Any]) -> Parts[Any]:
        """What the last training, on training and dev items together, learns from."""
        return self.parts(train_and_dev(self.human))

    def judge(self, items: Sequence[Any], labels: Sequence[str]) -> np.ndarray | None:
        """The label numbers of items by the teacher; None where it does not know them all."""
        texts = [item.text for item in items]
        if not self.teacher.knows(texts).all():
            return None
        found = np.zeros((len(texts), len(labels)), np.float32)
        columns = [labels.index(label) for label in self.labels]
        found[:, columns] = self.teacher.probabilities(texts)
        return found.argmax(axis=1)

    def speeds(self, model: Any, items: Sequence[Any]) -> dict[str, float] | None:
        """Texts a second of the teacher and of the model, measured on some items; None of a file."""
        if self.teacher.texts is not None:
            return None
        texts = [item.text for item in items] or self.texts
        return {
            "teacher": rate(lambda own: self.teacher.probabilities(own, keep=False), texts[:_TIMED]),
            "model": rate(model.predict_proba, texts[: 16 * _TIMED]),
        }


def _find(teaching: Teaching, work: Path, options: SoftOptions, report: Update) -> Teacher:
    path, config = Path(teaching.teacher), teaching.config
    if path.is_file() or plain_name(path.name).endswith(_FILES):
        return AnswersTeacher(path, options)
    if path.is_dir() and is_ours(path):
        return ModelTeacher(path)
    encoder = TeacherConfig(teaching.teacher, revision=config.revision, max_pieces=config.max_pieces)
    return EncoderTeacher(encoder, linear=config.linear, work=work, report=report)


def sample(texts: Iterable[str], most: int, seed: int) -> tuple[list[str], int]:
    """At most so many texts of a stream, in its order, each as likely as the others (0 = all); and how many
    the stream has."""
    kept: list[tuple[int, str]] = []
    choose, total = random.Random(seed), 0
    for number, text in enumerate(texts):
        total += 1
        if not most or number < most:
            kept.append((number, text))
        elif (place := choose.randrange(number + 1)) < most:
            kept[place] = (number, text)
    return [text for _, text in sorted(kept)], total


def sharpened(probabilities: np.ndarray, temperature: float) -> np.ndarray:
    """Probabilities `[texts, labels]` to the power of 1 / temperature, adding up to 1 again."""
    if temperature == 1:
        return probabilities
    # Not as powers: of many labels all would be 0.
    return softmax(np.log(np.maximum(probabilities, 1e-12)) / temperature, axis=1).astype(np.float32)


def rate(read: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> float:
    """Texts a second, once what reads them is warm."""
    read(texts[:32])
    start = time.perf_counter()
    read(texts)
    return len(texts) / max(time.perf_counter() - start, 1e-9)
