"""Where the commands write to: results to standard output, everything else to standard error."""

from rich.console import Console
from rich.text import Text


def output() -> Console:
    """The console of results, on standard output; nothing in them is taken for markup."""
    return Console(highlight=False, emoji=False, markup=False)


def messages() -> Console:
    """The console of notes, progress, warnings and errors, on standard error."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False)


def note(text: str) -> None:
    """Something that the user may like to know."""
    _say(Text(f"- {visible(text)}", style="dim"))


def warn(text: str) -> None:
    """Something that the user should know."""
    _say(Text.assemble(("warning ", "bold yellow"), visible(text)))


def fail(text: str) -> None:
    """Why the command stops."""
    _say(Text.assemble(("error ", "bold red"), (visible(text), "red")))


def _say(text: Text) -> None:
    # The terminal wraps; in a file every message is one line.
    messages().print(text, soft_wrap=True)


def percent(share: float) -> str:
    """A share as a percentage with one decimal."""
    return f"{100 * share:.1f} %"


def visible(text: str) -> str:
    """Text for a terminal: what cannot be printed, such as an escape sequence, is spelt out."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
