"""Release files of records: one row per person or case, related columns, no order in time."""
