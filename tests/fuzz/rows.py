"""Rows against steps: what rows say, however they are written, is what comes out where every step is expanded.

    python -m tests.fuzz.rows [MINUTES] [--seed N] [--first N] [--cases N]

Random tables of samples, changes, stays and events, with exact and clumsy times, offsets, clocks that are changed,
overlaps, gaps, ends, windows and cells of a calendar, are written as files and frames of every kind, by expressions,
with rows that do not count, and asked one question after the other: counts, states of steps and transitions are those
of an oracle in plain Python, or both refuse the same row. And the same steps, written as samples, changes, stays with
ends or durations, events and columns, come out alike: the integers, and of release files the scale of the noise, too.
Exit code 1 if anything differed.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.data.relation.test_cluster import Frame
from tests.data.relation.test_oracle import in_words
from tests.fuzz.rows_written import Written, written
from tests.fuzz.same_steps import in_all_ways, in_files
from tests.fuzz.walk import in_a_folder, judge_cases
from tests.support import relation_oracle as oracle
from tests.support.relation_cases import Case, random_case
from tests.support.relation_oracle import Counted, Piece

from takifugu.core.errors import TakifuguError
from takifugu.data.cluster.counting import opened_cluster
from takifugu.data.relation.source import Table, opened_table
from takifugu.data.sql.faults import RowFault

#: How many cases compare one table with the oracle, one table written in all ways, and such tables in release files.
WEIGHTS = (0.7, 0.27, 0.03)
#: What the oracle calls no state is in no bin, where numbers are states by bins.
BINNED = {"unknown state": "no bin"}


def against_the_oracle(c: random.Random, folder: Path) -> str | None:
    """Return what differs between one table as it was read and its steps; None where both refused it."""
    case = random_case(c.randrange(10**9), folder)
    made = written(c, case, folder)
    causes: dict[str, list[int]] = {}
    try:
        oracle.read(case.rows, case.meaning)
    except oracle.Refused as refused:
        causes = refused.causes
    said = f"{made.how}\n{made.keys}\n{case.meaning}\n" + "\n".join(map(str, case.rows))
    is_cluster = isinstance(made.frame, pa.Table) and case.keys.get("unit") in (None, made.keys.get("unit"))
    is_cluster = is_cluster and not made.keys.get("recording") and c.random() < 0.5
    frame = Frame(made.frame) if is_cluster else made.frame
    opening: Callable[..., Table] = opened_cluster if is_cluster else opened_table
    try:
        table = opening(made.keys, case.meaning.states, folder, frame)
        if causes:
            table.counts(case.meaning.window, tuple(case.meaning.by))
            return f"{said}\nread, and the oracle refused it: {causes}"
        differences = [*_differences(c, case, table, is_cluster)]
    except TakifuguError as error:
        wrong = _wrong_refusal(error, causes, case, made, is_cluster)
        return f"{said}\n{wrong}: {error}" if wrong else None
    return "\n".join([said, *differences]) if differences else ""


def _wrong_refusal(
    error: TakifuguError, causes: dict[str, list[int]], case: Case, made: Written, is_cluster: bool
) -> str:
    """Say what is wrong with a refusal, if anything."""
    if not isinstance(error, RowFault):
        return "" if {*causes} & {"no rows", "no state at the start"} else "refused"
    rows = {BINNED.get(cause, cause) if "bins" in made.keys else cause: rows for cause, rows in causes.items()}
    if error.cause not in rows:
        return f"refused for {error.cause}, not {rows}"
    if (
        made.has_row_numbers
        and not is_cluster
        and (case.meaning.rows == "samples" or error.cause not in ("tie", "overlap"))
    ):
        expected = made.numbers[min(rows[error.cause]) - 1]
        if error.row != expected:
            return f"row {error.row}, not {expected}"
    quoted = {"p0", "p1", "zzz", "stranger", "odd"} & {*str(error).replace('"', " ").split()}
    return f"it quotes {quoted}" if quoted else ""


def _differences(c: random.Random, case: Case, table: Table, is_cluster: bool) -> Iterator[str]:
    """Yield the differences of the answers to several questions about one table."""
    meaning, source = case.meaning, table.opened.source
    parts = [(meaning.window, tuple(meaning.by))]
    if meaning.size is not None:
        for _ in range(c.randrange(3)):
            first = c.randrange(meaning.size)
            parts.append((range(first, c.randint(first + 1, meaning.size)), c.choice([(), tuple(meaning.by)])))
        parts.append(c.choice(parts))
    for window, by in parts:
        other = replace(case, meaning=replace(meaning, window=window, by=by))
        pieces = oracle.read(case.rows, other.meaning)
        expected = {key: (p.length, p.observed, +p.counts, +p.by_cell) for key, p in pieces.items()}
        counts = table.counts(window, by)
        answer = in_words(counts, source, other)
        if answer != expected:
            yield f"window {window} by {by}: {answer}\nnot {expected}"
        if not is_cluster and c.random() < 0.5:
            names = list(zip(*(names.tolist() for names in counts.names), strict=True))
            yield from _odd_states(table, window, names, pieces)
    if meaning.rows == "samples":
        pieces = oracle.read(case.rows, replace(meaning, window=None))
        yield from _odd_transitions(c, table, pieces, case, is_cluster)


def _odd_states(
    table: Table, window: range | None, names: Sequence[Piece], pieces: dict[Piece, Counted]
) -> Iterator[str]:
    """Yield where the states of steps, as runs, differ from those of the oracle."""
    states, source = table.states(window), table.opened.source
    states_of = {name: dict[int, str | None]() for name in names}
    columns = (column.tolist() for column in (states.piece, states.first, states.last, states.code))
    for piece, first, last, code in zip(*columns, strict=True):
        states_of[names[piece]] |= dict.fromkeys(range(first, last), None if code < 0 else source.states[code])
    default = None if states.default < 0 else source.states[states.default]
    for name, steps in states_of.items():
        for step, value in enumerate(pieces[name].values):
            # a step that nobody covers has no state, and none of the observed ones
            if steps.get(step, default if value is not None else None) != value:
                yield f"window {window}, {name} step {step}: {steps.get(step)}, not {value}"
                return


def _odd_transitions(
    c: random.Random, table: Table, pieces: dict[Piece, Counted], case: Case, is_cluster: bool
) -> Iterator[str]:
    period = 1 if case.meaning.start is None else c.choice([1, 2, 7, 24])
    cells = [c.randrange(3) for _ in range(period)]
    pairs = Counter[tuple[int, str, str]]()
    for piece in pieces.values():
        for place, (one, other) in enumerate(zip(piece.values, piece.values[1:], strict=False)):
            if one is not None and other is not None:
                pairs[cells[place % period], one, other] += 1
    states = case.meaning.states
    expected = [[[pairs[cell, x, y] for y in states] for x in states] for cell in range(max(cells) + 1)]
    if not is_cluster and table.transitions(cells).tolist() != expected:
        yield f"transitions by {cells}: {table.transitions(cells).tolist()}\nnot {expected}"
    everywhere = np.array(expected).sum(axis=0).tolist()
    if table.all_transitions().tolist() != everywhere:
        yield f"transitions: {table.all_transitions().tolist()}\nnot {everywhere}"


CASES: Sequence[Callable[[random.Random, Path], str | None]] = (against_the_oracle, in_all_ways, in_files)


def case(seed: str) -> str | None:
    """Return what differs in one case: nothing ("") where all is well; None where data were refused, as they should."""
    return in_a_folder(seed, lambda c, folder: c.choices(CASES, WEIGHTS)[0](c, folder))


def judged(seed: str) -> tuple[str, str]:
    differences: Any = case(seed)
    if differences is None:
        return "refused", ""
    return "fault" if differences else "good", differences


def main(arguments: Sequence[str] | None = None) -> int:
    return judge_cases("rows", __doc__, judged, arguments)


if __name__ == "__main__":
    sys.exit(main())
