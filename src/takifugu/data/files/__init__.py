"""Files with tables: how they are written, and what is no table."""
