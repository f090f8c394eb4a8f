"""A model that answers over HTTP: `headwise serve`. Needs the extra `serve`."""
