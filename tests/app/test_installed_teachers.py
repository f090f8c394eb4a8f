"""Teachers that train proposes: sentence encoders in the local cache of the hub."""

import pytest

from headwise.app import training_checks
from headwise.app.training_checks import ENGLISH_TEACHERS, MULTILINGUAL_TEACHERS, installed_teacher

hub = pytest.importorskip("huggingface_hub")
pytest.importorskip("transformers")


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Puts an encoder into an empty cache of the hub."""
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))

    def put(name, *files):
        snapshot = tmp_path / f"models--{name.replace('/', '--')}" / "snapshots" / "0a1b"
        snapshot.mkdir(parents=True)
        for file in files or ("config.json", "model.safetensors"):
            (snapshot / file).write_text("{}")

    return put


def test_nothing_is_installed(cached):
    assert installed_teacher() is None


def test_the_best_installed_teacher_comes_first(cached):
    cached(ENGLISH_TEACHERS[1])
    assert installed_teacher() == ENGLISH_TEACHERS[1]
    cached(ENGLISH_TEACHERS[0])
    assert installed_teacher() == ENGLISH_TEACHERS[0]


def test_other_languages_have_teachers_of_several_languages(cached):
    cached(ENGLISH_TEACHERS[0])
    assert installed_teacher(english=False) is None
    cached(MULTILINGUAL_TEACHERS[1])
    assert installed_teacher(english=False) == MULTILINGUAL_TEACHERS[1]
    assert installed_teacher(english=True) == ENGLISH_TEACHERS[0]


def test_an_encoder_without_safetensors_weights_does_not_count(cached):
    cached(ENGLISH_TEACHERS[0], "config.json", "pytorch_model.bin")
    assert installed_teacher() is None


def test_nothing_is_proposed_without_the_extra(cached, monkeypatch):
    cached(ENGLISH_TEACHERS[0])
    monkeypatch.setattr(training_checks, "find_spec", lambda name: None)
    assert installed_teacher() is None
