"""Words that look at the other text of a pair, against a loop over pairs, heads and words."""

import pytest
import torch

from headwise.nn.encoders.encoder import Encoded
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.layer_configs import PairConfig
from headwise.nn.task_layers.pair_layers import CrossAttentionLayers

SIZES = {"cross_layers": 2, "cross_heads": 2, "cross_head_size": 3, "cross_feedforward": 8}


def cross_by_hand(block, first, second):
    """One block on one text, head by head and word by word."""
    seen = torch.zeros(len(first), block.heads * 3, dtype=first.dtype)
    for head in range(block.heads):
        part = slice(3 * head, 3 * head + 3)
        q, k, v = block.query(first)[:, part], block.key(second)[:, part], block.value(second)[:, part]
        for word in range(len(first)):
            if len(second):
                weights = torch.softmax(k @ q[word] / 3**0.5, dim=0)
                seen[word, part] = weights @ v
    z = block.norm1(first + block.out(seen))
    return block.norm2(z + block.down(torch.relu(block.up(z))))


def match_by_hand(block, first, second):
    """The same of a block that matches words."""
    new = torch.zeros_like(first)
    for word, state in enumerate(first):
        seen = torch.zeros_like(state)
        if len(second):
            likeness = torch.stack([block.look.weight @ state @ block.look.weight @ one for one in second])
            seen = torch.softmax(likeness / len(state) ** 0.5, dim=0) @ second
        compared = torch.cat([state, seen, state * seen, (state - seen).abs()])
        new[word] = block.norm(torch.relu(block.compare.weight @ compared + block.compare.bias))
    return new


@pytest.mark.parametrize("with_summary", [False, True])
@pytest.mark.parametrize(("name", "by_hand"), [("cross", cross_by_hand), ("match", match_by_hand)])
def test_against_a_loop(name, by_hand, with_summary):
    torch.manual_seed(0)
    interaction = CrossAttentionLayers(6, PairConfig(interaction=name, **SIZES)).double().eval()
    for weights in interaction.parameters():
        weights.data += 0.1 * torch.randn_like(weights)  # or words would look by the identity
    sizes = [4, 0, 1, 3, 2, 2, 0, 3]  # firsts 4, 0, 1, 3 with seconds 2, 2, 0, 3
    texts = [torch.randn(n, 6, dtype=torch.float64) for n in sizes]
    summary = torch.randn(8, 6, dtype=torch.float64) if with_summary else None
    actual = interaction(Encoded(Ragged.from_lengths(torch.cat(texts), sizes), summary))
    for pair in range(4):
        states = [texts[pair], texts[pair + 4]]
        sums = None if summary is None else [summary[pair, None], summary[pair + 4, None]]
        for block in interaction.blocks:
            if sums is not None:
                sums = [by_hand(block, sums[0], states[1]), by_hand(block, sums[1], states[0])]
            states = [by_hand(block, states[0], states[1]), by_hand(block, states[1], states[0])]
        for side in (0, 1):
            torch.testing.assert_close(actual.tokens[pair + 4 * side], states[side])
            if sums is not None:
                torch.testing.assert_close(actual.summary[pair + 4 * side], sums[side][0])


@pytest.mark.parametrize("name", ["cross", "match"])
def test_no_pairs(name):
    empty = Encoded(Ragged.from_lengths(torch.zeros(0, 6), []))
    assert len(CrossAttentionLayers(6, PairConfig(interaction=name, **SIZES))(empty).tokens) == 0


def test_words_look_at_what_is_like_them_from_the_start():
    block = CrossAttentionLayers(50, PairConfig(interaction="match")).eval().blocks[0]
    words = torch.eye(5, 50) * 30
    seen = []
    block.compare.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    turned = [3, 0, 4, 1, 2]
    block(Ragged.from_lengths(words, [5]), Ragged.from_lengths(words[turned], [5]))
    first, second = seen[0][:, :50], seen[0][:, 50:100]
    torch.testing.assert_close(second, first)
