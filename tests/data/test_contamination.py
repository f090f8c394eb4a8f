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


def texts(*own: str) -> list[Example]:
    return [Example(text, "x") for text in own]


def random_text(chance: random.Random, words: int = 40) -> str:
    return " ".join(f"w{chance.randrange(5000)}" for _ in range(words))


def test_nearly_the_same_texts():
    known = texts(REVIEW, "so so", "a b c", "")
    others = texts(
        REVIEW,
        REVIEW.replace("year,", "year -").upper(),  # the same words
        REVIEW + " Go!",  # one word more
        REVIEW.replace("films", "movies"),  # three of eighteen runs have that word
        "so so!",
        "a b d",  # short texts are near only if they have the same words
        "The best of the actors I have seen this year are in one of the films that are a joy to watch",
        "",
    )
    (found,) = find_overlaps(KIND, {"train": known, "test": others})
    assert found.places == {0, 1, 2, 3, 4}
    assert found.to_json() == {
        "one": "train",
        "other": "test",
        "distinct": 1,
        "items": 1,
        "near": 4,
        "total": 8,
    }
    assert "1 of 8 test texts are training texts too, and 4 more nearly (62.5 %)" in found.message(
        KIND.nouns
    )
    nearly = replace(found, items=0)
    assert "4 of 8 test texts are training texts but for a few words (50.0 %)" in nearly.message(KIND.nouns)


def test_near_texts_are_found_and_others_are_not():
    chance = random.Random(0)
    known = [random_text(chance) for _ in range(300)]
    changed = []
    for text in known:
        words = text.split()
        words[chance.randrange(len(words))] = "other"  # 35 of 41 different runs are common to both
        changed.append(" ".join(words))
    index = TextTrigrams.of(known)
    assert TextTrigrams.of(changed).are_near(index).sum() >= 297
    assert not TextTrigrams.of(random_text(chance) for _ in range(300)).are_near(index).any()


def test_pairs_may_have_a_long_text_in_common():
    first = [Pair(REVIEW, "It is good.", "yes", 1)]
    other = [Pair(REVIEW, "It is bad.", "no", 1), Pair(REVIEW.lower(), "it is good", "yes", 2)]
    (found,) = find_overlaps(ITEM_TYPES_BY_TASK["pair"], {"train": first, "test": other})
    assert found.places == {1}


def test_what_a_model_was_made_of_is_remembered():
    kept = make_fingerprint(KIND, texts(REVIEW, "so so", ""))
    assert isinstance(kept, str)
    assert len(kept) == 16
    assert in_fingerprint(KIND, kept, texts("So, so", "new", "", REVIEW)) == [True, False, False, True]
    for damaged in (None, 7, "?", "abc", "é", []):
        assert in_fingerprint(KIND, damaged, texts("so so")) == [False]


def test_what_was_remembered_stays_known():
    kept = {"So, so": "w/66teL5", "Größe über": "KkWbslFe", "今天天气，很好": "lTfTQGYx"}
    assert {text: make_fingerprint(KIND, texts(text)) for text in kept} == kept
    assert in_fingerprint(KIND, kept["Größe über"], texts(normalize("NFD", "Größe über"))) == [True]


def test_many_texts_with_the_same_phrases_take_no_long_time(takes_under):
    chance = random.Random(1)
    known = [f"{REVIEW} {random_text(chance, 4)}".lower() for _ in range(1500)]
    asked = f"{REVIEW} {random_text(chance, 4)}".lower()
    assert takes_under(5, lambda: TextTrigrams.of([asked]).are_near(TextTrigrams.of(known)).all())


def test_a_pair_is_the_same_the_other_way_round():
    kind, own = ITEM_TYPES_BY_TASK["pair"], [Pair("a b", "C d", "yes"), Pair("e", "f", "no")]
    other = [Pair("c d", "A b", "yes"), Pair("f", "g", "no")]
    (found,) = find_overlaps(kind, {"train": own, "test": other})
    assert (found.items, found.nearly_equal, found.total) == (1, 0, 2)
    assert in_fingerprint(kind, make_fingerprint(kind, own), other) == [True, False]
