"""Guessing the scheme of a data set, and finding the tags that do not fit it."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.metrics.tag_schemes import check_tags, convert_tags, detect_scheme, read_spans


def problems(tags: str, scheme) -> list[tuple[int, str]]:
    return [(problem.word, problem.description) for problem in check_tags(tags.split(), scheme)]


@pytest.mark.parametrize(
    ("tags", "scheme", "expected"),
    [
        ("O I-PER I-PER", "iob2", [(1, "I-PER after O under iob2")]),
        ("I-PER O", "iob2", [(0, "I-PER at the start under iob2")]),
        ("B-PER I-LOC", "iob2", [(1, "I-LOC after B-PER under iob2")]),
        ("I-PER O", "iob1", []),
        ("O B-PER", "iob1", [(1, "B-PER after O under iob1")]),
        ("B-PER O", "bioes", [(1, "O after B-PER under bioes")]),
        ("O B-PER", "bioes", [(1, "B-PER at the end under bioes")]),
        ("O E-PER", "bioes", [(1, "E-PER after O under bioes")]),
        ("O U-PER", "bilou", []),
        ("0 B-PER", "iob2", [(0, "0 for O")]),
        ("O b-PER I-PER", "iob2", [(1, "b-PER for B-PER")]),
        ("O PER I-PER", "iob2", [(1, "'PER' is no iob2 tag"), (2, "I-PER after PER under iob2")]),
        ("B-PER E-PER", "iob2", [(1, "'E-PER' is no iob2 tag")]),
        ("NN 0 B-", "plain", []),
        ("", "bioes", []),
    ],
)
def test_problems(tags, scheme, expected):
    assert problems(tags, scheme) == expected


TEXTS = ["I-A I-A B-A O I-B", "O O", "", "I-A I-B B-B"]


@pytest.mark.parametrize("scheme", ["iob1", "iob2", "bioes", "bilou"])
def test_detected_after_conversion(scheme):
    assert detect_scheme(convert_tags(text.split(), scheme) for text in TEXTS).scheme == scheme


@pytest.mark.parametrize(
    ("texts", "scheme", "reason"),
    [
        (["DT NN VB", "NN"], "plain", "such as 'NN' have 4 words"),
        (["O O"], "plain", "others are only O"),
        ([], "plain", "others are only O"),
        (["O PER PER O", "LOC O"], "plain", "such as 'PER' have 3 words"),
        (["O B-A I-A", "B-B 0"], "iob2", "every span begins with B-"),
        (["O I-A I-A", "I-B"], "iob1", "spans begin with I-, and with B- only after"),
        (["B-A I-A", "O I-A", "B-A"], "iob2", "1 spans begin with I- as in iob1, 2 with B- as in iob2"),
        (["B-A I-A O", "O PER O"], "iob2", "every span begins with B-"),
        (["B-A O", "I-A"], "iob2", "1 spans begin with I- as in iob1, 1 with B-"),
        (["S-A O", "B-A E-A"], "bioes", "1 words have E- and 1 words have S-"),
        (["U-A O"], "bilou", "1 words have U-"),
        (["B-A I-A O", "B-A", "B-A E-A"], "iob2", "1 words have E-, fewer than what bioes or bilou"),
        (["I-A I-A O", "O I-A", "S-A"], "iob1", "1 words have S-, fewer than"),
        (["S-A O", "B-A E-A", "O B-A O", "I-A O"], "bioes", "1 words have E-"),
        (["B I O"], "iob2", "every span begins with B-"),
    ],
)
def test_detected(texts, scheme, reason):
    detection = detect_scheme(text.split() for text in texts)
    assert detection.scheme == scheme
    assert reason in detection.reason


@pytest.mark.realdata
def test_conll2003(real_data):
    with gzip.open(real_data / "conll2003/eng.testa.gz", "rt", encoding="utf-8") as file:
        sentences = [block.splitlines() for block in file.read().split("\n\n")]
    texts = [[line.split()[-1] for line in lines if line] for lines in sentences]
    detection = detect_scheme(texts)
    assert detection.scheme == "iob1"
    assert detection.reason.startswith("spans begin with I-")
    assert sum(len(read_spans(tags)) for tags in texts) == 1837 + 922 + 1341 + 1842
    for tags in texts:
        assert check_tags(tags, "iob1") == []
        assert convert_tags(convert_tags(tags, "bioes"), "iob1") == tags


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "E-A", "S-B", "0", "NN", "", "i-A"]), max_size=8))
def test_any_tags_can_be_checked(tags):
    for scheme in ("iob1", "iob2", "bioes", "bilou", "plain"):
        assert all(0 <= problem.word < len(tags) for problem in check_tags(tags, scheme))
    detect_scheme([tags])
