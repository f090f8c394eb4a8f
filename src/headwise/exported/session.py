"""Session: an ONNX graph in onnxruntime."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from headwise.exported.errors import ExportError, library

_WHOLE = ("lengths", "lengths_1", "lengths_2", "letters", "grams", "counts")
_KINDS: dict[str, str] = dict.fromkeys(_WHOLE, "tensor(int64)")

_ELSEWHERE = b"location"
"""A key that every graph with weights in an external file contains; our graphs have no such name."""


class Session:
    """An ONNX graph, ready to run.

    Args:
        content: Content of the ONNX file, without external data.
        inputs: Names of the available inputs; the graph need not read all of them.
        outputs: Expected number of outputs.
        where: Name of the file, for error messages.
        threads: Number of threads; None for OMP_NUM_THREADS, else the number of processor cores.

    Attributes:
        inputs: Names of the inputs that the graph reads.
        widths: Size of the last dimension of each output.

    Raises:
        ExportError: HW951 onnxruntime is not installed, HW956 it cannot run the file, or the graph reads
            or gives something else.
    """

    def __init__(
        self, content: bytes, inputs: Sequence[str], outputs: int, where: str, threads: int | None = None
    ):
        self._made = (content, tuple(inputs), outputs, where, threads)
        runtime = library("onnxruntime", "an exported model")
        self.where = where
        if _ELSEWHERE in content:
            raise self._error("it names other files, and has to hold all of its numbers itself")
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # errors are raised
        # Threads that wait for work by spinning bring small models to a crawl on a busy machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.intra_op_num_threads = asked_threads() if threads is None else threads
        try:
            self._session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise self._error(error) from None
        actual = {node.name: node.type for node in self._session.get_inputs()}
        expected = {name: _KINDS.get(name, "tensor(float)") for name in inputs}
        self.inputs = list(actual)
        output_types = [node.type for node in self._session.get_outputs()]
        self.widths = [node.shape[-1] for node in self._session.get_outputs()]
        if not actual.items() <= expected.items() or output_types != ["tensor(float)"] * outputs:
            raise self._error(f"it reads {actual} and gives {output_types}, unlike its settings")

    def __reduce__(self) -> tuple[Any, ...]:
        # onnxruntime's own sessions cannot be copied, nor sent to other processes.
        return type(self), self._made

    def __call__(self, inputs: Mapping[str, NDArray]) -> list[NDArray]:
        """Run the graph; returns its outputs.

        Raises:
            ExportError: HW956, onnxruntime fails.
        """
        try:
            return self._session.run(None, {name: inputs[name] for name in self.inputs})
        except Exception as error:
            raise self._error(error) from None

    def _error(self, problem: Any) -> ExportError:
        return ExportError(f"{self.where}: onnxruntime cannot run it: {problem!s:.300}", code="HW956")


def asked_threads() -> int:
    """Number of threads by OMP_NUM_THREADS; 0 for all cores."""
    threads = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(threads) if threads.isdigit() else 0
