"""What an audit finds: a true loss or delta between proved bounds, with the comparison and the output that have it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter


@dataclass(frozen=True)
class Audit:
    """Hold a true loss or delta with its place and bounds.

    Args:
        loss: The loss, or the delta.
        comparison: The two hypotheses, in words.
        output: The output, in answer units: one number or label for each cell of every release.
        lower: A proved lower bound.
        upper: A proved upper bound: infinite (for a delta 1) if something was left open.
        left_open: What was not examined, in words.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry, exact_loss
        >>> framework = Pufferfish(every_entry(), MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=5))
        >>> audit = exact_loss(calibrate(framework, Count(1), epsilon=1))
        >>> audit.lower <= audit.loss <= audit.upper <= 1
        True
    """

    loss: float
    comparison: str
    output: tuple[Hashable, ...]
    lower: float
    upper: float
    left_open: str = ""


def largest(every: Sequence[Audit]) -> Audit:
    """Return the largest of several audits, between the largest bounds."""
    worst = max(every, key=attrgetter("loss"))
    return replace(worst, lower=max(a.lower for a in every), upper=max(a.upper for a in every))
