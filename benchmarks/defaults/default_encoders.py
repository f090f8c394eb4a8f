"""Rivals of default.py that train a sentence encoder's own weights: SetFit, and plain fine-tuning.

Both start from all-MiniLM-L6-v2, the encoder of the rival `minilm`. Fine-tuning reads the first 128 word
pieces of a text as that does, SetFit 256. Their settings are fixed: those of SetFit are the published
ones, the rate of fine-tuning is the better of two (5e-5, 2e-4) on held-out training texts of SST-2 and
emotion with 250 labels (78.0 and 79.2; 69.3 and 72.3). With 4,000 pairs in place of 10,000 SetFit had 71.0
in place of 73.2 on emotion.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from benchmarks.common.english_teachers import minilm_folder
from benchmarks.defaults.default_linear import Fitted, Items
from benchmarks.defaults.default_vectors import MOST_PIECES

RATE, BATCH, WARM_UP, DECAY = 2e-4, 16, 0.1, 0.01
STEPS = 320
"""Steps of fine-tuning at least; see `epochs_of`."""
SETFIT_RATE = 2e-5
SETFIT_PAIRS = 40
"""Pairs of each text: the 20 with its label and 20 with others of Tunstall et al. (2022)."""
SETFIT_MOST_PAIRS = 10_000
"""Pairs in all, as many as of 250 texts: of more texts each is in fewer."""


class Classifier(torch.nn.Module):
    """A linear readout of the mean of an encoder's last layer."""

    def __init__(self, folder: Path, labels: int):
        from transformers import AutoModel, AutoTokenizer

        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoder = AutoModel.from_pretrained(folder, attn_implementation="sdpa")
        self.dropout = torch.nn.Dropout(0.1)
        self.readout = torch.nn.Linear(self.encoder.config.hidden_size, labels)

    def forward(self, texts: Sequence[str]) -> torch.Tensor:
        """Scores `[texts, labels]`."""
        pieces = self.tokenizer(
            list(texts), truncation=True, max_length=MOST_PIECES, padding=True, return_tensors="pt"
        )
        states = self.encoder(**pieces).last_hidden_state
        keep = pieces["attention_mask"][..., None]
        return self.readout(self.dropout((states * keep).sum(1) / keep.sum(1)))


def epochs_of(texts: int) -> int:
    """20 epochs (Mosbach et al. 2021) of 250 texts, fewer of more, and never fewer than 5."""
    return max(5, round(STEPS * BATCH / texts))


def fine_tuned(items: Items, targets: np.ndarray, seed: int, folder: Path | None = None) -> Fitted:
    """An encoder, MiniLM if there is no `folder` of another, and a readout of it, trained together: AdamW,
    a warm-up of a tenth of the steps, then a linear decay to zero."""
    torch.manual_seed(seed)
    model = Classifier(folder or minilm_folder(), int(targets.max()) + 1)
    epochs = epochs_of(len(items))
    steps = epochs * -(-len(items) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / (WARM_UP * steps), (steps - step) / ((1 - WARM_UP) * steps)),
    )
    model.train()
    random = np.random.default_rng(seed)
    for _ in range(epochs):
        for rows in _batches(random.permutation(len(items)), BATCH):
            loss = torch.nn.functional.cross_entropy(
                model([items[row] for row in rows]), torch.from_numpy(targets[rows])
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    model.eval()

    def predict(texts: Items) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort([len(text) for text in texts], kind="stable")
        chances = np.zeros((len(texts), model.readout.out_features), np.float32)
        with torch.inference_mode():
            for rows in _batches(order, 32):
                chances[rows] = model([texts[row] for row in rows]).softmax(1).numpy()
        return chances.argmax(1), chances

    weights = sum(weight.numel() for weight in model.parameters())
    return Fitted(predict, weights, f"rate={RATE} epochs={epochs}")


def setfit(items: Items, targets: np.ndarray, seed: int) -> Fitted:
    """SetFit (Tunstall et al. 2022) by its library: MiniLM trained on pairs of texts, logistic regression
    on its vectors. `pip install setfit`."""
    import setfit as library
    from datasets import Dataset

    model = library.SetFitModel.from_pretrained(str(minilm_folder()), local_files_only=True)
    # An iteration makes two pairs of each text, one with its label and one with another.
    iterations = max(1, round(min(SETFIT_PAIRS, SETFIT_MOST_PAIRS / len(items)) / 2))
    with tempfile.TemporaryDirectory() as folder:
        arguments = library.TrainingArguments(
            output_dir=folder,
            num_iterations=iterations,
            num_epochs=1,
            batch_size=BATCH,
            body_learning_rate=SETFIT_RATE,
            seed=seed,
            save_strategy="no",
            report_to="none",
            show_progress_bar=False,
        )
        rows = Dataset.from_dict({"text": list(items), "label": targets.tolist()})
        library.Trainer(model=model, args=arguments, train_dataset=rows).train()

    def predict(texts: Items) -> tuple[np.ndarray, np.ndarray]:
        chances = np.asarray(model.predict_proba(list(texts), as_numpy=True))
        return model.model_head.classes_[chances.argmax(1)], chances

    weights = sum(weight.numel() for weight in model.model_body.parameters())
    return Fitted(predict, weights + model.model_head.coef_.size, f"pairs={2 * iterations * len(items)}")


def _batches(order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    for start in range(0, len(order), size):
        yield order[start : start + size]
