"""What an event-level guarantee of another library loses where neighbouring events resemble each other.

Let each event have one of two values, the first one either with probability 1/2, and let it have the value of the event
before with probability s. A release that loses c for one event's value, all others being what they are, loses at most
c + 2L for a value under this belief, however many events there are: L is the limit of L <- S(c + L), with
e^S(r) = (s e^r + 1 - s)/((1 - s) e^r + s), the influence of one side (docs/theory/influence.md, Theorem 2). With
z = e^L and e = e^-c the limit solves (1 - s) z^2 - s (1 - e) z - (1 - s) e = 0.
"""

from __future__ import annotations

import math

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import Number, as_epsilon, as_fraction

#: What floats can miss in one root and one logarithm, many times over.
_SLACK = 1e-14


def event_level_loss(epsilon: Number, similarity: Number) -> float:
    """Return the privacy loss of one event if neighbouring events resemble each other.

    Args:
        epsilon: Loss of the release where one event changes alone, such as 2.64 for a day of a person.
        similarity: Probability that an event has the value of the event before, from 1/2 (independent) to below 1.

    Returns:
        The loss of the event's value if the first event has either value with probability 1/2, for any number of
        events, rounded up. It is the exact supremum over their number where the release loses epsilon at each event, in
        either direction. Another first event may lose more: ask `MarkovChain(..., initial="any")`.

    Raises:
        InputError: For an epsilon that is none, and for a similarity outside [1/2, 1).

    Source: docs/theory/influence.md, Theorem 2.

    Examples:
        >>> [round(event_level_loss("2.64", similarity), 2) for similarity in ("0.5", "0.8", "0.9", "0.95", "0.99")]
        [2.64, 5.27, 6.89, 8.38, 11.68]
    """
    lost, share = as_epsilon(epsilon), as_fraction(similarity, "similarity", "similarity")
    if not 1 <= 2 * share < 2:
        raise InputError(
            f"similarity is {similarity!r}", rule="it is the probability of the same value again",
            fix="write a number from 0.5, for independent events, to below 1",
        ).at("similarity")  # fmt: skip
    stay, leave, unchanged = float(share), float(1 - share), math.exp(-float(lost))
    grown = -math.expm1(-float(lost)) * stay
    root = (grown + math.sqrt(grown**2 + 4 * leave**2 * unchanged)) / (2 * leave)
    return math.nextafter((float(lost) + 2 * math.log(root)) * (1 + _SLACK) + _SLACK, math.inf)
