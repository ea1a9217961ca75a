"""Release files that hide a property of whole columns: of the records at hand, or of their population."""
