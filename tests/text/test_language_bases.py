"""The bases of other languages in the folder `bases` of the repository."""

from pathlib import Path

import pytest

from headwise.text.static_embeddings.base_folder import load_base
from headwise.text.static_embeddings.installed_bases import open_base

ROOT = Path(__file__).parents[2] / "bases"
NAMES = sorted(path.parent.name for path in ROOT.glob("*/base.json"))


def test_there_are_sixteen_languages_and_english():
    assert len(NAMES) == 17


@pytest.mark.parametrize("name", NAMES)
def test_a_base_is_sound_and_small_and_names_its_licences(name):
    base = load_base(ROOT / name)
    assert base.name == name
    assert base.size == 160
    assert sum(path.stat().st_size for path in (ROOT / name).iterdir()) < 6_000_000
    card = (ROOT / name / "README.md").read_text("utf-8")
    assert "CC BY-SA 4.0" in card
    assert "Apache-2.0" in card


def test_words_of_one_meaning_are_near_in_the_common_space(monkeypatch):
    monkeypatch.setenv("HEADWISE_BASES", str(ROOT))
    base = open_base("german+french+spanish")
    vectors, _ = base.vectors(["hund", "chien", "perro", "regierung", "gouvernement", "gobierno"])
    vectors /= ((vectors**2).sum(axis=1, keepdims=True)) ** 0.5
    cosines = vectors @ vectors.T
    assert cosines[0, 1:3].min() > cosines[0, 3:].max()
    assert cosines[3, 4:].min() > cosines[3, :3].max()
