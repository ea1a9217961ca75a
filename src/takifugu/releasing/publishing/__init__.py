"""Publish a plan: pay, draw, keep, place the files, resume."""
