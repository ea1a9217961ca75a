"""What releases in several layouts cost where these have the same entries, in some at other steps.

Nobody may know which entry of the one layout is which of another, so what the releases in all others reveal of an entry
counts at every step: by what their dearest step costs (docs/theory/composition.md#another-placement).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from takifugu.accounting.composition.composing import joint
from takifugu.accounting.composition.losses import any_change
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.model import queries
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.model.frameworks import Framework

#: No recording has so many steps.
_LONGEST = 10**6
#: From which step of a calendar on which steps cost how much more, or less: in the order of the steps.
Steps = list[tuple[int, Fraction]]


def cost_at_other_steps(
    frameworks: Mapping[str, Framework], charges: Sequence[Charge]
) -> tuple[Fraction, Fraction] | None:
    """Return epsilon and delta of one unit's releases over all its layouts.

    The layouts have the same entries. Charges are single ones, under the framework that each names, with the names of
    their layouts. None where nothing is proved of a release or a belief.
    """
    if not all(_is_read_by_entry(frameworks[charge.framework], charge) for charge in charges):
        return None
    layouts: dict[str, list[Charge]] = {}
    for charge in charges:
        layouts.setdefault(charge.layout, []).append(charge)
    dearest_steps = {layout: dearest_step(frameworks, of_layout) for layout, of_layout in layouts.items()}
    worst = Fraction(0)
    for layout, of_layout in layouts.items():
        of_others = [charge for charge in charges if charge.layout != layout]
        dearest = sum(dearest_steps.values(), Fraction(0)) - dearest_steps[layout]
        for fingerprint in dict.fromkeys(charge.framework for charge in of_layout):
            elsewhere = _everywhere(frameworks[fingerprint], dearest, of_others, layout)
            if elsewhere is None:
                return None
            promise = joint(frameworks[fingerprint], [*of_layout, *elsewhere], fingerprint=fingerprint)
            worst = max(worst, promise.epsilon)
    return worst, Fraction(0)


def dearest_step(frameworks: Mapping[str, Framework], charges: Sequence[Charge]) -> Fraction:
    """Return the largest loss of one layout's releases by one entry.

    Releases at places of one calendar are added up step by step; each other one counts by its own dearest step.
    """
    calendars: dict[str, Steps] = {}
    total = Fraction(0)
    for charge in charges:
        steps = [*_steps_of(frameworks[charge.framework], charge)]
        if charge.at is None:
            total += _highest(steps)
        else:
            calendars.setdefault(charge.calendar, []).extend(steps)
    return total + sum(map(_highest, calendars.values()), Fraction(0))


def _highest(steps: Steps) -> Fraction:
    level = highest = Fraction(0)
    at: dict[int, Fraction] = {}
    for step, more in steps:
        at[step] = at.get(step, Fraction(0)) + more
    for step in sorted(at):
        level += at[step]
        highest = max(highest, level)
    return highest


def _steps_of(framework: Framework, charge: Charge) -> Iterator[tuple[int, Fraction]]:
    """Yield each step of a change in the dearest belief's cost."""
    view, start = View(framework, charge.framework), charge.at or 0
    most = np.zeros(charge.entries, dtype=np.int64)
    grids = set()
    for belief in framework.beliefs:
        read = view.read(belief, charge)
        assert read is not None  # `_is_read_by_entry` has asked
        grids.add(read.grid)
        most = np.maximum(most, read.changes)
    rate = Fraction(0)
    if charge.scale:
        rate = max(grids) / charge.scale
    before = 0
    for first in [0, *(np.flatnonzero(np.diff(most)) + 1).tolist()]:
        yield start + first, (int(most[first]) - before) * rate
        before = int(most[first])
    yield start + len(most), -before * rate


def _is_read_by_entry(framework: Framework, charge: Charge) -> bool:
    """Return whether a release has Laplace noise and may start anywhere."""
    is_plain = (
        charge.delta == 0 and charge.scale is not None and charge.scope == "unit" and not charge.begins_series
        and charge.covers is not Covers.OUTPUT and charge.definition == framework.definition == "pufferfish"
    )  # fmt: skip
    if not is_plain or framework.is_pair or any_change(charge) is None:
        return False
    view = View(framework, charge.framework)
    for belief in framework.beliefs:
        if not is_recording(belief) or belief.has_given_start:
            return False
        read = view.read(belief, charge)
        if read is None or read.is_blind or len(read.changes) != charge.entries:
            return False
        if not charge.scale and read.changes.any():
            return False
    return True


def _everywhere(framework: Framework, dearest: Fraction, charges: Sequence[Charge], layout: str) -> list[Charge] | None:
    """Return a stand-in for releases in other layouts.

    The stand-in is a count of as many steps as the releases may cost anything at. It moves every step by `dearest`, and
    all together by what all releases lose at most, and nobody says where it starts. None for a recording too long for
    any computer.
    """
    if not dearest:
        return []
    most = sum((any_change(charge) or Fraction(0) for charge in charges), Fraction(0))
    steps = max(1, math.ceil(most / dearest))
    if steps > _LONGEST:
        return None
    count = queries.Count(framework.beliefs[0].alphabet(0)[0])
    return [
        Charge(
            framework="", definition=framework.definition, covers=Covers.EVERYTHING, epsilon=steps * dearest,
            delta=Fraction(0), query=count.to_dict(), randomiser={"kind": "none"}, scale=1 / dearest,
            change=Fraction(steps), entry_change=Fraction(1), entries=steps, answers=(), lengths=(steps,),
            layout=layout,
        )
    ]  # fmt: skip
