"""A compact version of the campaign in fuzz/table_corruptions.py, with fixed seeds."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "fuzz" / "table_corruptions.py"


@pytest.fixture(scope="module")
def campaign():
    spec = importlib.util.spec_from_file_location("table_corruptions", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclass looks itself up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_corrupted_tables_are_read_right_or_not_at_all(campaign, tmp_path, first):
    outcomes = {}
    for seed in range(first, first + 20):
        what, table = campaign.corrupted(seed)
        outcomes[f"{seed} {what}"] = campaign.judge(table, tmp_path)
    assert {what: outcome for what, outcome in outcomes.items() if outcome.startswith("wrong")} == {}
    assert "right" in outcomes.values()


def test_the_layouts_themselves_are_read_right(campaign, tmp_path):
    made = campaign.layouts(campaign.random.Random(1))
    assert {name: campaign.judge(table, tmp_path) for name, table in made.items()} == dict.fromkeys(
        made, "right"
    )
