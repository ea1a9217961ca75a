"""Publish a plan: one reservation, the noise, then the files. It only orchestrates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.certificates.cells import guarded, table_text, unguarded
from takifugu.certificates.certificate import Certificate
from takifugu.certificates.certifying import Beside
from takifugu.certificates.files import CERTIFICATE, ENDS, PAGE, REPORT, TABLE, content_of, digest_at, digest_of, reason
from takifugu.certificates.sent_rows import names_of, read_rows, rows_sent, rows_text, written
from takifugu.errors import ReleaseError, ReleaseState, TakifuguError
from takifugu.noise import Entropy, SystemEntropy
from takifugu.postprocess.library import library_of
from takifugu.postprocess.release import Release, releases_of
from takifugu.postprocess.shown import rows_of, shown
from takifugu.releasing.beside import adjusted_in, beside_of, wording_of
from takifugu.releasing.bundle import Bundle, Sheet
from takifugu.releasing.course import Course
from takifugu.releasing.folder import alone_in, place
from takifugu.releasing.forecast import refusal_of_noise
from takifugu.releasing.identity import identity_of
from takifugu.releasing.new_ledger import check_ledger
from takifugu.releasing.outcomes import Outcome, Published
from takifugu.releasing.planning import Plan, Table, plan
from takifugu.releasing.publish import Drawn, Kept, Order, certificate_of, keep, open_ledger, ready
from takifugu.releasing.questions import Ready
from takifugu.releasing.settling import settle
from takifugu.report.document import report_html
from takifugu.searches import stopping
from takifugu.spec.file import load
from takifugu.spec.kind import ReleaseFile
from takifugu.tracebacks import without_data

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.ledger import Ledger, Pending, Reservation

#: The level of the error bars in the published tables: all values of a table at once, over the noise alone.
LEVEL = 0.95

__all__ = ["LEVEL", "Outcome", "Published", "publish", "release_file"]


@without_data
def release_file(
    path: str | Path,
    data: Any = None,
    output: str | Path | None = None,
    force: bool = False,
    only_release: bool = False,
    new_ledger: bool = False,
    anyway: bool = False,
    window: str | None = None,
) -> Outcome:
    """Publish every table of a release file, as `takifugu release` does.

    `data` stands for the file of its [source]: another file, or a pandas, Polars, PyArrow, DuckDB or PySpark frame with
    the same columns. Rows stay where they are; noise and ledger are local. `output` is the folder to write into.
    `only_release` says that nothing else is ever released about the source, as the key of that name in the file does:
    it allows the least noise, and the ledger refuses later releases if this one is of kind single. `new_ledger` accepts
    a ledger that does not know what was published of the source in that folder. A table of nothing but noise (its
    median exceeds the range of every cell) is refused, unless `anyway`. Tables with `every` are about each window of
    the calendar, or about one `window`. `forecast` tells all this beforehand.

    A release that an earlier call paid for and did not publish is completed, and nothing is paid (`completed`).

    Raises SpecError for a faulty file, DataError for data that break a rule, CalibrationRefused, BudgetExceeded or
    CompositionRefused where the release is refused, and ReleaseError where files exist (without `force`) or cannot be
    written. The error's `state` and words say how far the release had come.

    >>> from takifugu.demo import write_demo
    >>> outcome = release_file(write_demo(Path("demo")))
    >>> [table.name for table in outcome.tables]
    ['time-use-units', 'time-use-pooled']
    """
    course = Course()
    with course.telling():
        with stopping(once=False):  # an interrupt means: do not publish
            planned = plan(load(path, data, only_release, window))
        folder = None if output is None else Path(output)
        return publish(planned, folder, force, data=data, course=course, new_ledger=new_ledger, anyway=anyway)


@without_data
def publish(
    planned: Plan,
    output: Path | None = None,
    force: bool = False,
    entropy: Entropy | None = None,
    *,
    data: Any = None,
    course: Course | None = None,
    new_ledger: bool = False,
    anyway: bool = False,
) -> Outcome:
    """Publish every table of a plan: one reservation for all, then the noise, into the ledger first, then the files.

    `data` replaced the file of the source, `course` records how far it comes. Raises ReleaseError where a file exists
    (without `force`) or cannot be written, CalibrationRefused for a table of nothing but noise (without `anyway`), and
    LedgerError where a required ledger is missing, or is not the one that paid for what is in the folder (without
    `new_ledger`); the error's state says what had happened before.
    """
    course = Course() if course is None else course
    with course.telling():
        folder = planned.file.inside(planned.spec.output) if output is None else output
        bits = SystemEntropy() if entropy is None else entropy
        refusal = None if anyway else refusal_of_noise(planned.tables)
        return published(ordered(planned, folder, data, bits.private), force, bits, course, refusal, new_ledger)


@dataclass(frozen=True, eq=False)
class Ordered:
    """A plan whose data were read and found valid: where it goes, and how it is paid for."""

    planned: Plan
    folder: Path
    asked: tuple[Ready, ...]
    identity: bytes
    origin: Mapping[str, Any]
    private: bool

    def known_as(self, book: Ledger) -> bytes:
        """Return the identity by which a ledger may wait for it: an earlier version's, where it knows only that."""
        file, name = self.planned.file, self.planned.file.source.name
        if book.pending(name, self.identity) or not book.pending(name) or (data := file.kind.formerly(file)) is None:
            return self.identity
        asked = ready([replace(one.question, data=data) for one in self.asked])
        former = identity_of(asked, file.spec, self.private)
        return former if book.pending(name, former) else self.identity


def ordered(planned: Plan, folder: Path, data: Any = None, private: bool = True) -> Ordered:
    """Read the data of a plan and say which release it is; raises DataError for data that break a rule."""
    asked = ready([q for table in planned.tables for q in table.questions])
    identity = identity_of(asked, planned.spec, private)
    return Ordered(planned, folder, asked, identity, _origin(planned.file, data), private)


def published(
    order: Ordered,
    force: bool,
    bits: Entropy,
    course: Course,
    refusal: TakifuguError | None = None,
    new_ledger: bool = False,
) -> Outcome:
    """Pay, draw, keep and publish; where there is a `refusal`, which is raised, only what is paid for already."""
    planned, folder = order.planned, order.folder
    source, where = planned.file.source, planned.file.ledger
    with alone_in(folder):
        check_ledger(planned.file, folder, new_ledger)
        there = _there(planned, folder)
        in_the_way = [name for name in there if (folder / name).is_dir()]
        if in_the_way:  # nothing replaces a folder, so this is found before it is paid
            raise ReleaseError(
                f"{', '.join(in_the_way)} in {str(folder)!r} is a folder where a file belongs", fix="move it"
            )
        if there and not force and refusal is None:
            refusal = ReleaseError(
                f"{', '.join(there)} in {str(folder)!r} would be overwritten",
                fix="write --force, or choose another folder",
            )
        if refusal is not None and not _exists(where):  # it is not created only to be asked
            raise refusal
        book = open_ledger(where)
        assert book is not None
        settle(book, source.name, [folder, planned.file.inside(planned.spec.output)])
        recipe = {"kind": "file", **order.origin, "output": str(folder.absolute()), "replaces": there}
        bill = Order(source.name, planned.file.budget, order.known_as(book), recipe, source.same_people)
        kept = keep(order.asked, book, bill, course, bits, lambda drawn: _sealed(planned, drawn), refusal)
        tables = handed_out(kept, book, folder, force, course)
    known = {(q.release, q.unit): q.calibration for q in (one.question for one in order.asked)}
    return Outcome(tuple(_with(t, known, library_of(planned.file.given)) for t in tables), kept.paid, kept.since)


def handed_out(kept: Kept, book: Ledger, folder: Path, force: bool, course: Course) -> tuple[Published, ...]:
    """Let the files of drawn tables appear in the folder, and note in the ledger that they are published.

    Files that another release has put in their places since are overwritten only with `force`.
    """
    files = kept.bundle.files
    course.public = lambda: [name for name, content in files.items() if content_of(folder / name) == content]
    replaced = {} if kept.since is None else recipe_of(kept.paid).get("replaces", {})
    try:
        place(folder, files, replaced, force)
    except BaseException as error:
        if len(course.public()) == len(files):
            course.state = ReleaseState.UNRECORDED
        if not isinstance(error, OSError):
            raise
        what = f"the files could not all be written to {str(folder)!r} ({reason(error)})"
    else:
        course.record(book, kept.paid, ReleaseState.UNRECORDED)
        return tuple(table_of(sheet, folder) for sheet in kept.bundle.sheets)
    raise ReleaseError(what, fix="make room or fix it").at("output")


def recipe_of(paid: Reservation | Pending) -> Mapping[str, Any]:
    return getattr(paid, "recipe", {})


def _exists(where: str | Path) -> bool:
    return Path(str(where).removeprefix("sqlite:///")).exists()


def _there(planned: Plan, folder: Path) -> dict[str, str]:
    """Return the digests of the (public) files that lie where tables go."""
    names = [f"{table.name}{end}" for table in planned.tables for end in ENDS]
    return {name: digest_at(folder / name) or "" for name in names if (folder / name).exists()}


def _origin(file: ReleaseFile, data: Any) -> dict[str, Any]:
    """Say where the release file and its rows are, so that another process can read them again."""
    where = {"file": str(file.path.absolute()), "only_release": file.source.only_release, "window": file.window}
    if data is None or isinstance(data, str | Path):
        other = None if data is None else str(data) if "://" in str(data) else str(Path(data).absolute())
        return {**where, "data": other}
    return {**where, "frame": True}


def _sealed(planned: Plan, drawn: Sequence[Drawn]) -> Bundle:
    """Return every file of every table, complete, in memory."""
    answers = {id(d.question): d for d in drawn}
    return Bundle(tuple(_sheet(t, [answers[id(q)] for q in t.questions], planned) for t in planned.tables))


def _sheet(table: Table, answers: Sequence[Drawn], planned: Plan) -> Sheet:
    source, units = planned.file.source.name, planned.unit_names
    beside = beside_of(table, answers)
    rows, content = _table(table, answers, beside)
    listed = getattr(planned.file.source, "list_units", False)
    assumed = (*planned.assumptions, *table.told)
    certified = (assumed, digest_of(content), listed, wording_of(planned.spec, table.item), beside)
    certificate = certificate_of(answers, source, table.scope, units, *certified)
    releases = tuple((a.question.unit, _release(a, certificate)) for a in answers)
    report = report_html(Published(table.name, table.scope, rows, certificate, (), releases))
    files = {
        CERTIFICATE: f"{certificate.to_json()}\n".encode(),
        PAGE: f"{certificate.text()}\n".encode(),
        TABLE: content,
        REPORT: report.encode(),
    }
    return Sheet(table.name, {f"{table.name}{end}": content for end, content in files.items()})


def _table(
    table: Table, answers: Sequence[Drawn], beside: Beside | None
) -> tuple[Sequence[Mapping[str, Any]], bytes]:
    """Return the rows of a table, and its bytes."""
    if answers[0].labels:
        cells = sum(len(a.values) for a in answers)
        adjusted = [None] * len(answers) if beside is None else beside.values
        rows = tuple(
            row
            for answer, more in zip(answers, adjusted, strict=True)
            for row in _rows(answer.question.unit, answer, cells, table.scope, more)
        )
        return rows, table_text(rows).encode()
    sent, query = answers[0].values, answers[0].question.calibration.query
    names = names_of(getattr(query, "columns", ()), sent.outputs)
    row, place = sent.row.tolist(), sent.place.tolist()
    text = rows_text([guarded(name) for name in names], written(sent.outputs, guarded), row, place)
    return rows_sent(names, sent.outputs, row, place), text.encode()


def table_of(sheet: Sheet, folder: Path) -> Published:
    """Return a table that was published in a folder, as its files say."""
    certificate = sheet.certificate
    releases = tuple(releases_of(certificate).items())
    cells = sum(len(release.values) for _, release in releases)
    rows: Sequence[Mapping[str, Any]]
    if cells:
        beside = adjusted_in(certificate)
        told = ((u, r, cells, certificate.scope, beside[u]) for u, r in releases)
        rows = tuple(row for one in told for row in _rows(*one))
    else:
        rows = read_rows(sheet.files[f"{sheet.name}{TABLE}"].decode(), unguarded)
    files = tuple(folder / f"{sheet.name}{end}" for end in (TABLE, CERTIFICATE, PAGE, REPORT))
    return Published(sheet.name, certificate.scope, rows, certificate, files, releases)


def _with(
    table: Published, calibrations: Mapping[tuple[str, str | None], Calibration], library: str | None
) -> Published:
    """Return a table whose answers know their calibrations and the caller's library, for what comes after a release."""
    known = tuple(
        (unit, replace(answer, calibration=calibrations.get((table.name, unit)), library=library))
        for unit, answer in table.releases
    )
    return replace(table, releases=known, library=library)


def _release(answer: Drawn, certificate: Certificate) -> Release:
    calibration = answer.question.calibration
    return Release(answer.labels, answer.values, certificate, calibration.randomiser, calibration)


def _rows(
    unit: str | None, answer: Drawn | Release, cells: int, scope: str, adjusted: Mapping[str, Fraction] | None = None
) -> Iterator[dict[str, Any]]:
    whose = {"unit": unit} if scope == "unit" else {}
    for row in rows_of(answer.labels, answer.values, answer.randomiser, LEVEL, cells):
        more = {} if adjusted is None else {"adjusted": shown(adjusted[row["cell"]])}
        yield {**whose, **row, **more}
