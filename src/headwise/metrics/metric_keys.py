"""Keys of scores in evaluations, and in the metrics of a model folder."""

NOVELTY = "novelty"
"""The key of novelty scores in evaluations and in the dev scores of a model folder."""
OPERATING_POINTS = "operating_points"
"""The key of the operating points among the dev scores in the metrics of a model."""
SELECTIVE_PREDICTION = "sureness"
"""The key of the risk-coverage curve among the dev scores in the metrics of a model."""
