"""Rows that say from when on, or how long, a unit is in a state: runs of steps, counted without expanding one."""
