"""The command line as cyclopts parses it: its commands, and the messages about wrong usage. Each
subcommand is imported only when it is called."""

import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from inspect import BoundArguments
from typing import Any, Literal

from cyclopts import (
    App,
    Argument,
    CycloptsError,
    Group,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from headwise.app.cli.console import UsageError, note
from headwise.app.cli.path_checks import forget_checks, run_checks
from headwise.core.errors import ConfigError, close_names
from headwise.core.version import __version__

COMMAND_GROUPS = {
    "Train and use a model": {
        "train": "Train a model on a labelled file, and evaluate it.",
        "evaluate": "Score a model on a labelled file.",
        "predict": "Predict the labels of a file of any size.",
        "explain": "Show how much each word contributes to a prediction.",
        "serve": "Serve a model over HTTP.",
        "report": "Write a page about a model for a browser.",
        "export": "Export a model to ONNX, or to an offline web page.",
    },
    "Improve data and model": {
        "doctor": "Check data files before training.",
        "noise": "Rank the labels of a file that are likely to be wrong.",
        "suggest": "Choose the texts to label next (active learning).",
        "curve": "Estimate the gain from more labelled texts (learning curve).",
        "tune": "Search for the settings that suit a file.",
        "calibrate": "Refit probabilities and thresholds on labelled texts.",
    },
    "Unlabelled texts and language models": {
        "distill": "Train a small model on labels and on a teacher's predictions.",
        "pretrain": "Train a base (static embeddings) on unlabelled texts.",
        "sample": "Continue a text with a language model, symbol by symbol.",
    },
    "Attention heads": {
        "priors": "List the priors of attention heads, or search the best ones.",
        "probe": "Measure the attention span of each head of an encoder.",
        "heads": "Measure the importance of attention heads; prune heads.",
    },
}
"""The subcommands and their summaries, under the headings of the help. `NAME` is the function `NAME` in the
file `NAME_command.py`."""
COMMANDS = {name: summary for group in COMMAND_GROUPS.values() for name, summary in group.items()}

_COMPLETION = {
    "install": "Complete commands and flags in this shell.",
    "show": "Print the completion script of a shell.",
}
"""Summaries of `--install-completion` and `--show-completion`."""

_FILE_ARGUMENT_HINTS = {
    "explain": "it takes a model and one file; pipe a text to standard input, with - as the file",
    "priors": "it takes none; give the file of a search with --search",
}
"""Hints for a second file argument, by command."""

_COMMON_ALIASES = {
    "--lr": "--learning-rate",
    "--batch-size": "--batch-texts",
    "--num-epochs": "--epochs",
    "--valid": "--dev",
    "--validation": "--dev",
    "--out": "--output",
    "--label": "--label-column",
    "--text": "--text-column",
}
"""Names of options in other tools, and their names here."""
_RENAMED_OPTIONS = {
    "--heads": "--parses",
    "--dev-heads": "--dev-parses",
    "--test-heads": "--test-parses",
    "--whole": "--full-model",
    "--expert": "--linear-model",
}
"""Old names of options, which work for one release, with a note."""

HELP = ("--help", "-h")
ALL = "--help-all"
_WITH_FEWER_FLAGS = ("train", "evaluate", "predict", "explain")
"""Commands with flags that depend on the task; see `headwise.app.cli.short_help`."""


_SECTIONS_WITH_OPTION = ("base", "encoder", "linear_model", "pretrained", "unknown", "vectors")
"""Sections of settings whose name alone is an option of `headwise train`, too: `--linear-model none`."""


def build_app(command: str = "", arguments: Sequence[str] = (), *, only_named: bool = False) -> App:
    """The command line.

    Args:
        command: The subcommand that will be called. Its help is its docstring; the other commands have only
            summaries, so that they need not be imported.
        arguments: The arguments after it.
        only_named: Whether train has only the flags that the arguments name; wrong ones are then an error
            with a message that does not know the others.
    """
    headings = {
        heading: Group(heading, sort_key=place)
        for place, heading in enumerate((*COMMAND_GROUPS, "Help and completion"))
    }
    app = App(
        name="headwise",
        group_commands=headings["Help and completion"],  # the group of --help and --version
        version=__version__,
        help="""Train your own small, fast text classifiers, taggers and sentence-pair models on a CPU.

        Start with: headwise train reviews.csv --output my-model""",
        help_format="markdown",
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for place, (name, summary) in enumerate(COMMANDS.items()):
        path: Any = f"headwise.app.cli.{name}_command:{name}"
        if name == command and name in _WITH_FEWER_FLAGS and ALL not in arguments:
            from headwise.app.cli.short_help import with_fewer_flags

            asks_for_help = not set(HELP).isdisjoint(arguments)
            path = with_fewer_flags(name, arguments, for_help=asks_for_help, only_named=only_named) or path
        heading = next(heading for heading, group in COMMAND_GROUPS.items() if name in group)
        summary_shown = None if name == command else summary
        app.command(path, name=name, help=summary_shown, group=headings[heading], sort_key=place)
    for verb, summary in _COMPLETION.items():
        path, name = f"headwise.app.cli.command_line:{verb}_completion", f"--{verb}-completion"
        app.command(path, name=name, help=None if name == command else summary)
    return app


def parse(words: Sequence[str]) -> Callable[[], Any]:
    """The call of a command with the arguments of a command line, whose files and folders are checked.

    Raises:
        UsageError: The command line is wrong.
        HeadwiseError: A file or folder cannot be used.
    """
    words = _rename_options(words)
    _check_sections(words)
    try:
        command, bound = _parsed(words, only_named=True)
    except CycloptsError:
        try:
            command, bound = _parsed(words)
        except CycloptsError as error:
            raise UsageError(_usage(error)) from error
    run_checks()

    def call() -> Any:
        with _log_to_console():
            return command(*bound.args, **bound.kwargs)

    return call


def _parsed(words: Sequence[str], *, only_named: bool = False) -> tuple[Callable[..., Any], BoundArguments]:
    """The function of a command and its arguments; see `build_app`."""
    forget_checks()
    app = build_app(words[0] if words else "", words[1:], only_named=only_named)
    command, bound, _ = app.parse_args(["--help" if word == ALL else word for word in words])
    return command, bound


def _rename_options(words: Sequence[str]) -> list[str]:
    """The command line with today's option names, with a note for each old one."""
    renamed = []
    for word in words:
        option, equals, value = word.partition("=")
        name, dot, setting = option.partition(".")
        new = _RENAMED_OPTIONS.get(name)
        if name == "--syntax" and words[0] in ("calibrate", "heads"):
            new = "--parses"
        if new is not None:
            note(f"{name} is now {new}; the old name goes with the next release")
        renamed.append(word if new is None else f"{new}{dot}{setting}{equals}{value}")
    return renamed


def _suggestion(name: str, arguments: Iterable[Argument]) -> str:
    """A hint at the option most similar to an unknown one; "." if there is none."""
    names = ["--help", *(name for argument in arguments for name in argument.names)]
    usual = _COMMON_ALIASES.get(name)
    longer = [full for full in names if full.startswith(f"{name}-")]
    of_sections = [full for full in names if full.endswith(f".{name.removeprefix('--')}")]
    similar = longer[:1] or of_sections or close_names(name, names, cutoff=0.7)
    matches = [usual] if usual in names else similar
    return f"; did you mean {' or '.join(matches[:3])}?" if matches else "."


def _check_sections(words: Sequence[str]) -> None:
    """Check that no option of training is the name of a section alone, whose first setting would have the
    value.

    Raises:
        UsageError: One is.
    """
    if words[:1] not in (["train"], ["distill"]):
        return
    from headwise.app.cli.flags import SECTION_HEADINGS, flags_of

    prefixes = {prefix: section for section, (prefix, *_) in SECTION_HEADINGS.items() if prefix != "*"}
    for option in (word.partition("=")[0] for word in words[1:]):
        if option not in prefixes or prefixes[option] in _SECTIONS_WITH_OPTION:
            continue
        settings = [
            f"{prefix}.{flag.name.replace('_', '-')}"
            for prefix, section in prefixes.items()
            for flag in flags_of(section)
        ]
        meant = [setting for setting in settings if setting.endswith(f".{option.removeprefix('--')}")]
        within = [setting for setting in settings if setting.startswith(f"{option}.")]
        hint = f"did you mean {' or '.join(meant)}?" if meant else f"such as {' or '.join(within[:3])}."
        raise UsageError(f"{option} alone is a group of settings; {hint} See headwise {words[0]} {ALL}")


def _usage(error: CycloptsError) -> str:
    """The error message for a wrong command line, with a pointer to the help."""
    help_of = " ".join(["headwise", *(error.command_chain or ()), "--help"])
    if isinstance(error, UnknownCommandError) and error.unused_tokens:
        # The error's own text would import every command, to check whether it is hidden.
        name = error.unused_tokens[0]
        matches = close_names(name, COMMANDS)
        hint = f"did you mean {matches[0]!r}?" if matches else f"expected one of {', '.join(COMMANDS)}"
        return f"unknown command {name!r}; {hint}"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        command = (error.command_chain or ("",))[0]
        hint = _FILE_ARGUMENT_HINTS.get(command, "it takes no more arguments")
        return f"{error.unused_tokens[0]!r} is one argument too many: {hint}. See {help_of}"
    message = str(error)
    if isinstance(error, UnknownOptionError):
        option = error.token.keyword or error.token.value
        message = f"unknown option {option}" + _suggestion(option, error.argument_collection)
    elif message.startswith("unknown option ") and error.app is not None:  # see `arguments`
        option = message.split()[2]
        hint = _suggestion(option, error.app.assemble_argument_collection())
        message = message + hint if hint == "." else f"unknown option {option}{hint}"
    if error.command_chain == ("distill",) and message.startswith("unknown option"):
        message += " headwise train takes all settings, and --teacher and --unlabelled too."
    return f"{message} See {help_of}"


class _Notes(logging.Handler):
    """Prints log records as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


@contextmanager
def _log_to_console() -> Generator[None]:
    """Within this context, log records of the package are printed as notes."""
    log, handler = logging.getLogger("headwise"), _Notes(logging.INFO)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


Shell = Literal["bash", "zsh", "fish"]


def install_completion(*, shell: Shell | None = None) -> int:
    """Make the shell complete commands and flags of headwise, with the Tab key.

    The script is written where the shell looks for such scripts. For bash and zsh, a line that reads it is
    added to .bashrc or .zshrc. The shell reads it when it starts anew.

    Args:
        shell: The shell. [the one that runs the command]

    Raises:
        HeadwiseError: The shell is not one of these, or the script cannot be written.
    """
    from cyclopts.completion.detect import ShellDetectionError

    try:
        path = build_app().install_completion(shell=shell)
    except ShellDetectionError:
        raise ConfigError(
            "the shell of this command was not recognised; name it with --shell bash, zsh or fish"
        ) from None
    except ValueError as error:
        raise ConfigError(f"no completion for this shell ({error}); expected bash, zsh or fish") from None
    except OSError as error:
        raise ConfigError(f"{error.filename}: cannot be written: {error.strerror}", code="HW604") from error
    note(f"the completion is in {path}; it works in a new shell")
    return 0


def show_completion(shell: Shell, /) -> int:
    """Print the script with which a shell completes commands and flags of headwise.

    Args:
        shell: The shell.
    """

    print(build_app().generate_completion(shell=shell))
    return 0
