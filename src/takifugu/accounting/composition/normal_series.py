"""Normal releases that are chosen one after the other: a series, whose first release says how entries share the cost.

Every later release of a series counts as a multiple of the first one's profile, the least that covers its own at every
entry. Multiples add up, whatever was chosen after which output, so that all limits of all entries are one number, and
the largest that any transcript reaches is fixed (docs/theory/influence.md, Theorem 10). A series is declared with its
first release and keeps this rule: to choose between two rules after an output would cost the sum of both deltas.
Several releases may begin it together: all are paid for at once, so their noise is fixed before the first output, and
their squares add up to one profile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from takifugu.accounting.composition.alignment import is_one_reading
from takifugu.accounting.composition.at_delta import NORMAL, least_epsilon, release_of, shares
from takifugu.accounting.composition.losses import Joint, deltas
from takifugu.accounting.composition.several import places_of
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Part
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.curves import profile_loss, profile_of
from takifugu.influence.profiles.normal import NormalRelease, covering_multiple, log_share, normal_profile

#: Multiples are searched up to here; beyond it nothing is promised.
_MOST = 2.0**60


def in_a_series(charges: Sequence[Charge]) -> bool:
    """Return whether the first release began a series.

    Raises CompositionRefused where a later one would begin it.
    """
    if not charges or charges[0].begins_series:
        return bool(charges)
    if any(charge.begins_series for charge in charges):
        raise CompositionRefused(
            "a series of normal releases would begin after another release about the same data",
            rule="its first release is the first about its source",
            fix="publish without begins_series (and, in a release file, joint_delta), or about another source",
        )
    return False


def beginning(charges: Sequence[Charge]) -> frozenset[int]:
    """Return the numbers of the releases paid for with the first.

    What a ledger calls one reading was reserved at once, before any of it was drawn.
    """
    reading = charges[0].reading
    numbers = {0}
    for number, charge in enumerate(charges):
        if charge.begins_series and reading and charge.reading == reading:
            numbers.add(number)
    return frozenset(numbers)


def series_joint(view: View, charges: Sequence[Charge]) -> Joint:
    """Return a series' least epsilon at the sum of its deltas.

    The epsilon holds whatever was chosen after which output. Raises CompositionRefused where the rule of a series does
    not reach: for other beliefs than those of the first release, other entries, pooled releases, noise that is neither
    normal nor Laplace, and an answer that moves an entry which the first does not move.
    """
    _check(view, charges)
    delta, first = deltas(charges), beginning(charges)
    try:
        terms = [_term(part, charges, reads, first) for part, reads in shares(view, charges)]

        def lost(epsilon: Fraction) -> tuple[Fraction, Witness | None]:
            share = log_share(epsilon, delta)
            losses = [profile_loss(part, normal_profile(base, share)) for part, base in terms if base]
            loss, witness = max(losses, key=lambda pair: pair[0], default=(0.0, None))
            return Fraction(loss), witness

        promised = charges[0].epsilon
        if len(charges) == 1 and lost(promised)[0] <= promised:
            least = promised
        else:
            least = least_epsilon(lost, max(charge.epsilon for charge in charges))
    except Unsupported as error:
        raise CompositionRefused(error.message) from None
    return Joint(least, delta, "series of normal releases", Covers.ENTRIES, lost(least)[1])


def _check(view: View, charges: Sequence[Charge]) -> None:
    first, fix = charges[0], "publish it about another source, or all of them at once"
    if not view.is_native(first):
        raise CompositionRefused("a series counts under the beliefs of its first release only", fix=fix)
    if any(charge.scope != "unit" for charge in charges):
        raise CompositionRefused("a series and a release over several people have no joint promise", fix=fix)
    if len(places_of(charges)) > 1 or not is_one_reading(charges):
        raise CompositionRefused(
            "it is not known that the releases of a series read the same values",
            fix="declare where the sequence starts, with the same `at` for all of them",
        )
    begun = beginning(charges)
    for number, charge in enumerate(charges):
        is_normal = charge.randomiser["kind"] == NORMAL
        is_later_laplace = number not in begun and charge.scale is not None
        if not is_normal and not is_later_laplace:
            raise CompositionRefused("a series has normal noise, and Laplace noise beside it", fix=fix)


def _term(
    part: Part, charges: Sequence[Charge], reads: Sequence[Read], begun: frozenset[int]
) -> tuple[Part, list[NormalRelease]]:
    """Return a component's first releases, covering its series; [] without moves.

    The releases have less noise than the real ones, to cover the later ones, too.
    """
    moving = [number for number, read in enumerate(reads) if read.changes.any()]
    if not moving:
        return part, []
    first, later = [], []
    for number in moving:
        release = release_of(charges[number], reads[number])
        if number not in begun:
            later.append(release)
        elif isinstance(release, NormalRelease):  # `_check` has seen to it
            first.append(release)
    times = 1.0
    for release in later:
        if first:
            base = release if isinstance(release, NormalRelease) else profile_of(part.belief, release)
            times += covering_multiple(first, base)
        times = math.nextafter(times, math.inf)
    if not first or times > _MOST:
        raise CompositionRefused(
            "an answer moves values that the first release of the series does not move",
            rule="each release of a series counts as a multiple of the first",
            fix="begin the series with the answer that reads most, or publish about another source",
        )
    root = Fraction(1)
    if times > 1:
        root = Fraction(math.sqrt(times)) * (1 + Fraction(1, 2**40))
    return part, [NormalRelease(normal.answer, normal.sigma / root) for normal in first]
