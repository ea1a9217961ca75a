"""One file per way to find enough noise; `base` holds what they share."""
