"""Quilts with the exact loss of the laws of their near sets: the second rule of `quilt_local`, which has the proof."""

from __future__ import annotations

from takifugu.mechanisms.quilt_local import EXACT

MECHANISM = EXACT
