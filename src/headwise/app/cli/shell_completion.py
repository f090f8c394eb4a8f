"""`headwise --install-completion` and `--show-completion`: the shell completes commands and flags."""

from typing import Literal

from headwise.app.cli.console import note
from headwise.core.errors import ConfigError

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

    from headwise.app.cli.command_line import build_app

    try:
        path = build_app().install_completion(shell=shell)
    except ShellDetectionError:
        raise ConfigError(
            "the shell of this command could not be found out; name it with --shell bash, zsh or fish"
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
    from headwise.app.cli.command_line import build_app

    print(build_app().generate_completion(shell=shell))
    return 0
