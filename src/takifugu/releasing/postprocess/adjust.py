"""After the noise: nonnegative values that add up. Post-processing of what is published, never of the data.

A function of the noisy values (and of public numbers) reveals nothing beyond them, so the promise of the release is
unchanged. The gain is consistency, and its price is bias: the noise has mean 0, adjusted noise does not. A cell whose
true value is 0, set to 0 wherever the noise makes it negative, comes out too high by E max(Z, 0) = E|Z|/2.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Protocol, TypeGuard, cast, runtime_checkable

from takifugu.analysis.randomisers import Noise, Randomiser
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Row, indented
from takifugu.core.text.markup import html_table
from takifugu.core.text.tables import WIDTH, text_table
from takifugu.numbers import projection
from takifugu.numbers.rationals import Number, as_fraction, to_text
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Caution
from takifugu.releasing.postprocess.possible import possible_answers
from takifugu.releasing.postprocess.readable import (
    NOISE_ONLY,
    NOT_PRIVATE,
    Readable,
    frame_of,
    number,
    one_or_all,
    readable,
)

POST = "Post-processing of the noisy values; nothing more was read from the data, and the promise is unchanged."
WHOLE = (
    "Values are multiples of {grid}: each is rounded down, and the remaining steps go, one each, to the largest "
    "remainders; ties go to the larger noisy values, then to the cells listed first. This moves a value by less than "
    "{grid}."
)
CUT = "Intervals are those of the raw values, cut off at 0."
_PUBLIC = (
    "the total {total} is a public constant that was not computed from the private data: this was declared by whoever "
    "made the table, and was not checked"
)


@runtime_checkable
class Certified(Protocol):
    """What has a certificate: a release, or its adjusted values."""

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def values(self) -> tuple[Any, ...]: ...

    @property
    def certificate(self) -> Certificate: ...


class Noisy(Certified, Protocol):
    """What is asked of a `Release`."""

    @property
    def randomiser(self) -> Randomiser: ...

    @property
    def library(self) -> str | None: ...

    def rows(self, level: float = 0.95, cells: int | None = None) -> list[Json]: ...


@dataclass(frozen=True)
class Adjusted:
    """Adjusted values on the release's grid, one per cell; `raw` is what was published with noise.

    `notes` say in words what was done and which bias it introduces; the certificate is that of the release, with the
    condition that a given total places on its promise.
    """

    raw: Noisy
    values: tuple[Fraction, ...]
    notes: tuple[str, ...]
    certificate: Certificate = field(repr=False)
    nonnegative: bool

    @property
    def labels(self) -> tuple[str, ...]:
        return self.raw.labels

    @property
    def value(self) -> Readable | dict[str, Readable]:
        """Return the adjusted number, or a histogram's numbers by cell."""
        return one_or_all(self.certificate, self.labels, [readable(v) for v in self.values])

    def rows(self, level: float = 0.95, cells: int | None = None) -> list[Json]:
        """Return one row per cell: cell, value (adjusted), raw, low, high.

        The interval is the raw value's, cut off at 0 where values are nonnegative: it still holds the true value with
        probability `level` over the noise, in all cells at once. The adjusted value may lie outside.
        """
        rows = list[Json]()
        for value, row in zip(self.values, self.raw.rows(level, cells), strict=True):
            low, high = row["low"], row["high"]
            if self.nonnegative:
                low, high = max(low, 0), max(high, 0)
            rows.append({
                "cell": row["cell"], "value": readable(value), "raw": row["value"], "low": low, "high": high,
            })  # fmt: skip
        return rows

    def to_frame(self, library: object = None, level: float = 0.95) -> Any:
        """Return the rows as a frame of a library (see `Release.to_frame`)."""
        return frame_of(self.rows(level), library or self.raw.library)

    def to_dict(self) -> Json:
        cells = zip(self.labels, self.values, self.raw.values, strict=True)
        return {
            "values": [{"cell": c, "value": to_text(v), "raw": to_text(r)} for c, v, r in cells],
            "notes": list(self.notes),
            "certificate": self.certificate.to_dict(),
        }

    def to_json(self) -> str:
        return indented(self.to_dict())

    def __str__(self) -> str:
        table = text_table(HEADER, [cells_of(r) for r in self.rows()])
        warning = () if self.certificate.private else (NOT_PRIVATE,)
        head = (*warning, f"{self.certificate.statistic}, adjusted after the noise")
        notes = [f"low to high: 95 % intervals of the raw values, all cells at once; {NOISE_ONLY}", *self.notes]
        return "\n".join([*wrapped(head), "", table, "", *wrapped(notes)])

    def _repr_html_(self) -> str:
        return html_page(self.certificate, HEADER, [cells_of(r) for r in self.rows()], self.notes)


HEADER = ("cell", "adjusted", "raw", "low", "high")


def adjust(release: Noisy, nonnegative: bool = True, total: Number | Noisy | Adjusted | None = None) -> Adjusted:
    """Return the nonnegative values nearest to the noisy ones, summing to `total`.

    The projection on {x >= 0, sum x = total} in Euclidean distance, exact in rational numbers, then rounded to the grid
    by largest remainders: no grid point with these properties is nearer to the noisy values.
    """
    if not nonnegative and total is None:
        raise InputError("nothing would be adjusted", fix="write nonnegative=True, or give a total").at("nonnegative")
    if not release.randomiser.output.is_number:
        raise InputError("what was published is no number, so nothing is to be adjusted").at("release")
    if nonnegative:
        check_not_negative(release.certificate)
    grid = release.randomiser.grid
    if total is None:
        notes = (POST, *_bias(release.randomiser, None), CUT)
        return Adjusted(release, nearest(release.values, grid), notes, release.certificate, nonnegative)
    goal = _goal(total, grid, nonnegative)
    values = nearest(release.values, grid, goal, nonnegative)
    condition = _about(total, goal)
    certificate = _with_total(release.certificate, condition, total)
    rule = WHOLE.format(grid=to_text(grid))
    noise = release.randomiser if nonnegative else None
    biased = _bias(noise, goal)
    notes = (POST, f"{condition[0].upper()}{condition[1:]}.", *biased, rule)
    notes = (*notes, CUT) if nonnegative else notes
    return Adjusted(release, values, notes, certificate, nonnegative)


def nearest(
    values: Sequence[Fraction], grid: Fraction, total: Fraction | None = None, nonnegative: bool = True
) -> tuple[Fraction, ...]:
    """Return the grid's nearest values, nonnegative and of a sum if wanted.

    >>> [int(v) for v in nearest([Fraction(7), Fraction(-2), Fraction(4)], Fraction(1), Fraction(10))]
    [7, 0, 3]
    """
    if total is None:
        return tuple(max(v, Fraction(0)) for v in values) if nonnegative else tuple(values)
    weights = (Fraction(1),) * len(values)
    near = projection.nearest(values, weights, total, Fraction(0), nonnegative)
    steps = projection.whole([x / grid for x in near], int(total / grid), values)
    return tuple(s * grid for s in steps)


def published_notes(noise: Randomiser, totals: Sequence[Fraction | None], whose: str) -> tuple[str, ...]:
    """Return a certificate's notes on adjusted values.

    `totals` are the public totals of the answers; `whose` says which values have one.
    """
    notes = [f"Beside each noisy value stands an adjusted one. {POST}"]
    sums = set(totals)
    if None in sums:
        notes += _bias(noise, None)
    if public_totals := [total for total in sums if total is not None]:
        size = f", {to_text(public_totals[0])}" if len(public_totals) == 1 else ""
        notes.append(f"The adjusted values {whose}sum to what the public numbers of rows give{size}.")
        notes += [*_bias(noise, public_totals[0]), WHOLE.format(grid=to_text(noise.grid))]
    return (*notes, "Intervals are those of the noisy values, which have no bias: add up and compare those.")


def _bias(noise: Randomiser | None, total: Fraction | None) -> Iterator[str]:
    """Describe the bias of adjusting: of being nonnegative, and of a total.

    `noise` is None unless values are made nonnegative, `total` None unless they add up.
    """
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


def _is_released(total: Number | Noisy | Adjusted) -> TypeGuard[Noisy | Adjusted]:
    return isinstance(total, Certified)


def _goal(total: Number | Noisy | Adjusted, grid: Fraction, nonnegative: bool) -> Fraction:
    if _is_released(total):
        if len(total.values) != 1:
            raise InputError(
                f"the total is a release of {len(total.values)} cells",
                fix="give a release of one number, or a public number",
            ).at("total")
        goal, name = total.values[0], "the released total"
    else:
        goal, name = as_fraction(cast(Number, total), "the total"), "the total"
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


def _about(total: Number | Noisy | Adjusted, goal: Fraction) -> str:
    """Return the total's condition on the promise."""
    if not _is_released(total):
        return _PUBLIC.format(total=to_text(goal))
    c = total.certificate
    place = "without a ledger" if c.release_id is None else f"as ledger release {c.release_id}"
    return (
        f"the total {to_text(goal)} is itself a noisy release about {c.source!r}, made {place}, with epsilon "
        f"{to_text(Fraction(c.epsilon))} of its own"
    )


def _with_total(certificate: Certificate, condition: str, total: Number | Noisy | Adjusted) -> Certificate:
    """Return the certificate with a total's condition and seed warnings."""
    certificate_with_total = replace(certificate, conditions=(*certificate.conditions, condition))
    if not _is_released(total) or total.certificate.private:
        return certificate_with_total
    # a weaker epsilon is the total's own
    of_total = (caution for caution in total.certificate.cautions if caution is not Caution.WEAKER)
    cautions = tuple(dict.fromkeys((*of_total, *certificate_with_total.cautions)))
    return replace(certificate_with_total, private=False, cautions=cautions)


def check_not_negative(certificate: Certificate) -> None:
    """Raise InputError where true values may be negative.

    Moving them to 0 would be an error, not consistency.
    """
    if certificate.query["kind"] in ("count", "histogram", "count-rows", "cross-table"):
        return
    least = min(possible_answers(a.query, certificate.frameworks[a.framework])[0] for a in certificate.answers)
    if least < 0:
        raise InputError(
            f"the true value may be as low as {to_text(least)}", fix="write nonnegative=False"
        ).at("nonnegative")


def cells_of(row: Row) -> list[str]:
    return [str(row["cell"]), *(number(row[key]) for key in ("value", "raw", "low", "high"))]


def wrapped(sentences: Iterable[str]) -> list[str]:
    return list(chain.from_iterable(textwrap.wrap(sentence, WIDTH) for sentence in sentences))


def html_page(certificate: Certificate, header: tuple[str, ...], rows: list[list[str]], notes: tuple[str, ...]) -> str:
    warning = "" if certificate.private else f"<p><strong>{NOT_PRIVATE}</strong></p>"
    caption = f"{certificate.statistic}, adjusted after the noise. {' '.join(notes)} Intervals: {NOISE_ONLY}."
    return warning + html_table(header, rows, caption)
