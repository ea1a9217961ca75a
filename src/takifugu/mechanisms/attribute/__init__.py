"""Mechanisms that hide a property of whole columns (Zhang22)."""
