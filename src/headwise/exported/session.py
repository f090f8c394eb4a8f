"""A graph that onnxruntime runs."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from headwise.exported.errors import ExportError, library

_WHOLE = ("lengths", "lengths_1", "lengths_2", "letters", "grams", "counts")
_KINDS: dict[str, str] = dict.fromkeys(_WHOLE, "tensor(int64)")

_ELSEWHERE = b"location"
"""What a graph that takes numbers from another file has to spell somewhere: ours have no such name."""


class Session:
    """A graph, ready to be run.

    Args:
        content: Of its file; it must hold all of its numbers itself.
        inputs: The names of what it is given; it need not read all of that.
        outputs: How many tensors it gives.
        where: What to call the file in messages.
        threads: How many compute; None for as many as OMP_NUM_THREADS says, else the processor's cores.

    Attributes:
        inputs: The names of what it reads.
        widths: Features of what it gives.

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
        options.log_severity_level = 4  # what is wrong is raised
        # Threads that wait for work by spinning bring small models to a crawl on a busy machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.intra_op_num_threads = asked_threads() if threads is None else threads
        try:
            self._session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise self._error(error) from None
        found = {own.name: own.type for own in self._session.get_inputs()}
        wanted = {name: _KINDS.get(name, "tensor(float)") for name in inputs}
        self.inputs = list(found)
        given = [own.type for own in self._session.get_outputs()]
        self.widths = [own.shape[-1] for own in self._session.get_outputs()]
        if not found.items() <= wanted.items() or given != ["tensor(float)"] * outputs:
            raise self._error(f"it reads {found} and gives {given}, unlike its settings")

    def __reduce__(self) -> tuple[Any, ...]:
        # onnxruntime's own sessions cannot be copied, nor sent to other processes.
        return type(self), self._made

    def __call__(self, inputs: Mapping[str, NDArray]) -> list[NDArray]:
        """What it gives.

        Raises:
            ExportError: HW956, it cannot be computed.
        """
        try:
            return self._session.run(None, {name: inputs[name] for name in self.inputs})
        except Exception as error:
            raise self._error(error) from None

    def _error(self, problem: Any) -> ExportError:
        return ExportError(f"{self.where}: onnxruntime cannot run it: {problem!s:.300}", code="HW956")


def asked_threads() -> int:
    """What OMP_NUM_THREADS says, as for everything else that computes; 0 for all cores."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(asked) if asked.isdigit() else 0
