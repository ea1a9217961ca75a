"""Rows left out by rules for strange rows, counted for their owner alone: where they may be many, no table is good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from takifugu.core.errors import TakifuguError
from takifugu.data import rows_that_count, totals
from takifugu.data.relation.source import Table
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sequences.build import layout_of, recode_of
from takifugu.releasing.file.sequences.runs import run_rules
from takifugu.releasing.file.sequences.source import SourceSpec

#: Keys that leave rows out, and their values that do.
_RULES = {
    "null_keys": ("drop",), "duplicates": ("first", "last"), "overlap": ("first", "last"), "ambiguous": ("drop",),
    "nulls": ("unobserved",),
}  # fmt: skip
#: Rules that are offered where nobody has written them.
_OFFERED = ("null_keys", "duplicates", "overlap")
#: A table is not good where more than one row in so many does not count.
ONE_IN = 10


@dataclass(frozen=True)
class LeftOut:
    """How many of a table's rows each rule leaves out, or would if it were declared; private.

    Of rows that overlap `ends` says that they are stays, which may count in part.
    """

    rows: int
    lost: Mapping[str, int]
    declared: Mapping[str, str]
    ends: bool = False

    @property
    def dropped(self) -> int:
        """Return how many rows do not count by the declared rules."""
        return min(self.rows, sum(self.lost.get(key, 0) for key in self.declared))

    @property
    def is_too_much(self) -> bool:
        return self.dropped * ONE_IN > self.rows

    @property
    def words(self) -> str:
        """Say how many rows do not count, and by which rules."""
        rules = _listed({key: value for key, value in self.declared.items() if self.lost.get(key)})
        in_full = " in full" if self.ends and self.lost.get("overlap") and "overlap" in self.declared else ""
        return f"{self.dropped:,} of {self.rows:,} rows do not count{in_full} ({rules})"

    def sentences(self) -> Iterator[str]:
        """Say how many rows each rule leaves out, or would if declared."""
        for key, lost in self.lost.items():
            rows, do = f"{lost:,} of {self.rows:,} rows", "would"
            words = f"{key} = {' or '.join(map(_quoted, _RULES.get(key, ())))}"
            if key in self.declared:
                do, words = "do", _listed({key: self.declared[key]})
            if lost and key == "overlap" and self.ends:
                yield f"{rows} end after the next stay has started: {words} says which of the two counts then"
            elif lost and (key in self.declared or key in _OFFERED):
                yield f"{rows} {do} not count with {words}"


def _listed(rules: Mapping[str, str]) -> str:
    return " and ".join(f"{key} = {_quoted(value)}" if value else key for key, value in rules.items())


def _quoted(word: str) -> str:
    return f'"{word}"'


def rules_that_drop(file: ReleaseFile) -> dict[str, str]:
    """Return the declared rules that leave rows out."""
    keys = dict(file.source)
    rules = {key: str(keys[key]) for key, values in _RULES.items() if keys.get(key) in values}
    if keys.get("where") is not None:
        rules["where"] = str(keys["where"])
    if isinstance(file.opened, Table) and file.opened.is_filtered_by_sql:
        rules["a filter in sql"] = ""
    return rules


def left_out(file: ReleaseFile) -> LeftOut | None:
    """Count the rows that each rule leaves out, or would if declared; None where they cannot be counted."""
    try:
        if isinstance(file.source, SourceSpec):
            return _of_steps(file, file.source)
        return _of_rows(file)
    except TakifuguError:
        return None  # what is wrong with them is said by what reads them


def in_place_of_good(file: ReleaseFile, is_seen: bool = False) -> str:
    """Return what stands in the place of a verdict "good", "" where it may stand.

    A declared rule is enough, whatever the rows, so that what is published depends on none of them. Only a terminal
    that nobody but the owner sees (`is_seen`) has the count instead, where every declared rule can be counted.
    """
    rules = rules_that_drop(file)
    if not rules:
        return ""
    if is_seen:
        lost = left_out(file)
        if lost is not None and rules.keys() <= lost.lost.keys():
            return lost.words if lost.is_too_much else ""
    return f"rows may be left out ({_listed(rules)})"


def _of_steps(file: ReleaseFile, source: SourceSpec) -> LeftOut:
    (total,) = totals(file.table, [])
    layout = replace(layout_of(source, calendar=source.calendar), duplicates="first", nulls="unobserved")
    recode = recode_of(file.spec.belief, source)
    if source.are_runs:
        from takifugu.data.runs.reader import runs_that_clash

        rules = replace(run_rules(source, file.folder), overlap="first")
        tied, overlapping, missing = runs_that_clash(file.table, layout, recode, rules)
        counts = {"duplicates": tied, "overlap": overlapping, "nulls": missing}
    else:
        counted_rows, rows_with_keys, missing = rows_that_count(file.table, replace(layout, null_keys="drop"), recode)
        counts = {"null_keys": total.rows - rows_with_keys, "duplicates": rows_with_keys - counted_rows}
        counts["nulls"] = missing
        if source.ambiguous == "drop":
            of_both = replace(layout, null_keys="drop", ambiguous="first")
            _, rows_of_both, _ = rows_that_count(file.table, of_both, recode)
            counts["null_keys"] = total.rows - rows_of_both
            counts["ambiguous"] = rows_of_both - rows_with_keys
    return LeftOut(total.rows, counts, rules_that_drop(file), source.rows == "stays")


def _of_rows(file: ReleaseFile) -> LeftOut | None:
    """Count the rows that `where` leaves out."""
    rules = rules_that_drop(file)
    if "where" not in rules:
        return None
    return LeftOut(file.table.written_rows(), {"where": file.table.left_out()}, rules)
