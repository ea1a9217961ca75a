"""Profiles of what is released, and suprema over the likelihoods that they admit."""
