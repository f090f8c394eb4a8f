"""The tagger: what it learns, and what it may say."""

import pytest
import torch
from torch.nn.functional import log_softmax

from headwise.core.errors import ConfigError
from headwise.metrics.tag_schemes import TagError, check_tags, tag_set
from headwise.nn.networks.tag_model import Tagger
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import TaggerConfig

TAGS = tag_set(["A", "B"], "bioes")
LENGTHS = [5, 0, 1, 3]


def states(width=6, lengths=LENGTHS, seed=0):
    random = torch.Generator().manual_seed(seed)
    return Ragged.from_lengths(torch.randn(sum(lengths), width, generator=random), lengths)


def make(**settings) -> Tagger:
    torch.manual_seed(0)
    return Tagger(6, TAGS, "bioes", TaggerConfig(hidden=8, **settings)).eval()


@pytest.mark.parametrize("crf", [False, True])
def test_what_is_decoded_fits_the_scheme(crf):
    tagger = make(crf=crf)
    for seed in range(5):
        scores = tagger(states(seed=seed)).map(lambda values: values * 20)
        for tags in tagger.decode(scores).split(LENGTHS):
            assert check_tags([TAGS[y] for y in tags], "bioes") == []


def test_without_crf_and_constraints_words_are_alone():
    tagger = make(crf=False, constraints=False)
    scores, targets = tagger(states()), torch.arange(9)
    assert tagger.crf is None
    assert tagger.decode(scores).tolist() == scores.values.argmax(1).tolist()
    torch.testing.assert_close(tagger.probabilities(scores).values, scores.values.softmax(1))
    words = -log_softmax(scores.values, 1)[torch.arange(9), targets]
    expected = torch.stack([part.sum() for part in words.split(LENGTHS)])
    torch.testing.assert_close(tagger.loss(scores, targets), expected)
    # Constraints on what is decoded alone change nothing else.
    torch.testing.assert_close(make(crf=False).loss(scores, targets), expected)


def test_crf_loss_is_the_likelihood_of_what_is_decoded():
    tagger = make()
    scores = tagger(states())
    best = tagger.decode(scores)
    loss = tagger.loss(scores, best)
    assert loss.shape == (4,)
    assert loss[1] == 0
    expected = tagger.crf.viterbi(scores)[1] - tagger.crf.log_partition(scores)
    torch.testing.assert_close(loss, -expected)
    torch.testing.assert_close(tagger.probabilities(scores).values.sum(1), torch.ones(9))


def test_only_a_learned_crf_has_parameters():
    crf = {name for name, _ in make().named_parameters() if name.startswith("crf")}
    assert crf == {"crf.transitions", "crf.start", "crf.end"}
    assert not [name for name in make(crf=False).state_dict() if name.startswith("crf")]


def test_layers():
    kinds = [type(layer).__name__ for layer in make().layers]
    assert kinds == ["Dropout", "Linear", "ReLU", "Dropout", "Linear"]
    assert [type(layer).__name__ for layer in Tagger(6, TAGS, "bioes", TaggerConfig(hidden=0)).layers] == [
        "Dropout",
        "Linear",
    ]


@pytest.mark.parametrize("crf", [False, True])
def test_learns(crf):
    """The tag of a word depends on the word before, which only the CRF can know."""
    torch.manual_seed(0)
    words = torch.randint(2, (40, 6))
    tags = words.clone()
    tags[:, 1:] = 2 * (words[:, 1:] == 0) * (tags[:, :-1] == 1) + words[:, 1:]
    batch = Ragged.from_lengths(torch.eye(2)[words.flatten()], [6] * 40)
    tagger = Tagger(2, ["a", "b", "c"], "plain", TaggerConfig(hidden=0, dropout=0.0, crf=crf))
    optimizer = torch.optim.Adam(tagger.parameters(), lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        tagger.loss(tagger(batch), tags.flatten()).mean().backward()
        optimizer.step()
    right = (tagger.decode(tagger(batch)) == tags.flatten()).float().mean().item()
    assert right == 1.0 if crf else right < 0.9


def test_wrong_settings():
    with pytest.raises(TagError, match="NN"):
        Tagger(6, ["O", "NN"], "iob2", TaggerConfig())
    Tagger(6, ["O", "NN"], "iob2", TaggerConfig(constraints=False))
    with pytest.raises(ConfigError, match="dropout"):
        TaggerConfig(dropout=1.0)
