"""Translation: the decoder against torch's, the search against a loop, and a run on six tiny files."""

import json

import pytest
import torch
from torch import nn

from headwise.nn.encoders.bp_graph import partition_graph
from headwise.nn.ragged import Ragged

PAIRS = [([3, 4, 5], [5, 4, 3]), ([6, 3], [3, 6]), ([4, 4, 6, 5], [5, 6, 4, 4]), ([5], [5])]


@pytest.fixture
def module():
    from benchmarks.papers import translation_model

    return translation_model


def translator(module, k, **sizes):
    torch.manual_seed(0)
    small = {"k": k, "width": 16, "layers": 2, "heads": 2, "feedforward": 24, "dropout": 0.0} | sizes
    return module.Translator(module.Sizes(**small), 8, 9).eval()


def ragged(sentences):
    words = torch.tensor([word for sentence in sentences for word in sentence])
    return Ragged.from_lengths(words, [len(sentence) for sentence in sentences])


def test_the_plain_decoder_is_that_of_torch(module):
    model, width = translator(module, 0).double(), 16
    layer = nn.TransformerDecoderLayer(width, 2, 24, 0.0, batch_first=True, bias=True).double().eval()
    block = model.decoder[0]
    for theirs, heads in (
        (layer.self_attn, block.block.attention.heads),
        (layer.multihead_attn, block.heads),
    ):
        theirs.in_proj_weight.data = torch.cat([heads.query.weight, heads.key.weight, heads.value.weight])
        theirs.out_proj.weight.data = heads.out.weight.data
        theirs.in_proj_bias.data.zero_()
        theirs.out_proj.bias.data.zero_()
    for theirs, part in (
        (layer.linear1, block.block.up),
        (layer.linear2, block.block.down),
        (layer.norm1, block.block.norm1),
        (layer.norm2, block.norm),
        (layer.norm3, block.block.norm2),
    ):
        theirs.load_state_dict(part.state_dict())
    h, memory = torch.randn(6, width).double(), torch.randn(5, width).double()
    texts = Ragged.from_lengths(h, [6])
    graph = partition_graph(texts.layout, 1024, 0, True)
    got = block(h, graph, Ragged.from_lengths(memory, [5]), spans=False)
    ahead = torch.ones(6, 6, dtype=torch.bool).triu(1)
    torch.testing.assert_close(got, layer(h[None], memory[None], tgt_mask=ahead)[0])


@pytest.mark.parametrize("k", [0, 1, 2])
def test_words_see_no_later_ones_and_batches_are_singles(module, k):
    model = translator(module, k)
    source, target = (ragged([pair[side] for pair in PAIRS]) for side in (0, 1))
    together = target.with_values(model(source, target))
    for place in range(len(PAIRS)):
        alone = model(source[[place]], target[[place]])
        torch.testing.assert_close(alone, together[place], rtol=1e-4, atol=1e-5)
        begun = ragged([PAIRS[place][1][:1]])
        torch.testing.assert_close(model(source[[place]], begun), alone[:1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [0, 1])
def test_it_learns_to_reverse_and_finds_what_it_learned(module, k):
    model = translator(module, k).train()
    source, target = (
        ragged([words for words, _ in PAIRS]),
        ragged([[module.BEGIN, *words] for _, words in PAIRS]),
    )
    targets = torch.tensor([word for _, words in PAIRS for word in (*words, module.END)])
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(120):
        loss = nn.functional.cross_entropy(model(source, target), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    for beam in (1, 3):
        assert model.translate(source, beam) == [words for _, words in PAIRS]
    assert model.translate(ragged([[], [5]]), 2) == [[], [5]]


def test_one_beam_takes_the_best_word_and_more_are_no_worse(module):
    model = translator(module, 1)
    source = ragged([sentence for sentence, _ in PAIRS])

    def score(place, words):
        inputs = ragged([[module.BEGIN, *words]])
        chances = model(source[[place]], inputs).log_softmax(-1)
        ends = [*words, module.END] if len(words) < 6 else words
        return sum(chances[n, word].item() for n, word in enumerate(ends))

    greedy, wide = (model.translate(source, beam, most=6) for beam in (1, 8))
    for place, words in enumerate(greedy):
        begun = [module.BEGIN]
        for word in words:
            assert model(source[[place]], ragged([begun]))[-1].argmax() == word
            begun.append(word)
        assert len(wide[place]) == 6 or score(place, wide[place]) >= score(place, words) - 1e-5


def test_a_short_run(tmp_path, capsys, module, monkeypatch):
    pytest.importorskip("sacrebleu")
    from benchmarks.papers import translation

    small = module.Sizes(k=1, clip=4, width=32, layers=1, feedforward=32)
    monkeypatch.setitem(translation.MODELS, "bpt-k1", small)

    files = []
    for part in ("train", "dev", "test"):
        for side in (0, 1):
            path = tmp_path / f"{part}.{'ab'[side]}"
            path.write_text("\n".join(" ".join(map(str, pair[side])) for pair in PAIRS * 2) + "\n")
            files.append(str(path))
    arguments = ["--data", *files, "--model", "bpt-k1", "--steps", "2", "--results", str(tmp_path)]
    assert translation.main(arguments) == 0
    result = json.loads((tmp_path / "set_tasks/translation-bpt-k1-0.json").read_text())
    assert result["scores"].keys() == {"loss", "bleu"}
    assert 0 <= result["test_bleu"] <= 100
    assert "tok:none" in result["bleu"]
    assert translation.main(["--table", "--results", str(tmp_path)]) == 0
    assert "| bpt-k1 | 0 | 2 |" in capsys.readouterr().out
