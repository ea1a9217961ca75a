"""Release files of sequences: pieces of consecutive states, by unit."""
