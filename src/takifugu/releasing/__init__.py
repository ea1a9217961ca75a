"""From a release file to published tables."""
