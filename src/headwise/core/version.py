"""The version of headwise."""

__version__ = "0.1.0"
