"""Joint promises of Pufferfish releases of kind whole, data, quilt and single (docs/architecture.md#composition).

Why each rule holds, for a secret pair (a, b) about entry i under one belief, releases k = 1..K:

* Laplace noise of scale b_k gives, at every transcript, densities whose ratio is at most exp(sum_k D_k(N)/b_k) when
  only the entries in N change. With a quilt Q around a near set N that holds i, P(x_Q | a)/P(x_Q | b) <= e^{e(Q)}, so
  the transcript's ratio is at most exp(e(Q) + sum_k D_k(N)/b_k) (Song17 Theorem 4.3 for K = 1). It holds pointwise, so
  Q may depend on the transcript, and so may later queries and scales.
* A `data` or `whole` release without a Laplace scale changes by (epsilon, delta) when N changes; it adds its
  own epsilon. With delta > 0 nothing holds pointwise: Q must be fixed before that output is seen, so a Laplace release
  that was chosen later is charged for the change of its whole component.
* A `single` promise is about the law of its output given a and given b. A `whole` release has a density between m(w)
  and e^epsilon m(w) for some m that does not depend on the data, so it multiplies any such promise by e^epsilon.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from operator import or_
from typing import Any

import numpy as np

from takifugu.beliefs import Belief
from takifugu.beliefs.pair import LawPair
from takifugu.composition.alignment import Item, has_given_start, laid_out, readings, worst_alignment
from takifugu.composition.views import Read, Sequences, View
from takifugu.errors import CompositionRefused, Unsupported
from takifugu.guarantee import Charge, Composition
from takifugu.laws.rationals import decimal_up, to_text
from takifugu.problem import Part, Witness
from takifugu.queries import Additive, IntArray
from takifugu.secrets import Family

STEADY = (Composition.WHOLE, Composition.DATA)
REMEDY = (
    "recalibrate the queries as one joint query, or use a mechanism that composes ('group', 'quilt-exact') for all of "
    "them"
)
ELSEWHERE = (
    "a release of kind 'single' promises something about the secret entries of its own data only, and in the data of "
    "the other releases they may be other entries: publish both at once, or hide every entry"
)
NO_NOISE = "a release without any noise costs infinitely much beside others"


@dataclass(frozen=True)
class Joint:
    """What releases promise together under one framework, and by which rule.

    `composition` says how the set composes with further releases; `leans_on_single` says that an output-law promise is
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
    known: dict[Charge, Charge] = {}
    charges = [known.setdefault(c, c) for c in charges]  # equal ones are looked at once
    singles = [i for i, c in enumerate(charges) if c.composition is Composition.SINGLE and view.is_native(c)]
    return _with_singles(view, charges, singles, recharge) if singles else _without_singles(view, charges)


def _without_singles(view: View, charges: Sequence[Charge]) -> Joint:
    """Return the least of the proven bounds: the sum, where it is one, and the joint quilt cost.

    Both only grow with every further release. What one release promises alone may be below its quilt cost, so no set is
    cheaper than the costliest of its releases alone; then adding a release never makes a set cheaper.
    """
    steady = [c for c in charges if c.composition in STEADY]
    others = [i for i, c in enumerate(charges) if c.composition not in STEADY]
    is_placed = len(readings(charges)) <= 1
    each = {id(c): steady_cost(view, c, is_placed) for c in {id(c): c for c in steady}.values()}
    promised = sum((each[number] * times for number, times in Counter(map(id, steady)).items()), Fraction(0))
    whole = all(c.composition is Composition.WHOLE for c in steady)
    own = {number: _alone(view, c) for number, c in {id(c): c for c in charges}.items()}
    alone = [own[id(c)] for c in charges]
    if len(charges) == 1 and alone[0] is not None:
        return Joint(alone[0], charges[0].delta, "alone" if others else "sum", charges[0].composition)
    found: list[Joint] = []
    if not others:
        found.append(Joint(promised, _deltas(charges), "sum", Composition.WHOLE if whole else Composition.DATA))
    elif (
        whole and len(others) == 1 and alone[others[0]] is not None and not _late(charges)[others[0]]
        and _means_one_secret(view, charges)
    ):  # fmt: skip
        found.append(Joint(promised + charges[others[0]].epsilon, _deltas(charges), "sum", Composition.QUILT))
    refused = _try(found, lambda: quilt_cost(view, charges)) if charges else ""
    if not found:
        raise CompositionRefused(refused)
    best = min(found, key=lambda joint: joint.epsilon)
    return replace(best, epsilon=max([best.epsilon, *(one for one in own.values() if one is not None)]))


def _alone(view: View, charge: Charge) -> Fraction | None:
    """Return what a release promises alone under a framework that it was calibrated for; None for another one."""
    if not view.is_native(charge):
        return None
    return steady_cost(view, charge, is_placed=True) if charge.composition in STEADY else charge.epsilon


def _with_singles(view: View, charges: Sequence[Charge], singles: Sequence[int], recharge: bool) -> Joint:
    single = charges[singles[0]]
    others = [c for i, c in enumerate(charges) if i != singles[0]]
    late = _late(charges)[singles[0]]
    is_about_one = _means_one_secret(view, charges)
    reason = _why_single_stands_alone(single, others, late) or ("" if is_about_one else ELSEWHERE)
    found: list[Joint] = []
    refused = ""
    if not reason and not (recharge and single.scope == "pooled"):
        found.append(_single_and_wholes(view, charges, single, others))
    if reason or recharge:
        if len(singles) == 1 and single.scope == "unit" and not late and is_about_one:
            refused = _try(found, lambda: _single_and_wholes(view, charges, single, others))
        refused = _try(found, lambda: quilt_cost(view, charges)) or refused
    if found and (recharge or not reason):
        return min(found, key=lambda joint: joint.epsilon)
    if found:
        cost = min(joint.epsilon for joint in found)
        price = f"recharging them by their noise alone (recharge=True) would cost epsilon {float(cost):.4g} in all"
    else:
        price = f"their noise alone gives no bound: {refused}"
    raise CompositionRefused(f"{reason}", rule=f"{REMEDY}", fix=f"{price}")


def _why_single_stands_alone(single: Charge, others: Sequence[Charge], late: bool) -> str:
    """Return why an output-law promise has no joint promise with the others, or nothing where it has one."""
    kinds = sorted({str(o.composition) for o in others if o.composition is not Composition.WHOLE})
    if kinds:
        scopes = {c.scope for c in (single, *others) if c.composition is Composition.SINGLE}
        pooled = " over several units" if "pooled" in scopes else ""
        return (
            f"a release{pooled} that promises something about its own output's distribution only ('single', epsilon "
            f"{to_text(single.epsilon)}) has no joint promise with another of kind {' or '.join(map(repr, kinds))} "
            "about the same data, before or after it: together they may reveal what neither does alone"
        )
    if late:
        return (
            "a release of kind 'single' was chosen when the output of a release with delta > 0 could be seen: they "
            "compose only if its query and noise were fixed before"
        )
    return ""


def _means_one_secret(view: View, charges: Sequence[Charge]) -> bool:
    """Whether what one release promises about its own entries holds for the entry that a secret means in any other."""
    reading = [c for c in charges if c.entries]
    together = len(readings(reading)) <= 1 and len({c.at for c in reading}) <= 1
    return together or all(_promises_travel(view, belief) for belief in view.framework.beliefs)


def _promises_travel(view: View, belief: Belief) -> bool:
    """Whether a promise about one reading covers each entry of the recording, or each user, that another may mean.

    What a step outside a sequence tells is a mixture of what the step at its end tells, so that a promise about all
    values of all steps is enough where no start is given. Entries with names are the same in every reading.
    """
    families = [secret.family(belief) for secret in view.framework.secrets]
    everywhere = [family for family in families if len(family.entries) == belief.size]
    if isinstance(belief, Sequences):
        return not has_given_start(belief) and any(family.pairs is None for family in everywhere)
    return belief.names is not None or isinstance(belief, LawPair) or len(everywhere) == len(families)


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


def steady_cost(view: View, charge: Charge, is_placed: bool = False) -> Fraction:
    """Return what a whole or data release costs under a framework when it is added to others of these kinds.

    `is_placed` says that all of them read the same entries, so that sequences without a secret do not count.
    """
    if charge.composition is Composition.WHOLE:
        return whole_cost(view, charge)
    if charge.scale is None:
        return _stored(view, charge, is_placed)
    costs = [charge.epsilon] if view.is_native(charge) else [Fraction(0)]
    for belief in view.framework.beliefs:
        read = view.read(belief, charge)
        if read is None:
            costs.append(whole_cost(view, charge))
            continue
        if isinstance(belief, Sequences) and not (is_placed and len(read.changes) == belief.size):
            runs = view.runs(belief, charge) or (range(len(read.changes)),)
        else:
            runs = tuple(run for _, run, _ in view.secret_runs(belief, [read]))
            if runs and not is_placed and belief.names is None:  # in another reading a user may be any of them
                most = int(read.changes.argmax())
                runs = (range(most, most + 1),)
        for run in runs:
            costs.append(_loss(min(int(read.changes[run.start : run.stop].sum()) * read.grid, read.total), charge))
    return max(costs)


def whole_cost(view: View, charge: Charge) -> Fraction:
    """Return the loss of a release when every entry may change at will: the change of the answer, over the scale."""
    if charge.scale is None:
        if charge.composition is not Composition.WHOLE:
            raise CompositionRefused(
                f"a release of kind {str(charge.composition)!r} without Laplace noise has no cost for a change of "
                "the whole data",
                fix="use Laplace noise (delta = 0)",
            )
        return _stored(view, charge, True)
    reads = [read for belief in view.framework.beliefs if (read := view.read(belief, charge)) is not None]
    cost = _loss(max([charge.change, *(read.total for read in reads)]), charge)
    keeps = charge.composition is Composition.WHOLE and view.is_native(charge)
    return max(cost, charge.epsilon) if keeps else cost


def _stored(view: View, charge: Charge, is_placed: bool) -> Fraction:
    if charge.composition is Composition.WHOLE:
        keeps = view.reads_alike(charge)
    else:  # a promise about components that hold a secret of its own framework: another one may hide what others hold
        keeps = view.is_native(charge) and (is_placed or view.has_secrets_everywhere)
    if keeps:
        return charge.epsilon
    raise CompositionRefused(
        f"a release of kind {str(charge.composition)!r} without Laplace noise was calibrated for other states, "
        "entries or pieces than this framework has",
        fix="calibrate it for beliefs that read the query alike, or use Laplace noise",
    )


def _loss(reach: int | Fraction, charge: Charge) -> Fraction:
    if reach == 0:
        return Fraction(0)
    if not charge.scale:
        raise CompositionRefused(NO_NOISE)
    return reach / charge.scale


def quilt_cost(view: View, charges: Sequence[Charge]) -> Joint:
    """Return max over beliefs, components, entries and pairs of min over quilts of e(Q) + sum_k D_k(N)/b_k.

    Chains and networks are searched over their quilts; other beliefs have the trivial quilt (the whole component) only.
    Releases that are not known to read the same entries are taken at their worst alignment (`alignment`).
    """
    for c in charges:
        if c.scale is None and c.composition not in STEADY:
            raise CompositionRefused(
                "a release without Laplace noise has no cost by its noise alone", fix="use such noise"
            )
    worst, witness, late = Fraction(0), None, _late(charges)
    for belief in view.framework.beliefs:
        reads = [view.read(belief, c) for c in charges]
        fixed = sum((whole_cost(view, c) for c, read in zip(charges, reads, strict=True) if read is None), Fraction(0))
        worst = max(worst, fixed)
        given = [(c, read, after) for c, read, after in zip(charges, reads, late, strict=True) if read is not None]
        for cost, found in _costs(view, belief, given):
            if fixed + cost >= worst:
                worst, witness = fixed + cost, found
    return Joint(worst, _deltas(charges), "joint quilts", Composition.QUILT, witness)


Given = tuple[Charge, Read, bool]
Cost = tuple[Fraction, Witness | None]


def _costs(view: View, belief: Belief, given: Sequence[Given]) -> Iterator[Cost]:
    """Yield the joint cost of each different component of a belief that holds a secret."""
    moving = [one for one in given if one[1].changes.any()]
    if not moving:
        return
    apart = len(readings([charge for charge, _, _ in moving])) > 1
    if isinstance(belief, Sequences):
        items = [Item(charge, read, charge.scale or Fraction(0)) for charge, read, _ in moving]
        layout = None if apart else laid_out(view, belief, items)
        if layout is None:
            yield from _costs_anywhere(view, belief, moving)
            return
        whole, rows = layout
        moving = [(c, replace(read, changes=row), after) for (c, read, after), row in zip(moving, rows, strict=True)]
        yield from _costs_in_place(view, belief, whole, moving)
    elif apart and belief.names is None:
        yield from _costs_of_anybody(view, belief, moving)
    else:
        yield from _costs_in_place(view, belief, belief, moving)


def _costs_in_place(view: View, belief: Belief, whole: Belief, given: Sequence[Given]) -> Iterator[Cost]:
    """Yield the costs where all releases read the same entries, those of `whole`.

    That is the belief itself, whose secrets are known, or one about another length, in which every step counts.
    """
    reads, seen = [read for _, read, _ in given], dict[Any, Belief]()  # holds the pieces, so that an id stays theirs
    found = view.secret_runs(belief, reads) if whole is belief else _all_runs(view, belief, whole)
    for number, run, family in found:
        piece = whole.component(number)
        shares = [(c, replace(r, changes=r.changes[run.start : run.stop]), after) for c, r, after in given]
        key = (id(piece), family, tuple((read.grid, read.changes.tobytes()) for _, read, _ in shares))
        if key not in seen:
            seen[key] = piece
            yield _part_cost(view, Part(piece, _standing_in(len(run)), family, run.start), shares)


def _all_runs(view: View, belief: Belief, whole: Belief) -> Iterator[tuple[int, range, Family]]:
    """Yield every run of `whole` with the pairs of values that a secret compares there, as `belief` numbers them."""
    for secret in view.framework.secrets:
        pairs = secret.family(belief).pairs
        for number, run in enumerate(whole.components()):
            family = Family(range(len(run)), pairs)
            if any(family.has_pairs(whole.component(number), entry) for entry in family.entries):
                yield number, run, family


def _costs_anywhere(view: View, belief: Sequences, given: Sequence[Given]) -> Iterator[Cost]:
    """Yield the cost of sequences of which nobody says where they start, for each secret."""
    fixed, items = Fraction(0), []
    for charge, read, after in given:
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif charge.scale == 0:
            raise CompositionRefused(NO_NOISE)
        elif after:
            fixed += _loss(_largest_run(view, belief, charge, read), charge)
        else:
            items.append(Item(charge, read, charge.scale))
    for secret in view.framework.secrets:
        family = secret.family(belief)
        if next(iter(view.secret_runs(belief, [])), None) is None:
            continue
        cost, witness = worst_alignment(view, belief, family, items) if items else (Fraction(0), None)
        yield fixed + cost, witness


def _largest_run(view: View, belief: Sequences, charge: Charge, read: Read) -> Fraction:
    runs = view.runs(belief, charge)
    if runs is None:
        return read.total
    return min(read.total, max(int(read.changes[run.start : run.stop].sum()) for run in runs) * read.grid)


def _costs_of_anybody(view: View, belief: Belief, given: Sequence[Given]) -> Iterator[Cost]:
    """Yield the cost of users without names: in each reading a user may be the one who moves the answers most."""
    if next(iter(view.secret_runs(belief, [])), None) is None:
        return
    fixed, total = Fraction(0), Fraction(0)
    moving = []
    for charge, read, _ in given:
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif charge.scale == 0:
            raise CompositionRefused(NO_NOISE)
        else:
            moving.append((charge, read))
    for reading in readings([charge for charge, _ in moving]):
        rows = {(read.changes.tobytes(), read.grid): read.changes for n in reading for read in [moving[n][1]]}
        several = np.unique(np.stack(list(rows.values()), axis=1), axis=0)
        rates = [
            sum((moving[n][1].grid / (moving[n][0].scale or 1) for n in reading
                 if (moving[n][1].changes.tobytes(), moving[n][1].grid) == key), Fraction(0))
            for key in rows
        ]  # fmt: skip
        total += max(sum((int(m) * rate for m, rate in zip(row, rates, strict=True)), Fraction(0)) for row in several)
    yield fixed + total, Witness("one user", "whoever moves each answer most")


def _part_cost(view: View, part: Part, given: Sequence[Given]) -> Cost:
    fixed, trivial, terms, exact = Fraction(0), Fraction(0), [], False
    for charge, read, after in given:
        reach = min(int(read.changes.sum()) * read.grid, read.total)
        if reach == 0:
            continue
        if charge.scale is None:
            fixed += steady_cost(view, charge)
        elif after:
            fixed += _loss(reach, charge)
        else:
            exact = exact or charge.scale == 0
            trivial += _loss(reach, charge) if charge.scale else 0
            terms.append((read.changes, charge.scale / read.grid))
    searched = _search(part, terms) if terms else None
    if searched is None and exact:
        raise CompositionRefused(NO_NOISE)
    if searched is None or (searched[0] >= trivial and not exact):
        return fixed + trivial, searched[1] if searched else None
    return fixed + searched[0], searched[1]


def _search(part: Part, terms: Sequence[tuple[IntArray, Fraction]]) -> tuple[Fraction, Witness] | None:
    """Return the joint cost over all quilts, rounded up to a short decimal; None where it is not bounded."""
    from takifugu.quilts.joint_cost import joint_cost

    try:
        cost, witness = joint_cost(part, terms)
    except Unsupported:
        return None
    return None if math.isinf(cost) else (decimal_up(Fraction(cost)), witness)


def _standing_in(size: int) -> Additive:
    """Return any answer over so many entries: a search asks a part for its entries and secrets only."""
    return Additive(Fraction(1), ("change",), (np.zeros((1, 1), dtype=np.int64),), np.zeros(size, dtype=np.int64))
