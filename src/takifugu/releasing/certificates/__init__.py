"""What is published with a table: its certificate, read back and checked, and the text of the table."""
