"""Run a command line: what surrounds each command, and the errors that stop it."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from headwise.app.cli.console import UsageError, fail, forget_output, make_streams_safe
from headwise.app.cli.path_checks import check_argument_order
from headwise.app.cli.terminal import reliable_interrupts, signal_of
from headwise.artifacts.onnx.onnx_errors import installed
from headwise.core.allocator import is_out_of_memory, keep_freed_memory, resume_collection
from headwise.core.errors import HeadwiseError

_MEMORY_ADVICE = {
    "train": "take a smaller --batch-tokens, or shorter --windows.words",
    "predict": "take a smaller --batch-tokens",
    "serve": "take a smaller --batch-tokens",
}
"""Advice after running out of memory, by command."""
_COMPUTING = {
    *("calibrate", "distill", "evaluate", "explain", "heads", "predict", "pretrain"),
    *("report", "sample", "serve", "suggest", "train", "tune"),
}
"""Commands that keep freed memory for the next batch."""
_LOADS_LIBRARIES = (["train"], ["predict"], ["explain"], ["evaluate"])
"""Commands that resume the search for garbage themselves, when their libraries, and the data of train or
the model of the others, are loaded."""

USAGE = 2  # exit codes
BROKEN_PIPE = 141


def run_command(words: Sequence[str]) -> int:
    """Run a command line; see `headwise.app.cli.main`."""
    make_streams_safe()
    try:
        with reliable_interrupts(), installed():
            check_argument_order(words)
            if (call := plain_call(words)) is None:
                from headwise.app.cli.command_line import parse  # with it comes cyclopts

                call = parse(words)
            if words[:1] not in _LOADS_LIBRARIES:
                resume_collection()
            if not _COMPUTING.isdisjoint(words[:1]):
                keep_freed_memory()
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


def _no_memory(error: Exception, command: str) -> str:
    """The error message after running out of memory, with advice."""
    if isinstance(error, ImportError):
        return f"[HW410] out of memory while loading the libraries: {error}; give this process more memory"
    advice = _MEMORY_ADVICE.get(command, "give this process more memory")
    return f"[HW410] out of memory in headwise {command}: {advice}"


_OUTPUT = ("-o", "--output")
_OVERWRITE = "--overwrite"


def plain_call(words: Sequence[str]) -> Callable[[], int] | None:
    """The call of a command whose arguments are right at a glance; None leaves the command line to
    `headwise.app.cli.command_line.parse`."""
    if words[:1] != ["predict"] or len(words) < 3 or not all(map(_is_plain, words[1:3])):
        return None
    output, overwrite, rest = None, False, list(words[3:])
    while rest:
        flag = rest.pop(0)
        if flag in _OUTPUT and output is None and rest and _is_plain(rest[0]):
            output = Path(rest.pop(0))
        elif flag == _OVERWRITE and not overwrite:
            overwrite = True
        else:
            return None
    return partial(_predict, Path(words[1]), Path(words[2]), output, overwrite=overwrite)


def _is_plain(word: str) -> bool:
    """Whether a word is a path, and neither a flag, "-" nor a text."""
    return bool(word) and not word.startswith("-") and not any(map(str.isspace, word))


def _predict(model: Path, file: Path, output: Path | None, *, overwrite: bool) -> int:
    """See `headwise.app.cli.predict_command.predict`."""
    from headwise.app.cli.path_checks import check_input, check_model
    from headwise.app.cli.terminal import TerminalReporter
    from headwise.data.files.file_lists import list_files

    check_model(model)
    check_input(file)
    from headwise.app.workflows.predict import predict_file

    predict_file(model, list_files([file]), output, overwrite=overwrite, reporter=TerminalReporter())
    return 0
