"""Rows that say from when on, how long, or when a unit is in a state: runs of steps, counted without expanding one."""
