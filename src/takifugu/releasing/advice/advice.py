"""The advice on a release file: a verdict on each table, what would help the worst one, and what the belief costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from takifugu.core.plain import Json, Plain
from takifugu.core.text.bars import bars
from takifugu.core.text.markup import html_table, note
from takifugu.core.text.tables import filled, number, text_table
from takifugu.core.tracebacks import without_data
from takifugu.releasing.advice.advising import TableAdvice, advice_of, poorest
from takifugu.releasing.advice.remedies import Change, Remedy, remedies, worth_with
from takifugu.releasing.advice.worth import Verdict, Worth
from takifugu.releasing.file.loading import load, parsed
from takifugu.releasing.planning.plan import Watch, calibrated, unwatched

REMEDY_HEADER = ("change", "then", "why")
EXPECTED_HEADER = ("cell", "expected", "± (95 %)")
#: How many cells of a table are shown.
MOST_CELLS = 12
_LEGEND = (
    "What is expected, from {source}. A published value lies between the ends of ▓ and ░ with probability 95 %, each "
    "by itself."
)


@dataclass(frozen=True)
class Advice:
    """What a release file is worth: its tables, the remedies of the worst one, the best first.

    `shorter_stays` is what the worst table would be worth if everything lasted half as long as the belief says, None
    where that says nothing. It is no remedy: a belief is what may be believed, not what would be convenient.
    """

    tables: tuple[TableAdvice, ...]
    remedies: tuple[Remedy, ...]
    shorter_stays: Worth | None

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict on the worst table; None where none has one."""
        judged = poorest(self.tables)
        return None if judged is None else judged[1].verdict

    @property
    def remedy_rows(self) -> list[tuple[str, ...]]:
        return [(remedy.words, remedy.worth.sentence(remedy.measured_in), remedy.why) for remedy in self.remedies]

    @property
    def of_the_belief(self) -> str:
        """Say what the belief costs, where that can be said."""
        judged = poorest(self.tables)
        if self.shorter_stays is None or judged is None:
            return ""
        return (
            "If everything lasted half as long as the belief says, and only if that is true: "
            f"{self.shorter_stays.sentence(judged[0].measured_in)}."
        )

    def lines(self) -> Iterator[tuple[str, Verdict | None]]:
        """Yield what is said, in parts of one or more lines, each with the verdict that it states, if it is one."""
        for table in self.tables:
            yield filled(f"{table.name}: {table.sentence}"), None if table.worth is None else table.worth.verdict
            yield from ((line, None) for line in ("", *_picture(table)))
        if self.remedies:
            texts = "What would help, the best first:", "", text_table(REMEDY_HEADER, self.remedy_rows), ""
            yield from ((text, None) for text in texts)
        yield filled(self.of_the_belief), None

    def __str__(self) -> str:
        return "\n".join(text for text, _ in self.lines()).rstrip()

    def _repr_html_(self) -> str:
        """Return the verdicts, what is expected and the remedies as tables."""
        parts = []
        for table in self.tables:
            parts.append(note(f"{table.name}: {table.sentence}", strong=True))
            if rows := expected_rows(table):
                parts.append(html_table(EXPECTED_HEADER, rows))
        if self.remedies:
            parts.append(html_table(REMEDY_HEADER, self.remedy_rows, "What would help, the best first"))
        return "".join([*parts, note(self.of_the_belief) if self.of_the_belief else ""])

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        shorter = self.shorter_stays
        return {
            "verdict": None if self.verdict is None else str(self.verdict),
            "tables": [table.to_dict() for table in self.tables],
            "remedies": [remedy.to_dict() for remedy in self.remedies],
            "if_stays_were_half_as_long": None if shorter is None else {
                "verdict": str(shorter.verdict), "error_of_a_cell": shorter.cell.width, "ratio": shorter.ratio_or_none,
            },
        }  # fmt: skip


@without_data
def advise(path: str | Path, data: object = None, window: str | None = None, watch: Watch = unwatched) -> Advice:
    """Say what the tables of a release file are worth to a reader, and what would make the worst of them worth more.

    Nothing is read but which units there are where their lengths decide, and nothing is paid, drawn or written. What
    is expected are the means of the first belief. Raises SpecError, DataError and CalibrationRefused, as `forecast`.

    >>> from takifugu.cli.samples import write_demo
    >>> advice = advise(write_demo(Path("advised")))
    >>> str(advice.verdict), advice.tables[0].sentence
    ('good', 'good: differences above 115 rows show')
    """
    where = Path(path)
    tables = advice_of(calibrated(load(where, data, window=window), watch))
    judged = poorest(tables)
    if judged is None or judged[1].verdict is Verdict.GOOD or window is not None:
        return Advice(tables, (), None)
    raw = parsed(where)
    watch("looking for what would help", 0, 1)
    shorter = half_as_long(raw)
    halved = None if shorter is None else worth_with(raw, where, (shorter,), data)
    return Advice(tables, remedies(raw, where, tables, data), halved)


def half_as_long(raw: Plain) -> Change | None:
    """Return the belief of a chain whose stays are half as long; None where no matrix of one is in the file."""
    matrix = raw.get("belief", {}).get("matrix")
    if raw.get("belief", {}).get("kind") != "markov-chain" or not isinstance(matrix, list):
        return None
    halved = []
    for state, row in enumerate(matrix):
        if not isinstance(row, list) or len(row) != len(matrix) or 2 * (1 - row[state]) > 1:
            return None
        leaving = [2 * p for p in row]
        leaving[state] = 1 - sum(p for i, p in enumerate(leaving) if i != state)
        halved.append(leaving)
    return Change(("belief", "matrix"), halved)


def _picture(table: TableAdvice) -> list[str]:
    """Return a typical result as bars, each with how far the published value may lie from it; nothing without one."""
    one = table.worth
    if not table.labels or one is None or one.expectation.cells is None:
        return []
    rows, off = [], Fraction(one.cell.width)
    for label, cell in zip(table.labels, one.expectation.cells, strict=True):
        value = Fraction(round(cell, 6))
        rows.append({"cell": label, "value": value, "low": value - off, "high": value + off})
    more = [f"and {len(rows) - MOST_CELLS} more cells"] if len(rows) > MOST_CELLS else []
    return [*bars(rows[:MOST_CELLS]), *more, "", filled(_LEGEND.format(source=one.expectation.source)), ""]


def expected_rows(table: TableAdvice) -> list[tuple[str, ...]]:
    """Return the cells of a typical result, each with how far the published one may lie from it."""
    if not table.labels or table.worth is None or table.worth.expectation.cells is None:
        return []
    off = number(table.worth.cell.width)
    cells = list(zip(table.labels, table.worth.expectation.cells, strict=True))
    rows: list[tuple[str, ...]] = [(label, number(round(value, 6)), off) for label, value in cells[:MOST_CELLS]]
    return rows if len(cells) <= MOST_CELLS else [*rows, (f"{len(cells) - MOST_CELLS} more", "", "")]
