"""Recalibration of a model on newer texts: operating points, and what stays unchanged."""

import random

import numpy as np
import pytest

from headwise import calibrate_file, evaluate_file, load_model, train_files
from headwise.app.reporter import Reporter
from headwise.artifacts import read_info
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.metrics.calibration import SPREADS
from headwise.metrics.metric_keys import OPERATING_POINTS, SELECTIVE_PREDICTION

ENCODER = {"width": 8, "heads": 2, "head_size": 4, "layers": 1}
SMALL = {
    "base": {"name": "none"},
    "encoder": ENCODER,
    "words": {"vector_size": 8},
    "train": {"epochs": 2, "refit": False},
    "split": {"test": 0.0},
}
WORDS = {"money": ("refund", "invoice", "fee"), "house": ("door", "badge", "roof")}


def texts(numbers, muddled=0.25):
    """Labels and texts; some words are of the other label."""
    found = []
    for number in numbers:
        chance = random.Random(number)
        own, other = sorted(WORDS, reverse=number % 2 == 0)
        pools = (WORDS[other if chance.random() < muddled else own] for _ in range(3))
        found.append((own, " ".join([*(chance.choice(pool) for pool in pools), f"n{number}"])))
    return found


def write(path, rows, named="label"):
    path.write_text("".join(f"{label},{text}\n" for label, text in [(named, "text"), *rows]))
    return path


class Hears(Reporter):
    def __init__(self):
        self.told = []

    def warn(self, text):
        self.told.append(text)


@pytest.fixture(scope="module", params=["none", "linear"])
def made(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    train = write(folder / "train.csv", texts(range(200)))
    new = write(folder / "new.csv", texts(range(1_000, 1_300), muddled=0.4))
    settings = [SMALL, {"model": {"task": "classify"}, "linear_model": {"kind": request.param}}]
    train_files(train, folder / "model", settings=settings, baseline=False)
    return folder / "model", train, new


def of(path):
    return [line.split(",") for line in path.read_text().splitlines()[1:]]


def test_labels_that_are_more_common_now_become_likelier(made, tmp_path):
    folder, _, _ = made
    muddled = texts(range(2_000, 2_800), muddled=0.4)
    rows = [own for own in muddled[:400] if own[0] == "house" or own[1].endswith("0")]  # 200 and 40
    new = [own for own in muddled[400:] if own[0] == "house" or own[1].endswith("0")]
    found = calibrate_file(folder, write(tmp_path / "a.csv", rows), tmp_path / "o")
    after = load_model(tmp_path / "o")
    house = after.labels.index("house")
    assert after.biases[house] > 0.2 > -0.2 > after.biases[1 - house]
    assert found.errors[1] < found.errors[0]
    judged = [evaluate_file(own, write(tmp_path / "b.csv", new)).scores for own in (folder, tmp_path / "o")]
    assert judged[1]["log_loss"] < judged[0]["log_loss"]
    assert judged[1]["accuracy"] >= judged[0]["accuracy"]


def test_temperature_and_biases_are_those_that_make_the_labels_likeliest(made, tmp_path):
    folder, _, new = made
    found = calibrate_file(folder, new, tmp_path / "o")
    before, after = load_model(folder), load_model(tmp_path / "o")
    labels, own = zip(*of(new), strict=True)
    logits = before.logits(before.encoded(own)).astype(np.float64)
    right = np.array([before.labels.index(label) for label in labels])

    before_them = logits / before.temperature

    def loss(temperature, biases):
        """Of the labels, and of how far that is from the model as it was."""
        scaled = before_them / (temperature / before.temperature) + biases
        likely = scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))
        far = (np.log(temperature / before.temperature) / SPREADS[0]) ** 2 + (
            (biases / SPREADS[1]) ** 2
        ).sum()
        return -likely[np.arange(len(right)), right].sum() + far / 2

    chance = np.random.default_rng(0)
    best = loss(after.temperature, np.array(after.biases))
    for spread in (0.3, 0.03, 0.003):
        for _ in range(100):
            away = chance.normal(size=3) * spread
            assert best <= loss(after.temperature * np.exp(away[0]), after.biases + away[1:]) + 1e-4
    assert best < loss(before.temperature, np.zeros(2))
    assert found.temperature == after.temperature != before.temperature
    assert found.items == 300
    expected = (np.exp(before_them) / np.exp(before_them).sum(axis=1, keepdims=True)).argmax(
        axis=1
    ) == right
    assert found.scores[0] == expected.mean() == evaluate_file(folder, new).scores["accuracy"]
    assert found.scores[1] == evaluate_file(tmp_path / "o", new).scores["accuracy"]


def test_what_was_learnt_stays(made, tmp_path):
    folder, _, new = made
    calibrate_file(folder, new, tmp_path / "o", thresholds="money:recall=0.9")
    before, after = load_model(folder), load_model(tmp_path / "o")
    for name, values in before.state_dict().items():
        assert np.array_equal(after.state_dict()[name].numpy(), values.numpy()), name
    own = [text for _, text in of(new)]
    assert np.array_equal(before.logits(before.encoded(own)), after.logits(after.encoded(own)))
    info = read_info(tmp_path / "o")
    assert {"test", "baseline"}.isdisjoint(info["metrics"])  # scores of the model as it was
    assert info["metrics"]["dev"].keys() >= {"accuracy", SELECTIVE_PREDICTION, OPERATING_POINTS}
    known = read_info(folder)["data"]
    assert {**info["data"], "dev": known["dev"]} == known
    told = [remark.text for remark in evaluate_file(tmp_path / "o", new).messages]
    assert any("was selected by these texts: the scores are optimistic" in own for own in told)


@pytest.mark.parametrize(("asked", "least"), [("money:recall=0.95", 0.95), ("house:recall=0.5", 0.5)])
def test_a_rate_is_kept(made, tmp_path, asked, least):
    folder, _, new = made
    found = calibrate_file(folder, new, tmp_path / "o", thresholds=asked)
    label = asked.partition(":")[0]
    model = load_model(tmp_path / "o")
    given = [own.label for own in model.predict([text for _, text in of(new)])]
    hits = [guess == label for guess, (true, _) in zip(given, of(new), strict=True) if true == label]
    assert least <= np.mean(hits) < 1.0
    (point,) = found.operating_points
    assert point["kept"]
    assert point["label"] in found.promise_messages[0]
    again = calibrate_file(tmp_path / "o", new, tmp_path / "p")  # what it was asked before
    assert again.operating_points[0]["wanted"] == point["wanted"]
    calibrate_file(tmp_path / "o", new, tmp_path / "q", thresholds="none")
    assert load_model(tmp_path / "q").thresholds is None


def test_texts_that_it_was_trained_on_are_left_out(made, tmp_path):
    folder, train, new = made
    hears = Hears()
    both = write(tmp_path / "both.csv", [*of(train)[:50], *of(new)])
    found = calibrate_file(folder, both, tmp_path / "o", reporter=hears)
    alone = calibrate_file(folder, new, tmp_path / "p")
    assert (found.items, found.temperature) == (alone.items, alone.temperature)
    assert hears.told == ["50 texts that the model was trained on are left out"]
    with pytest.raises(ConfigError, match="was trained on all of these texts; give it others"):
        calibrate_file(folder, train, tmp_path / "q")


def test_nothing_is_lost_and_mistakes_are_told(made, tmp_path):
    folder, _, new = made
    calibrate_file(folder, new, tmp_path / "o")
    before = load_model(tmp_path / "o").temperature
    with pytest.raises(ConfigError, match="holds a model; add --overwrite"):
        calibrate_file(folder, new, tmp_path / "o")
    for asked, told in {
        "mony:recall=0.9": "unknown label 'mony'",
        "money:recall=2": "cannot read",
        "money:recall=0.9,house:fpr=0.1": "name one",
    }.items():
        with pytest.raises(ConfigError, match=told):
            calibrate_file(folder, new, tmp_path / "o", thresholds=asked, overwrite=True)
    with pytest.raises(HeadwiseError, match="does not occur"):
        calibrate_file(folder, write(tmp_path / "x.csv", [("other", "a text")]), tmp_path / "p")
    assert load_model(tmp_path / "o").temperature == before
    calibrate_file(tmp_path / "o", new, tmp_path / "o", thresholds="f1", overwrite=True)  # in its place
    assert len(load_model(tmp_path / "o").thresholds) == 2


def test_label_sets(tmp_path):
    rows = [
        ("|".join(sorted({label, other})), f"{text} {more}")
        for (label, text), (other, more) in zip(texts(range(500)), texts(range(900, 1_400)), strict=True)
    ]
    train, new = (
        write(tmp_path / "a.csv", rows[:250], "labels"),
        write(tmp_path / "b.csv", rows[250:], "labels"),
    )
    settings = [SMALL, {"model": {"task": "multi-label"}, "linear_model": {"kind": "none"}}]
    train_files(train, tmp_path / "m", settings=settings, baseline=False)
    found = calibrate_file(tmp_path / "m", new, tmp_path / "o", thresholds="money:recall=0.9,house:fpr=0.2")
    model = load_model(tmp_path / "o")
    assert [own["label"] for own in found.operating_points] == ["money", "house"]
    chances = model.predict_proba([text for _, text in rows[250:]])
    money = model.labels.index("money")
    has = np.array(["money" in label for label, _ in rows[250:]])
    assert (chances[has, money] >= model.thresholds[money]).mean() >= 0.9
    with pytest.raises(ConfigError, match="label sets have such thresholds anyway"):
        calibrate_file(tmp_path / "m", new, tmp_path / "p", thresholds="f1")


def test_bags(tmp_path):
    chance = random.Random(0)

    def bags(path, names):
        rows = [
            f"{n},{n % 2},{chance.gauss(n % 2, 1):.3f},{chance.gauss(0, 1):.3f}"
            for n in names
            for _ in "abc"
        ]
        path.write_text("\n".join(["bag,label,x,y", *rows, ""]))
        return path

    train, new = bags(tmp_path / "a.csv", range(60)), bags(tmp_path / "b.csv", range(100, 160))
    settings = {"model": {"task": "bags"}, "train": {"epochs": 2, "folds": 0}, "split": {"test": 0.0}}
    train_files(train, tmp_path / "m", settings=settings, baseline=False)
    found = calibrate_file(tmp_path / "m", new, tmp_path / "o")
    assert (found.items, found.nouns.many) == (60, "bags")
    assert load_model(tmp_path / "o").temperature == found.temperature
    with pytest.raises(ConfigError, match="labels of bags have no thresholds"):
        calibrate_file(tmp_path / "m", new, tmp_path / "p", thresholds="f1")


def test_what_gives_no_labels_is_not_calibrated(tmp_path):
    rows = [(str(number % 5 + 0.5), text) for number, (_, text) in enumerate(texts(range(60)))]
    train = write(tmp_path / "a.csv", rows, "score")
    settings = [SMALL, {"model": {"task": "regress"}, "linear_model": {"kind": "none"}}]
    train_files(train, tmp_path / "m", settings=settings, baseline=False)
    with pytest.raises(ConfigError, match="has no probabilities of labels that could be calibrated"):
        calibrate_file(tmp_path / "m", train, tmp_path / "o")
    assert not (tmp_path / "o").exists()
