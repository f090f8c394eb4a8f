"""`headwise calibrate`: what it says, and the model that it leaves."""

import json


def test_a_rate_is_promised_and_the_model_kept(model, run, tmp_path):
    rows = [f"w{n % 50} w{n % 7} w{n % 11},{('bad', 'good')[n % 3 > 0]}" for n in range(100)]
    (tmp_path / "new.csv").write_text("\n".join(["text,label", *rows, ""]))
    code, out, err = run("calibrate", model, "new.csv", "-o", "o", "--thresholds", "bad:recall=0.9")
    out = " ".join(out.split())
    assert code == 0
    assert "Calibration error of 100 texts: " in out
    assert "Accuracy of 100 texts: " in out
    assert "hanges of odds: " in out
    assert "'bad' is given for a recall of at least 90 %: " in out
    assert "the model is in o" in err
    code, out, _ = run("predict", "o", "new.csv")
    given = [line.split(",")[2] for line in out.splitlines()[1:]]
    true = [line.split(",")[1] for line in out.splitlines()[1:]]
    found = [guess for guess, label in zip(given, true, strict=True) if label == "bad"]
    assert code == 0
    assert found.count("bad") >= 0.9 * len(found)
    assert run("calibrate", model, "new.csv", "-o", "o")[0] == 2  # it is not lost by mistake
    code, out, _ = run("calibrate", model, "new.csv", "-o", "o", "--overwrite", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["items"], found["score"], found["operating_points"]) == (100, "accuracy", [])


def test_evaluate_and_the_report_tell_where_it_is_worth_it(model, run, tmp_path):
    rows = [f"w{n % 50} w{n % 7} w{n % 11},{'bad' if n % 20 else 'good'}" for n in range(400)]
    (tmp_path / "new.csv").write_text("\n".join(["text,label", *rows, ""]))
    told = "headwise calibrate fits the model to it"
    assert told in run("evaluate", model, "new.csv")[2]
    assert run("report", model, "--data", "new.csv", "--output", "a.html")[0] == 0
    assert told in (tmp_path / "a.html").read_text()
    assert run("calibrate", model, "new.csv", "-o", "o")[0] == 0
    assert told not in run("evaluate", "o", "new.csv")[2]
