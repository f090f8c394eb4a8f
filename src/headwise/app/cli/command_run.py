"""Run a command line: what surrounds each command, and the errors that stop it."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from headwise.app.cli.console import fail, forget_output, make_streams_safe
from headwise.app.cli.plain_lines import plain_call
from headwise.app.cli.terminal import reliable_interrupts, signal_of
from headwise.app.cli.usage_error import UsageError
from headwise.artifacts.onnx.onnx_errors import installed
from headwise.core.allocator import is_out_of_memory
from headwise.core.errors import HeadwiseError
from headwise.core.garbage import resume_collection

_MEMORY_ADVICE = {
    "train": "take a smaller --batch-tokens, or shorter --windows.words",
    "predict": "take a smaller --batch-tokens",
    "serve": "take a smaller --batch-tokens",
}
"""Advice after running out of memory, by command."""
_LOADS_MODELS = (["predict"],)
"""Commands that resume the search for garbage themselves, when their model is loaded."""

USAGE = 2  # exit codes
BROKEN_PIPE = 141


def run(words: Sequence[str]) -> int:
    """Run a command line; see `headwise.app.cli.main`."""
    # Threads that wait by spinning slow small models down on a busy machine. OpenMP reads this variable
    # when torch is loaded, so it is set before.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    make_streams_safe()
    try:
        with reliable_interrupts(), installed():
            call = plain_call(words) or _parse(words)
            if words[:1] not in _LOADS_MODELS:
                resume_collection()
            result = call()
        sys.stdout.flush()  # here, where a broken pipe is still caught
        return result if isinstance(result, int) else 0
    except UsageError as error:
        fail(str(error))
        return USAGE
    except HeadwiseError as error:
        if os.environ.get("HEADWISE_TRACEBACK", "0") not in ("", "0"):
            raise
        fail(str(error))
        return USAGE
    except (MemoryError, RuntimeError, ImportError) as error:
        if not is_out_of_memory(error):
            raise
        fail(_no_memory(error, words[0] if words else ""))
        return USAGE
    except KeyboardInterrupt as error:
        return 128 + signal_of(error)
    except SystemError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):  # raised while compiled code was running
            raise
        return 128 + signal_of(error.__cause__)
    except BrokenPipeError:  # the reader of the output has closed it
        forget_output()
        return BROKEN_PIPE
    except OSError as error:  # for example a full disk
        fail(f"[HW604] {error.filename or 'standard output'}: {error.strerror or error}")
        forget_output()
        return USAGE


def _parse(words: Sequence[str]) -> Callable[[], Any]:
    from headwise.app.cli.command_line import parse  # with it comes cyclopts

    return parse(words)


def _no_memory(error: Exception, command: str) -> str:
    """The error message after running out of memory, with advice."""
    if isinstance(error, ImportError):
        return f"[HW410] out of memory while loading the libraries: {error}; give this process more memory"
    advice = _MEMORY_ADVICE.get(command, "give this process more memory")
    return f"[HW410] out of memory in headwise {command}: {advice}"
