import numpy as np
import pytest


@pytest.fixture
def tagging(tmp_path):
    from benchmarks.papers.tagging import Tagging

    return Tagging(tmp_path / "tagging.jsonl")


def test_table_of_what_was_measured(tagging, tmp_path, capsys):
    from benchmarks.common.runs import Run, kept_run, recipe_of

    runs = (
        ("conll2003", "ms-transformer + char", 1, 0.88),
        ("conll2003", "ms-transformer + char", 0, 0.86),
        ("wnut17", "ms-transformer", 0, 0.4),
    )
    for name, system, seed, score in runs:
        result = {"test": score, "seconds": 60.0, "encoder_parameters": 1000, "coverage": 99.0}
        recipe = recipe_of(tagging.layers(name, system))
        kept_run(Run(name, system, seed, recipe, []), lambda _, result=result: result, tagging.results)
    capsys.readouterr()
    assert tagging.main("", ["--table", "--only", "conll2003"]) == 0
    out = capsys.readouterr().out
    assert "| ms-transformer + char | 87.00 ± 1.41 | 2 | 91.33 | 60 | 1,000 |" in out
    assert "wnut17" not in out


def test_windows_are_compared_with_rivals_that_have_the_same_additions(capsys):
    from benchmarks.common.paired_taggers import COUNTS, packed
    from benchmarks.papers.tagging import print_differences

    def runs(right):
        return [{"seed": 0, COUNTS: packed(np.array([[right, 10]] * 20))}]

    systems = {"ms-transformer + char": runs(9), "transformer + char": runs(8), "transformer": runs(2)}
    print_differences({"wnut17": systems, "treebank": {"ms-transformer": runs(5), "transformer": []}})
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "ms-transformer" in line]
    assert row == "| wnut17 | ms-transformer + char | transformer + char | +10.0 (+10.0 to +10.0) | 1 |"
    print_differences({"wnut17": {"ms-transformer": runs(5)}})
    assert capsys.readouterr().out == ""


def test_the_committed_results_can_be_shown(capsys):
    from benchmarks.papers.tagging import Tagging

    assert Tagging().main("", ["--table"]) == 0
    assert "| memory of the training words | 56.73 | 1 |" in capsys.readouterr().out


@pytest.mark.parametrize("task", ["conll2003", "ewt-xpos"])
def test_every_system_makes_a_recipe(tagging, task):
    from headwise.app.configuration import build_config

    for system in tagging.systems[1:]:
        recipe = build_config(*tagging.layers(task, system))
        assert recipe.model.task == "tag"
        assert recipe.model.tagger.crf == ("crf" in system)
        assert (recipe.model.characters.size > 0) == ("char" in system or "shapes" in system)
        assert recipe.train.score == ("f1" if task == "conll2003" else "accuracy")
