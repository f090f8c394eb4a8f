import pytest


@pytest.fixture
def few_labels(tmp_path, monkeypatch):
    import few_labels

    monkeypatch.setattr(few_labels, "RESULTS", tmp_path / "few_labels.jsonl")
    return few_labels


def test_systems_are_compared_on_the_draws_that_all_have(few_labels, capsys):
    from runs import append_line

    few_labels.show(250)
    assert capsys.readouterr().out == ""
    runs = (("ms-transformer", 0, 0.7), ("ms-transformer", 1, 0.9), ("bilstm", 0, 0.6))
    for system, draw, accuracy in runs:
        own = {"system": system, "domain": "MR", "texts": 250, "draw": draw, "accuracy": accuracy}
        append_line(few_labels.RESULTS, own)
    few_labels.show(250)
    assert capsys.readouterr().out == "| ms-transformer | 70.0 | 1 |\n| bilstm | 60.0 | 1 |\n"
    few_labels.show(1000)
    assert capsys.readouterr().out == ""


def test_every_system_is_one_of_the_accuracy_benchmark(few_labels):
    from accuracy import Accuracy

    assert set(few_labels.SYSTEMS) <= {*Accuracy.systems, *Accuracy.more}
