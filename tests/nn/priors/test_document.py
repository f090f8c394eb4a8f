"""Priors that go by sentences and paragraphs."""

from collections.abc import Sequence

import pytest
import torch

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.dataset import cut_windows
from headwise.nn.attention import SelfAttention, choose
from headwise.nn.attention.reference import attention as reference
from headwise.nn.attention.sdpa import attention as fused
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.long_texts import encode_in_windows
from headwise.nn.layout import Layout
from headwise.nn.priors import (
    Forward,
    GlobalTokens,
    PositionPairs,
    SameParagraph,
    SameSentence,
    SentenceDistance,
    Window,
    WordDistance,
)
from headwise.nn.ragged import Ragged

PRIORS = [
    SameSentence(),
    SameParagraph(),
    SentenceDistance(0.7),
    SentenceDistance(0.3, reach=1),
    SentenceDistance(0, reach=0),
    SameSentence() + Forward() + WordDistance(0.2),
    GlobalTokens(SameSentence(), 1),
]
SENTENCES = ([0, 0, 1, 1, 1, 2, 3], [], [0], [0, 1, 1, 2], [0, 0, 0, 0])
PARAGRAPHS = ([0, 0, 0, 0, 0, 1, 1], [], [0], [0, 1, 1, 1], [0, 0, 0, 0])

ALL = range(len(SENTENCES))


def layout_of(texts: Sequence[int] = ALL, node: bool = False) -> Layout:
    marks = {"sentence": SENTENCES, "paragraph": PARAGRAPHS}
    lengths = [len(SENTENCES[text]) for text in texts]
    layout = Layout(
        lengths, marks={name: [torch.tensor(of[t]).long() for t in texts] for name, of in marks.items()}
    )
    return layout.prepended if node else layout


def weight(prior, i, j, sentence, paragraph, q, k):
    """The exponential of the logit of a pair, 0 where it is not seen: each prior once more, by hand."""
    node = -1 in (sentence[i], sentence[j])
    steps = 0 if node else abs(sentence[i] - sentence[j])
    parts = getattr(prior, "parts", (prior,))
    logit = float(q @ k) / len(q) ** 0.5
    for part in parts:
        match part:
            case SameSentence():
                seen = node or sentence[i] == sentence[j]
            case SameParagraph():
                seen = node or paragraph[i] == paragraph[j]
            case SentenceDistance():
                seen, logit = part.reach is None or steps <= part.reach, logit - part.alpha * steps
            case Forward():
                seen = j <= i
            case WordDistance():
                seen, logit = True, logit - part.alpha * abs(i - j)
            case GlobalTokens():
                seen = min(i, j) == 0 or node or sentence[i] == sentence[j]
            case _:
                raise NotImplementedError
        if not seen:
            return 0.0
    return torch.tensor(logit).exp().item()


@pytest.mark.parametrize("node", [False, True], ids=["words", "classification node"])
@pytest.mark.parametrize("attend", [reference, fused])
@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_a_double_loop(prior, attend, node):
    layout = layout_of(node=node)
    q, k, v = torch.randn(3, layout.total, 2, 4, generator=torch.Generator().manual_seed(1)).double()
    outputs = attend(q, k, v, [prior, prior], layout)
    start = 0
    for sentence, paragraph in zip(SENTENCES, PARAGRAPHS, strict=True):
        units = ([-1, *sentence], [-1, *paragraph]) if node else (sentence, paragraph)
        n = len(units[0])
        for head in range(2):
            for i in range(n):
                weights = [
                    weight(prior, i, j, *units, q[start + i, head], k[start + j, head]) for j in range(n)
                ]
                expected = sum(w * v[start + j, head] for j, w in enumerate(weights)) / sum(weights)
                torch.testing.assert_close(outputs[start + i, head], expected, rtol=1e-6, atol=1e-6)
        start += n


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_texts_do_not_depend_on_their_batch(prior):
    torch.manual_seed(0)
    layer = SelfAttention(6, [prior, Window(width=3)], 4).double()
    values = torch.randn(layout_of().total, 6, dtype=torch.float64)
    together = Ragged(values, layout_of())
    for text in ALL:
        alone = Ragged(together[text], layout_of([text]))
        torch.testing.assert_close(layer(alone).values, layer(together)[text], rtol=1e-12, atol=1e-12)


def test_gradients_are_those_of_the_reference():
    layout = layout_of(node=True)
    inputs = torch.randn(3, layout.total, len(PRIORS), 4, dtype=torch.float64).requires_grad_()
    grads = [
        torch.autograd.grad(attend(inputs[0], inputs[1], inputs[2], PRIORS, layout).square().sum(), inputs)[
            0
        ]
        for attend in (reference, fused)
    ]
    torch.testing.assert_close(*grads, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_without_sentences_it_is_an_error(prior):
    with pytest.raises(HeadwiseError, match="the batch does not say which") as error:
        prior.bias(PositionPairs.of_length(3))
    assert error.value.code == "HW312"


@pytest.mark.parametrize("make", [lambda: SentenceDistance(float("nan")), lambda: SentenceDistance(1, -1)])
def test_impossible_values(make):
    with pytest.raises(ConfigError):
        make()


def test_the_fast_loops_leave_them_to_the_mask():
    query = torch.zeros(layout_of().total, 2, 4)
    assert choose(query, [SameSentence(), SentenceDistance()], layout_of()).name == "sdpa"


class TestLayouts:
    def test_marks_that_do_not_fit(self):
        with pytest.raises(ValueError, match=r"sentence: numbers of \[2\] rows do not fit \[3\]"):
            Layout([3], marks={"sentence": [torch.zeros(2)]})

    def test_the_first_row_belongs_to_all(self):
        layout = Layout([2], marks={"sentence": [torch.tensor([0, 1])]})
        assert layout.prepended.marks_of(0)["sentence"].tolist() == [-1, 0, 1]
        assert layout.prepended.without_first.marks_of(0)["sentence"].tolist() == [0, 1]
        assert layout.to("meta").marks_of(0)["sentence"].device.type == "meta"

    def test_windows_of_long_texts_have_their_part(self):
        seen = []

        def encoder(x):
            seen.extend(numbers.tolist() for numbers in x.layout.marks["sentence"])
            return Encoded(x)

        layout = Layout([7], marks={"sentence": [torch.arange(7)]})
        encode_in_windows(encoder, Ragged(torch.zeros(7, 2), layout), 4, 1)  # type: ignore[arg-type]
        assert seen == [list(range(w.start, w.stop)) for w in cut_windows(7, 4, 1)]
