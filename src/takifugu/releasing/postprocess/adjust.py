"""After the noise: nonnegative values that add up. Post-processing of what is published, never of the data.

A function of the noisy values (and of public numbers) reveals nothing beyond them, so the promise of the release is
unchanged. The gain is consistency, and its price is bias: the noise has mean 0, adjusted noise does not. A cell whose
true value is 0, set to 0 wherever the noise makes it negative, comes out too high by E max(Z, 0) = E|Z|/2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from takifugu.analysis.randomisers import Noise, Randomiser
from takifugu.core.assumptions import public
from takifugu.core.errors import InputError
from takifugu.numbers import projection
from takifugu.numbers.rationals import to_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Caution
from takifugu.releasing.postprocess.readability import possible_answers

POST = "Post-processing of the noisy values; nothing more was read from the data, and the promise is unchanged."
WHOLE = (
    "Values are multiples of {grid}: each is rounded down, and the remaining steps go, one each, to the largest "
    "remainders; ties go to the larger noisy values, then to the cells listed first. This moves a value by less than "
    "{grid}."
)
CUT = "Intervals are those of the raw values, cut off at 0."
_PUBLIC = (
    "The total {total} is a public constant that was not computed from the private data. The maker of the table "
    "declared this, and it was not checked."
)


def nearest(
    values: Sequence[Fraction], grid: Fraction, total: Fraction | None = None, nonnegative: bool = True
) -> tuple[Fraction, ...]:
    """Return the grid's nearest values, nonnegative and of a sum if wanted."""
    if total is None:
        return tuple(max(v, Fraction(0)) for v in values) if nonnegative else tuple(values)
    weights = (Fraction(1),) * len(values)
    near = projection.nearest(values, weights, total, Fraction(0), nonnegative)
    steps = projection.whole([x / grid for x in near], int(total / grid), values)
    return tuple(s * grid for s in steps)


def published_notes(noise: Randomiser, totals: Sequence[Fraction | None], whose: str) -> tuple[str, ...]:
    """Return a certificate's notes on adjusted values, for answers of these public totals."""
    notes = [f"Beside each noisy value stands an adjusted one. {POST}"]
    sums = set(totals)
    if None in sums:
        notes += bias(noise, None)
    # `whose` says which values have such a sum
    if public_totals := [value for value in sums if value is not None]:
        size = f", {to_text(public_totals[0])}" if len(public_totals) == 1 else ""
        notes.append(f"The adjusted values {whose}sum to what the public numbers of rows give{size}.")
        notes += [*bias(noise, public_totals[0]), WHOLE.format(grid=to_text(noise.grid))]
    return (*notes, "Intervals are those of the noisy values, which have no bias: add up and compare those.")


def bias(noise: Randomiser | None, total: Fraction | None) -> Iterator[str]:
    """Describe the bias of adjusting: of being nonnegative (None: not), and of a total (None: not)."""
    if noise is None:
        yield "All cells were moved by the same amount. This introduces no bias if the total is unbiased."
    elif total is None:
        how_much = ""
        if isinstance(noise, Noise):  # the largest bias, E max(Z, 0) = E|Z|/2 where the noise is symmetric
            most = noise.expected_error() / noise.cells / 2
            how_much = f": one whose true value is 0 comes out too high by {most:.4g} on average, others by less; the "
            how_much += "raw values have no bias"
        yield f"A negative value becomes 0. This biases small values upwards{how_much}."
    else:
        yield (
            "These are the nonnegative values with this sum that are nearest to the noisy ones. This introduces bias: "
            "cells whose true value is near 0 come out too high on average, and the others too low."
        )


def goal_of(values: Sequence[Fraction], name: str, grid: Fraction, nonnegative: bool) -> Fraction:
    """Return the sum to adjust to, from a total's values and name; InputError for an impossible one."""
    if len(values) != 1:
        raise InputError(
            f"the total is a release of {len(values)} cells",
            fix="give a release of one number, or a public number",
        ).at("total")
    (goal,) = values
    if nonnegative and goal < 0:
        raise InputError(
            f"{name} is {to_text(goal)}, and values that are not negative cannot sum to it",
            fix="adjust the total first (total.adjusted()), or write nonnegative=False",
        ).at("total")
    if (goal / grid).denominator != 1:
        raise InputError(
            f"{name} is {to_text(goal)}, and the values are multiples of {to_text(grid)}", fix="give such a total"
        ).at("total")
    return goal


def with_total(certificate: Certificate, goal: Fraction, of_total: Certificate | None) -> Certificate:
    """Return the certificate with a total's assumption, its last one, and seed warnings of a released total."""
    condition, place = _PUBLIC.format(total=to_text(goal)), "without a ledger"
    if of_total is not None:
        if of_total.release_id:
            place = f"as ledger release {of_total.release_id}"
        condition = (
            f"The total {to_text(goal)} is itself a noisy release about {of_total.source!r}, made {place}, with "
            f"epsilon {to_text(Fraction(of_total.epsilon))} of its own."
        )
    certificate_with_total = replace(certificate, assumptions=(*certificate.assumptions, public(condition)))
    if of_total is None or of_total.private:
        return certificate_with_total
    # a weaker epsilon is the total's own
    cautions = (caution for caution in of_total.cautions if caution is not Caution.WEAKER)
    cautions_of_both = tuple(dict.fromkeys((*cautions, *certificate_with_total.cautions)))
    return replace(certificate_with_total, private=False, cautions=cautions_of_both)


def notes_of_total(
    certificate: Certificate, noise: Randomiser | None, goal: Fraction, grid: Fraction
) -> tuple[str, ...]:
    """Return what is said of values with a total; see `with_total` and `bias`."""
    notes = (POST, certificate.assumptions[-1].text, *bias(noise, goal), WHOLE.format(grid=to_text(grid)))
    return notes if noise is None else (*notes, CUT)


def check_not_negative(certificate: Certificate) -> None:
    """Raise InputError where true values may be negative. Moving them to 0 would be an error, not consistency."""
    if certificate.query["kind"] in ("count", "histogram", "count-rows", "cross-table"):
        return
    least = min(possible_answers(a.query, certificate.frameworks[a.framework])[0] for a in certificate.answers)
    if least < 0:
        raise InputError(
            f"the true value may be as low as {to_text(least)}", fix="write nonnegative=False"
        ).at("nonnegative")
