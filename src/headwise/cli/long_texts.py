"""What there is to say of texts that are too long for the encoder to read at once."""

from collections.abc import Iterable, Sequence

from headwise.cli.console import note, warn
from headwise.features.tokenize import get_tokenizer
from headwise.recipe import Recipe


def tell_long(recipe: Recipe, texts: Iterable[str | Sequence[str]]) -> None:
    """Say how many texts have more words than the encoder reads at once, and what happens to them.

    Args:
        recipe: The settings.
        texts: Texts as they are, or cut into words.
    """
    words, _ = recipe.model.windows.sizes(recipe.model.encoder)
    if not words:
        return
    cut = get_tokenizer(recipe.model.words.tokenizer).words
    every = long = 0
    for text in texts:
        every += 1
        if len(text) > words:  # a word has a character at least
            long += len(cut(text) if isinstance(text, str) else text) > words
    if not long:
        return
    have = f"{long:,} of {every:,} texts have more than {words:,} words"
    if recipe.model.windows.long == "truncate":
        warn(f"{have}: only these are read (--windows.long truncate)")
    elif recipe.model.windows.long == "split":
        note(f"{have}: read in windows that overlap (--windows.words, --windows.long)")


def tell_cut(texts: int) -> None:
    """Warn that some texts were not read to their end."""
    if texts:
        warn(f"{texts:,} of them have more words than the model reads (--windows.long truncate): cut short")
