"""What the noise of several releases costs together, whatever they promised (docs/decisions.md#composition).

For a secret pair (a, b) about entry i under one belief, Laplace noise of scale b_k gives, at every transcript,
densities whose ratio is at most exp(sum_k D_k(N)/b_k) when only the entries in N change. With a quilt Q around a near
set N that holds i, P(x_Q | a)/P(x_Q | b) <= e^{e(Q)}, so the transcript's ratio is at most
exp(e(Q) + sum_k D_k(N)/b_k) (Song17 Theorem 4.3 for K = 1). It holds pointwise, so Q may depend on the transcript, and
so may later queries and scales. With delta > 0 nothing holds pointwise: Q must be fixed before that output is seen, so
a Laplace release that was chosen later is charged for the change of its whole component.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from takifugu.accounting.composition.alignment import (
    Item,
    in_one_place,
    is_one_reading,
    laid_out,
    out_of_phase,
    placed,
    readings,
    worst_alignment,
)
from takifugu.accounting.composition.losses import (
    NO_NOISE,
    Joint,
    by_component,
    chosen_late,
    deltas,
    loss,
    plain,
    steady_cost,
    whole_cost,
)
from takifugu.accounting.composition.piling import Windows, piled, standing_in
from takifugu.accounting.composition.several import STEADY, each_window
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Part, Witness
from takifugu.analysis.questions.influence import Moving
from takifugu.core.arrays import IntArray
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.curves import Release, joint_loss
from takifugu.influence.stretched import stretched_loss
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.secrets.families import Family
from takifugu.numbers.rationals import decimal_up


def cost_by_noise(view: View, charges: Sequence[Charge]) -> Joint:
    """Return the worst case's min over quilts of e(Q) + sum_k D_k(N)/b_k.

    The worst case is over beliefs, components, entries and pairs. Chains and networks are searched over their quilts;
    other beliefs have the trivial quilt (the whole component) only. Releases that are not known to read the same
    entries are taken at their worst alignment (`alignment`).
    """
    for c in charges:
        if c.scale is None and c.covers not in STEADY:
            raise CompositionRefused(
                "a release without Laplace noise has no cost by its noise alone", fix="use such noise"
            )
    worst, witness, late = Fraction(0), None, chosen_late(charges)
    for belief in view.framework.beliefs:
        places = out_of_phase(view, belief, charges)
        reads = [None if n in places else view.read(belief, c) for n, c in enumerate(charges)]
        fixed = sum((whole_cost(view, c) for c, read in zip(charges, reads, strict=True) if read is None), Fraction(0))
        worst = max(worst, fixed)
        terms = [(c, read, after) for c, read, after in zip(charges, reads, late, strict=True) if read is not None]
        lost = any(c.entries and view.is_native(c) for c, read in zip(charges, reads, strict=True) if read is None)
        for cost, cost_witness in _costs(view, belief, terms, lost):
            if fixed + cost >= worst:
                worst, witness = fixed + cost, cost_witness
    return Joint(worst, deltas(charges), "joint loss", Covers.ENTRIES, witness)

Term = tuple[Charge, Read, bool]
Cost = tuple[Fraction, Witness | None]


def _costs(view: View, belief: Belief, terms: Sequence[Term], lost: bool) -> Iterator[Cost]:
    """Yield the joint cost of each different component with a secret.

    A release that moves nothing costs nothing, but still says where the entries of its framework are, and so which of
    them are secret. With `lost` one of them does not, because its query reads no single entries.
    """
    moving = [term for term in terms if term[1].changes.any()]
    if not moving:
        return
    is_scattered = lost or not is_one_reading([charge for charge, _, _ in terms])
    if is_recording(belief):
        items = [Item(charge, read) for charge, read, _ in terms]
        if is_scattered or in_one_place(belief, items):
            windows = None
        else:
            windows = placed(view, belief, items)
        if windows is not None:
            yield from _costs_of_windows(view, belief, *windows, terms)
            return
        terms = list(_each_window(terms))
        items = [Item(charge, read) for charge, read, _ in terms]
        layout = None if is_scattered else laid_out(view, belief, items)
        if layout is None:
            yield from _costs_anywhere(view, belief, moving)
            return
        longer, rows = layout
        shifted = [(c, read.laid_out(row), after) for (c, read, after), row in zip(terms, rows, strict=True)]
        yield from _costs_in_place(view, belief, longer, shifted)
    elif is_scattered and belief.names is None:
        yield from _costs_of_anybody(view, belief, moving)
    else:
        yield from _costs_in_place(view, belief, belief, moving)


def _each_window(terms: Iterable[Term]) -> Iterator[Term]:
    for series, read, after in terms:
        for charge in each_window(series):
            yield charge, read, after


def _costs_in_place(view: View, belief: Belief, longer: Belief, terms: Sequence[Term]) -> Iterator[Cost]:
    """Yield the joint costs of releases about the entries of `longer`.

    The belief `longer` is `belief` itself, whose secrets are known, or is about another length, in which every step
    counts.
    """
    reads = [read for _, read, _ in terms]
    pieces = dict[Hashable, Belief]()  # holds the pieces, so that an id stays theirs
    if longer is belief:
        secret_runs = view.secret_runs(belief, reads)
    else:
        secret_runs = _all_runs(view, belief, longer)
    for number, run, family in secret_runs:
        piece = longer.component(number)
        shares = [(c, read.of_run(run), after) for c, read, after in terms]
        key = (id(piece), family, tuple(map(_contribution, (read for _, read, _ in shares))))
        if key not in pieces:
            pieces[key] = piece
            yield _part_cost(view, Part(piece, standing_in(len(run)), family, run.start), shares)


def _costs_of_windows(
    view: View, belief: Recording, longer: Belief, windows: Sequence[Windows], terms: Sequence[Term]
) -> Iterator[Cost]:
    """Yield the cost of windows among all steps of `longer`, by secret."""
    fixed, trivial, moving = Fraction(0), Fraction(0), []
    for series, (charge, read, after) in zip(windows, terms, strict=True):
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif after:
            fixed += loss(read.total, charge)
        else:
            trivial += loss(read.total, charge)
            if read.changes.any():
                moving.append(series)
    pile = piled(moving, min(int(series.starts[0]) for series in windows)) if moving else None
    for pairs in dict.fromkeys(secret.family(belief).pairs for secret in view.framework.secrets):
        family = Family(range(longer.size), pairs)
        if not any(family.has_pairs(longer, entry) for entry in family.entries):
            continue
        if pile is None:
            yield fixed, None
            continue
        recording = longer.with_length(pile[0].size)  # type: ignore[attr-defined]
        searched = stretched_loss(recording, pairs, *pile)
        cost, witness = searched or (trivial, None)
        yield fixed + min(plain(cost), trivial), witness


def _all_runs(view: View, belief: Belief, longer: Belief) -> Iterator[tuple[int, range, Family]]:
    """Yield every run of `longer` with its secret pairs in `belief`'s numbers."""
    for secret in view.framework.secrets:
        pairs = secret.family(belief).pairs
        for number, run in enumerate(longer.components()):
            family = Family(range(len(run)), pairs)
            if any(family.has_pairs(longer.component(number), entry) for entry in family.entries):
                yield number, run, family


def _costs_anywhere(view: View, belief: Recording, terms: Sequence[Term]) -> Iterator[Cost]:
    """Yield the cost of sequences without a known start, by secret."""
    fixed, items = Fraction(0), []
    for charge, read, after in terms:
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif charge.scale == 0:
            raise CompositionRefused(NO_NOISE)
        elif after:
            fixed += loss(_largest_run(view, belief, charge, read), charge)
        else:
            items.append(Item(charge, read))
    for secret in view.framework.secrets:
        family = secret.family(belief)
        if next(iter(view.secret_runs(belief, [])), None) is None:
            continue
        if items:
            cost, witness = worst_alignment(view, belief, family, items)
        else:
            cost, witness = Fraction(0), None
        yield fixed + plain(cost), witness


def _largest_run(view: View, belief: Recording, charge: Charge, read: Read) -> Fraction:
    runs = view.runs(belief, charge)
    if runs is None:
        return read.total
    return min(read.total, max(int(read.changes[run.start : run.stop].sum()) for run in runs) * read.grid)


def _costs_of_anybody(view: View, belief: Belief, terms: Sequence[Term]) -> Iterator[Cost]:
    """Yield the cost of components without names.

    In each reading one may be the component that moves the answers most.
    """
    if next(iter(view.secret_runs(belief, [])), None) is None:
        return
    fixed, total = Fraction(0), Fraction(0)
    moving = []
    for charge, read, _ in terms:
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif charge.scale == 0:
            raise CompositionRefused(NO_NOISE)
        else:
            moving.append((charge, read))
    for reading in readings([charge for charge, _ in moving]):
        rows, rates = dict[Hashable, IntArray](), dict[Hashable, Fraction]()
        for number in reading:
            charge, read = moving[number]
            key = (read.changes.tobytes(), read.grid)
            rows[key] = by_component(belief, read.changes)
            rates[key] = rates.get(key, Fraction(0)) + read.grid / (charge.scale or 1)
        different = np.unique(np.stack(list(rows.values()), axis=1), axis=0)
        total += max(_weighed(row, rates.values()) for row in different)
    yield fixed + total, Witness("one user", "whoever moves each answer most")


def _weighed(moves: IntArray, rates: Iterable[Fraction]) -> Fraction:
    return sum((int(move) * rate for move, rate in zip(moves, rates, strict=True)), Fraction(0))


def _part_cost(view: View, part: Part, shares: Sequence[Term]) -> Cost:
    fixed, trivial, terms, exact = Fraction(0), Fraction(0), [], False
    for charge, read, after in shares:
        reach = min(int(read.changes.sum()) * read.grid, read.total)
        if reach == 0:
            continue
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif after:
            fixed += loss(reach, charge)
        else:
            exact = exact or charge.scale == 0
            trivial += loss(reach, charge) if charge.scale else 0
            scale = charge.scale / read.grid
            moving = None
            if read.together is not None:
                moving = Moving((read.changes, scale), read.together)
            terms.append(Release(read.changes, scale, read.answer, moving))
    searched = _search(part, terms) if terms else None
    if searched is None and exact:
        raise CompositionRefused(NO_NOISE)
    if searched is None or (searched[0] >= trivial and not exact):
        return fixed + trivial, searched[1] if searched else None
    return fixed + searched[0], searched[1]


def _contribution(read: Read) -> Hashable:
    """Return a key, equal for parts of equal effect on an answer."""
    return read.grid, read.changes.tobytes(), None if read.answer is None else read.answer.key


def _search(part: Part, terms: Sequence[Release]) -> tuple[Fraction, Witness] | None:
    """Return the joint cost by the best curve, rounded up; None: unbounded."""
    try:
        cost, witness = joint_loss(part, terms)
    except Unsupported:
        return None
    if math.isinf(cost):
        return None
    return plain(decimal_up(Fraction(cost))), witness
