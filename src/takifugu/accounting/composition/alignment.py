"""Which releases about sequences read the same steps, and what they cost where it is not declared.

Charges fall into *readings*: those with the same `reading` read the same entries, those with declared positions (`at`)
in one calendar are windows of one recording at known places, and every other charge is a reading of its own. Inside a
reading all is known; between them the worst alignment is assumed (docs/theory/composition.md;
docs/decisions.md#windows).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from takifugu.accounting.composition.piling import Windows, piled
from takifugu.accounting.composition.several import each_window, entry_of, several
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Charge
from takifugu.core.arrays import IntArray
from takifugu.core.lists import take
from takifugu.influence.chains.unplaced import Pieces, Unplaced, unplaced_loss
from takifugu.influence.quilts.near_sets import joint_change
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.chains.pieces import IndependentPieces
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.secrets.families import Family


class Item(NamedTuple):
    """A charge as a belief reads it, and whether it may follow a delta.

    With Laplace noise it costs changes * grid / scale.
    """

    charge: Charge
    read: Read
    is_late: bool = False

    @property
    def scale(self) -> Fraction:
        """The scale of the noise; 0 for an item without cost here."""
        return self.charge.scale or Fraction(0)

    @property
    def is_searched(self) -> bool:
        """Whether its cost depends on the quilt."""
        return self.charge.scale is not None and not self.is_late


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


def readings_of_items(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items of each reading."""
    groups = []
    for numbers in readings([item.charge for item in items]):
        groups.append(take(items, numbers))
    return groups


def window_by_window(items: Iterable[Item]) -> list[Item]:
    """Return one item for each window of each charge."""
    windows: list[Item] = []
    for item in items:
        windows += [item._replace(charge=window) for window in each_window(item.charge)]
    return windows


def out_of_phase(view: View, belief: Belief, charges: Sequence[Charge]) -> frozenset[int]:
    """Return the numbers of windows at another phase of the belief's period.

    Clocks were changed between them and the belief's own: the matrices in between are not those of its period.
    """
    if not is_recording(belief) or belief.chain.period == 1:
        return frozenset()
    period, chain = belief.chain.period, belief.chain
    native_places = [charge.at for charge in charges if charge.at is not None and view.is_native(charge)]
    if not native_places:
        return frozenset()
    phase = chain.phase(native_places[0])
    numbers = set()
    for number, charge in enumerate(charges):
        for size, place in charge.phases:
            if (place - phase) % math.gcd(size, period):
                numbers.add(number)
    return frozenset(numbers)


def _steps_before(view: View, belief: Recording, items: Sequence[Item]) -> int | None:
    """Count the steps from the first window to the belief's first entry.

    None where that is unknown. The number matters only where the law of a step depends on its place in a period: a
    belief says which place its own windows have. Without declared places all read from the first entry on.
    """
    period, places = belief.chain.period, [several(item.charge).places for item in items]
    if period == 1 or not any(map(len, places)):
        return 0
    first_starts, native_starts = [], []
    for item, starts in zip(items, places, strict=True):
        if not len(starts):
            starts = np.zeros(1, dtype=np.int64)
        first_starts.append(int(starts[0]))
        if view.is_native(item.charge):
            native_starts.append(starts)
    if not native_starts:
        return None
    steps = np.concatenate(native_starts) - min(first_starts)
    if len(np.unique(steps % period)) > 1:
        return None
    return int(steps.min())


def laid_out(view: View, belief: Recording, items: Sequence[Item]) -> tuple[Belief, list[IntArray]] | None:
    """Return one belief about a whole reading, and each release's changes there.

    None where the releases' places are unknown. A shorter sequence without a declared place starts where the longer one
    does: a length is not a new belief.
    """
    places = [item.charge.at or 0 for item in items]
    changes = [item.read.changes for item in items]
    first = min(places)
    is_shifted = max(places) > first
    before = _steps_before(view, belief, items)
    if before is None:
        return None
    if not is_shifted and not before and set(map(len, changes)) == {belief.size}:
        return belief, changes
    if is_shifted and belief.chain.starts_anyhow:
        return None  # its first step is not that of the recording
    if is_shifted and belief.has_given_start:
        native_places = {item.charge.at for item in items if view.is_native(item.charge)}
        if native_places != {first}:
            return None
    if all(_is_one_run(view, belief, item.charge) for item in items):
        size = max(place - first + len(row) for place, row in zip(places, changes, strict=True))
        longer = belief.chain.from_step(-before, size)
        if type(longer) is not type(belief.chain):  # an inherited one is another law
            return None
        moved = []
        for place, row in zip(places, changes, strict=True):
            whole_row = np.zeros(size, dtype=np.int64)
            whole_row[place - first : place - first + len(row)] = row
            moved.append(whole_row)
        return longer, moved
    pieces = _common_runs(view, belief, items)
    if not is_shifted and not before and pieces is not None and belief.in_pieces:
        return IndependentPieces(belief.chain, map(len, pieces)), changes
    return None


def _is_one_run(view: View, belief: Recording, charge: Charge) -> bool:
    runs = view.runs(belief, charge)
    return runs is not None and len(runs) == 1


def _common_runs(view: View, belief: Recording, items: Sequence[Item]) -> tuple[range, ...] | None:
    """Return the common runs of all releases, if any."""
    runs = {view.runs(belief, item.charge) for item in items}
    return runs.pop() if len(runs) == 1 else None


def in_one_place(belief: Recording, items: Sequence[Item]) -> bool:
    """Return whether all read the belief's very entries."""
    for item in items:
        is_moved = item.charge.at != items[0].charge.at or len(several(item.charge).places) > 1
        if is_moved or len(item.read.changes) != belief.size:
            return False
    return True


def placed(view: View, belief: Recording, items: Sequence[Item]) -> tuple[Belief, list[Windows]] | None:
    """Return one belief over all windows, and the windows of each charge.

    None where places are not declared, or windows are not one sequence each, or one has no noise, or moves less as a
    whole than its steps do, or a given start says that another step is the first one, or places in a period disagree.
    """
    for item in items:
        if item.charge.at is None or item.read.together is not None:
            return None
        if item.charge.scale == 0 and item.read.changes.any():
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
    if not charge.runs:
        return Windows(places, read.changes, [(read.grid / item.scale, 1)])
    rates = [(run.cost.rates.value, run.windows) for run in charge.runs if run.cost.rates is not None]
    return Windows(places, read.changes, rates, read.grid / entry_of(charge))


def worst_alignment(view: View, belief: Recording, family: Family, items: Sequence[Item]) -> tuple[Fraction, Witness]:
    """Return the joint cost of readings placed anywhere; no scale is 0."""
    unplaced, chain = unplaced_of(view, belief, readings_of_items(items)), belief.chain
    if type(chain.with_length(1)) is not type(chain):  # an inherited one is another law
        return unplaced.total, Witness("one step of the recording", "the near set is everything")
    return unplaced_loss(chain, family.pairs, unplaced)


class Row(NamedTuple):
    """A reading's steps by run, in units of `rate`, and its largest cost."""

    runs: tuple[IntArray, ...]
    rate: Fraction
    most: Fraction


def unplaced_of(view: View, belief: Recording, groups: Sequence[Sequence[Item]]) -> Unplaced:
    """Return the pieces of all readings, with equal ones added up."""
    rows: list[Row] = []
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
        inverse = sum((times / scale for scale, times in scales.items()), Fraction(0))
        runs = _different(item.read.changes, view.runs(belief, item.charge))
        rows.append(Row(runs, item.read.grid * inverse, item.read.total * inverse))
    sums: dict[Hashable, Row] = {}
    for row in rows:
        key = tuple(run.tobytes() for run in row.runs)
        if key in sums:
            row = Row(row.runs, sums[key].rate + row.rate, sums[key].most + row.most)
        sums[key] = row
    pieces, total = [], Fraction(0)
    for row in sums.values():
        piece = Pieces(tuple(np.concatenate([[0], np.cumsum(run)]) for run in row.runs), row.rate)
        pieces.append(piece)
        total += min(piece.total * piece.unit, row.most)
    return Unplaced(tuple(pieces), total)


def _together(view: View, belief: Recording, group: Sequence[Item]) -> Row | None:
    """Return the costs of releases at common or known places, or None."""
    most = sum((item.read.total / item.scale for item in group), Fraction(0))
    windows = placed(view, belief, group)
    if windows is not None:
        steps, unit = piled(windows[1])
        return Row((steps.numbers,), unit, most)
    items = window_by_window(group)
    layout = laid_out(view, belief, items)
    if layout is None:
        return None
    longer, moved = layout
    costs = joint_change([(row, item.scale / item.read.grid) for row, item in zip(moved, items, strict=True)])
    runs: Sequence[range] | None
    if longer is belief:
        runs = _common_runs(view, belief, items)
    else:
        runs = longer.components()
    return Row(_different(costs.each.numbers, runs), costs.unit, most)


def _different(steps: IntArray, runs: Sequence[range] | None) -> tuple[IntArray, ...]:
    """Return the different runs of steps.

    Without runs, sequences may lie side by side in any order: then the steps that move most stand together.
    """
    if runs is None:
        return (np.sort(steps)[::-1].copy(),)
    parts = {}
    for run in runs:
        part = steps[run.start : run.stop]
        parts[part.tobytes()] = part
    return tuple(parts.values())
