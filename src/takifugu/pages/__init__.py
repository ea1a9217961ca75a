"""Pages for a browser: each one file, without a request to anywhere."""
