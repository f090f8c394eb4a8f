import pytest

from headwise.data.items.bag_items import looks_like_bags

NUMBERS = ["1,a,0.5,-2,1e3", "1,a,1,7,0", "0,b,3,4,1"]


@pytest.mark.parametrize(
    "lines",
    [
        NUMBERS,
        ["label;bag_id;x", "1;a;2", "0;b;3"],
        ["y,Bag,x,Label", "1,a,2,yes", "3,a,4,yes"],
        ["bag,x,z,label", "a,2,3,yes", "a,,3,yes", "b,4,NA,no"],  # some are missing
        ["MUSK-1,1_1+1,42,-198,1.", "NON-MUSK-2,2_1+1,4,5,0."],
    ],
)
def test_bags(lines):
    assert looks_like_bags(lines)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["1,a,0.5,-2,1e3"],
        ["label,text", "1,a film", "0,another"],
        ["label,group,text", "1,a,some words", "0,b,more words"],  # no numbers
        ["1,a,0.5,-2,words", *NUMBERS[1:]],
        ["1,a,0.5", "1,a,1"],  # may be anything
        ["1,a,0,1,2", "1,b,0,1,2", "0,c,0,1,2"],  # no bag has two rows
        [*NUMBERS, "1,a"],
        ['{"label": 1, "text": "a"}', '{"label": 0, "text": "b"}'],
        ["Peter NNP B-NP B-PER", "lives VBZ B-VP O", ""],
        ["", "", ""],
    ],
)
def test_something_else(lines):
    assert looks_like_bags(lines) is None


def test_a_known_delimiter():
    lines = ["label bag x", "1 a 2", "0 b 3"]
    assert looks_like_bags(lines) is None
    assert looks_like_bags(lines, " ")
