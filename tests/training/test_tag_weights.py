"""Weights of sentences: in the loss, on dev, for the linear CRF and its ensemble weight."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise import TextTagger
from headwise.app.configuration import build_config
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts
from headwise.linear.tag_crf import fit_crf
from headwise.models.tasks import find_task
from headwise.training.tagging_objective import TagEnsembleFitter

SMALL = {
    "encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8},
    "words": {"vector_size": 8},
}
TAGS = {"plain": ("N", "V"), "spans": ("B-PER", "O")}
WORDS = (("apple", "pear", "plum"), ("eat", "peel", "cook"))


def corpus(count: int, kind: str, wrong: bool = False, seed: int = 0) -> list[TaggedSentence]:
    """Sentences of two kinds of words, which have their own tags, or each that of the other."""
    chance, sentences = random.Random(seed), []
    for line in range(count):
        kinds = chance.choices((0, 1), k=5)
        words = tuple(chance.choice(WORDS[number]) for number in kinds)
        sentences.append(
            TaggedSentence(words, tuple(TAGS[kind][number != wrong] for number in kinds), line)
        )
    return sentences


def weighed(sentences, weights) -> list[TaggedSentence]:
    return [
        replace(sentence, weight=float(weight)) for sentence, weight in zip(sentences, weights, strict=True)
    ]


@pytest.mark.parametrize("kind", TAGS)
def test_a_weight_is_as_many_sentences_in_the_loss_and_on_dev(kind):
    times = np.random.default_rng(0).integers(0, 4, 40)
    sentences = [*corpus(20, kind), *corpus(20, kind, wrong=True, seed=1)]
    again = [sentence for sentence, count in zip(sentences, times, strict=True) for _ in range(count)]
    task, recipe = find_task("tag"), build_config(SMALL, {"model": {"task": "tag"}})
    both = [
        DataParts(ITEM_TYPES_BY_TASK["tag"], items, items, [])
        for items in (weighed(sentences, times), again)
    ]
    torch.manual_seed(0)
    model, _ = task.build(both[1], recipe, None)
    for weights in model.parameters():  # or all tags are as likely, and no sentence says more than others
        weights.data *= 2
    weighted, plain = (task.objective(model, parts) for parts in both)
    model.eval()
    loss, expected = weighted.loss(range(40)).item(), plain.loss(range(len(again))).item()
    assert loss * times[times > 0].mean() == pytest.approx(expected, rel=1e-4)
    assert weighted.evaluate() == pytest.approx(plain.evaluate(), rel=1e-4)
    assert weighted.evaluate()["loss"] != pytest.approx(
        task.objective(model, DataParts(ITEM_TYPES_BY_TASK["tag"], sentences, sentences, [])).evaluate()[
            "loss"
        ],
        rel=1e-2,
    )


@pytest.mark.parametrize("kind", TAGS)
@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_the_linear_crf_learns_what_counts(kind, weight):
    right, wrong = corpus(40, kind), corpus(60, kind, wrong=True, seed=1)
    scheme = "plain" if kind == "plain" else "iob2"
    for light, heavy, flipped in ((wrong, right, False), (right, wrong, True)):
        sentences = [*weighed(light, [weight] * len(light)), *weighed(heavy, [2.0] * len(heavy))]
        new = corpus(100, kind, wrong=flipped, seed=9)
        predicted = np.concatenate(fit_crf(sentences, scheme).predict(new))
        assert np.mean(predicted == np.concatenate([true.tags for true in new])) > (
            0.85 if weight else 0.99
        )


@pytest.mark.parametrize("kind", TAGS)
def test_what_counts_nothing_on_dev_has_no_say_in_who_has_some(kind):
    """The CRF is right, of what counts."""
    train, dev = corpus(40, kind), corpus(20, kind, seed=2)
    wrong = weighed(corpus(60, kind, wrong=True, seed=3), [0.0] * 60)
    task, recipe = find_task("tag"), build_config(SMALL, {"model": {"task": "tag"}})
    shares = []
    for held in (dev, [*dev, *wrong]):
        parts = DataParts(ITEM_TYPES_BY_TASK["tag"], train, held, [])
        model, _ = task.build(parts, recipe, None)
        TagEnsembleFitter(task.objective(model.eval(), parts), dict).fit_members()
        shares.append((model.linear_model is not None, model.linear_share))
    assert shares[0][0]
    assert shares[1] == (True, pytest.approx(shares[0][1], abs=0.1))


def test_what_counts_nothing_is_not_learnt():
    sentences = [*corpus(60, "spans"), *corpus(90, "spans", wrong=True, seed=1)]
    words, tags = (
        [list(sentence.tokens) for sentence in sentences],
        [list(sentence.tags) for sentence in sentences],
    )
    tagger = TextTagger(recipe=SMALL | {"base": {"name": "none"}}, epochs=6)
    tagger.fit(words, tags, [1] * 60 + [0] * 90)
    assert tagger.score(words[:60], tags[:60]) > 0.9
    with pytest.raises(ValueError, match="sample_weight must be finite numbers"):
        tagger.fit(words, tags, [-1] * 150)
