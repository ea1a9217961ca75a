"""What a release file published: as values, in words, as tables for a notebook, and as its report takes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from takifugu.analysis.randomisers import answered
from takifugu.core.errors import InputError
from takifugu.core.plain import Json, Plain, Row
from takifugu.core.text.parts import InParts, Part, closed, facts, heading, rows, words
from takifugu.core.text.plot import Plot, stacked
from takifugu.model import frameworks
from takifugu.model.beliefs.populations import FromPopulations
from takifugu.releasing.advice.worth import Worth
from takifugu.releasing.certificates.cells import CLOCK, UPPER, Rows
from takifugu.releasing.certificates.certificate import Certificate
from takifugu.releasing.certificates.facts import Fact, Window
from takifugu.releasing.postprocess.estimate import Estimate, narrowing
from takifugu.releasing.postprocess.intervals import LEVEL, NOISE_ONLY, measured
from takifugu.releasing.postprocess.picture import Answers, boxes_in, picture_of
from takifugu.releasing.postprocess.readability import Ends, Rule, possible_ends
from takifugu.releasing.postprocess.readable import cells_of, frame_of, readable, rows_of
from takifugu.releasing.postprocess.release import Release, releases_of
from takifugu.releasing.report.opening import accuracy
from takifugu.releasing.report.page import WIDE
from takifugu.releasing.report.populations import drawn_populations
from takifugu.releasing.report.privacy import privacy_of

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Payment
    from takifugu.mechanisms.local.sent import Sending
    from takifugu.releasing.planning.questions import NoisyAnswer

#: How many rows of a table are shown; the file has them all.
MOST_ROWS = 60
_READ = f"low to high: 95 % intervals of the values, all values of a table at once; {NOISE_ONLY}"


@dataclass(frozen=True)
class Published(InParts):
    """One table that was published: its rows (unit, cell, value, low, high), certificate and files.

    Where the file asks for adjusted values they are a column more; the rows of a randomised column are (row, and the
    value's own columns).

    `releases` are its answers by unit (None: of all units together), for what can be done after a release: `adjusted`,
    `reconcile`. `library` is the data-frame library that the data came in, where it came as a frame. `since` is when
    it was paid for, where it was published before and this call has left it alone. `worth` is what it is worth to a
    reader, where that is known.
    """

    name: str
    scope: str
    rows: Sequence[Row]
    certificate: Certificate
    files: tuple[Path, ...]
    releases: tuple[tuple[str | None, Release], ...] = field(repr=False)
    library: str | None = None
    since: str | None = None
    worth: Worth | None = field(default=None, repr=False, compare=False)

    def to_frame(self, library: object = None) -> Any:
        """Return the rows as a frame, by default of the data's library.

        See `Release.to_frame`.
        """
        return frame_of(self.rows, library or self.library)

    def plot(self) -> Plot:
        """Return the report's picture of the table.

        Raises InputError for a table without one.
        """
        picture = self.drawing
        if picture is None:
            raise InputError("this table has no picture", fix="print it, or take `to_frame()`")
        return Plot(self.title, picture)

    @property
    def drawing(self) -> str | None:
        """Return the picture as SVG, or None for undrawable values."""
        if not self.cells:
            return stacked(list(drawn_populations(*self.randomised)))
        return picture_of(self.certificate, self.rows_by_unit, self.possible, WIDE)

    @property
    def left_out(self) -> str:
        """Return what stands in the place of a verdict "good", if anything."""
        return self.releases[0][1].left_out

    @property
    def cells(self) -> int:
        """Return how many values have a label: none of randomised rows."""
        return sum(len(answer.labels) for _, answer in self.releases)

    @property
    def is_by_unit(self) -> bool:
        return self.scope == "unit" and len(self.releases) > 1

    @property
    def estimate_words(self) -> str:
        """Say how near the estimates are, where they halve the ± of one value; else ""."""
        if isinstance(self.rows, Rows):
            return ""
        noises = [(answer.randomiser, len(answer.labels)) for _, answer in self.releases]
        return narrowing(self.rows, noises, self.certificate.measured_in or "")

    @property
    def noisiest(self) -> tuple[str | None, Release]:
        """Return the answer with the most noise, and its unit."""
        return max(self.releases, key=lambda pair: answered(lambda: pair[1].randomiser.scale) or 0)

    @property
    def randomised(self) -> tuple[FromPopulations, Sending]:
        """Return the populations of a randomised column, and its noise."""
        belief: Any = frameworks.from_dict(next(iter(self.certificate.frameworks.values()))).beliefs[0]
        noise: Any = self.releases[0][1].randomiser
        return belief, noise

    @cached_property
    def possible(self) -> Ends | None:
        """Return the least and largest possible true value, if known."""
        return possible_ends(self.certificate)

    @property
    def rows_by_unit(self) -> Answers:
        """Return the rows of every answer by unit."""
        rows = iter(self.rows)
        return [(unit, list(islice(rows, len(answer.labels)))) for unit, answer in self.releases]

    def __repr__(self) -> str:
        return f"<Published {self.title}, {measured(len(self.rows), 'rows')}>"

    @property
    def parts(self) -> Iterator[Part]:
        for warning in self.certificate.warnings:
            yield words(warning, strong=True)
        for doubt in self.certificate.doubts:
            yield words(f"{doubt}.", strong=True)
        yield heading(self.title)
        yield words(*accuracy(self))
        yield Part("", lambda: self.drawing or "")
        if isinstance(self.rows, Rows):
            yield words(f"{len(self.rows):,} randomised values, in {self.name}.csv")
        else:
            keys, heads = list(self.rows[0]), {"unit": self.certificate.person, UPPER: "safe or at most"}
            lines = [cells_of(row, keys) for row in self.rows[:MOST_ROWS]]
            yield rows([heads.get(key, key) for key in keys], lines)
            left = len(self.rows) - MOST_ROWS
            if left > 0:
                yield words(f"and {left:,} more rows, in {self.name}.csv")
        yield facts(privacy_of(self.certificate).lines)
        yield closed("What is promised", Part("", self.certificate._repr_html_))

    @property
    def title(self) -> str:
        """Return title or name, query, people and unit in one line."""
        c, name = self.certificate, self.name
        if c.title:
            name = f"{c.title} ({name})"
        title = f"{name}: {c.statistic}, for {c.people.whose(self.scope)}"
        if c.measured_in:
            title += f", in {c.measured_in}"
        return title


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
    """What a release file published, and what its source has now spent of its budget.

    `tables` are those that this call published, and after them those that it left alone (`Published.since`).
    `completed` is when what was published now was paid for, where an earlier call paid and did not finish.
    """

    tables: tuple[Published, ...]
    reservation: Payment
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
            pairs.append(("already published", already(self.there)))
        yield facts(pairs)


def already(tables: Sequence[Published]) -> str:
    """Name the tables published before, and how to publish later rows."""
    if not tables:
        return ""
    names = ", ".join(f"{table.name} ({(table.since or '')[:10]})" for table in tables)
    paid = f"{names}; nothing was paid for them now"
    if len(tables) == 1:
        paid = f"{names}; nothing was paid for it now"
    if any(table.certificate.window for table in tables):
        return paid
    return f"{paid}. What came into the data since then needs a [[table]] of another name"
