"""Look at data files before they are trained on: facts, and findings with their remedies.

One flow for all kinds of items (`flow`); what is checked is a list of functions that the kind of the items
and their answers have. Each yields findings, and shares nothing with the others but the file.
"""
