"""Beliefs that are said by other ones: a distribution of somebody else's, and a chain behind its observations."""
