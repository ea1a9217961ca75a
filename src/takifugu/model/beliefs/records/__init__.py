"""Beliefs over independent records with columns, and how secrets about columns read them."""
