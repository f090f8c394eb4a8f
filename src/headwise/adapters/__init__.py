"""Models in the hands of other libraries, each file thin and behind its extra."""
