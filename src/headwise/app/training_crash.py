"""The end of a training run by an unexpected error: an error with a code, and a file with the traceback.

As long as the file is in the folder of the run, the run is not offered for resuming, which would only meet
the error again. Signals, a full disk and too little memory are no such errors.
"""

import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from headwise.core.allocator import is_out_of_memory
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import RUN_FOLDER, TRACEBACK
from headwise.core.version import __version__

_STEPS = {
    "read_parts": "reading the data",
    "fit_model": "training the model",
    "cross_fit": "training without a fold",
    "evaluate_run": "evaluating the model",
    "save_model": "saving the model",
}
"""What a function of a training run does, by its name."""


@contextmanager
def crash_as_error(output: Path) -> Generator[None]:
    """Turn an unexpected exception of a training run into an error, with its traceback in a file.

    Raises:
        HeadwiseError: HW413.
    """
    try:
        yield
    except (HeadwiseError, OSError):
        raise
    except Exception as error:
        if is_out_of_memory(error) or isinstance(error.__cause__, KeyboardInterrupt):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        step = next(
            (_STEPS[frame.name] for frame in reversed(frames) if frame.name in _STEPS), "preparing it"
        )
        what = "".join(traceback.format_exception_only(error)).strip()
        path = output / RUN_FOLDER / TRACEBACK
        path.parent.mkdir(parents=True, exist_ok=True)
        begin = f"headwise {__version__}, Python {sys.version.split()[0]}, while {step}\n"
        report = begin + "".join(traceback.format_exception(error))
        path.write_text(report, encoding="utf-8", errors="backslashreplace")
        raise HeadwiseError(
            f"an unexpected error stopped the training run while {step}: {what:.300}. Its traceback is in "
            f"{path}; please report it. headwise doctor may find its cause in the data; --resume meets it "
            "again as long as the cause is there",
            code="HW413",
        ) from error
