import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from headwise.text.static_embeddings.base_folder import load_base, save_base
from headwise.text.static_embeddings.base_vectors import BaseError, QuantizedMatrix, StaticEmbeddings
from headwise.text.static_embeddings.word_groups import WordClusters, word_hash

WORDS = ("good", "so", "well", "made", "happy", "u.s")


@pytest.fixture
def base() -> StaticEmbeddings:
    random = np.random.default_rng(0)
    rows = random.normal(size=(len(WORDS), 8)).astype(np.float32)
    runs = random.normal(size=(32, 8)).astype(np.float32)
    weights = np.linspace(0.5, 1, len(WORDS) + 1, dtype=np.float32)
    return StaticEmbeddings(
        "tiny", WORDS, QuantizedMatrix.of(rows), QuantizedMatrix.of(runs), weights, {"licence": "ours"}
    )


def test_a_table_is_near_its_rows():
    rows = np.random.default_rng(1).normal(size=(50, 16))
    table = QuantizedMatrix.of(rows)
    assert np.abs(table.values * table.scales[:, None] - rows).max() <= np.abs(rows).max() / 127


@pytest.mark.parametrize(
    ("word", "listed"),
    [("Good", "good"), ("soooo", "so"), ("#happy", "happy"), ("U.S.", "u.s"), ("*so*", "so")],
)
def test_other_spellings_of_listed_words(base, word, listed):
    assert base.compositions([word]).rows.tolist() == [WORDS.index(listed)]
    assert word in base


def test_a_compound_is_the_mean_of_its_parts(base):
    vectors, weights = base.vectors(["well-made", "well", "made"])
    assert np.allclose(vectors[0], vectors[1:].mean(axis=0), atol=1e-6)
    assert weights[0] == pytest.approx(weights[1] + weights[2])


def test_words_not_listed_have_vectors_from_their_letters(base):
    (one, second, empty), _ = base.vectors(["zebra", "zebras", ""])
    assert np.isfinite(empty).all()
    assert np.linalg.norm(one - second) > 0
    assert "zebra" not in base
    assert "差" not in base  # which has one run of letters: itself


def test_the_vector_of_a_text_is_the_weighted_mean_at_length_1(base):
    vectors, weights = base.vectors(["good", "zebra"])
    mean = (vectors * weights[:, None]).sum(axis=0)
    actual = base.texts([["good", "zebra"], [], ["good"]])
    assert np.allclose(actual[0], mean / np.linalg.norm(mean), atol=1e-5)
    assert (actual[1] == 0).all()
    assert np.linalg.norm(actual[2]) == pytest.approx(1, abs=1e-5)


def test_a_folder_comes_back_as_it_was(base, tmp_path):
    save_base(base, tmp_path / "b", "# card\n")
    again = load_base(tmp_path / "b")
    assert again.words == base.words
    assert (again.table.values == base.table.values).all()
    words = ["good", "zebra", "well-made"]
    assert np.allclose(again.texts([words]), base.texts([words]), atol=1e-3)


def test_groups_of_words_come_back_with_the_folder_and_damage_is_told(base, tmp_path):
    keys = np.array([word_hash(word) for word in WORDS], dtype=np.uint32)
    groups = WordClusters(keys, np.arange(len(WORDS) * 5, dtype=np.int16).reshape(-1, 5))
    save_base(replace(base, groups=groups), tmp_path, "# card\n")
    again = load_base(tmp_path).groups
    assert again is not None
    assert (again.of(["Good", "zebra"]) == groups.of(["Good", "zebra"])).all()
    about = json.loads((tmp_path / "base.json").read_text())
    assert about["groups"] == len(WORDS)
    tensors = load_file(tmp_path / "base.safetensors")
    for change, messages in (
        ({"groups.keys": keys[:2]}, "numbers of"),
        ({"groups.numbers": tensors["groups.numbers"].astype(np.int32)}, "another kind"),
    ):
        content = save({**tensors, **change})
        (tmp_path / "base.safetensors").write_bytes(content)
        about["files"]["base.safetensors"] = hashlib.sha256(content).hexdigest()
        (tmp_path / "base.json").write_text(json.dumps(about))
        with pytest.raises(BaseError, match=f"HW803.*{messages}"):
            load_base(tmp_path)


def test_a_folder_is_read_once_until_its_files_change(base, tmp_path):
    save_base(base, tmp_path, "# card\n")
    first = load_base(tmp_path)
    assert load_base(tmp_path) is first
    save_base(replace(base, name="another"), tmp_path, "# card\n")
    assert load_base(tmp_path).name == "another"
    (tmp_path / "words.json").unlink()
    with pytest.raises(BaseError, match="cannot be read"):
        load_base(tmp_path)


@pytest.mark.parametrize("name", ["words.json", "base.safetensors", "base.json"])
def test_damage_is_told(base, tmp_path, name):
    save_base(base, tmp_path, "# card\n")
    content = (tmp_path / name).read_bytes()
    for damaged in (content[:-7], content[:10] + b"\0\0" + content[12:], b""):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(BaseError, match=name):
            load_base(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(BaseError, match="cannot be read"):
        load_base(tmp_path)


def test_files_that_contradict_each_other_are_told(base, tmp_path):
    save_base(base, tmp_path, "# card\n")
    about = json.loads((tmp_path / "base.json").read_text())
    words = json.dumps([*WORDS, "more"]).encode()
    (tmp_path / "words.json").write_bytes(words)
    about["files"]["words.json"] = hashlib.sha256(words).hexdigest()
    (tmp_path / "base.json").write_text(json.dumps(about))
    with pytest.raises(BaseError, match="7 words"):
        load_base(tmp_path)
