import numpy as np
import pytest
import torch

from headwise.training.pretraining.base_config import StudentConfig
from headwise.training.pretraining.cbow import word_ngrams
from headwise.training.pretraining.corpus import EncodedPassages
from headwise.training.pretraining.student import (
    StaticStudent,
    StudentInit,
    interpolate_vectors,
    start_from_words,
    train_student,
)

TYPES = [f"word{number}" for number in range(30)]  # the last ten are not listed
TEACHER, SIZE, BUCKETS = 12, 6, 64


def student(seed: int = 0) -> StaticStudent:
    random = np.random.default_rng(seed)
    answers = random.normal(size=(20, TEACHER))
    start = start_from_words(answers, np.full(21, 0.5, np.float32), SIZE)
    return StaticStudent(start, *word_ngrams(TYPES, BUCKETS), BUCKETS, seed)


def lessons(passages: int = 400) -> tuple[EncodedPassages, np.ndarray]:
    """Passages, and a teacher whose vectors are means of vectors of words."""
    random = np.random.default_rng(1)
    meaning = random.normal(size=(30, SIZE)) @ random.normal(size=(SIZE, TEACHER))
    flat = random.integers(0, 30, (passages, 7))
    vectors = meaning[flat].mean(axis=1)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return EncodedPassages(flat.astype(np.int32).ravel(), np.arange(passages + 1) * 7), vectors.astype(
        np.float16
    )


def train(trained, path, epochs=4, rate=0.02, report=lambda *_: None, **settings):
    numbers, answers = lessons()
    config = StudentConfig(epochs=epochs, batch=32, learning_rate=rate, **settings)
    return train_student(
        trained, numbers, answers, config, seed=0, held=np.arange(40), state=path, report=report
    )


def test_it_learns_what_the_teacher_says(tmp_path):
    assert train(student(), tmp_path / "state", epochs=20, rate=0.1) > 0.9


def test_it_learns_from_two_teachers(tmp_path):
    numbers, answers = lessons()
    both = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in np.split(answers, [7], axis=1)]
    start = start_from_words(
        np.random.default_rng(0).normal(size=(20, TEACHER)), np.ones(21, np.float32), SIZE
    )
    trained = StaticStudent(start, *word_ngrams(TYPES, BUCKETS), BUCKETS, 0, [7, 5])
    config = StudentConfig(epochs=20, batch=32, learning_rate=0.1)
    held = np.arange(40)
    cosine = train_student(
        trained,
        numbers,
        np.hstack(both),
        config,
        seed=0,
        held=held,
        state=tmp_path / "s",
        report=lambda *_: None,
    )
    assert cosine > 0.9
    flat, lengths = numbers.take(held)
    with torch.no_grad():
        actual = trained(torch.from_numpy(flat.astype(np.int64)), torch.from_numpy(lengths)).split(
            [7, 5], dim=1
        )
    cosines = [
        2**0.5 * (one.numpy() * answers[held]).sum(1).mean()
        for one, answers in zip(actual, both, strict=True)
    ]
    assert cosine == pytest.approx(np.mean(cosines), abs=1e-3)


def test_the_tables_have_the_angles_of_the_teachers_space(tmp_path):
    trained = student()
    train(trained, tmp_path / "state")
    numbers, _ = lessons(20)
    listed = numbers.flat.reshape(20, 7) % 20
    vectors, sub, weights = trained.tables()
    assert sub.shape == (BUCKETS, SIZE)
    assert (weights > 0).all()
    means = (vectors[listed] * weights[listed][..., None]).sum(axis=1)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    with torch.no_grad():
        actual = trained(torch.from_numpy(listed.astype(np.int64).ravel()), torch.full((20,), 7)).numpy()
    assert np.allclose(means @ means.T, actual @ actual.T, atol=1e-4)


def test_words_that_are_not_listed_are_runs_of_letters():
    trained = student()
    with torch.no_grad():
        vectors, weights = trained.vectors(torch.tensor([25, 3]))
        runs, starts = word_ngrams(TYPES, BUCKETS)
        assert torch.allclose(vectors[0], trained.sub[runs[starts[25] : starts[26]]].mean(0), atol=1e-6)
        assert weights[0] == torch.nn.functional.softplus(trained.free)[-1]
        hidden, _ = trained.vectors(torch.tensor([3]), torch.tensor([True]))
        assert torch.allclose(vectors[1] - hidden[0], trained.word_vectors[3], atol=1e-6)


def test_a_run_that_goes_on_ends_with_the_same_student(tmp_path):
    full, part, again = student(), student(), student()
    expected = train(full, tmp_path / "a", epochs=3, word_dropout=0.3)

    def stop(done, total, tell):
        if done >= 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(part, tmp_path / "b", epochs=3, word_dropout=0.3, report=stop)
    assert train(again, tmp_path / "b", epochs=3, word_dropout=0.3) == expected
    for one, second in zip(full.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, second)
    assert train(again, tmp_path / "b", epochs=3, word_dropout=0.3) == expected  # and it is finished


def test_a_start_spans_the_directions_in_which_words_differ_most():
    answers = np.random.default_rng(0).normal(size=(50, TEACHER)) * np.linspace(3, 0.1, TEACHER)
    start = start_from_words(answers, np.ones(51, np.float32), 4)
    assert isinstance(start, StudentInit)
    centred = answers - answers.mean(axis=0)
    _, singular, _ = np.linalg.svd(centred)
    assert np.allclose(np.sort(np.linalg.norm(start.vectors, axis=0))[::-1], singular[:4], rtol=1e-3)


def test_words_that_the_teacher_does_not_know_begin_as_the_text_says():
    random = np.random.default_rng(0)
    texts = random.normal(size=(200, 5)).astype(np.float32)
    turn = np.linalg.qr(random.normal(size=(5, 5)))[0].astype(np.float32)
    vectors = texts @ turn
    share = np.ones(200)
    share[:20] = 0.0
    share[20] = 0.0
    often = np.full(200, 50)
    often[20] = 0
    damaged = vectors.copy()
    damaged[:21] = 0
    actual = interpolate_vectors(damaged, texts, share, often)
    assert np.allclose(actual[21:], vectors[21:], atol=1e-5)
    nearby = (actual[:20] * vectors[:20]).sum(1) / np.linalg.norm(actual[:20], axis=1)
    assert (nearby / np.linalg.norm(vectors[:20], axis=1) > 0.99).all()
    assert (actual[20] == 0).all()  # the text knows nothing of it either
