"""Every choice of values for the rows of one person, with its weight in each population: for the audit.

Nothing here knows how calibration looks at single rows: the joint distribution of all rows is listed. Populations that
were counted, and rows that may depend on each other, are a class of such distributions; of the first, the largest loss
of rows that are sent one by one is a ratio of two linear programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations, product
from operator import neg
from typing import TypeVar

import numpy as np

from takifugu.analysis.questions.joint_states import (
    JointStates,
    States,
    all_states,
    check_count,
    integers,
    joint_states,
    of_one_law,
)
from takifugu.audit.noise_masses import Finite
from takifugu.audit.results import Audit, largest
from takifugu.core.errors import InputError, Unsupported
from takifugu.model.beliefs.population_region import WHOLE, Region
from takifugu.model.beliefs.populations import FromPopulations, WhichOf

Populations = TypeVar("Populations", FromPopulations, WhichOf, covariant=True)
#: Most outputs whose ratios are looked at over a class.
MOST_OUTPUTS = 64


class _OfPopulations(JointStates[Populations]):
    """A class with counted populations, or with dependent rows."""

    @property
    def rows(self) -> FromPopulations:
        raise NotImplementedError

    @property
    def is_class(self) -> bool:
        return self.rows.regions is not None or not self.rows.adds_up

    def stand_in(self, member: FromPopulations) -> FromPopulations:
        """Return known populations with independent rows, as a class member."""
        rows = self.rows
        is_alike = (member.populations, member.values, member.rows) == (rows.populations, rows.values, rows.rows)
        if not is_alike or joint_states(member).is_class:
            raise InputError(
                f"{member.describe()} do not stand for {rows.describe()}",
                rule="a member has the same populations, values and number of rows, which are independent",
            )
        if rows.regions is None:
            return member
        for name, law in zip(rows.populations, member.laws, strict=True):
            if not rows.regions.by_name[name].contains(law):
                raise InputError(f"the population {name!r} is not in the class", rule="it lies outside its region")
        return member


class WhichStates(_OfPopulations[WhichOf]):
    """The values of all rows, and last their equally likely population."""

    @property
    def rows(self) -> FromPopulations:
        return self.belief.whole

    def states(self) -> States:
        rows = self.rows
        check_count(len(rows.values), rows.size)
        check_count(len(rows.laws) * len(rows.values) ** rows.size)
        values, weights = [], list[Fraction]()
        for population, law in enumerate(rows.laws):
            can = [place for place, mass in enumerate(law) if mass]
            for row in product(can, repeat=rows.size):
                values.append((*row, population))
                weights.append(math.prod(map(law.__getitem__, row), start=Fraction(1)))
        return of_one_law(np.array(values, dtype=np.int64), integers(weights), rows.size + 1)


class RowStates(_OfPopulations[FromPopulations]):
    """The values of all rows, whatever the population: each is as likely."""

    @property
    def rows(self) -> FromPopulations:
        return self.belief

    def states(self) -> States:
        states = all_states(self.belief.which)
        values, place = np.unique(states.values[:, :-1], axis=0, return_inverse=True)
        weights = np.zeros(len(values), dtype=object)
        np.add.at(weights, place.ravel(), states.weights[0])
        return of_one_law(values, weights, self.belief.size)


def largest_over_class(
    rows: FromPopulations,
    noises: Sequence[Finite],
    distance: Callable[[FromPopulations, str, str], Fraction | None],
) -> Audit | None:
    """Return the rows' largest loss over all counted populations, divided by their `distance`, if known."""
    # Rows sent as the same outputs lose log(max p.m / min q.m), p and q in two regions, m the outputs' probabilities.
    all_outputs = [noise.outputs for noise in noises]
    if rows.regions is None or not rows.adds_up or math.prod(map(len, all_outputs)) > MOST_OUTPUTS:
        return None
    every: list[Audit] = []
    for outputs in product(*all_outputs):
        column, turned = list[Fraction](), list[Fraction]()
        for value in range(len(rows.values)):
            likelihood = Fraction(1)
            for noise, output in zip(noises, outputs, strict=True):
                likelihood *= noise.mass(value, output)
            column.append(likelihood)
            turned.append(-likelihood)
        most, less = {}, {}
        for name, region in rows.regions.by_name.items():
            most[name], less[name] = _largest(region, column), _largest(region, turned)
        for a, b in permutations(rows.populations, 2):
            apart = distance(rows, a, b)
            if not apart:
                return None  # W-infinity of counted populations is not known
            low = _log_ratio(most[a][0], -less[b][0]) * rows.rows / float(apart)
            high = _log_ratio(most[a][1], -less[b][1]) * rows.rows / float(apart)
            left = rows.which.describe_hypothesis(rows.populations.index(a))
            right = rows.which.describe_hypothesis(rows.populations.index(b))
            every.append(Audit(high + 1e-12, f"{left} against {right}", outputs, low - 1e-6, high + 1e-12))
    return largest(every)


def _log_ratio(most: Fraction, least: Fraction) -> float:
    if most <= 0:
        return 0.0
    if least <= 0:
        return math.inf
    return math.log(most) - math.log(least)


def _largest(region: Region, column: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Return about the largest p.column over a region, and a bound."""
    from scipy.optimize import linprog

    blocks = region.tree.all
    sets = np.zeros((len(blocks), len(column)))
    for number, block in enumerate(blocks):
        sets[number, list(block.values)] = 1.0
    least = [Fraction(low, WHOLE) for low in region.low]
    most = [Fraction(high, WHOLE) for high in region.high]
    ends = np.array([*map(float, most), *map(float, map(neg, least))])
    solved = linprog(
        -np.array(column, dtype=np.float64), np.vstack([sets, -sets]), ends, np.ones((1, len(column))), [1.0], (0, 1)
    )
    if not solved.success:
        raise Unsupported(f"the audit could not solve a linear program over the class ({solved.message})")
    # Every multiplier gives a bound, so it is proved whatever the solver does.
    marginals = [Fraction(float(-m)) for m in solved.ineqlin.marginals]
    total_price = Fraction(float(-solved.eqlin.marginals[0]))
    bound, prices = total_price, [total_price] * len(column)
    for number, block in enumerate(blocks):
        multiplier = marginals[number] - marginals[number + len(blocks)]
        if multiplier > 0:
            bound += multiplier * most[number]
        else:
            bound += multiplier * least[number]
        for value in block.values:
            prices[value] += multiplier
    for gain, price in zip(column, prices, strict=True):
        bound += max(Fraction(0), gain - price)
    return Fraction(float(-solved.fun)), bound
