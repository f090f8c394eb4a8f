"""Memory of the process: freed memory is kept instead of returned to the system after every batch, and the
search for garbage pauses while models are loaded.

Batches of different lengths need buffers of different sizes. By default glibc maps each large one anew
and the kernel fills it with zeros page by page, which on some machines costs more than the arithmetic.

oneDNN, which multiplies in bfloat16, compiles a primitive for each number of rows and caches 1,024 of them
(PyTorch caches as many again). Here the number of rows differs in nearly every batch. The primitives lie
between the buffers of the batches and so fragment the freed memory.
"""

import gc
import os
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # malloc.h
_CACHED_PRIMITIVES = "64"  # cached primitives: more than a step needs if all batches have the same size
_CACHES = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"


_keeps = False


def keep_freed_memory() -> bool:
    """Let glibc keep up to 2 GiB of freed memory for the next batch, and oneDNN cache few primitives.

    Only for commands that own their process (`headwise train`, `headwise predict`), before they compute; a
    library call never changes the memory management of its host.

    Returns:
        Whether the glibc settings were changed; False on systems other than Linux with glibc.
    """
    for name in _CACHES:
        os.environ.setdefault(name, _CACHED_PRIMITIVES)
    if sys.platform != "linux":
        return False
    import ctypes  # which the pause of the search for garbage does not need

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # musl
        return False
    global _keeps
    _keeps = all(
        mallopt(option, value)
        for option, value in (
            (_MMAP_THRESHOLD, 1 << 25),
            (_TRIM_THRESHOLD, (1 << 31) - 1),
            (_TOP_PAD, 1 << 26),
        )
    )
    return _keeps


def release_freed_memory() -> None:
    """Return to the system what `keep_freed_memory` kept, after a step whose large arrays no later step
    needs; does nothing where it kept nothing."""
    if _keeps:
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error of Python or PyTorch, also on a GPU, means that memory is exhausted."""
    text = str(error)
    # The last one: a library could not be loaded, for example under an address-space limit.
    messages = ("out of memory", "can't allocate memory", "failed to map segment")
    return isinstance(error, MemoryError) or any(message in text for message in messages)


_paused = False


def pause_collection() -> None:
    """Stop the search for garbage, while libraries and models are loaded."""
    global _paused
    _paused = gc.isenabled()
    gc.disable()


def resume_collection() -> None:
    """Turn garbage collection on again, without the objects that exist by now. Does nothing if a program
    has turned it off itself, and not by `pause_collection`."""
    global _paused
    if _paused:
        _paused = False
        gc.freeze()
        gc.enable()
