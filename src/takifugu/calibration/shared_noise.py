"""Noise of several queries that share one promise: what it loses together, and how it errs.

Laplace noise of scales b_k loses what a curve says of one profile, linear in the rates 1/b_k (`shared_profile`); with
choices, and where the loss is no function of one profile, what `composition.by_noise` says. Normal noise of deviations
s_k loses at delta what `composition.series` says, a function of sum_k D_k^2/s_k^2 where all profiles have one shape:
squares add up entry by entry, and Theorem 4 of docs/theory/influence.md is applied once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from takifugu.accounting.composition import Charge, charge_of, joint
from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.series import loss_at, series_joint, shares
from takifugu.accounting.composition.views import Read, View
from takifugu.analysis.bounds import Bound, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.randomisers import RoundedNormal
from takifugu.analysis.sensitivity import component_change
from takifugu.calibration import noise_of, of_bound, of_scale
from takifugu.calibration.result import Calibration
from takifugu.calibration.shared_profile import SharedProfile, shared_profile
from takifugu.core.errors import CalibrationRefused
from takifugu.mechanisms import influence_gaussian
from takifugu.model.frameworks import Framework
from takifugu.numbers.search import geometric_mean, halved

SOURCE = "the least total expected error under one joint loss (docs/theory/influence.md, several queries at once)"
#: The least share of epsilon, or delta, that one of several normal releases is said to promise alone.
LEAST_SHARE = Fraction(1, 2**10)
#: How exactly a share of delta is searched, relatively.
CLOSE = 1e-3

#: That too little noise is allowed here: scales are only tried, and `calibrate_jointly` judges those that it returns.
JUDGED = True

Scales = Sequence[Fraction]


@dataclass(frozen=True, eq=False)
class SharedNoise:
    """The noise of queries in one split promise, scaled in answer units."""

    framework: Framework
    problems: tuple[Problem, ...]
    epsilon: Fraction
    #: Where all profiles have one shape the loss is a function of the sum of D_k/b_k^power.
    power: ClassVar[int]
    begins_series: ClassVar[bool]

    @cached_property
    def start(self) -> Scales:
        """Return scales for the start of a search."""
        raise NotImplementedError

    @property
    def least(self) -> Scales:
        """Return each release's least scale on its own."""
        return [Fraction(0)] * len(self.problems)

    @property
    def shapes(self) -> Sequence[Sequence[int]]:
        """Return the places of releases whose profiles are proportional, shape by shape."""
        return [(place,) for place in range(len(self.problems))]

    @property
    def sizes(self) -> Scales:
        """Return how far each answer moves, in proportion within a shape."""
        return self.start

    @cached_property
    def view(self) -> View:
        return View(self.framework, self.framework.fingerprint())

    def guess(self, scales: Scales) -> float:
        """Return about the factor these scales need."""
        raise NotImplementedError

    def loss(self, scales: Scales) -> float:
        """Return the joint loss of these scales, at most epsilon if kept."""
        raise NotImplementedError

    def error(self, place: int, scale: Fraction) -> float:
        """Return the expected error of one release."""
        raise NotImplementedError

    def only(self, place: int) -> Self:
        """Return one query's noise, with an equal share of the promise."""
        raise NotImplementedError

    def fits(self, scales: Scales) -> bool:
        """Return whether every release alone can promise its part."""
        return True

    def bounded(self) -> Self:
        """Return noise with at least an equal share for every release."""
        return self

    def calibrations(self, scales: Scales, conditions: tuple[str, ...]) -> tuple[Calibration, ...]:
        """Return the noise of fitting scales, each with its own promise."""
        raise NotImplementedError

    def charged(self, calibrations: Sequence[Calibration]) -> Fraction:
        """Return a ledger's epsilon for all of them."""
        return joint(self.framework, list(map(self.charge, calibrations))).epsilon

    def charge(self, calibration: Calibration) -> Charge:
        """Return a calibration's charge as one of those that share the promise."""
        return charge_of(calibration, begins_series=self.begins_series)


def _still(problem: Problem) -> CalibrationRefused:
    message = f"no secret moves the answer of the query ({problem.query.describe()})"
    refused = CalibrationRefused(message, rule="it needs no noise", fix="publish it without, or leave it out")
    return refused.at("queries")


@dataclass(frozen=True, eq=False)
class LaplaceTogether(SharedNoise):
    """Laplace noise, and choices by permute-and-flip, of several queries."""

    power: ClassVar[int] = 1
    begins_series: ClassVar[bool] = False

    @cached_property
    def start(self) -> Scales:
        """How far each answer moves when all of a component changes."""
        sizes = [component_change(problem).size for problem in self.problems]
        for problem, size in zip(self.problems, sizes, strict=True):
            if size == 0:
                raise _still(problem)
        return sizes

    def guess(self, scales: Scales) -> float:
        return math.fsum(float(d / b) for d, b in zip(self.start, scales, strict=True)) / float(self.epsilon)

    @cached_property
    def charges(self) -> list[Charge]:
        """Return a charge for each query, its scale set by `loss`."""
        charges = map(self.charge, self.calibrations(self.start, ()))
        return [replace(charge, covers=Covers.ENTRIES, epsilon=Fraction(0)) for charge in charges]

    @cached_property
    def profile(self) -> SharedProfile | None:
        """The profile of all releases; None where their loss is no function of one."""
        return shared_profile(self.view, self.charges)

    @property
    def shapes(self) -> Sequence[Sequence[int]]:
        return super().shapes if self.profile is None else self.profile.shapes

    @property
    def sizes(self) -> Scales:
        return super().sizes if self.profile is None else self.profile.sizes

    def loss(self, scales: Scales) -> float:
        if self.profile is not None:
            return self.profile.loss(scales)
        noised = [replace(charge, scale=scale) for charge, scale in zip(self.charges, scales, strict=True)]
        return float(cost_by_noise(self.view, noised))

    def error(self, place: int, scale: Fraction) -> float:
        return noise_of(self.problems[place], scale).expected_error()

    def only(self, place: int) -> Self:
        return replace(self, problems=(self.problems[place],), epsilon=self.epsilon / len(self.problems))

    def calibrations(self, scales: Scales, conditions: tuple[str, ...]) -> tuple[Calibration, ...]:
        pairs = zip(self.problems, scales, strict=True)
        return tuple(of_scale(problem, scale, "jointly", SOURCE, conditions, JUDGED) for problem, scale in pairs)


@dataclass(frozen=True, eq=False)
class NormalTogether(SharedNoise):
    """Normal noise of several queries, each promising epsilon at its delta share."""

    delta: Fraction
    is_bounded: bool = False
    power: ClassVar[int] = 2
    begins_series: ClassVar[bool] = True

    @cached_property
    def start(self) -> Scales:
        """What each query needs alone, at an equal share of delta."""
        scales = []
        for problem in self.problems:
            bound = influence_gaussian.MECHANISM.bound(replace(problem, delta=self.delta / len(self.problems)))
            if isinstance(bound, Refusal):
                raise CalibrationRefused(f"normal noise does not apply to the query ({problem.query.describe()})",
                    rule=bound.reason, fix="leave delta out").at("queries")  # fmt: skip
            if not isinstance(bound.randomiser, RoundedNormal):
                raise _still(problem)
            scales.append(bound.randomiser.scale)
        return scales

    @property
    def least(self) -> Scales:
        return self.start if self.is_bounded else super().least

    def guess(self, scales: Scales) -> float:
        return math.sqrt(math.fsum(float(a / b) ** 2 for a, b in zip(self.start, scales, strict=True)))

    @cached_property
    def charges(self) -> list[Charge]:
        """Return a charge for each query, its noise set by `loss`."""
        promise = self.epsilon, self.delta
        return [self.charge(self._made(place, scale, promise, ())) for place, scale in enumerate(self.start)]

    @cached_property
    def parts(self) -> list[tuple[Part, list[Read]]]:
        return list(shares(self.view, self.charges))

    def loss(self, scales: Scales) -> float:
        noised = [self._noised(place, scale) for place, scale in enumerate(scales)]
        return float(loss_at(self.parts, noised, self.epsilon, self.delta))

    def error(self, place: int, scale: Fraction) -> float:
        return self._noise(place, scale).expected_error()

    def only(self, place: int) -> Self:
        return replace(self, problems=(self.problems[place],))

    def fits(self, scales: Scales) -> bool:
        return self._shares(scales) is not None

    def bounded(self) -> Self:
        return replace(self, is_bounded=True)

    def calibrations(self, scales: Scales, conditions: tuple[str, ...]) -> tuple[Calibration, ...]:
        calibrations = []
        for place, (scale, share) in enumerate(zip(scales, self._shares(scales) or (), strict=True)):
            charge = replace(self._noised(place, scale), epsilon=self.epsilon * LEAST_SHARE, delta=share)
            alone = series_joint(self.view, [charge]).epsilon
            calibrations.append(self._made(place, scale, (min(alone, self.epsilon), share), conditions))
        return tuple(calibrations)

    def _shares(self, scales: Scales) -> list[Fraction] | None:
        """Return each release's share of delta for epsilon, if they fit."""
        equal = self.delta / len(scales)
        # Equal where that is enough; else each has what it needs, and an equal part of the rest.
        if self.is_bounded or all(self._keeps(place, scale, equal) for place, scale in enumerate(scales)):
            return [equal] * len(scales)
        needed = [self._needed(place, scale) for place, scale in enumerate(scales)]
        spare = self.delta - sum(needed)
        if spare <= 0:
            return None
        return [share + spare / len(scales) for share in needed]

    def _needed(self, place: int, scale: Fraction) -> Fraction:
        """Return about each release's least share of delta, rounded up."""
        good, bad = 1.0, LEAST_SHARE / len(self.problems)
        share = halved(
            lambda part: self._keeps(place, scale, self.delta * Fraction(part)), good, float(bad),
            lambda good, bad: good <= bad * (1 + CLOSE), geometric_mean,
        )  # fmt: skip
        return self.delta * Fraction(share).limit_denominator(10**9) * (1 + Fraction(1, 10**5))

    def _keeps(self, place: int, scale: Fraction, share: Fraction) -> bool:
        parts = list(shares(self.view, [self.charges[place]]))
        return loss_at(parts, [self._noised(place, scale)], self.epsilon, share) <= self.epsilon

    def _noise(self, place: int, scale: Fraction) -> RoundedNormal:
        problem = self.problems[place]
        return RoundedNormal(scale, problem.grid, problem.cells, problem.on_grid)

    def _noised(self, place: int, scale: Fraction) -> Charge:
        return replace(self.charges[place], randomiser=self._noise(place, scale).to_dict())

    def _made(
        self, place: int, scale: Fraction, promise: tuple[Fraction, Fraction], conditions: tuple[str, ...]
    ) -> Calibration:
        witness = Witness("any one value against another", "all of these queries are published")
        bound = Bound(self._noise(place, scale), *promise, Covers.OUTPUT, witness)
        return of_bound(self.problems[place], bound, "jointly", SOURCE, conditions, JUDGED)
