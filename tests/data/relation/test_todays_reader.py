"""Random tables: the relation counts what the reader of today counts, but for the differences that are meant."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.data.relation.test_oracle import read
from tests.support.relation_cases import Case, random_case

from takifugu.core.errors import TakifuguError
from takifugu.data import Calendar, Layout, Piece, Recode, Zone, open_frame, parse_step, pieces
from takifugu.data.relation.counts import Counts
from takifugu.data.runs.reader import pieces_of_runs
from takifugu.data.runs.rules import RunRules

#: What today's reader repairs, and the relation refuses.
REPAIRED = ("blanks around", "number with a point", "stranger")


def today(case: Case, folder: Path) -> tuple[Piece, ...]:
    keys, meaning = case.keys, case.meaning
    zone = None if meaning.zone is None else Zone(meaning.zone)
    calendar = None
    if "from" in keys:
        calendar = Calendar.read(keys["from"], keys["until"], parse_step(keys["step"]), zone)
    window = meaning.window
    if window is None and meaning.size is not None and (meaning.rows == "samples" or meaning.by):
        window = range(meaning.size)
    layout = Layout(
        "what", unit=keys.get("unit"), piece=keys.get("recording"), order="t", step=keys["step"], timezone=meaning.zone,
        nulls=meaning.nulls, calendar=calendar, window=window, gaps=meaning.gaps, by=tuple(meaning.by),
    )  # fmt: skip
    table = open_frame(folder / keys["file"] if "file" in keys else case.frame)
    states = Recode(tuple(meaning.states))
    if meaning.rows == "samples":
        return pieces(table, layout, states)
    covers: dict[str | None, Any] = {name or None: ends for name, ends in (meaning.covers or {}).items()}
    default = meaning.default
    return pieces_of_runs(table, layout, states, RunRules(
        meaning.rows, covers, before=default if meaning.rows == "changes" else None,
        end="stop" if meaning.rows == "stays" else None, otherwise=None if meaning.rows == "changes" else default,
    ))  # fmt: skip


def in_words(pieces: tuple[Piece, ...]) -> dict[Any, Any]:
    return {
        (piece.unit or "", piece.piece or ""): (
            piece.length, piece.observed, piece.counts.tolist(),
            None if piece.by_cell is None else piece.by_cell.tolist(),
        ) for piece in pieces
    }  # fmt: skip


def words_of_columns(counts: Counts) -> dict[Any, Any]:
    return {
        key: (
            int(counts.lengths[number]), counts.observed(number), counts.counts[number].tolist(),
            None if counts.by_cell is None else counts.by_cell[number].tolist(),
        ) for number, key in enumerate(zip(*counts.names, strict=True))
    }  # fmt: skip


def check(seed: int, folder: Path) -> str:
    """Compare one random table; return what both said."""
    case = random_case(seed, folder)
    old = new = None
    refused = ""
    try:
        old = in_words(today(case, folder))
    except TakifuguError as error:
        old_words = str(error)
    try:
        new = words_of_columns(read(case, folder)[0])
    except TakifuguError as error:
        refused = getattr(error, "cause", "") or "refused"
    if old is None or new is None:
        is_meant = (old is None and new is None) or refused in REPAIRED
        assert is_meant, (seed, refused, old is None and old_words, case)
        return "refused"
    if case.meaning.rows == "samples" and case.meaning.covers is not None:  # today's reader has no roster of samples
        new = {key: piece for key, piece in new.items() if key in old}
    assert old == new, (seed, case)
    return case.meaning.rows


def test_random_tables_are_counted_as_today(tmp_path: Path) -> None:
    assert {check(seed, tmp_path) for seed in (*range(50_000, 50_020), 52_102)} >= {"samples", "refused"}


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_many_random_tables_are_counted_as_today(part: int, tmp_path: Path) -> None:
    said = Counter(check(seed, tmp_path) for seed in range(51_000 + 400 * part, 51_400 + 400 * part))
    assert said.keys() == {"samples", "changes", "stays", "events", "refused"}
