"""Check data files before training: facts, and findings with their remedies.

One procedure serves all item types (`diagnose`). `check_registry` lists the checks of each item type and
each label type. A check yields findings and shares nothing with the others but the file.
"""
