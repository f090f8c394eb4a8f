import hashlib
import json

from headwise.data import Example
from headwise.data.files.fingerprint import Fingerprint, file_sha256
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

fingerprint = ITEM_TYPES_BY_TASK["classify"].fingerprint

DATA = [Example("good", "a", 1), Example("bäd", "b", 2), Example("x", None, 3)]


def test_the_hash_is_of_lengths_and_bytes():
    parts = [b"good", b"a", "bäd".encode(), b"b", b"x"]
    raw = b"".join(len(part).to_bytes(8, "big") + part for part in parts) + b"\xff" * 8
    expected = Fingerprint(hashlib.sha256(raw).hexdigest(), 3, {"a": 1, "b": 1})
    assert fingerprint(DATA) == expected


def test_lines_do_not_matter_but_all_else_does():
    hashes = {
        fingerprint(data).sha256
        for data in (
            DATA,
            DATA[::-1],
            DATA[:2],
            [Example("goo", "da"), *DATA[1:]],
            [Example("good", None), *DATA[1:]],
            [*DATA[:2], Example("x", "")],
        )
    }
    assert len(hashes) == 6
    assert fingerprint([Example(e.text, e.label, 9) for e in DATA]) == fingerprint(DATA)


def test_json_round_trip():
    original = fingerprint(DATA)
    assert Fingerprint(**json.loads(json.dumps(original.to_json()))) == original


def test_a_lone_surrogate_has_a_fingerprint():
    assert fingerprint([Example("\ud800", "a")]).texts == 1


def test_files_are_hashed_as_they_lie(write):
    data = b"ab" * 1_000_000
    assert file_sha256(write("a", data)) == hashlib.sha256(data).hexdigest()
