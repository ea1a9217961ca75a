"""Rows left out by rules for strange rows, counted for their owner alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from takifugu.core.errors import TakifuguError
from takifugu.data import rows_that_count, totals
from takifugu.releasing.file.kind import ReleaseFile
from takifugu.releasing.file.sequences.build import layout_of, recode_of
from takifugu.releasing.file.sequences.runs import run_rules
from takifugu.releasing.file.sequences.source import SourceSpec

#: The values of a key that leaves rows out.
_RULES = {"null_keys": '"drop"', "duplicates": '"first" or "last"', "overlap": '"first" or "last"'}


def left_out(file: ReleaseFile) -> tuple[str, ...]:
    """Say how many rows each rule leaves out, or would if declared."""
    source = file.source
    if not isinstance(source, SourceSpec):
        return ()
    try:
        return tuple(_sentences(file, source))
    except TakifuguError:
        return ()  # what is wrong with them is said by what reads them


def _sentences(file: ReleaseFile, source: SourceSpec) -> Iterator[str]:
    (total,) = totals(file.table, [])
    rows = f"{total.rows:,} rows"
    layout = replace(layout_of(source, calendar=source.calendar), duplicates="first")
    recode = recode_of(file.spec.belief, source)
    if source.are_runs:
        from takifugu.data.runs.reader import runs_that_clash

        rules = replace(run_rules(source, file.folder), overlap="first")
        tied, overlapping = runs_that_clash(file.table, layout, recode, rules)
        counts = {"duplicates": tied, "overlap": overlapping}
    else:
        counted_rows, rows_with_keys = rows_that_count(file.table, replace(layout, null_keys="drop"), recode)
        counts = {"null_keys": total.rows - rows_with_keys, "duplicates": rows_with_keys - counted_rows}
    for key, lost in counts.items():
        rule, do, words = getattr(source, key), "would", f"{key} = {_RULES[key]}"
        if rule != "refuse":
            do, words = "do", f'{key} = "{rule}"'
        if lost and key == "overlap" and source.rows == "stays":
            yield f"{lost:,} of {rows} end after the next stay has started: {words} says which of the two counts then"
        elif lost:
            yield f"{lost:,} of {rows} {do} not count with {words}"
