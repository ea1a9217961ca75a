"""Publish a plan: one reservation, the noise, then the files. It only orchestrates."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.errors import ReleaseError
from takifugu.noise import Entropy
from takifugu.releasing.build import budget_of
from takifugu.releasing.certificate import Certificate
from takifugu.releasing.library import library_of
from takifugu.releasing.new_ledger import check_ledger
from takifugu.releasing.planning import Plan, Table, plan
from takifugu.releasing.publish import Drawn, certificate_of, draw
from takifugu.releasing.record_file import RecordFile
from takifugu.releasing.records import RecordPlan
from takifugu.releasing.report import report_html
from takifugu.releasing.result import Release, frame_of, shown
from takifugu.releasing.spec import ReleaseFile, load
from takifugu.searches import stopping

if TYPE_CHECKING:
    from takifugu.ledger import Reservation

#: The level of the error bars in the published tables: all values of a table at once, over the noise alone.
LEVEL = 0.95
#: What each table's files are called, after its name.
_ENDS = (".csv", ".certificate.json", ".certificate.txt", ".report.html")


@dataclass(frozen=True)
class Published:
    """One table that was published: its rows (unit, cell, value, low, high), certificate and files.

    `releases` are its answers by unit (None: nobody's alone), for what can be done after a release: `adjusted`,
    `reconcile`. `library` is the data-frame library that the data came in, where it came as a frame.
    """

    name: str
    scope: str
    rows: tuple[Mapping[str, Any], ...]
    certificate: Certificate
    files: tuple[Path, ...]
    releases: tuple[tuple[str | None, Release], ...] = field(repr=False)
    library: str | None = None

    def to_frame(self, library: Any = None) -> Any:
        """Return the rows as a frame of the named library, or of the one that the data came in (`Release.to_frame`)."""
        return frame_of(self.rows, library or self.library)


@dataclass(frozen=True)
class Outcome:
    """What a release file published, and what its source has spent of its budget since."""

    tables: tuple[Published, ...]
    reservation: Reservation


def release_file(
    path: str | Path,
    data: Any = None,
    output: str | Path | None = None,
    force: bool = False,
    only_release: bool = False,
    new_ledger: bool = False,
) -> Outcome:
    """Publish every table of a release file, as `takifugu release` does.

    `data` stands for the file of its [source]: another file, or a pandas, Polars, PyArrow, DuckDB or PySpark frame with
    the same columns. Rows stay where they are; noise and ledger are here. `output` is the folder to write into.
    `only_release` says that nothing else is ever released about the source, as the key of that name in the file does:
    the least noise of all, and the ledger refuses later releases if it is of kind single. `new_ledger` goes on with a
    ledger that does not know what was published of the source in that folder.

    Raises SpecError for a faulty file, DataError for data that break a rule, CalibrationRefused, BudgetExceeded or
    CompositionRefused where the release is refused, and ReleaseError where files exist (without `force`).

    >>> from takifugu.demo import write_demo
    >>> outcome = release_file(write_demo(Path("demo")))
    >>> [table.name for table in outcome.tables]
    ['time-use-units', 'time-use-pooled']
    """
    with stopping(once=False):  # whoever interrupts does not want to publish
        planned = plan(load(path, data, only_release))
    return publish(planned, None if output is None else Path(output), force, new_ledger=new_ledger)


def publish(
    planned: Plan | RecordPlan,
    output: Path | None = None,
    force: bool = False,
    entropy: Entropy | None = None,
    *,
    new_ledger: bool = False,
) -> Outcome:
    """Publish every table of a plan: one reservation for all, then the noise, then the files.

    Raises ReleaseError where a file exists (without `force`) or cannot be written, and LedgerError where the ledger is
    missing that is required, or that paid for what is in the folder (without `new_ledger`); before the reservation this
    leaves the ledger as it was, after it the epsilon is spent.
    """
    folder = planned.file.inside(planned.spec.output) if output is None else output
    check_ledger(_ledger_path(planned.file), planned.spec, folder, new_ledger)
    targets = {t.name: [folder / f"{t.name}{end}" for end in _ENDS] for t in planned.tables}
    there = [p.name for paths in targets.values() for p in paths if p.exists()]
    if there and not force:
        raise ReleaseError(
            f"{', '.join(there)} in {str(folder)!r} would be overwritten: write --force, or choose another folder"
        )
    with _workshop(folder) as bench:
        questions = [q for t in planned.tables for q in t.questions]
        source, ledger = planned.spec.source, _ledger_path(planned.file)
        drawing = draw(questions, ledger, source.name, budget_of(source), entropy)
        assert drawing.reservation is not None
        by_question = dict(zip(map(id, questions), drawing.answers, strict=True))
        made = []
        try:
            for table in planned.tables:
                answers = [by_question[id(q)] for q in table.questions]
                made.append(_write(table, answers, planned, bench, targets[table.name]))
            for paths in targets.values():
                for path in paths:
                    os.replace(bench / path.name, path)
        except OSError as error:
            raise ReleaseError(
                f"the files could not be written to {str(folder)!r} ({_reason(error)}); the epsilon is spent, because "
                "the noise was drawn: make room or repair the folder, and ask for another release"
            ) from None
        drawing.hand_out()
    return Outcome(tuple(made), drawing.reservation)


def _ledger_path(file: ReleaseFile | RecordFile) -> str | Path:
    return file.spec.ledger if "://" in file.spec.ledger else file.inside(file.spec.ledger)


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """Yield a folder for unfinished files inside the output folder, so that finished ones appear complete."""
    is_new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        bench = tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder)
    except OSError as error:
        raise ReleaseError(
            f"the output folder {str(folder)!r} cannot be written to ({_reason(error)}): choose another one"
        ) from None
    try:
        yield Path(bench.name)
    finally:
        bench.cleanup()
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _write(
    table: Table, answers: Sequence[Drawn], planned: Plan | RecordPlan, bench: Path, targets: Sequence[Path]
) -> Published:
    source, units = planned.spec.source.name, planned.unit_names
    certificate = certificate_of(answers, source, table.scope, units, planned.assumptions)
    cells = sum(len(a.values) for a in answers)
    rows = tuple(row for answer in answers for row in _rows(answer, cells, table.scope))
    where = [bench / path.name for path in targets]
    with open(where[0], "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    where[1].write_text(certificate.to_json() + "\n", encoding="utf-8")
    where[2].write_text(certificate.text() + "\n", encoding="utf-8")
    library = _library(planned.file)
    releases = tuple((a.question.unit, _release(a, certificate, library)) for a in answers)
    published = Published(table.name, table.scope, rows, certificate, tuple(targets), releases, library)
    where[3].write_text(report_html(published), encoding="utf-8")
    return published


def _release(answer: Drawn, certificate: Certificate, library: str | None) -> Release:
    calibration = answer.question.calibration
    return Release(answer.labels, answer.values, certificate, calibration.randomiser, calibration, library)


def _library(file: ReleaseFile | RecordFile) -> str | None:
    """Return the library of the caller's own frame; a file that an engine of ours reads is nobody's frame."""
    kept = file.table.keeps
    return None if isinstance(kept, tuple) else library_of(kept)


def _rows(answer: Drawn, cells: int, scope: str) -> Iterator[dict[str, Any]]:
    half = answer.question.calibration.randomiser.half_width(LEVEL, cells)
    for label, value in zip(answer.labels, answer.values, strict=True):
        unit = {"unit": answer.question.unit} if scope == "unit" else {}
        yield {**unit, "cell": label, "value": shown(value), "low": shown(value - half), "high": shown(value + half)}
