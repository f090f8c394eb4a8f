"""Check data files before training: facts, and findings with their remedies.

One flow serves all item types (`flow`). Each item type and each label type has a list of check functions. A
check yields findings and shares nothing with the others but the file.
"""
