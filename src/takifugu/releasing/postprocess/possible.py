"""Which numbers a true value can be, by the declared beliefs and query alone: noise leads outside of them."""

from __future__ import annotations

from fractions import Fraction

from takifugu.core.plain import Plain
from takifugu.model import frameworks, queries
from takifugu.model.queries.registry import resolved
from takifugu.releasing.certificates.certificate import Certificate

Ends = tuple[float, float]


def possible_ends(certificate: Certificate) -> Ends | None:
    """Return the least and the largest number that a value can be; None where that is not known.

    Finite ends of what has no bound, such as a normal distribution, are unknown, too.
    """
    distinct = {(a.framework, str(a.query)): a for a in certificate.answers}
    try:
        ends = [possible_answers(a.query, certificate.frameworks[a.framework]) for a in distinct.values()]
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError):  # no sums, or edited by hand
        return None
    return (float(min(low for low, _ in ends)), float(max(high for _, high in ends))) if ends else None


def possible_answers(query: Plain, framework: Plain) -> tuple[Fraction, Fraction]:
    """Return the least and the largest answer that any data set of the beliefs can have, in any cell."""
    about = frameworks.from_dict(framework)
    numbers = [Fraction(v) for pair in about.pairs for law in (pair.left, pair.right) for v in law.support_range]
    for belief in () if about.is_pair else about.beliefs or (about.domain,):
        answer = resolved(queries.from_dict(query), belief)
        low, high = answer.cell_bounds()
        numbers += [int(low.min()) * answer.grid, int(high.max()) * answer.grid]
    return min(numbers), max(numbers)
