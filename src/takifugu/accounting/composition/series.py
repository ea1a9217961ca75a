"""What a series of normal releases promises together, with Laplace noise beside it, one after the other.

Every later release counts as a multiple of the first one's profile, the least that covers its own at every entry, and
multiples add up (docs/theory/influence.md#influence-10). A series is declared with its first release and keeps this
rule: to choose between two rules after an output would cost the sum of both deltas. Several releases may begin it
together: all are paid for at once, and their squares add up to one profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from takifugu.accounting.composition.losses import NO_NOISE, Joint, deltas
from takifugu.accounting.composition.piling import standing_in
from takifugu.accounting.composition.views import Read, View, is_about
from takifugu.analysis import randomisers
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.analysis.problem import Part
from takifugu.analysis.questions.influence import Release
from takifugu.core.errors import CompositionRefused, Unsupported
from takifugu.influence.curves import profile_loss, profile_of
from takifugu.influence.profiles.normal import NormalRelease, covering_multiple, log_share, normal_profile
from takifugu.numbers.rationals import decimal_up
from takifugu.numbers.search import halved, mean

NORMAL = "rounded-normal"
#: The name of this rule.
SERIES = "series of normal releases"
#: An epsilon beyond which nothing is promised, and how exactly the least one is searched, relatively.
LARGEST, EXACT = Fraction(10**4), Fraction(1, 10**9)


def least_epsilon(keeps: Callable[[Fraction], bool], start: Fraction) -> Fraction:
    """Return the least epsilon from `start` on that releases keep, as all above it; raises where there is none."""
    low, high = Fraction(0), start
    while not keeps(high):
        low, high = high, 2 * high
        if high > LARGEST:
            raise CompositionRefused("these releases together promise nothing", fix="use more noise")
    if low:
        high = halved(keeps, high, low, lambda good, bad: good - bad <= EXACT * good, mean)
    return decimal_up(high)


def shares(view: View, charges: Sequence[Charge]) -> Iterator[tuple[Part, list[Read]]]:
    """Yield each different component with a secret, as each release reads it."""
    for belief in view.framework.beliefs:
        reads, kinds = [], []
        for charge in charges:
            read = view.read(belief, charge)
            if read is None or read.answer is None or not is_about(belief, charge):
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


#: Multiples are searched up to here; beyond it nothing is promised.
_MOST = 2.0**60


def in_a_series(charges: Sequence[Charge]) -> bool:
    """Return whether the first release began a series; raises where a later one would begin it."""
    if not charges or charges[0].begins_series:
        return bool(charges)
    if any(charge.begins_series for charge in charges):
        raise CompositionRefused(
            "a series of normal releases would begin after another release about the same data",
            rule="its first release is the first about its source",
            fix="publish without begins_series, or about another source",
        )
    return False


def series_joint(view: View, charges: Sequence[Charge]) -> Joint:
    """Return a series' least epsilon at the sum of its deltas, whatever was chosen after which output."""
    _check(view, charges)
    delta, promised = deltas(charges), charges[0].epsilon
    try:
        terms = [_term(part, charges, reads) for part, reads in list(shares(view, charges))]

        def keeps(epsilon: Fraction) -> bool:
            return _loss(terms, epsilon, delta) <= epsilon

        if len(charges) == 1 and keeps(promised):
            least = promised
        else:
            least = least_epsilon(keeps, max(charge.epsilon for charge in charges))
    except Unsupported as error:
        raise CompositionRefused(error.message) from None
    return Joint(least, delta, SERIES, Covers.ENTRIES)


def loss_at(
    parts: Sequence[tuple[Part, list[Read]]], charges: Sequence[Charge], epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return the loss of a series at its share of delta: at most epsilon where it keeps (epsilon, delta)."""
    return _loss([_term(part, charges, reads) for part, reads in parts], epsilon, delta)


def _loss(terms: Sequence[tuple[Part, list[NormalRelease]]], epsilon: Fraction, delta: Fraction) -> Fraction:
    share = log_share(epsilon, delta)
    losses = [profile_loss(part, normal_profile(base, share))[0] for part, base in terms if base]
    return Fraction(max(losses, default=0.0))


def _check(view: View, charges: Sequence[Charge]) -> None:
    first, fix = charges[0], "publish it about another source, or all of them at once"
    if not view.is_native(first):
        raise CompositionRefused("a series counts under the beliefs of its first release only", fix=fix)
    if any(charge.scope != "unit" for charge in charges):
        raise CompositionRefused("a series and a release over several people have no joint promise", fix=fix)
    if len({charge.at for charge in charges if charge.at is not None}) > 1:
        raise CompositionRefused(
            "it is not known that the releases of a series read the same values",
            fix="declare where the sequence starts, with the same `at` for all of them",
        )
    for charge in charges:
        is_normal = charge.randomiser["kind"] == NORMAL
        is_later_laplace = not charge.begins_series and charge.scale is not None
        if not is_normal and not is_later_laplace:
            raise CompositionRefused("a series has normal noise, and Laplace noise beside it", fix=fix)


def _term(part: Part, charges: Sequence[Charge], reads: Sequence[Read]) -> tuple[Part, list[NormalRelease]]:
    """Return a component's first releases with noise so small that it covers the series; [] without moves."""
    moving = [number for number, read in enumerate(reads) if read.changes.any()]
    if not moving:
        return part, []
    first, later = [], []
    for number in moving:
        release = release_of(charges[number], reads[number])
        if not charges[number].begins_series:
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
