"""The CRF: exact sums against brute force, learning, schemes."""

from itertools import pairwise, product

import numpy as np
import pytest

from headwise.data.items.examples import TaggedSentence
from headwise.linear.tag_crf import (
    ATTRIBUTES,
    CRF_STRENGTHS,
    TEMPLATES,
    CrfTagger,
    attributes,
    choose_strength,
    fit_crf,
    word_feature_hashes,
)
from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters, word_hash


def random_tagger(tags: int = 3, seed: int = 0) -> CrfTagger:
    """A CRF of random weights on the words that `SENTENCES` has."""
    random = np.random.default_rng(seed)
    keys = np.unique(word_feature_hashes(SENTENCES)[0])
    return CrfTagger(
        tuple("ABCD"[:tags]),
        "plain",
        keys,
        random.normal(size=(len(keys), tags)).astype(np.float32),
        random.normal(size=(tags, tags)).astype(np.float32),
    )


SENTENCES = [["The", "end", "is", "near"], [], ["No"], ["is", "The", "near", "McDonald's", "2nd"]]


def paths(emissions: np.ndarray, transitions: np.ndarray) -> dict[tuple[int, ...], float]:
    """All tag sequences of a sentence, with their scores."""
    words, tags = emissions.shape
    return {
        path: sum(float(emissions[n, k]) for n, k in enumerate(path))
        + sum(float(transitions[i, k]) for i, k in pairwise(path))
        for path in product(range(tags), repeat=words)
    }


def test_marginals_and_the_best_path_are_those_of_all_paths():
    tagger = random_tagger()
    emissions, ends = tagger.emissions(SENTENCES)
    marginals, _ = tagger.marginals(SENTENCES)
    predictions = tagger.predict([TaggedSentence(tuple(words), ()) for words in SENTENCES])
    assert ends.tolist() == [0, 4, 4, 5, 10]
    for start, end, names in zip(ends[:-1], ends[1:], predictions, strict=True):
        scores = paths(emissions[start:end], tagger.transitions)
        best = max(scores, key=scores.__getitem__)
        assert names == [tagger.tags[k] for k in best]
        total = sum(np.exp(score) for score in scores.values())
        expected = np.zeros((end - start, 3))
        for path, score in scores.items():
            expected[np.arange(end - start), path] += np.exp(score) / total
        np.testing.assert_allclose(marginals[start:end], expected, atol=1e-5)


def names_corpus(count: int, seed: int) -> list[TaggedSentence]:
    """Capitals after `in` are places, others are people; places have two words."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(count):
        one, two, three = ("".join(random.choice(list("abcdeilmnort"), 5)).capitalize() for _ in range(3))
        words = (one, "lives", "in", two, three, ".")
        sentences.append(TaggedSentence(words, ("B-PER", "O", "O", "B-LOC", "I-LOC", "O")))
    return sentences


@pytest.mark.parametrize("scheme", ["iob2", "iob1", "bioes"])
def test_learns_names_by_their_context(scheme):
    train = names_corpus(80, 0)
    tagger = fit_crf(train, "iob2")
    tagger = CrfTagger(tagger.tags, scheme, tagger.keys, tagger.weights, tagger.transitions)
    letters = {"iob2": ("B", "I"), "iob1": ("I", "I"), "bioes": ("B", "E")}[scheme]
    right = [
        tags[3:5] == [f"{letter}-LOC" for letter in letters] and tags[0].endswith("-PER")
        for tags in tagger.predict(names_corpus(50, 1))
    ]
    assert np.mean(right) > 0.95


def test_the_same_data_give_the_same_tagger():
    train = names_corpus(20, 0)
    one, second = (fit_crf(train, "iob2", seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.weights, second.weights)


def test_plain_tags_and_words_never_seen():
    train = [
        TaggedSentence(("dogs", "bark"), ("NOUN", "VERB")),
        TaggedSentence(("cats", "run"), ("NOUN", "VERB")),
    ] * 10
    tagger = fit_crf(train, "plain")
    assert tagger.predict([TaggedSentence(("birds", "sing"), ()), TaggedSentence(("\ud800",), ())])[0] == [
        "NOUN",
        "VERB",
    ]
    assert tagger.predict([]) == []


def noisy_corpus(count: int, seed: int) -> list[TaggedSentence]:
    """Three words of ten have a tag that no word tells, the others have none."""
    random = np.random.default_rng(seed)
    words = random.integers(0, 3000, (count, 8))
    tags = np.where(random.random((count, 8)) < 0.3, "MARK", "O")
    return [
        TaggedSentence(tuple(f"w{n}" for n in numbers), tuple(map(str, marks)))
        for numbers, marks in zip(words, tags, strict=True)
    ]


def test_a_penalty_is_chosen_where_words_tell_little():
    train, test = noisy_corpus(200, 0), noisy_corpus(100, 1)
    assert choose_strength(train) == CRF_STRENGTHS[-1]
    right = [
        np.mean(
            [
                tag == sentence.tags[n]
                for tags, sentence in zip(predictions, test, strict=True)
                for n, tag in enumerate(tags)
            ]
        )
        for predictions in (
            fit_crf(train, "plain").predict(test),
            fit_crf(train, "plain", strength=0.0).predict(test),
        )
    ]
    assert right[0] > right[1] + 0.02
    learnable = [TaggedSentence((f"w{n % 40}", f"{n}th"), ("AB"[n % 2], "NUM")) for n in range(200)]
    assert choose_strength(learnable) == 0.0
    assert choose_strength(train[:1]) == choose_strength([TaggedSentence((), ())] * 9) == 0.0


def test_penalties_shrink_weights_and_doubles_do_not_choose_them():
    train = noisy_corpus(200, 0)
    sizes = [
        np.abs(fit_crf(train, "plain", strength=strength).weights).mean() for strength in CRF_STRENGTHS
    ]
    assert sizes[0] > sizes[1] > sizes[2] > 0
    assert choose_strength(train * 3) == CRF_STRENGTHS[-1]


def test_one_tag_only():
    tagger = fit_crf([TaggedSentence(("a", "b"), ("O", "O"))], "iob2")
    assert tagger.predict([TaggedSentence(("c", "a"), ())]) == [["O", "O"]]


def test_attributes_tell_shape_and_ends():
    by_attribute = dict(zip(ATTRIBUTES, attributes("McDonald's-2nd"), strict=True))
    assert by_attribute["shape"] == "XxXxxxxx'x-0xx"
    assert by_attribute["short"] == "XxXx'x-0x"
    assert (by_attribute["first3"], by_attribute["last2"], by_attribute["word"]) == (
        "mcd",
        "nd",
        "McDonald's-2nd",
    )
    assert attributes("1998")[1] == attributes("2003")[1] == "0000"


def test_neighbours_end_with_the_sentence():
    alone, ends = word_feature_hashes([["b"]])
    both, _ = word_feature_hashes([["a"], ["b"], ["c"]])
    np.testing.assert_array_equal(both[1], alone[0])
    among, _ = word_feature_hashes([["a", "b", "c"]])
    same = (among[1] == alone[0]).sum()
    assert ends.tolist() == [0, 1]
    assert same == len(ATTRIBUTES) + 4  # and two words away, on either side, there is nothing
    assert among.shape == (3, len(TEMPLATES))


def groups_of(*classes: str) -> WordClusters:
    """Words of each class, separated by spaces, in a group of their own."""
    clusters = {word: number for number, words in enumerate(classes) for word in words.split()}
    numbers = np.repeat(np.array([*clusters.values()], dtype=np.int16)[:, None], len(LEVELS), axis=1)
    return WordClusters(np.array([word_hash(word) for word in clusters], dtype=np.uint32), numbers)


def test_groups_of_words_are_features_beside_those_that_there_are_without():
    groups = groups_of("end near", "is")
    plain, ends = word_feature_hashes(SENTENCES)
    hashes, same = word_feature_hashes(SENTENCES, groups)
    np.testing.assert_array_equal(hashes[:, : plain.shape[1]], plain)
    np.testing.assert_array_equal(same, ends)
    cluster_hashes = hashes[:, plain.shape[1] :]
    assert cluster_hashes.shape[1] == len(LEVELS)
    words = [word for sentence in SENTENCES for word in sentence]
    rows = {word: cluster_hashes[place].tolist() for place, word in enumerate(words)}
    assert rows["end"] == rows["near"] != rows["is"]
    assert rows["The"] == rows["No"]  # in no group
    assert len({*rows["end"], *rows["is"], *rows["No"]}) == 3 * len(LEVELS)


def test_words_of_a_group_are_tagged_like_those_that_were_seen():
    train = [
        TaggedSentence((word,), (tag,))
        for word, tag in zip(("aaa", "bbb", "xxx", "yyy"), "NNVV", strict=True)
    ]
    with_groups = fit_crf(train * 10, "plain", strength=0.0, groups=groups_of("aaa bbb ccc", "xxx yyy zzz"))
    without = fit_crf(train * 10, "plain", strength=0.0)
    sentences = [["ccc"], ["zzz"]]
    assert np.diag(with_groups.marginals(sentences)[0]).min() > 0.8
    assert np.diag(without.marginals(sentences)[0]).max() < 0.7


def test_tags_can_be_put_in_another_order_and_added():
    tagger = random_tagger()
    wider = tagger.with_tags(("C", "new", "A", "B"))
    old, new = (crf.emissions(SENTENCES)[0] for crf in (tagger, wider))
    np.testing.assert_array_equal(new[:, [2, 3, 0]], old)
    assert not new[:, 1].any()
    places = [2, 3, 0]
    np.testing.assert_array_equal(wider.transitions[np.ix_(places, places)], tagger.transitions)
    assert not wider.transitions[1].any()
    assert not wider.transitions[:, 1].any()


def test_a_previous_crf_is_kept_where_the_new_sentences_say_nothing():
    def sentence(word: str, tag: str) -> TaggedSentence:
        return TaggedSentence(("went", "to", word), ("O", "O", tag))

    previous = fit_crf([sentence(word, "B-LOC") for word in ("Ulm", "Bonn")] * 10, "iob2")
    new = [sentence(word, "B-DAY") for word in ("7/8", "9/8")] * 10
    alone, both = fit_crf(new, "iob2"), fit_crf(new, "iob2", previous=previous)
    assert both.tags == ("O", "S-DAY", "S-LOC")
    assert set(previous.keys) | set(alone.keys) == set(both.keys)
    assert list(both.keys) == sorted(both.keys)
    only = ~np.isin(previous.keys, alone.keys)
    rows = np.searchsorted(both.keys, previous.keys[only])
    np.testing.assert_array_equal(both.weights[rows][:, [0, 2]], previous.weights[only])
    new_sentences = [TaggedSentence(("went", "to", word), ("O", "O", "O")) for word in ("Ulm", "9/8")]
    assert [tags[2] for tags in both.predict(new_sentences)] == ["B-LOC", "B-DAY"]
    assert [tags[2] for tags in alone.predict(new_sentences)] == ["B-DAY", "B-DAY"]


def test_tags_that_no_sentence_has():
    tagger = fit_crf([TaggedSentence(("a", "b"), ("X", "Y"))] * 4, "plain", more_tags=("Z", "X"))
    assert tagger.tags == ("X", "Y", "Z")
    assert tagger.predict([TaggedSentence(("a", "b"), ("Z", "Z"))]) == [["X", "Y"]]
