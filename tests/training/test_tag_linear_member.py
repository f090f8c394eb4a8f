"""Ensemble weights of a tagger's linear CRF and encoder; both decode together."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from headwise.artifacts import load_model, save_model
from headwise.data.items.examples import TaggedSentence
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.task_layers.layer_configs import TaggerConfig
from headwise.text.character_features import Alphabet
from headwise.text.text_configs import CharacterConfig, WordConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training.tagging_objective import TagEnsembleFitter, TaggingObjective, _usual_penalty

WORDS = {"N": ("apple", "pear", "plum"), "V": ("eat", "peel", "cook")}


def corpus(count: int, seed: int, noise: float = 0.0) -> list[TaggedSentence]:
    """Sentences of nouns and verbs, some of which are tagged wrong."""
    random = np.random.default_rng(seed)
    sentences = []
    for line in range(count):
        tags = ["NV"[n] for n in random.integers(0, 2, random.integers(1, 6))]
        words = tuple(str(random.choice(WORDS[tag])) for tag in tags)
        wrong = random.random(len(tags)) < noise
        observed = tuple("VN"["NV".index(t)] if w else t for t, w in zip(tags, wrong, strict=True))
        sentences.append(TaggedSentence(words, observed, line))
    return sentences


def objective(
    dev: list[TaggedSentence], crf: bool = True, train: list[TaggedSentence] | None = None, tags: str = "VN"
) -> TaggingObjective:
    torch.manual_seed(0)
    config = ModelConfig(
        task="tag",
        words=WordConfig(vector_size=8),
        encoder=MSTransformerConfig(width=8, heads=2, head_size=4, layers=1),
        characters=CharacterConfig(features=4),
        tagger=TaggerConfig(hidden=4, crf=crf),
    )
    words = [word for group in WORDS.values() for word in group]
    scheme = "plain" if tags == "VN" else "bioes"
    model = TagModel(config, Vocabulary.build([words]), list(tags), scheme, Alphabet.build(words)).eval()
    return TaggingObjective(model, train or corpus(30, 0), dev)


def knowing(task_objective: TaggingObjective, strength: float) -> None:
    """Let the encoder score true tags so much higher than others."""
    for name in WORDS["N"] + WORDS["V"]:
        assert task_objective.model.features.vocabulary.encode([name])[0] > 0
    verbs = torch.from_numpy(task_objective.model.features.vocabulary.encode(list(WORDS["V"])))

    def forward(batch):
        verb = torch.isin(batch.words.values, verbs).float()
        return batch.words.with_values(strength * torch.stack([verb, 1 - verb], dim=1))

    task_objective.model.forward = forward  # type: ignore[method-assign]


def test_an_encoder_that_knows_nothing_is_dropped_and_not_asked():
    task_objective = objective(corpus(60, 1, noise=0.1))
    knowing(task_objective, 0.0)
    TagEnsembleFitter(task_objective, dict).fit_members()
    model = task_objective.model
    assert (model.encoder_weight, model.linear_share) == (0.0, 1.0)
    model.forward = None  # type: ignore[method-assign, assignment]
    clean = corpus(60, 1)
    decoded = model.decode(model.encode_sentences(clean))[0]
    assert all((tags == model.targets(item)).all() for tags, item in zip(decoded, clean, strict=True))


def test_a_linear_member_that_says_the_contrary_is_dropped():
    wrong = [
        replace(sentence, tags=tuple("VN"["NV".index(t)] for t in sentence.tags))
        for sentence in corpus(60, 1)
    ]
    task_objective = objective(wrong)
    knowing(task_objective, -2.0)  # right on these
    TagEnsembleFitter(task_objective, dict).fit_members()
    assert task_objective.model.linear_model is None
    assert (task_objective.model.linear_weight, task_objective.model.linear_share) == (0.0, 0.0)
    assert task_objective.model.config.linear_model.features == 0


def test_a_tagger_whose_folder_gives_nobody_a_say_still_tags():
    task_objective = objective(corpus(60, 1, noise=0.1))
    TagEnsembleFitter(task_objective, dict).fit_members()
    numbers, sure = task_objective.model.decode(
        task_objective.model.encode_sentences(corpus(3, 2)), weights=(0.0, 0.0)
    )
    assert [len(tags) for tags in numbers] == [len(item.tokens) for item in corpus(3, 2)]
    assert all(np.isfinite(shares).all() for shares in sure)


@pytest.mark.parametrize("tags", ["VN", "SO"])
def test_dev_that_contradicts_both_leaves_the_encoder_alone(tags):
    def tagged(items: list[TaggedSentence], order: str) -> list[TaggedSentence]:
        return [replace(item, tags=tuple(order["VN".index(t)] for t in item.tags)) for item in items]

    train, dev = tagged(corpus(30, 0), tags), tagged(corpus(60, 1), tags[::-1])
    task_objective = objective(dev, False, train, tags)
    knowing(task_objective, 9.0)
    TagEnsembleFitter(task_objective, dict).fit_members()
    assert task_objective.model.linear_model is None
    assert (task_objective.model.encoder_weight, task_objective.model.linear_share) == (1.0, 0.0)


@pytest.mark.parametrize("crf", [True, False])
def test_both_decode_together_and_a_saved_model_says_the_same(crf, tmp_path):
    task_objective = objective(corpus(60, 1, noise=0.2), crf=crf)
    knowing(task_objective, 1.0)
    TagEnsembleFitter(task_objective, dict).fit_members()
    model = task_objective.model
    del model.forward
    assert 0 < model.linear_share < 1
    items = [item for item in corpus(20, 2) if len(item.tokens) > 1][:3]
    encoded = model.encode_sentences(items)
    decoded, sure = model.decode(encoded)
    assert model.linear_model is not None
    for text, item, tags, chances in zip(encoded, items, decoded, sure, strict=True):
        with torch.no_grad():
            _, batch = next(model.batches([text]))
            scores = model.encoder_weight * model(batch).values.numpy()
        scores = scores + model.linear_weight * model.linear_model([item.tokens])
        moves = model.linear_weight * model.linear_model.transitions.numpy()
        start, end = np.zeros(2), np.zeros(2)
        if crf:
            learned = model.tagger.crf
            assert learned is not None
            moves = moves + model.encoder_weight * learned.transitions.detach().numpy()
            start, end = (
                model.encoder_weight * parameter.detach().numpy()
                for parameter in (learned.start, learned.end)
            )
        paths = {
            path: start[path[0]]
            + end[path[-1]]
            + sum(scores[n, k] for n, k in enumerate(path))
            + sum(moves[i, k] for i, k in pairwise(path))
            for path in product(range(2), repeat=len(text))
        }
        best = max(paths, key=paths.__getitem__)
        assert tags.tolist() == list(best)
        total = sum(np.exp(score) for score in paths.values())
        first = sum(np.exp(score) for path, score in paths.items() if path[0] == best[0]) / total
        assert chances[0] == pytest.approx(first, abs=1e-4)
    save_model(model, tmp_path / "model", data={}, training={}, metrics={})
    assert load_model(tmp_path / "model").tag(items) == model.tag(items)


def test_spans_of_which_no_one_is_sure_are_found_where_f1_asks_for_them():
    """Verbs are spans. Training tags are chance, so the linear CRF is blind; the encoder prefers O."""
    random = np.random.default_rng(5)

    def spans(items: list[TaggedSentence], chance: bool) -> list[TaggedSentence]:
        return [
            replace(
                sentence,
                tags=tuple("SO"[random.random() < 0.8 if chance else t == "N"] for t in sentence.tags),
            )
            for sentence in items
        ]

    task_objective = objective(spans(corpus(60, 1), False), False, spans(corpus(60, 0), True), "OS")
    verbs = torch.from_numpy(task_objective.model.features.vocabulary.encode(list(WORDS["V"])))

    def forward(batch):
        verb = torch.isin(batch.words.values, verbs).float()
        return batch.words.with_values(torch.stack([1 + 0 * verb, 4 * verb - 4], dim=1) * 0.5)

    task_objective.model.forward = forward  # type: ignore[method-assign]
    assert task_objective.evaluate()["f1"] == 0
    TagEnsembleFitter(task_objective, dict).fit_members()
    assert task_objective.model.outside > 0
    assert task_objective.evaluate()["f1"] > 0.9


@pytest.mark.parametrize("shape", [(0.5, 4.0), (0.5, 1.0), (2.0, 0.5)])
def test_the_usual_penalty_makes_the_best_expected_f1(shape):
    """Of items whose probabilities are known, those above a threshold are predicted."""
    chances = np.sort(np.random.default_rng(0).beta(*shape, size=20_000))[::-1]
    hits, predicted = np.cumsum(chances), np.arange(1, len(chances) + 1)
    expected = 2 * hits / (predicted + chances.sum())
    least = chances[expected.argmax()]
    assert _usual_penalty(expected.max()) == pytest.approx(np.log((1 - least) / least), abs=0.02)


def test_penalties_stay_within_those_that_are_tried():
    assert _usual_penalty(0.0) == 2.0
    assert _usual_penalty(1.0) == 0.0


def test_what_is_taken_off_o_is_no_part_of_probabilities():
    """Two verbs in five are spans, which the encoder knows; F1 asks for all of them."""
    random = np.random.default_rng(5)

    def spans(items: list[TaggedSentence]) -> list[TaggedSentence]:
        return [
            replace(sentence, tags=tuple("SO"[t == "N" or random.random() < 0.6] for t in sentence.tags))
            for sentence in items
        ]

    dev = spans(corpus(300, 1))
    task_objective = objective(dev, False, spans(corpus(200, 0)), "OS")
    verbs = torch.from_numpy(task_objective.model.features.vocabulary.encode(list(WORDS["V"])))
    scores = np.log([[0.6, 0.4], [0.99, 0.01]])

    def forward(batch):
        noun = 1 - torch.isin(batch.words.values, verbs).long()
        return batch.words.with_values(torch.tensor(scores, dtype=torch.float32)[noun])

    task_objective.model.forward = forward  # type: ignore[method-assign]
    TagEnsembleFitter(task_objective, dict).fit_members()
    assert task_objective.model.outside > 0
    new = spans(corpus(300, 2))
    encoded = task_objective.model.encode_sentences(new)
    decoded, sure = map(np.concatenate, task_objective.model.decode(encoded))
    chances = np.concatenate(task_objective.model.marginals(encoded))
    truth = np.concatenate([task_objective.model.targets(item) for item in new])
    np.testing.assert_allclose(sure, chances[np.arange(len(decoded)), decoded], atol=1e-5)
    predicted = decoded == 1  # all verbs
    assert truth[predicted].mean() == pytest.approx(0.4, abs=0.05)
    assert chances[predicted, 1].mean() == pytest.approx(0.4, abs=0.06)
    assert task_objective.model.tag(new[:1])[0].probabilities == tuple(sure[: len(new[0].tokens)].tolist())


def test_a_second_training_takes_over_the_weights():
    first, second = objective(corpus(60, 1, noise=0.2)), objective([])
    knowing(first, 1.0)
    TagEnsembleFitter(first, dict).fit_members()
    TagEnsembleFitter(second, dict).refit(TagEnsembleFitter(first, dict))
    assert second.model.linear_model is not None
    assert second.model.linear_weight == first.model.linear_weight
    assert second.model.linear_share == first.model.linear_share
