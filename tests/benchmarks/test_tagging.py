import json

import pytest


@pytest.fixture
def tagging(monkeypatch, tmp_path):
    import tagging

    monkeypatch.setattr(tagging, "CACHE", tmp_path)
    return tagging


def run(data, system, seed, score):
    return {
        "data": data,
        "system": system,
        "seed": seed,
        "test": score,
        "seconds": 60.0,
        "encoder_parameters": 1000,
        "coverage": 99.0,
    }


def test_table_of_what_was_measured(tagging, tmp_path, capsys):
    for seed, score in ((1, 0.88), (0, 0.86)):
        found = run("conll2003", "ms-transformer + char", seed, score)
        (tmp_path / f"{seed}.json").write_text(json.dumps(found))
    (tmp_path / "other.json").write_text(json.dumps(run("wnut17", "ms-transformer", 0, 0.4)))
    summary = tagging.summarise(tagging.collect(["conll2003"]), {"conll2003": 55.5})
    row = summary["conll2003"]["systems"]["ms-transformer + char"]
    assert row["scores"] == [86.0, 88.0]
    assert row["mean"] == 87.0
    assert row["spread"] == pytest.approx(2**0.5)
    assert list(summary) == ["conll2003"]
    tagging.print_table(summary)
    out = capsys.readouterr().out
    assert "| ms-transformer + char | 87.00 ± 1.41 | 2 | 91.33 | 60 | 1,000 |" in out
    assert "55.50" in out


def test_every_system_makes_a_recipe(tagging):
    from headwise.recipe import build_recipe
    from headwise.train.run_tags import Sentences

    data = Sentences([], [], [], "iob1", ())
    for system in tagging.SYSTEMS:
        recipe = build_recipe(*tagging.layers_of(system, data))
        assert recipe.model.task == "tag"
        assert recipe.model.tagger.crf == ("crf" in system)
        assert (recipe.model.characters.size > 0) == ("char" in system)
        assert recipe.train.score == "f1"
