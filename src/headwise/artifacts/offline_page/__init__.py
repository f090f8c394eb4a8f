"""Export of a model to a web page that classifies texts offline."""
