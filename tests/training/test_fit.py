"""From labelled texts to a model: labels, vectors, weights, temperature."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise.app.configuration import RunConfig, build_config
from headwise.artifacts import load_model, save_model
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import label_targets
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.classification_scores import mean_loss
from headwise.models.tasks import find_task
from headwise.text.vocabulary import WordVectors
from headwise.training import fit as fit_module

SMALL = {
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "classifier": {"hidden": 8},
    "words": {"vector-size": 4},
    "train": {"epochs": 2, "batch-texts": 8},
    "linear_model": {"kind": "none"},
}


CLASSIFY = find_task("classify")


def fit(train, dev, recipe, folder, **more):
    return fit_module.fit_model(
        CLASSIFY, DataParts(ITEM_TYPES_BY_TASK["classify"], train, dev, []), recipe, folder, **more
    )


def new_model(texts, labels, recipe, vectors=None):
    items = [Example(text, labels[n % 2]) for n, text in enumerate([*texts, ""])]
    return CLASSIFY.build(DataParts(ITEM_TYPES_BY_TASK["classify"], items, [], []), recipe, vectors)


def recipe(**sections) -> RunConfig:
    return build_config(SMALL, sections)


def examples(texts: int, seed: int, rare: int = 0) -> list[Example]:
    """Texts that say which of two labels they have, and some of a rare third."""
    random = np.random.default_rng(seed)
    reviews = [
        Example(" ".join(random.choice(["the", "film", f"{label}1", f"{label}2"], 6)), label, line)
        for line, label in enumerate(random.choice(["good", "bad"], texts))
    ]
    return reviews + [Example(f"mixed film {n}", "mixed", texts + n) for n in range(rare)]


def vectors(**words) -> WordVectors:
    return WordVectors(list(words), np.array([words[word] for word in words], dtype=np.float32))


def test_a_word_starts_from_its_vector():
    pretrained = vectors(film=[1, 2, 3, 4], unseen=[5, 6, 7, 8])
    texts = ["the film", "Film film zzz"]
    model, covered = new_model(texts, ["a", "b"], recipe(), pretrained)
    vocabulary = model.features.vocabulary
    weight = torch.cat([p for n, p in model.embedding.named_parameters() if not n.startswith("project")])
    assert weight.shape == (len(vocabulary), 4)
    numbers = {word: number for number, word in enumerate(vocabulary.words)}
    assert weight[numbers["film"]].tolist() == [1, 2, 3, 4]
    assert weight[numbers["unseen"]].tolist() == [5, 6, 7, 8]  # known although no training text has it
    words = model.features.encode(["unseen zzz qqq"])[0].words
    assert words.tolist() == [numbers["unseen"], numbers["zzz"], 0]
    # film (3 times), but neither the nor zzz.
    assert covered is not None
    assert (covered.types_found, covered.types) == (1, 3)
    assert (covered.tokens_found, covered.tokens) == (3, 5)


def test_only_the_first_extra_words_are_added():
    pretrained = vectors(a=[1, 1, 1, 1], b=[2, 2, 2, 2], c=[3, 3, 3, 3])
    model, _ = new_model(["x y"], ["a", "b"], recipe(vectors={"extra-words": 2}), pretrained)
    assert set(model.features.vocabulary.words) == {"<unk>", "x", "y", "a", "b"}


@pytest.mark.parametrize("kind", ["linear", "none"])
def test_training_stops_where_the_encoder_adds_nothing_to_the_linear_model(tmp_path, kind):
    """The examples are easy for the linear model, and the network learns nothing. Without the stop the same
    model comes out."""
    fits = [
        fit(
            examples(60, 0),
            examples(30, 1),
            recipe(
                linear_model={"kind": kind},
                train={
                    "epochs": 4,
                    "learning-rate": 0.0,
                    "vectors-learning-rate": 0.0,
                    "patience": 0,
                    "score": "loss",
                    "stop-if-unused": stops,
                },
            ),
            tmp_path / str(stops),
        )
        for stops in (True, False)
    ]
    assert [len(fitted.progress.history) for fitted in fits] == [1 if kind == "linear" else 4, 4]
    stopped, complete = (fitted.model.state_dict() for fitted in fits)
    assert stopped.keys() == complete.keys()
    assert all(torch.equal(stopped[name], complete[name]) for name in complete)
    if kind == "linear":
        assert fits[0].model.encoder_weight == 0


def test_vectors_of_another_size():
    pretrained = vectors(film=[1, 2])
    with pytest.raises(ConfigError, match=r"v\.txt: the vectors have 2 features.*vector_size is 4"):
        new_model(["film"], ["a", "b"], recipe(vectors={"file": "v.txt"}), pretrained)


def test_vectors_are_read_from_the_file_of_the_recipe(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("film 1 2 3 4\nthe 0 0 0 1\n")
    fitted = fit(
        examples(20, 0),
        examples(8, 1),
        recipe(vectors={"file": str(path)}, train={"epochs": 1, "vectors-learning-rate": 0.0}),
        tmp_path / "run",
    )
    number = fitted.model.features.vocabulary.words.index("film")
    assert fitted.model.embedding.vectors.weight[number].tolist() == [1, 2, 3, 4]
    assert fitted.coverage is not None
    assert fitted.coverage.types_found == 2


def test_settings_of_the_vocabulary_are_used():
    model, covered = new_model(
        ["a a b B c", "A"], ["a", "b"], recipe(words={"min-count": 2, "case": "keep"}), None
    )
    assert covered is None
    assert model.features.vocabulary.words == ("<unk>", "a")
    model, _ = new_model(["a a b B c"], ["a", "b"], recipe(words={"max-words": 1}))
    assert model.features.vocabulary.words == ("<unk>", "a")


def test_the_temperature_lowers_or_keeps_the_loss_on_dev(tmp_path):
    dev = examples(20, 1)
    fitted = fit(examples(40, 0), dev, recipe(train={"epochs": 3, "learning-rate": 0.003}), tmp_path)
    targets = label_targets(dev, fitted.model.labels)
    logits = fitted.model.logits(fitted.model.features.encode(dev))
    assert fitted.model.temperature != 1.0
    assert mean_loss(logits / fitted.model.temperature, targets) <= mean_loss(logits, targets)
    assert fitted.calibration is not None
    assert 0 <= fitted.calibration[1] <= 1
    assert fitted.progress.history[fitted.progress.best_epoch]["loss"] == pytest.approx(
        mean_loss(logits, targets),
        abs=1e-3,  # the weights were rounded after training
    )
    rounded = [weights.half().float().equal(weights) for weights in fitted.model.parameters()]
    assert all(rounded)


def test_weights_reach_the_loss(tmp_path):
    """Where the text says nothing, the probabilities go towards the labels' weighted shares."""
    train = [Example("film", "rare" if n % 10 == 0 else "often") for n in range(200)]
    chances = dict.fromkeys(("none", "balanced", "rare=3"), 0.0)
    for weights in chances:
        for seed in range(3):
            settings = recipe(
                classifier={"class-weights": weights, "dropout": 0},
                words={"dropout": 0.0, "word-dropout": 0.0},
                train={"epochs": 1, "learning-rate": 0.02, "seed": seed},
            )
            model = fit(train, train, settings, tmp_path / f"{weights}-{seed}").model
            assert model.labels == ("often", "rare")
            model.temperature = 1.0
            chances[weights] += model.predict_proba(["film"])[0, 1] / 3
    assert 2 * chances["none"] < chances["rare=3"] < chances["balanced"] / 2
    assert 0.25 < chances["balanced"] < 0.75


def test_dev_texts_that_count_nothing_decide_nothing(tmp_path):
    train, dev = examples(60, 0), examples(30, 1)
    wrong = [
        replace(example, label={"good": "bad", "bad": "good"}[example.label], weight=0.0) for example in dev
    ]
    fits = [
        fit(train, dev_items, recipe(), tmp_path / str(len(dev_items)))
        for dev_items in (dev, [*wrong, *dev])
    ]
    assert fits[0].progress.history == fits[1].progress.history
    assert fits[0].model.temperature == fits[1].model.temperature


def test_dev_texts_count_as_much_as_their_weights_say(tmp_path):
    train, dev = examples(60, 0), examples(30, 1)
    twice = [replace(example, weight=1.0 + (example.label == "good")) for example in dev]
    repeated = [example for example in dev for _ in range(1 + (example.label == "good"))]
    settings = recipe(train={"epochs": 4, "learning-rate": 0.02})
    fits = [
        fit(train, dev_items, settings, tmp_path / str(len(dev_items))) for dev_items in (twice, repeated)
    ]
    for score in ("accuracy", "macro_f1", "loss"):
        one, second = ([epoch[score] for epoch in fitted.progress.history] for fitted in fits)
        assert one == pytest.approx(second), score
    assert fits[0].model.temperature == pytest.approx(fits[1].model.temperature, rel=1e-2)


def test_weights_for_a_label_that_is_not_there(tmp_path):
    settings = recipe(classifier={"class-weights": "godo=2"})
    with pytest.raises(ConfigError, match="unknown label 'godo'; labels are bad, good"):
        fit(examples(20, 0), examples(5, 1), settings, tmp_path)


def test_without_dev_texts(tmp_path):
    with pytest.raises(HeadwiseError, match="no dev texts"):
        fit(examples(20, 0), [], recipe(), tmp_path)


def test_same_settings_same_model_whatever_was_drawn_before(tmp_path):
    first = fit(examples(20, 0), examples(8, 1), recipe(), tmp_path / "1").model.state_dict()
    torch.rand(7)
    again = fit(examples(20, 0), examples(8, 1), recipe(), tmp_path / "2").model.state_dict()
    different = fit(
        examples(20, 0), examples(8, 1), recipe(train={"seed": 5}), tmp_path / "3"
    ).model.state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], different[name]) for name in first)


@pytest.mark.parametrize("part", ["train", "dev", "order"])
def test_resuming_with_other_texts_is_an_error(tmp_path, part):
    train, dev = examples(20, 0), examples(8, 1)
    fit(train, dev, recipe(), tmp_path)
    if part == "order":
        train = train[::-1]
    else:
        changed = (train if part == "train" else dev)[0]
        {"train": train, "dev": dev}[part][0] = Example(changed.text + " more", changed.label)
    with pytest.raises(
        HeadwiseError, match=f"texts.{'dev' if part == 'dev' else 'train'} was '.*' and is now"
    ):
        fit(train, dev, recipe(), tmp_path, resume=True)


def test_resuming_with_other_settings_names_them_alone(tmp_path):
    fit(examples(20, 0), examples(8, 1), recipe(), tmp_path)
    changed = recipe(train={"learning-rate": 0.5}, words={"dropout": 0.1})
    with pytest.raises(HeadwiseError) as caught:
        fit(examples(20, 0), examples(8, 1), changed, tmp_path, resume=True)
    assert "train.learning_rate was 0.001 and is now 0.5; words.dropout was 0.3 and is now 0.1." in str(
        caught.value
    )


@pytest.mark.parametrize("more", [{}, {"refit": True}, {"folds": 2}])
def test_thresholds_bring_rare_labels_back_and_are_kept_with_the_model(tmp_path, more):
    """A word goes with the rare label in two texts of five: never the most probable one."""
    rows = [("maybe", "rare" if n % 5 < 2 else "often") for n in range(50)] + [("film", "often")] * 150
    train, dev = ([Example(f"{text} {n}", label) for n, (text, label) in enumerate(rows)] for _ in "td")
    settings = recipe(
        classifier={"thresholds": "f1", "dropout": 0},
        words={"dropout": 0.0, "word-dropout": 0.0, "min-count": 3},  # the numbers say nothing
        train={"epochs": 6, "score": "last", "learning-rate": 0.02, **more},
    )
    model = fit(train, dev, settings, tmp_path / "run").model
    assert sum(model.thresholds) == pytest.approx(1)
    before, (after,) = model.predict_proba(["maybe 99"])[0], model.predict(["maybe 99"])
    assert before.argmax() == 0
    if "folds" not in more:  # there they are of models that have seen half of the texts
        assert after.label == "rare"
    assert after.label == model.labels[int((before / model.thresholds).argmax())]
    save_model(model, tmp_path / "model", data={}, training={}, metrics={})
    assert load_model(tmp_path / "model").thresholds == model.thresholds
    if not more:
        plain = fit(train[40:60], dev[40:60], recipe(train={"epochs": 1}), tmp_path / "plain").model
        save_model(plain, tmp_path / "model", data={}, training={}, metrics={})
        assert load_model(tmp_path / "model").thresholds is None


@pytest.mark.parametrize("more", [{}, {"refit": True}, {"folds": 2}])
def test_a_label_is_given_where_that_keeps_its_recall(tmp_path, more):
    """The word of the rare label stands in as many texts of another, and of the two it is never the
    likelier one."""
    rows = [("maybe", "rare" if n % 5 < 2 else "often") for n in range(50)] + [("film", "often")] * 150
    train, dev = ([Example(f"{text} {n}", label) for n, (text, label) in enumerate(rows)] for _ in "td")
    settings = recipe(
        classifier={"thresholds": "rare:recall=0.9"},
        train={"epochs": 6, "score": "last", "learning-rate": 0.02, **more},
    )
    fitted = fit(train, dev, settings, tmp_path / "run")
    (point,) = fitted.dev["operating_points"]
    assert (point["label"], point["rate"], point["wanted"], point["kept"]) == ("rare", "recall", 0.9, True)
    assert point["texts"] == (40 if "folds" in more else 20)
    assert 0.9 <= point["expected"] < 1
    assert sum(fitted.model.thresholds) == pytest.approx(1)
    if "folds" not in more:  # there they are of models that have seen half of the texts
        assert [prediction.label for prediction in fitted.model.predict(["maybe", "film"])] == [
            "rare",
            "often",
        ]


def test_an_unknown_label_of_a_threshold_is_told_before_the_first_epoch(tmp_path):
    settings = recipe(classifier={"thresholds": "urgent:recall=0.9"}, train={"epochs": 1})
    with pytest.raises(ConfigError, match="unknown label 'urgent'; labels are"):
        fit(examples(20, 0), examples(8, 1), settings, tmp_path)


def test_what_is_done_is_told_from_the_first_epoch_to_the_last_training(tmp_path):
    reports = []

    def report(done):
        if done.scores is not None or done.until:
            reports.append((done.part, done.until, done.progress.epoch, done.scores is not None))

    items = examples(24, 0)
    fit(
        items[:16],
        items[16:],
        recipe(train={"refit": True, "batch-texts": 16}),
        tmp_path,
        report=report,
        stage=reports.append,
    )
    first, chosen = reports[:2], reports[3][1]
    assert first == [("", None, 0, True), ("", None, 1, True)]  # epochs that dev judges
    assert reports[2] == reports[-1] == "linear model, calibration"
    again = reports[3:-1]  # dev has chosen: nothing is judged, and how far it goes is known
    assert {state[:2] for state in again} == {("once more, on all", chosen)}
    assert max(state[2] for state in again) == chosen - 1
    assert not any(state[3] for state in again)


@pytest.mark.parametrize("stops", [True, False])
def test_a_run_that_may_stop_for_its_linear_model_names_that_step_after_the_first_epoch(tmp_path, stops):
    built = recipe(
        linear_model={"kind": "linear"}, train={"epochs": 2, "refit": False, "stop_if_unused": stops}
    )
    events = list[str]()

    def epoch(report):
        if report.scores is not None:
            events.append(f"epoch {report.progress.epoch + 1}")

    fit(examples(60, 0), examples(30, 1), built, tmp_path, report=epoch, stage=events.append)
    step = CLASSIFY.post_training_step
    assert events[0] == (step if stops else "epoch 1")
    assert events[-1] == step
