"""`headwise curve`: what more texts are worth."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from headwise.app.workflows import learning_curve as verb

WORDS = (("refund", "invoice", "payment"), ("badge", "door", "garage"))


def write(path, texts=120, noise=0.2):
    chance = random.Random(0)
    lines = ["text,label"]
    for number in range(texts):
        own = [*chance.choices(WORDS[number % 2], k=3), f"n{number}"]
        lines.append(f"{' '.join(own)},{('money', 'house')[number % 2 ^ (chance.random() < noise)]}")
    path.write_text("\n".join(lines) + "\n")


def test_errors_that_follow_no_power_law_are_warned_of(run, tmp_path):
    chance = random.Random(3)
    label = {f"w{n}": "ab"[n % 2] for n in range(60)}
    lines = [
        f"{word} n{number},{label[word]}" for number in range(240) if (word := chance.choice([*label]))
    ]
    (tmp_path / "data.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    code, out, err = run("curve", "data.csv", "--base", "none", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["off"] < 0
    assert "% less than a power law" in " ".join(err.split())
    assert found["now"]["score"] >= np.mean(found["scores"], axis=0)[-1]


@pytest.mark.parametrize("ahead", [0.03, -0.03])
def test_models_of_most_texts_that_were_lucky_are_told(run, tmp_path, monkeypatch, ahead):
    """The score of all texts is then less than theirs, which is not left to wonder at."""
    write(tmp_path / "data.csv")
    chance = np.random.default_rng(0)

    def judge(train, test, seed):
        return 0.8 - 0.1 * (len(train) / 96) ** -0.3 + chance.normal(0, 0.02) + ahead * (len(train) == 96)

    monkeypatch.setattr(verb, "linear_scorer", lambda *_: (judge, ()))
    found = verb.curve_file(tmp_path / "data.csv")
    last = found.scores.mean(axis=0)[-1]
    assert found.power_law.off == 0
    assert found.outlier_score == (pytest.approx(last) if ahead > 0 else None)
    errors = replace(found, scores=1 - found.scores, metric_table=replace(found.metric_table, lower=True))
    assert errors.outlier_score == (pytest.approx(1 - last) if ahead > 0 else None)
    chance = np.random.default_rng(0)
    _, out, _ = run("curve", "data.csv")
    assert ("(The models of 96 texts were better, " in out) == (ahead > 0)


def _numbers(path):
    chance = random.Random(1)
    lines = ["text,label"]
    for _ in range(120):
        good = chance.randrange(4)
        own = [*["fine"] * good, *["poor"] * (3 - good), *chance.choices(sum(WORDS, ()), k=3)]
        lines.append(f"{' '.join(own)},{good + chance.gauss(0, 0.2):.3f}")
    path.write_text("\n".join(lines) + "\n")


def _sets(path):
    chance = random.Random(2)
    lines = ["text,label"]
    for number in range(120):
        own = [n for n in (0, 1) if chance.random() < 0.6]
        words = [chance.choice(WORDS[n]) for n in own]
        lines.append(f"{' '.join([*words, f'n{number}'])},{'|'.join(('money', 'house')[n] for n in own)}")
    path.write_text("\n".join(lines) + "\n")


def _pairs(path):
    chance = random.Random(3)
    lines = ["sentence1,sentence2,label"]
    for number in range(120):
        one, other = chance.choice(WORDS[0]), chance.choice(WORDS[0])
        lines.append(f"the {one} {number},my {other} {number},{'same' if one == other else 'other'}")
    path.write_text("\n".join(lines) + "\n")


def _tags(path):
    chance = random.Random(4)
    path.write_text(
        "".join(
            f"to\tO\n{name}\t{tag}\nn{number}\tO\n\n"
            for number in range(120)
            for name, tag in [chance.choice((("Rome", "B-LOC"), ("Anna", "B-PER"), ("bed", "O")))]
        )
    )


def test_groups_are_held_out_whole():
    groups = [[0, 5], [1], [2, 3, 4], [6], [7, 8], [9]]
    for seed in range(20):
        test, train = verb.split_groups(groups, 2, seed)
        assert sorted([*test.tolist(), *train.tolist()]) == list(range(10))
        assert 1 <= len(test) <= 2
        assert all(set(own) <= set(test.tolist()) or set(own) <= set(train.tolist()) for own in groups)
    test, train = verb.split_groups(
        [[n] for n in range(50)], 10, 3
    )  # as they come, where all are different
    assert [*test, *train] == np.random.default_rng(3).permutation(50).tolist()


def _coins(chance, number):
    """As many texts as that, each twice, and with a label that a coin has thrown."""
    own = [
        (" ".join(chance.choices(sum(WORDS, ()), k=4)) + f" n{n}", chance.choice("ab"))
        for n in range(number)
    ]
    return [*own, *((text.upper(), label) for text, label in own)]


@pytest.mark.parametrize("kind", ["texts", "pairs", "sentences"])
def test_what_was_learnt_by_heart_is_not_judged(run, tmp_path, kind):
    rows = _coins(random.Random(6), 150)
    if kind == "texts":
        lines = ["text,label", *map(",".join, rows)]
    elif kind == "pairs":  # with the same first text, and another second one
        own = enumerate(rows)
        lines = [
            "sentence1,sentence2,label",
            *(f"{text.lower()},so {n},{label}" for n, (text, label) in own),
        ]
    else:
        lines = [
            "\n".join(
                [*(f"{word}\tO" for word in text.split()[:-1]), f"{text.split()[-1]}\tB-{label.upper()}\n"]
            )
            for text, label in rows
        ]
    name = "own.tsv" if kind == "sentences" else "own.csv"
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    code, out, err = run("curve", name, "--seeds", "2", "--base", "none", "--json")
    assert code == 0, err
    assert np.mean(json.loads(out)["scores"]) < 0.58


def test_a_text_that_fills_the_file_is_told(run, tmp_path):
    (tmp_path / "same.csv").write_text("text,label\n" + "so,a\nno,b\n" * 60)
    code, _, err = run("curve", "same.csv")
    assert (code, "too few different texts to hold a fifth of them out" in err) == (2, True)


@pytest.mark.parametrize(
    ("name", "make", "task", "score", "of"),
    [
        ("numbers.csv", _numbers, "regress", "mae", "texts"),
        ("sets.csv", _sets, "multi-label", "micro_f1", "texts"),
        ("pairs.csv", _pairs, "pair", "accuracy", "pairs"),
        ("tags.tsv", _tags, "tag", "entities.f1", "sentences"),
    ],
)
def test_every_task_on_texts(run, tmp_path, name, make, task, score, of):
    make(tmp_path / name)
    flags = (name, "--seeds", "2", "--base", "none", "--more", "100")
    code, out, err = run("curve", *flags, "--json", "--svg", "curve.svg")
    assert (code, f"task {task} guessed" in err) == (0, True), err
    found = json.loads(out)
    assert (found["score"], found[of]) == (score, 120)
    first, *_, last = (sum(own) for own in zip(*found["scores"], strict=True))
    assert last <= first if score == "mae" else last >= first
    assert f"{of} to train on" in (tmp_path / "curve.svg").read_text()
    out = run("curve", *flags)[1]
    assert f"Another 100 {of} {'take' if score == 'mae' else 'are worth'} " in out


def test_scores_of_pairs(run, tmp_path):
    chance = random.Random(5)
    lines = ["sentence1,sentence2,score"]
    for number in range(120):
        shared = chance.randrange(4)
        other = [*["red", "door", "key"][:shared], *["a", "big", "cat"][shared:]]
        lines.append(f"red door key {number},{' '.join(other)} {number},{shared + chance.random() / 3:.2f}")
    (tmp_path / "pairs.csv").write_text("\n".join(lines) + "\n")
    code, out, err = run("curve", "pairs.csv", "--seeds", "2", "--base", "none", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["score"] == "mae"
    assert found["now"]["score"] < 0.5


def test_small_numbers_have_the_same_curve(run, tmp_path):
    _numbers(tmp_path / "numbers.csv")
    flags = ("--task", "regress", "--seeds", "2", "--base", "none", "--json")
    gains = []
    for factor in (1, 1e-6):
        head, *lines = (tmp_path / "numbers.csv").read_text().splitlines()
        told = [(text, float(number) * factor) for text, number in (line.split(",") for line in lines)]
        scaled = "\n".join([head, *(f"{text},{number!r}" for text, number in told)])
        (tmp_path / "scaled.csv").write_text(scaled + "\n")
        found = json.loads(run("curve", "scaled.csv", *flags)[1])
        gains.append(found["forecasts"][0]["gain"] / found["now"]["score"])
    assert gains[0] == pytest.approx(gains[1], rel=0.02)


def test_what_has_no_curve_is_told(run, tmp_path):
    (tmp_path / "book.txt").write_text("It was a dark and stormy night. " * 200)
    code, _, err = run("curve", "book.txt", "--task", "language-model")
    assert (code, "expected texts, pairs of texts or tagged sentences" in err) == (2, True)
    code, _, err = run("curve", "book.txt", "--task", "masked-words")
    assert (code, "expected texts, pairs of texts or tagged sentences" in err) == (2, True)
    code, _, err = run("curve", "book.txt", "--task", "regres")
    assert (code, "'regress'" in err) == (2, True)


def test_a_curve(run, tmp_path):
    write(tmp_path / "data.csv")
    flags = ("data.csv", "--seeds", "2", "--base", "none", "--more", "50", "1000")
    code, out, err = run("curve", *flags, "--svg", "curve.svg", "--work", "work.json")
    assert code == 0, err
    assert "Another 1,000 texts are worth" in out
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    measured = json.loads((tmp_path / "work.json").read_text())
    assert len(measured["measured"]) == 14
    said = out
    code, out, _ = run("curve", *flags, "--json")
    found = json.loads(out)
    assert found["sizes"][-1] == 96
    assert [len(found["scores"]), len(found["scores"][0])] == [2, 7]
    now, low, high = (f"{100 * own:.1f} %" for own in (found["now"]["score"], *found["now"]["interval"]))
    assert f"With all 120 texts it should be {now} ({low} to {high})." in said  # a guess, like what follows
    for forecast in found["forecasts"]:
        low, high = forecast["interval"]
        assert 0 <= low <= forecast["gain"] <= high
        assert forecast["score"] == pytest.approx(found["now"]["score"] + forecast["gain"])


def test_an_interrupted_curve_is_gone_on_with(run, tmp_path, monkeypatch):
    write(tmp_path / "data.csv")
    flags = ("data.csv", "--seeds", "2", "--base", "none", "--json", "--work", "work.json")
    whole = run("curve", *flags)[1]
    state = json.loads((tmp_path / "work.json").read_text())
    kept = dict(list(state["measured"].items())[:5])
    (tmp_path / "work.json").write_text(json.dumps(state | {"measured": kept}))
    fits, judge = [], verb.linear_scorer

    def counting(*arguments):
        own, notes = judge(*arguments)
        return lambda *given: fits.append(1) or own(*given), notes

    monkeypatch.setattr(verb, "linear_scorer", counting)
    assert run("curve", *flags)[1] == whole
    assert len(fits) == 9
    write(tmp_path / "data.csv", noise=0.3)  # other texts: begun anew
    run("curve", *flags)
    assert len(fits) == 9 + 14
    (tmp_path / "work.json").write_text("[]")
    code, _, err = run("curve", *flags)
    assert (code, "not a file of headwise curve" in err) == (2, True)


def test_the_default_steps_are_round():
    assert [verb._round_down(number) for number in (1, 262, 500, 999, 1049, 25_000)] == [
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
