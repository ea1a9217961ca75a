"""What a promise means for somebody with a suspicion: how sure they can become, and how often a best guess is right.

A promise (epsilon, delta) about two hypotheses a and b says P(S|a) <= e^epsilon P(S|b) + delta for every set S of
outputs, and the same with a and b exchanged. By Bayes' rule the odds of a against b after an output o are the odds
before times P(o|a)/P(o|b), which lies in [e^-epsilon, e^epsilon] where delta = 0. Where a secret has more than two
values and each is protected against each, "not a" is a mixture of them, and the same holds for a against "not a".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.core.escaping import at_least, at_most, power_at_most
from takifugu.core.plain import Json
from takifugu.core.sections import values_by_field
from takifugu.numbers.rationals import Number, as_delta, as_epsilon, as_fraction

#: With delta, the odds may move further than by e^epsilon: by how many times as much, and math.inf is certainty.
BEYOND = (2.0, 10.0, math.inf)
#: What a suspicion is about where values of what is hidden are not compared with all others.
OF_SOME = (
    "This is said of two hidden values that are compared, of the one against the other. Of values that are not "
    "compared, because they are too far apart or not listed, nothing is promised."
)

#: From this epsilon on a suspicion of 1 % may become one of 99 %.
MUCH = 2 * math.log(99)


@dataclass(frozen=True)
class Beyond:
    """The odds `factor` times beyond e^epsilon, and their probability.

    `probability` bounds, from above, the probability that an output raises the odds by more than factor * e^epsilon
    (and also that one lowers them by more), whatever the truth.
    """

    factor: float
    high: float
    probability: float


@dataclass(frozen=True)
class Suspicion:
    """The possible future of a suspicion under (epsilon, delta), never rounded.

    `low` and `high` bound its probability after an output (for delta > 0: up to what `beyond` lists). `right_before`
    and `right` are how often the best guess is right without the output, and at most with it.
    """

    prior: float
    epsilon: float
    delta: float
    low: float
    high: float
    right_before: float
    right: float
    beyond: tuple[Beyond, ...]

    @property
    def hides_little(self) -> str:
        """A warning of next to no promise, or ""."""
        return warning(self.epsilon)

    def to_dict(self) -> Json:
        """Return plain data for JSON, with null for an infinite factor."""
        beyond = []
        for further in self.beyond:
            factor = None if math.isinf(further.factor) else further.factor
            beyond.append({"factor": factor, "high": further.high, "probability": further.probability})
        return {**values_by_field(self), "beyond": beyond}


def explain(prior: Number, epsilon: Number, delta: Number = 0) -> Suspicion:
    """Bound a suspicion of probability `prior` after an (epsilon, delta) publication.

    Raises InputError unless 0 < prior < 1, epsilon > 0 and 0 <= delta < 1. A prior may be a text such as "10 %".

    >>> seen = explain(0.1, 1)
    >>> percent(seen.low, up=False), percent(seen.high, up=True)
    ('3.9 %', '23.2 %')
    """
    belief, loss, failure = _prior(prior), float(as_epsilon(epsilon)), float(as_delta(delta))
    if failure:
        beyond = tuple(_beyond(belief, loss, failure, factor) for factor in BEYOND)
    else:
        beyond = ()
    return Suspicion(
        belief,
        loss,
        failure,
        posterior(belief, -loss),
        posterior(belief, loss),
        max(belief, 1 - belief),
        _right(belief, loss, failure),
        beyond,
    )


def one_sided(meaning: Suspicion) -> Suspicion:
    """Return a suspicion where only the suspected fact is hidden, and not its opposite.

    Then P(S|a) <= e^epsilon P(S|b) + delta bounds how far odds rise; they may fall to nothing. A test that says "a"
    where b is true with probability x is right about a with probability min(1, e^epsilon x + delta) at most: what is
    right is concave and piecewise linear in x, and largest at a corner.

    >>> seen = one_sided(explain("50 %", 1))
    >>> seen.low, percent(seen.high, up=True), percent(seen.right, up=True)
    (0.0, '73.2 %', '81.7 %')
    """
    prior, missed = meaning.prior, (1 - meaning.delta) * math.exp(-meaning.epsilon)
    right = max(prior * meaning.delta + 1 - prior, prior + (1 - prior) * (1 - missed), prior)
    return replace(meaning, low=0.0, right=right)


def warning(epsilon: Number) -> str:
    """Warn of an epsilon able to turn 1 % into 99 %.

    "" for a smaller epsilon.

    >>> warning(9), warning(10)[:34]
    ('', 'an epsilon of 10 hides next to not')
    """
    loss = float(as_epsilon(epsilon))
    if loss < MUCH:
        return ""
    high = percent(posterior(0.01, loss), up=True)
    return f"an epsilon of {at_most(loss)} hides next to nothing: a suspicion of 1 % may become {high}"


def posterior(prior: float, log_factor: float) -> float:
    """Multiply the odds of `prior` by e^log_factor.

    >>> posterior(0.5, math.log(3))
    0.75
    """
    if log_factor >= 0:
        return prior / (prior + (1 - prior) * math.exp(-log_factor))
    return prior * math.exp(log_factor) / (prior * math.exp(log_factor) + 1 - prior)


def _beyond(prior: float, epsilon: float, delta: float, factor: float) -> Beyond:
    """Bound the probability of odds moved `factor` times beyond e^epsilon.

    Let B hold the outputs with P(o|a) > c e^epsilon P(o|b). Then P(B|a) <= e^epsilon P(B|b) + delta <= P(B|a)/c +
    delta, so that P(B|a) <= delta c/(c-1); P(B|b) is smaller still.
    """
    if math.isinf(factor):
        return Beyond(factor, 1.0, delta)
    return Beyond(factor, posterior(prior, epsilon + math.log(factor)), min(1.0, delta * factor / (factor - 1)))


def _right(prior: float, epsilon: float, delta: float) -> float:
    """Return the largest probability of a right guess between a and b.

    A test that says "a" where b is true with probability x misses a with probability at least f(x) = max(0, 1 - delta -
    e^epsilon x, e^-epsilon (1 - delta - x)) (Kairouz, Oh, Viswanath 2015). What is right with prior (1 - f(x)) + (1 -
    prior)(1 - x) is concave and piecewise linear in x: its largest value is at a corner.
    """
    middle = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))  # where the two slopes meet: f(x) = x
    corners = [(0.0, 1 - delta), (middle, middle), (1 - delta, 0.0)]
    return max(prior * (1 - missed) + (1 - prior) * (1 - x) for x, missed in corners)


def percent(probability: float, up: bool) -> str:
    """Write a probability in per cent, rounded short of 0 and 100.

    >>> percent(0.99991, up=True), percent(0.1, up=True), percent(1e-6, up=False), percent(1.0, up=True)
    ('99.991 %', '10 %', '0.0001 %', '100 %')
    """
    near = min(probability, 1 - probability) * 100
    digits = 1
    if 0 < near < 1:
        digits = min(1 + math.ceil(-math.log10(near)), 15)
    scaled = round(probability * 100 * 10**digits, 9)  # what float noise added is taken away before rounding
    numerator = math.ceil(scaled) if up else math.floor(scaled)
    text = f"{numerator // 10**digits}.{numerator % 10**digits:0{digits}d}".rstrip("0").rstrip(".")
    return f"{text} %"


def odds(probability: float, up: bool) -> str:
    """Write a probability as odds, rounded up or down.

    >>> odds(0.1, up=True), odds(0.75, up=True), odds(0.3, up=True), odds(0.3, up=False)
    ('1 to 9', '3 to 1', '1 to 2.33', '1 to 2.34')
    """
    if probability <= 0:
        return "impossible"
    if probability >= 1:
        return "certain"
    exact = as_fraction(probability, "a probability")
    if exact <= Fraction(1, 2):
        return f"1 to {_short((1 - exact) / exact, not up)}"
    return f"{_short(exact / (1 - exact), up)} to 1"


def sentence(suspicion: Suspicion) -> str:
    """Put a suspicion's future in one sentence.

    >>> sentence(explain("10%", 1))
    'someone 10 % sure of a secret can become 3.9 % to 23.2 % sure'
    """
    low, high, exception = suspicion.low, suspicion.high, ""
    if suspicion.beyond:  # one end with at most 2 delta, the other (less likely, if this one is) with delta
        twice = suspicion.beyond[0]
        low, high = posterior(suspicion.prior, -suspicion.epsilon - math.log(twice.factor)), twice.high
        exception = f", but for a probability of at most {thrice(suspicion.delta)}"
    return (
        f"someone {percent(suspicion.prior, up=True)} sure of a secret can become {percent(low, up=False)} to "
        f"{percent(high, up=True)} sure{exception}"
    )


def factor_words(suspicion: Suspicion) -> str:
    """Say how far a promise lets odds move, and which way.

    >>> factor_words(explain("10%", 1))
    'odds change by a factor of at most e^1 < 2.72, up or down'
    """
    ways = "up or down" if suspicion.low else "up; it may become certain that it is not so"
    return f"odds change by a factor of at most {power_at_most(suspicion.epsilon, digits=3)}, {ways}"


def thrice(delta: float) -> str:
    """Write three times a probability, at most 1."""
    return at_most(min(Fraction(1), 3 * as_delta(delta)), digits=2)


def _prior(value: Number) -> float:
    text = value.strip() if isinstance(value, str) else ""
    if text.endswith("%"):
        exact = as_fraction(text[:-1], "the prior") / 100
    else:
        exact = as_fraction(value, "the prior")
    if not Fraction(0) < exact < Fraction(1):
        raise InputError(
            f"the prior is {value!r}",
            rule="it is how sure somebody is before, and lies above 0 and below 1",
            fix="write for example 0.1",
        ).at("prior")
    return float(exact)


def _short(value: Fraction, up: bool) -> str:
    write = at_most if up else at_least
    return write(value, digits=3 if value < 1e6 else 2)
