"""Keep freed memory instead of returning it to the system after every batch.

Batches of different lengths need buffers of different sizes. By default glibc maps each large one anew
and the kernel fills it with zeros page by page, which on some machines costs more than the arithmetic.

And oneDNN, which multiplies in bfloat16, makes a program for each number of rows, and keeps 1,024 of them
(PyTorch as many again). Here nearly all batches have another number; and as the programs lie between the
buffers of the batches, freed memory is cut into pieces that the next batch does not fit into.
"""

import ctypes
import os
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # malloc.h
_PROGRAMS = "64"  # more than a step needs where all batches are of one size
_CACHES = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"


def keep_freed_memory() -> bool:
    """Tell glibc to keep up to 2 GiB of freed memory for the next batch, and oneDNN to keep few programs.

    For the commands that own their process (`headwise train`, `headwise predict`), before they compute; a
    library call never changes how its host's memory is managed.

    Returns:
        Whether glibc was told: only on Linux.
    """
    for name in _CACHES:
        os.environ.setdefault(name, _PROGRAMS)
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:  # musl
        return False
    return all(
        mallopt(option, value)
        for option, value in (
            (_MMAP_THRESHOLD, 1 << 25),
            (_TRIM_THRESHOLD, (1 << 31) - 1),
            (_TOP_PAD, 1 << 26),
        )
    )


def ran_out(error: BaseException) -> bool:
    """Whether an error says that there is no more memory: Python's, or PyTorch's, also on a GPU."""
    text = str(error)
    # The last: a library that does not fit, as under a limit of the address space.
    said = ("out of memory", "can't allocate memory", "failed to map segment")
    return isinstance(error, MemoryError) or any(own in text for own in said)
