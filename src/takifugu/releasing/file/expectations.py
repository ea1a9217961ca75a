"""What [expect] may say: where it comes from, which is never the private data, and which difference matters."""

from __future__ import annotations

import re
from fractions import Fraction

from takifugu.core.errors import InputError
from takifugu.numbers.rationals import Number, as_fraction

#: Words for the data of this file, which its expectation must not come from.
_THESE_DATA = re.compile(
    r"\b(private|confidential|secret|sensitive|our|own|this|these|the same)(\s+(own|private|confidential))*\s+"
    r"(data|dataset|data\s?set|file)\b"
)
#: Words that say that what follows is not where it comes from.
_NOT = re.compile(r"\b(without|not|no|other than|independent of|instead of)\b[^,;.]*$")
#: What to write instead.
PUBLIC = 'write what is known without them, for example "last year\'s published report" or "a hunch"'


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
    read = re.fullmatch(r"\s*([0-9][0-9./]*)\s*([^\s0-9.,/].*?)\s*", value) if isinstance(value, str) else None
    try:
        size = as_fraction(value if read is None else read[1], "what matters")
    except InputError:
        has_comma = re.search(r"[0-9],[0-9]", str(value)) is not None
        rule = "numbers have a decimal point and no commas" if has_comma else (
            "it is a number, or a number and what it is in"
        )
        examples = '2.5, "2.5 rows" or "1000 rows"' if has_comma else '30, "30 rows", "2 h" or "10 %"'
        raise InputError(f"is {str(value)[:60]!r}", rule=rule, fix=f"write for example {examples}") from None
    if size <= 0:
        raise InputError(f"is {value!r}", rule="it must be above 0", fix="write for example 30")
    return size, "" if read is None else read[2]
