"""Joint promises of Pufferfish releases, by what each of them covers (docs/decisions.md#composition).

Promises that cover every change of the data, or of a component, add up; those with a Laplace scale have a joint cost by
profiles (`by_noise`), and the least of the proven bounds counts. A promise that is alone is about the law of its
output given a and given b. A release that loses at most epsilon when the whole data change has a density between m(w)
and e^epsilon m(w) for some m that does not depend on the data, so it multiplies any such promise by e^epsilon; the
delta of one that was chosen after it counts e^epsilon times, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from takifugu.accounting.composition.alignment import is_one_reading
from takifugu.accounting.composition.at_delta import in_a_series, joint_at_delta, planned_together, series_joint
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.losses import Joint, chosen_late, deltas, raised, steady_cost, whole_cost
from takifugu.accounting.composition.several import STEADY, Several, merged
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import at_most
from takifugu.model import secrets
from takifugu.model.beliefs import Belief
from takifugu.model.beliefs.one_sequence import is_recording
from takifugu.numbers.rationals import to_text

REMEDY = (
    "recalibrate the queries as one joint query, or use a mechanism that composes ('influence', 'group') for all of "
    "them"
)
ELSEWHERE = (
    "a release that is alone promises something about the secret values of its own data only, and in the data of the "
    "other releases they may be other values: publish both at once, or hide every value"
)


def joint_promise(view: View, charges: Sequence[Charge], recharge: bool) -> Joint:
    """Return the least proven joint promise.

    Raises CompositionRefused where there is none. With a delta the proof is fixed beforehand, and `recharge` gives up
    promises that have no place in it. Without one `recharge` gives up those about several people.
    """
    if in_a_series(charges):
        return series_joint(view, charges)
    if not any(charge.delta for charge in charges):
        return _least(view, charges, recharge)
    plain = [charge for charge in charges if not charge.delta]
    terms = merged(charges)
    singles = _singles(view, terms)
    gives_up = recharge and any(terms[i].scope == "pooled" for i in singles)
    alone = []
    for charge in terms:
        if not charge.delta or not view.is_native(charge):
            continue
        if charge.covers in STEADY:
            alone.append(steady_cost(view, charge, is_placed=True))
        else:
            alone.append(charge.epsilon)
    if len(terms) == len(alone) == 1 and not gives_up:
        rule = "sum" if terms[0].covers in STEADY else "alone"
        return Joint(alone[0], terms[0].delta, rule, terms[0].covers)
    if singles:
        best = _with_singles(view, terms, singles, recharge)
    else:
        best = _without_singles(view, terms)
    least = max([best.epsilon, *alone])
    if planned_together(terms):  # squares add up to less than losses
        with suppress(CompositionRefused):
            least = max(least, _least(view, plain, recharge).epsilon)
    return replace(best, epsilon=least)


def _singles(view: View, charges: Sequence[Several]) -> list[int]:
    return [i for i, charge in enumerate(charges) if charge.covers is Covers.OUTPUT and view.is_native(charge)]


def _partial_ones(charges: Sequence[Charge]) -> list[int]:
    """Return the numbers of releases without cover of every change."""
    return [i for i, charge in enumerate(charges) if charge.covers is not Covers.EVERYTHING]


def _whole_costs(view: View, charges: Sequence[Charge]) -> Fraction:
    """Return the loss of all releases on a whole change."""
    return sum((whole_cost(view, charge) for charge in charges), Fraction(0))


def _least(view: View, charges: Sequence[Charge], recharge: bool) -> Joint:
    """Return the least of all bounds without a delta, in any order.

    Promises that cover every change add up; one other promise may count, beside what all other releases lose when the
    whole data change; else all count by that, or by their profiles. Every bound is one of any subset of the releases,
    too, and no larger there, so that one more never lowers the least of them.
    """
    terms = merged(sorted(charges, key=lambda charge: charge.covers is Covers.OUTPUT))
    singles = _singles(view, terms)
    candidates: list[Joint] = []
    if not singles:
        candidates = _sums(view, terms)
    wholes, unbounded = _wholes(view, terms)
    total = sum(wholes.values(), Fraction(0))
    reasons = []
    for i in _counting_alone(view, terms, recharge):
        whole_loss = wholes.get(i)
        in_the_way = dict(unbounded)
        if terms[i].times == 1:
            in_the_way.pop(i, None)
        if in_the_way:
            reasons.append(next(iter(in_the_way.values())))
        else:
            candidates.append(_joint_with_wholes(terms, i, total - (whole_loss or 0), whole_loss, Fraction(0)))
    refused = _try(candidates, lambda: cost_by_noise(view, terms))
    if not unbounded:
        candidates.append(Joint(total, Fraction(0), "sum of whole changes", Covers.EVERYTHING))
    if candidates:
        return min(candidates, key=lambda joint: joint.epsilon)
    if reasons:
        refused = reasons[-1]
    if singles and (reason := _why_it_stands_alone(view, terms, singles[0])):
        raise CompositionRefused(reason, rule=REMEDY, fix=_no_bound(refused))
    raise CompositionRefused(refused)


def _counting_alone(view: View, charges: Sequence[Several], recharge: bool) -> Iterator[int]:
    """Yield the numbers of releases with promises beside others' whole changes.

    Such a promise does not cover every change. Of an answer over several people the promise is about the law of what
    all of them hold.
    """
    if not _means_one_secret(view, charges):
        return
    several_are_partial = len(_partial_ones(charges)) > 1
    for i, charge in enumerate(charges):
        links = charge.covers is Covers.OUTPUT and charge.scope == "pooled"
        promises = view.is_native(charge) and (charge.times == 1 or charge.saved is not None)
        if promises and charge.covers not in STEADY and not (links and (recharge or several_are_partial)):
            yield i


def _wholes(view: View, charges: Sequence[Several]) -> tuple[dict[int, Fraction], dict[int, str]]:
    """Return the losses on a whole change, and reasons for unbounded ones."""
    wholes, unbounded = {}, {}
    for i, charge in enumerate(charges):
        try:
            wholes[i] = whole_cost(view, charge)
        except CompositionRefused as refusal:
            unbounded[i] = str(refusal)
    return wholes, unbounded


def _without_singles(view: View, charges: Sequence[Several]) -> Joint:
    """Return the lesser of the promises' sum and joint quilt cost."""
    candidates = _sums(view, charges)
    partial_ones = _partial_ones(charges)
    if len(partial_ones) == 1:
        (number,) = partial_ones
        charge = charges[number]
        counts = charge.covers is Covers.ENTRIES and charge.times == 1 and view.is_native(charge)
        if counts and not chosen_late(charges)[number] and _means_one_secret(view, charges):
            candidates.append(_promise_and_wholes(view, charges, number))
    refused = _try(candidates, lambda: cost_by_noise(view, charges))
    if not candidates:
        raise CompositionRefused(refused)
    return min(candidates, key=lambda joint: joint.epsilon)


def _sums(view: View, charges: Sequence[Several]) -> list[Joint]:
    """Return the sum of promises, or [] unless all cover every change."""
    if any(charge.covers not in STEADY for charge in charges):
        return []
    is_placed = is_one_reading(charges)
    promised = sum((steady_cost(view, charge, is_placed) for charge in charges), Fraction(0))
    covers = Covers.COMPONENT if _partial_ones(charges) else Covers.EVERYTHING
    return [Joint(promised, deltas(charges), "sum", covers)]


def _with_singles(view: View, charges: Sequence[Several], singles: Sequence[int], recharge: bool) -> Joint:
    """Return the joint promise of releases with output-law promises and deltas.

    An output-law promise counts wherever it can, and where it cannot it is given up on request: the choice does not
    depend on which is less, since two proofs whose deltas are of different bad events cost the deltas of both.
    """
    reason = _why_it_stands_alone(view, charges, singles[0])
    candidates: list[Joint] = []
    if len(charges) > 1 and planned_together(charges):  # so is the choice of the least
        _try(candidates, lambda: joint_at_delta(view, charges))
        if candidates and reason:
            return candidates[0]
    if not reason and not (recharge and charges[singles[0]].scope == "pooled"):
        refused = _try(candidates, lambda: _promise_and_wholes(view, charges, singles[0]))
        if not candidates:
            raise CompositionRefused(refused)
        return min(candidates, key=lambda joint: joint.epsilon)
    refused = _try(candidates, lambda: cost_by_noise(view, charges))
    if candidates and recharge:
        return candidates[-1]
    price = _no_bound(refused)
    if candidates:
        total = f"epsilon {at_most(candidates[-1].epsilon, digits=4)} in all"
        price = f"giving up the promise and charging the noise (as_composing = true) would cost {total}"
    raise CompositionRefused(reason or refused, rule=REMEDY, fix=price)


def _no_bound(refused: str) -> str:
    return f"the noise gives no bound without the promise: {refused}"


def _why_it_stands_alone(view: View, charges: Sequence[Several], i: int) -> str:
    """Say why an output-law promise has no joint promise, or ""."""
    single, rivals = charges[i], [*charges[:i], *charges[i + 1 :]]
    alone = [charge for charge in charges if charge.covers is Covers.OUTPUT]
    is_pooled = any(charge.scope == "pooled" for charge in alone)
    pooled = " over several people" if is_pooled else ""
    promise = (
        f"a release{pooled} that is alone (epsilon {to_text(single.epsilon)}: it promises something about its own "
        "output's distribution only)"
    )
    if len(alone) > 1:
        return (
            f"{promise} has no joint promise with another that is alone about the same data, before or after it: "
            "together they may reveal what neither does"
        )
    if is_pooled and _partial_ones(rivals):
        return (
            f"{promise} has no joint promise with another about the same data unless that one covers every change of "
            "the whole data ('group'): together they may reveal what neither does"
        )
    if chosen_late(charges)[i]:
        return (
            "a release that is alone was chosen when the output of a release with delta > 0 could be seen: they "
            "compose only if its query and noise were fixed before"
        )
    if not _means_one_secret(view, charges):
        return ELSEWHERE
    return ""


def _means_one_secret(view: View, charges: Sequence[Several]) -> bool:
    """Return whether one promise holds for the same secret in all releases."""
    reading = [charge for charge in charges if charge.entries]
    places = set[int | None]()
    for charge in reading:
        places.update(charge.places.tolist() or [None])
    if len(places) <= 1 and is_one_reading(reading):
        return True
    return all(_promises_travel(view, belief) for belief in view.framework.beliefs)


def _promises_travel(view: View, belief: Belief) -> bool:
    """Return whether a promise about one reading holds in every other.

    The promise then covers each entry of the recording, or each user, that another reading may mean. What a step
    outside a sequence tells is a mixture of what the step at its end tells, so that a promise about all values of all
    steps is enough where no start is given. Entries with names are the same in every reading. What records add up to is
    another property in another reading.
    """
    if belief.names is not None:
        return True
    if any(secrets.view(secret, belief) is not None for secret in view.framework.secrets):
        return False
    families = [secret.family(belief) for secret in view.framework.secrets]
    everywhere = [family for family in families if len(family.entries) == belief.size]
    if is_recording(belief):
        is_complete = any(family.pairs is None for family in everywhere)
        return is_complete and not belief.has_given_start
    return view.framework.is_pair or len(everywhere) == len(families)


def _promise_and_wholes(view: View, charges: Sequence[Several], number: int) -> Joint:
    """Return one promise beside the losses of others on a whole change.

    Of several releases in one charge the promise is taken that costs most less than a whole change. Its bad event is up
    to e^epsilon times as likely given an output of others, after which the promise may have been chosen.
    """
    single, delta = charges[number], deltas(charges)
    rivals = [*charges[:number], *charges[number + 1 :]]
    other_losses = _whole_costs(view, rivals)
    loss = None
    if single.times > 1:
        loss = whole_cost(view, single)
    if single.delta and not single.fixed_in_advance:
        delta += raised(single.delta, _whole_costs(view, charges[:number])) - single.delta
    return _joint_with_wholes(charges, number, other_losses, loss, delta)


def _joint_with_wholes(
    charges: Sequence[Several], number: int, other_losses: Fraction, loss: Fraction | None, delta: Fraction
) -> Joint:
    """Return one promise beside the others' loss.

    `loss` is the whole loss of its charge's own releases, where they are several.
    """
    single = charges[number]
    if single.times == 1 or loss is None:
        promised = single.epsilon
    else:
        promised = loss - (single.saved or 0)
    rule = "alone" if len(charges) == 1 and single.times == 1 else "single and whole"
    return Joint(other_losses + promised, delta, rule, single.covers)


def _try(candidates: list[Joint], rule: Callable[[], Joint]) -> str:
    try:
        candidates.append(rule())
    except CompositionRefused as refusal:
        return str(refusal)
    return ""
