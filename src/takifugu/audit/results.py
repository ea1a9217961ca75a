"""What an audit finds: a true loss or delta between proved bounds, with the comparison and the output that have it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import attrgetter
from typing import Any

from takifugu.core.plain import form, read_fraction, to_plain
from takifugu.core.typed import Typed


def _written_output(output: Sequence[Hashable]) -> list[object]:
    """Write exact numbers as texts and floats as they are; any other label says that it is one."""
    return [to_plain(cell) if isinstance(cell, Fraction | float) else {"label": to_plain(cell)} for cell in output]


def _read_output(output: Sequence[Any]) -> tuple[Hashable, ...]:
    cells = list[Hashable]()
    for cell in output:
        if isinstance(cell, str):
            cells.append(read_fraction(cell))
        else:
            cells.append(_label(cell["label"]) if isinstance(cell, dict) else float(cell))
    return tuple(cells)


def _label(label: Any) -> Hashable:
    return tuple(map(_label, label)) if isinstance(label, list) else label


@dataclass(frozen=True)
class Audit(Typed):
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
    output: tuple[Hashable, ...] = field(metadata=form(_written_output, _read_output))
    lower: float
    upper: float
    left_open: str = ""


def largest(every: Sequence[Audit]) -> Audit:
    """Return the largest of several audits, between the largest bounds."""
    worst = max(every, key=attrgetter("loss"))
    return replace(worst, lower=max(a.lower for a in every), upper=max(a.upper for a in every))
