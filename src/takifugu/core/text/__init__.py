"""Text tables, small pictures, markup for notebooks."""
