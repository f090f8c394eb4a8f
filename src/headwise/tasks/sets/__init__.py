"""Tasks whose inputs are sets: regression to the largest element, mixtures of Gaussians."""

from headwise.tasks.sets.max_regression import constant_error, max_sets
from headwise.tasks.sets.mixture import Mixture, em_step, log_likelihood, mixture_sets

__all__ = ["Mixture", "constant_error", "em_step", "log_likelihood", "max_sets", "mixture_sets"]
