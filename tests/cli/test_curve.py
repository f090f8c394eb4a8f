"""`headwise curve`: what more texts are worth."""

import json
import random

import pytest

from headwise.verbs import curve as verb

WORDS = (("refund", "invoice", "payment"), ("badge", "door", "garage"))


def write(path, texts=120, noise=0.2):
    chance = random.Random(0)
    lines = ["text,label"]
    for number in range(texts):
        own = [*chance.choices(WORDS[number % 2], k=3), f"n{number}"]
        lines.append(f"{' '.join(own)},{('money', 'house')[number % 2 ^ (chance.random() < noise)]}")
    path.write_text("\n".join(lines) + "\n")


def test_a_curve(run, tmp_path):
    write(tmp_path / "data.csv")
    flags = ("data.csv", "--seeds", "2", "--base", "none", "--more", "50", "1000")
    code, out, err = run("curve", *flags, "--svg", "curve.svg", "--work", "work.json")
    assert code == 0, err
    assert "Another 1,000 texts are worth" in out
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    measured = json.loads((tmp_path / "work.json").read_text())
    assert len(measured["measured"]) == 14
    code, out, _ = run("curve", *flags, "--json")
    found = json.loads(out)
    assert found["sizes"][-1] == 96
    assert [len(found["accuracy"]), len(found["accuracy"][0])] == [2, 7]
    for forecast in found["forecasts"]:
        low, high = forecast["interval"]
        assert 0 <= low <= forecast["gain"] <= high


def test_an_interrupted_curve_is_gone_on_with(run, tmp_path, monkeypatch):
    write(tmp_path / "data.csv")
    flags = ("data.csv", "--seeds", "2", "--base", "none", "--json", "--work", "work.json")
    whole = run("curve", *flags)[1]
    state = json.loads((tmp_path / "work.json").read_text())
    kept = dict(list(state["measured"].items())[:5])
    (tmp_path / "work.json").write_text(json.dumps(state | {"measured": kept}))
    fits, judge = [], verb._linear_judge

    def counting(*arguments):
        own = judge(*arguments)
        return lambda *given: fits.append(1) or own(*given)

    monkeypatch.setattr(verb, "_linear_judge", counting)
    assert run("curve", *flags)[1] == whole
    assert len(fits) == 9
    write(tmp_path / "data.csv", noise=0.3)  # other texts: begun anew
    run("curve", *flags)
    assert len(fits) == 9 + 14
    (tmp_path / "work.json").write_text("[]")
    code, _, err = run("curve", *flags)
    assert (code, "no file of headwise curve" in err) == (2, True)


def test_the_default_steps_are_round():
    assert [verb._round(number) for number in (1, 262, 500, 999, 1049, 25_000)] == [
        1,
        200,
        500,
        500,
        1000,
        20_000,
    ]


@pytest.mark.parametrize("flags", [("--seeds", "1"), ("--more", "0")])
def test_what_makes_no_sense_is_told(run, tmp_path, flags):
    write(tmp_path / "data.csv")
    assert run("curve", "data.csv", *flags)[0] == 2


def test_too_few_texts_are_told(run, tmp_path):
    write(tmp_path / "few.csv", texts=40)
    code, _, err = run("curve", "few.csv")
    assert (code, "100 or more texts" in err) == (2, True)
