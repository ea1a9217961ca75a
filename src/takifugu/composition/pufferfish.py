"""The joint promise of releases under a Pufferfish framework: whole, data, quilt and single releases (DESIGN §4).

Why each rule holds, for a secret pair (a, b) about entry i under one belief, releases k = 1..K:

* Laplace noise of scale b_k gives, at every transcript, densities whose ratio is at most exp(sum_k D_k(N)/b_k) when
  only the entries in N change. With a quilt Q around a near set N that holds i, P(x_Q | a)/P(x_Q | b) <= e^{e(Q)}, so
  the transcript's ratio is at most exp(e(Q) + sum_k D_k(N)/b_k) (004 Theorem 4.3 for K = 1). It holds pointwise, so Q
  may depend on the transcript, and so may later queries and scales.
* A `data` or `whole` release without a Laplace scale changes by (epsilon, delta) when N changes; it is added with its
  own epsilon. With delta > 0 nothing holds pointwise: Q must be fixed before that output is seen, so a Laplace release
  that was chosen later is charged for the change of its whole component.
* A `single` promise is about the law of its output given a and given b. A `whole` release has a density between m(w)
  and e^epsilon m(w) for some m that does not depend on the data, so it multiplies any such promise by e^epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from operator import or_
from typing import Any

from takifugu.beliefs import Belief
from takifugu.composition.charges import View
from takifugu.errors import CompositionRefused, Unsupported
from takifugu.guarantee import Charge, Composition
from takifugu.laws.rationals import to_text
from takifugu.mechanisms.base import Part, Witness
from takifugu.mechanisms.entry import decimal_up
from takifugu.queries import Additive, IntArray

STEADY = (Composition.WHOLE, Composition.DATA)
REMEDY = (
    "recalibrate the queries as one joint query, or use a mechanism that composes ('group', 'quilt-exact') for all of "
    "them"
)
NO_NOISE = "a release without any noise costs infinitely much beside others"


@dataclass(frozen=True)
class Joint:
    """What releases promise together under one framework, and by which rule.

    `composition` says how the set adds up with further releases; `leans_on_single` says that an output-law promise is
    part of it, so that anything else that reads the same data must be whole.
    """

    epsilon: Fraction
    delta: Fraction
    rule: str
    composition: Composition
    witness: Witness | None = None

    @property
    def leans_on_single(self) -> bool:
        return self.composition is Composition.SINGLE


def joint_promise(view: View, charges: Sequence[Charge], recharge: bool) -> Joint:
    """Return the least proven joint promise; raises CompositionRefused where there is none."""
    singles = [i for i, c in enumerate(charges) if c.composition is Composition.SINGLE and view.is_native(c)]
    return _with_singles(view, charges, singles, recharge) if singles else _without_singles(view, charges)


def _without_singles(view: View, charges: Sequence[Charge]) -> Joint:
    steady = [c for c in charges if c.composition in STEADY]
    others = [i for i, c in enumerate(charges) if c.composition not in STEADY]
    promised = sum((steady_cost(view, c) for c in steady), Fraction(0))
    if not others:
        whole = all(c.composition is Composition.WHOLE for c in steady)
        return Joint(promised, _deltas(charges), "sum", Composition.WHOLE if whole else Composition.DATA)
    rest = charges[others[0]]
    if len(charges) == 1 and view.is_native(rest):
        return Joint(rest.epsilon, rest.delta, "alone", Composition.QUILT)
    found: list[Joint] = []
    in_time = len(others) == 1 and view.is_native(rest) and not _late(charges)[others[0]]
    if in_time and all(c.composition is Composition.WHOLE for c in steady):
        found.append(Joint(promised + rest.epsilon, _deltas(charges), "sum", Composition.QUILT))
    try:
        found.append(quilt_cost(view, charges))
    except CompositionRefused:
        if not found:
            raise
    best = min(found, key=lambda joint: joint.epsilon)
    # Never below what some of them cost without the others: one more release must not make the set cheaper.
    least = max([promised, *(charges[i].epsilon for i in others if view.is_native(charges[i]))])
    return replace(best, epsilon=max(best.epsilon, least))


def _with_singles(view: View, charges: Sequence[Charge], singles: Sequence[int], recharge: bool) -> Joint:
    single = charges[singles[0]]
    others = [c for i, c in enumerate(charges) if i != singles[0]]
    late = _late(charges)[singles[0]]
    reason = _why_single_stands_alone(single, others, late)
    found: list[Joint] = []
    refused = ""
    if not reason and not (recharge and single.scope == "pooled"):
        found.append(_single_and_wholes(view, charges, single, others))
    if reason or recharge:
        if len(singles) == 1 and single.scope == "unit" and not late:
            refused = _try(found, lambda: _single_and_wholes(view, charges, single, others))
        refused = _try(found, lambda: quilt_cost(view, charges)) or refused
    if found and (recharge or not reason):
        return min(found, key=lambda joint: joint.epsilon)
    if found:
        cost = min(joint.epsilon for joint in found)
        price = f"recharging them by their noise alone (recharge=True) would cost epsilon {float(cost):.4g} in all"
    else:
        price = f"their noise alone gives no bound: {refused}"
    raise CompositionRefused(f"{reason}; {REMEDY}; {price}")


def _why_single_stands_alone(single: Charge, others: Sequence[Charge], late: bool) -> str:
    """Return why an output-law promise has no joint promise with the others, or nothing where it has one."""
    kinds = sorted({str(o.composition) for o in others if o.composition is not Composition.WHOLE})
    if kinds:
        scopes = {c.scope for c in (single, *others) if c.composition is Composition.SINGLE}
        pooled = " over several units" if "pooled" in scopes else ""
        return (
            f"a release{pooled} that promises something about its own output's law only (kind 'single', epsilon "
            f"{to_text(single.epsilon)}) has no joint promise with another of kind {' or '.join(map(repr, kinds))} "
            "about the same data, before or after it: together they may reveal what neither does alone"
        )
    if late:
        return (
            "a release of kind 'single' was chosen when the output of a release with delta > 0 could be seen: they add "
            "only if its query and noise were fixed before"
        )
    return ""


def _single_and_wholes(view: View, charges: Sequence[Charge], single: Charge, others: Sequence[Charge]) -> Joint:
    total = single.epsilon + sum((whole_cost(view, o) for o in others), Fraction(0))
    return Joint(total, _deltas(charges), "single and whole" if others else "alone", Composition.SINGLE)


def _try(found: list[Joint], rule: Callable[[], Joint]) -> str:
    try:
        found.append(rule())
    except CompositionRefused as refusal:
        return str(refusal)
    return ""


def _deltas(charges: Sequence[Charge]) -> Fraction:
    return sum((c.delta for c in charges), Fraction(0))


def _late(charges: Sequence[Charge]) -> tuple[bool, ...]:
    """Say of each charge whether it may have been chosen after an output with delta > 0 was seen."""
    seen = accumulate((c.delta > 0 for c in charges), or_, initial=False)
    return tuple(before and not c.fixed_in_advance for c, before in zip(charges, seen, strict=False))


def steady_cost(view: View, charge: Charge) -> Fraction:
    """Return what a whole or data release costs under a framework when it is added to others of these kinds."""
    if charge.composition is Composition.WHOLE:
        return whole_cost(view, charge)
    if charge.scale is None:
        return _stored(view, charge)
    costs = [charge.epsilon] if view.is_native(charge) else [Fraction(0)]
    for belief, answer in zip(view.framework.beliefs, view.answers(charge), strict=True):
        if answer is None:
            costs.append(whole_cost(view, charge))
            continue
        changes = answer.entry_changes()
        for _, run, _ in view.secret_runs(belief, [answer]):
            costs.append(_loss(int(changes[run.start : run.stop].sum()) * answer.grid, charge))
    return max(costs)


def whole_cost(view: View, charge: Charge) -> Fraction:
    """Return the loss of a release when every entry may change at will: sum of D over all entries, over the scale."""
    if charge.scale is None:
        if charge.composition is not Composition.WHOLE:
            raise CompositionRefused(
                f"a release of kind {str(charge.composition)!r} without Laplace noise has no cost for a change of "
                "the whole data: use Laplace noise (delta = 0)"
            )
        return _stored(view, charge)
    read = [a for a in view.answers(charge) if a is not None]
    reach = max([charge.change, *(int(a.entry_changes().sum()) * a.grid for a in read)])
    cost = _loss(reach, charge)
    keeps = charge.composition is Composition.WHOLE and view.is_native(charge)
    return max(cost, charge.epsilon) if keeps else cost


def _stored(view: View, charge: Charge) -> Fraction:
    pieces = charge.composition is Composition.WHOLE or view.has_pieces_of(charge)
    if pieces and view.reads_alike(charge):
        return charge.epsilon
    raise CompositionRefused(
        f"a release of kind {str(charge.composition)!r} without Laplace noise was calibrated for other states, entries "
        "or pieces than this framework has: calibrate it for beliefs that read the query alike, or use Laplace noise"
    )


def _loss(reach: int | Fraction, charge: Charge) -> Fraction:
    if reach == 0:
        return Fraction(0)
    if not charge.scale:
        raise CompositionRefused(NO_NOISE)
    return reach / charge.scale


def quilt_cost(view: View, charges: Sequence[Charge]) -> Joint:
    """Return max over beliefs, components, entries and pairs of min over quilts of e(Q) + sum_k D_k(N)/b_k.

    Chains are searched over all quilts; other beliefs have the trivial quilt (the whole component) only.
    """
    for c in charges:
        if c.scale is None and c.composition not in STEADY:
            raise CompositionRefused("a release without Laplace noise has no cost by its noise alone; use such noise")
    worst, witness, late = Fraction(0), None, _late(charges)
    answers = [view.answers(c) for c in charges]
    for number, belief in enumerate(view.framework.beliefs):
        read = [a[number] for a in answers]
        fixed = sum((whole_cost(view, c) for c, a in zip(charges, read, strict=True) if a is None), Fraction(0))
        worst = max(worst, fixed)
        if all(a is None for a in read):
            continue
        for part, shares in _parts(view, belief, read):
            cost, found = _part_cost(view, part, charges, shares, late)
            if fixed + cost >= worst:
                worst, witness = fixed + cost, found
    return Joint(worst, _deltas(charges), "joint quilts", Composition.QUILT, witness)


def _part_cost(
    view: View, part: Part, charges: Sequence[Charge], shares: Sequence[Additive | None], late: Sequence[bool]
) -> tuple[Fraction, Witness | None]:
    fixed, trivial, terms, exact = Fraction(0), Fraction(0), [], False
    for charge, share, chosen_late in zip(charges, shares, late, strict=True):
        if share is None:
            continue
        changes = share.entry_changes()
        reach = int(changes.sum()) * share.grid
        if reach == 0:
            continue
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif chosen_late:
            fixed += _loss(reach, charge)
        else:
            exact = exact or charge.scale == 0
            trivial += _loss(reach, charge) if charge.scale else 0
            terms.append((changes, charge.scale / share.grid))
    searched = _search(part, terms) if terms else None
    if searched is None and exact:
        raise CompositionRefused(NO_NOISE)
    if searched is None or (searched[0] >= trivial and not exact):
        return fixed + trivial, searched[1] if searched else None
    return fixed + searched[0], searched[1]


def _search(part: Part, terms: Sequence[tuple[IntArray, Fraction]]) -> tuple[Fraction, Witness] | None:
    """Return the joint cost over all quilts of a chain, rounded up to a short decimal; None for other beliefs."""
    from takifugu.mechanisms.chain_quilts import joint_cost

    try:
        cost, witness = joint_cost(part, terms)
    except Unsupported:
        return None
    return None if math.isinf(cost) else (decimal_up(Fraction(cost)), witness)


def _parts(
    view: View, belief: Belief, answers: Sequence[Additive | None]
) -> Iterator[tuple[Part, list[Additive | None]]]:
    """Yield the different components that hold a secret, with every release's share of its answer in them."""
    seen: dict[Any, Belief] = {}  # holds the pieces, so that an id stays theirs
    for number, run, local in view.secret_runs(belief, answers):
        piece = belief.component(number)
        shares = [None if a is None else a.restrict(slice(run.start, run.stop)) for a in answers]
        key = (id(piece), local, tuple(None if s is None else s.key for s in shares))
        if key not in seen:
            seen[key] = piece
            yield Part(piece, next(s for s in shares if s is not None), local, run.start), shares
