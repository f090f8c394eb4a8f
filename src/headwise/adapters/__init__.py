"""Adapters that let other libraries use headwise models; each needs its own extra."""
