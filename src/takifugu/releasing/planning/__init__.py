"""Plan a release: what is asked of which units, with how much noise, and what it would cost."""
