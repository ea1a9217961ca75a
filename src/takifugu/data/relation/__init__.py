"""A source as a relation with typed columns: a file, a SELECT of DuckDB's or a frame, reduced to integers by its keys."""
