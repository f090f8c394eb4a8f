"""The sections of a model's configuration that several tasks have."""

TEXT_SECTIONS = ("words", "base", "pretrained", "syntax", "encoder", "windows")
"""The sections of all models of texts; tasks add further sections."""

LABEL_SECTIONS = (*TEXT_SECTIONS, "classifier", "linear_model", "unknown")
"""The sections of a text classifier."""
