"""A cluster that counts the rows of sequences where they are."""
