"""The weights of a model: a safetensors file whose header is validated before the tensors are read.

The format (https://github.com/huggingface/safetensors): 8 bytes with the size of the header, little-endian;
the header, JSON, with the type, shape and offsets of every tensor; then the tensors.
"""

import hashlib
from collections.abc import Callable, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.model_folder import (
    StoreError,
    VerifiedFolder,
    check_digest,
    check_size,
    current_tensor_name,
    open_plain,
    parse_json,
)
from headwise.core.folder_layout import WEIGHTS, WEIGHTS_HEADER

DTYPES: dict[str, type[np.floating]] = {"float32": np.float32, "float16": np.float16}
_NAMES = {
    np.dtype(np.float32): "F32",
    np.dtype(np.float16): "F16",
    np.dtype(np.int64): "I64",
    np.dtype(np.int32): "I32",
    np.dtype(np.int16): "I16",
    np.dtype(np.int8): "I8",
    np.dtype(np.bool_): "BOOL",
}


class TensorSpec(NamedTuple):
    """The expected shape and type of a tensor."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Number of values."""
        return int(np.prod(self.shape, dtype=np.int64))


Read = TypeVar("Read")


def read_weights(files: VerifiedFolder, read: Callable[["WeightsFile"], tuple[Read, str]]) -> Read:
    """What `read` makes of the weights file of a folder, whose bytes are verified against the manifest.

    Args:
        files: The folder.
        read: Reads the open file; returns its result and the SHA-256 of the bytes, see `WeightsFile.read`.

    Raises:
        StoreError: The file is damaged, or `read` refuses it.
    """
    entry, path = files.entry(WEIGHTS), files.path / WEIGHTS
    with open_plain(path) as (file, size):
        check_size(path, size, entry)
        try:
            result, digest = read(WeightsFile(file, size, path))
        except StoreError:
            # The most likely cause is a damaged file; if the hash confirms that, report it instead.
            file.seek(0)
            check_digest(path, hashlib.file_digest(file, "sha256").hexdigest(), entry)
            raise
    check_digest(path, digest, entry)
    return result


class WeightsFile:
    """An open safetensors file whose header has been read.

    Args:
        file: The file, positioned at its beginning.
        size: The size of the file, in bytes.
        where: The name of the file, for messages.

    Raises:
        StoreError: HW509, the header is invalid, or does not describe the complete file.
    """

    def __init__(self, file: BufferedReader, size: int, where: Path):
        self.file, self.where = file, where
        start = file.read(8)
        length = int.from_bytes(start, "little")
        if length > min(WEIGHTS_HEADER, size - 8):
            raise self._error(f"its header cannot have {length} bytes")
        head = file.read(length)
        self._hash = hashlib.sha256(start + head)
        entries = parse_json(head, f"{where}: header")
        entries.pop("__metadata__", None)
        self._entries = {current_tensor_name(name): entry for name, entry in entries.items()}
        self._data_size = size - 8 - length

    def __len__(self) -> int:
        """The number of tensors."""
        return len(self._entries)

    def read(
        self, expected: Mapping[str, TensorSpec], dtype: type[np.floating]
    ) -> tuple[dict[str, NDArray], str]:
        """Read the tensors, each into its own memory.

        Args:
            expected: The expected shapes and types, by name.
            dtype: The floating-point type of the file (some tensors may be float16); the results have the
                types of `expected`.

        Returns:
            The tensors, and the SHA-256 of the bytes that were read.

        Raises:
            StoreError: HW509 names, shapes, types or offsets are not the expected ones; HW510 a number is
                NaN or infinite.
        """
        order = self._check(expected, dtype)
        tensors: dict[str, NDArray] = {}
        for name in order:
            spec = expected[name]
            tensor = np.empty(spec.shape, dtype=self._kind(name, spec, dtype))
            buffer = memoryview(tensor.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
            if self.file.readinto(buffer) != len(buffer):
                raise self._error("it ends too early")
            self._hash.update(buffer)
            if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise StoreError(f"{self.where}: {name} holds NaN or infinite numbers", code="HW510")
            tensors[name] = tensor.astype(spec.dtype, copy=False)
        return tensors, self._hash.hexdigest()

    def _check(self, expected: Mapping[str, TensorSpec], dtype: type[np.floating]) -> list[str]:
        """The names in file order, after a check that the file has exactly the expected tensors, without
        gaps."""
        for name in [*expected, *self._entries]:
            if name not in self._entries or name not in expected:
                lacks = "lacks" if name in expected else "holds"
                raise self._error(f"it {lacks} {name[:200]!r}, unlike a model of this configuration")
        places = {name: self._place(name, spec, dtype) for name, spec in expected.items()}
        order = sorted(places, key=lambda name: places[name])
        end = 0
        for name in order:
            if places[name][0] != end:
                raise self._error(f"{name} begins at byte {places[name][0]} of the data, not at {end}")
            end = places[name][1]
        if end != self._data_size:
            raise self._error(f"the tensors take {end} bytes, but the file holds {self._data_size}")
        return order

    def _kind(self, name: str, spec: TensorSpec, dtype: type[np.floating]) -> np.dtype:
        """The type of a tensor in the file: float16 if its entry says so, else the expected one."""
        if not np.issubdtype(spec.dtype, np.floating):
            return spec.dtype
        match self._entries[name]:
            case {"dtype": "F16"}:
                return np.dtype(np.float16)
        return np.dtype(dtype)

    def _place(self, name: str, spec: TensorSpec, dtype: type[np.floating]) -> tuple[int, int]:
        """The start and end offset of a tensor in the data, after a check of its entry."""
        entry: Any = self._entries[name]
        kind = self._kind(name, spec, dtype)
        size = spec.size * kind.itemsize
        begin = None
        if isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data_offsets"}:
            actual, expected = (entry["dtype"], entry["shape"]), (_NAMES[kind], list(spec.shape))
            if actual != expected:
                raise self._error(
                    f"{name} is {actual[0]!r:.20} {actual[1]!r:.80}, but the configuration asks for "
                    f"{expected[0]!r} {expected[1]}"
                )
            match entry["data_offsets"]:
                case [int(first), int(last)] if last - first == size > 0:
                    begin = first
        if begin is None:
            raise self._error(f"the entry of {name} is not well formed: {entry!r:.200}")
        return begin, begin + size

    def _error(self, problem: str) -> StoreError:
        return StoreError(f"{self.where}: {problem}", code="HW509")
