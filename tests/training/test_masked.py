"""Training on masked words, and models that begin with what was learnt."""

import random

import pytest
import torch

from headwise.app.reporter import Reporter
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.core.errors import ConfigError
from headwise.training.language_objectives import MaskedObjective
from headwise.training.warm_start import PreviousModel, copy_weights

SMALL = {
    "encoder": {"name": "ms-transformer", "width": 16, "heads": 2, "head_size": 8, "scales": ["5"]},
    "words": {"vector_size": 16, "min_count": 1},
    "train": {"epochs": 20, "learning_rate": 2e-2, "vectors_learning_rate": 2e-2, "batch_texts": 16},
}
PAIRS = [("salt", "pepper"), ("king", "queen"), ("rain", "wind"), ("bread", "butter")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of texts in which most words tell another one."""
    place = tmp_path_factory.mktemp("masked")
    chance = random.Random(0)
    drawn = ([*chance.choice(PAIRS), *chance.choice(PAIRS)] for _ in range(300))
    texts = ("n{} {} and {} then {} and {}".format(chance.randint(0, 9), *words) for words in drawn)
    (place / "texts.txt").write_text("\n".join(texts) + "\n")
    (place / "vectors.txt").write_text("".join(f"{w} {' '.join(['0.5'] * 16)}\n" for w in ("snow", "rain")))
    settings = {
        "model": {"task": "masked-words"},
        "data": {"format": "text"},
        "vectors": {"file": str(place / "vectors.txt")},
    }
    train_files(
        place / "texts.txt", place / "model", settings=[SMALL, settings, {"words": {"train_vectors": True}}]
    )
    return place


def test_it_learns_what_goes_with_what(folder):
    """Frequencies alone tell `and` alone rightly, a quarter of the words."""
    model = load_model(folder / "model")
    lines = (folder / "texts.txt").read_text().splitlines()
    scores = model.score(model.encoded(lines))
    assert scores.accuracy > 0.6
    assert scores.perplexity < 4


def test_words_begin_as_likely_as_they_are_frequent(folder):
    model = load_model(folder / "model")
    objective = MaskedObjective(model, [], [])
    objective.begin()
    words = model.features.vocabulary.words
    assert objective.often.sum() == pytest.approx(1)
    assert model.guess.bias[words.index("and")] > model.guess.bias[words.index("salt")]
    assert objective.chances[0] == 0


def write(path, rows) -> str:
    path.write_text("\n".join(rows) + "\n")
    return str(path)


@pytest.mark.parametrize(
    ("task", "rows"),
    [
        ("classify", ["text,label", *(f"salt and pepper {n},{'ab'[n % 2]}" for n in range(60))]),
        ("regress", ["text,score", *(f"salt and pepper {n},{n / 7}" for n in range(60))]),
        ("pair", ["first,second,label", *(f"salt {n},pepper {n},{'ab'[n % 2]}" for n in range(60))]),
        ("masked-words", [f"salt and pepper {n}" for n in range(60)]),
    ],
)
def test_models_begin_with_its_words_and_encoder(folder, tmp_path, task, rows):
    still = {"epochs": 1, "learning_rate": 0.0, "vectors_learning_rate": 0.0, "refit": False, "folds": 0}
    settings = {"model": {"task": task}, "base": {"name": str(folder / "model")}, "train": still}
    file = write(tmp_path / ("a.csv" if "," in rows[0] else "a.txt"), rows)
    outcome = train_files(file, tmp_path / "new", settings=settings, baseline=False)
    new, old = outcome.fitted.model, load_model(folder / "model")
    for (name, values), (_, before) in zip(
        new.encoder.named_parameters(), old.encoder.named_parameters(), strict=True
    ):
        torch.testing.assert_close(values, before, msg=name)
    for word in ("salt", "king", "snow"):  # of these texts, of those that it has read, of its vectors
        torch.testing.assert_close(vector(new, word), vector(old, word))
    assert new.embedding.vectors.num_embeddings < len(new.features.vocabulary)


def vector(model, word):
    """The vector of a word, wherever it is kept."""
    at, vector_count = model.features.vocabulary.words.index(word), model.embedding.vectors.num_embeddings
    return (
        model.embedding.vectors.weight[at]
        if at < vector_count
        else model.embedding.extra.weight[at - vector_count]
    )


def test_its_settings_are_kept(folder, tmp_path):
    file = write(tmp_path / "a.csv", ["text,label", *(f"salt {n},{'ab'[n % 2]}" for n in range(60))])
    base = {"base": {"name": str(folder / "model")}}
    with pytest.raises(ConfigError, match=r"encoder\.layers"):
        train_files(file, tmp_path / "new", settings=[base, {"encoder": {"layers": 2}}])
    bags = ["bag,x,label", *(f"b{n},{n},{'ab'[n % 2]}" for n in range(60))]
    with pytest.raises(ConfigError, match="but the task bags reads no words"):
        train_files(
            write(tmp_path / "b.csv", bags), tmp_path / "bags", settings=[base, {"model": {"task": "bags"}}]
        )


def test_reading_without_labels_makes_no_score_too_good(folder):
    class Told(Reporter):
        def __init__(self):
            self.notes_, self.warned = [], []

        def note(self, text):
            self.notes_.append(text)

        def warn(self, text):
            self.warned.append(text)

    lines = (folder / "texts.txt").read_text().splitlines()
    rows = [f"{line},{'ab'[n % 2]}" for n, line in enumerate(dict.fromkeys(lines))]
    file, reporter = write(folder / "labelled.csv", ["text,label", *rows]), Told()
    settings = {"base": {"name": str(folder / "model")}, "train": {"epochs": 1, "refit": False}}
    train_files(file, folder / "labelled", settings=settings, baseline=False, reporter=reporter)
    assert not any("training texts too" in text for text in reporter.warned)
    assert any("begins with what" in text for text in reporter.notes_)


def test_a_model_of_other_sizes_is_gone_on_from_where_they_fit(folder):
    """Another number of words: what tells them is left as it was."""
    old, new = load_model(folder / "model"), load_model(folder / "model")
    new.guess.bias = torch.nn.Parameter(torch.full((3,), 7.0))
    copy_weights(new, PreviousModel("old", old))
    assert new.guess.bias.tolist() == [7.0] * 3
