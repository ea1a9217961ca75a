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
    "This holds for two values of the secret that are compared. Nothing is promised for values that are too far apart, "
    "or not listed."
)

#: From this epsilon on a suspicion of 1 % may become one of 99 %.
MUCH = 2 * math.log(99)


@dataclass(frozen=True)
class Beyond:
    """The odds `factor` times beyond e^epsilon, and their probability."""

    factor: float
    high: float
    #: At least that of an output that raises the odds further (and of one that lowers them), whatever the truth.
    probability: float


@dataclass(frozen=True)
class Suspicion:
    """The possible future of a suspicion under (epsilon, delta), never rounded."""

    prior: float
    epsilon: float
    delta: float
    #: Bounds on its probability after an output; delta > 0 has them at twice e^epsilon, but for a probability of
    #: 3 delta: at one end of 2 delta, at the other (less likely, if this one is) of delta.
    low: float
    high: float
    #: How often the best guess is right without the output, and at most with it.
    right_before: float
    right: float
    beyond: tuple[Beyond, ...]

    @property
    def exception(self) -> str:
        """What delta excepts from `low` and `high`, or ""."""
        return f", but for a probability of at most {thrice(self.delta)}" if self.delta else ""

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
    """Bound a suspicion of probability `prior` (such as 0.1, "10 %") after an (epsilon, delta) publication."""
    belief, loss, failure = _prior(prior), float(as_epsilon(epsilon)), float(as_delta(delta))
    beyond = tuple(_beyond(belief, loss, failure, factor) for factor in BEYOND if failure)
    return Suspicion(
        belief,
        loss,
        failure,
        posterior(belief, -_moved(loss, failure)),
        posterior(belief, _moved(loss, failure)),
        max(belief, 1 - belief),
        _right(belief, loss, failure),
        beyond,
    )


def one_sided(meaning: Suspicion) -> Suspicion:
    """Return a suspicion where only the suspected fact is hidden, not its opposite: its odds may fall to nothing."""
    prior, missed = meaning.prior, (1 - meaning.delta) * math.exp(-meaning.epsilon)
    # a test that says "a" where b is true with probability x is right about a with min(1, e^epsilon x + delta):
    # what is right is concave and piecewise linear in x, and largest at a corner
    right = max(prior * meaning.delta + 1 - prior, prior + (1 - prior) * (1 - missed), prior)
    return replace(meaning, low=0.0, right=right)


def warning(epsilon: Number) -> str:
    """Warn of an epsilon able to turn 1 % into 99 %; "" for a smaller one."""
    loss = float(as_epsilon(epsilon))
    if loss < MUCH:
        return ""
    high = percent(posterior(0.01, loss), up=True)
    return f"an epsilon of {at_most(loss)} hides next to nothing: a suspicion of 1 % may become {high}"


def posterior(prior: float, log_factor: float) -> float:
    """Multiply the odds of `prior` by e^log_factor."""
    if log_factor >= 0:
        return prior / (prior + (1 - prior) * math.exp(-log_factor))
    return prior * math.exp(log_factor) / (prior * math.exp(log_factor) + 1 - prior)


def _moved(epsilon: float, delta: float) -> float:
    """Return the logarithm of how far the odds move, but for what delta excepts."""
    return epsilon + math.log(BEYOND[0]) if delta else epsilon


def _beyond(prior: float, epsilon: float, delta: float, factor: float) -> Beyond:
    """Bound the probability of odds moved `factor` times beyond e^epsilon."""
    if math.isinf(factor):
        return Beyond(factor, 1.0, delta)
    # of outputs B with P(o|a) > c e^epsilon P(o|b): P(B|a) <= e^epsilon P(B|b) + delta <= P(B|a)/c + delta
    return Beyond(factor, posterior(prior, epsilon + math.log(factor)), min(1.0, delta * factor / (factor - 1)))


def _right(prior: float, epsilon: float, delta: float) -> float:
    """Return the largest probability of a right guess between a and b."""
    # saying "a" with probability x where b is true misses a with probability at least f(x) = max(0,
    # 1 - delta - e^epsilon x, e^-epsilon (1 - delta - x)) (Kairouz, Oh, Viswanath 2015): best at a corner of f
    middle = (1 - delta) * math.exp(-epsilon) / (1 + math.exp(-epsilon))  # where the two slopes meet: f(x) = x
    corners = [(0.0, 1 - delta), (middle, middle), (1 - delta, 0.0)]
    return max(prior * (1 - missed) + (1 - prior) * (1 - x) for x, missed in corners)


def percent(probability: float, up: bool) -> str:
    """Write a probability in per cent, rounded short of 0 and 100."""
    near = min(probability, 1 - probability) * 100
    digits = 1
    if 0 < near < 1:
        digits = min(1 + math.ceil(-math.log10(near)), 15)
    scaled = round(probability * 100 * 10**digits, 9)  # what float noise added is taken away before rounding
    numerator = max(math.ceil(scaled), probability > 0) if up else math.floor(scaled)
    text = f"{numerator // 10**digits}.{numerator % 10**digits:0{digits}d}".rstrip("0").rstrip(".")
    return f"{text} %"


def odds(probability: float, up: bool) -> str:
    """Write a probability as odds, rounded up or down."""
    if probability <= 0:
        return "impossible"
    if probability >= 1:
        return "certain"
    exact = as_fraction(probability, "a probability")
    if exact <= Fraction(1, 2):
        return f"1 to {_short((1 - exact) / exact, not up)}"
    return f"{_short(exact / (1 - exact), up)} to 1"


def sentence(suspicion: Suspicion) -> str:
    """Put a suspicion's future in one sentence."""
    return (
        f"someone {percent(suspicion.prior, up=True)} sure of a secret can become "
        f"{percent(suspicion.low, up=False)} to {percent(suspicion.high, up=True)} sure{suspicion.exception}"
    )


def factor_words(suspicion: Suspicion) -> str:
    """Say how far a promise lets odds move, and which way."""
    ways = "up or down" if suspicion.low else "up; it may become certain that it is not so"
    power = power_at_most(_moved(suspicion.epsilon, suspicion.delta), digits=3)
    return f"odds change by a factor of at most {power}, {ways}{suspicion.exception}"


def thrice(delta: float) -> str:
    """Write three times a probability, at most 1."""
    return at_most(min(Fraction(1), 3 * as_delta(delta)), digits=2)


def _prior(value: Number) -> float:
    text = value.strip() if isinstance(value, str) else ""
    if text.endswith("%"):
        exact = as_fraction(text[:-1], "the prior") / 100
    else:
        exact = as_fraction(value, "the prior")
    prior = float(exact) if 0 < exact < 1 else 0.0
    if prior in (0.0, 1.0):  # also one that is nearer to them than any float
        raise InputError(
            f"the prior is {value!r}",
            rule="it is how sure somebody is before, and lies above 0 and below 1",
            fix="write for example 0.1",
        ).at("prior")
    return prior


def _short(value: Fraction, up: bool) -> str:
    write = at_most if up else at_least
    return write(value, digits=3 if value < 1e6 else 2)
