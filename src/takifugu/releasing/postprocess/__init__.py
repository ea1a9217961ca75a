"""Noisy values and what may be done with them at no cost: intervals, frames, adjusting, reconciling."""
