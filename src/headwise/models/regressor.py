"""Regressor: predicts a number for each text, such as a rating or a price."""

from headwise.models.one_number import OneNumber
from headwise.models.text_model import TextReader


class Regressor(OneNumber, TextReader):
    """A regressor of texts."""
