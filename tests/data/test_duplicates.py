"""When texts count as the same: case, white space and the way of writing accents are no difference."""

import random
from unicodedata import normalize

import pytest

from headwise.data.splits.duplicates import chain_keys, first_in_group, indices_by_key
from headwise.data.splits.text_signatures import compose_accents, normal_text


def test_case_space_and_accents_are_no_difference():
    spellings = ["Größe  über", " GRÖSSE über", normalize("NFD", "Größe über"), "Grosse uber"]
    assert indices_by_key(map(normal_text, spellings)) == {"grösse über": [0, 1, 2], "grosse uber": [3]}
    assert normal_text(normalize("NFD", "각 Tür")) == "각 tür"


def test_endless_marks_take_no_endless_time(takes_under):
    text = "a" + "\u0301\u0323" * 200_000  # in an order that is to be changed
    assert takes_under(5, lambda: compose_accents(text))
    assert compose_accents(text) == text


@pytest.mark.parametrize(("firsts", "expected"), [(10, [0, 1, 2, 1]), (8, [0, 1, 2, 3])])
def test_pairs_stay_with_their_first_text_where_these_are_many(firsts, expected):
    """Of fewer only equal pairs stay together."""
    pairs = [
        ("p0", "a"),
        ("p1", "b"),
        ("p2", "c"),
        ("P1", "d"),
        *((f"p{n}", "e") for n in range(3, firsts)),
    ]
    first_indices = first_in_group(pairs, 1)
    assert first_indices[:4].tolist() == expected
    assert first_in_group([*pairs, ("p1 ", "B")], 1)[-1] == 1


def test_no_pairs_have_no_chains():
    assert chain_keys([], 0) is None
    assert first_in_group([], 2).tolist() == []


def test_a_very_long_text_takes_no_memory_for_others(takes_under):
    pairs = [(f"p{n}", "h") for n in range(20_000)] + [("x " * 1_000_000, "h")]
    assert takes_under(5, lambda: chain_keys(pairs, 5))


@pytest.mark.parametrize("firsts", [10, 8])
def test_pairs_stay_with_themselves_the_other_way_round(firsts):
    pairs = [*((f"p{n}", f"h{n}") for n in range(firsts)), ("H1", "p1 "), ("h2", "p3")]
    assert first_in_group(pairs, 1).tolist() == [*range(firsts), 1, firsts + 1]


def test_chains_of_pairs_are_those_of_a_search():
    """Breadth first, from pair to pair, over first texts and both texts in either order."""
    chance = random.Random(0)
    pairs = [(f"t{chance.randrange(60)}", f"t{chance.randrange(60)}") for _ in range(80)]
    left, chains = set(range(80)), {}
    while left:
        seen = [min(left)]
        for one in seen:
            first, both = pairs[one][0], sorted(pairs[one])
            seen += [n for n in left - set(seen) if pairs[n][0] == first or sorted(pairs[n]) == both]
        left -= set(seen)
        chains |= dict.fromkeys(seen, min(pairs[n][0] for n in seen))
    assert chain_keys(pairs, 1) == [chains[n] for n in range(80)]
    assert len(set(chains.values())) < len({first for first, _ in pairs})
