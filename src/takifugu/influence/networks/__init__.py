"""The loss of secrets about variables of a network, entries of a table, people of a clique."""
