"""Model: a single-label text classifier."""

from headwise.models.one_label import OneLabel
from headwise.models.text_model import TextReader


class Model(OneLabel, TextReader):
    """A single-label text classifier."""
