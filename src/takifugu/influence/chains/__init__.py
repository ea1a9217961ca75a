"""The loss of secrets about steps of a chain, or of any chain of a class."""
