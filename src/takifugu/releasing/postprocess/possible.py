"""Which numbers a true value can be, by the declared beliefs and query alone: noise leads outside of them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain, starmap

from takifugu.core.cache import cached
from takifugu.core.plain import Json, Plain, Row
from takifugu.model import frameworks, queries
from takifugu.model.queries.registry import resolved
from takifugu.releasing.certificates.cells import POSSIBLE
from takifugu.releasing.certificates.certificate import Certificate

Ends = tuple[float, float]


def possible_ends(certificate: Certificate) -> Ends | None:
    """Return the least and largest possible true value, if known.

    Finite ends of what has no bound, such as a normal distribution, are unknown, too.
    """
    distinct = {(a.framework, str(a.query)): a for a in certificate.answers}
    problems = ((a.query, certificate.frameworks[a.framework]) for a in distinct.values())
    return cached(certificate, possible_ends, lambda: ends_of(problems))


def ends_of(problems: Iterable[tuple[Plain, Plain]]) -> Ends | None:
    """Return the least and largest possible value of written queries, if known."""
    try:
        ends = list(chain.from_iterable(starmap(possible_answers, problems)))
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError):  # no sums, or edited by hand
        return None
    return (float(min(ends)), float(max(ends))) if ends else None


def is_outside(value: object, possible: Ends | None) -> bool:
    """Return whether a true value can never be this number."""
    return possible is not None and isinstance(value, int | float) and not possible[0] <= value <= possible[1]


def with_possible(rows: Iterable[Row], possible: Ends | None) -> list[Json]:
    """Return rows with a column for possible true values, where known.

    >>> with_possible([{"value": 3}, {"value": -1}], (0, 40))
    [{'value': 3, 'possible': True}, {'value': -1, 'possible': False}]
    """
    lines = list(map(dict, rows))
    if possible is None or not all(isinstance(row.get("value"), int | float) for row in lines):
        return lines
    return [{**row, POSSIBLE: not is_outside(row["value"], possible)} for row in lines]


def possible_answers(query: Plain, framework: Plain) -> tuple[Fraction, Fraction]:
    """Return the least and largest cell over all data the beliefs allow."""
    believed = frameworks.from_dict(framework)
    numbers = list[Fraction]()
    for pair in believed.pairs:
        numbers += [Fraction(end) for end in (*pair.left.support_range, *pair.right.support_range)]
    if believed.is_pair:
        return min(numbers), max(numbers)
    for belief in believed.beliefs or (believed.domain,):
        answer = resolved(queries.from_dict(query), belief)
        low, high = answer.cell_bounds()
        numbers += [int(low.min()) * answer.grid, int(high.max()) * answer.grid]
    return min(numbers), max(numbers)
