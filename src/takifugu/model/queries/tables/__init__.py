"""Queries of many cells: of rows by columns, by cells of entries, by places, and of several queries together."""
