"""Finite laws on the line and the numbers computed from them."""
