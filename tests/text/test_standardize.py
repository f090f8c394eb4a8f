import numpy as np
import pytest
import torch

from headwise.nn.networks.bag_model import LARGEST, Standardizer

ROWS = np.array([[1, 5, -3e4], [3, 5, 1e4], [5, 5, 2e4]], dtype=np.float32)


def fitted(*parts):
    made = Standardizer(3)
    made.fit(parts or [ROWS])
    return made


def test_mean_and_deviation_over_all_rows():
    expected = (ROWS - ROWS.mean(0)) / np.where(ROWS.std(0) > 0, ROWS.std(0), 1)
    out = fitted(ROWS[:1], ROWS[1:])(torch.from_numpy(ROWS))
    torch.testing.assert_close(out, torch.from_numpy(expected))
    assert out.mean(0).abs().max() < 1e-6


def test_a_feature_that_never_varied_says_nothing():
    later = torch.tensor([[3.0, 9.0, 0.0], [3.0, 3e38, 0.0]])
    assert fitted()(later)[:, 1].tolist() == [0, 0]
    nearly = ROWS.copy()
    nearly[:, 1] = [1e6, 1e6, 1e6 + 0.0625]  # rounding
    assert fitted(nearly)(torch.from_numpy(nearly))[:, 1].abs().max() == 0


def test_outliers_are_cut():
    out = fitted()(torch.tensor([[1e9, 5.0, -3e38], [-3e38, 5.0, 3e38]]))
    assert out.tolist() == [[LARGEST, 0, -LARGEST], [-LARGEST, 0, LARGEST]]


def test_the_largest_numbers_of_all():
    top = np.finfo(np.float32).max
    out = fitted(np.array([[top, 0, 1e-45], [-top, 1e-38, 0]], np.float32))(torch.tensor([[top, 0.0, 0.0]]))
    assert out.isfinite().all()
    assert out[0, 0].item() == pytest.approx(1, abs=1e-3)


def test_the_constants_are_saved():
    second = Standardizer(3)
    second.load_state_dict(fitted().state_dict())
    assert second(torch.from_numpy(ROWS)).equal(fitted()(torch.from_numpy(ROWS)))
    assert not list(second.parameters())


def test_no_rows_change_nothing():
    rows = torch.tensor([[1.0, 2.0, 3.0]])
    assert fitted(np.zeros((0, 3), np.float32))(rows).equal(rows)
