"""What a release file wants beside the noisy values: adjusted ones, and words for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from takifugu.certificates.certificate import Certificate
from takifugu.certificates.certifying import Beside, Wording
from takifugu.postprocess.adjust import nearest, published_notes

if TYPE_CHECKING:
    from takifugu.releasing.planning import Table
    from takifugu.releasing.publish import Drawn
    from takifugu.spec.sections import FileSpec, Item


def wording_of(spec: FileSpec, item: Item) -> Wording:
    """Return the words of a file and of one of its tables; kinds of files from elsewhere may have none for tables."""
    title, measured_in = (getattr(item, key, None) for key in ("title", "measured_in"))
    return Wording(title, measured_in, spec.publisher, spec.contact)


def beside_of(table: Table, answers: Sequence[Drawn]) -> Beside | None:
    """Return the adjusted values of a table that has them: made of its noisy values and public totals alone."""
    if table.totals is None:
        return None
    values = tuple(
        dict(zip(answer.labels, nearest(answer.values, answer.randomiser.grid, total), strict=True))
        for answer, total in zip(answers, table.totals, strict=True)
    )
    whose = "of each unit " if table.scope == "unit" and len(answers) > 1 else ""
    return Beside(values, published_notes(answers[0].randomiser, table.totals, whose))


def adjusted_in(certificate: Certificate) -> dict[str | None, Mapping[str, Fraction] | None]:
    """Return the adjusted values that a certificate holds, by unit; None where it holds none."""
    return {
        answer.unit: None if answer.adjusted is None else {c: Fraction(v) for c, v in answer.adjusted.items()}
        for answer in certificate.answers
    }
