"""Row by row, AdamW gives what it gives for all rows in each step."""

from contextlib import suppress

import numpy as np
import pytest
import torch
from torch import nn

from headwise.core import native
from headwise.core.errors import HeadwiseError
from headwise.nn.embeddings.word_reading import RowEmbedding
from headwise.training.optimizer import AdamW

ROWS, SIZE = 40, 6


class Problem:
    """An embedding and a layer that learn random targets from random ids: few rows in each step, some
    often, some hardly ever."""

    def __init__(self, *, by_rows: bool):
        torch.manual_seed(0)
        self.embedding, self.layer = RowEmbedding(ROWS, SIZE), nn.Linear(SIZE, 1)
        groups = [
            {"params": [self.embedding.weight], "lr": 0.0, "weight_decay": 0.0},
            {"params": [*self.layer.parameters()], "lr": 0.0, "weight_decay": 0.1},
        ]
        self.optimizer = AdamW(groups, [self.embedding] if by_rows else [])

    def learn(self, steps: range, clip: float = 0.0) -> None:
        for step in steps:
            random = torch.Generator().manual_seed(step)
            ids = (torch.rand(5, generator=random) ** 3 * ROWS).long()
            outputs = self.layer(self.embedding(ids))[:, 0]
            (outputs - torch.randn(5, generator=random)).square().sum().backward()
            if clip:
                self.optimizer.clip(clip)
            for group in self.optimizer.param_groups:
                group["lr"] = 0.01 * (1 - step / 1200)
            self.optimizer.step()
            self.optimizer.zero_grad()

    def weights(self) -> torch.Tensor:
        return torch.cat([self.embedding.weight.detach().flatten(), self.layer.weight.detach().flatten()])


@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_equals_steps_of_all_rows(clip):
    dense, by_rows = Problem(by_rows=False), Problem(by_rows=True)
    start = dense.weights()
    dense.learn(range(1000), clip)
    with by_rows.optimizer.postponed():
        by_rows.learn(range(1000), clip)
    assert (dense.weights() - start).abs().max() > 0.3
    torch.testing.assert_close(by_rows.weights(), dense.weights(), atol=2e-4, rtol=0)


def test_clipping_is_that_of_torch():
    ours, theirs = Problem(by_rows=True), Problem(by_rows=False)
    for problem in (ours, theirs):
        with problem.optimizer.postponed():
            ids = torch.tensor([3, 1, 3])
            problem.layer(problem.embedding(ids)).square().sum().backward()
    parameters = [theirs.embedding.weight, *theirs.layer.parameters()]
    nn.utils.clip_grad_norm_(parameters, 0.1)
    ours.optimizer.clip(0.1)
    for mine, peer in zip(ours.layer.parameters(), theirs.layer.parameters(), strict=True):
        assert mine.grad is not None
        assert peer.grad is not None
        torch.testing.assert_close(mine.grad, peer.grad)


def test_a_saved_state_goes_on_to_the_same_bits():
    straight = Problem(by_rows=True)
    with straight.optimizer.postponed():
        straight.learn(range(60))
    first, second = Problem(by_rows=True), Problem(by_rows=True)
    with suppress(KeyboardInterrupt), first.optimizer.postponed():
        first.learn(range(25))
        raise KeyboardInterrupt  # postponed steps are still to be done
    parameters = [[p.embedding.weight, *p.layer.parameters()] for p in (first, second)]
    with torch.no_grad():
        for saved, loaded in zip(*parameters, strict=True):
            tensors = {key: value.clone() for key, value in first.optimizer.tensors(saved).items()}
            expected = second.optimizer.expected(loaded, 25)
            assert {key: (x.shape, x.dtype) for key, x in tensors.items()} == {
                key: (x.shape, x.dtype) for key, x in expected.items()
            }
            loaded.copy_(saved)
            second.optimizer.load(loaded, tensors)
    with second.optimizer.postponed():
        second.learn(range(25, 60))
    assert torch.equal(second.weights(), straight.weights())


def test_outside_of_training_it_is_a_plain_embedding():
    problem = Problem(by_rows=True)
    problem.embedding(torch.tensor([1, 2])).sum().backward()
    assert problem.embedding.weight.grad is not None
    assert not problem.embedding.weight.grad.is_sparse
    with problem.optimizer.postponed():
        assert problem.embedding.before_lookup is not None
    assert problem.embedding.before_lookup is None


def test_the_padding_row_never_moves():
    embedding = RowEmbedding(3, 2, padding_idx=0)
    optimizer = AdamW([{"params": [embedding.weight], "lr": 0.1, "weight_decay": 0.0}], [embedding])
    before = embedding.weight.detach().clone()
    with optimizer.postponed():
        embedding(torch.tensor([0, 2, 0])).sum().backward()
        optimizer.step()
    assert (embedding.weight != before).any(dim=1).tolist() == [False, False, True]


def test_a_damaged_state_is_refused():
    problem = Problem(by_rows=True)
    tensors = problem.optimizer.tensors(problem.embedding.weight)
    tensors["row_steps"] = torch.full((ROWS,), 7)
    with pytest.raises(HeadwiseError, match="damaged") as caught:
        problem.optimizer.load(problem.embedding.weight, tensors)
    assert caught.value.code == "HW402"


def test_gradients_of_a_row_are_added_up():
    rows, values = np.array([4, 1, 4]), np.array([[1, 2], [3, 4], [10, 20]], dtype=np.float32)
    unique, sums, squares = native.sum_rows(rows, values, 5)
    assert unique.tolist() == [4, 1]
    assert sums.tolist() == [[11, 22], [3, 4]]
    assert squares == 11**2 + 22**2 + 3**2 + 4**2
    unique, sums, squares = native.sum_rows(rows, values, 5, 4)
    assert (unique.tolist(), sums.tolist(), squares) == ([1], [[3, 4]], 25)
    unique, sums, squares = native.sum_rows(rows[:0], values[:0], 5)
    assert (len(unique), sums.shape, squares) == (0, (0, 2), 0)


def test_wrong_arguments_of_the_kernels():
    rows, values = np.array([0, 1]), np.zeros((2, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="as many rows"):
        native.sum_rows(rows[:1], values, 2)
    with pytest.raises(ValueError, match="below the number"):
        native.sum_rows(rows + 1, values, 2)
    weights, first, second = (np.zeros((2, 3), dtype=np.float32) for _ in range(3))
    steps, factors = np.zeros(2, dtype=np.int64), np.zeros(4)
    with pytest.raises(ValueError, match="a factor of each step"):
        native.skip_steps(weights, first, second, steps, rows, factors, 4)
    with pytest.raises(ValueError, match="up to the present"):
        native.skip_steps(weights, first, second, steps + 9, rows, factors, 3)
    with pytest.raises(ValueError, match="shape of the weights"):
        native.step_rows(weights, first[:1].copy(), second, steps, rows, values, 1, 0.1, 1.0)
    with pytest.raises(ValueError, match="a gradient of each row"):
        native.step_rows(weights, first, second, steps, rows, values[:1].copy(), 1, 0.1, 1.0)
