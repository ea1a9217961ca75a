"""Where the steps that releases about sequences read lie in one recording (docs/theory/composition.md).

Releases about the same entries start at declared places (`at`) of one recording, or all at its first step.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

import numpy as np

from takifugu.accounting.composition.piling import Windows
from takifugu.accounting.composition.several import entry_of, several
from takifugu.accounting.composition.views import Read, View, is_about
from takifugu.analysis.guarantee import Charge
from takifugu.core.arrays import IntArray
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.one_sequence import Recording, is_recording


class Item(NamedTuple):
    """A charge as a belief reads it: with Laplace noise it costs changes * grid / scale."""

    charge: Charge
    read: Read
    #: Whether it may follow a delta.
    is_late: bool

    @property
    def scale(self) -> Fraction:
        """The scale of the noise; 0 for an item without cost here."""
        return self.charge.scale or Fraction(0)

    @property
    def is_searched(self) -> bool:
        """Whether its cost depends on the quilt."""
        return self.charge.scale is not None and not self.is_late


def out_of_phase(view: View, belief: Belief, charges: Sequence[Charge]) -> list[set[int]]:
    """Return, by phase of the belief's own windows in its period, the numbers of the windows at another one."""
    if not is_recording(belief):
        return [set()]
    # clocks were changed between them: the matrices in between are not those of the period
    native = [charge.at for charge in charges if charge.at is not None and view.is_native(charge)]
    phases = dict.fromkeys(belief.chain.phase(place) for place in native)
    return [_apart(phase, belief.chain.period, charges) for phase in phases] or [set()]


def _apart(phase: int, period: int, charges: Sequence[Charge]) -> set[int]:
    """Return the numbers of charges that are known to have another phase."""
    numbers = set()
    for number, charge in enumerate(charges):
        for size, place in charge.phases:
            if (place - phase) % math.gcd(size, period):
                numbers.add(number)
    return numbers


def _steps_before(view: View, belief: Recording, items: Sequence[Item]) -> int | None:
    """Count the steps from the first window to the belief's first entry; None where that is unknown."""
    period = belief.chain.period
    # it matters where the law of a step depends on its place; without places all start at the first entry
    if period == 1 or items[0].charge.at is None:
        return 0
    native = [several(item.charge).places for item in items if view.is_native(item.charge)]
    if not native:
        return None
    steps = np.concatenate(native) - min(int(several(item.charge).places[0]) for item in items)
    if len(np.unique(steps % period)) > 1:
        return None
    return int(steps.min())


def laid_out(view: View, belief: Recording, items: Sequence[Item]) -> tuple[Belief, list[IntArray]] | None:
    """Return one belief about what starts at one step, and each release's changes there; None for several."""
    changes = [item.read.changes for item in items]
    if not _at_one_step(items) or _steps_before(view, belief, items) is None:
        return None
    if all(is_about(belief, item.charge) for item in items):
        return belief, changes
    if all(_is_one_run(view, belief, item.charge) for item in items):
        # a shorter sequence starts where the longer one does: a length is not a new belief
        size = max(map(len, changes))
        longer = belief.chain.from_step(0, size)
        if type(longer) is not type(belief.chain):  # an inherited one is another law
            return None
        return longer, [np.pad(row, (0, size - len(row))) for row in changes]
    pieces = {view.runs(belief, item.charge) for item in items}
    common = pieces.pop()
    if common is not None and not pieces and belief.in_pieces:
        return IndependentPieces(belief.chain, map(len, common)), changes
    return None


def _at_one_step(items: Sequence[Item]) -> bool:
    return all(item.charge.at == items[0].charge.at and len(several(item.charge).places) < 2 for item in items)


def _is_one_run(view: View, belief: Recording, charge: Charge) -> bool:
    runs = view.runs(belief, charge)
    return runs is not None and len(runs) == 1


def in_one_place(belief: Recording, items: Sequence[Item]) -> bool:
    """Return whether all read the belief's very entries."""
    return _at_one_step(items) and all(is_about(belief, item.charge) for item in items)


def placed(view: View, belief: Recording, items: Sequence[Item]) -> tuple[Belief, list[Windows]] | None:
    """Return one belief over all windows, and each charge's windows; None where places are unknown or differ."""
    for item in items:
        if item.charge.at is None or (item.charge.scale == 0 and item.read.changes.any()):
            return None
    first_steps, ends = set[int](), set[int]()
    native_places = set[int]()
    windows = []
    for item in items:
        places = several(item.charge).places
        windows.append(_windows(item, places))
        first_steps.add(int(places[0]))
        ends.add(int(places[-1]) + len(item.read.changes))
        if view.is_native(item.charge):
            native_places |= {int(places[0]), int(places[-1])}
    first = min(first_steps)
    before = _steps_before(view, belief, items)
    # a given start says which step is the first one
    if before is None or (belief.has_given_start and native_places != {first}):
        return None
    shapes: dict[Hashable, Charge] = {}  # in a long history few releases differ
    for item in items:
        shapes[item.charge.lengths, item.charge.entries, view.is_native(item.charge)] = item.charge
    if not all(_is_one_run(view, belief, charge) for charge in shapes.values()):
        return None
    longer = belief.chain.from_step(-before, max(ends) - first)
    if type(longer) is not type(belief.chain):  # an inherited one is another law
        return None
    return longer, windows


def _windows(item: Item, places: IntArray) -> Windows:
    """Return the windows of a charge with their costs."""
    charge, read = several(item.charge), item.read
    if not item.scale:
        return Windows(places, read.changes, [(Fraction(0), len(places))])
    rates = list[tuple[Fraction, int]]()
    for rate, windows in groupby(cost.rates for _, cost in charge.windows):  # mostly the same, in a long history
        assert rate is not None, "noise with a scale has a rate"
        rates.append((rate.value, len(list(windows))))
    return Windows(places, read.changes, rates, read.grid / entry_of(charge))
