"""Every mechanism side by side, for each table of a release file: in words, as HTML and as JSON; nothing is paid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from takifugu.calibration import Comparisons, compare
from takifugu.calibration.alternatives import CHOSEN
from takifugu.core.errors import InputError
from takifugu.core.escaping import command
from takifugu.core.people import People
from takifugu.core.plain import Json
from takifugu.core.text.parts import InParts, Part, heading, together, words
from takifugu.core.text.tables import paragraph
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.neighbours import notices_of_file
from takifugu.releasing.file.sharing import delta_of, epsilon_of, metric_of, sharing
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.planning.notices import notices_of_reading
from takifugu.releasing.planning.plan import Watch, aims_as_needed, longest_of, unwatched, whose_answers


@dataclass(frozen=True, eq=False)
class Compared:
    """Every mechanism side by side for one table; `unit` is the one shown (the longest), None for all together."""

    name: str
    scope: str
    unit: str | None
    people: People
    rows: Comparisons

    @property
    def head(self) -> str:
        return f"{self.name}: {whose_answers(self.people, self.scope, self.unit)}"


@dataclass(frozen=True)
class Comparison(InParts):
    """Every mechanism side by side, for each table of the release file at `path`."""

    path: Path
    tables: tuple[Compared, ...]
    notices: tuple[str, ...] = ()

    def only(self, mechanism: str) -> Comparison:
        """Return the comparison with one mechanism's rows alone.

        Raises InputError for one that is proved for other promises than the tables make.
        """
        tables = []
        for table in self.tables:
            rows = tuple(row for row in table.rows if row.name == mechanism)
            if not rows:
                raise InputError(
                    f"{mechanism!r} is proved for another kind of promise than that of {table.name!r}",
                    fix=f"{command('compare', '--all', self.path)} lists those that are",
                ).at("mechanism")
            tables.append(replace(table, rows=replace(table.rows, rows=rows)))
        return replace(self, tables=tuple(tables))

    @property
    def parts(self) -> Iterator[Part]:
        for table in self.tables:
            yield together(heading(table.head), Part(str(table.rows), table.rows._repr_html_))
        for notice in self.notices:
            yield words(notice)

    @property
    def brief(self) -> str:
        """Return the best mechanisms for each table, without the others' reasons."""
        more = f"All mechanisms, and why some do not apply: {command('compare', '--all', self.path)}"
        tables = [f"{paragraph(table.head)}\n{table.rows.brief}" for table in self.tables]
        return "\n\n".join([*tables, *map(paragraph, (*self.notices, more))])

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        tables = [{"name": t.name, "scope": t.scope, "unit": t.unit, **t.rows.to_dict()} for t in self.tables]
        data: Json = {"tables": tables}
        if self.notices:
            data["notices"] = list(self.notices)
        return data


def comparison(file: ReleaseFile, watch: Watch = unwatched) -> Comparison:
    """Compare every mechanism for each table, without reading data."""
    return Comparison(file.path, tuple(compared(file, watch)), (*notices_of_reading(file), *notices_of_file(file)))


def compared(file: ReleaseFile, watch: Watch = unwatched) -> Iterator[Compared]:
    """Yield every mechanism side by side for each table."""
    scopes = aims_as_needed(file, watch)
    for number, (asking, item, name, scope) in enumerate(scopes):
        units, unit = asking.units, None
        if scope == "unit":
            units = (longest_of(asking.units),)
            unit = units[0].name
        watch(f"comparing mechanisms for {name}", number, len(scopes))
        aimed = asking.kind.unit_query(asking.file, item, asking.query(item), units)
        framework, query = asking.about(aimed.units), aimed.query
        promised = (epsilon_of(file, item), delta_of(file, item))
        rows = compare(
            framework, query, *promised, file.source.only_release, metric_of(item), item.allow_zero_noise
        )
        remarks = [*rows.remarks]
        if item.shares_epsilon:
            remarks.append(
                f"{', '.join(table.name for table in sharing(file, item))} share this epsilon, so that each gets more "
                f"noise than it would alone, which is what is compared here: {command('calibrate', file.path)} says "
                "how much"
            )
        best = [row.name for row in rows.rows if row.status == CHOSEN]
        if best:
            remarks += asking.kind.remarks(asking.file, item, best[0])
        rows_in_toml = tuple(replace(row, reason=in_toml(row.reason)) for row in rows.rows)
        rows = replace(rows, rows=rows_in_toml, remarks=tuple(remarks))
        yield Compared(name, scope, unit, file.people, rows)
