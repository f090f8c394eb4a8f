"""Tasks that nobody has tuned anything on, made of the data at hand: `made` in default.py.

Labels are facts that the data carries (a sentence's genre, a name's type, the mark that was taken away), so
a set costs nothing, and defaults that were chosen on other sets can be held against them. Training and test
texts are of different documents where the data tells documents apart. Everything is drawn with fixed seeds.
"""

import io
import random
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from benchmarks import DATA
from benchmarks.defaults.made_files import Parts, Rows, lines_of
from benchmarks.defaults.made_sentences import (
    case,
    end_mark,
    exchanged,
    next_sentence,
    of_sentences,
    punctuation,
    tense,
)
from headwise.metrics.tag_schemes import Scheme, read_spans

SOURCES = (
    *("chat_ubuntu_irc", "dialogue_sgd", "docs_microsoft", "encyclopaedia_wikipedia"),
    *("fiction_public_domain", "health_medquad", "legal_dc_code", "news_current_events"),
    *("qa_stackexchange", "science_abstracts_arxiv", "speeches_sotu", "transcripts_podcasts"),
)
DOMAINS = (
    *("apparel", "baby", "books", "camera_photo", "dvd", "electronics", "health_personal_care", "imdb"),
    *("kitchen_housewares", "magazines", "music", "software", "sports_outdoors", "toys_games", "video"),
)
NOUNS = ("man", "woman", "boy", "girl", "dog", "people", "child", "men", "children", "group")


def source() -> Parts:
    """Where the first 20 words of a paragraph are from; the last fifth of each source is for testing."""
    train: Rows = []
    test: Rows = []
    for name in SOURCES:
        lines = [line for line in lines_of(f"corpus/{name}.txt.xz") if line.count(" ") >= 4]
        for part, pool, most in (
            (train, lines[: len(lines) * 4 // 5], 800),
            (test, lines[-len(lines) // 5 :], 150),
        ):
            drawn = random.Random(name).sample(pool, most)
            part.extend((" ".join(line.split()[:20]), name.partition("_")[0]) for line in drawn)
    return train, test


def domain() -> Parts:
    """What the first 30 words of a review are about."""
    train, test = (
        [
            (" ".join(text.split()[:30]), name)
            for name in DOMAINS
            for line in lines_of(f"mtl16/{name}.task.{part}.gz")
            if (text := line.partition("\t")[2])
        ]
        for part in ("train", "test")
    )
    return train, test


def name_type() -> Parts:
    """The type of a name, alone; names of the training part are left out of the test part."""
    train, test = (names_of(lines_of(f"conll2003/eng.{part}.gz")) for part in ("train", "testb"))
    rows = [row for row in test.items() if row[0] not in train]
    return list(train.items()), list(rows)


def names_of(lines: Iterable[str]) -> dict[str, str]:
    """Distinct names with the type that they most often have; tags in IOB1."""
    seen: dict[str, Counter[str]] = {}
    for words, tags in chunked([*lines, ""]):
        for span in read_spans(tags):
            seen.setdefault(" ".join(words[span.start : span.end]), Counter())[span.type] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in seen.items()}


@cache
def glosses() -> list[tuple[str, str, str]]:
    """Word, definition without its examples, and part of speech: WordNet's entries, which stand in the
    order noun, verb, adjective, adverb."""
    begins = {"breathe,": "verb", "able:": "adjective", "a cappella:": "adverb"}
    entries, kind = [], "noun"
    for line in lines_of("corpus/dictionary_wordnet.txt.xz"):
        kind = next((next_kind for start, next_kind in begins.items() if line.startswith(start)), kind)
        words, _, text = line.partition(": ")
        if text:
            entries.append((words.partition(",")[0], text.partition(". ")[0].rstrip("."), kind))
    return entries


def part_of_speech() -> Parts:
    """The part of speech of the word that a definition defines."""
    kinds: dict[str, Rows] = {}
    for _, text, kind in glosses():
        kinds.setdefault(kind, []).append((text, kind))
    drawn = [row for rows in kinds.values() for row in random.Random(0).sample(rows, min(2500, len(rows)))]
    return divided(drawn, 2000)


def definition() -> Parts:
    """Whether a definition is that of the word, or that of another word of the same part of speech."""
    drawn, draw = random.Random(0).sample(glosses(), 12_000), random.Random(1)
    kinds: dict[str, list[str]] = {}
    for _, text, kind in drawn:
        kinds.setdefault(kind, []).append(text)
    rows: Rows = []
    for word, text, kind in drawn:
        right = draw.random() < 0.5
        rows.append(((word, text if right else draw.choice(kinds[kind])), "right" if right else "wrong"))
    return divided(rows, 2000)


def captions(part: str) -> list[tuple[str, str]]:
    """English captions and German ones of the same picture."""
    english, german = (lines_of(f"multi30k/raw/{part}.{language}.gz") for language in ("en", "de"))
    return [pair for pair in zip(english, german, strict=True) if all(pair)]


def german() -> Parts:
    """What a German caption is about: the first of ten nouns in the English one."""
    train, test = (
        [
            (text, noun)
            for english, text in captions(part)
            if (noun := next((word for word in english.lower().split() if word in NOUNS), None))
        ]
        for part in ("train", "test_2016_flickr")
    )
    return train[:10_000], test


def translation() -> Parts:
    """Whether a German caption is of the picture of the English one, or of another."""
    parts = []
    for part in ("train", "test_2016_flickr"):
        pairs, draw = captions(part)[:10_000], random.Random(part)
        rows: Rows = []
        for english, text in pairs:
            same = draw.random() < 0.5
            rows.append(((english, text if same else draw.choice(pairs)[1]), "same" if same else "other"))
        parts.append(rows)
    return parts[0], parts[1]


def speaker() -> Parts:
    """The speaker of a speech in Shakespeare's plays, of the ten most frequent; their last fifths test."""
    speeches = "\n".join(lines_of("charlm/tinyshakespeare/input.txt.gz")).split("\n\n")
    parts = [speech.partition(":\n") for speech in speeches]
    most = {name for name, _ in Counter(name for name, colon, _ in parts if colon).most_common(10)}
    rows: dict[str, Rows] = {name: [] for name in most}
    for name, _, text in parts:
        if name in most and len(text.split()) > 4:
            rows[name].append((" ".join(text.split()), name))
    groups = [rows[name] for name in sorted(rows)]
    return (
        [row for group in groups for row in group[: len(group) * 4 // 5]],
        [row for group in groups for row in group[len(group) * 4 // 5 :]],
    )


def stars() -> Parts:
    """Stars of a film review, from its last 40 words."""
    parts = []
    for part in ("train", "test"):
        lines = [
            line.split("\t") for kind in ("neg", "pos") for line in lines_of(f"imdb/{part}_{kind}.tsv.xz")
        ]
        reviews = [
            (" ".join(row[2].replace("<br />", " ").split()[-40:]), row[1])
            for row in lines
            if len(row) == 3
        ]
        parts.append(random.Random(0).sample(reviews, min(len(reviews), 8000)))
    return parts[0], parts[1]


def flipped() -> Parts:
    """SST-2 where a fifth of the training labels are wrong."""
    parts = []
    for part in ("train", "test"):
        rows = [line.partition(" ") for line in lines_of(f"sst/stsa/stsa.binary.{part}.gz") if line]
        draw = random.Random(part)
        wrong = [part == "train" and draw.random() < 0.2 for _ in rows]
        noisy = [(text, str(int(label) ^ flip)) for (label, _, text), flip in zip(rows, wrong, strict=True)]
        parts.append(noisy)
    return parts[0], parts[1]


def rare() -> Parts:
    """Is a card lost, stolen or compromised? One question in thirty is."""
    positive = {"lost_or_stolen_card", "compromised_card", "lost_or_stolen_phone"}
    parts = []
    for part in ("train", "test"):
        rows = [
            line.rstrip("\r").rpartition(",") for line in lines_of(f"intents/banking77.{part}.csv.gz")[1:]
        ]
        parts.append(
            [(text.strip('"'), "yes" if label in positive else "no") for text, _, label in rows if text]
        )
    return parts[0], parts[1]


def chunks() -> Parts:
    """Chunks of CoNLL-2000."""
    with zipfile.ZipFile(DATA / "ptb_wsj/conll2000.zip") as archive:
        train, test = (
            list(chunked(io.StringIO(archive.read(f"conll2000/{part}.txt").decode())))
            for part in ("train", "test")
        )
    return train, test


def chunked(lines: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Words and tags of lines of columns, the first and the last."""
    words: list[str] = []
    tags: list[str] = []
    for line in lines:
        if cells := line.split():
            words.append(cells[0])
            tags.append(cells[-1])
        elif words:
            yield words, tags
            words, tags = [], []


def divided(rows: Rows, test: int) -> Parts:
    """A part for testing, and the rest."""
    rows = random.Random(0).sample(rows, len(rows))
    return rows[test:], rows[:test]


Loader = Callable[[], Parts]
CLASSIFY: dict[str, Loader] = {
    "made/genre": of_sentences(lambda sentence: (sentence.text, sentence.genre)),
    "made/end-mark": of_sentences(end_mark),
    "made/tense": of_sentences(tense),
    "made/exchanged": of_sentences(exchanged),
    "made/source": source,
    "made/domain": domain,
    "made/name-type": name_type,
    "made/part-of-speech": part_of_speech,
    "made/german": german,
    "made/speaker": speaker,
    "made/stars": stars,
    "made/flipped": flipped,
    "made/rare": rare,
}
PAIRS: dict[str, Loader] = {
    "made/next": next_sentence,
    "made/definition": definition,
    "made/translation": translation,
}
TAGS: dict[str, tuple[Loader, Scheme]] = {
    "made/chunks": (chunks, "iob2"),
    "made/punctuation": (of_sentences(punctuation), "plain"),
    "made/case": (of_sentences(case), "plain"),
    "made/upos": (of_sentences(lambda sentence: (list(sentence.words), list(sentence.kinds))), "plain"),
}
