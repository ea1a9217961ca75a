"""One gate on the noise that is drawn, for every mechanism and every delta (docs/theory/zero-noise.md).

Let D be the change that noise has to hide (`sensitivity.change_to_hide`). It stops noise with P(|N| < D/2) > min(1 -
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
from takifugu.analysis.randomisers import Randomiser, answered, laplace
from takifugu.analysis.sensitivity import change_to_hide
from takifugu.core.escaping import number
from takifugu.numbers.noise_quantiles import laplace_above
from takifugu.numbers.rationals import round_up
from takifugu.numbers.search import geometric_mean, halved

#: The exact answer may not be read off with more than this probability, whatever epsilon and delta are.
MOST_READ = Fraction(95, 100)
#: What is said beside a reason where the caller may allow such noise.
ACCEPT = "; allow_zero_noise=True accepts that"
#: Where the search for the least noise ends, as a part of what passes, and how near it comes.
SMALLEST, CLOSE = Fraction(1, 2**60), Fraction(1, 2**36)


def too_little_noise(problem: Problem, noise: Randomiser, epsilon: Fraction, delta: Fraction) -> str | None:
    """Return the reason to refuse this noise for a promise, or None."""
    definition = find(problem.framework.definition)
    if noise.kind == "none":
        return definition.without_noise
    # a promise without a belief is about one record, against anybody: noise that keeps it hides that record
    if not problem.framework.beliefs:
        return None
    change = change_to_hide(problem, noise.norm, definition.hides_rows)
    if _passes(noise, change, epsilon, delta, definition.hides_rows):
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


def raised(problem: Problem, noise: Randomiser, epsilon: Fraction, delta: Fraction) -> Randomiser | None:
    """Return the noise, or the least of its form that the gate lets pass (docs/theory/zero-noise.md, Theorem 3)."""
    if not problem.framework.beliefs:
        return None
    hides_rows = find(problem.framework.definition).hides_rows
    change = change_to_hide(problem, noise.norm, hides_rows)
    # nothing is to be hidden beside a belief
    if not change:
        return None
    form = noise  # what is no noise at all grows to Laplace's
    if noise.kind == "none":
        form = laplace(change, problem.grid, problem.cells, problem.on_grid)
    if form.of_scale(change) is None:
        return None

    def passes(scale: Fraction) -> bool:
        more = form.of_scale(scale)
        return more is not None and _passes(more, change, epsilon, delta, hides_rows)

    enough = change / epsilon
    while not passes(enough):
        enough *= 2
    least = halved(passes, enough, enough * SMALLEST, _are_near, _middle)
    return form.of_scale(max(noise.scale, round_up(least)))


def _passes(noise: Randomiser, change: Fraction, epsilon: Fraction, delta: Fraction, hides_rows: bool) -> bool:
    """Return whether noise hides a change often enough, or keeps (epsilon, delta) for it."""
    least = 1 - MOST_READ
    if noise.hides(change, epsilon, min(delta, least)):
        return True
    if hides_rows and not noise.is_table:
        least = max(least, laplace_above(epsilon) - delta)
    return noise.unseen(change) >= least


def _are_near(good: Fraction, bad: Fraction) -> bool:
    return good <= bad * (1 + CLOSE)


def _middle(good: Fraction, bad: Fraction) -> Fraction:
    return Fraction(geometric_mean(float(good), float(bad)))
