"""Tables as files, and files as tables again: the bytes of everything that a release publishes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path

from takifugu.core.entries import columns_of
from takifugu.core.plain import Plain
from takifugu.core.text.plot import by_itself
from takifugu.model.queries.tables.by import GroupBy
from takifugu.releasing.advice.advising import advice_of
from takifugu.releasing.advice.leaving_out import in_place_of_good
from takifugu.releasing.advice.worth import Worth
from takifugu.releasing.certificates.cells import (
    ESTIMATED,
    NO_GUARANTEE,
    POSSIBLE,
    READABLE,
    REHEARSAL,
    names_of,
    read_rows,
    rows_in,
    rows_sent,
    rows_text,
    table_text,
)
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.files import (
    CERTIFICATE,
    DRAWING,
    ENDS,
    PAGE,
    REPORT,
    SIGNATURE,
    TABLE,
    content_of,
    digest_of,
)
from takifugu.releasing.certificates.signing import Signer
from takifugu.releasing.planning.plan import Plan, Table
from takifugu.releasing.planning.questions import SERIES, NoisyAnswer, calibrations_of
from takifugu.releasing.postprocess.adjust import nearest, published_notes
from takifugu.releasing.postprocess.readability import Rule, ends_of, with_possible
from takifugu.releasing.postprocess.readable import library_of
from takifugu.releasing.postprocess.release import Release
from takifugu.releasing.publishing.bundle import Bundle
from takifugu.releasing.publishing.certifying import Adjustment, adjusted_values, certificate_of
from takifugu.releasing.publishing.estimating import estimates_of_table
from takifugu.releasing.report.document import report_html
from takifugu.releasing.report.outcomes import clock_of, published_of, rows_of_answers
from takifugu.releasing.report.page import shown
from takifugu.releasing.report.published import Published

#: The columns that only the file of a table has, and no certificate.
_ADDED = (POSSIBLE, READABLE, REHEARSAL, *ESTIMATED)


def worths_of(planned: Plan) -> dict[str, Worth]:
    """Return the worth of each table by name, where known beforehand."""
    return {advice.name: advice.worth for advice in advice_of(planned) if advice.worth is not None}


def bundle_for(
    planned: Plan, drawn: Sequence[NoisyAnswer], worths: Mapping[str, Worth], rehearsal: int | None = None,
    signer: Signer | None = None,
) -> Bundle:  # fmt: skip
    """Return every file of every table, complete, in memory; `rehearsal` is the seed of one, which nobody signs."""
    answers, tables = {id(answer.question): answer for answer in drawn}, dict[str, Mapping[str, bytes]]()
    for table in planned.tables:
        of_table = [answers[id(question)] for question in table.questions]
        tables[table.name] = _files(table, of_table, planned, worths.get(table.name), rehearsal, signer)
    return Bundle(tables)


def _files(
    table: Table, answers: Sequence[NoisyAnswer], planned: Plan, worth: Worth | None, rehearsal: int | None,
    signer: Signer | None,
) -> Mapping[str, bytes]:  # fmt: skip
    source, units = planned.file.source.name, planned.unit_names
    adjustment = adjustment_of(table, answers)
    rows, content = _table(table, answers, adjustment, worth, rehearsal is not None)
    facts = (*planned.facts, *table.facts)
    if any(answer.question.begins_series for answer in answers):
        facts += (SERIES,)
    title, spec = table.item.title, planned.spec
    if rehearsal is not None:
        title = f"Rehearsal, no guarantee: {title or table.name}"
    certified = (facts, digest_of(content), adjustment, rehearsal)
    certificate = replace(
        certificate_of(answers, source, table.scope, units, *certified), title=title,
        measured_in=table.measured_in or None, publisher=spec.publisher, contact=spec.contact, person=table.people.one,
    )
    left_out, releases = in_place_of_good(planned.file), list[tuple[str | None, Release]]()
    for a, certified_answer in zip(answers, certificate.answers, strict=True):
        release = Release(
            a.labels, a.values, certificate, a.randomiser, a.question.calibration, left_out=left_out,
            answer=certified_answer,
        )  # fmt: skip
        releases.append((a.question.unit, release))
    published = Published(table.name, table.scope, rows, certificate, (), tuple(releases), worth=worth)
    files = {
        CERTIFICATE: f"{certificate.to_json()}\n".encode(), PAGE: f"{certificate.text()}\n".encode(), TABLE: content,
    }  # fmt: skip
    if signer is not None and rehearsal is None:
        files[SIGNATURE] = signer.signature(files[CERTIFICATE])
    show = partial(_shown, published, tuple(files))
    files |= shown(table.name, REPORT, show) if rehearsal is None else show()
    return {f"{table.name}{end}": files[end] for end in ENDS if end in files}


def _shown(published: Published, files: Iterable[str]) -> dict[str, bytes]:
    """Return the picture and the report of a table, beside its files of these ends."""
    pictures = dict[str, bytes]()
    if (drawing := published.drawing) is not None:
        pictures[DRAWING] = by_itself(drawing).encode()
    paths = tuple(Path(f"{published.name}{end}") for end in (*files, *pictures))
    return {**pictures, REPORT: report_html(replace(published, files=paths)).encode()}


def _table(
    table: Table, answers: Sequence[NoisyAnswer], adjustment: Adjustment | None, worth: Worth | None, is_rehearsal: bool
) -> tuple[Sequence[Plain], bytes]:
    """Return the rows of a table, and its bytes; each row of a rehearsal says so."""
    if not answers[0].labels:
        return _sent(answers[0])
    adjusted, matters = adjusted_values(adjustment, len(answers)), None
    if worth is not None:
        matters = worth.matters
    calibrations = calibrations_of(answer.question for answer in answers)
    frameworks = [calibrations[0].framework.to_dict()]
    by_unit = [(answer.question.unit, answer) for answer in answers]
    estimated = estimates_of_table(table.questions, [answer.values for answer in answers])
    rows = rows_of_answers(by_unit, table.scope, adjusted, frameworks, clock_of(table.facts), estimated)
    possible = ends_of((c.query.to_dict(), c.framework.to_dict()) for c in calibrations)
    rule = Rule(calibrations[0].query.to_dict(), matters)
    judged = tuple(rule.added(with_possible(rows, possible)))
    if is_rehearsal:
        judged = tuple({**row, REHEARSAL: NO_GUARANTEE} for row in judged)
    return judged, table_text(judged).encode()


def _sent(answer: NoisyAnswer) -> tuple[Sequence[Plain], bytes]:
    """Return the randomised rows, and the bytes of their table."""
    sent, query = answer.values, answer.question.calibration.query
    columns = columns_of(query)
    names = names_of(columns, sent.outputs)
    row, place = sent.row.tolist(), sent.place.tolist()
    text = rows_text(names, sent.outputs, row, place)
    return rows_sent(names, sent.outputs, row, place), text.encode()


def published_at(folder: Path, name: str, since: str | None = None) -> Published:
    """Read a published table back from its files."""
    files = {f"{name}{end}": content_of(folder / f"{name}{end}") for end in (CERTIFICATE, TABLE)}
    (table,) = tables_of(Bundle({name: {file: content or b"" for file, content in files.items()}}), folder)
    return replace(table, since=since)


def tables_of(bundle: Bundle, folder: Path) -> tuple[Published, ...]:
    """Return the published tables of a folder, as their files say."""
    tables, texts = list[Published](), bundle.files
    for certificate in bundle.read:
        tables.append(_table_of(certificate, texts[f"{certificate.release}{TABLE}"].decode(), folder))
    return tuple(tables)


def _table_of(certificate: Certificate, text: str, folder: Path) -> Published:
    name, table = certificate.release, published_of(certificate)
    if not table.cells:
        table = replace(table, rows=read_rows(text))
    elif text:  # only the release knew what matters, and what is possible
        lines = zip(table.rows, rows_in(text), strict=True)  # in the file's order, with what it alone has of a row
        both = ({key: {**old, **row}[key] for key in (*old, *row) if key in row or key in _ADDED} for row, old in lines)
        table = replace(table, rows=tuple(both))
    names = (f"{name}{end}" for end in dict.fromkeys((TABLE, CERTIFICATE, PAGE, REPORT, *ENDS)))
    files = tuple(folder / name for name in names if (folder / name).is_file())
    return replace(table, files=files)


def with_plan(table: Published, planned: Plan, worths: Mapping[str, Worth]) -> Published:
    """Return a table with what its plan alone knows: its calibrations, worth and the caller's library."""
    library, left_out = library_of(planned.file.given), in_place_of_good(planned.file)
    (of_table,) = (one for one in planned.tables if one.name == table.name)
    calibrations = {question.unit: question.calibration for question in of_table.questions}
    releases = list[tuple[str | None, Release]]()
    for unit, answer in table.releases:
        release = replace(answer, calibration=calibrations.get(unit), library=library, left_out=left_out)
        releases.append((unit, release))
    return replace(table, releases=tuple(releases), library=library, worth=worths.get(table.name))


def adjustment_of(table: Table, answers: Sequence[NoisyAnswer]) -> Adjustment | None:
    """Return a table's adjusted values, if it publishes any. Only its noisy values and public totals enter."""
    if table.totals is None:
        return None
    values = list[Mapping[str, Fraction]]()
    for answer, totals in zip(answers, table.totals, strict=True):
        adjusted, size = list[Fraction](), len(answer.values) // len(totals)
        for number, total in enumerate(totals):  # block by block
            adjusted += nearest(answer.values[number * size : (number + 1) * size], answer.randomiser.grid, total)
        values.append(dict(zip(answer.labels, adjusted, strict=True)))
    whose, by, query = "", "", answers[0].question.calibration.query
    if isinstance(query, GroupBy):
        by = query.by
    if table.scope == "unit" and len(answers) > 1:
        whose = f"of each {table.people.one} "
    if any(len(totals) > 1 for totals in table.totals):
        whose += f"in each cell of {by or 'the table'} "
    every = list(chain.from_iterable(table.totals))
    return Adjustment(tuple(values), published_notes(answers[0].randomiser, every, whose))
