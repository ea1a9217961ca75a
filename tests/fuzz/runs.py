"""Runs against steps: what rows say, read by any engine, is what comes out where every step is expanded.

    python -m tests.fuzz.runs [MINUTES] [--seed N] [--first N] [--cases N]

Random tables of changes, stays and events, with exact and clumsy times, offsets, clocks that are changed, overlaps,
gaps, ends, windows and cells of a calendar, are counted by some engine and by an oracle in plain Python, and refused by
both or by none. And the same steps, written as samples, changes, stays with ends or durations, events and columns, come
out alike: the integers, which steps were observed, and of release files the scale of the noise.
Exit code 1 if anything differed.
"""

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tests.fuzz.runs_written import Case, case_of, layout_of, read, rows_read
from tests.fuzz.same_steps import WAYS, in_files, same_steps, written_as
from tests.fuzz.walk import in_a_folder, judge_cases
from tests.support.runs_cases import STATES
from tests.support.runs_oracle import MISSING, Cells, Refused, Steps, counted, expanded

from takifugu.core.errors import DataError
from takifugu.data import Piece
from takifugu.data.values.texts import UNOBSERVED

#: How many cases compare one table with the oracle, one table written in all ways, and such tables in release files.
WEIGHTS = (0.7, 0.29, 0.01)


def against_the_oracle(c: random.Random, folder: Path) -> str | None:
    """Return what differs between one table as it was read and its steps; None where both refused it."""
    case = case_of(c)
    steps: Steps | None
    try:
        steps = expanded(rows_read(case), case.rules)
    except Refused as refused:
        steps, why = None, str(refused)
    try:
        pieces = read(case, folder)
    except DataError as refused:
        return None if steps is None else f"{case}\nrefused: {refused}"
    if steps is None:
        return f"{case}\nread, and the oracle refused it: {why}"
    return "".join(f"{case}\n{one}\n" for one in _differences(case, steps, pieces))


def _differences(case: Case, steps: Steps, pieces: Sequence[Piece]) -> list[str]:
    rules, window = case.rules, case.window
    differences = []
    if sorted(steps) != sorted(str(piece.unit) for piece in pieces):
        return [f"units {[piece.unit for piece in pieces]}, not {sorted(steps)}"]
    counts = counted(steps, STATES, window)
    cells = Cells(case.by, case.zone or "UTC").count(steps, rules, window) if case.by else {}
    for piece in pieces:
        unit = str(piece.unit)
        if piece.length != len(window) or piece.counts.tolist() != counts[unit]:
            differences.append(f"{unit}: {piece.length} {piece.counts.tolist()}, not {len(window)} {counts[unit]}")
        mine = [_code(state) for state in steps[unit][window.start : window.stop]]
        if case.gaps == "public" and (piece.weights().numbers != 0).tolist() != [code >= 0 for code in mine]:
            differences.append(f"{unit}: observed {piece.observed}, not {mine}")
        if case.entrywise and (piece.values is None or piece.values.tolist() != mine):
            differences.append(f"{unit}: {piece.values}, not {mine}")
        if case.by:
            named = cells_of(case, piece)
            if named != dict(cells[unit]):
                differences.append(f"{unit}: {named}, not {dict(cells[unit])}")
    return differences


def _code(state: str | None) -> int:
    return UNOBSERVED if state in (None, MISSING) else STATES.index(str(state))


def cells_of(case: Case, piece: Piece) -> dict[tuple[str, str], int]:
    """Return how many steps of a piece are in each cell and state, by their names."""
    slots, by_cell = layout_of(case).slots, piece.by_cell
    assert slots is not None
    assert by_cell is not None
    named = {}
    for place, number in enumerate(slots.cells[0].tolist()):
        for code in np.flatnonzero(by_cell[place]):
            named[slots.label(number), STATES[code]] = int(by_cell[place, code])
    return named


def in_all_ways(c: random.Random, folder: Path) -> str | None:
    """Return what differs between the same steps written in several ways."""
    same = same_steps(c)
    differences = [f"{same}"]
    first: object = None
    for rows in ("samples", *c.sample(WAYS[1:], 2)):
        case = written_as(c, same, rows)
        try:
            pieces = read(case, folder)
        except DataError as refused:
            differences.append(f"{case}\nrefused: {refused}")
            continue
        read_as = [_summary(piece, case.entrywise) for piece in pieces if piece.observed or same.gaps == "hidden"]
        first = read_as if first is None else first
        if read_as != first:
            differences.append(f"{case}\n{read_as}\nnot {first}")
    return "\n".join(differences) if len(differences) > 1 else ""


def _summary(piece: Piece, entrywise: bool) -> object:
    by_cell = None if piece.by_cell is None else piece.by_cell.tolist()
    values = piece.values.tolist() if entrywise and piece.values is not None else None
    return piece.unit, piece.length, piece.observed, piece.counts.tolist(), by_cell, values


CASES: Sequence[Callable[[random.Random, Path], str | None]] = (against_the_oracle, in_all_ways, in_files)


def case(seed: str) -> str | None:
    """Return what differs in one case: nothing ("") where all is well; None where data were refused, as they should."""
    return in_a_folder(seed, lambda c, folder: c.choices(CASES, WEIGHTS)[0](c, folder))


def judged(seed: str) -> tuple[str, str]:
    differences = case(seed)
    if differences is None:
        return "refused", ""
    return "fault" if differences else "good", differences


def main(arguments: Sequence[str] | None = None) -> int:
    return judge_cases("runs", __doc__, judged, arguments)


if __name__ == "__main__":
    sys.exit(main())
