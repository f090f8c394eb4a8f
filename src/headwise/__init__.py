"""headwise: small, fast, honest text models of your own, with a structural prior on every attention head."""

__version__ = "0.1.0"
