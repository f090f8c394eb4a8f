"""Tasks made of the sentences of a treebank (EWT): see made_sets.py."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from benchmarks.defaults.made_files import Parts, Rows, lines_of

MARKS = {",": "COMMA", ".": "STOP", "?": "QUESTION"}


@dataclass(frozen=True)
class Sentence:
    """A sentence of EWT, with what tasks are made of."""

    text: str
    genre: str
    document: str
    words: tuple[str, ...]
    kinds: tuple[str, ...]
    tense: str | None
    depth: int


@cache
def sentences(part: str) -> list[Sentence]:
    """The sentences of a part of EWT."""
    return list(read_sentences(lines_of(f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz")))


def read_sentences(lines: Iterable[str]) -> Iterator[Sentence]:
    """Sentences of lines in CoNLL-U."""
    about: dict[str, str] = {}
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            about[name.strip()] = value.strip()
        elif line:
            if (row := line.split("\t"))[0].isdigit():
                rows.append(row)
        elif rows:
            document = about["sent_id"].rpartition("-")[0]
            root = next((row for row in rows if row[6] == "0"), rows[0])
            tense = next(
                (feature[6:] for feature in root[5].split("|") if feature.startswith("Tense=")), None
            )
            words, kinds = (tuple(row[column] for row in rows) for column in (1, 3))
            fields = (about["text"], document.partition("-")[0], document, words, kinds, tense)
            yield Sentence(*fields, depth([int(row[6]) for row in rows]))
            rows = []


def depth(heads: list[int]) -> int:
    """Steps from the word that is farthest down to the root."""
    steps = 0
    places = [place for place, head in enumerate(heads, 1) if head == 0]
    while places:
        above = set(places)
        places = [place for place, head in enumerate(heads, 1) if head in above]
        steps += bool(places)
    return steps


def of_sentences(label: Callable[[Sentence], tuple[object, object] | None]) -> Callable[[], Parts]:
    """A set of what a function makes of EWT's sentences; None leaves one out."""

    def load() -> Parts:
        train, test = (
            [row for sentence in sentences(part) if (row := label(sentence)) is not None]
            for part in ("train", "test")
        )
        return train, test

    return load


def end_mark(sentence: Sentence) -> tuple[str, str] | None:
    """The mark that a sentence ends with, from its words in lower case without it."""
    if len(sentence.words) < 3 or (mark := sentence.text[-1]) not in ".?!":
        return None
    return sentence.text.rstrip(".?! ").lower(), mark


def tense(sentence: Sentence) -> tuple[str, str] | None:
    """Tense of the main verb (SentEval's Tense; Conneau et al. 2018)."""
    return (sentence.text, sentence.tense) if sentence.tense in ("Past", "Pres") else None


def exchanged(sentence: Sentence) -> tuple[str, str] | None:
    """Whether two neighbouring words have changed places (SentEval's Bigram Shift)."""
    words = list(sentence.words)
    if len(words) < 5:
        return None
    draw = random.Random(sentence.text)
    if draw.random() < 0.5:
        return " ".join(words), "kept"
    place = draw.randrange(1, len(words) - 2)
    words[place : place + 2] = words[place + 1], words[place]
    return " ".join(words), "exchanged"


def punctuation(sentence: Sentence) -> tuple[list[str], list[str]] | None:
    """The mark behind each word, from words in lower case without marks."""
    words: list[str] = []
    tags: list[str] = []
    for word, kind in zip(sentence.words, sentence.kinds, strict=True):
        if kind != "PUNCT":
            words.append(word.lower())
            tags.append("O")
        elif words and tags[-1] == "O":
            tags[-1] = MARKS.get(word, "O")
    return (words, tags) if len(words) > 2 else None


def case(sentence: Sentence) -> tuple[list[str], list[str]]:
    """How each word is written, from words in lower case."""
    words = list(sentence.words)
    tags = [
        "UPPER" if len(w) > 1 and w.isupper() else "Title" if w[0].isupper() else "lower" for w in words
    ]
    return [word.lower() for word in words], tags


def next_sentence() -> Parts:
    """Whether the second sentence follows the first in its document, or is of the same genre."""
    parts = []
    for part in ("train", "test"):
        part_sentences, draw = sentences(part), random.Random(part)
        by_genre: dict[str, list[str]] = {}
        for sentence in part_sentences:
            by_genre.setdefault(sentence.genre, []).append(sentence.text)
        rows: Rows = []
        for first, second in pairwise(part_sentences):
            if first.document == second.document:
                follows = draw.random() < 0.5
                partner = second.text if follows else draw.choice(by_genre[first.genre])
                rows.append(((first.text, partner), "next" if follows else "other"))
        parts.append(rows)
    return parts[0], parts[1]
