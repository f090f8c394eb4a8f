"""The word limit of a training run: when there is one, and what it leaves of each kind of item."""

import numpy as np
import pytest

from headwise.core.tokenizer import first_words, get_tokenizer
from headwise.data.items.examples import Example, Pair, TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.word_limits import LEAST_WORDS, WordLimit, automatic_limit
from headwise.data.splits.data_parts import DataParts

BATCH = 16_384
WORDS = get_tokenizer("penn")


@pytest.mark.parametrize(
    ("lengths", "limit"),
    [
        ([], 0),
        ([10] * 199, 0),
        ([10] * 199 + [400_000], LEAST_WORDS),
        ([10] * 49 + [5_000], LEAST_WORDS),
        ([100] * 199 + [400_000], 1_600),  # 16 times the usual length
        ([10] * 199 + [600], 0),  # holds a fourth of the words only
        ([300] * 100 + [400] * 99 + [6_000], 0),  # fewer than 16 times as many
        ([10] * 100_000 + [20_000], BATCH),  # takes little time, but the memory of more than a batch
        ([50_000] * 20, 0),  # long texts, all of them
        ([10] * 90 + [5_000] * 10, 0),  # every tenth text is long: these are no exception
    ],
)
def test_a_limit_is_for_the_few_texts_that_decide_time_or_memory(lengths, limit):
    assert automatic_limit(lengths, BATCH) == limit


@pytest.mark.parametrize("text", ["ab cd, ef", "ab  cd\n, ef", "東京は晴れです"])
def test_the_first_words_of_a_text_end_where_the_tokenizer_says(text):
    words = WORDS.words(text)
    for count in range(1, len(words) + 2):
        beginning = first_words(text, count, WORDS)
        assert text.startswith(beginning)
        assert WORDS.words(beginning) == words[:count]


def test_the_first_words_of_a_long_text_with_long_words():
    text = " ".join(["w" * 100] * 50)
    assert WORDS.words(first_words(text, 20, WORDS)) == ["w" * 100] * 20


def parts(kind: str, items: list) -> DataParts:
    return DataParts(ITEM_TYPES_BY_TASK[kind], items[:-20], items[-20:-10], items[-10:])


def test_texts_of_every_part_are_cut_with_their_parses():
    long = " ".join(f"w{n}" for n in range(3000))
    heads = np.array([0, 2999, *range(1, 2999)])
    items = [Example(f"short text {n}", "ab"[n % 2], n) for n in range(100)]
    items[3] = Example(long, "a", 3, parse=heads)
    items[95] = Example(long, "b", 95)
    limit = WordLimit.of(parts("classify", items), WORDS, None, BATCH)
    assert (limit.words, limit.longest, len(limit.places)) == (LEAST_WORDS, 3000, 2)
    cut = limit.apply(parts("classify", items))
    assert cut.train[3].text == " ".join(f"w{n}" for n in range(LEAST_WORDS))
    assert cut.test[5].text == cut.train[3].text
    assert cut.train[3].parse.tolist() == [0, 0, *range(1, LEAST_WORDS - 1)]  # word 2999 is cut off
    assert cut.train[4] is items[4]


def test_both_texts_of_a_pair_are_cut():
    items = [Pair(f"one {n}", f"two {n}", "ab"[n % 2], n) for n in range(100)]
    items[3] = Pair("w " * 2000, "x " * 2000, "a", 3)
    data = parts("pair", items)
    pair = WordLimit.of(data, WORDS, None, BATCH).apply(data).train[3]
    assert (len(pair.first.split()), len(pair.second.split())) == (LEAST_WORDS, LEAST_WORDS)


def test_a_tagged_sentence_is_cut_before_a_span():
    sentences = [TaggedSentence(("w", str(n)), ("O", "B-X"), n) for n in range(100)]
    tokens = tuple(f"w{n}" for n in range(2000))
    tags = tuple(
        "B-X" if n == LEAST_WORDS - 2 else "I-X" if LEAST_WORDS - 2 < n < 600 else "O" for n in range(2000)
    )
    spans = tuple((5 * n, 5 * n + 4) for n in range(2000))
    text = "wwww " * 2000
    sentences[3] = TaggedSentence(tokens, tags, 3, columns={"pos": tokens}, text=text, spans=spans)
    data = parts("tag", sentences)
    cut = WordLimit.of(data, WORDS, None, BATCH).apply(data).train[3]
    assert cut.tags == ("O",) * (LEAST_WORDS - 3)
    assert len(cut.tokens) == len(cut.columns["pos"]) == len(cut.spans) == len(cut.tags)
    assert cut.text == text[: 5 * (LEAST_WORDS - 3) - 1]


def test_a_limit_that_is_asked_for_counts_whatever_the_lengths():
    items = [Example(f"a b c d {n}", "ab"[n % 2], n) for n in range(100)]
    data = parts("classify", items)
    limit = WordLimit.of(data, WORDS, 3, BATCH)
    assert {item.text for item in limit.apply(data).train} == {"a b c"}
    assert "a text of the train data: 5 words (and 99 more texts)" in limit.message("texts")
    assert WordLimit.of(data, WORDS, 0, BATCH).message("texts") == ""
