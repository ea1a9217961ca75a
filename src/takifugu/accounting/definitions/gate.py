"""One gate on the noise that is drawn, for every mechanism and every delta (docs/theory/zero-noise.md).

Let D be the change that noise has to hide (`sensitivity.change_to_hide`). Refused is noise with P(|N| < D/2) > min(1 -
e^-epsilon + delta, 0.95), N as it is drawn, rounded to its grid. A table of masses is asked for the total variation
distance of two answers so far apart (for symmetric and unimodal noise that is the same probability), and noise of
another form is judged by its loss. Tables, and definitions that hide no rows, have the limit 0.95 alone: there the
question is whether the exact answer can be read off. Noise that keeps (epsilon, delta) for D passes, delta at most
0.05: as ordinary noise it hides one entry from anybody.
"""

from __future__ import annotations

from fractions import Fraction

from takifugu.accounting.definitions import find
from takifugu.analysis.problem import Problem
from takifugu.analysis.randomisers import Randomiser, answered
from takifugu.analysis.sensitivity import change_to_hide
from takifugu.core.escaping import number
from takifugu.numbers.noise_quantiles import laplace_above

#: The exact answer may not be read off with more than this probability, whatever epsilon and delta are.
MOST_READ = Fraction(95, 100)
#: What is said beside a reason where the caller may allow such noise.
ACCEPT = "; allow_zero_noise=True accepts that"


def too_little_noise(problem: Problem, noise: Randomiser, epsilon: Fraction, delta: Fraction) -> str | None:
    """Return the reason to refuse this noise for a promise, or None.

    A promise without a belief is about one record, against anybody: noise that keeps it hides that record.
    """
    definition = find(problem.framework.definition)
    if noise.kind == "none":
        return definition.without_noise
    if not problem.framework.beliefs:
        return None
    change = change_to_hide(problem, noise.norm, definition.hides_rows)
    least = 1 - MOST_READ
    if noise.hides(change, epsilon, min(delta, least)):
        return None
    if definition.hides_rows and not noise.is_table:
        least = max(least, laplace_above(epsilon) - delta)
    if noise.unseen(change) >= least:
        return None
    scale = answered(lambda: f" of scale {number(noise.scale)}") or ""
    if not definition.hides_rows:
        return (
            f"noise{scale} leaves the exact answer to be read off with a probability above 95 % by who knows all else: "
            "mostly the randomness that the belief assumes would hide anything"
        )
    return (
        f"noise{scale} is small beside what one value changes ({number(change)}): mostly the randomness that the "
        "belief assumes would hide the secret"
    )
