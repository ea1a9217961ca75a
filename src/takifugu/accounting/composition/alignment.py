"""Which releases about sequences read the same steps, and what they cost where it is not declared.

Charges fall into *readings*: those with the same `reading` read the same entries, those with declared positions (`at`)
in one calendar are windows of one recording at known places, and every other charge is a reading of its own. Inside a
reading all is known; between them the worst alignment is assumed (docs/theory/composition.md;
docs/decisions.md#windows).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from takifugu.accounting.composition.piling import Windows, piled
from takifugu.accounting.composition.several import each_window, entry_of, several
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Witness
from takifugu.core.arrays import IntArray
from takifugu.influence.chains.unplaced import Pieces, Unplaced, unplaced_loss
from takifugu.influence.quilts.near_sets import joint_change
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.secrets.families import Family


@dataclass(frozen=True, eq=False)
class Item:
    """A charge with Laplace noise, costing changes * grid / scale."""

    charge: Charge
    read: Read

    @property
    def scale(self) -> Fraction:
        """The scale of the noise; 0 for an item without cost here."""
        return self.charge.scale or Fraction(0)


def readings(charges: Sequence[Charge]) -> list[list[int]]:
    """Return the numbers of the charges of each reading."""
    groups: dict[object, list[int]] = {}
    for number, charge in enumerate(charges):
        key: object = number
        if charge.at is not None:
            key = ("at", charge.calendar)
        elif charge.reading:
            key = (charge.reading,)
        groups.setdefault(key, []).append(number)
    return list(groups.values())


def is_one_reading(charges: Sequence[Charge]) -> bool:
    """Return whether all charges are known to read the same entries."""
    return len(readings(charges)) <= 1 and all(several(charge).readings == 1 for charge in charges)


def out_of_phase(view: View, belief: Belief, charges: Sequence[Charge]) -> frozenset[int]:
    """Return the numbers of windows at another phase of the belief's period.

    Clocks were changed between them and the belief's own: the matrices in between are not those of its period.
    """
    if not is_recording(belief) or belief.chain.period == 1:
        return frozenset()
    period, chain = belief.chain.period, belief.chain
    places_of = [chain.phase(c.at) for c in charges if c.at is not None and view.is_native(c)]
    if not places_of:
        return frozenset()

    return frozenset(
        number
        for number, charge in enumerate(charges)
        if any((place - places_of[0]) % math.gcd(size, period) for size, place in charge.phases)
    )


def _steps_before(view: View, belief: Recording, items: Sequence[Item]) -> int | None:
    """Count the steps from the first window to the belief's first entry.

    None where that is unknown. The number matters only where the law of a step depends on its place in a period: a
    belief says which place its own windows have. Without declared places all read from the first entry on.
    """
    period, places = belief.chain.period, [several(item.charge).places for item in items]
    if period == 1 or not any(map(len, places)):
        return 0
    first = min(int(starts[0]) if len(starts) else 0 for starts in places)
    native_starts = [starts for item, starts in zip(items, places, strict=True) if view.is_native(item.charge)]
    if not native_starts:
        return None
    steps = np.concatenate([starts if len(starts) else np.zeros(1, dtype=np.int64) for starts in native_starts]) - first
    return int(steps.min()) if len(np.unique(steps % period)) == 1 else None


def laid_out(view: View, belief: Recording, items: Sequence[Item]) -> tuple[Belief, list[IntArray]] | None:
    """Return one belief about a whole reading, and each release's changes there.

    None where the releases' places are unknown. A shorter sequence without a declared place starts where the longer one
    does: a length is not a new belief.
    """
    first = min(item.charge.at or 0 for item in items)
    starts = [(item.charge.at or 0) - first for item in items]
    sizes = [len(item.read.changes) for item in items]
    before = _steps_before(view, belief, items)
    if before is None:
        return None
    if not any(starts) and not before and set(sizes) == {belief.size}:
        return belief, [item.read.changes for item in items]
    if any(starts) and belief.chain.starts_anyhow:
        return None  # its first step is not that of the recording
    runs = [view.runs(belief, item.charge) for item in items]
    if belief.has_given_start:
        native_places = {item.charge.at for item in items if view.is_native(item.charge)}
        if any(starts) and native_places != {first}:
            return None
    if all(run is not None and len(run) == 1 for run in runs):
        size = max(start + n for start, n in zip(starts, sizes, strict=True))
        moved = [np.zeros(size, dtype=np.int64) for _ in items]
        for row, start, item in zip(moved, starts, items, strict=True):
            row[start : start + len(item.read.changes)] = item.read.changes
        longer = belief.chain.from_step(-before, size)
        return (longer, moved) if type(longer) is type(belief.chain) else None  # an inherited one is another law
    if not any(starts) and not before and runs[0] is not None and len(set(runs)) == 1 and belief.in_pieces:
        return IndependentPieces(belief.chain, map(len, runs[0])), [item.read.changes for item in items]
    return None


def in_one_place(belief: Recording, items: Sequence[Item]) -> bool:
    """Return whether all read the belief's very entries."""
    if any(len(several(item.charge).places) > 1 for item in items):
        return False
    return len({item.charge.at for item in items}) == 1 and {len(item.read.changes) for item in items} == {belief.size}


def placed(view: View, belief: Recording, items: Sequence[Item]) -> tuple[Belief, list[Windows]] | None:
    """Return one belief over all windows, and the windows of each charge.

    None where places are not declared, or windows are not one sequence each, or one has no noise, or moves less as a
    whole than its steps do, or a given start says that another step is the first one, or places in a period disagree.
    """
    if any(item.charge.at is None or item.read.together is not None for item in items):
        return None
    if any(item.charge.scale == 0 and item.read.changes.any() for item in items):
        return None
    starts = [several(item.charge).places for item in items]
    first, sizes = min(int(places[0]) for places in starts), [len(item.read.changes) for item in items]
    first_places = set[int]()
    for places, item in zip(starts, items, strict=True):
        if view.is_native(item.charge):
            first_places |= {int(places[0]), int(places[-1])}
    before = _steps_before(view, belief, items)
    if before is None or (belief.has_given_start and first_places != {first}):
        return None
    single: dict[tuple[int, ...], bool] = {}
    for item in items:
        shape = (*item.charge.lengths, item.charge.entries, int(view.is_native(item.charge)))
        if shape not in single:
            runs_here = view.runs(belief, item.charge)
            single[shape] = runs_here is not None and len(runs_here) == 1
    if not all(single.values()):
        return None
    size = max(int(places[-1]) + n for places, n in zip(starts, sizes, strict=True)) - first
    longer = belief.chain.from_step(-before, size)
    if type(longer) is not type(belief.chain):  # an inherited one is another law
        return None
    return longer, [_windows(item, places) for places, item in zip(starts, items, strict=True)]


def _windows(item: Item, places: IntArray) -> Windows:
    """Return the windows of a charge with their costs."""
    charge, read = several(item.charge), item.read
    if not item.scale:
        return Windows(places, read.changes, [(Fraction(0), len(places))])
    if not charge.runs:
        return Windows(places, read.changes, [(read.grid / item.scale, 1)])
    rates = [(run.cost.rates.value, run.windows) for run in charge.runs if run.cost.rates is not None]
    return Windows(places, read.changes, rates, read.grid / entry_of(charge))


def worst_alignment(view: View, belief: Recording, family: Family, items: Sequence[Item]) -> tuple[Fraction, Witness]:
    """Return the joint cost of readings placed anywhere; no scale is 0."""
    groups = [[items[n] for n in group] for group in readings([item.charge for item in items])]
    unplaced, chain = unplaced_of(view, belief, groups), belief.chain
    if type(chain.with_length(1)) is not type(chain):  # an inherited one is another law
        return unplaced.total, Witness("one step of the recording", "the near set is everything")
    return unplaced_loss(chain, family.pairs, unplaced)


def unplaced_of(view: View, belief: Recording, groups: Sequence[Sequence[Item]]) -> Unplaced:
    """Return the pieces of all readings, with equal ones added up."""
    rows: list[tuple[tuple[IntArray, ...], Fraction, Fraction]] = []
    single: dict[object, tuple[Item, Counter[Fraction]]] = {}  # in a long history few releases differ
    for group in groups:
        is_alone = len(group) == 1 and len(several(group[0].charge).places) < 2
        together = None if is_alone else _together(view, belief, group)
        if together is not None:
            rows.append(together)
            continue
        for item in group:
            key: object = (id(item.read), item.charge.lengths, item.charge.framework)
            single.setdefault(key, (item, Counter()))[1][item.scale] += 1
    for item, scales in single.values():
        rows.append(_alone(view, belief, item, sum((times / scale for scale, times in scales.items()), Fraction(0))))
    windows: dict[object, tuple[tuple[IntArray, ...], Fraction, Fraction]] = {}
    for runs, rate, most in rows:
        key = tuple(run.tobytes() for run in runs)
        before = windows.get(key, (runs, Fraction(0), Fraction(0)))
        windows[key] = (runs, before[1] + rate, before[2] + most)
    pieces, total = [], Fraction(0)
    for runs, rate, most in windows.values():
        piece = Pieces(tuple(np.concatenate([[0], np.cumsum(run)]) for run in runs), rate)
        pieces.append(piece)
        total += min(piece.total * piece.unit, most)
    return Unplaced(tuple(pieces), total)


def _alone(
    view: View, belief: Recording, item: Item, inverse: Fraction
) -> tuple[tuple[IntArray, ...], Fraction, Fraction]:
    """Return the changes, dearest step and total cost of equal releases.

    `inverse` is the sum of their 1/b. Where sequences may lie side by side in any order, the steps that move most stand
    together.
    """
    runs, changes = view.runs(belief, item.charge), item.read.changes
    rate, most = item.read.grid * inverse, item.read.total * inverse
    if runs is None:
        return (np.sort(changes)[::-1].copy(),), rate, most
    return _different([changes[run.start : run.stop] for run in runs]), rate, most


def _together(
    view: View, belief: Recording, group: Sequence[Item]
) -> tuple[tuple[IntArray, ...], Fraction, Fraction] | None:
    """Return `_alone` of releases at common or known places, or None."""
    most = sum((item.read.total / item.scale for item in group), Fraction(0))
    windows = placed(view, belief, group)
    if windows is not None:
        steps, unit = piled(windows[1])
        return (steps.numbers,), unit, most
    items: list[Item] = []
    for item in group:
        items += [Item(window, item.read) for window in each_window(item.charge)]
    layout = laid_out(view, belief, items)
    if layout is None:
        return None
    longer, moved = layout
    costs = joint_change([(row, item.scale / item.read.grid) for row, item in zip(moved, items, strict=True)])
    costs_of_steps = costs.each.numbers
    runs = longer.components() if longer is not belief else None
    if runs is None:
        runs_of = [view.runs(belief, item.charge) for item in items]
        runs = runs_of[0] if len(set(runs_of)) == 1 and runs_of[0] is not None else None
    if runs is None:
        return (np.sort(costs_of_steps)[::-1].copy(),), costs.unit, most
    return _different([costs_of_steps[run.start : run.stop] for run in runs]), costs.unit, most


def _different(runs: Sequence[IntArray]) -> tuple[IntArray, ...]:
    return tuple({run.tobytes(): run for run in runs}.values())
