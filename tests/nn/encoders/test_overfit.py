"""Learning: every encoder can tell sixteen texts apart."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import default_readout, output_width
from headwise.nn.encoders.pooling import Readout
from headwise.nn.ragged import Ragged

WIDTH, WORDS = 8, 40
LENGTHS = (3, 1, 5, 6, 2, 4, 4, 2) * 2


@pytest.mark.parametrize("name", list(ENCODERS))
def test_sixteen_texts_are_learned_by_heart(name, encoder_of):
    """Texts of words that they share, whose vectors are fixed, with labels that say nothing of them."""
    encoder = encoder_of(name, torch.float32, dropout=0.0).train()
    readout = Readout(default_readout(encoder.config), output_width(encoder.config))
    torch.manual_seed(1)
    words = torch.randn(WORDS, WIDTH)[torch.randint(WORDS, (sum(LENGTHS),))]
    texts, labels = Ragged.from_lengths(words, LENGTHS), torch.arange(16) // 4 % 2
    classifier = torch.nn.Linear(readout.width, 2)
    modules = torch.nn.ModuleList([encoder, readout, classifier])
    adam = torch.optim.Adam(modules.parameters(), lr=0.03)
    right = 0
    for _ in range(100):
        logits = classifier(readout(encoder(texts)))
        right = int((logits.argmax(-1) == labels).sum())
        if right == 16:
            break
        adam.zero_grad()
        cross_entropy(logits, labels).backward()
        adam.step()
    assert right == 16
