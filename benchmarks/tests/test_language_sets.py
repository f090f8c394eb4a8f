"""Labelled sets in other languages, from small packages that the tests make."""

import json
import random
import sqlite3

import pytest

from benchmarks.defaults import language_sets, languages
from benchmarks.defaults.default_results import Job
from benchmarks.defaults.language_sets import TemplateTexts, chinese_reviews, indonesian_tweets, intents

RULES = {"lamp": "(lampe|leuchte)", "polite": "[bitte]", "loop": "so <loop>"}
LISTS = {
    "place": {"values": ["Bad", {"in": "(Flur|Diele)"}]},
    "level": {"range": {"from": 0, "to": 100}},
}


def drawn(template, count=60):
    texts = TemplateTexts(RULES, LISTS, random.Random(0))
    return {texts.draw(template) for _ in range(count)}


@pytest.mark.parametrize(
    ("template", "texts"),
    [
        ("Licht (an|aus)", {"Licht an", "Licht aus"}),
        ("[das] Licht", {"das Licht", "Licht"}),
        ("(eins [zwei]|drei) vier", {"eins vier", "eins zwei vier", "drei vier"}),
        ("<polite> <lamp> an", {"bitte lampe an", "bitte leuchte an", "lampe an", "leuchte an"}),
        ("im {place}", {"im Bad", "im Flur", "im Diele"}),
        ("{place:room}", {"Bad", "Flur", "Diele"}),
        ("<nothing> an", {"an"}),
    ],
)
def test_a_template_draws_each_of_its_texts(template, texts):
    assert drawn(template) == texts


def test_a_range_draws_whole_numbers():
    assert all(2 <= int(text) <= 60 for text in drawn("{level}"))
    assert len(drawn("{level}")) > 10


def test_a_slot_without_a_list_has_a_name():
    assert drawn("{name}") == {"Lumo", "Vega", "Toro", "Miro"}


def test_a_rule_that_names_itself_ends():
    assert drawn("<loop>") == {" ".join(["so"] * 9)}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """The folder of a package."""
    monkeypatch.setattr(language_sets, "_package", lambda name: tmp_path)
    return tmp_path


@pytest.fixture
def commands(package):
    """Commands in German: two intents with six templates each, and one with too few."""

    def block(word, count):
        return {"data": [{"sentences": [f"{word} {letter} {{name}}" for letter in "abcdef"[:count]]}]}

    (package / "data").mkdir()
    content = {"intents": {"On": block("an", 6), "Off": block("aus", 6), "Rare": block("nie", 2)}}
    (package / "data" / "de.json").write_text(json.dumps(content), encoding="utf-8")


def templates(part):
    return {text.rsplit(" ", 1)[0] for text in part.items}


def test_test_commands_are_of_other_templates(commands):
    train, test = intents("de")
    assert set(train.labels) == set(test.labels) == {"On", "Off"}
    assert len(templates(train)) == len(templates(test)) == 6
    assert not templates(train) & templates(test)
    for part in (train, test):
        assert all(
            (label == "On") == text.startswith("an ")
            for text, label in zip(part.items, part.labels, strict=True)
        )


def test_each_split_divides_the_templates_anew(commands):
    first, again, second = (intents("de", split)[0] for split in (0, 0, 1))
    assert first == again
    assert templates(first) != templates(second)


def test_reviews_are_divided_and_long_ones_left_out(package):
    folder = package / "sentiment"
    folder.mkdir()
    for name in ("neg", "pos"):
        lines = [f"{name} review {number}" for number in range(30)]
        (folder / f"{name}.txt").write_text("\n".join([*lines, "kurz", "x" * 400, ""]), encoding="utf-8")
    train, test = chinese_reviews()
    assert (len(train), len(test)) == (40, 20)
    assert not set(train.items) & set(test.items)
    for part in (train, test):
        assert all(
            text.startswith(f"{label} review") for text, label in zip(part.items, part.labels, strict=True)
        )
    assert chinese_reviews(1)[1].items != test.items


def test_tweets_are_read_from_the_database_once_each(package):
    (package / "database").mkdir()
    database = sqlite3.connect(package / "database" / "dataset.db")
    database.execute("create table training (id integer, text text, label integer)")
    rows = [(number, f" tweet {number} ", number % 2) for number in range(30)]
    database.executemany("insert into training values (?, ?, ?)", [*rows, (30, "tweet 3", 1)])
    database.commit()
    database.close()
    train, test = indonesian_tweets()
    assert (len(train), len(test)) == (20, 10)
    labels = dict(zip([*train.items, *test.items], [*train.labels, *test.labels], strict=True))
    assert labels == {f"tweet {number}": "pos" if number % 2 else "neg" for number in range(30)}


def test_sets_with_few_texts_are_left_out(commands, monkeypatch):
    assert list(language_sets.load_sets(["intents/de"])) == []
    monkeypatch.setattr(language_sets, "LEAST_TRAIN", 10)
    monkeypatch.setattr(language_sets, "LEAST_TEST", 10)
    ((base, data),) = language_sets.load_sets(["intents/de"])
    assert (base, data.name, data.kind) == ("german", "intents/de", "classify")


def test_a_row_compares_the_draws_that_default_and_svm_share():
    runs = {
        ("intents/de", languages.BASE): [0.7, 0.8, 0.1],  # the SVM was not run on the last
        ("intents/de", languages.SVM): [0.6, 0.8],
        ("intents/de", languages.NONE): [0.65],
        ("intents/fr", languages.BASE): [0.5],
        ("intents/fr", languages.SVM): [0.7],
        ("intents/fr", languages.NONE): [0.6],
        ("intents/fr", languages.E5): [0.9],
        ("intents/it", languages.BASE): [0.5],
    }
    results = {
        Job(name, system, 250, draw): {"test": score}
        for (name, system), scores in runs.items()
        for draw, score in enumerate(scores)
    }
    assert languages.rows_of(results, 250)[1] == [
        ["`intents/de`", "2", "75.0", "70.0", "+5.0", "-", "-"],
        ["`intents/fr`", "1", "50.0", "70.0", "-20.0", "60.0", "90.0"],
        ["mean of 2", "", "62.5", "70.0", "-7.5", "-", "-"],
        ["mean of 1", "", "50.0", "70.0", "-20.0", "60.0", "90.0"],
    ]
    few = {job: run for job, run in results.items() if job.system in (languages.BASE, languages.SVM)}
    head, rows = languages.rows_of(few, 250)
    assert head[2:] == [languages.BASE, languages.SVM, "difference"]
    assert rows[-1] == ["mean of 2", "", "62.5", "70.0", "-7.5"]
    assert languages.rows_of(results, 1_000)[1] == []
