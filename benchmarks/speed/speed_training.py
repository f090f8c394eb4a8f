"""Training steps of whole models: forward, backward and the update by AdamW."""

import statistics
import sys
from collections.abc import Callable

import torch
from torch.nn.functional import cross_entropy

from benchmarks.common.timing import interleaved
from benchmarks.speed.speed_rivals import PaddedModel, padded_training_step
from benchmarks.speed.speed_table import Result, Row
from benchmarks.speed.speed_texts import (
    DOMAINS,
    TextBatch,
    missing_data,
    read_domain,
    sampled,
    test_batches,
)
from headwise.nn.embeddings.encoded_batches import batch_of
from headwise.nn.encoders import EncoderConfig, MSTransformerConfig, TransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.text_features import EncodedText
from headwise.text.vocabulary import Vocabulary

MS, OWN, PADDED = "ms-transformer", "transformer", "padded Transformer"


def run(*, rounds: int, domains: tuple[str, ...] = DOMAINS) -> Result | str:
    """Time a step on a batch of each domain; or why not."""
    if (reason := missing_data()) is not None:
        return reason
    batches = sampled({domain: test_batches(domain, "sorted") for domain in domains})
    seconds = {}
    for domain, (batch,) in batches.items():
        times = interleaved(prepare(batch), rounds)
        seconds[domain] = {name: statistics.median(measured) for name, measured in times.items()}
        summary = ", ".join(f"{name} {time:.2f} s" for name, time in seconds[domain].items())
        print(f"  {domain}: {summary}", file=sys.stderr, flush=True)
    table_rows = [
        Row(
            f"training step, {rival} / MS-Trans, sorted: mean of {len(seconds)} domains",
            statistics.mean(by_system[rival] / by_system[MS] for by_system in seconds.values()),
            bar,
        )
        for rival, bar in ((PADDED, ">= 5"), (OWN, ""))
    ]
    notes = ["training steps are of whole models: word vectors, encoder, classifier, AdamW; float32"]
    notes.append("a step on one batch of each domain")
    return Result(table_rows, {"seconds_of_a_step_on_128_texts": seconds}, notes)


def prepare(batch: TextBatch) -> dict[str, Callable[[], None]]:
    """The systems, each with the vocabulary of the domain's training texts."""
    torch.manual_seed(0)
    vocabulary = Vocabulary.build(example.text.split() for example in read_domain(batch.domain, "train"))
    encoded = [EncodedText(vocabulary.encode(words)) for words in batch.texts]
    targets = torch.randint(2, (len(encoded),))
    config = TransformerConfig()
    model = PaddedModel(len(vocabulary), config, 2)
    words = [torch.from_numpy(text.words) for text in encoded]
    return {
        MS: training_step(MSTransformerConfig(), vocabulary, encoded, targets),
        OWN: training_step(config, vocabulary, encoded, targets),
        PADDED: padded_training_step(model, words, targets, config.heads),
    }


def training_step(
    encoder: EncoderConfig,
    vocabulary: Vocabulary,
    texts: list[EncodedText],
    targets: torch.Tensor,
    device: torch.device | str = "cpu",
    *,
    bfloat16: bool = False,
) -> Callable[[], None]:
    """A step of a headwise model with the paper's sizes."""
    model = TextClassifierModel(ModelConfig(encoder=encoder), vocabulary, ["negative", "positive"]).to(
        device
    )
    targets = targets.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def run() -> None:
        model.train()
        with torch.autocast(targets.device.type, torch.bfloat16, enabled=bfloat16):
            loss = cross_entropy(model(batch_of(texts, device)), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return run
