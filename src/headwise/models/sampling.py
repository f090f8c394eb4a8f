"""Text generation: sampling continuations from a language model."""

import codecs
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from headwise.data.errors import DataError
from headwise.data.symbols import END_OF_LINE, UNKNOWN, Symbols
from headwise.errors import ConfigError
from headwise.models.language_model import LanguageModel
from headwise.models.sample_config import SampleConfig


def encode_prompt(symbols: Symbols, prompt: str) -> list[int]:
    """Symbol ids of a prompt.

    Raises:
        DataError: HW280, a symbol is not in the vocabulary, even if that has a symbol for unknown ones.
    """
    if symbols.unit == "words":
        lines = prompt.split("\n")
        prompt_symbols = [
            word for line in lines for word in [*line.replace("\t", " ").split(), END_OF_LINE]
        ][:-1]
    elif symbols.unit == "bytes":
        prompt_symbols = [chr(byte) for byte in prompt.encode("utf-8", "surrogateescape")]
    else:
        prompt_symbols = list(prompt)
    listed = set(symbols.names)
    strange = list(dict.fromkeys(repr(one) for one in prompt_symbols if one not in listed))
    if strange:
        shown = ", ".join(strange[:5]) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
        raise DataError(
            "HW280",
            f"the prompt has {symbols.unit} that the model does not know: {shown}",
            advice=f"it knows the {len(symbols):,} {symbols.unit} of its training text, such as "
            + " ".join(map(repr, symbols.names[:8])),
        )
    numbers = {name: number for number, name in enumerate(symbols.names)}
    return [numbers[one] for one in prompt_symbols]


def choose(logits: Tensor, config: SampleConfig, generator: torch.Generator) -> int:
    """Draw a symbol from logits `[symbols]`; returns its id."""
    if config.temperature == 0 or config.top_k == 1:
        return int(logits.argmax())
    logits = logits.cpu().double()
    logits = (logits - logits.max()) / config.temperature
    if 0 < config.top_k < len(logits):
        logits = logits.masked_fill(logits < logits.topk(config.top_k).values[-1], float("-inf"))
    return int(torch.multinomial(logits.softmax(0), 1, generator=generator))


def sample(model: LanguageModel, prompt: Sequence[int], config: SampleConfig) -> Iterator[int]:
    """Generate the continuation of a prompt, one symbol id at a time.

    Args:
        model: A language model in eval mode.
        prompt: Symbol ids; may be empty.
        config: See `SampleConfig`.
    """
    if model.training:
        raise ConfigError("a model that samples must be in eval mode")
    generator = torch.Generator().manual_seed(config.seed)
    symbols, before = model.symbols, list(prompt)
    # If no training symbol was unknown, the probability of the unknown symbol is untrained.
    never = symbols.unknown if symbols.unknown is not None and not symbols.counts[symbols.unknown] else None
    for _ in range(config.length):
        logits = model.next_logits(before)
        if never is not None:
            logits[never] = float("-inf")
        before.append(choose(logits, config, generator))
        yield before[-1]
        del before[: -model.context]


def text_of(symbols: Symbols, numbers: Iterator[int], *, after: str = "") -> Iterator[str]:
    """Decode a stream of symbol ids to text: characters, words with spaces between, or decoded bytes.

    Args:
        symbols: The vocabulary.
        numbers: Symbol ids.
        after: The preceding text; decides whether a space comes first.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    start = after == "" or after.endswith(("\n", " "))
    for number in numbers:
        name = symbols.names[number]
        if symbols.unit == "bytes":
            yield decoder.decode(name.encode("latin-1"))
        elif symbols.unit == "characters":
            yield "\ufffd" if name == UNKNOWN else name
        elif name == END_OF_LINE:
            yield "\n"
            start = True
        else:
            yield name if start else " " + name
            start = False
    if symbols.unit == "bytes":
        yield decoder.decode(b"", final=True)
