"""The sizes that the paper says, and what is written."""

import json


def test_the_papers_parameters(tmp_path, capsys):
    from benchmarks.papers import ms_san_costs

    path = tmp_path / "costs.json"
    assert ms_san_costs.main(["--results", str(path), "--table"]) == 2
    assert "nothing has been measured yet" in capsys.readouterr().err
    assert ms_san_costs.main(["--results", str(path), "--rounds", "1"]) == 0
    networks = json.loads(path.read_text())["networks"]
    assert networks["ms-san"]["parameters"] == 1_803_303  # 1.8 million
    assert networks["separate"]["parameters"] == 3_965_403  # 4.0 million
    assert networks["separate"]["milliseconds"] > networks["ms-san"]["milliseconds"] > 0
    assert "| separate | 3,965,403 | 4.0 million |" in capsys.readouterr().out
