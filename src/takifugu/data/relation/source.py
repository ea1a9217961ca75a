"""A source from its keys to its integers: what releases call.

>>> import pathlib, tempfile
>>> folder = pathlib.Path(tempfile.mkdtemp())
>>> lines = ["person,minute,posture", "Ana,0,lying", "Ana,1,lying", "Ana,3,walking", "Ben,7,lying"]
>>> _ = (folder / "a.csv").write_text("\\n".join(lines))
>>> keys = {"file": "a.csv", "unit": "person", "order": "minute", "step": 1, "value": "posture"}
>>> with opened_table(keys, ["lying", "walking"], folder) as source:
...     counts = source.counts()
...     print(counts.names[0].tolist(), counts.lengths.tolist(), counts.counts.tolist(), counts.observed(0))
['Ana', 'Ben'] [4, 1] [[2, 1], [1, 0]] (range(0, 2), range(3, 4))
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from takifugu.core.arrays import IntArray
from takifugu.core.cache import cached
from takifugu.core.files import private_folder
from takifugu.data.lookalikes import refuse_lookalikes
from takifugu.data.relation.answers import Answers, Groups, answered, check_rows, listed, summed
from takifugu.data.relation.counts import counted, covered
from takifugu.data.relation.keys import Source
from takifugu.data.relation.opening import WRITTEN
from takifugu.data.relation.reading import reading
from takifugu.data.relation.relation import Relation
from takifugu.data.relation.roles import SOURCE, Opened, open_source
from takifugu.data.relation.roster import Roster, read_roster
from takifugu.data.relation.transitions import States, states_of, transitions_of, transitions_of_all
from takifugu.data.relation.types import check_types
from takifugu.data.relation.visits import Grid, Visits, visited
from takifugu.data.sql.words import identifier, text_or_null
from takifugu.data.values.bins import Known
from takifugu.data.values.bounded import Bounded
from takifugu.data.values.counts import Counts

#: A row of texts, None where there is nothing.
Texts = tuple[str | None, ...]


@dataclass(frozen=True, eq=False)
class Table:
    """An opened source with its roster. All that it returns is integers and public names; errors quote no row."""

    opened: Opened
    root: Path
    folder: str

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.relation.close()

    @cached_property
    def roster(self) -> Roster | None:
        """Return the declared roster, if any."""
        return read_roster(self.opened.source, self.root, self.folder)

    @property
    def reading(self) -> str:
        """Return how rows become entries, as a ledger keeps it."""
        check_types(self.opened)
        return reading(self.opened)

    @property
    def with_rows(self) -> Opened:
        """Return the source for what reads its rows here; a table whose rows are elsewhere refuses it."""
        return self.opened

    def left_out(self) -> tuple[int, int]:
        """Return how many rows there are, and how many of them `where` leaves out, for the owner alone."""
        condition = self.with_rows.roles["where"].sql
        statement = f"select count(*), count(*) filter (not ({condition})) from {identifier(WRITTEN)}"
        rows, dropped = self.opened.relation.rows(statement, "where")[0]
        return rows, dropped

    def counts(self, window: range | None = None, by: tuple[str, ...] = ()) -> Counts:
        """Return lengths, gaps and counts by state, and by cell along some axes; the last ones are kept."""
        kept = cached(self, Counts, dict[Hashable, Counts])
        counts = kept.get((window, by))
        if counts is None:
            counts = counted(self.opened, self.roster, window, by)
            kept.clear()
            kept[window, by] = counts
        else:
            self.opened.relation.check_unchanged()
        return counts

    def covered(self, counts: Counts, window: range | None = None) -> Counts:
        """Return counts of changes, stays or events with public gaps alone: where somebody is not covered."""
        whole = range(self.opened.source.size or 0)
        assert self.roster is not None, "runs have a roster"
        return covered(counts, self.roster, whole if window is None else window)

    def states(self, window: range | None = None) -> States:
        """Return the state of every step, as runs."""
        return states_of(self.with_rows, self.roster, window)

    def transitions(self, cells: Sequence[int] = (0,)) -> IntArray:
        """Return how often each state follows each other one, by cells of a period of steps."""
        return transitions_of(self.with_rows, self.roster, cells)

    def all_transitions(self) -> IntArray:
        """Return how often each state follows each other one in all rows, whatever calendar they are read by."""
        return transitions_of_all(self.opened)

    def answers(self) -> Groups:
        """Return how many units gave each combination of answers."""
        return answered(self.with_rows, self.roster)

    def listed(self) -> Answers:
        """Return the answers of each row in the order of the rows."""
        return listed(self.with_rows)

    def has_rows(self, counts: Mapping[Texts, int], columns: Sequence[str]) -> bool:
        """Return whether its columns hold these rows of texts in any order, and no others, by `where` or without it."""
        relation, condition = self.opened.relation, ""
        if any(name not in relation.types for name in columns):
            return False
        listed_columns = ", ".join(map(text_or_null, columns))
        if "where" in self.opened.roles:
            condition = f" where {self.opened.roles['where'].sql}"
        wanted, total = _as_numbers(counts), sum(counts.values())
        for rows in (f"{identifier(WRITTEN)}{condition}", identifier(WRITTEN)):
            if relation.rows(f"select count(*) from {rows}")[0][0] != total:
                continue
            rows_here = relation.rows(f"select {listed_columns}, count(*) from {rows} group by all")
            if _as_numbers({tuple(texts): int(count) for *texts, count in rows_here}) == wanted:
                return True
        return False

    def totals(self, numbers: Sequence[Bounded]) -> Groups:
        """Return the sums of bounded numbers, by the public columns beside them."""
        return summed(self.with_rows, numbers, self.roster)

    def check_rows(self) -> None:
        """Raise RowFault for rows against the rules about units, of which one may have several; DataError for none."""
        check_types(self.opened)
        check_rows(self.with_rows, self.roster, may_repeat=True)

    def visits(self, grid: Grid | None = None) -> Visits:
        """Return who was at which of the known places, or in which box of a grid, in which step."""
        return visited(self.with_rows, grid)

    def texts(self, roles: Sequence[str]) -> list[Texts]:
        """Return the rows of some roles as texts in the order of the rows, None where there is nothing; private."""
        # the role "row" is the number of a row, from 1, those that `where` leaves out counted
        listed = ", ".join(map(text_or_null, roles))
        rows = self.with_rows.relation.rows(f'select {listed} from {identifier(SOURCE)} order by "row"')
        self.with_rows.relation.check_unchanged()
        return rows

    def first_rows(self, role: str) -> dict[str, int]:
        """Return the number of the first row of each text of a role, in the order of these rows; private."""
        grouped = f'select {identifier(role)}::varchar, min("row") from {identifier(SOURCE)} group by 1 order by 2'
        return {str(text): int(row) for text, row in self.opened.relation.rows(grouped) if text is not None}

    def times(self, roles: Sequence[str]) -> dict[Texts, int]:
        """Return how often each combination of texts of some roles is there; private."""
        listed = ", ".join([*map(text_or_null, roles), "count(*)"])
        rows = self.with_rows.relation.rows(f"select {listed} from {identifier(SOURCE)} group by all order by all")
        self.opened.relation.check_unchanged()
        return {tuple(texts): int(count) for *texts, count in rows}

    def refuse_lookalikes(self, declared: Iterable[object], key: str, role: str = "value0") -> None:
        """Raise DataError, with the row's number and no value, for an undeclared text that resembles a declared one."""
        refuse_lookalikes(self.first_rows(role).items(), map(str, declared), self.opened.words()[role], key)


def _as_numbers(counts: Mapping[Texts, int]) -> Counter[Texts]:
    """Return counts of texts, with 7 for 7.0: a column of another file may be one of numbers with a point."""
    together = Counter[Texts]()
    for texts, count in counts.items():
        together[tuple(text and re.sub(r"^([+-]?\d+)\.0+$", r"\1", text) for text in texts)] += count
    return together


def opened_table(
    keys: Mapping[str, Any], states: Sequence[object] = (), root: str | Path = ".", frame: object = None,
    public: Sequence[str] = (), known: Sequence[Known] = (), may_miss: Sequence[bool] = (), threads: int = 2,
) -> Table:  # fmt: skip
    """Open a source by the keys of [source], with paths from `root` on."""
    # where rows are not steps, the belief has a rule for each value (`known`), and says which `may_miss`
    return table_of(Source.of(keys, states, known, may_miss), root, frame, public, threads)


def table_of(
    source: Source, root: str | Path, frame: object = None, public: Sequence[str] = (), threads: int = 2
) -> Table:
    """Open a source, which is closed at the end of its block, and its folder gone with the last use of the table."""
    room = private_folder()
    opened = open_source(source, root, room.name, frame, public, threads)
    table = Table(opened, Path(root), room.name)
    weakref.finalize(table, close_with, opened.relation, room)
    return table


def close_with(relation: Relation, room: Any) -> None:
    """Close a relation, and delete its private folder."""
    relation.close()
    room.cleanup()
