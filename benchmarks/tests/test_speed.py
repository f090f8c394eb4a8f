"""speed.py on tiny sizes. Times themselves are never asserted."""

import csv
import json
import xml.etree.ElementTree as ElementTree

import pytest
import torch


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small encoders, and nothing that stays behind in this process."""
    from benchmarks.speed import speed_encoders, speed_scaling, speed_training
    from headwise.nn.encoders import BiLSTMConfig, MSTransformerConfig, TransformerConfig

    class Small(TransformerConfig):
        def __init__(self):
            super().__init__(width=8, layers=1, heads=2, head_size=4, feedforward=16)

    class SmallMS(MSTransformerConfig):
        def __init__(self):
            super().__init__(width=8, layers=1, heads=2, head_size=4)

    class SmallLSTM(BiLSTMConfig):
        def __init__(self):
            super().__init__(width=8, hidden=4)

    from headwise.nn.encoders import BiLSTM, MSTransformer, Transformer

    kinds = {
        "ms-transformer": (MSTransformer, SmallMS),
        "transformer": (Transformer, Small),
        "bilstm": (BiLSTM, SmallLSTM),
    }
    monkeypatch.setattr(speed_encoders, "ENCODERS", kinds)
    monkeypatch.setattr(speed_encoders, "TransformerConfig", Small)
    monkeypatch.setattr(speed_scaling, "SIZES", {"width": 8, "layers": 1, "heads": 2, "head_size": 4})
    monkeypatch.setattr(speed_scaling, "peak_memory", lambda *_: 1 << 20)
    monkeypatch.setattr(speed_training, "TransformerConfig", lambda: TransformerConfig(layers=1))
    monkeypatch.setattr("benchmarks.speed.speed.keep_freed_memory", lambda: True)
    monkeypatch.setenv("HEADWISE_KERNELS", "off")


def test_encoders(data, tmp_path, capsys):
    from benchmarks.speed import speed

    path = tmp_path / "speed.json"
    words = ["--quick", "--only", "encoders", "--domains", "MR", "imdb", "--rounds", "1"]
    assert speed.main([*words, "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "MS-Trans / floor, sorted: mean of 2 domains" in out
    assert "padded Transformer / MS-Trans, random: imdb" in out
    part = json.loads(path.read_text())["encoders"]
    assert set(part["details"]["ms_per_batch_of_128"]) == {"sorted", "random"}
    picture = ElementTree.parse(tmp_path / "speed-figure4.svg")  # well-formed
    shown = "".join(picture.getroot().itertext())
    assert "IMDB" in shown
    assert "mean of 2 domains" in shown
    assert "BiLSTM" in shown  # as in the paper


def test_training(data, tmp_path, capsys):
    from benchmarks.speed import speed

    words = ["--only", "training", "--domains", "MR", "--rounds", "1"]
    assert speed.main([*words, "--json", str(tmp_path / "speed.json")]) == 0
    assert "padded Transformer / MS-Trans, sorted: mean of 1 domains" in capsys.readouterr().out


@pytest.mark.parametrize("training", [True, False])
def test_scaling(training, tmp_path, capsys):
    from benchmarks.speed import speed

    path = tmp_path / "speed.json"
    words = ["--only", "scaling", "--lengths", "8", "16", "--tokens", "16", "--rounds", "1"]
    words += ["--training"] if training else []
    assert speed.main([*words, "--json", str(path)]) == 0
    cases = json.loads(path.read_text())["scaling"]["details"]["cases"]
    assert {(case["system"], case["words"]) for case in cases} >= {("bp-transformer", 16)}
    assert "| 16 |" in capsys.readouterr().out


def test_choice(monkeypatch):
    from benchmarks.speed import speed_choice
    from headwise.nn.attention import sdpa

    monkeypatch.setattr(speed_choice.banded, "unsupported_reason", lambda *_: None)
    monkeypatch.setattr(speed_choice, "SYSTEMS", {"banded": sdpa, "sdpa": sdpa})
    monkeypatch.setattr(speed_choice, "QUICK", (4, 16))
    monkeypatch.setattr(speed_choice, "TOKENS", 32)
    result = speed_choice.run(quick=True, rounds=1)
    cases = {(case["words"], case["prior"]) for case in result.details["banded_over_sdpa"]}
    assert {(4, "window(3)"), (16, "window(3)"), (4, "everything")} < cases
    assert (16, "window(33)") not in cases  # it would see everything
    assert [row.bar for row in result.rows] == ["<= 1.1", ""] * 2
    monkeypatch.setattr(speed_choice.banded, "unsupported_reason", lambda *_: "no reason")
    assert speed_choice.run(quick=True, rounds=1) == "banded cannot run: no reason"


def test_parts_that_did_not_run_stay_in_the_file(tmp_path):
    from benchmarks.speed import speed_table
    from benchmarks.speed.speed_table import Result, Row

    path = tmp_path / "speed.json"
    for name in ("a", "b"):
        speed_table.save(path, {}, {name: Result([Row(name, 1 / 3, ">= 1")], {"x": [2 / 3]}, [])})
    parts = json.loads(path.read_text())
    assert set(parts) == {"a", "b"}
    assert parts["a"]["rows"][0]["met"] is False
    assert parts["a"]["details"] == {"x": [0.66667]}


def test_skips_without_data(tmp_path, monkeypatch, capsys):
    from benchmarks.speed import speed

    monkeypatch.setattr("benchmarks.speed.speed_texts.DATA", tmp_path / "nowhere")
    assert speed.main(["--only", "encoders", "predict"]) == 2
    assert capsys.readouterr().out.count("HEADWISE_DATA") == 2


def test_bars():
    from benchmarks.speed.speed_table import Row, table

    assert Row("a", 1.35, "<= 1.35").met
    assert not Row("a", 5.9, ">= 6").met
    assert Row("a", 1.0).met is None
    assert table([Row("a", 5.94, ">= 6")]).splitlines()[-1] == "| 5.94 x | >= 6 x | NOT MET | a |"


def test_batches_are_sorted_or_in_an_order_that_stays(data):
    from benchmarks.speed.speed_texts import BATCH, make_batches

    texts = [["w"] * (n % 50) for n in range(300)]
    by_length = make_batches(texts, "MR", "sorted")
    assert [len(batch.texts) for batch in by_length] == [BATCH, BATCH, 300 - 2 * BATCH]
    sizes = [size for batch in by_length for size in batch.sizes]
    assert sizes == sorted(sizes)
    first, again = (make_batches(texts, "MR", "random") for _ in range(2))
    assert first == again != by_length


def test_a_sample_has_a_batch_of_each_domain():
    from benchmarks.speed.speed_texts import TextBatch, sampled

    full = {name: [TextBatch(name, ((str(n),),) * 128) for n in range(3)] for name in "abcd"}
    full["a"].append(TextBatch("a", (("x",),)))
    sample = sampled(full, complete=("a",), middle=("c",))
    assert sample["a"] == full["a"]
    assert [sample[name] for name in "bcd"] == [full["b"][1:2], full["c"][1:2], full["d"][:1]]


def test_texts_to_time_are_picked_evenly_with_the_longest():
    from benchmarks.speed.speed_rivals import pick

    assert pick([1, 5, 3, 2, 4], 2) == [5, 3]
    assert pick([1, 5, 3], 9) == [5, 3, 1]


def test_padded_rivals_agree_with_headwise():
    """The rival is a Transformer: with the same weights it gives what ours gives, padding or not."""
    from benchmarks.speed.speed_rivals import FastPath, PaddedTransformer
    from headwise.nn.encoders import Transformer, TransformerConfig
    from headwise.nn.ragged import Ragged

    torch.manual_seed(0)
    config = TransformerConfig(
        width=8, layers=2, heads=2, head_size=4, feedforward=16, positions="none", classification_node=False
    )
    ours, padded, fast = Transformer(config), PaddedTransformer(config), FastPath(config)
    for mine, unfused, fused in zip(ours.blocks, padded.layers, fast.encoder.layers, strict=True):
        names = ("query", "key", "value")
        for name in (*names, "out"):
            getattr(unfused, name).load_state_dict(getattr(mine.attention, name).state_dict())
        for name in ("up", "down", "norm1", "norm2"):
            getattr(unfused, name).load_state_dict(getattr(mine, name).state_dict())
        projections = [getattr(mine.attention, name) for name in names]
        with torch.no_grad():
            fused.self_attn.in_proj_weight.copy_(torch.cat([part.weight for part in projections]))
            fused.self_attn.in_proj_bias.copy_(torch.cat([part.bias for part in projections]))
        fused.self_attn.out_proj.load_state_dict(mine.attention.out.state_dict())
        for name, key in (("up", "linear1"), ("down", "linear2"), ("norm1", "norm1"), ("norm2", "norm2")):
            getattr(fused, key).load_state_dict(getattr(mine, name).state_dict())
    x = Ragged.from_lengths(torch.randn(9, 8), [4, 2, 3])
    rows, keep = x.to_padded()
    with torch.inference_mode():
        expected = ours.eval()(x).tokens.values
        for rival in (padded.eval(), fast.eval()):
            torch.testing.assert_close(rival(rows, keep)[keep], expected, atol=1e-5, rtol=1e-4)


def test_a_rival_reads_and_writes_the_same_file(tmp_path):
    from benchmarks.speed.speed_predict import first_texts, read_csv, rival, tfidf, write_csv

    target = tmp_path / "out.csv"
    write_csv(tmp_path / "texts-6.csv", [("a good film", "1"), ('a "bad",\nfilm', "0")] * 3)
    source = first_texts(tmp_path, 6, 5)
    assert first_texts(tmp_path, 6, 6) == tmp_path / "texts-6.csv"
    assert rival(tfidf(read_csv(source)), source, target)() > 0
    with open(target, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["prediction"] for row in rows] == ["1", "0", "1", "0", "1"]
    assert rows[1]["text"] == 'a "bad",\nfilm'


def test_predict_is_compared_with_the_linear_model_alone():
    from benchmarks.speed.speed_predict import MODELS, rows

    linear, *models = MODELS
    paper = models[-1]
    speeds = {linear: 100.0, paper: 50.0, "MiniLM + logistic regression": 5.0}
    ratios = {row.what: (row.value, row.met) for row in rows(speeds)}
    assert ratios == {
        f"predict, csv to csv: {linear} / MiniLM + logistic regression, texts/s": (20.0, True),
        **{f"predict, csv to csv: {name}": (speed, None) for name, speed in speeds.items()},
    }
