from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.items.parses import cycle_text, find_cycle


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7))
@settings(max_examples=100, deadline=None)
def test_circles_against_a_walk(heads):
    heads = [head % (len(heads) + 1) for head in heads]

    def on_circle(start):
        word = start
        for _ in heads:
            word = heads[word - 1] if word else 0
            if word == start:
                return True
        return False

    members = {word for word in range(1, len(heads) + 1) if on_circle(word)}
    cycle = find_cycle(heads)
    assert bool(cycle) == bool(members)
    assert set(cycle) <= members
    if cycle:
        assert cycle[0] == min(cycle)
        assert [heads[word - 1] for word in cycle] == [*cycle[1:], cycle[0]]


def test_long_circles_are_shown_in_part():
    assert cycle_text([2, 5]) == "2 -> 5 -> 2"
    assert cycle_text(range(1, 10)) == "1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> ... -> 1"
