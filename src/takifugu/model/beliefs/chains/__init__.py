"""Markov chains, one matrix or several, classes of chains, independent pieces."""
