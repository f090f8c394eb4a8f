"""Model: a text classifier; what is trained, saved and used."""

from headwise.models.one_label import OneLabel
from headwise.models.text_model import TextReader


class Model(OneLabel, TextReader):
    """A text classifier."""
