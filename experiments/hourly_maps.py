"""A map of every hour of a day beside one map of the day: what each finds, where both cost the same together.

Hourly maps cost the sum of their epsilons: a move may forget a person's visits of all hours. The map of a day counts a
person once at a place, for 24 places at most, so that its noise is as wide as that of 24 hourly maps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epidemic import Integers
from epidemic_maps import Setting, asymmetric
from pages import table

IN_ALL = (24.0, 12.0, 6.0, 2.4, 1.0)


def shares(counts: Sequence[Integers], setting: Setting) -> tuple[float, float]:
    """Return the shares of the safe places that are expected to be found: of all, and where somebody was."""
    known = np.concatenate(counts)
    somebody = known[known > 0]
    sanitiser = asymmetric(setting)
    return sanitiser.recall(known), sanitiser.recall(somebody)


def hourly_table(hours: Sequence[Integers], day: Integers) -> str:
    """Return what maps of all hours find, and one map of the day, for what they cost in all."""
    rows = []
    for epsilon in IN_ALL:
        setting = Setting(epsilon=epsilon / len(hours), alpha=0)
        both = [*shares(hours, setting), *shares([day], setting)]
        rows.append([f"{epsilon:g}", f"{setting.epsilon:.3g}", *(f"{100 * share:.1f} %" for share in both)])
    return table([
        "ε in all", "ε of an hour", "every hour: safe places found", "where somebody was",
        "the day: safe places found", "where somebody was, on the day",
    ], rows)  # fmt: skip
