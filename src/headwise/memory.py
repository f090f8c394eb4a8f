"""Keep freed memory instead of returning it to the system after every batch.

Batches of different lengths need buffers of different sizes. By default glibc maps each large one anew
and the kernel fills it with zeros page by page, which on some machines costs more than the arithmetic.
"""

import ctypes
import sys

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # malloc.h


def keep_freed_memory() -> bool:
    """Tell glibc to keep up to 2 GiB of freed memory for the next batch.

    For the commands that own their process (`headwise train`, `headwise predict`); a library call never
    changes how its host's memory is managed.

    Returns:
        Whether it was done: only with glibc on Linux.
    """
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
