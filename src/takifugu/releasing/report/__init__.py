"""The report of a release: one HTML file for people."""
