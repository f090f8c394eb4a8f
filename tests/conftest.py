"""What holds for all tests: one thread each, and Ctrl-C is Ctrl-C.

The models are so small that a second thread only waits for the first, and `make test` runs as many tests at
once as there are cores. It must be said before torch is loaded, and holds for processes that tests start.
"""

import contextlib
import functools
import gc
import hashlib
import importlib
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so where a shell started the tests with &
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.fsync = lambda descriptor: None  # nobody pulls the plug while the tests run
# On a busy machine each example may take seconds, and the first waits for a table of Unicode.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
gc.disable()  # what is imported and collected stays until the end: nobody need look through it


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data; the test is skipped without one."""
    root = Path(__file__).parents[1]
    folder = Path(os.environ.get("HEADWISE_DATA", root / "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set HEADWISE_DATA")
    return folder


@pytest.fixture(scope="session")
def takes_under() -> Callable[[float, Callable[[], object]], bool]:
    """Whether the quickest of up to nine runs of the work takes less than so many seconds of CPU.

    One run alone also measures what else the machine does, and the collection of others' garbage.
    """

    def takes_under(seconds: float, work: Callable[[], object]) -> bool:
        for _ in range(9):
            began = time.process_time()
            work()
            if time.process_time() - began < seconds:
                return True
        return False

    return takes_under


@pytest.fixture(scope="session")
def without_base_encoder():
    """A context in which no model starts from the encoder of the base `english` by itself: it has 256
    features, so that a training run of a few texts takes seconds. `test_base_encoder.py` has its rules."""

    @contextlib.contextmanager
    def without_base_encoder():
        rules = importlib.import_module("headwise.models.tasks.encoder_rules")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rules, "pretrained_encoder", lambda *_: {})
            yield

    return without_base_encoder


@pytest.fixture
def narrow(without_base_encoder):
    """`without_base_encoder`, for a whole test."""
    with without_base_encoder():
        yield


@pytest.fixture(scope="session")
def linear_fits() -> dict:
    return {}


@pytest.fixture
def fits_once(request, linear_fits):
    """The linear models of the same texts and settings are fitted once in a process of the tests, as they
    are a third of a small training run. Tests of a second fit that is to be the first are marked
    `fits_anew`."""
    if request.node.get_closest_marker("fits_anew"):
        yield
        return
    with importlib.import_module("headwise.training.memoized_fits").memoizing(linear_fits):
        yield


@pytest.fixture(scope="session")
def one_registry() -> None:
    """The exporter of torch makes its table of operators once, not for every graph: a quarter of its time.
    It also looks for the operators of torch once, not more than fifty times for every graph.

    Both are no public parts of torch; where they are elsewhere, that is done each time.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from torch.onnx._internal.exporter._registration import ONNXRegistry

        make = functools.cache(ONNXRegistry.from_torchlib)
        ONNXRegistry.from_torchlib = staticmethod(make)
    with contextlib.suppress(ImportError, AttributeError):
        from torch._export import utils

        utils._materialize_cpp_cia_ops = functools.cache(utils._materialize_cpp_cia_ops)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory) -> Path:
    """A folder of this run of the tests, which all its processes share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def same_graphs(one_registry, run_folder):
    """A context in which networks of the same layers, settings and weights are written down as a graph
    once in a run of the tests, which takes seconds: for tests of what stands beside the graphs in a
    folder."""

    @contextlib.contextmanager
    def same_graphs():
        from torch import nn

        from headwise.artifacts.onnx import onnx_export as export

        write, of_all = export.onnx_of, vars(nn.Module()).keys()
        address = re.compile(" at 0x[0-9a-f]+")  # of functions, and of the weights of an LSTM

        def once(module, inputs, outputs):
            weights = b"".join(tensor.numpy().tobytes() for tensor in module.state_dict().values())
            settings = [
                (
                    type(layer),
                    sorted(
                        (name, address.sub("", repr(value)))
                        for name, value in vars(layer).items()
                        if name not in of_all
                    ),
                )
                for layer in module.modules()
            ]
            key = repr((repr(module), settings, weights, tuple(inputs), outputs))
            file = run_folder / f"{hashlib.sha256(key.encode()).hexdigest()}.onnx"
            # Another process may be writing it just now. These contexts are nested in some tests.
            with FileLock(file.with_suffix(".lock"), is_singleton=True):
                if not file.exists():
                    graph = write(module, inputs, outputs)
                    (made := file.with_suffix(f".{os.getpid()}")).write_bytes(graph)
                    made.replace(file)
            return file.read_bytes()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(export, "onnx_of", once)
            yield

    return same_graphs


@pytest.fixture
def graphs_once(same_graphs):
    """Of `same_graphs`, for a whole test."""
    with same_graphs():
        yield


LONG = (
    "artifacts/onnx/test_models",
    "docs/test_docs",
    *("artifacts/onnx/", "truth/", "attention/test_triton", "encoders/test_compile"),
)
"""Files of few tests that take long. They come first, in this order: the last one would run while other
processes wait. Of two processes one begins with graphs, which other files use, the other with the docs."""


def pytest_collection_modifyitems(items):
    def place(item) -> int:
        return next((place for place, part in enumerate(LONG) if part in item.nodeid), len(LONG))

    items.sort(key=place)


def pytest_collection_finish():
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 20)  # graphs of torch are many objects that stay: a look at them is dear


def pytest_unconfigure():
    gc.unfreeze()  # at the end it is looked through once, or libraries say that something leaks
