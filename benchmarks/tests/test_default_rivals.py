import numpy as np
import pytest

TEXTS = ["good warm film", "bad cold film", "a good one", "a bad one", "good , really", "bad , really"] * 5
TARGETS = np.array([0, 1] * 15)
PAIRS = [(text, text if n % 2 else "nothing of it") for n, text in enumerate(TEXTS)]


def encode(texts):
    return np.array([[text.count("good"), text.count("bad"), len(text)] for text in texts], np.float32)


@pytest.mark.parametrize("name", ["svm", "nb_svm"])
def test_linear_rivals_tell_good_from_bad(name):
    from benchmarks.defaults import default_linear

    fitted = getattr(default_linear, name)(TEXTS, TARGETS)
    predicted, chances = fitted.predict(["good", "bad", "so bad"])
    assert predicted.tolist() == [0, 1, 1]
    assert chances is None
    assert fitted.weights > 0


def test_linear_rivals_read_pairs():
    from benchmarks.defaults.default_linear import logistic, svm

    same = np.array([n % 2 for n in range(len(PAIRS))])
    for fitted in (svm(PAIRS, same), logistic(encode, PAIRS, same)):
        assert fitted.predict([("a bad film", "a bad film"), ("a good one", "nothing of it")])[
            0
        ].tolist() == [1, 0]


def test_logistic_regression_has_probabilities():
    from benchmarks.defaults.default_linear import logistic

    predicted, chances = logistic(encode, TEXTS, TARGETS).predict(["good !!", "bad !!"])
    assert predicted.tolist() == [0, 1]
    assert chances.sum(1) == pytest.approx([1, 1])
    assert chances[0, 0] > 0.5 > chances[1, 0]


def test_nb_svm_with_many_labels():
    from benchmarks.defaults.default_linear import nb_svm

    texts = [word for word in ("ant", "bee", "cat") for _ in range(4)]
    targets = np.repeat([0, 1, 2], 4)
    assert nb_svm(texts, targets).predict(["cat cat", "ant", "bee"])[0].tolist() == [2, 0, 1]


def test_fasttext_numbers_its_labels():
    pytest.importorskip("fasttext")
    from benchmarks.defaults.default_linear import fasttext

    predicted, chances = fasttext(TEXTS, TARGETS).predict(["good", "bad\nbad"])
    assert predicted.tolist() == [0, 1]
    assert chances.shape == (2, 2)


def test_folds_hold_every_text_out_once_with_all_labels():
    from benchmarks.defaults.default_choice import folds

    targets = np.array([0] * 50 + [1] * 25)
    parts = folds(targets)
    assert len(parts) == 5
    assert sorted(row for _, held in parts for row in held) == list(range(75))
    for train, held in parts:
        assert not set(train) & set(held)
        assert (targets[held] == 1).sum() == 5
    assert len(folds(np.zeros(6_000, int))) == 1


def test_choose_takes_the_first_of_the_best():
    from benchmarks.defaults.default_choice import choose

    targets = np.array([0, 1] * 10)

    def predict(setting, train, held):
        return targets[held] if setting in ("b", "c") else 1 - targets[held]

    assert choose(["a", "b", "c"], predict, targets) == ("b", 1.0)


def test_static_means_by_hand():
    from benchmarks.defaults.default_vectors import static_means
    from headwise.text.vocabulary import WordVectors

    vectors = WordVectors(["good", "film"], np.array([[3, 0], [0, 4]], np.float32))
    means = static_means(vectors, ["good film", "Good", "unknown", ""])
    assert means == pytest.approx(np.array([[0.6, 0.8], [1, 0], [0, 0], [0, 0]]))


def test_shapes_and_features_of_words():
    from benchmarks.defaults.default_taggers import features_of, shape

    assert [shape(word) for word in ("McDonald's-2", "USA", "1,000", "")] == ["XxXx'x-d", "X", "d,d", ""]
    first, second = features_of(["New", "York"])
    assert {"w=New", "l=new", "s=Xx", "e2=ew", "capital, first", "+1e3=ork", "-1l=<s>"} <= set(first)
    assert {"capital, inside", "-1,0=new|york", "-2l=<s>"} <= set(second)


def test_crf_learns_names():
    pytest.importorskip("pycrfsuite")
    from benchmarks.defaults.default_sets import Part
    from benchmarks.defaults.default_taggers import crf

    names = ["Anna", "Bert", "Cleo", "Dora", "Egon", "Fritz", "Gerda", "Hans", "Ina", "Jan"]
    part = Part([[name, "sleeps", "."] for name in names], [["B-PER", "O", "O"]] * len(names))
    result = crf(part, Part([["Kurt", "sleeps", "."]], [["B-PER", "O", "O"]]), "iob2")
    assert result["test"] == 1
    assert result["texts_per_second"] > 0


def test_scores_of_probabilities():
    from benchmarks.defaults.default_rivals import probability_scores

    scores = probability_scores(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1]))
    assert scores == {"log_loss": pytest.approx(np.log(2) / 2, abs=1e-5), "calibration_error": 0.25}


def test_a_teacher_reads_each_text_once(tmp_path, monkeypatch):
    from benchmarks.defaults import default_vectors

    texts_read = []

    class Encoder:
        def __init__(self, config):
            assert config.name == str(tmp_path / "tiny")

        def try_bfloat16(self, texts):
            return False

        def read(self, texts):
            texts_read.extend(texts)
            return encode(texts).astype(np.float16)

    monkeypatch.setattr(default_vectors, "SentenceEncoder", Encoder)
    monkeypatch.setattr(default_vectors, "TEACHERS", {"tiny": (lambda folder: folder / "tiny", 10)})
    for texts in (["good", "bad"], ["bad", "so good", "good"]):
        vectors = default_vectors.cached_teacher("tiny", tmp_path)(texts)
        assert vectors.tolist() == encode(texts).tolist()
    assert texts_read == ["good", "bad", "so good"]


def test_slow_rivals_run_only_if_they_are_named():
    from argparse import Namespace

    from benchmarks.defaults.default import systems_of
    from benchmarks.defaults.default_rivals import ON_DEMAND

    slow = [*ON_DEMAND["classify"]]
    assert not {*slow} & {*systems_of(Namespace(systems=["all"], name="headwise"))}
    assert systems_of(Namespace(systems=slow, name="headwise")) == slow
    assert {*ON_DEMAND["pair"]} < {*slow}


def test_a_fine_tuned_encoder_tells_good_from_bad(tmp_path):
    transformers = pytest.importorskip("transformers")
    from benchmarks.defaults.default_encoders import epochs_of, fine_tuned

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({w for t in TEXTS for w in t.split()})]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    fitted = fine_tuned(TEXTS, TARGETS, 0, tmp_path)
    predicted, chances = fitted.predict(["a warm good film", "bad", "good", "so bad"])
    assert predicted.tolist() == [0, 1, 0, 1]
    assert chances.sum(1) == pytest.approx([1] * 4)
    assert chances.argmax(1).tolist() == predicted.tolist()
    assert [epochs_of(texts) for texts in (100, 250, 1_000, 4_000)] == [51, 20, 5, 5]
