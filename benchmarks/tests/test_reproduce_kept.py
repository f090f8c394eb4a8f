"""What commands have left is read beside the paper, seed by seed; nothing is where nothing has been run."""

import json

import pytest


@pytest.fixture
def module(monkeypatch, tmp_path):
    from benchmarks.papers import reproduce_kept

    monkeypatch.setattr(reproduce_kept, "RESULTS", tmp_path)
    monkeypatch.setattr(reproduce_kept, "TIMES", tmp_path)
    return reproduce_kept


def rows(name):
    from benchmarks.papers.reproduce_rows import TABLES

    return {row.name: row for row in TABLES[name].rows}


def set_task_run(folder, seed, error, **more):
    path = folder / "set_tasks" / f"max-regression-sab+pma-{seed}.json"
    path.parent.mkdir(exist_ok=True)
    run = {
        "task": "max-regression",
        "model": "sab+pma",
        "seed": seed,
        "steps": 10_000,
        "scores": {"error": error},
        "references": {"best constant guess": {"error": 14.5}},
    }
    path.write_text(json.dumps(run | more))


def test_nothing_is_kept(module):
    from benchmarks.papers.reproduce_rows import TABLES

    commands = [row for table in TABLES.values() for row in table.rows if row.command]
    assert len(commands) > 60
    assert not any(module.stored_runs(row) for row in commands)


def test_every_command_has_a_reader():
    from benchmarks.papers import reproduce_kept
    from benchmarks.papers.reproduce_rows import TABLES

    for table in TABLES.values():
        for row in table.rows:
            assert not row.command or row.results.split("/")[0] in reproduce_kept.READERS


def test_sets_over_seeds(module, tmp_path):
    row = rows("set/table1")["sab+pma"]
    set_task_run(tmp_path, 0, 0.125)
    stored = module.stored_runs(row)
    assert stored.seeds == (0,)
    assert module.cells(row, stored) == [
        "error 0.125 (1)",
        "error 0.2085",
        "best constant guess 14.5",
        "10,000 of 20,000 steps",
    ]
    set_task_run(tmp_path, 1, 0.175)
    assert module.cells(row, module.stored_runs(row))[0] == "error 0.15 ± 0.035 (2)"


def test_a_run_that_is_to_go_on(module, tmp_path):
    set_task_run(tmp_path, 0, 0.125)
    set_task_run(tmp_path, 1, 0.175, finished=False)
    set_task_run(tmp_path, 2, 0.150, finished=True)
    stored = module.stored_runs(rows("set/table1")["sab+pma"])
    assert (stored.seeds, stored.stopped) == ((0, 1, 2), (1,))
    assert stored.how == "10,000 of 20,000 steps, stopped"


def test_other_models_are_not_taken_for_it(module, tmp_path):
    set_task_run(tmp_path, 0, 0.125)
    assert module.stored_runs(rows("set/table1")["rff+max"]) is None


def test_bleu_is_that_of_the_test(module, tmp_path):
    (tmp_path / "set_tasks").mkdir()
    run = {"task": "translation", "model": "bpt-k2", "seed": 0, "steps": 5, "references": {}}
    run |= {"scores": {"loss": 1.0, "bleu": 10.0}, "test_bleu": 20.5}
    (tmp_path / "set_tasks" / "translation-bpt-k2-0.json").write_text(json.dumps(run))
    row = rows("bpt/table-translation")["Multi30k en-de: bpt-k2"]
    assert module.cells(row, module.stored_runs(row)) == ["test BLEU 20.5 (1)", "27.4", "", "5 steps"]


def test_mirrored_sums(module, tmp_path):
    (tmp_path / "mirrored_summation").mkdir()
    lines = ["model,terms,seed,mse,steps,precision,chance,linear"]
    lines += ["flex,10,0,0.25,782,float32,0.486,0.0694", "flex,20,0,0.5,782,bfloat16,0.972,0.139"]
    (tmp_path / "mirrored_summation" / "n40-d10-positions-none.csv").write_text("\n".join(lines))
    every = rows("ms-trans/figure2")
    row = every["N 40, d 10, K 10: flex"]
    assert module.cells(row, module.stored_runs(row)) == [
        "squared error 0.25 (1)",
        "",
        "chance 0.486, best linear guess 0.0694",
        "782 steps of 128",
    ]
    half = every["N 40, d 10, K 20: flex"]
    assert module.cells(half, module.stored_runs(half))[-1] == "782 steps of 128 in bfloat16"
    assert module.stored_runs(every["N 40, d 10, K 4: flex"]) is None
    assert module.stored_runs(every["N 100, d 50, K 10: flex"]) is None


def test_speed(module, tmp_path):
    times = {"MR": {"ms-transformer": 10.0}, "imdb": {"ms-transformer": 30.0}}
    part = {
        "rows": [{"what": "padded Transformer / MS-Trans, random: MR", "value": 7.5}],
        "notes": ["quick: a batch of each domain"],
        "environment": {"threads": 1, "clock": "processor time"},
        "details": {"ms_per_batch_of_128": {"random": times}},
    }
    (tmp_path / "speed.json").write_text(json.dumps({"encoders": part}))
    every = rows("ms-trans/figure4")
    by_name = {name: module.stored_runs(row) for name, row in every.items()}
    assert by_name["MR: ms-transformer"].scores == {"milliseconds": [10.0]}
    assert by_name["mean of all domains: ms-transformer"].scores == {"milliseconds": [20.0]}
    assert by_name["MR: bilstm"] is None
    row = every["padded Transformer / MS-Trans, MR"]
    assert module.cells(row, module.stored_runs(row)) == [
        "times 7.5 (1)",
        "1.8",
        "",
        "1 thread, processor time, a sample",
    ]


def test_sizes_of_ms_san(module, tmp_path):
    networks = {"separate": {"parameters": 3_965_403, "milliseconds": 141.3}}
    costs = {"networks": networks, "threads": 1, "clock": "processor time"}
    (tmp_path / "ms_san_costs.json").write_text(json.dumps(costs))
    every = rows("ms-san/table3")
    size, time = (every[f"separate: {what}"] for what in ("parameters", "milliseconds"))
    assert module.cells(size, module.stored_runs(size)) == [
        "parameters 3,965,403 (1)",
        "4.0 million",
        "",
        "",
    ]
    assert module.cells(time, module.stored_runs(time))[0] == "milliseconds 141.3 (1)"


def test_committed_results_are_where_rows_look_for_them():
    from benchmarks.papers import reproduce_kept
    from benchmarks.papers.reproduce_rows import TABLES

    sources = {
        row.results.split("/")[0]
        for table in TABLES.values()
        for row in table.rows
        if reproduce_kept.stored_runs(row)
    }
    assert sources == set(reproduce_kept.READERS)
