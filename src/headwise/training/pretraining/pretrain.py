"""pretrain_files: trains a base from text files."""

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonMapping, JsonObject, to_dict
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.file_lock import locked_file
from headwise.core.tokenizer import get_tokenizer
from headwise.core.version import __version__
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS, ReadOptions
from headwise.data.files.compression import read_once
from headwise.text.static_embeddings.base_folder import ABOUT, save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters
from headwise.training.pretraining.base_config import CardNotes, PretrainConfig, PretrainError, card
from headwise.training.pretraining.cbow import (
    common_weights,
    fit_subwords,
    train_contexts,
    without_common_part,
    word_ngrams,
)
from headwise.training.pretraining.corpus import (
    CorpusSample,
    EncodedPassages,
    PassageEncoder,
    WordCounts,
    choose_words,
    has_encoded_passages,
    read_numbers,
    read_passages,
    shuffled,
)
from headwise.training.pretraining.neighbour_groups import word_clusters
from headwise.training.pretraining.sentence_encoder import embed_with_teacher, missing_shards
from headwise.training.pretraining.work_folder import (
    MARK,
    WorkFolder,
    base_identity,
    check_output,
    existing_base,
    hash_of,
    hash_of_file_stats,
    name_failed_path,
    teacher_name,
    teacher_names,
    write_text,
)

StepReporter = Callable[[str, int, int | None, str], None]
"""Progress callback: name of the step, amount done, total amount (None = unknown), and a message."""

LEAST_WORDS = 1_000_000
"""Number of words below which a base from text alone is seldom useful."""

_TYPES = 5  # words with ids per listed word
_COUNTED = 1 << 19
_MAX_HELD_OUT = 4000
_REPORT_EVERY = 1 << 12


@dataclass(frozen=True)
class PretrainResult:
    """Result of `pretrain_files`.

    Attributes:
        base: The base.
        folder: Its folder.
        seconds: Seconds of each step.
        scores: Scores by name.
    """

    base: StaticEmbeddings
    folder: Path
    seconds: Mapping[str, float]
    scores: JsonMapping


def pretrain_files(
    files: Sequence[Path | str],
    output: Path | str,
    config: PretrainConfig | None = None,
    *,
    name: str = "",
    word_list: Sequence[str] = (),
    notes: CardNotes = CardNotes(),  # noqa: B008
    options: ReadOptions = DEFAULT_READ_OPTIONS,
    work: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    report: StepReporter = lambda stage, done, total, tell: None,
    note: Callable[[str], None] = lambda text: None,
) -> PretrainResult:
    """Train a base on files of unlabelled text, in any language.

    Args:
        files: Plain or compressed files; each line is a paragraph or a sentence. Of tables one column is
            read.
        output: Folder of the base.
        config: The configuration; None for the defaults.
        name: Name of the base; if empty, the name of the folder.
        word_list: Words from another source, by falling frequency, to be listed besides those of the text.
        notes: Sources, licences and limits for the card.
        options: How the files are read.
        work: Folder for teacher embeddings and training states; it is kept and reused. If None, a folder
            next to the output, which is removed when the base is written.
        resume: Continue an interrupted run; a finished one is left unchanged.
        overwrite: Replace the base in the output folder.
        report: Called with the progress.
        note: Called with messages about files that are not plain text, and about little text.

    Raises:
        DataError: A file cannot be read.
        PretrainedError: The teacher cannot be loaded.
        PretrainError: HW810 the text holds too little; HW811 the output or work folder is taken, or the
            run to resume has ended with other text or settings.
        HeadwiseError: HW606, another process works in that folder.
    """
    config = config or PretrainConfig()
    output, paths = Path(output), [str(file) for file in files]
    if not paths or any(map(read_once, paths)):
        raise ConfigError("pretrain needs files, which it reads more than once; save standard input to one")
    place = Path(work) if work is not None else output.with_name(output.name + ".work")
    ended = resume and (output / ABOUT).exists()
    check_output(output, overwrite=overwrite or ended)
    requested = base_identity(paths, config, word_list, options)
    if ended and (base := existing_base(requested, output, overwrite=overwrite)) is not None:
        note(f"{output}: the base is finished, so there is nothing to resume")
        return PretrainResult(base, output, base.about.get("seconds", {}), base.about.get("scores", {}))
    work_folder = WorkFolder.at(place, is_temporary=work is None)
    with locked_file(place / MARK, otherwise="another --output" if work is None else "another --work"):
        if work_folder.states() and not resume:
            if not overwrite:
                raise PretrainError(
                    f"{place} holds an interrupted run; add --resume to continue it, or --overwrite to "
                    "restart its training",
                    code="HW811",
                )
            work_folder.forget_states()
        run = _PretrainRun(paths, config, work_folder, tuple(word_list), options, report, note)
        try:
            base = run.make(name or output.name)
        except HeadwiseError:
            if not work_folder.has_expensive_results():
                work_folder.clear()
            raise
        base = replace(base, about={**requested, **run.about(notes)})
        with name_failed_path(output):
            save_base(base, output, card(base))
        work_folder.clear()
        return PretrainResult(base, output, run.seconds, run.scores)


@dataclass(frozen=True)
class _WordTypes:
    """The words that get vectors in training.

    Attributes:
        words: The words that the base will list, then more of the text, by falling frequency.
        listed: Number of listed words.
        counts: How often each word occurs in the text, `[words]`.
    """

    words: list[str]
    listed: int
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, listed: Sequence[str], counts: Mapping[str, int], more: int) -> Self:
        """These listed words, and at most `more` of those that were counted."""
        listed_words = set(listed)
        unlisted = (word for word in counts if word not in listed_words)
        words = [*listed, *islice(unlisted, more)]
        return cls(words, len(listed), np.array([counts.get(word, 0) for word in words], np.int64))


@dataclass
class _PretrainRun:
    """One training run of a base; each step saves its result in the work folder."""

    files: list[str]
    config: PretrainConfig
    work: WorkFolder
    word_list: tuple[str, ...]
    options: ReadOptions
    report: StepReporter
    note: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)
    scores: JsonObject = field(default_factory=dict)
    total: int = 0
    text_key: str = ""

    def make(self, name: str) -> StaticEmbeddings:
        config = self.config
        self._check_teacher()
        passages, counts = self._read()
        words = choose_words(counts, config.words, rarest=config.rarest, listed=self.word_list)
        if len(words) < 2 or not passages:
            raise PretrainError(
                f"{', '.join(self.files)}: {len(words)} words occur {config.rarest} times; expected at "
                "least 2, and usually thousands; give more text"
            )
        if self.total < LEAST_WORDS and not config.teacher.name:
            few = f"{self.total:,} words of text; a base of less than {LEAST_WORDS:,}"
            self.note(f"{few} is seldom better than none")
        types = _WordTypes.of(words, counts, max((_TYPES - 1) * len(words), config.groups - len(words)))
        groups = self._groups(types) if config.groups else None
        texts = self._contexts(types) if config.context_epochs else None
        if texts is None or config.teacher.name:
            tables = self._from_teacher(passages, types, texts)
        else:
            tables = self._from_text(texts, types)
        vectors, subwords = map(QuantizedMatrix.of, tables[:2])
        return StaticEmbeddings(name, tuple(words), vectors, subwords, tables[2], groups=groups)

    def about(self, notes: CardNotes) -> JsonObject:
        """What the folder of the base says about the run."""
        names = "sources", "teacher", "licence", "limits", "command", "cost"
        return {
            "words_read": self.total,
            **{name: getattr(notes, name) for name in names},
            "teacher": notes.teacher or teacher_names(self.config),
            "seconds": {stage: round(seconds, 1) for stage, seconds in self.seconds.items()},
            "scores": self.scores,
            "headwise": __version__,
        }

    def _check_teacher(self) -> None:
        """Check that the teachers can be loaded, before hours of reading text. They are loaded again when
        they are needed, as they would occupy memory until then."""
        config = self.config
        if not config.teacher.name:
            if not config.context_epochs:
                raise ConfigError("--context.epochs 0 leaves no teacher: give --teacher, or more epochs")
            return
        from headwise.training.pretraining.sentence_encoder import SentenceEncoder

        for name in config.teacher.names:
            SentenceEncoder(replace(config.teacher, name=name))

    def _read(self) -> tuple[list[str], dict[str, int]]:
        """The passages for a teacher, and the counts of all words, by falling frequency."""
        config = self.config
        most = config.passages if config.teacher.name else 1
        self.text_key = hash_of(
            *(hash_of_file_stats(self.files), *to_dict(self.options).values()),
            *(config.cut, config.longest, config.seed, config.tokenizer),
        )
        key = hash_of(self.text_key, most)
        passages_file = self.work.path("passages", key, ".txt")
        counted = self.work.path("counts", key, ".json")
        if not (passages_file.exists() and counted.exists()):
            with self._step("reading") as progress:
                sample, counts = CorpusSample(most, config.seed), WordCounts()
                cut = get_tokenizer(config.tokenizer).words
                for number, passage in enumerate(self._passages(self.note)):
                    sample.add(passage)
                    counts.add(cut(passage))
                    if number % _REPORT_EVERY == 0:
                        progress(number, tell=f"{len(counts.counts):,} different words")
                lines = (item.replace("\n", " ").replace("\r", " ") for item in sample.items())
                write_text("".join(f"{line}\n" for line in lines), passages_file)
                best = counts.counts.most_common(_COUNTED)
                write_text(json.dumps([counts.counts.total(), best], ensure_ascii=False), counted)
        self.total, pairs = json.loads(counted.read_text(encoding="utf-8", errors="surrogatepass"))
        text = passages_file.read_text(encoding="utf-8", errors="surrogatepass")
        return text.split("\n")[:-1], dict(pairs)

    def _passages(self, note: Callable[[str], None] = lambda text: None) -> Iterator[str]:
        config, options = self.config, self.options
        return read_passages(
            self.files, cut=config.cut, longest=config.longest, seed=config.seed, options=options, note=note
        )

    def _numbers(self, types: _WordTypes) -> tuple[str, EncodedPassages]:
        """The cache key of the whole text as word ids, and the text."""
        config = self.config
        key = hash_of(self.text_key, types.words, types.listed)
        path = self.work.path("text", key, ".numbers")
        if not has_encoded_passages(path):
            with self._step("numbering") as progress:
                numbering = PassageEncoder(types.words, types.listed, config.tokenizer)
                for done in numbering.write(shuffled(self._passages(), config.seed), path):
                    progress(done)
        return key, read_numbers(path)

    def _groups(self, types: _WordTypes) -> WordClusters | None:
        """The word clusters; None if too few words are frequent enough."""
        config = self.config
        words = types.words[: config.groups]
        enough = types.counts[: len(words)] >= config.rarest
        if enough.sum() < LEVELS[0]:
            return None
        numbers = self._numbers(types)[1]
        with self._step("grouping words") as progress:
            return word_clusters(numbers, words, enough, seed=config.seed, report=progress)

    def _contexts(self, types: _WordTypes) -> NDArray[np.float32]:
        """Vectors of all words with ids by context prediction, `[types, size]`."""
        config, size = self.config, self.config.size
        key, numbers = self._numbers(types)
        epochs = config.context_epochs
        state = self._state("context", key, size, to_dict(config.context), epochs, config.seed)
        with self._step("learning from the text") as progress:
            vectors = train_contexts(
                numbers, types.counts, size, config.context,
                epochs=epochs, seed=config.seed, state=state, report=progress,
            )  # fmt: skip
        weights = common_weights(types.counts, self.total)[:-1]
        return without_common_part(vectors, weights, types.counts)

    def _from_text(
        self, vectors: NDArray[np.float32], types: _WordTypes
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Word vectors, subword vectors and weights from context prediction only."""
        with self._step("fitting runs of letters"):
            trust = np.sqrt(np.minimum(types.counts, 1000)).astype(np.float32)
            sub = fit_subwords(types.words, vectors, trust, self.config.subwords)
        weights = common_weights(types.counts[: types.listed], self.total)
        return vectors[: types.listed], sub, weights

    def _from_teacher(
        self, passages: list[str], types: _WordTypes, texts: NDArray[np.float32] | None
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Word vectors, subword vectors and weights by distillation of sentence encoders."""
        from headwise.training.pretraining.sentence_encoder import SentenceEncoder
        from headwise.training.pretraining.student import (
            StaticStudent,
            interpolate_vectors,
            start_from_words,
            train_student,
        )

        config, listed = self.config, types.listed
        words, often = types.words[:listed], types.counts[:listed]
        answers: dict[str, list[NDArray[np.float16]]] = {"passages": [], "words": []}
        sizes, fingerprints, pieces = [], [], np.ones(listed, np.int64)
        names = config.teacher.names
        for name in names:
            teacher = SentenceEncoder(replace(config.teacher, name=name))
            who = "the teacher" if len(names) == 1 else teacher_name(name)
            for what, texts_read in (("passages", passages), ("words", words)):
                folder = self.work.path("answers", hash_of(texts_read, teacher.fingerprint))
                with self._step(f"{who} reads {what}") as progress:
                    if missing_shards(len(texts_read), folder) and len(texts_read) > 256:
                        teacher.try_bfloat16(texts_read[:64])
                    answers[what].append(embed_with_teacher(teacher, texts_read, folder, progress))
            sizes.append(teacher.size)
            fingerprints.append(teacher.fingerprint)
            pieces = np.maximum(pieces, teacher.pieces(words))
        weights = common_weights(often, self.total)
        alone = np.concatenate(answers["words"], axis=1) / np.float16(len(sizes) ** 0.5)
        start = start_from_words(alone, weights, min(config.size, sum(sizes)))
        if texts is not None:
            share = config.teacher.share / pieces
            start = replace(start, vectors=interpolate_vectors(start.vectors, texts[:listed], share, often))
        with self._step("numbering"):
            numbers = PassageEncoder(types.words, listed, config.tokenizer).passages([*passages, *words])
        runs, run_starts = word_ngrams(types.words, config.subwords)
        student = StaticStudent(start, runs, run_starts, config.subwords, config.seed, sizes)
        random = np.random.default_rng(config.seed)
        held = np.sort(random.choice(len(passages), min(_MAX_HELD_OUT, len(passages) // 20), replace=False))
        settings = [to_dict(section) for section in (config.student, config.context)]
        key = (self.text_key, types.words, listed, fingerprints, len(passages), *settings)
        sizes_of_base = config.context_epochs, config.size, config.subwords
        state = self._state("student", *key, *sizes_of_base, config.teacher.share, config.seed)
        with self._step("learning from the teacher") as progress:
            cosine = train_student(
                student, numbers, np.block(list(answers.values())), config.student,
                seed=config.seed, held=held, state=state, report=progress,
            )  # fmt: skip
        if len(held):
            self.scores["mean cosine to the teacher, held-out passages"] = round(cosine, 4)
        self.scores["passages that the teacher read"] = len(passages)
        return student.tables()

    def _state(self, what: str, *parts: Any) -> Path:
        folder = self.work.path("state", hash_of(what, *parts))
        folder.mkdir(exist_ok=True)
        return folder / f"{what}.safetensors"

    @contextmanager
    def _step(self, name: str) -> Generator[Callable[..., None]]:
        """Context of a step, whose time is measured; its value receives the progress."""
        begin = time.perf_counter()
        self.report(name, 0, None, "")
        yield lambda done, total=None, tell="": self.report(name, done, total, tell)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
