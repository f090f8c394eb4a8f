"""What a process keeps of batches that have ended."""

import ctypes
import subprocess
import sys

import pytest
import torch

HELD = """
import ctypes, sys
import torch
from headwise.core.allocator import keep_freed_memory

class Info(ctypes.Structure):
    _fields_ = [(f"field{n}", ctypes.c_size_t) for n in range(10)]

told = keep_freed_memory()
library = ctypes.CDLL(None)
library.mallinfo2.restype = Info
weight, held = torch.ones(64, 64, dtype=torch.bfloat16), []
for rows in range(100, 900):
    torch.nn.functional.linear(torch.ones(rows, 64, dtype=torch.bfloat16), weight)
    if rows % 400 == 99:
        held.append(library.mallinfo2().field7)  # bytes in use
print(told, held[-1] - held[0])
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="asks glibc 2.33 what is in use")
@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="PyTorch is built without oneDNN")
def test_products_of_many_sizes_do_not_fill_the_memory():
    """Two programs of oneDNN for each size were kept, a hundred thousand bytes and more."""
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True)
    output, grown = done.stdout.split()
    assert output == "True"
    assert int(grown) < 2e7


RELEASED = """
import ctypes
from headwise.core.allocator import keep_freed_memory, release_freed_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1])

library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
release_freed_memory()
keep_freed_memory()
blocks = [library.malloc(1 << 16) for _ in range(1000)]
for block in blocks:
    ctypes.memset(block, 1, 1 << 16)
full = resident()
for block in blocks[:-1]:
    library.free(block)
kept = resident()
release_freed_memory()
print(full - kept, kept - resident())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="asks glibc")
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_kept_memory_is_released_on_demand():
    done = subprocess.run([sys.executable, "-c", RELEASED], capture_output=True, text=True, check=True)
    at_once, on_demand = map(int, done.stdout.split())  # pages
    assert at_once < 2_000
    assert on_demand > 10_000
