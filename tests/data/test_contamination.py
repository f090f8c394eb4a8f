"""Texts, and near-duplicates, that two parts have in common."""

import random
from dataclasses import replace
from unicodedata import normalize

from headwise.data.items.examples import Example, Pair
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.contamination import find_overlaps, in_fingerprint, make_fingerprint
from headwise.data.splits.text_signatures import TextTrigrams

KIND = ITEM_TYPES_BY_TASK["classify"]
REVIEW = "This is one of the best films that I have seen this year, and the actors are a joy to watch."


def texts(*contents: str) -> list[Example]:
    return [Example(text, "x") for text in contents]


def random_text(chance: random.Random, words: int = 40) -> str:
    return " ".join(f"w{chance.randrange(5000)}" for _ in range(words))


def test_nearly_the_same_texts():
    train = texts(REVIEW, "so so", "a b c", "")
    test = texts(
        REVIEW,
        REVIEW.replace("year,", "year -").upper(),  # the same words
        REVIEW + " Go!",  # one word more
        REVIEW.replace("films", "movies"),  # three of eighteen runs have that word
        "so so!",
        "a b d",  # short texts are near only if they have the same words
        "The best of the actors I have seen this year are in one of the films that are a joy to watch",
        "",
    )
    (overlap,) = find_overlaps(KIND, {"train": train, "test": test})
    assert overlap.places == {0, 1, 2, 3, 4}
    assert overlap.to_json() == {
        "one": "train",
        "other": "test",
        "distinct": 1,
        "items": 1,
        "near": 4,
        "total": 8,
    }
    assert "1 of 8 test texts are training texts too, and 4 more nearly (62.5 %)" in overlap.message(
        KIND.nouns
    )
    nearly = replace(overlap, items=0)
    assert "4 of 8 test texts are training texts but for a few words (50.0 %)" in nearly.message(KIND.nouns)


def test_near_texts_are_found_and_others_are_not():
    chance = random.Random(0)
    originals = [random_text(chance) for _ in range(300)]
    changed = []
    for text in originals:
        words = text.split()
        words[chance.randrange(len(words))] = "other"  # 35 of 41 different runs are common to both
        changed.append(" ".join(words))
    index = TextTrigrams.of(originals)
    assert TextTrigrams.of(changed).are_near(index).sum() >= 297
    assert not TextTrigrams.of(random_text(chance) for _ in range(300)).are_near(index).any()


def test_pairs_may_have_a_long_text_in_common():
    first = [Pair(REVIEW, "It is good.", "yes", 1)]
    test = [Pair(REVIEW, "It is bad.", "no", 1), Pair(REVIEW.lower(), "it is good", "yes", 2)]
    (overlap,) = find_overlaps(ITEM_TYPES_BY_TASK["pair"], {"train": first, "test": test})
    assert overlap.places == {1}


def test_what_a_model_was_made_of_is_remembered():
    fingerprint = make_fingerprint(KIND, texts(REVIEW, "so so", ""))
    assert isinstance(fingerprint, str)
    assert len(fingerprint) == 16
    assert in_fingerprint(KIND, fingerprint, texts("So, so", "new", "", REVIEW)) == [
        True,
        False,
        False,
        True,
    ]
    for damaged in (None, 7, "?", "abc", "é", []):
        assert in_fingerprint(KIND, damaged, texts("so so")) == [False]


def test_what_was_remembered_stays_known():
    fingerprints = {"So, so": "w/66teL5", "Größe über": "KkWbslFe", "今天天气，很好": "lTfTQGYx"}
    assert {text: make_fingerprint(KIND, texts(text)) for text in fingerprints} == fingerprints
    assert in_fingerprint(KIND, fingerprints["Größe über"], texts(normalize("NFD", "Größe über"))) == [True]


def test_many_texts_with_the_same_phrases_take_no_long_time(takes_under):
    chance = random.Random(1)
    references = [f"{REVIEW} {random_text(chance, 4)}".lower() for _ in range(1500)]
    query = f"{REVIEW} {random_text(chance, 4)}".lower()
    assert takes_under(5, lambda: TextTrigrams.of([query]).are_near(TextTrigrams.of(references)).all())


def test_a_pair_is_the_same_the_other_way_round():
    kind, train = ITEM_TYPES_BY_TASK["pair"], [Pair("a b", "C d", "yes"), Pair("e", "f", "no")]
    test = [Pair("c d", "A b", "yes"), Pair("f", "g", "no")]
    (overlap,) = find_overlaps(kind, {"train": train, "test": test})
    assert (overlap.items, overlap.nearly_equal, overlap.total) == (1, 0, 2)
    assert in_fingerprint(kind, make_fingerprint(kind, train), test) == [True, False]
