"""Joint promises of Pufferfish releases, by what each of them covers (docs/decisions.md#composition).

Promises that cover every change of the data, or of a component, add up; those with a Laplace scale have a joint cost by
profiles (`by_noise`), and the least of the proven bounds counts. A promise that is alone is about the law of its
output given a and given b. A release that loses at most epsilon when the whole data change has a density between m(w)
and e^epsilon m(w) for some m that does not depend on the data, so it multiplies any such promise by e^epsilon; the
delta of one that was chosen after it counts e^epsilon times, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from takifugu.accounting.composition.alignment import is_one_reading
from takifugu.accounting.composition.at_delta import joint_at_delta, planned_together
from takifugu.accounting.composition.by_entry import ByEntry
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.losses import Joint, chosen_late, deltas, raised, steady_cost, whole_cost
from takifugu.accounting.composition.normal_series import in_a_series, series_joint
from takifugu.accounting.composition.several import STEADY, costliest, is_one_release, merged, places_of
from takifugu.accounting.composition.views import View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused
from takifugu.core.escaping import number
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
    """Return the least proven joint promise; raises CompositionRefused where there is none."""
    if in_a_series(charges):
        return series_joint(view, charges)
    charges = merged(charges)
    singles = [i for i, c in enumerate(charges) if c.covers is Covers.OUTPUT and view.is_native(c)]
    return _with_singles(view, charges, singles, recharge) if singles else _without_singles(view, charges)


def _without_singles(view: View, charges: Sequence[Charge]) -> Joint:
    """Return the least of the proven bounds: the sum, where it is one, and what the noise costs.

    Both only grow with every further release. What one release promises alone may be below that, so no set is
    cheaper than the costliest of its releases alone; then adding a release never makes a set cheaper.
    """
    steady = [c for c in charges if c.covers in STEADY]
    others = [i for i, c in enumerate(charges) if c.covers not in STEADY]
    is_placed = is_one_reading(charges)
    promised = sum((steady_cost(view, c, is_placed) for c in steady), Fraction(0))
    whole = all(c.covers is Covers.EVERYTHING for c in steady)
    alone = [_alone(view, c) for c in charges]
    if len(charges) == 1 and alone[0] is not None and is_one_release(charges[0]):
        return Joint(alone[0], charges[0].delta, "alone" if others else "sum", charges[0].covers)
    candidates: list[Joint] = []
    match others:
        case []:
            candidates.append(Joint(promised, deltas(charges), "sum", Covers.EVERYTHING if whole else Covers.COMPONENT))
        case [other] if whole and alone[other] is not None and _joins_whole(view, charges, other):
            share = _share(view, charges, other)
            candidates.append(Joint(promised + charges[other].epsilon, share, "sum", Covers.ENTRIES))
    refused = _try(candidates, lambda: cost_by_noise(view, charges)) if charges else ""
    if not candidates:
        raise CompositionRefused(refused)
    best = min(candidates, key=lambda joint: joint.epsilon)
    return replace(best, epsilon=max([best.epsilon, *(one for one in alone if one is not None)]))


def _joins_whole(view: View, charges: Sequence[Charge], number: int) -> bool:
    """Whether a promise that is alone holds beside releases that cover every change."""
    is_early = not chosen_late(charges)[number]
    return is_early and is_one_release(charges[number]) and _means_one_secret(view, charges)


def _alone(view: View, charge: Charge) -> Fraction | None:
    """Return what the costliest release of a charge promises alone, where it was calibrated for the framework."""
    if isinstance(charge, ByEntry):
        return charge.alone
    if not view.is_native(charge):
        return None
    charge = costliest(charge)
    return steady_cost(view, charge, is_placed=True) if charge.covers in STEADY else charge.epsilon


def _with_singles(view: View, charges: Sequence[Charge], singles: Sequence[int], recharge: bool) -> Joint:
    single = charges[singles[0]]
    others = [c for i, c in enumerate(charges) if i != singles[0]]
    late = chosen_late(charges)[singles[0]]
    is_about_one = _means_one_secret(view, charges)
    reason = _why_single_stands_alone(single, others, late) or ("" if is_about_one else ELSEWHERE)
    candidates: list[Joint] = []
    refused = ""
    if len(charges) > 1 and planned_together(charges):
        _try(candidates, lambda: joint_at_delta(view, charges))
        if candidates and reason:
            return candidates[0]
    if not reason and not (recharge and single.scope == "pooled"):
        refused = _try(candidates, lambda: _single_and_wholes(view, charges, singles[0]))
    if reason or recharge:
        if len(singles) == 1 and single.scope == "unit" and not late and is_about_one:
            refused = _try(candidates, lambda: _single_and_wholes(view, charges, singles[0]))
        refused = _try(candidates, lambda: cost_by_noise(view, charges)) or refused
    if candidates and (recharge or not reason):
        return min(candidates, key=lambda joint: joint.epsilon)
    if not reason:
        raise CompositionRefused(refused)
    if candidates:
        cost = min(joint.epsilon for joint in candidates)
        total = f"epsilon {number(cost, digits=4)} in all"
        price = f"giving up the promise and charging the noise (as_composing = true) would cost {total}"
    else:
        price = f"the noise gives no bound without the promise: {refused}"
    raise CompositionRefused(f"{reason}", rule=f"{REMEDY}", fix=f"{price}")


def _why_single_stands_alone(single: Charge, others: Sequence[Charge], late: bool) -> str:
    """Return why an output-law promise has no joint promise with the others, or nothing where it has one."""
    alone = [charge for charge in (single, *others) if charge.covers is Covers.OUTPUT]
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
    if is_pooled and any(other.covers is not Covers.EVERYTHING for other in others):
        return (
            f"{promise} has no joint promise with another about the same data unless that one covers every change of "
            "the whole data ('group'): together they may reveal what neither does"
        )
    if late:
        return (
            "a release that is alone was chosen when the output of a release with delta > 0 could be seen: they "
            "compose only if its query and noise were fixed before"
        )
    return ""


def _means_one_secret(view: View, charges: Sequence[Charge]) -> bool:
    """Whether what one release promises about its own entries holds for the entry that a secret means in any other."""
    reading = [c for c in charges if c.entries]
    together = is_one_reading(reading) and len({place for c in reading for place in _places(c)}) <= 1
    return together or all(_promises_travel(view, belief) for belief in view.framework.beliefs)


def _places(charge: Charge) -> list[int | None]:
    return list(map(int, places_of(charge))) or [None]


def _promises_travel(view: View, belief: Belief) -> bool:
    """Whether a promise about one reading covers each entry of the recording, or each user, that another may mean.

    What a step outside a sequence tells is a mixture of what the step at its end tells, so that a promise about all
    values of all steps is enough where no start is given. Entries with names are the same in every reading. What
    records add up to is another property in another reading.
    """
    if belief.names is not None:
        return True
    if any(secrets.view(secret, belief) is not None for secret in view.framework.secrets):
        return False
    families = [secret.family(belief) for secret in view.framework.secrets]
    everywhere = [family for family in families if len(family.entries) == belief.size]
    if is_recording(belief):
        return not belief.has_given_start and any(family.pairs is None for family in everywhere)
    return view.framework.is_pair or len(everywhere) == len(families)


def _single_and_wholes(view: View, charges: Sequence[Charge], number: int) -> Joint:
    others = [whole_cost(view, charge) for i, charge in enumerate(charges) if i != number]
    total = sum(others, charges[number].epsilon)
    return Joint(total, _share(view, charges, number), "single and whole" if others else "alone", Covers.OUTPUT)


def _share(view: View, charges: Sequence[Charge], number: int) -> Fraction:
    """Return the delta of a promise about one output's distribution together with whole releases.

    A bad event of probability delta is up to e^epsilon times as likely given an output of theirs, after which it may
    have been chosen.
    """
    one, others = charges[number], [charge for i, charge in enumerate(charges) if i != number]
    if one.delta == 0 or one.fixed_in_advance:
        return deltas(charges)
    earlier = sum((whole_cost(view, charge) for charge in charges[:number]), Fraction(0))
    return deltas(others) + raised(one.delta, earlier)


def _try(candidates: list[Joint], rule: Callable[[], Joint]) -> str:
    try:
        candidates.append(rule())
    except CompositionRefused as refusal:
        return str(refusal)
    return ""
