"""Bayesian networks, and the files that they are read from."""
