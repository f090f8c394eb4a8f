"""Command lines that need no parser, `headwise predict MODEL FILE --output OUTPUT`: cyclopts, and the flags
of all settings, would take a third of the time of predicting one text."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

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
    from headwise.core.allocator import keep_freed_memory
    from headwise.data.files.file_lists import list_files

    check_model(model)
    check_input(file)
    from headwise.app.workflows.predict import predict_file

    keep_freed_memory()
    predict_file(model, list_files([file]), output, overwrite=overwrite, reporter=TerminalReporter())
    return 0
