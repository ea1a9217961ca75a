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
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from operator import mul

from takifugu.accounting.composition.alignment import (
    Item,
    in_one_place,
    is_one_reading,
    laid_out,
    out_of_phase,
    placed,
    readings_of_items,
    window_by_window,
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
from takifugu.accounting.composition.several import STEADY
from takifugu.accounting.composition.views import View
from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Moving
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.curves import Release, joint_loss
from takifugu.influence.stretched import stretched_loss
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.secrets.families import Family
from takifugu.numbers.rationals import decimal_up

Cost = tuple[Fraction, Witness | None]


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
        fixed, is_lost = Fraction(0), False
        terms: list[Item] = []
        for number, charge in enumerate(charges):
            read = None if number in places else view.read(belief, charge)
            if read is not None:
                terms.append(Item(charge, read, late[number]))
                continue
            fixed += whole_cost(view, charge)
            is_lost = is_lost or (charge.entries > 0 and view.is_native(charge))
        worst = max(worst, fixed)
        for cost, cost_witness in _costs(view, belief, terms, is_lost):
            if fixed + cost >= worst:
                worst, witness = fixed + cost, cost_witness
    return Joint(worst, deltas(charges), "joint loss", Covers.ENTRIES, witness)


def _costs(view: View, belief: Belief, terms: Sequence[Item], is_lost: bool) -> Iterator[Cost]:
    """Yield the joint cost of each different component with a secret.

    A release that moves nothing costs nothing, but still says where the entries of its framework are, and so which of
    them are secret. With `is_lost` one of them does not, because its query reads no single entries.
    """
    moving = [term for term in terms if term.read.changes.any()]
    if not moving:
        return
    is_anywhere = is_lost or not is_one_reading([term.charge for term in terms])
    if not is_recording(belief):
        if is_anywhere and belief.names is None:
            yield from _costs_of_anybody(view, belief, moving)
        else:
            yield from _costs_in_place(view, belief, belief, moving)
        return
    if is_anywhere:
        yield from _costs_anywhere(view, belief, moving)
        return
    windows = None
    if not in_one_place(belief, terms):
        windows = placed(view, belief, terms)
    if windows is not None:
        yield from _costs_of_windows(view, belief, *windows, terms)
        return
    by_window = window_by_window(terms)
    layout = laid_out(view, belief, by_window)
    if layout is None:
        yield from _costs_anywhere(view, belief, moving)
        return
    longer, rows = layout
    shifted = [term._replace(read=term.read.laid_out(row)) for term, row in zip(by_window, rows, strict=True)]
    yield from _costs_in_place(view, belief, longer, shifted)


def _split(view: View, terms: Iterable[Item], reach: Callable[[Item], Fraction]) -> tuple[Fraction, list[Item]]:
    """Return the cost with any quilt, and the releases to be searched.

    Paid are promises without Laplace noise, and the `reach` of noise that may have been chosen after a delta.
    """
    fixed, searched = Fraction(0), []
    for term in terms:
        if term.is_searched:
            searched.append(term)
        elif term.charge.scale is None:
            fixed += steady_cost(view, term.charge)
        else:
            fixed += loss(reach(term), term.charge)
    return fixed, searched


def _trivial(terms: Iterable[Item], reach: Callable[[Item], Fraction]) -> Fraction:
    """Return the cost of searched releases by the trivial quilt."""
    return sum((loss(reach(term), term.charge) for term in terms), Fraction(0))


def _with_noise(terms: Iterable[Item]) -> Iterator[Item]:
    """Yield all releases; refuse one without any noise."""
    for term in terms:
        if term.charge.scale == 0:
            raise CompositionRefused(NO_NOISE)
        yield term


def _costs_in_place(view: View, belief: Belief, longer: Belief, terms: Sequence[Item]) -> Iterator[Cost]:
    """Yield the joint costs of releases about the entries of `longer`.

    The belief `longer` is `belief` itself, whose secrets are known, or is about another length, in which every step
    counts.
    """
    pieces = dict[Hashable, Belief]()  # holds the pieces, so that an id stays theirs
    if longer is belief:
        secret_runs = view.secret_runs(belief, [term.read for term in terms])
    else:
        secret_runs = _all_runs(view, belief, longer)
    for number, run, family in secret_runs:
        piece = longer.component(number)
        shares = [term._replace(read=term.read.of_run(run)) for term in terms]
        key = (id(piece), family, *(term.read.effect for term in shares))
        if key not in pieces:
            pieces[key] = piece
            yield _part_cost(view, Part(piece, standing_in(len(run)), family, run.start), shares)


def _costs_of_windows(
    view: View, belief: Recording, longer: Belief, windows: Sequence[Windows], terms: Sequence[Item]
) -> Iterator[Cost]:
    """Yield the cost of windows among all steps of `longer`, by secret."""
    fixed, searched = _split(view, terms, lambda term: term.read.total)
    trivial = _trivial(searched, lambda term: term.read.total)
    moving, pile = [], None
    for term, series in zip(terms, windows, strict=True):
        if term.is_searched and term.read.changes.any():
            moving.append(series)
    if moving:
        pile = piled(moving, min(int(series.starts[0]) for series in windows))
    for pairs in dict.fromkeys(secret.family(belief).pairs for secret in view.framework.secrets):
        family = Family(range(longer.size), pairs)
        if not family.has_any_pairs(longer):
            continue
        if pile is None:
            yield fixed, None
            continue
        recording = longer.with_length(pile[0].size)  # type: ignore[attr-defined]
        cost, witness = stretched_loss(recording, pairs, *pile) or (trivial, None)
        yield fixed + min(plain(cost), trivial), witness


def _all_runs(view: View, belief: Belief, longer: Belief) -> Iterator[tuple[int, range, Family]]:
    """Yield every run of `longer` with its secret pairs in `belief`'s numbers."""
    for secret in view.framework.secrets:
        pairs = secret.family(belief).pairs
        for number, run in enumerate(longer.components()):
            family = Family(range(len(run)), pairs)
            if family.has_any_pairs(longer.component(number)):
                yield number, run, family


def _costs_anywhere(view: View, belief: Recording, terms: Sequence[Item]) -> Iterator[Cost]:
    """Yield the cost of sequences without a known start, by secret."""

    def largest_run(term: Item) -> Fraction:
        charge, read = term.charge, term.read
        runs = view.runs(belief, charge)
        if runs is None:
            return read.total
        return min(read.total, max(int(read.changes[run.start : run.stop].sum()) for run in runs) * read.grid)

    fixed, searched = _split(view, _with_noise(terms), largest_run)
    if next(view.secret_runs(belief, []), None) is None:
        return
    for secret in view.framework.secrets:
        cost, witness = Fraction(0), None
        if searched:
            cost, witness = worst_alignment(view, belief, secret.family(belief), searched)
        yield fixed + plain(cost), witness


def _costs_of_anybody(view: View, belief: Belief, terms: Sequence[Item]) -> Iterator[Cost]:
    """Yield the cost of components without names.

    In each reading one may be the component that moves the answers most: as after a delta, it changes as a whole.
    """
    if next(view.secret_runs(belief, []), None) is None:
        return
    total, searched = _split(view, _with_noise(term._replace(is_late=False) for term in terms), _reach)
    for reading in readings_of_items(searched):
        rates = dict[Hashable, Fraction]()
        rows = dict[Hashable, list[int]]()
        for charge, read, _ in reading:
            key = (read.changes.tobytes(), read.grid)
            rows[key] = by_component(belief, read.changes).tolist()
            rates[key] = rates.get(key, Fraction(0)) + read.grid / (charge.scale or 1)
        costs = []
        for moves in set(zip(*rows.values(), strict=True)):
            costs.append(sum(map(mul, moves, rates.values()), Fraction(0)))
        total += max(costs)
    yield total, Witness("one user", "whoever moves each answer most")


def _reach(term: Item) -> Fraction:
    """Return the largest change of an answer by all its entries."""
    return min(int(term.read.changes.sum()) * term.read.grid, term.read.total)


def _part_cost(view: View, part: Part, shares: Sequence[Item]) -> Cost:
    fixed, searched = _split(view, filter(_reach, shares), _reach)
    releases = []
    for term in searched:
        read = term.read
        scale = term.scale / read.grid
        moving = None if read.together is None else Moving((read.changes, scale), read.together)
        releases.append(Release(read.changes, scale, read.answer, moving))
    cost, witness = None, None
    if releases:
        with suppress(Unsupported):
            bound, bound_witness = joint_loss(part, releases)
            if not math.isinf(bound):
                cost, witness = plain(decimal_up(Fraction(bound))), bound_witness
    if not all(term.scale for term in searched):
        if cost is None:
            raise CompositionRefused(NO_NOISE)
        return fixed + cost, witness
    trivial = _trivial(searched, _reach)
    if cost is None or cost >= trivial:
        cost = trivial
    return fixed + cost, witness
