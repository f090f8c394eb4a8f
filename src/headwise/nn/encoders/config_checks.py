"""What the configurations of several encoders share. Importing this file loads neither torch nor NumPy."""

from typing import Any

from headwise.core.config import check_choice

POSITIONS = ("none", "sinusoidal", "learned")
"""Position embeddings."""
RECENCY: dict[str, object] = {"priors": ["forward + word-distance(1)", "forward"]}
"""Settings of an encoder in language models: every second head prefers the preceding symbols, which
position embeddings alone learn late."""

QUADRATIC_WORDS = 2_048
"""Default window, in words, of an encoder with a head that sees most of a text."""


def check_attention(config: Any) -> None:
    """Check the implementation of attention and the notation of the priors of an encoder.

    Raises:
        ConfigError: There is no such implementation, or a text denotes no priors.
    """
    if config.attention != "auto":
        from headwise.nn.attention.dispatch import IMPLEMENTATIONS

        check_choice(config, "attention", ("auto", *IMPLEMENTATIONS))
    if config.priors:
        from headwise.nn.priors.head_lists import check_spelling

        check_spelling(config.priors)
