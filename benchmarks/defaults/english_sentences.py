"""The sentences that make the English base: a balanced sample of the open corpus, and lines drawn from our
own templates (english/*.toml) for what the corpus lacks: opinions, feelings, requests."""

import lzma
import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "english"
_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z0-9])")
_NOUN = re.compile(r"\b(?:the|a|an|of|in|for)\s+([a-z]{4,14})\b")
_NAME = re.compile(r"(?<=[a-z,] )([A-Z][a-z]{3,}(?: [A-Z][a-z]{3,})?)\b")


def settings(name: str) -> dict[str, Any]:
    """One of the files of benchmarks/english."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def corpus_sentences(corpus: Path, seed: int = 7) -> list[str]:
    """One to three sentences each, so many of each part of the corpus, in random order, each once."""
    choose = random.Random(seed)
    units: list[str] = []
    for part, thousands in settings("parts").items():
        want = 1000 * thousands
        lines = [line.strip() for line in _lines(corpus, part)]
        choose.shuffle(lines)
        part_units: list[str] = []
        for line in lines:
            part_units += _units(line, choose)
            if len(part_units) > 3 * want:
                break
        choose.shuffle(part_units)
        units += part_units[:want]
    choose.shuffle(units)
    seen: set[str] = set()
    return [unit for unit in units if not (unit.lower() in seen or seen.add(unit.lower()))]


def _units(line: str, choose: random.Random) -> Iterator[str]:
    sentences, place = _END.split(line), 0
    while place < len(sentences):
        count = choose.choices((1, 2, 3), (0.72, 0.2, 0.08))[0]
        unit = " ".join(sentences[place : place + count])
        place += count
        length = unit.count(" ") + 1
        if length < 3:
            continue
        if length > 70:  # a list, a statute
            words = unit.split()
            start = choose.randrange(0, len(words) - 40)
            unit = " ".join(words[start : start + choose.randint(10, 60)])
        yield unit


def opinions(feelings: Sequence[str]) -> list[str]:
    """Lines of opinion and feeling.

    Args:
        feelings: Adjectives of feeling from elsewhere; our own count six times.
    """
    about = settings("opinions")
    lists = _lists(about)
    lists["adjective"] = [*feelings, *6 * about["words"]["adjective"].split()]
    choose = random.Random(about["seed"])
    return _drawn(about, lists, choose, number=lambda: choose.randint(2, 9))


def requests(corpus: Path) -> list[str]:
    """Requests, messages and questions; nouns and names are those that the corpus has."""
    about = settings("requests")
    choose = random.Random(about["seed"])
    nouns: Counter[str] = Counter()
    names: Counter[str] = Counter()
    for part in about["nouns"]["parts"]:
        lines = list(_lines(corpus, part))
        choose.shuffle(lines)
        for line in lines[: about["nouns"]["lines"]]:
            nouns.update(match[1] for match in _NOUN.finditer(line))
            names.update(match[1] for match in _NAME.finditer(line))
    lists = _lists(about)
    lists["noun"] = [word for word, count in nouns.items() if count >= 5]
    lists["name"] = [name for name, count in names.items() if count >= 4]
    return _drawn(about, lists, choose)


def _drawn(
    about: Mapping[str, Any],
    lists: Mapping[str, Sequence[str]],
    choose: random.Random,
    number: Callable[[], int] | None = None,
) -> list[str]:
    """Different lines, in random order."""
    first, second = about["groups"]
    seen: set[str] = set()
    for _ in range(4 * about["lines"]):
        group = first if choose.random() < first["share"] else second
        template = choose.choice(group["templates"])
        filled = {}
        for slot, name in about["slots"][group["slots"]].items():
            filled[slot] = choose.choice(lists[name])
            if number is not None and name == "event":
                filled[slot] = filled[slot].format(n=number())
        seen.add(" ".join(template.format(**filled).split()))
        if len(seen) >= about["lines"]:
            break
    drawn = sorted(seen)
    choose.shuffle(drawn)
    return drawn


def _lists(about: Mapping[str, Any]) -> dict[str, list[str]]:
    words = {name: _spaced(text.split(), name) for name, text in about["words"].items()}
    return {**words, **about["phrases"]}


def _spaced(words: Sequence[str], name: str) -> list[str]:
    return [word if name == "adjective" else word.replace("-", " ") for word in words]


def _lines(corpus: Path, part: str) -> Iterator[str]:
    with lzma.open(corpus / f"{part}.txt.xz", "rt", encoding="utf-8") as file:
        yield from file
