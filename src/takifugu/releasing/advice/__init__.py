"""What a table is worth before it is paid for, and what would make it worth more."""
