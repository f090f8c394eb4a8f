"""`headwise sample`: generate text with a language model."""

import sys
from typing import Annotated

from cyclopts import Parameter

from headwise.app.cli.argument_types import ModelFolder
from headwise.app.cli.console import note
from headwise.app.cli.flags import flag_values, flags
from headwise.core.config import from_dict
from headwise.core.errors import ConfigError
from headwise.nn.task_layers.layer_configs import SampleConfig

SamplingFlags = flags("SamplingFlags", {"": SampleConfig}, prefix="*", group="Sampling", order=1)


def sample(
    model: ModelFolder,
    /,
    *,
    prompt: Annotated[str, Parameter(show_default=False, allow_leading_hyphen=True)] = "",
    device: str = "auto",
    settings: SamplingFlags = None,
) -> int:
    """Continue a text with a language model, symbol by symbol.

    The prompt and its continuation are written to standard output symbol by symbol. The next symbol depends
    on the last symbols only, as many as the model's context has.

    Args:
        model: Folder of a language model.
        prompt: The text to continue; "-" reads it from standard input.
        device: Device to compute on: cpu, cuda, or auto for a GPU if there is one.
    """
    # With these comes torch.
    from headwise.artifacts import load_model
    from headwise.nn.networks.language_model import LanguageModel, encode_prompt, generate, text_of

    config = from_dict(SampleConfig, flag_values(settings))
    loaded = load_model(model, device=device)
    if not isinstance(loaded, LanguageModel):
        raise ConfigError(
            f"{model}: a model of the task {loaded.config.task!r}; only language models write, see "
            "headwise train --task language-model"
        )
    if prompt == "-":
        raw = getattr(sys.stdin, "buffer", None)
        prompt = raw.read().decode("utf-8", "surrogateescape") if raw else sys.stdin.read()
    before = encode_prompt(loaded.symbols, prompt)
    if len(before) > loaded.context:
        note(
            f"the prompt has {len(before):,} {loaded.symbols.unit}; the model looks back to the last "
            f"{loaded.context:,}"
        )
    # Bytes that are not valid UTF-8 are replaced, as in the generated text.
    sys.stdout.write(prompt.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    for piece in text_of(loaded.symbols, generate(loaded, before, config), after=prompt):
        sys.stdout.write(piece)
        sys.stdout.flush()
    sys.stdout.write("\n")
    return 0
