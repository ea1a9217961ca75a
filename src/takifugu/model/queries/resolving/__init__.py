"""From a query to its answer: over entries, and over the columns of records."""
