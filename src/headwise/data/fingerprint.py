"""Which data it was: hashes that tell whether two runs saw the same texts."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

from headwise.data.example import Example


@dataclass(frozen=True)
class Fingerprint:
    """What identifies a list of examples, in its order.

    Attributes:
        sha256: Hash of all (text, label) pairs, in hexadecimal.
        texts: How many examples there are.
        labels: How many of them have each label, by name.
    """

    sha256: str
    texts: int
    labels: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Fingerprint":
        """The inverse of `to_json`."""
        return cls(data["sha256"], data["texts"], dict(data["labels"]))


def fingerprint(examples: Iterable[Example]) -> Fingerprint:
    """The fingerprint of examples; line numbers and file names do not matter.

    Hashed are, for every example, the text and then the label, each as its length in bytes (8
    bytes, big-endian) and its UTF-8; a missing label is the length 2**64 - 1 alone. Where there is a
    parse, its heads follow, as a text of numbers.
    """
    digest = hashlib.sha256()
    counts: Counter[str] = Counter()
    texts = 0
    for example in examples:
        texts += 1
        parts = [example.text, example.label]
        if example.heads is not None:
            parts.append(" ".join(map(str, example.heads)))
        for part in parts:
            if part is None:
                digest.update(b"\xff" * 8)
                continue
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        if example.label is not None:
            counts[example.label] += 1
    return Fingerprint(digest.hexdigest(), texts, dict(sorted(counts.items())))


def file_sha256(path: str | PathLike[str]) -> str:
    """The SHA-256 of a file's bytes as they lie on disk, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
