"""What normal releases promise together, with Laplace noise beside them, where all were fixed before the first output.

Per entry the squares of the normal releases' changes add up, and the losses of the others; Theorem 4 of
docs/theory/influence.md is applied once to the profile that results. Its limits must not depend on any output, so every
query and all noise must have been fixed in advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from takifugu.accounting.composition.alignment import is_one_reading
from takifugu.accounting.composition.losses import NO_NOISE, Joint, deltas
from takifugu.accounting.composition.piling import standing_in
from takifugu.accounting.composition.several import places_of
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis import randomisers
from takifugu.analysis.bounds import Witness
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Part
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.curves import Release, added, joint_loss, profile_loss, profile_of
from takifugu.influence.profiles.normal import NormalRelease, log_share, normal_profile
from takifugu.numbers.rationals import decimal_up
from takifugu.numbers.search import halved, mean

NORMAL = "rounded-normal"
#: An epsilon beyond which nothing is promised, and how exactly the least one is searched, relatively.
LARGEST, EXACT = Fraction(10**4), Fraction(1, 10**9)


def planned_together(charges: Sequence[Charge]) -> bool:
    """Return whether all normal and Laplace noise was fixed in advance.

    The releases are then about the same entries of one unit.
    """
    has_normal = False
    for charge in charges:
        is_normal = charge.randomiser["kind"] == NORMAL
        has_normal = has_normal or is_normal
        has_noise = is_normal or charge.scale is not None
        if not has_noise or not charge.fixed_in_advance or charge.scope != "unit":
            return False
    return has_normal and is_one_reading(charges) and len(places_of(charges)) <= 1


def joint_at_delta(view: View, charges: Sequence[Charge]) -> Joint:
    """Return the least joint epsilon at the sum of the deltas.

    Raises CompositionRefused where an answer does not add up entry by entry as a belief reads it, and where no curve is
    known.
    """
    delta = deltas(charges)
    parts = list(shares(view, charges))

    def lost(epsilon: Fraction) -> tuple[Fraction, Witness | None]:
        return loss_at(parts, charges, epsilon, delta)

    try:
        least = least_epsilon(lost, max((c.epsilon for c in charges), default=Fraction(0)))
    except Unsupported as error:
        raise CompositionRefused(error.message) from None
    return Joint(least, delta, "joint loss at delta", Covers.OUTPUT, lost(least)[1])


def loss_at(
    parts: Sequence[tuple[Part, list[Read]]], charges: Sequence[Charge], epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, Witness | None]:
    """Return the releases' loss at their share of delta, with its witness.

    The loss is at most epsilon where they keep (epsilon, delta).
    """
    share = log_share(epsilon, delta)
    losses = [_part_loss(part, charges, reads, share) for part, reads in parts]
    loss, witness = max(losses, key=lambda loss_of: loss_of[0], default=(0.0, None))
    return Fraction(loss), witness


def least_epsilon(lost: Callable[[Fraction], tuple[Fraction, Witness | None]], start: Fraction) -> Fraction:
    """Return the least epsilon from `start` on to cover its own loss.

    Raises CompositionRefused where there is none.
    """
    low, high = Fraction(0), start
    while lost(high)[0] > high:
        low, high = high, 2 * high
        if high > LARGEST:
            raise CompositionRefused("these releases together promise nothing", fix="use more noise")
    if low:
        high = halved(lambda e: lost(e)[0] <= e, high, low, lambda good, bad: good - bad <= EXACT * good, mean)
    return decimal_up(high)


def shares(view: View, charges: Sequence[Charge]) -> Iterator[tuple[Part, list[Read]]]:
    """Yield each different component with a secret, as each release reads it."""
    for belief in view.framework.beliefs:
        reads, kinds = [], []
        for charge in charges:
            read = view.read(belief, charge)
            if read is None or read.answer is None or read.answer.size != belief.size:
                raise CompositionRefused(
                    f"some release is no sum over the values of {belief.describe()}",
                    rule="normal releases add up value by value", fix="calibrate all of them for one framework",
                )  # fmt: skip
            reads.append(read)
            effects = np.stack([read.answer.table_numbers, read.answer.weights])
            numbers = np.unique(effects, axis=1, return_inverse=True)[1]  # alike only for equal effects on the answer
            kinds.append(replace(read, changes=numbers.ravel().astype(np.int64)))
        pieces = dict[object, object]()
        for number, run, family in view.secret_runs(belief, kinds):
            piece, parts = belief.component(number), [read.of_run(run) for read in reads]
            key = (id(piece), family, *(read.answer.key for read in parts if read.answer is not None))
            if key not in pieces:
                pieces[key] = piece  # so that an id stays the piece's
                yield Part(piece, standing_in(len(run)), family, run.start), parts


def release_of(charge: Charge, read: Read) -> NormalRelease | Release:
    """Return a charge's answer and noise as a belief reads them."""
    assert read.answer is not None
    if charge.scale is None:
        return NormalRelease(read.answer, randomisers.from_dict(charge.randomiser).scale / read.grid)
    if charge.scale == 0:
        raise CompositionRefused(NO_NOISE)
    return Release(read.changes, charge.scale / read.grid, read.answer)


def _part_loss(
    part: Part, charges: Sequence[Charge], reads: Sequence[Read], log_kappa: float
) -> tuple[float, Witness | None]:
    normal, laplace = [], []
    for charge, read in zip(charges, reads, strict=True):
        if not read.changes.any():
            continue
        release = release_of(charge, read)
        if isinstance(release, NormalRelease):
            normal.append(release)
        else:
            laplace.append(release)
    if not normal and not laplace:
        return 0.0, None
    if not normal:
        return joint_loss(part, laplace)
    laplace_profile = None
    if laplace:
        laplace_profile = added([profile_of(part.belief, release) for release in laplace])
    return profile_loss(part, normal_profile(normal, log_kappa, laplace_profile))
