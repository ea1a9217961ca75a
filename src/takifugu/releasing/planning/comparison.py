"""The mechanisms side by side, for each table of a release file: every one, or those that `auto` has asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from takifugu.calibration import Comparisons, compare
from takifugu.calibration.alternatives import CHOSEN
from takifugu.core.errors import InputError
from takifugu.core.escaping import command
from takifugu.core.people import People
from takifugu.core.plain import Json
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sharing import epsilon_of, metric_of, sharing
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.planning.plan import Aim, Watch, longest_of, unwatched, whose_answers


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

    def to_dict(self) -> Json:
        return {"name": self.name, "scope": self.scope, "unit": self.unit, **self.rows.to_dict()}


def only_one(compared: Sequence[Compared], mechanism: str, file: ReleaseFile) -> tuple[Compared, ...]:
    """Return comparisons with one mechanism's rows alone.

    Raises InputError for one that is proved for other promises than the tables make.
    """
    tables = list[Compared]()
    for table in compared:
        rows = tuple(row for row in table.rows if row.name == mechanism)
        if not rows:
            raise InputError(
                f"{mechanism!r} is proved for another kind of promise than that of {table.name!r}",
                fix=f"{command('cost', '--all', file.path)} lists those that are",
            ).at("mechanism")
        tables.append(replace(table, rows=replace(table.rows, rows=rows)))
    return tuple(tables)


def compared(file: ReleaseFile, scopes: Sequence[Aim], watch: Watch = unwatched) -> Iterator[Compared]:
    """Yield every mechanism side by side for each table."""
    for number, (asking, item, name, scope) in enumerate(scopes):
        units, unit = asking.units, None
        if scope == "unit":
            units = (longest_of(asking.units),)
            unit = units[0].name
        watch(f"comparing mechanisms for {name}", number, len(scopes))
        aimed = asking.kind.unit_query(asking.file, item, asking.query(item), units)
        framework, query = asking.about(aimed.units), aimed.query
        promised = (epsilon_of(file, item), item.delta)
        rows = compare(
            framework, query, *promised, file.source.single_release, metric_of(item), item.allow_zero_noise
        )
        remarks = [*rows.remarks]
        if item.shares_epsilon:
            remarks.append(
                f"{', '.join(table.name for table in sharing(file, item))} share this epsilon, so that each gets more "
                "noise than it would alone, which is what is compared here"
            )
        best = [row.name for row in rows.rows if row.status == CHOSEN]
        if best:
            remarks += asking.kind.remarks(asking.file, item, best[0])
        rows_in_toml = tuple(replace(row, reason=in_toml(row.reason)) for row in rows.rows)
        rows = replace(rows, rows=rows_in_toml, remarks=tuple(remarks))
        yield Compared(name, scope, unit, file.people, rows)
