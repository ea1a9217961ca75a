"""What a release file wants beside the noisy values: adjusted ones, and words for readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.model.queries import By
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.certifying import Adjustment, Wording
from takifugu.releasing.file.sections import ItemWords
from takifugu.releasing.postprocess.adjust import nearest, published_notes

if TYPE_CHECKING:
    from takifugu.releasing.file.sections import FileSpec
    from takifugu.releasing.planning.asking import Totals
    from takifugu.releasing.planning.plan import Table
    from takifugu.releasing.planning.questions import Drawn


def wording_of(spec: FileSpec, table: Table) -> Wording:
    """Return the words of a file and of one of its tables; kinds of files from elsewhere may have none for tables."""
    title = table.item.title if isinstance(table.item, ItemWords) else None
    measured_in = table.measured_in or None
    return Wording(title, measured_in, spec.publisher, spec.contact, table.people.one)


def adjustment_of(table: Table, answers: Sequence[Drawn]) -> Adjustment | None:
    """Return the adjusted values of a table that has them: made of its noisy values and public totals alone."""
    if table.totals is None:
        return None
    values = tuple(
        dict(zip(answer.labels, _adjusted(answer.values, answer.randomiser.grid, totals), strict=True))
        for answer, totals in zip(answers, table.totals, strict=True)
    )
    whose = f"of each {table.people.one} " if table.scope == "unit" and len(answers) > 1 else ""
    query = answers[0].question.calibration.query
    if any(len(totals) > 1 for totals in table.totals):
        whose = f"{whose}in each cell of {(query.by if isinstance(query, By) else '') or 'the table'} "
    every = [total for totals in table.totals for total in totals]
    return Adjustment(values, published_notes(answers[0].randomiser, every, whose))


def _adjusted(values: Sequence[Fraction], grid: Fraction, totals: Totals) -> Iterator[Fraction]:
    """Yield the values that are nearest to noisy ones, block by block of cells with a total of their own."""
    size = len(values) // len(totals)
    for number, total in enumerate(totals):
        yield from nearest(values[number * size : (number + 1) * size], grid, total)


def adjusted_in(certificate: Certificate) -> dict[str | None, Mapping[str, Fraction] | None]:
    """Return the adjusted values that a certificate holds, by unit; None where it holds none."""
    return {
        answer.unit: None if answer.adjusted is None else {c: Fraction(v) for c, v in answer.adjusted.items()}
        for answer in certificate.answers
    }
