"""An encoder that diverged: no NaN comes out of it, it is switched off, and the report says so."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise.core.errors import HeadwiseError
from headwise.models.tasks.training_messages import calibration_message
from headwise.training.ensembles import SingleLabelEnsembleFitter
from headwise.training.run_state import RunProgress
from headwise.training.train_result import TrainResult


def scaled(objective, factor: float):
    """The objective's model with its last layer's weights as large as that."""
    with torch.no_grad():
        for parameter in objective.model.head.layers[-1].parameters():
            parameter.normal_().mul_(factor)
    return objective


def test_switched_off(make_objective):
    objective = scaled(make_objective(), 1e5)
    config = objective.model.config
    objective.model.config = replace(config, linear_model=replace(config.linear_model, kind="none"))
    finished = SingleLabelEnsembleFitter(objective).fit()
    model = objective.model
    assert finished.dev["loss"] < 1.2 * np.log(len(model.labels))
    message = calibration_message(
        TrainResult(model, RunProgress(), None, finished.dev, finished.calibration), "texts"
    )
    assert "switched it off" in message


def test_no_nan_comes_out(make_objective):
    objective = scaled(make_objective(), 3e38)
    with pytest.raises(HeadwiseError, match="no longer numbers") as error:
        objective.evaluate()
    assert error.value.code == "HW409"
