"""Quilts whose near set is hidden by the distribution of its share of the answer, not by its range."""
