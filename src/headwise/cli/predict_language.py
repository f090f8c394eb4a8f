"""`headwise predict` for language models, which is `headwise sample`."""

from headwise.cli.requests import PredictRequest
from headwise.errors import ConfigError


def predict(request: PredictRequest) -> int:
    """Tell the user of the command that he is looking for."""
    raise ConfigError(
        "a language model gives texts no labels; headwise sample lets it write, and headwise evaluate says "
        "how well it predicts a text"
    )
