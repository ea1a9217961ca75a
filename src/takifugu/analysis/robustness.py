"""What a promise becomes for somebody whose belief is near a stated one, but not among them.

With the laws of the data given each secret within Delta of a stated belief's, (epsilon, delta) becomes (epsilon + 2
Delta, min(e^Delta delta, 1 - e^-Delta (1 - delta))). Within Delta overall, where secrets are facts about the data, it
counts twice. A promise about every change of the data holds under any belief.

Source: docs/theory/robustness.md#robustness-theorem and #robustness-corollary; the conditional form with delta = 0 is
that of Song17 as published at SIGMOD 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from takifugu.analysis.guarantee import Covers, Guarantee
from takifugu.core.errors import InputError
from takifugu.core.escaping import at_least, promised
from takifugu.core.rules import check_type
from takifugu.core.typed import Typed
from takifugu.model.frameworks import DEFINITIONS
from takifugu.numbers.noise_quantiles import laplace_survival
from takifugu.numbers.rationals import Number, as_fraction, round_up, to_text

#: The distances that comparisons and reports show, and what they say about them.
PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
OFF_HEADER = ("belief off by", "given each secret", "overall")
OFF_BY = (
    "belief off by d: the data, given each secret (or overall), are at most e^d times likelier or less likely than "
    "under a stated belief. Promises that compose as whole do not depend on the belief."
)
#: What stands for the overall promise where what is hidden is no fact about the data.
NO_FACTS = "-"
_BITS = 80


@dataclass(frozen=True)
class Weakened(Typed):
    """What (epsilon, delta) becomes for a belief that is off by `off_by`, given each secret and overall."""

    off_by: Fraction
    epsilon: Fraction
    delta: Fraction
    #: None where what is hidden is no fact about the data.
    epsilon_overall: Fraction | None
    delta_overall: Fraction | None

    @property
    def cells(self) -> tuple[str, str, str]:
        """Return the row under OFF_HEADER."""
        overall = NO_FACTS
        if self.epsilon_overall is not None and self.delta_overall is not None:
            overall = promised(self.epsilon_overall, self.delta_overall)
        return at_least(self.off_by), promised(self.epsilon, self.delta), overall


def if_belief_off(epsilon: Fraction, delta: Fraction, hides_facts: bool = True) -> tuple[Weakened, ...]:
    """Return the promise at the distances PRIORS, overall only where the secrets are facts about the data."""
    rows = []
    for d in PRIORS:
        overall = weakened(epsilon, delta, 2 * d) if hides_facts else (None, None)
        rows.append(Weakened(d, *weakened(epsilon, delta, d), *overall))
    return tuple(rows)


def robust_guarantee(
    guarantee: Guarantee, *, conditional: Number | None = None, unconditional: Number | None = None
) -> Guarantee:
    """Compute the guarantee if the belief is off by a distance.

    The distance is the largest absolute log-ratio of two distributions of the data. Give one of the two. A guarantee
    that covers everything stays as it is. For several releases ask about `compose(calibrations)`.

    Args:
        guarantee: The guarantee.
        conditional: The distance given each secret: epsilon becomes epsilon + 2 distance.
        unconditional: The distance of the whole data: epsilon becomes epsilon + 4 distance.

    Returns:
        The weaker guarantee.

    Raises:
        InputError: Unless exactly one distance is given, for one that is negative or not finite, for a guarantee per
            unit of a distance, and for `unconditional` where the secret is no fact about the data.

    Examples:
        >>> from takifugu import Count, MarkovChain, Pufferfish, calibrate, every_entry
        >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=100)
        >>> found = calibrate(Pufferfish(every_entry(), chain), Count(1), epsilon=1, mechanism="quilt-exact")
        >>> robust_guarantee(found.guarantee, conditional=0.1).epsilon
        Fraction(6, 5)
    """
    check_type(guarantee, Guarantee, "a promise", "give the guarantee of calibrate(...) or compose(...)", "guarantee")
    if (conditional is None) == (unconditional is None):
        raise InputError(
            "give one distance", rule="conditional=0.1 (given each secret) or unconditional=0.1 (whole data)"
        )
    if unconditional is None:
        off_by, factor, scope = _distance(conditional, "conditional"), 1, "given each secret"
    else:
        off_by, factor, scope = _distance(unconditional, "unconditional"), 2, "overall"
    if guarantee.covers is Covers.EVERYTHING:
        return guarantee
    _check_follows(guarantee, unconditional is not None)
    if off_by == 0:
        return guarantee
    epsilon, delta = weakened(guarantee.epsilon, guarantee.delta, factor * off_by)
    condition = f"also for a belief that is off by at most {to_text(off_by)} from a stated one, {scope}"
    return replace(guarantee, epsilon=epsilon, delta=delta, conditions=(*guarantee.conditions, condition))


def _distance(distance: Number | None, key: str) -> Fraction:
    off_by = as_fraction(distance, "the distance", key)
    if off_by < 0:
        raise InputError(
            f"the distance is {distance!r}", rule="it must not be negative",
            fix="0 means that the belief is a stated one",
        )
    return off_by


def _check_follows(guarantee: Guarantee, is_overall: bool) -> None:
    """Raise InputError where the theorem says nothing of a promise."""
    if any(DEFINITIONS.find(name).per_distance for name in guarantee.definition.split("+")):
        raise InputError(
            "epsilon is multiplied by the distance of what is compared",
            rule="at distance d and off by Delta, given each secret, it is epsilon d + 2 Delta",
            fix="add 2 Delta to each product",
        )
    if is_overall and not guarantee.hides_facts:
        raise InputError(
            "what is hidden is a distribution that the data follow, and no fact about them",
            rule="distributions of the whole data may be equal where those given each secret are far apart",
            fix="give conditional=..., the distance given each secret",
        ).at("unconditional")


def weakened(epsilon: Fraction, delta: Fraction, off_by: Fraction) -> tuple[Fraction, Fraction]:
    """Return (epsilon + 2 Delta, delta') of the theorem, Delta = `off_by`; delta' is up by under 1e-9."""
    if delta == 0 or off_by == 0:
        return epsilon + 2 * off_by, delta
    low, _ = laplace_survival(off_by, _BITS)  # 2^bits e^-Delta, from below
    shrink = Fraction(low, 2**_BITS)
    within = 1 - shrink * (1 - delta)
    return epsilon + 2 * off_by, min(round_up(min(delta / shrink, within) if low else within), Fraction(1))
