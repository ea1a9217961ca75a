"""Policies over records: which moves must not be noticed, and how far they move an answer (Takagi21)."""
