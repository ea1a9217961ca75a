"""SELECTs against one cell changed: what the judge says of a column's cells is all that moves it, its row or its place.

    python -m tests.fuzz.selects [MINUTES] [--seed N] [--first N] [--cases N]

Random SELECTs over three files, with names that Python and DuckDB fold otherwise, stars of every form, windows, joins,
UNPIVOT, UNION, steps of WITH and aliases over columns. Of each one some cells are changed, one at a time: columns that
do not come from the cell, the number of rows and their order stay as they are. Exit code 1 if anything moved.
"""

import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.walk import in_a_folder, judge_cases

from takifugu.core.errors import TakifuguError
from takifugu.data.files.readers import scan
from takifugu.data.relation.opening import WRITTEN, Opening
from takifugu.data.sql.scopes import Cells, Rows
from takifugu.data.sql.words import folded, identifier

KELVIN = "\u212a"
#: The columns of each file, and how it is read.
FILES: dict[str, tuple[list[str], str]] = {
    "a": (["id", "t", "v", "w", "h"], "read_csv('a.csv')"), "b": (["h", "z"], "read_csv('b.csv')"),
    "k": (["id", "t", "k", KELVIN, "h", "é", "É"], "read_parquet('k.parquet')"),
}  # fmt: skip
NAMES = ["id", "t", "v", "w", "h", "z", "ID", "V", "k", f'"{KELVIN}"', '"é"', '"É"', "q", "a"]
Tables = dict[str, list[list[str]]]
#: How many cells of each SELECT are changed.
CHANGES = 6


class Writer:
    """Writes one random SELECT; `steps` are those of its WITH."""

    def __init__(self, c: random.Random) -> None:
        self.c = c
        self.steps: list[tuple[str, list[str]]] = []

    def column(self, names: Sequence[str]) -> str:
        return self.c.choice(names if names and self.c.random() < 0.98 else NAMES)

    def value(self, names: Sequence[str], depth: int = 2) -> str:
        if depth == 0 or self.c.random() < 0.3:
            return self.column(names)
        x, y, z = (self.value(names, depth - 1) for _ in range(3))
        return self.c.choice([
            f"lower({x}::varchar)", f"coalesce({x}, {y})", f"CASE WHEN {x} = {y} THEN {z} ELSE {x} END",
            f"nullif({x}, 'n')", f"({x}::varchar || {y}::varchar)", f"if({x}::varchar > 'x', {y}::varchar, 'y')", "'c'",
            f"length({x}::varchar)", f"list_value({x}::varchar, {y}::varchar)[2]", f"row({x}, {y})[1]",
            f"{x} in ('x', 'y')", f"greatest({x}::varchar, {y}::varchar)", f"try_cast({x} as int)",
            f"struct_extract(struct_pack(a := {x}, b := {y}), 'b')", f"{x} is distinct from {y}",
            f"map([{x}::varchar], [{y}])['x']",
        ])  # fmt: skip

    def window(self, names: Sequence[str]) -> str:
        x = self.column(names)
        called = self.c.choice([
            "row_number()", "rank()", f"lag({x})", f"lead({x})", f"lag({x}, 1, 'd')", f"first_value({x})",
            f"last_value({x})", "count(*)", f"count({x})", f"max({x})", f"bool_or({x} = 'x')",
            f"sum(length({x}::varchar))",
        ])  # fmt: skip
        part = f"partition by {self.value(names, 1)}" if self.c.random() < 0.6 else ""
        keys = [self.column(names) + self.c.choice(["", " desc", " nulls first"]), *({"id", "t", "h"} & {*names})]
        return f"{called} over ({part} order by {', '.join(sorted(keys))})"

    def star(self, names: Sequence[str], tables: Sequence[str]) -> str:
        of, x, y = self.c.choice(["", "", *(f"{table}." for table in tables)]), self.column(names), self.value(names, 1)
        pattern = self.c.choice([".*", "v|w", "^[a-h]", "[kK]", "t|h", "id|z", KELVIN])
        return self.c.choice([
            f"{of}*", f"{of}* exclude ({x})", f"{of}* replace ({y} as {x})", f"{of}* rename ({x} as {self.column([])})",
            f"columns('{pattern}')", f"columns(* exclude ({x}))",
            f"{of}* exclude ({x}) replace ({y} as {self.column(names)})",
        ])  # fmt: skip

    def table(self, depth: int) -> tuple[str, list[str], list[str]]:
        """Return a table in FROM, its columns, and the names of its tables."""
        alias, kind = self.c.choice(["a", "b", "c", "s", "v", "id"]), self.c.random()
        if self.steps and kind < 0.25:
            name, names = self.c.choice(self.steps)
            return f"{name} {alias}", names, [alias]
        if depth == 0 or kind < 0.5:
            names, read = self.c.choice([*FILES.values(), FILES["a"]])
            names = [name if name.isascii() else f'"{name}"' for name in names]
            return f"{read} {alias}", names, [alias]
        if kind < 0.65:
            sql, names = self.select(depth - 1)
            return f"({sql}) {alias}", names, [alias]
        left, names, tables = self.table(depth - 1)
        if kind < 0.9:
            right, more = self.c.choice([
                ("read_csv('b.csv') r", ["h", "z"]),
                ("(select *, z as v, 'q' as id from read_csv('b.csv')) r", ["h", "z", "v", "id"]),
            ])  # fmt: skip
            on = self.c.choice(["using (h)", f"on {tables[0]}.h = r.h", f"on {tables[0]}.{self.column(names)} = r.h"])
            how = self.c.choice(["join", "left join", "semi join", "anti join"])
            return f"{left} {how} {right} {on}", names + more * (how in ("join", "left join")), [*tables, "r"]
        turned = self.c.choice(["v, w", "w, h", f'k, "{KELVIN}"', "columns(* exclude (id, t))", "columns('v|w')"])
        into = f"({self.c.choice('vq')} for {self.c.choice('zt')} in ({turned}))"
        nulls = self.c.choice(["", "include nulls "])
        return f"(from {left.split(' join')[0]} unpivot {nulls}{into}) {alias}", ["id", "t", "h", "v", "q"], [alias]

    def select(self, depth: int) -> tuple[str, list[str]]:
        """Return a SELECT and names that it may have."""
        if self.c.random() < 0.1:
            other = self.c.choice(["v, w", "w, v"])
            sql = f"select id, t, v, w, h from {FILES['a'][1]} union {self.c.choice(['all', 'all', ''])} "
            return sql + f"select id, t || '7', {other}, h from {FILES['a'][1]}", ["id", "t", "v", "w", "h"]
        sql, names, tables = self.table(depth)
        items, known = list[str](), list(names)
        for _ in range(self.c.randint(1, 4)):
            kind = self.c.random()
            if kind < 0.4:
                items.append(self.star(names, tables))
                continue
            item, name = self.window(known) if kind < 0.55 else self.value(known), self.column([])
            items.append(f"{item} as {name}")
            known.append(name)
        where = self.c.choice([
            *[""] * 4, f" where {self.value(known, 1)} is not null", f" where {self.column(known)} <> 'n'",
            f" where {self.column(known)} in (select z from {FILES['b'][1]})",
        ])  # fmt: skip
        qualify = f" qualify {self.window(known)} is not null" if self.c.random() < 0.1 else ""
        order = self.c.choice([*[""] * 6, " order by 1", f" order by {self.column(known)}"])
        distinct = self.c.choice(["distinct ", *[""] * 9])
        return f"select {distinct}{', '.join(items)} from {sql}{where}{qualify}{order}", known

    def whole(self) -> str:
        made = list[str]()
        for name in ("x1", "x2")[: self.c.choice([0, 0, 1, 2])]:
            sql, names = self.select(1)
            made.append(f"{name} as ({sql})")
            self.steps.append((name, names))
        return (f"with {', '.join(made)} " if made else "") + self.select(2)[0]


def random_tables(c: random.Random) -> Tables:
    def row(unit: str, step: int, hidden: int) -> list[str]:
        others = [c.choice("xyn") for _ in range(2 + hidden)]
        return [unit, str(step), *others[:2], c.choice("12"), *others[2:]]

    return {
        "a": [row(unit, step, 0) for unit in "AB" for step in range(c.randint(1, 3))],
        "b": [[h, c.choice("xyn")] for h in "12"], "k": [row(unit, step, 2) for unit in "AB" for step in range(2)],
    }  # fmt: skip


def write(folder: Path, tables: Tables) -> None:
    for name in "ab":
        (folder / f"{name}.csv").write_text("".join(",".join(row) + "\n" for row in [FILES[name][0], *tables[name]]))
    columns = zip(*tables["k"], strict=True)
    pq.write_table(pa.table(dict(zip(FILES["k"][0], map(list, columns), strict=True))), folder / "k.parquet")


def taken(sql: str, folder: Path) -> tuple[Rows, list[tuple[Any, ...]], dict[str, int]]:
    """Return the judged rows, their content, and the number of each file's scan."""
    with Opening([("unit", "id")], folder, str(folder), None, sql, threads=1) as opening:
        relation = opening.take(None)
        content = [tuple(map(str, row)) for row in relation.rows(f"select * from {identifier(WRITTEN)}")]
        numbers = dict[str, int]()
        for number in range(len(FILES)):  # of the first files that the SELECT names
            names = [column for column, _ in opening._tables.get(scan(number), Rows(())).columns]
            numbers |= {file: number for file, (of_file, _) in FILES.items() if of_file == names}
        relation.close()
        return opening.rows, content, numbers


def judged(seed: str) -> tuple[str, str]:
    """Return what became of one SELECT, and what moved against the judge's word."""
    return in_a_folder(seed, lambda c, folder: compared(Writer(c).whole(), c, folder))


def compared(sql: str, c: random.Random, folder: Path) -> tuple[str, str]:
    """Return the same of one SELECT over random files."""
    tables = random_tables(c)
    write(folder, tables)
    try:
        rows, before, numbers = taken(sql, folder)
    except TakifuguError:
        return "refused", ""
    outcome = "alike"
    for _ in range(CHANGES if numbers else 0):
        file = c.choice([*numbers])
        row, place = c.choice(tables[file]), c.randrange(len(FILES[file][0]))
        was, row[place] = row[place], c.choice("xyn12A")
        write(folder, tables)
        try:
            after = taken(sql, folder)[1]
        except TakifuguError:
            continue
        finally:
            row[place] = was
        cell = (numbers[file], folded(FILES[file][0][place]))
        if wrong := _moved(rows, cell, before, after):
            return "fault", f"{sql}\n{wrong} by {cell}, {dict(rows.columns)}\n{before}\n{after}"
        outcome = "moved" if before != after else outcome
    return outcome, ""


def _moved(rows: Rows, cell: tuple[int, str], before: Sequence[Any], after: Sequence[Any]) -> str:
    """Return what moved that does not come from the cell, "" for nothing."""
    filters: Cells = rows.inner().filters
    if cell in filters:
        return ""
    others = [number for number, (_, cells) in enumerate(rows.columns) if cell not in cells]
    one, other = ([tuple(row[number] for number in others) for row in some] for some in (before, after))
    places = set[tuple[object, ...]]().union(*(cells.get(cell, ()) for _, cells in rows.columns))
    if Counter(one) != Counter(other):
        return "a column moved"
    if len(places) <= 1 and (Counter(before) - Counter(after)).total() > len(places):
        return "several rows moved"
    return "the order moved" if cell not in rows.order and one != other else ""


def main(arguments: Sequence[str] | None = None) -> int:
    return judge_cases("selects", __doc__, judged, arguments)


if __name__ == "__main__":
    sys.exit(main())
