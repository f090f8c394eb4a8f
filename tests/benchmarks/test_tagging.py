import pytest


@pytest.fixture
def tagging(monkeypatch, tmp_path):
    import tagging

    monkeypatch.setattr(tagging, "CACHE", tmp_path)
    return tagging


def test_table_of_what_was_measured(tagging, tmp_path, capsys):
    from headwise.data.kinds import KINDS
    from headwise.data.parts import Parts
    from headwise.data.sentence import Tagged
    from runs import Run, cached_run, recipe_of

    sets = {
        name: Parts(KINDS["tag"], [Tagged(("a", "b"), ("O", "I-X"))], [], [])
        for name in ("conll2003", "wnut17")
    }
    runs = (
        ("conll2003", "ms-transformer + char", 1, 0.88),
        ("conll2003", "ms-transformer + char", 0, 0.86),
        ("wnut17", "ms-transformer", 0, 0.4),
    )
    for name, system, seed, score in runs:
        found = {"test": score, "seconds": 60.0, "encoder_parameters": 1000, "coverage": 99.0}
        recipe = recipe_of(tagging.layers_of(system, sets[name]))
        cached_run(Run(name, system, seed, recipe, []), lambda _, found=found: found, tmp_path)
    del sets["wnut17"]
    capsys.readouterr()
    summary = tagging.summarise(tagging.collected(sets, list(tagging.SYSTEMS)), {"conll2003": 55.5})
    assert list(summary) == ["conll2003"]
    row = summary["conll2003"]["systems"]["ms-transformer + char"]
    assert row["scores"] == [86.0, 88.0]
    assert row["mean"] == 87.0
    assert row["spread"] == pytest.approx(2**0.5)
    tagging.print_table(summary)
    out = capsys.readouterr().out
    assert "| ms-transformer + char | 87.00 ± 1.41 | 2 | 91.33 | 60 | 1,000 |" in out
    assert "55.50" in out


def test_every_system_makes_a_recipe(tagging):
    from headwise.data.kinds import KINDS
    from headwise.data.parts import Parts
    from headwise.data.sentence import Tagged
    from headwise.recipe import build_recipe

    data = Parts(KINDS["tag"], [Tagged(("a", "b"), ("O", "I-X"))], [], [])
    for system in tagging.SYSTEMS:
        recipe = build_recipe(*tagging.layers_of(system, data))
        assert recipe.model.task == "tag"
        assert recipe.model.tagger.crf == ("crf" in system)
        assert (recipe.model.characters.size > 0) == ("char" in system)
        assert recipe.train.score == "f1"
