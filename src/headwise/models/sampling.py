"""Sampling: going on with a text as a language model would."""

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
    """The numbers of a prompt's symbols.

    Raises:
        DataError: HW280, one of them is not in the vocabulary, even if that has a symbol for unknown ones.
    """
    if symbols.unit == "words":
        lines = prompt.split("\n")
        found = [word for line in lines for word in [*line.replace("\t", " ").split(), END_OF_LINE]][:-1]
    elif symbols.unit == "bytes":
        found = [chr(byte) for byte in prompt.encode("utf-8", "surrogateescape")]
    else:
        found = list(prompt)
    known = set(symbols.names)
    strange = list(dict.fromkeys(repr(one) for one in found if one not in known))
    if strange:
        shown = ", ".join(strange[:5]) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
        raise DataError(
            "HW280",
            f"the prompt has {symbols.unit} that the model does not know: {shown}",
            advice=f"it knows the {len(symbols):,} {symbols.unit} of its training text, such as "
            + " ".join(map(repr, symbols.names[:8])),
        )
    numbers = {name: number for number, name in enumerate(symbols.names)}
    return [numbers[one] for one in found]


def choose(logits: Tensor, config: SampleConfig, generator: torch.Generator) -> int:
    """A symbol drawn by its logits `[symbols]`."""
    if config.temperature == 0 or config.top_k == 1:
        return int(logits.argmax())
    logits = logits.cpu().double()
    logits = (logits - logits.max()) / config.temperature
    if 0 < config.top_k < len(logits):
        logits = logits.masked_fill(logits < logits.topk(config.top_k).values[-1], float("-inf"))
    return int(torch.multinomial(logits.softmax(0), 1, generator=generator))


def sample(model: LanguageModel, prompt: Sequence[int], config: SampleConfig) -> Iterator[int]:
    """Symbols that go on with a prompt, one by one, each from the context's last symbols.

    Args:
        model: In eval mode.
        prompt: Numbers of symbols, perhaps none.
        config: See `SampleConfig`.
    """
    if model.training:
        raise ConfigError("a model that samples must be in eval mode")
    generator = torch.Generator().manual_seed(config.seed)
    symbols, before = model.symbols, list(prompt)
    # Nothing in the training text was unknown, so its probability is of no meaning.
    never = symbols.unknown if symbols.unknown is not None and not symbols.counts[symbols.unknown] else None
    for _ in range(config.length):
        logits = model.next_logits(before)
        if never is not None:
            logits[never] = float("-inf")
        before.append(choose(logits, config, generator))
        yield before[-1]
        del before[: -model.context]


def text_of(symbols: Symbols, numbers: Iterator[int], *, after: str = "") -> Iterator[str]:
    """The text of symbols as it comes: characters, words with spaces between, whole characters of bytes.

    Args:
        symbols: The vocabulary.
        numbers: Of the symbols.
        after: The text that they go on with; says whether a space comes first.
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
