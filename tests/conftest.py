"""What holds for all tests: one thread each, and Ctrl-C is Ctrl-C.

The models are so small that a second thread only waits for the first, and `make test` runs as many tests at
once as there are cores. It must be said before torch is loaded, and holds for processes that tests start.
"""

import gc
import os
import signal

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so where a shell started the tests with &
    signal.signal(signal.SIGINT, signal.default_int_handler)
gc.disable()  # what is imported and collected stays until the end: nobody need look through it


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    gc.unfreeze()  # at the end it is looked through once, or libraries say that something leaks
