"""Near-duplicates share a group key, chain by chain, except texts made of a template."""

import random

import pytest

from headwise.data import Example, split_examples
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.duplicates import (
    GroupKeys,
    count_in_long_chains,
    first_in_group,
    near_duplicate_groups,
    similar_texts,
)
from headwise.data.splits.text_signatures import normal_text


def drawn(count: int, words: int = 14) -> list[str]:
    chance = random.Random(3)
    return [" ".join(chance.choices([f"w{n}" for n in range(400)], k=words)) for _ in range(count)]


def changed(text: str, place: int) -> str:
    words = text.split()
    words[place] = "other"
    return " ".join(words)


def test_equal_texts_are_held_out_with_the_first():
    assert first_in_group(["a b", "c", "A  b", "", "c", " "], 5).tolist() == [0, 1, 0, 3, 1, 3]
    assert first_in_group([], 5).tolist() == []


def test_texts_of_the_same_words_and_those_but_for_a_word_are_held_out_with_the_first():
    texts = drawn(30)
    copies = [changed(texts[4], 7), texts[6].replace(" ", ", ").upper(), f"{texts[8]} {texts[9]}"]
    assert first_in_group([*texts, *copies], 5).tolist() == [*range(30), 4, 6, 32]


def test_a_chain_is_one():
    """The last copy has little in common with the first text."""
    texts = drawn(30)
    chain = [texts[0]]
    for place in (2, 11, 6):
        chain.append(changed(chain[-1], place))
    assert first_in_group([chain[0], chain[3]], 5).tolist() == [0, 1]
    assert first_in_group([*texts, *chain[1:]], 5).tolist() == [*range(30), 0, 0, 0]


def test_what_is_made_of_a_template_is_taken_apart():
    """Of 60 texts seven may be alike."""
    texts = drawn(50)
    for copies in (6, 9):
        documents = [*texts, *(changed(texts[0], place) for place in range(copies)), texts[0].upper()]
        first = first_in_group(documents, 5).tolist()
        assert first[-1] == 0
        assert first[50:-1] == ([0] * copies if copies == 6 else [*range(50, 50 + copies)])
        assert count_in_long_chains(similar_texts(documents[:-1]), [None] * len(documents[:-1])) == (
            0 if copies == 6 else copies + 1
        )


def near_duplicate_keys(texts: list[str]) -> list[str]:
    return [*GroupKeys(texts, near_duplicate_groups(texts))]


def test_keys_do_not_depend_on_the_order_of_texts_and_are_their_own_where_none_is_alike():
    texts = [*drawn(30), changed(drawn(1)[0], 5)]
    keys = dict(zip(texts, near_duplicate_keys(texts), strict=True))
    assert near_duplicate_keys(texts[::-1]) == [keys[text] for text in reversed(texts)]
    assert [keys[text] for text in texts[1:-1]] == texts[1:-1]
    assert keys[texts[0]] == keys[texts[-1]] == min(texts[0], texts[-1])
    assert near_duplicate_keys(["A  b", "c"]) == [normal_text("a b"), "c"]


@pytest.mark.parametrize("tagged", [False, True])
def test_no_part_and_no_fold_has_a_text_like_one_of_another(tagged):
    texts = drawn(60)
    texts += [changed(text, 5) for text in texts]
    kind = ITEM_TYPES_BY_TASK["tag" if tagged else "classify"]
    items = [
        TaggedSentence(tuple(text.split()), ("A",) * 14) if tagged else Example(text, "ab"[n % 2])
        for n, text in enumerate(texts)
    ]
    numbers = {id(item): n % 60 for n, item in enumerate(items)}
    split = kind.split(items, 0.2, 0.2)
    parts = [{numbers[id(item)] for item in part} for part in (split.train, split.dev, split.test)]
    assert sum(map(len, parts)) == 60
    assert all(parts)
    folds = kind.folds(items, 4)
    assert folds[:60] == folds[60:]
    assert {*folds} == {0, 1, 2, 3}
    if not tagged:
        split = split_examples(items, 0.2, 0.2)
        assert len({numbers[id(item)] for item in split.test} & parts[0]) == 0
        assert "60 texts stay in the same part as their near-duplicates" in split.notes


def test_a_label_whose_texts_are_mostly_alike_keeps_them_apart():
    """Else no part but training would have one of them."""
    texts = drawn(40)
    made = [changed(texts[0], place) for place in range(5)]
    few, many = ["few"] * 6, ["many"] * 39
    documents = [texts[0], *made, *texts[1:]]
    assert first_in_group(documents, 5).tolist()[:6] == [0] * 6
    assert first_in_group(documents, 5, few + many).tolist() == [*range(45)]
    assert first_in_group(documents, 5, [*few[:3], *many, *few[3:]]).tolist()[:6] == [0] * 6
    items = [Example(text, label) for text, label in zip(documents, few + many, strict=True)]
    split = split_examples(items, 0.2, 0.2)
    assert {"few", "many"} == {item.label for item in split.train} == {item.label for item in split.test}
    assert count_in_long_chains(similar_texts(documents), few + many) == 6
