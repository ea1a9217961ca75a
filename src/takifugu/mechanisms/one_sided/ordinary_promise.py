"""What ordinary differential privacy would say of the same counts and thresholds: it may be wrong, or says nothing."""

from __future__ import annotations

from fractions import Fraction

from takifugu.core.escaping import number
from takifugu.mechanisms.one_sided.answers import at_most, sanitiser
from takifugu.mechanisms.one_sided.tails import Pointing, count_noise
from takifugu.model.beliefs.domain import Data
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.sensitivity import sensitivity
from takifugu.model.queries import AtMost, resolved
from takifugu.model.queries.forms import Query

#: How often "safe" may be wrong at a place that is just dangerous, for the comparison.
WRONG = Fraction(1, 1000)


def ordinary_words(domain: Data, query: Query, epsilon: Fraction, grid: Fraction) -> tuple[str, ...]:
    """Describe two-sided geometric noise for every change of one record.

    >>> from takifugu.mechanisms.one_sided import Visits
    >>> from takifugu.model.queries import Visitors
    >>> print(ordinary_words(Visits.of("ab", most=1), AtMost(Visitors(), 2), Fraction(1), Fraction(1))[0][-60:])
    calls an empty place safe with probability 0.4194 % at most.
    """
    if not isinstance(query, AtMost) or grid != 1:
        return ()
    threshold = max(query.steps(resolved(query, domain)))
    total = sensitivity(Policy(), domain, query).total
    noise = count_noise(epsilon, total, Pointing.BOTH)
    chance = sanitiser(at_most(threshold), noise, WRONG).beta(0)
    return (
        f"ordinary differential privacy with epsilon {number(epsilon)} hides every change of one person, and its "
        f"noise of scale {number(total / epsilon)} is on both sides: never wrong, it can call nothing safe; wrong at "
        "one in a thousand of the places just above the threshold, it calls an empty place safe with probability "
        f"{number(100 * chance, digits=4)} % at most.",
    )
