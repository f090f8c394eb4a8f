"""Which base a training begins with."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from headwise.errors import ConfigError
from headwise.features.bases.base import Base
from headwise.features.bases.folder import DEFAULT, find_base, load_base, shipped

AUTO, NONE = "auto", "none"
LEAST_KNOWN = 0.4
"""Share of the words in letters that a base must list to be taken by itself. English texts have 90 % and
more, lists of English names half, German texts a third to a half, for which it neither helps nor harms."""
_LOOKED_AT = 2_000  # texts


def choose_base(name: str, texts: Iterable[Sequence[str]]) -> tuple[Base | None, str]:
    """The base of a name, and what there is to say of the choice.

    Args:
        name: `auto`, `none`, or what `find_base` takes.
        texts: The words of the training texts.

    Raises:
        BaseError: There is no such base, or it is damaged.
    """
    if name == NONE or (name == AUTO and DEFAULT not in shipped()):
        return None, ""
    base = load_base(find_base(DEFAULT if name == AUTO else name))
    counts = Counter(
        word for words in islice(texts, _LOOKED_AT) for word in words if any(map(str.isalpha, word))
    )
    share = base.share_known(counts)
    if name != AUTO:
        return base, f"base {base.name}: it lists {share:.0%} of the words"
    if share < LEAST_KNOWN:
        return None, (
            f"no base: {base.name}, which comes with headwise, lists only {share:.0%} of the words "
            f"(--base {base.name} takes it even so; headwise pretrain makes one from texts of your own)"
        )
    return (
        base,
        f"begins with the base {base.name}, which lists {share:.0%} of the words (--base none: without)",
    )


def check_alone(*others: str | None) -> None:
    """Check that what else gives words vectors is not asked for beside a base.

    Raises:
        ConfigError: It is.
    """
    for other in others:
        if other:
            raise ConfigError(f"a base and {other} exclude each other; give one of them")
