"""Finite distributions on the line, and what two of them differ by."""
