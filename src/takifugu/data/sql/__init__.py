"""How SQL of a source is read: its tree, what a role may depend on, and the words of faults."""
