"""Fingerprints of data: hashes that tell whether two runs used the same texts."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from os import PathLike


@dataclass(frozen=True)
class Fingerprint:
    """Identifies a list of examples, in its order.

    Attributes:
        sha256: Hash of all (text, label) pairs, in hexadecimal.
        texts: How many examples there are.
        labels: How many of them have each label, by name.
    """

    sha256: str
    texts: int
    labels: dict[str, int]

    def to_json(self) -> dict[str, object]:
        """A JSON object, by attributes."""
        return asdict(self)


def hash_fields(fields: Iterable[str | None]) -> str:
    """The SHA-256 of texts in their order, in hexadecimal.

    Each text adds its length in bytes (8 bytes, big-endian) and its UTF-8; a missing one adds the length
    2**64 - 1 alone.
    """
    digest = hashlib.sha256()
    for field in fields:
        if field is None:
            digest.update(b"\xff" * 8)
            continue
        data = field.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def file_sha256(path: str | PathLike[str]) -> str:
    """The SHA-256 of a file's bytes as they lie on disk, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
