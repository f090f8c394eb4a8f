"""`headwise noise` on tagged sentences: words with flipped tags are found."""

import json
import random

import pytest

from headwise import noise_file
from headwise.app.workflows.tag_errors import find_tag_issues, out_of_fold_type_probabilities
from headwise.data.readers.tagged_files import read_tagged

WORDS = {"PER": ["Tom", "Ann", "Lee"], "LOC": ["Rome", "Lima", "Oslo"]}


def write(path, flipped=(), plain=False, sentences=120):
    """Sentences `WORD of PLACE ran N`; those of `flipped` have their place tagged as a person."""
    chance, lines = random.Random(0), []
    for number in range(sentences):
        who, where = (chance.choice(WORDS[kind]) for kind in ("PER", "LOC"))
        kind = "PER" if number in flipped else "LOC"
        tags = (
            ("NN", "IN", kind, kind, "VB", "CD")
            if plain
            else ("B-PER", "O", f"B-{kind}", f"I-{kind}", "O", "O")
        )
        words = (who, "of", "New", where, "ran", f"x{number}")
        lines += [f"{word}\t{tag}" for word, tag in zip(words, tags, strict=True)] + [""]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("plain", [False, True])
def test_flipped_spans_are_found_with_their_words(tmp_path, plain):
    path = write(tmp_path / "a.conll", flipped=(5, 50), plain=plain)
    found = noise_file(path)
    assert [(own.line, own.place) for own in sorted(found, key=lambda own: own.line)] == [
        (36, f"{path}:38"),
        (351, f"{path}:353"),
    ]
    wrong, right = ("PER", "LOC") if plain else ("B-PER", "B-LOC")
    assert {(own.label, own.suggested) for own in found} == {(wrong, right)}
    assert all(own.words.startswith("New ") and own.words in own.text for own in found)
    assert all(own.given_probability < own.probability for own in found)


def test_of_texts_with_spans_characters_and_types_are_told(tmp_path):
    table = read_tagged(write(tmp_path / "a.conll", flipped=(5, 50)))
    rows = []
    for sentence in table.items:
        text, kind = "  ".join(sentence.tokens), sentence.tags[2][2:]
        start = text.index("New")
        spans = [[0, len(sentence.tokens[0]), "PER"], [start, text.index("  ran"), kind]]
        rows.append(json.dumps({"text": text, "spans": spans}) + "\n")
    path = tmp_path / "a.jsonl"
    path.write_text("".join(rows))
    found = noise_file(str(path))
    assert [own.line for own in sorted(found, key=lambda own: own.line)] == [6, 51]
    for own in found:
        assert (own.label, own.suggested) == ("PER", "LOC")
        assert own.text[own.start : own.end].split() == own.words.split()
    assert all((own.start, own.end) == (None, None) for own in noise_file(str(tmp_path / "a.conll")))


def test_no_sentence_is_judged_by_a_crf_that_has_seen_it(tmp_path):
    """Else a word that is like no other would be sure of its tag."""
    path = write(tmp_path / "a.conll")
    with open(path, "a") as file:
        file.write("zzyzx\tB-LOC\n\n" * 2)
    items = read_tagged(path).items
    chances = out_of_fold_type_probabilities(items, "iob2", {"LOC": 0, "O": 1, "PER": 2})
    assert chances.sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert (chances[-2:, 0] < 0.9).all()


def test_equal_sentences_with_other_tags_name_each_other(tmp_path):
    path = write(tmp_path / "a.conll")
    with open(path, "a") as file:
        for tag in ("LOC", "PER"):
            file.write(f"Tom\tB-PER\nof\tO\nNew\tB-{tag}\nRome\tI-{tag}\nran\tO\n\n")
    (found,) = find_tag_issues(read_tagged(path))
    assert (found.label, found.line, found.twin) == ("B-PER", 847, 841)
