"""Clocks, calendars, time zones: where the steps of a recording lie."""
