"""The registry of error codes is complete and says what to do."""

import re
from pathlib import Path

from headwise.core.error_codes import error_codes

SOURCE = Path(__file__).parents[2] / "src" / "headwise"
CODE = re.compile(r"\bHW\d{3}\b")


def codes_in_source() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    return {code for text in texts for code in CODE.findall(text)}


def test_every_code_of_the_source_is_registered_and_no_other():
    assert set(error_codes()) == codes_in_source()


def test_every_code_has_a_cause_of_its_own_and_a_remedy():
    rows = list(error_codes().values())
    assert all(CODE.fullmatch(row.code) and row.cause and row.remedy for row in rows)
    assert len({row.cause for row in rows}) == len(rows)
    assert list(error_codes()) == sorted(error_codes())


def test_causes_and_remedies_are_phrases_of_at_most_25_words():
    for row in error_codes().values():
        for text in (row.cause, row.remedy):
            assert len(text.split()) <= 25, text
            assert not text.endswith("."), text
