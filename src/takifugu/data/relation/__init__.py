"""A source as a relation with typed columns, of a file, a SELECT or a frame, reduced to integers by its keys."""
