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

from takifugu.accounting.composition.alignment import (
    Item,
    in_one_place,
    laid_out,
    out_of_phase,
    placed,
)
from takifugu.accounting.composition.losses import NO_NOISE, dearest_run, loss, plain, steady_cost, whole_cost
from takifugu.accounting.composition.piling import Windows, piled, standing_in
from takifugu.accounting.composition.several import STEADY
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Release
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.beginnings import beginning
from takifugu.influence.curves import joint_loss
from takifugu.influence.stretched import stretched_loss
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.secrets.families import Family
from takifugu.numbers.rationals import decimal_up


def cost_by_noise(view: View, charges: Sequence[Charge]) -> Fraction:
    """Return the largest joint loss of the noise over beliefs, components, entries and pairs."""
    for charge in charges:
        if charge.scale is None and charge.covers not in STEADY:
            raise CompositionRefused(
                "a release without Laplace noise has no cost by its noise alone", fix="use such noise"
            )
    worst = Fraction(0)
    first_delta = next((number for number, charge in enumerate(charges) if charge.delta), len(charges))
    for belief in view.framework.beliefs:
        for away in out_of_phase(view, belief, charges):
            wholes, terms = list[Charge](), list[Item]()
            for number, charge in enumerate(charges):
                read = None if number in away else view.read(belief, charge)
                if read is not None:
                    terms.append(Item(charge, read, number > first_delta))
                else:
                    # what is not read entry by entry, or lies at another phase (`alignment`), costs its whole change
                    wholes.append(charge)
                    is_lost = belief.names is None and charge.entries > 0 and view.is_native(charge)
                    if is_lost and number not in away:  # nothing says which entries it hides
                        wholes, terms = list(charges), []
                        break
            fixed = sum((whole_cost(view, charge) for charge in wholes), Fraction(0))
            worst = max(worst, fixed + max(_costs(view, belief, terms), default=Fraction(0)))
    return worst


def _costs(view: View, belief: Belief, terms: Sequence[Item]) -> Iterator[Fraction]:
    """Yield the joint cost of each different component with a secret."""
    moving = [term for term in terms if term.read.changes.any()]
    if not moving:
        return
    if not is_recording(belief):
        yield from _costs_in_place(view, belief, belief, moving)
        return
    # what moves nothing costs nothing, but still says where its entries are, and so which are secret
    windows = None
    if not in_one_place(belief, terms):
        windows = placed(view, belief, terms)
    if windows is not None:
        yield from _costs_of_windows(view, belief, *windows, terms)
        return
    layout = laid_out(view, belief, terms)
    if layout is None:
        yield from _costs_anywhere(view, belief, moving)
        return
    longer, rows = layout
    shifted = [term._replace(read=term.read.laid_out(row)) for term, row in zip(terms, rows, strict=True)]
    yield from _costs_in_place(view, belief, longer, shifted)


def _split(view: View, terms: Iterable[Item], reach: Callable[[Item], Fraction]) -> tuple[Fraction, list[Item]]:
    """Return the cost with any quilt, and the releases to be searched."""
    fixed, searched = Fraction(0), []
    for term in terms:
        if term.is_searched:
            searched.append(term)
        elif term.charge.scale is None:
            fixed += steady_cost(view, term.charge)
        else:
            # noise that may have been chosen after a delta
            fixed += loss(reach(term), term.charge)
    return fixed, searched


def _trivial(terms: Iterable[Item], reach: Callable[[Item], Fraction]) -> Fraction:
    """Return the cost of searched releases by the trivial quilt."""
    return sum((loss(reach(term), term.charge) for term in terms), Fraction(0))


def _costs_in_place(view: View, belief: Belief, longer: Belief, terms: Sequence[Item]) -> Iterator[Fraction]:
    """Yield the joint costs of releases about `longer`; beginnings of a piece cost no more than it."""
    pieces = dict[Hashable, tuple[Part, Sequence[Item]]]()  # holds the pieces, so that an id stays theirs
    # else it is about another length, in which every step counts
    if longer is belief:
        runs = list(view.secret_runs(belief, [term.read for term in terms]))
    else:
        runs = list(_all_runs(view, belief, longer))
    for number, run, family in runs:
        piece = longer.component(number)
        shares = [term._replace(read=term.read.of_run(run)) for term in terms]
        key = _beginning(piece, family, shares) if len(runs) > 1 else None
        key = key or (id(piece), family, *(term.read.effect for term in shares))
        if key not in pieces or len(run) > pieces[key][0].belief.size:
            pieces[key] = Part(piece, standing_in(len(run)), family, run.start), shares
    for part, read in pieces.values():
        yield _part_cost(view, part, read)


def _beginning(piece: Belief, family: Family, shares: Sequence[Item]) -> Hashable | None:
    """Return a key that is equal for beginnings of one piece, where all its entries count alike."""
    answers = [term.read.answer for term in shares]
    known = [answer for answer in answers if answer is not None]
    return beginning(piece, family, known) if len(known) == len(answers) else None


def _costs_of_windows(
    view: View, belief: Recording, longer: Belief, windows: Sequence[Windows], terms: Sequence[Item]
) -> Iterator[Fraction]:
    """Yield the cost of windows among all steps of `longer`, by secret."""
    fixed, searched = _split(view, terms, lambda term: term.read.total)
    trivial = _trivial(searched, lambda term: term.read.total)
    first = min(int(series.starts[0]) for series in windows)
    # a window promises for every law of its own first step, so a recording may start anew before any step
    is_anywhere = any(bool((series.starts != first).any()) for series in windows)
    moving, pile = [], None
    for term, series in zip(terms, windows, strict=True):
        if term.is_searched and term.read.changes.any():
            moving.append(series)
    if moving:
        pile = piled(moving, first)
    secrets = view.framework.secrets
    for family in dict.fromkeys(_of_every_step(secret.family(belief), longer.size) for secret in secrets):
        if not family.has_any_pairs(longer):
            continue
        if pile is None:
            yield fixed
            continue
        recording = longer.with_length(pile[0].size)  # type: ignore[attr-defined]
        cost, _ = stretched_loss(recording, family.pairs, *pile, is_anywhere, family.run) or (trivial, None)
        yield fixed + min(plain(cost), trivial)


def _of_every_step(family: Family, size: int) -> Family:
    """Return a family's comparisons at every step of a recording."""
    return Family(range(size), family.pairs, run=family.run)


def _all_runs(view: View, belief: Belief, longer: Belief) -> Iterator[tuple[int, range, Family]]:
    """Yield every run of `longer` with its secret pairs in `belief`'s numbers."""
    for secret in view.framework.secrets:
        compared = secret.family(belief)
        for number, run in enumerate(longer.components()):
            family = _of_every_step(compared, len(run))
            if family.has_any_pairs(longer.component(number)):
                yield number, run, family


def _costs_anywhere(view: View, belief: Recording, terms: Sequence[Item]) -> Iterator[Fraction]:
    """Yield the cost of sequences that are not known to lie in one recording: of each its dearest piece changes."""
    if next(view.secret_runs(belief, []), None) is None:
        return
    total = Fraction(0)
    for charge, read, _ in terms:
        if charge.scale is None:
            total += whole_cost(view, charge)
        else:
            total += loss(dearest_run(view, belief, charge, read), charge)
    yield total


def _reach(term: Item) -> Fraction:
    """Return the largest change of an answer by all its entries."""
    return term.read.reach(range(len(term.read.changes)))


def _part_cost(view: View, part: Part, shares: Sequence[Item]) -> Fraction:
    fixed, searched = _split(view, filter(_reach, shares), _reach)
    releases = []
    for term in searched:
        read = term.read
        releases.append(Release(read.changes, term.scale / read.grid, read.answer, read.together))
    cost = None
    if releases:
        with suppress(Unsupported):
            bound, _ = joint_loss(part, releases)
            if not math.isinf(bound):
                cost = plain(decimal_up(Fraction(bound)))
    if not all(term.scale for term in searched):
        if cost is None:
            raise CompositionRefused(NO_NOISE)
        return fixed + cost
    trivial = _trivial(searched, _reach)
    return fixed + (trivial if cost is None else min(cost, trivial))
