"""What [expect] may say: where it comes from, which is never the private data, and which difference matters."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Self

from pydantic import model_validator

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.file.keys import Number, Positive, Section, Words, checked, meaning

#: Words for the data of this file, which its expectation must not come from.
_THESE_DATA = re.compile(
    r"\b(private|confidential|secret|sensitive|our|own|this|these|the same)(\s+(own|private|confidential))*\s+"
    r"(data|dataset|data\s?set|file)\b"
)
#: Words that say that what follows is not where it comes from.
_NOT = re.compile(r"\b(without|not|no|other than|independent of|instead of)\b[^,;.]*$")
#: What to write instead.
PUBLIC = 'write what is known without them, for example "last year\'s published report" or "a hunch"'
#: Shares that are written in decimals sum to 1 up to this.
SUMS_TO_ONE = 1e-6


def public_source(value: str) -> str:
    """Return the source of an expectation; InputError for the private data.

    >>> public_source("last year's published report")
    "last year's published report"
    >>> public_source("Counts estimated from the private data")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    takifugu.core.errors.InputError: says 'private data': advice must not depend on them; write what is known ...
    """
    words = value.casefold()
    for private in _THESE_DATA.finditer(words):
        if not _NOT.search(words[: private.start()]):
            raise InputError(f"says {private[0]!r}", rule="advice must not depend on them", fix=PUBLIC)
    return value


def size_that_matters(value: Number) -> tuple[Fraction, str]:
    """Return an important difference and its unit or ""; InputError if invalid.

    >>> size_that_matters("2.5 h"), size_that_matters(30), size_that_matters("10%")
    ((Fraction(5, 2), 'h'), (Fraction(30, 1), ''), (Fraction(10, 1), '%'))
    """
    number, unit = value, ""
    read = re.fullmatch(r"\s*([0-9][0-9./]*)\s*([^\s0-9.,/].*?)\s*", value) if isinstance(value, str) else None
    if read is not None:
        number, unit = read[1], read[2]
    try:
        size = as_fraction(number, "what matters")
    except InputError:
        has_comma = re.search(r"[0-9],[0-9]", str(value)) is not None
        rule, examples = "it is a number, or a number and what it is in", '30, "30 rows", "2 h" or "10 %"'
        if has_comma:
            rule, examples = "numbers have a decimal point and no commas", '2.5, "2.5 rows" or "1000 rows"'
        raise InputError(f"is {str(value)[:60]!r}", rule=rule, fix=f"write for example {examples}") from None
    if size <= 0:
        raise InputError(f"is {value!r}", rule="it must be above 0", fix="write for example 30")
    return size, unit


def _check_values(values: dict[str, Number] | Number) -> None:
    if not isinstance(values, dict):
        as_fraction(values, "what is expected")
        return
    for label, number in values.items():
        as_fraction(number, f"what is expected in {label!r}")


def _check_shares(shares: dict[str, Number]) -> None:
    numbers = {label: as_fraction(share, "a share") for label, share in shares.items()}
    for label, number in numbers.items():
        if number < 0:
            raise InputError(f"say {shares[label]} of {label!r}", rule="shares are at least 0", fix="write 0 or more")
    total = float(sum(numbers.values()))
    if abs(total - 1) > SUMS_TO_ONE:
        fix = "for a table of a single number write values = NUMBER instead"
        raise InputError(f"sum to {total:.6g}", rule="shares sum to 1", fix=fix)


class ExpectSpec(Section):
    """What is expected of the data, from a public source, and what matters to the reader: for advice alone."""

    source: Annotated[
        Words,
        checked(public_source),
        meaning("where the expectation comes from: public knowledge", "the survey of last year"),
    ]
    shares: Annotated[
        dict[str, Number] | None,
        meaning("the expected share of each cell; they sum to 1", {"still": 0.8, "walking": 0.2}),
        checked(_check_shares),
    ] = None
    values: Annotated[
        dict[str, Number] | Number | None,
        meaning("the expected value of each cell, or of the only one", {"still": 900}),
        checked(_check_values),
    ] = None
    people: Annotated[Positive | None, meaning("how many people are expected in the data")] = None
    rows: Annotated[Positive | None, meaning("how many rows or steps are expected of each of them")] = None
    matters: Annotated[
        Number | None,
        meaning(
            "the least difference that matters to the reader: a number, or one and what it is in: that of "
            'measured_in, rows, steps, a time where steps are times, or "%" of the expected mean',
            30,
            "2 h",
            "10 %",
        ),
        checked(size_that_matters),
    ] = None
    unimportant: Annotated[tuple[Words, ...] | None, meaning("cells that need not be readable", ["night"])] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.shares is not None and self.values is not None:
            raise InputError("has shares and values", fix="write one of them")
        return self
