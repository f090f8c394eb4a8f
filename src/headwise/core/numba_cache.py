"""Functions that Numba compiles, with a safe on-disk cache of the compiled code.

Numba caches compiled code as pickles, in a folder beside the source or in NUMBA_CACHE_DIR. Its own cache
raises an error if there is no such folder, a file is damaged or the disk is full; and it returns stale code
if only a called function has changed.
"""

import hashlib
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

VARIABLE = "HEADWISE_KERNELS"
"""The environment variable that controls compiled kernels; `off` disables the cache. (It is also defined in
`headwise.nn.attention.cpu.compiled`, which must not import Numba.)"""

Kernel = TypeVar("Kernel", bound=Callable[..., object])

_log = logging.getLogger(__name__)
_reported_caches: set[str] = set()


def compiled_kernel(*, required: bool = False, **options: Any) -> Callable[[Kernel], Kernel]:
    """`numba.njit` without the GIL and with the on-disk cache.

    Args:
        required: The cache must be usable, and changes of other files in the folder do not invalidate it;
            the caller does that (`headwise.nn.attention.cpu.compiled`).
        options: Options of `numba.njit`.

    Raises:
        RuntimeError: There is no cache folder, and `required` is True.
    """

    def decorate(function: Kernel) -> Kernel:
        compiled: Any = njit(nogil=True, **options)(function)
        if not hasattr(compiled, "enable_caching"):  # Numba is switched off
            return compiled
        if required:
            compiled._cache = _KernelCache(function)
        elif os.environ.get(VARIABLE) != "off":
            with suppress(RuntimeError, OSError):  # no folder can be written to
                compiled._cache = _KernelCache(
                    function, _digest(Path(function.__code__.co_filename).parent)
                )
        return compiled

    return decorate


class _KernelCache(FunctionCache):
    """The cached code of a function. Code that cannot be read is compiled again; code that cannot be
    written is not cached.

    Args:
        function: The function.
        digest: Digest of the other files that the function depends on.
    """

    def __init__(self, function: Callable[..., object], digest: str = ""):
        super().__init__(function)
        if digest:
            stamp = (self._impl.locator.get_source_stamp(), digest)
            self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:
            self._tell("read", error)
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._tell("written", error)

    def _tell(self, what: str, error: Exception) -> None:
        if self._cache_path not in _reported_caches:
            _reported_caches.add(self._cache_path)
            reason = f"{type(error).__name__}: {error}"
            _log.info(
                "compiled code in %s cannot be %s (%s): compiled anew", self._cache_path, what, reason
            )


@cache
def _digest(folder: Path) -> str:
    """Digest of the sources in a folder, whose kernels call each other."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
