"""Learning curves of taggers: the drawn sentences, the recipes, and the tables of what has run."""

from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.common.paired_taggers import COUNTS, packed
from benchmarks.papers.tagging_curves import (
    DEV,
    EPOCHS,
    POSITIONS,
    SYSTEMS,
    TaggingCurves,
    drawn,
    gains,
    main,
    picture,
    scores,
)
from headwise.app.configuration import build_config
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.splits.data_parts import DataParts

SENTENCES = [TaggedSentence((f"word{number}",), ("O",)) for number in range(900)]


def run(seed, right):
    counts = np.stack([np.asarray(right), np.ones(len(right), int)], axis=1)
    return {"seed": seed, "test": float(np.mean(right)), COUNTS: packed(counts)}


FOUND = {
    "wnut17@250": {system: [run(0, [1, 0, 0, 0])] for system in SYSTEMS}
    | {"ms-directions": [run(0, [1, 1, 1, 0]), run(1, [1, 1, 0, 0])]},  # seed 1 is this one's alone
    "ewt-xpos@250": {
        system: [run(seed, [1, 1, 0, seed] if system == "bilstm" else [1, 0, 0, 0]) for seed in (0, 1)]
        for system in SYSTEMS
    },
    "wnut17@1000": {"ms-directions": [run(0, [1, 1, 1, 1])], "bilstm": []},  # the others have not run
}


def test_drawn_sentences_keep_their_order_and_differ_by_seed():
    first, again, second = drawn(SENTENCES, 50, 0), drawn(SENTENCES, 50, 0), drawn(SENTENCES, 50, 1)
    assert first == again
    assert first != second
    assert first == sorted(first, key=SENTENCES.index)
    assert len({sentence.tokens for sentence in first}) == 50
    assert drawn(SENTENCES, 900, 3) == SENTENCES


def test_tables_have_the_sets_on_which_all_have_run():
    head, rows = scores(FOUND)
    assert head == ["F1 or accuracy", "sentences", "seeds", *SYSTEMS]
    first, second = (dict(zip(head, row, strict=True)) for row in rows)
    assert [first[name] for name in head[:3]] == ["wnut17", "250", "1"]
    assert [second[name] for name in head[:3]] == ["ewt-xpos", "250", "2"]
    assert (first["ms-directions"], first["bilstm"]) == ("75.0", "25.0")
    assert second["bilstm"] == "62.5 ± 17.7"
    head, rows = gains(FOUND, POSITIONS)
    assert head[0] == f"minus {POSITIONS} (95 %)"
    row = dict(zip(head, rows[0], strict=True))
    assert POSITIONS not in row
    assert row["ms-directions"].startswith("+50.0 (")
    assert scores({})[1] == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_networks_have_half_the_width_and_neither_crf_nor_characters(system):
    for sentences, epochs in EPOCHS.items():
        config = build_config(*TaggingCurves().layers(f"wnut17@{sentences}", system))
        assert config.model.encoder.width == 150
        assert not config.model.tagger.crf
        assert config.model.characters.network == "none"
        assert config.model.linear_model.kind == "none"
        assert (config.train.epochs, config.train.batch_texts) == (epochs, 16)


def test_systems_of_one_network_differ_in_where_heads_look_alone():
    remaining = []
    for system in ("ms-transformer", "ms-directions", "ms-full-windows", POSITIONS):
        settings = build_config(*TaggingCurves().layers("wnut17@250", system)).to_json()
        for name in ("scales", "priors", "positions"):
            settings["encoder"].pop(name)
        remaining.append(settings)
    assert all(settings == remaining[0] for settings in remaining)


def test_each_seed_is_trained_on_its_own_sentences(tmp_path, monkeypatch):
    bench = TaggingCurves(tmp_path / "results.jsonl")
    read = []

    def measure(self, data, task, system, seed, folder):
        read.append([len(data.train), len(data.dev), data.train[0].tokens, data.dev[0].tokens])
        return {"test": 1.0, "seconds": 0.0, COUNTS: packed(np.ones((1, 2), int))}

    parts = DataParts(ITEM_TYPES_BY_TASK["tag"], SENTENCES, SENTENCES, SENTENCES[:8])
    monkeypatch.setattr(TaggingCurves, "load", lambda self, task: parts)
    monkeypatch.setattr(TaggingCurves, "measure", measure)
    for seed in (0, 1, 0):
        bench.run("wnut17@250", "bilstm", seed)
    assert [record[:2] for record in read] == [[250, DEV]] * 2  # the last is in the file
    assert read[0][2] != read[1][2]
    assert read[0][3] == read[1][3]


def test_what_has_been_measured_is_printed(capsys):
    assert main(["--table", "--sentences", "250"]) == 0
    assert "| ms-directions |" in capsys.readouterr().out


def test_the_picture_has_the_mean_of_each_system():
    drawn = picture(FOUND, "ewt-xpos")
    ElementTree.fromstring(drawn)
    assert "Accuracy by number of labelled sentences" in drawn
    assert "ewt-xpos, no CRF, mean of 2 seeds" in drawn
    assert "BiLSTM: 62.5 %" in drawn
    assert drawn.count("<circle") == len(SYSTEMS)
