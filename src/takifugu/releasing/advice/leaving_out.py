"""How many rows a rule for strange rows leaves out: counted for whoever owns the data, and published nowhere."""

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
    counts = _of_runs(file, source) if source.are_runs else _of_steps(file, source, total.rows)
    for key, lost in counts:
        rule, do, words = getattr(source, key), "would", f"{key} = {_RULES[key]}"
        if rule != "refuse":
            do, words = "do", f'{key} = "{rule}"'
        if lost and key == "overlap" and source.rows == "stays":
            yield f"{lost:,} of {rows} end after the next stay has started: {words} says which of the two counts then"
        elif lost:
            yield f"{lost:,} of {rows} {do} not count with {words}"


def _of_steps(file: ReleaseFile, source: SourceSpec, rows: int) -> Iterator[tuple[str, int]]:
    """Yield how many rows of steps each rule leaves out, by its key."""
    layout = replace(layout_of(source, calendar=source.calendar), null_keys="drop", duplicates="first")
    counted_rows, rows_with_keys = rows_that_count(file.table, layout, recode_of(file.spec.belief, source))
    yield "null_keys", rows - rows_with_keys
    yield "duplicates", rows_with_keys - counted_rows


def _of_runs(file: ReleaseFile, source: SourceSpec) -> Iterator[tuple[str, int]]:
    """Yield how many changes, stays or events each rule leaves out, by its key."""
    from takifugu.data.runs.reader import runs_that_clash

    layout = replace(layout_of(source, calendar=source.calendar), duplicates="first")
    rules = replace(run_rules(source, file.folder), overlap="first")
    tied, overlapping = runs_that_clash(file.table, layout, recode_of(file.spec.belief, source), rules)
    yield "duplicates", tied
    yield "overlap", overlapping
