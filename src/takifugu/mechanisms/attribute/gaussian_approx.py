"""Normal noise for an answer that is only nearly normal (Zhang22 Algorithm 2, Theorem 3, with the delta corrected).

Let f_a be the density of the answer given the value a, f~_a the normal one of mean m_a and variance v that stands for
it, and lambda, eta such that f_a(T) <= e^lambda f~_a(T) + eta and f~_a(T) <= e^lambda f_a(T) + eta for every a and T
(`densities.excess`). Noise is post-processing, so both hold after it, too. If it makes the normal ones
(epsilon', delta')-indistinguishable, then with the same letters for the noisy distributions

    f_a <= e^lambda f~_a + eta <= e^lambda (e^epsilon' f~_b + delta') + eta
        <= e^(epsilon' + 2 lambda) f_b + e^lambda delta' + eta (1 + e^(epsilon' + lambda)).

The printed Theorem 3 has eta once: its proof forgets that of the second distribution (errata E8b). For every lambda
there is a least eta, so epsilon' = epsilon - 2 lambda and delta' follow from the promise, and the lambda that needs the
least noise is searched; any lambda is sound. The normal ones need a total variance of (D s)^2, where s is the analytic
deviation for a move by 1 (Balle and Wang 2018) and D the largest |m_a - m_b| of a comparison; v of it is there already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from takifugu.analysis.bounds import Bound, Cost, Refusal, Witness
from takifugu.analysis.guarantee import Covers
from takifugu.analysis.problem import Part, Problem
from takifugu.analysis.questions.answer_density import Given, answer_densities
from takifugu.analysis.questions.normal_law import deviation_up
from takifugu.core.errors import Unsupported
from takifugu.core.escaping import at_least
from takifugu.mechanisms.common.answer_noise import normal_noise
from takifugu.mechanisms.common.largest_need import refusing
from takifugu.mechanisms.common.rounded_number import least_for_read
from takifugu.mechanisms.normal_by_rule import refusal
from takifugu.model.secrets.families import compared_values
from takifugu.model.secrets.hypotheses import against
from takifugu.numbers.after_noise.gaussian import gaussian_analytic_sigma
from takifugu.numbers.densities.excess import charge_at
from takifugu.numbers.outward_rounding import exp_up
from takifugu.numbers.search import lowest

#: How many lambdas are tried at first, each twice the one before, and how often the best place is then narrowed.
TRIED, NARROWED = 12, 8
#: Operations for one charge (eta at one lambda), and for one analytic deviation.
_CHARGE, _SIGMA = 3e6, 1e6


@dataclass(frozen=True)
class Split:
    """How (epsilon, delta) is divided: lambda and eta for not being normal, the rest for the normal references."""

    closeness: float
    charge: float
    epsilon: Fraction
    delta: Fraction
    sigma: float

    @staticmethod
    def at(closeness: float, charge: float, epsilon: Fraction, delta: Fraction) -> Split | None:
        """Return the split for one lambda and its eta, if any."""
        left = epsilon - 2 * Fraction(closeness)
        if left <= 0:
            return None
        spent = Fraction(charge) * (1 + exp_up(float(left) + closeness))
        share = (delta - spent) / exp_up(closeness)
        if share < Fraction(1, 10**249):
            return None
        return Split(closeness, charge, left, share, gaussian_analytic_sigma(1, left, share))


@dataclass(frozen=True)
class AttributeGaussianApprox:
    """Rounded normal noise for one real number whose density given each value of what is hidden is known."""

    name: str = "attribute-gaussian-approx"
    source: str = "Zhang, Ohrimenko and Cummings 2022, Algorithm 2 and Theorem 3, with the delta that its proof gives"

    def cost(self, problem: Problem) -> Cost:
        """Predict the work: both charges of every density at every lambda."""
        if problem.is_pair:
            return Cost(1.0)
        densities = [answer_densities(part) or () for part in problem.law_parts]
        tries = TRIED + NARROWED + 3
        return Cost(1.0 + sum(tries * (2 * _CHARGE * len(splits) + _SIGMA) for splits in densities))

    @refusing
    def bound(self, problem: Problem) -> Bound | Refusal:
        """Return the least noise of any split of (epsilon, delta)."""
        if refused := refusal(problem):
            return refused
        sigma, worst = Fraction(0), Witness("no comparison: the normal references keep the promise without noise")
        for part in problem.law_parts:
            densities = None if problem.is_pair else answer_densities(part)
            # To an answer of finitely many values no density is close (errata E8b).
            if densities is None:
                return Refusal(
                    "the density of the answer is not known: this mechanism is for a Density belief, and never for "
                    'answers of finitely many values, which no normal distribution is close to: use '
                    'mechanism="gaussian-exact"'
                )
            of_part = OfReferences(part, densities)
            needed = least_for_read(of_part.least, densities[0].rounding, problem.epsilon, problem.delta)
            if needed > sigma:
                sigma, worst = needed, of_part.witness(problem)
        noise = normal_noise(problem, sigma / problem.unit)
        return Bound(noise, problem.epsilon, problem.delta, Covers.OUTPUT, worst)


@dataclass
class OfReferences:
    """The noise that the references of one part need, with the pair and the split that needed it last."""

    part: Part
    densities: Sequence[Given]
    pair: tuple[int, int] | None = None
    split: Split | None = None

    def least(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Return the least deviation; Unsupported where nothing is left for the references."""
        pairs = self.part.family.value_pairs(self.part.belief, 0)
        compared = dict.fromkeys(map(self.densities.__getitem__, compared_values(pairs)))
        self.split = best_split(list(compared), epsilon, delta)
        if self.split is None:
            raise Unsupported(
                f"no eta leaves the normal references anything of epsilon {at_least(epsilon)} and delta "
                f"{at_least(delta)}: the answer's distributions are not close enough to them; choose other references, "
                "or a larger delta"
            )
        variance = Fraction(0)
        for a, b in pairs:
            first, second = self.densities[a].reference, self.densities[b].reference
            move = Fraction(first.mean) - Fraction(second.mean)
            needed = move**2 * Fraction(self.split.sigma) ** 2 - Fraction(first.deviation) ** 2
            if needed > variance:
                variance, self.pair = needed, (a, b)
        return deviation_up(variance)

    def witness(self, problem: Problem) -> Witness:
        """Return what forced the noise."""
        split = self.split
        if self.pair is None or split is None:
            return Witness("no comparison: the noise hides how what is read was rounded")
        words = against(*map(self.part.belief.describe_hypothesis, self.pair))  # type: ignore[attr-defined]
        first, second = self.densities[self.pair[0]].reference, self.densities[self.pair[1]].reference
        move = abs(first.mean - second.mean)
        classical = math.sqrt(2 * math.log(1.25 / float(problem.delta))) * move / float(problem.epsilon)
        numbers = (
            ("lambda", split.closeness), ("eta", split.charge), ("epsilon of the references", float(split.epsilon)),
            ("delta of the references", float(split.delta)), ("difference of their means", move),
            ("sigma of Algorithm 2", math.sqrt(max(0.0, classical**2 - first.deviation**2))),
        )  # fmt: skip
        return Witness(words, "the normal distributions in place of the answer's lie farthest apart here", numbers)


MECHANISM = AttributeGaussianApprox()


def best_split(densities: Sequence[Given], epsilon: Fraction, delta: Fraction) -> Split | None:
    """Return the split of (epsilon, delta) with the least reference noise."""

    def at(closeness: float) -> Split | None:
        charge = max(charge_at(of_value.density, of_value.reference, closeness) for of_value in densities)
        return Split.at(closeness, charge, epsilon, delta)

    half = float(epsilon) / 2
    tried = [0.0, *(half * 2.0 ** -(TRIED - k) * (1 - 2.0**-10) for k in range(1, TRIED + 1))]
    splits = list(map(at, tried))
    places = [k for k, split in enumerate(splits) if split is not None]
    if not places:
        return None
    place = min(places, key=lambda k: _sigma(splits[k]))
    low, high = tried[max(place - 1, 0)], tried[min(place + 1, len(tried) - 1)]
    return min(splits[place], lowest(at, low, high, NARROWED, key=_sigma), key=_sigma)


def _sigma(split: Split | None) -> float:
    return math.inf if split is None else split.sigma
