"""What a release file published in all: its tables, their rows with intervals, and what its source has spent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from takifugu.core.escaping import command, option
from takifugu.core.plain import Json, Plain
from takifugu.core.text.parts import InParts, Part, facts
from takifugu.data.times.moments import name_of, period_number, start_of
from takifugu.data.times.zones import EPOCH, MICROSECOND
from takifugu.releasing.certificates.cells import CLOCK
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Fact, Window
from takifugu.releasing.postprocess.estimate import Estimate
from takifugu.releasing.postprocess.intervals import LEVEL, NOISE_ONLY
from takifugu.releasing.postprocess.picture import boxes_in
from takifugu.releasing.postprocess.readability import Rule
from takifugu.releasing.postprocess.readable import readable, rows_of
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.report.published import Published

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Payment
    from takifugu.releasing.planning.questions import NoisyAnswer

_READ = f"low to high: 95 % intervals of the values, all values of a table at once; {NOISE_ONLY}"


def published_of(
    certificate: Certificate, answers: Sequence[tuple[str | None, Release]] | None = None
) -> Published:
    """Return a published table as its certificate alone says it, or with answers that say more."""
    releases = tuple(releases_of(certificate).items()) if answers is None else tuple(answers)
    adjusted = {answer.unit: _exact(answer.adjusted) for answer in reversed(certificate.answers)}
    values, clock = [adjusted.get(unit) for unit, _ in releases], clock_of(filter(None, [certificate.window]))
    rows = rows_of_answers(releases, certificate.scope, values, certificate.frameworks.values(), clock)
    judged = tuple(Rule(certificate.query).added(rows))
    return Published(certificate.release, certificate.scope, judged, certificate, (), releases)


def _exact(adjusted: Mapping[str, str] | None) -> Mapping[str, Fraction] | None:
    return None if adjusted is None else {cell: Fraction(value) for cell, value in adjusted.items()}


def rows_of_answers(
    answers: Sequence[tuple[str | None, NoisyAnswer | Release]], scope: str,
    adjusted: Sequence[Mapping[str, Fraction] | None], frameworks: Iterable[Plain], clock: str,
    estimated: Sequence[Sequence[Estimate]] | None = None,
) -> tuple[Json, ...]:  # fmt: skip
    """Return the rows of a table of cells, unit by unit; `clock` says whose clock tells their hours, if anybody's."""
    estimates = iter(chain.from_iterable(estimated or ()))
    cells = sum(len(answer.labels) for _, answer in answers)
    boxes = boxes_in(frameworks, answers[0][1].labels)
    rows: list[Json] = []
    for (unit, answer), nearest_values in zip(answers, adjusted, strict=True):
        if not answer.labels:  # of randomised rows, which have a table of their own
            continue
        for row in rows_of(answer.labels, answer.values, answer.randomiser, LEVEL, cells):
            line: Json = dict(row)
            if scope == "unit":
                line = {"unit": unit, **row}
            if estimated is not None:
                line |= next(estimates).columns
            if nearest_values is not None:
                line["adjusted"] = readable(nearest_values[row["cell"]])
            if boxes is not None:
                line |= zip("xy", boxes.middle(row["cell"]), strict=True)
            if clock:
                line[CLOCK] = clock
            rows.append(line)
    return tuple(rows)


def clock_of(facts: Iterable[Fact]) -> str:
    """Return whose clock tells the cells of a table, "" where no clock does."""
    return next((fact.clock for fact in facts if isinstance(fact, Window)), "")


@dataclass(frozen=True)
class Outcome(InParts):
    """The published tables of a release file, and what its source has now spent of its budget."""

    #: Those that this call published, and after them those that it left alone (`Published.since`).
    tables: tuple[Published, ...]
    reservation: Payment
    #: The time of an earlier payment that did not finish.
    completed: str | None = None

    @property
    def new(self) -> tuple[Published, ...]:
        """Return the tables of this call."""
        return tuple(table for table in self.tables if table.since is None)

    @property
    def there(self) -> tuple[Published, ...]:
        """Return the tables published and paid for before."""
        return tuple(table for table in self.tables if table.since is not None)

    def __repr__(self) -> str:
        return f"<Outcome: {', '.join(table.name for table in self.tables)}>"

    @property
    def parts(self) -> Iterator[Part]:
        for table in self.tables:
            yield from table.parts
        paid, files = self.reservation, list(chain.from_iterable(table.files for table in self.new))
        first_rows = chain.from_iterable(table.rows[:1] for table in self.tables)
        pairs = list[tuple[str, str]]()
        if any(row.get("low") is not None for row in first_rows):
            pairs.append(("intervals", _READ))
        if files:
            pairs.append(("written", f"{', '.join(path.name for path in files)} in {files[0].parent}"))
        pairs.append(("spent", paid.spent.spent_by(paid.source, paid.budget)))
        if self.completed:
            pairs.append(("completed", f"paid for at {self.completed}"))
        if self.there:
            pairs.append(("already published", already(self)))
        yield facts(pairs)


def already(outcome: Outcome, path: Path | None = None) -> str:
    """Name the tables published before, and how to publish later rows; `path` is that of their release file."""
    tables = outcome.there
    names = ", ".join(f"{table.name} ({(table.since or '')[:10]})" for table in tables)
    paid = f"{names}; nothing was paid for {'it' if len(tables) == 1 else 'them'} now"
    return f"{paid}. {_later([table.certificate.window for table in outcome.tables], path)}"


def _later(windows: Sequence[Window | None], path: Path | None) -> str:
    """Say how later rows are published: the window after the last one, and the line to paste."""
    last = dict[str, int]()
    for window in windows:
        kind, number = (window and period_number(window.period)) or ("", 0)
        if kind:
            last[kind] = max(number, last.get(kind, number))
    said = list[str]()
    for kind, number in last.items():
        name = name_of(kind, number + 1)
        end = (EPOCH + start_of(kind, number + 2) * MICROSECOND).replace(tzinfo=None)
        run = option("window", name) if path is None else command("release", path, "--window", name)
        said.append(f"Next is {name}, which is over on {end.isoformat(' ', 'minutes').removesuffix(' 00:00')}: {run}")
    if said:
        return f"{'. '.join(said)}. An until under [source] must not lie before that"
    if any(windows):
        return (
            "Later rows need a later until under [source], and a [[table]] of another name with their from and to, or "
            'with every = "week"'
        )
    return "What came into the data since then needs a [[table]] of another name"
