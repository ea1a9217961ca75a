"""Some seeded cases of the fuzzer of readings, and whether it would see a ledger that takes all readings for one."""

import random
from collections import Counter
from pathlib import Path

import pytest
from tests.fuzz.edits import EDITS
from tests.fuzz.readings import HOURS, Read, case, exact_loss, in_files, read_by, rows_of, walks, with_edits

from takifugu.accounting.ledger import Amount, totals
from takifugu.accounting.ledger.tables import Tables
from takifugu.releasing.file.kind import ReleaseFile


@pytest.mark.slow
def test_no_reading_is_cheaper() -> None:
    outcomes = [case(f"test:{number}") for number in range(40)]
    known = [one for one in outcomes if one is not None]
    assert not [one.said for one in known if one.is_fault]
    assert len(known) >= 12
    assert sum("another rule" in one.said or "lag" in one.said or "bed" in one.said for one in known) >= 5


def _are_noticed(count: int) -> bool:
    return any(outcome is not None and outcome.is_fault for outcome in map(case, (f"test:{n}" for n in range(count))))


@pytest.mark.mutants
def test_a_ledger_that_takes_all_readings_for_the_same_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    number = Tables._number
    monkeypatch.setattr(Tables, "_number", lambda tables, source, *read_as: number(tables, source, "", "", read_as[-1]))
    assert _are_noticed(40)


@pytest.mark.mutants
def test_a_ledger_that_leaves_out_other_entries_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(totals.Outside, "all_but", lambda *_, **__: Amount())
    assert _are_noticed(40)


@pytest.mark.slow
def test_release_files_that_do_not_tell_how_they_read_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReleaseFile, "reading", "rows")
    assert _are_noticed(80)


@pytest.mark.mutants
@pytest.mark.parametrize("number", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_release_files_are_published_and_never_too_cheap(tmp_path: Path, number: int) -> None:
    """They were all refused for a while, as the folder was taken for the data, and nothing noticed."""
    outcome = in_files(random.Random(f"files {number}"), tmp_path)
    assert outcome is not None
    assert not outcome.is_fault, outcome.said
    assert "refused" not in outcome.said


def test_the_loss_of_pieces_that_are_cut_differently() -> None:
    """The first of the promises that were more than true: 13.93, of which the ledger charged 2."""
    matrix = [[0.999, 0.001], [0.001, 0.999]]
    known = list(walks([matrix] * 7, [0.5, 0.5]))
    steps = Counter({(0, t): 1 for t in range(8)})
    each, all_of_them = Read(steps, 1.0), Read(steps, 8.0)
    assert 8 < exact_loss([each, all_of_them], 1, lambda _: known) < 9
    assert exact_loss([all_of_them], 1, lambda _: known) < 1


def test_beds_hold_everybody_in_turn() -> None:
    usual = {"unit": "bed", "order": "hour", "kept": "first", "value": "state"}
    read = read_by(rows_of(2), usual, range(HOURS))
    assert read == Counter((p, t) for p in range(2) for t in range(HOURS))
    late = read_by(rows_of(2), {**usual, "kept": "last"}, range(2, 3))
    assert late == Counter({(0, 1): 1, (1, 1): 1})


@pytest.mark.slow
def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.walk.FAST", str(tmp_path))
    case("test:0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.mutants
@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 12))])
def test_edits_cost_what_they_should(tmp_path: Path, number: int) -> None:
    outcome = with_edits(random.Random(f"edits {number}"), tmp_path)
    assert outcome is None or not outcome.is_fault, outcome.said


def test_there_are_thirty_edits() -> None:
    assert sum(map(len, EDITS.values())) >= 30
