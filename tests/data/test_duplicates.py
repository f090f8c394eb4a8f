import pytest

from headwise.data.duplicates import first_equal, normal_text


def test_case_and_white_space_do_not_matter():
    assert normal_text("  Grüße \n aus\tSTRASSE ") == "grüsse aus strasse"


def test_equal_texts_are_held_out_with_the_first():
    assert first_equal(["a b", "c", "A  b", "", "c", " "], 5).tolist() == [0, 1, 0, 3, 1, 3]
    assert first_equal([], 5).tolist() == []


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
    found = first_equal(pairs, 1)
    assert found[:4].tolist() == expected
    assert first_equal([*pairs, ("p1 ", "B")], 1)[-1] == 1
