"""Distributions after Laplace or normal noise: log-ratios, divergences, the smallest scale."""
