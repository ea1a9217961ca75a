"""What one past release costs under a framework: its own promise, or the change of its answer over its scale.

A release without a Laplace scale that covers changes of a component, or of all data, changes by (epsilon, delta) when
these change; it costs its own epsilon wherever the framework reads its query as the one did that it was calibrated for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isinf

from takifugu.accounting.composition.several import Several, changed
from takifugu.accounting.composition.views import Read, View, is_about
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.core.plain import Plain
from takifugu.core.plugins import package_of
from takifugu.model.beliefs.one_sequence import Recording, is_recording
from takifugu.model.frameworks import DEFINITIONS, OF_ROWS
from takifugu.numbers.rationals import decimal_up, float_above

#: e to this power times any delta is taken for 1.
FULL = 700
#: The query of what counts as a promise about every change of other data.
ELSEWHERE: Plain = {"kind": "about other entries"}
NO_NOISE = "a release without any noise costs infinitely much beside others"
#: What a promise covers, in words.
WHAT = {
    Covers.EVERYTHING: "every change of the data", Covers.COMPONENT: "every change of one person or component",
    Covers.ENTRIES: "changes of single values", Covers.OUTPUT: "its own output's distribution only",
}  # fmt: skip


@dataclass(frozen=True)
class Joint:
    """The joint promise of releases under one framework, its rule, and which changes it bounds."""

    epsilon: Fraction
    delta: Fraction
    rule: str
    covers: Covers


def deltas(charges: Sequence[Charge]) -> Fraction:
    return sum((c.delta for c in charges), Fraction(0))


def raised(delta: Fraction, earlier: Fraction) -> Fraction:
    """Return min(1, e^earlier * delta), rounded up (docs/theory/composition.md)."""
    # of a promise about one output, chosen after outputs that lose `earlier` when the whole data change
    if delta == 0 or earlier == 0:
        return delta
    if earlier > FULL:
        return Fraction(1)
    factor = Fraction(math.exp(float_above(earlier))) * (1 + Fraction(1, 10**12))
    return min(Fraction(1), decimal_up(delta * factor))


def plain(cost: Fraction) -> Fraction:
    """Round a searched cost up to a denominator of at most 1,000, where that adds a billionth at most."""
    # a scale is rounded up, so that its noise loses a little less than was asked for
    near = cost.limit_denominator(1000)
    if cost <= near <= 500 and near <= cost * (1 + Fraction(1, 10**9)):
        return near  # no two are so near that a larger cost becomes a smaller one
    return cost


def steady_cost(view: View, charge: Charge) -> Fraction:
    """Return the cost of a covering release beside other covering ones about the same entries."""
    if charge.covers is Covers.EVERYTHING:
        return whole_cost(view, charge)
    if charge.scale is None:
        return _stored(view, charge)
    costs = [charge.epsilon if view.is_native(charge) else Fraction(0)]
    for belief in view.framework.beliefs:
        read = view.read(belief, charge)
        if read is None:
            costs.append(whole_cost(view, charge))
            continue
        if is_recording(belief) and not is_about(belief, charge):
            costs.append(loss(dearest_run(view, belief, charge, read), charge))
            continue
        costs += [loss(read.reach(run), charge) for _, run, _ in view.secret_runs(belief, [read])]
    return max(costs)


def dearest_run(view: View, belief: Recording, charge: Charge, read: Read) -> Fraction:
    """Return the largest change of an answer by one of the sequences that it reads."""
    return max(map(read.reach, view.runs(belief, charge) or (range(len(read.changes)),)))


def whole_cost(view: View, charge: Charge) -> Fraction:
    """Return the answer's largest change over the scale of its noise."""
    if charge.scale is None:
        if charge.covers is not Covers.EVERYTHING:
            raise CompositionRefused(
                f"a release that covers {WHAT[charge.covers]}, without Laplace noise, has no cost for a change of "
                "the whole data",
                fix="use Laplace noise (delta = 0)",
            )
        return _stored(view, charge)
    change = whole_change(view, charge)
    if change is None:
        raise CompositionRefused(
            "nothing bounds how far the answer of a release can move, so it has no cost for a change of the whole data",
            fix="declare the range of every column, or publish it in another source's data",
        )
    cost = loss(change, charge)
    if charge.covers is Covers.EVERYTHING and view.is_native(charge):
        return max(cost, charge.epsilon)
    return cost


def whole_change(view: View, charge: Charge) -> Fraction | None:
    """Return the most that an answer moves as it was charged, and with all values that the framework knows."""
    if charge.change is None:
        return None
    change = charge.change
    for holder in view.framework.beliefs or (view.framework.domain,):
        read = view.read(holder, charge)
        if read is not None:
            change = max(change, read.total)
    return change


def _stored(view: View, charge: Charge) -> Fraction:
    keeps = view.is_native(charge)  # a promise about components is about those that hold a secret of its own framework
    if charge.covers is Covers.EVERYTHING:
        keeps = view.reads_alike(charge)
    if keeps:
        return charge.epsilon
    raise CompositionRefused(
        f"a release that covers {WHAT[charge.covers]}, without Laplace noise, was calibrated for other states, "
        "values or pieces than this framework has",
        fix="calibrate it for beliefs that read the query alike, or use Laplace noise",
    )


def loss(reach: int | Fraction, charge: Charge) -> Fraction:
    if reach == 0:
        return Fraction(0)
    if not charge.scale:
        raise CompositionRefused(NO_NOISE)
    return reach / charge.scale


def covering(charge: Charge, epsilon: Fraction, delta: Fraction) -> Charge:
    """Return a promise about every change of what a release reads, under any framework."""
    return changed(
        charge, covers=Covers.EVERYTHING, epsilon=epsilon, delta=delta, scale=None, query=ELSEWHERE, entries=0,
        answers=(), scope="unit", names=(), lengths=(), reading="", at=None, phases=(), begins_series=False,
    )  # fmt: skip


def as_whole(charge: Charge, definition: str, change: Fraction | None) -> Charge:
    """Turn a charge into a promise about all data, by the loss of its noise where they move the answer by `change`."""
    # the charge's own promise is of another definition, and counts for nothing here
    cost = noise_loss(charge, change)
    if isinf(cost):
        raise CompositionRefused(
            f"a release under the definition {charge.definition!r} has no cost for a change of the whole data, so "
            f"nothing bounds what it reveals together with releases under {definition!r}",
            fix="publish it with Laplace noise, or in another source's data",
        )
    return replace(covering(charge, Fraction(cost), charge.delta), definition=definition)


def noise_loss(charge: Charge, change: Fraction | None) -> Fraction | float:
    """Return the loss of the noise, of all releases of a sum, maybe infinite, where the answer moves by `change`."""
    if change is None:
        return inf
    if change == 0:
        return Fraction(0)
    if charge.scale is None:
        noise, times = randomisers.from_dict(charge.randomiser), charge.cost.times if isinstance(charge, Several) else 1
        return inf if package_of(noise) else times * noise.loss(change)  # another package's word bounds nothing
    if charge.scale == 0:
        return inf
    return change / charge.scale


def any_change(charge: Charge) -> Fraction | None:
    """Return a release's loss on any change, either way; None if unbounded."""
    costs = []
    # where every row is randomised by itself, what the noise loses for any rows
    if charge.change == 0 or charge.scale is not None or charge.definition in OF_ROWS:
        cost = noise_loss(charge, charge.change)
        if not isinf(cost):
            costs.append(Fraction(cost))
    known_both_ways = charge.definition in DEFINITIONS and not DEFINITIONS.find(charge.definition).one_way
    if charge.covers is Covers.EVERYTHING and known_both_ways:
        costs.append(charge.epsilon)
    return max(costs, default=None)
