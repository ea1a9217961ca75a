"""Texts and numbers of a table as small integers, by declared rules."""
