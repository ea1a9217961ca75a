"""Which values can be told from their noise, before they are published and afterwards: the one rule for all.

A value is readable if it is at least as large as its 95 % error: before, what is expected of it; afterwards, what was
published. A mean is readable if its error is at most the difference that matters to its reader, whatever its size.
Noise leads outside of the numbers that a true value can be, by the declared beliefs and query alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, starmap

from takifugu.core.cache import cached
from takifugu.core.plain import Json, Plain, Row
from takifugu.model import queries
from takifugu.model.frameworks import Framework
from takifugu.model.queries.registry import KINDS
from takifugu.model.queries.resolving.summing import resolved
from takifugu.releasing.certificates.cells import POSSIBLE, READABLE
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.postprocess.intervals import is_off_zero

#: One person's own value, often a code: it is judged by the error of one value, and not by its size.
_OF_ONE = "identity"
Ends = tuple[float, float]


def counts(query: Plain) -> bool:
    """Return whether a written query's cells count something."""
    return _type(query).is_count


def exact_word(query: Plain) -> str:
    """Name an exact value of a written query: "count", "time" or "value"."""
    if not counts(query):
        return "value"
    return "time" if "duration" in _of_cell(query) else "count"


def _of_cell(query: Plain) -> Plain:
    """Return the query of each cell."""
    inner_query = query.get("query")
    return query if inner_query is None else _of_cell(inner_query)


def _kind(query: Plain) -> str:
    return str(_of_cell(query).get("kind"))


def _type(query: Plain) -> type[queries.Query]:
    """Return the type of the query of each cell, that of any query where nobody registered its kind."""
    return KINDS.get(_kind(query)) or queries.Query


@dataclass(frozen=True)
class Rule:
    """The rule for the rows of one table: the kind of its query, and which difference matters, where that is known."""

    query: Plain
    matters: float | None = None

    def of(self, row: Row) -> bool | None:
        """Return whether a published value is readable, or None without error bounds."""
        value, low, high = map(row.get, ("value", "low", "high"))
        if low is None or high is None or not isinstance(value, int | float) or _kind(self.query) == _OF_ONE:
            return None
        if _type(self.query).is_sizeless:
            return None if self.matters is None else max(value - low, high - value) <= self.matters
        return is_off_zero(low, high, not counts(self.query))

    def added(self, rows: Iterable[Row]) -> list[Json]:
        """Return rows with the rule's column, unless it is empty."""
        judged = [{**row, READABLE: self.of(row)} for row in rows]
        if all(row[READABLE] is None for row in judged):
            for row in judged:
                del row[READABLE]
        return judged


def possible_ends(certificate: Certificate) -> Ends | None:
    """Return the least and largest possible true value, if known."""
    distinct = {(a.framework, str(a.query)): a for a in certificate.answers}
    # finite ends of what has no bound, such as a normal distribution, are unknown, too
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
    """Return rows with a column for possible true values, where known."""
    lines = list(map(dict, rows))
    if possible is None or not all(isinstance(row.get("value"), int | float) for row in lines):
        return lines
    return [{**row, POSSIBLE: not is_outside(row["value"], possible)} for row in lines]


def possible_answers(query: Plain, framework: Plain) -> tuple[Fraction, Fraction]:
    """Return the least and largest cell over all data the beliefs allow."""
    believed = Framework.from_dict(framework)
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
