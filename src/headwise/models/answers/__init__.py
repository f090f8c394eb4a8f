"""Prediction from the outputs of a network and of a linear model. This package does not import torch."""
