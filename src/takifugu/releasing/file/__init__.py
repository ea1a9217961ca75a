"""The release file: its sections, the kinds of data that it may be about, and what is wrong with it."""
