from headwise.training.pretraining.corpus import WordCounts, choose_words


def test_words_are_counted_in_their_plain_spelling():
    counts = WordCounts()
    counts.add(["The", "the", "``", "don’t"])
    assert counts.counts == {"the": 2, '"': 1, "don't": 1}


def test_rare_words_are_forgotten_where_there_are_too_many():
    counts = WordCounts(most=10)
    counts.add(["often"] * 5)
    counts.add([f"w{number}" for number in range(20)])
    counts.add([])
    assert counts.counts["often"] == 5
    assert len(counts.counts) <= 11


def test_the_commonest_words_are_listed():
    counts = {"a": 9, "b": 8, "rare": 1, "c": 7}
    assert choose_words(counts, 2) == ["a", "b"]
    assert choose_words(counts, 9, rarest=2) == ["a", "b", "c"]


def test_numbers_and_marks_rank_lower():
    counts = {**{f"w{n}": 100 - n for n in range(10)}, "1999": 50, **{f"v{n}": 40 - n for n in range(9)}}
    assert "1999" not in choose_words(counts, 12)
    assert "1999" in choose_words(counts, 15)


def test_a_list_from_elsewhere_adds_what_the_text_lacks():
    counts = {f"w{n}": 100 - n for n in range(50)}
    actual = choose_words(counts, 20, listed=["Awesome", "two words", "w40", "never"])
    assert {"awesome", "never", "w0", "w1"} <= set(actual)
    assert actual.index("w40") < actual.index("w19") if "w19" in actual else "w40" in actual
    assert "two words" not in actual
