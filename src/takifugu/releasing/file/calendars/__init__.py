"""Calendars in release files, of whatever kind their data are: windows, and what is wrong with them."""
