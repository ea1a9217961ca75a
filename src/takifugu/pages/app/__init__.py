"""The app: a page on this machine that asks about a table, shows the verdict, and publishes."""
