"""kernel: functions that Numba compiles, and keeps for the next process where that is possible and safe.

Numba keeps what it has compiled in pickles, in a folder beside the source or in NUMBA_CACHE_DIR. Left to
itself it fails where it finds no such folder, where a file there is damaged or the disk is full, and takes
what was compiled of other sources for its own where only a function that is called has changed.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

VARIABLE = "HEADWISE_KERNELS"
"""The environment variable that says how kernels are used (`headwise.attention.compiled` has it too, as it
does without Numba); `off` reads and keeps nothing."""

_log = logging.getLogger(__name__)
_told: set[str] = set()


def kernel(*, required: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit`, without the lock of Python, kept for the next process.

    Args:
        required: It is not to be compiled for one process alone, nor again when another file of its folder
            changes: who calls it sees to that (`headwise.attention.compiled`).
        options: Of `numba.njit`.

    Raises:
        RuntimeError: There is no folder to keep it in, and it is `required`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        compiled: Any = njit(nogil=True, **options)(function)
        if not hasattr(compiled, "enable_caching"):  # Numba is switched off
            return compiled
        if required:
            compiled._cache = _Kept(function)
        elif os.environ.get(VARIABLE) != "off":
            with suppress(RuntimeError, OSError):  # no folder can be written to
                compiled._cache = _Kept(function, _digest(Path(function.__code__.co_filename).parent))
        return compiled

    return decorate


class _Kept(FunctionCache):
    """What is kept of a function; what cannot be read is compiled anew, what cannot be written is not kept.

    Args:
        function: The function.
        digest: Of what it depends on besides its own file.
    """

    def __init__(self, function: Callable[..., Any], digest: str = ""):
        super().__init__(function)
        if digest:
            stamp = (self._impl.locator.get_source_stamp(), digest)
            self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:
            self._tell("read", error)
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._tell("written", error)

    def _tell(self, what: str, error: Exception) -> None:
        if self._cache_path not in _told:
            _told.add(self._cache_path)
            said = f"{type(error).__name__}: {error}"
            _log.info("compiled code in %s cannot be %s (%s): compiled anew", self._cache_path, what, said)


@cache
def _digest(folder: Path) -> str:
    """Of the sources in a folder, whose kernels call each other."""
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]
