"""Quilts of Markov chains and of classes of chains."""
