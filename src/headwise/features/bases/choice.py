"""Choice of the base that a training run starts from."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from headwise.errors import ConfigError
from headwise.features.bases.base import Base
from headwise.features.bases.folder import DEFAULT, find_base, load_base, shipped

AUTO, NONE = "auto", "none"
LEAST_KNOWN = 0.4
"""Least token coverage with which `auto` takes the default base. English texts have 0.9 and more, lists of
English names 0.5, German texts 0.3 to 0.5, where the base neither helps nor harms."""
_LOOKED_AT = 2_000  # texts


def choose_base(name: str, texts: Iterable[Sequence[str]]) -> tuple[Base | None, str]:
    """The base for a setting, and a message about the choice.

    Args:
        name: `auto`, `none`, or a name or path for `find_base`.
        texts: The tokenised training texts.

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


def check_alone(*sources: str | None) -> None:
    """Check that no other source of word vectors is requested together with a base.

    Raises:
        ConfigError: One of the sources is given.
    """
    for source in sources:
        if source:
            raise ConfigError(f"a base and {source} exclude each other; give one of them")
