"""Quilts of Bayesian networks, searched best first."""
