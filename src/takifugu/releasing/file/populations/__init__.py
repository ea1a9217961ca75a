"""Release files that randomise a column, so that values do not tell which population they come from."""
