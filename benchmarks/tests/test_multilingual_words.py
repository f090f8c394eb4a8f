"""The words of a language and their frequencies, from a small table in the place of wordfreq."""

import sys
from types import SimpleNamespace

import pytest

from benchmarks.defaults import multilingual_words
from benchmarks.defaults.multilingual_words import word_sequences, word_shares

TABLES = {
    "de": {"haus": 0.2, "und": 0.4, "haus-boot": 0.1, "2024": 0.3, "Baum": 0.05},
    "zh": {"学生": 0.3, "学": 0.1, "门2": 0.2},
}


@pytest.fixture(autouse=True)
def wordfreq(monkeypatch):
    """Stands for the package wordfreq."""

    def ranked(language, count, wordlist):
        assert wordlist == "best"
        return sorted(TABLES[language], key=lambda word: -TABLES[language][word])[:count]

    chinese = SimpleNamespace(SIMPLIFIED_MAP={ord("學"): "学", ord("門"): "门"}, simplify_chinese=str)
    package = SimpleNamespace(
        get_frequency_dict=lambda language, wordlist: TABLES[language], top_n_list=ranked, chinese=chinese
    )
    monkeypatch.setitem(sys.modules, "wordfreq", package)
    monkeypatch.setitem(sys.modules, "wordfreq.chinese", chinese)
    multilingual_words._traditional_forms.cache_clear()
    yield
    multilingual_words._traditional_forms.cache_clear()


def test_the_most_frequent_words_come_first():
    shares = word_shares("de", 1_000)
    assert list(shares)[:2] == ["und", "haus"]
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert shares["und"] == pytest.approx(0.4)
    assert shares["baum"] == pytest.approx(0.05)


def test_marks_and_small_numbers_have_a_share_and_years_have_none():
    shares = word_shares("de", 1_000)
    assert shares["."] > shares[","] > shares["°"] > 0
    assert "2024" not in shares
    assert len({"0", "100"} & set(shares)) == 2


def test_only_the_most_frequent_are_listed():
    assert list(word_shares("de", 3)) == list(word_shares("de", 1_000))[:3]


def test_chinese_words_count_for_their_characters_and_for_traditional_forms():
    shares = word_shares("zh", 1_000)
    assert shares["学"] == pytest.approx(0.4)
    assert shares["生"] == pytest.approx(0.3)
    assert shares["學"] == pytest.approx(0.04)
    assert "门" not in shares  # an entry with a number is left out
    assert "門" not in shares
    assert shares["。"] > 0


def test_sequences_are_drawn_by_frequency_and_the_same_for_everyone():
    sequences = word_sequences("de", {"often": 0.81, "rare": 0.01}, 400)
    assert sequences == word_sequences("de", {"often": 0.81, "rare": 0.01}, 400)
    words = " ".join(sequences).split()
    assert {len(sequence.split()) for sequence in sequences} == {2, 3, 4, 5, 6}
    assert words.count("often") / len(words) == pytest.approx(0.9, abs=0.03)  # square roots: 9 to 1


def test_chinese_sequences_are_of_words_without_spaces():
    sequences = word_sequences("zh", word_shares("zh", 1_000), 50)
    assert all(set(sequence) <= set("学生") for sequence in sequences)
    assert any("学生" in sequence for sequence in sequences)
