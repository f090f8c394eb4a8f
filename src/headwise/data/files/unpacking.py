"""Streams of compressed files, and what damaged ones raise. With these come the modules that unpack."""

import bz2
import gzip
import lzma
import struct
import zipfile
import zlib
from io import RawIOBase
from typing import IO, Any

DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""Exceptions that damaged data raise; bz2 raises a bare OSError, which `Bzip2File` turns into EOFError."""

ZIP_TROUBLE = (
    *(zipfile.BadZipFile, RuntimeError, OSError, ValueError, EOFError, OverflowError, struct.error),
)
"""Exceptions that `zipfile` raises for archives it cannot read: those with a password, and damaged ones."""

XZ_MEMORY = 1 << 28
"""Memory limit in bytes for unpacking an xz file; the file's header states what it needs."""


class XzFile(RawIOBase):
    """The unpacked bytes of an xz file, of one or several streams, in bounded memory."""

    def __init__(self, packed: IO[bytes]):
        self._packed, self._rest = packed, b""
        self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._stream.eof:
                # What follows is another stream, or zeros that fill a block.
                more = self._stream.unused_data.lstrip(b"\0") or self._packed.read(1 << 16)
                self._rest = more.lstrip(b"\0")
                if not self._rest:
                    return 0
                self._stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
            if self._stream.needs_input and not self._rest:
                self._rest = self._packed.read(1 << 16)
                if not self._rest:
                    raise EOFError("it ended before its end was marked")
            unpacked = self._stream.decompress(self._rest, max_length=len(buffer))
            self._rest = b""
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)


class Bzip2File(bz2.BZ2File):
    """The unpacked bytes of a bzip2 file; damage raises EOFError."""

    def read1(self, size: int = -1) -> bytes:
        try:
            return super().read1(size)
        except OSError as error:
            if error.errno is None:
                raise EOFError(str(error)) from None
            raise
