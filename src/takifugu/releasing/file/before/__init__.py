"""Keys that release files had before, and what stands in their place now."""
