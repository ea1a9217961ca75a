"""What each engine is asked in its own way, and what it answers."""
