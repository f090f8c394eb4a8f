"""Words, characters and surface features that nearly decide a label are reported, weaker ones are not."""

import random

import pytest

from headwise.data.doctor.diagnose import diagnose
from headwise.data.doctor.shortcut_checks import find_leaks, wilson_lower_bound
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

WORDS = [f"w{n}" for n in range(60)]


_chance = random.Random(9)
LETTERS = ["".join(_chance.choices("abcdefghij", k=_chance.randint(2, 7))) for _ in range(60)]


def texts(number: int, seed: int = 0, words: list[str] = WORDS) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(words, k=chance.randint(8, 16))) + "." for _ in range(number)]


def leaks_of(documents: list[str], labels: list[str]) -> list[tuple[str, str]]:
    return [(leak.label, str(leak.trace)) for leak in find_leaks(documents, [(label,) for label in labels])]


def test_chance_is_no_leak():
    chance = random.Random(1)
    assert leaks_of(texts(3000), [chance.choice("ab") for _ in range(3000)]) == []
    assert leaks_of([], []) == []
    assert leaks_of(texts(9), list("abcabcabc")) == []


@pytest.mark.parametrize(
    ("change", "trace"),
    [
        (lambda text: f"Reuters - {text}", "'reuters'"),
        (lambda text: text.replace(" ", " via ", 1), "'via'"),
        (lambda text: text + "\u200b", "the character '\\u200b'"),
        (lambda text: text[:-1], "the lack of the character '.'"),
        (lambda text: "w3 " + text, "'w3' as the first word"),
        (lambda text: text + " w3", "'w3' at the end"),
    ],
)
def test_traces_of_three_labels(change, trace):
    labels = ["a", "b", "c"] * 300
    documents = [
        change(text) if label == "b" else text for text, label in zip(texts(900), labels, strict=True)
    ]
    assert leaks_of(documents, labels) == [("b", trace)]


@pytest.mark.parametrize(
    ("change", "trace"),
    [
        (lambda text: text[:20] + ".", "18 or fewer letters and digits"),
        (lambda text: text.replace(" ", "\n", 1), "1 or more line ends"),
        (str.upper, "100.0 % or more capitals among letters"),
        (lambda text: text.replace(" ", ""), "about 13.50 or more letters and digits per word"),
    ],
)
def test_forms_of_three_labels(change, trace):
    labels = ["a", "b", "c"] * 300
    documents = [
        change(text) if label == "b" else text
        for text, label in zip(texts(900, words=LETTERS), labels, strict=True)
    ]
    assert leaks_of(documents, labels) == [("b", trace)]


def test_a_form_that_leans_to_a_label_is_no_leak():
    labels = ["a", "b"] * 500
    documents = [
        text.upper() if label == "a" and n % 3 else text
        for n, (text, label) in enumerate(zip(texts(1000), labels, strict=True))
    ]
    assert leaks_of(documents, labels) == []
    documents = [
        text.upper() if label == "a" or n % 5 == 1 else text
        for n, (text, label) in enumerate(zip(documents, labels, strict=True))
    ]
    assert leaks_of(documents, labels) == []


def test_what_to_do_about_a_form(write):
    labels = ["spam", "ham", "eggs"] * 100
    lines = [
        f"{text.upper() if label == 'ham' else text},{label}"
        for text, label in zip(texts(300, words=LETTERS), labels, strict=True)
    ]
    path = write("train.csv", "\n".join(["text,label", *lines]) + "\n")
    (leak,) = (
        finding
        for finding in diagnose(ITEM_TYPES_BY_TASK["classify"], [path]).findings
        if finding.code == "HW170"
    )
    assert leak.message.startswith(
        "100.0 % or more capitals among letters in 100 of 100 texts labelled 'ham'"
    )
    assert "make all of them alike in it" in leak.fix


def test_a_few_exceptions_do_not_hide_a_leak():
    labels = ["a"] * 2391 + ["b"] * 2500
    documents = [f"(source) {text}" if n < 2387 or n > 4880 else text for n, text in enumerate(texts(4891))]
    assert leaks_of(documents, labels) == [("a", "'source'")]


def test_what_leans_to_a_label_is_no_leak():
    labels = ["a", "b"] * 500
    often = [
        text + (" great" if label == "a" and n % 3 else "")
        for n, (text, label) in enumerate(zip(texts(1000), labels, strict=True))
    ]
    assert leaks_of(often, labels) == []  # two in three
    both = [
        text + " great" if label == "a" or n % 5 == 1 else text
        for n, (text, label) in enumerate(zip(texts(1000), labels, strict=True))
    ]
    assert leaks_of(both, labels) == []  # a fifth of the others too


def test_a_label_that_nearly_all_have_needs_more_than_what_nearly_all_have():
    labels = ["rare" if n % 30 == 0 else "usual" for n in range(3000)]
    assert leaks_of([text + " so" for text in texts(3000)], labels) == []


def test_too_few_to_tell():
    labels = ["a", "b"] * 20
    documents = [
        text + " x" if label == "a" else text for text, label in zip(texts(40), labels, strict=True)
    ]
    assert leaks_of(documents, labels) == []


def test_the_lower_end_of_an_interval():
    assert wilson_lower_bound(0, 10) == pytest.approx(0, abs=1e-12)
    assert wilson_lower_bound(95, 100) == pytest.approx(0.8883, abs=1e-3)  # Wilson's, from the literature
    assert wilson_lower_bound(100, 100) == pytest.approx(0.9630, abs=1e-3)


def rows(head: str, labels: list[str], mark: dict[str, str], cell: str) -> str:
    lines = [
        cell.format(text=text.replace(" ", mark.get(label, "") + " ", 1), label=label)
        for text, label in zip(texts(len(labels)), labels, strict=True)
    ]
    return "\n".join([head, *lines]) + "\n"


@pytest.mark.parametrize(
    ("task", "head", "cell"),
    [
        ("classify", "text,label", "{text},{label}"),
        ("multi-label", "text,labels", "{text},{label}|all"),
        ("pair", "premise,hypothesis,label", "some premise,{text},{label}"),
    ],
)
def test_the_doctor_tells(write, task, head, cell):
    labels = ["spam", "ham", "eggs"] * 100
    path = write("train.csv", rows(head, labels, {"ham": " xyz", "eggs": " eggs"}, cell))
    leaks = [
        finding
        for finding in diagnose(ITEM_TYPES_BY_TASK[task], [path]).findings
        if finding.code == "HW170"
    ]
    assert [leak.severity for leak in leaks] == ["warning", "info"]  # "eggs" is what the label is called
    nouns = ITEM_TYPES_BY_TASK[task].nouns.many
    assert f"'xyz' in 100 of 100 {nouns} labelled 'ham' (100.0%), and in 0 without" in leaks[0].message
    assert "precision 100.0%" in leaks[0].message
    assert leaks[0].where == tuple(f"{path}:{line}" for line in (3, 6, 9))
    assert "name has that word" in leaks[1].fix
    test = write("test.csv", rows(head, labels, {"ham": " xyz"}, cell))
    assert "HW170" not in {finding.code for finding in diagnose(ITEM_TYPES_BY_TASK[task], [test]).findings}


def test_many_leaks_are_summed_up(write):
    labels = [f"l{n % 8}" for n in range(800)]
    path = write(
        "train.csv", rows("text,label", labels, {f"l{n}": f" x{n}" for n in range(8)}, "{text},{label}")
    )
    leaks = [
        finding
        for finding in diagnose(ITEM_TYPES_BY_TASK["classify"], [path]).findings
        if finding.code == "HW170"
    ]
    assert len(leaks) == 4
    assert leaks[-1].message.startswith(
        "5 more labels that one word, character or form nearly decides: 'x3' for 'l3'"
    )


@pytest.mark.slow
def test_ordinary_sets_are_quiet(real_data):
    names = ["mtl16/books.task.train.gz", "sst/stsa/stsa.fine.train.gz", "tweets/irony.train.tsv.gz"]
    for name in [*names, "intents/banking77.train.csv.gz"]:
        findings = diagnose(ITEM_TYPES_BY_TASK["classify"], [str(real_data / name)]).findings
        assert "HW170" not in {finding.code for finding in findings}
    clinc = diagnose(
        ITEM_TYPES_BY_TASK["classify"], [str(real_data / "intents/clinc150.train.csv.gz")]
    ).findings
    # Words of the labels' names: carry_on, routing, pin_change.
    assert {finding.severity for finding in clinc if finding.code == "HW170"} == {"info"}
