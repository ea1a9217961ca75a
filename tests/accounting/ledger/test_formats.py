"""A ledger of every older format opens in this version, knows what it knew, and is kept beside the new one."""

import shutil
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.failing import raising
from tests.support.ledger_tools import dump, edit, group_debit, one_thing, refused_unchanged, unchanged

from takifugu.accounting.ledger import Amount, Ledger, opening
from takifugu.core.errors import BudgetExceeded, LedgerError

FORMATS = Path(__file__).parent / "formats"

#: What sources had spent when the ledger was written: epsilon, the budget's epsilon, releases, not published ones.
SPENT = {
    "weeks": ("1", "99", 4, 0), "sleep": ("2.75", "9", 2, 2), "work": ("2.75", "9", 2, 2), "layouts": ("1", "9", 2, 2),
    "empty": ("0", "3", 0, 0), "implied": (None, "9", 4, 2), "asked": (None, "9", 2, 1), "known": ("1/3", "1/3", 1, 0),
}  # fmt: skip
#: What format 6 knew beside it: people who part after a payment, and what a copy paid for that was merged.
SINCE = {"parted": ("1/2", "9", 2, 2), "apart": ("1/3", "3", 1, 1)}


@pytest.fixture(params=[5, 6, 7])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def older(tmp_path: Path, version: int) -> Path:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FORMATS / f"format-{version}.sql").read_text())
        connection.execute("pragma journal_mode=wal")
    return path


def test_an_older_ledger_knows_what_it_knew(older: Path, version: int) -> None:
    before = dump(older)
    ledger = Ledger.open(older)
    rows = {row.name: row for row in ledger.show()}
    wanted = SPENT if version == 5 else {**SPENT, **SINCE}
    for name, (spent, budget, releases, open_ones) in wanted.items():
        row = rows[name]
        assert row.budget is not None
        assert (str(row.budget.epsilon), row.releases, row.unpublished) == (budget, releases, open_ones)
        assert spent is None or bool(row.spent.epsilon) == bool(Fraction(spent))
        assert spent is None or row.spent.epsilon <= Fraction(spent)  # later versions prove less
    assert rows.keys() == wanted.keys()
    assert {one.bundle for one in ledger.pending("implied")} == {None, b"noisy"}
    former = older.with_name(f"ledger.db.format-{version}")
    assert sorted(path.name for path in older.parent.iterdir()) == ["ledger.db", former.name]
    assert ledger.store.upgraded_from == former
    assert dump(former) == before
    assert ledger.check() == ()
    assert Ledger.open(older).store.upgraded_from is None
    with unchanged(older):
        assert opening._upgrade(ledger.store) is None  # somebody who waited for another one's upgrade


def spent_by(tables: dict[str, Any]) -> dict[tuple[str, int], Fraction]:
    """Return what every unit has spent, by the start of its tag and its source, in whichever format."""
    if "standings" not in tables:
        return {(tag.hex()[:32], source): Fraction(epsilon) for _, source, tag, _, epsilon, *_ in tables["units"]}
    epsilons = {row: Fraction(epsilon) for row, _, _, epsilon, *_ in tables["standings"]}
    return {(tag.hex(), source): epsilons[standing] for tag, source, standing in tables["units"]}


def test_its_ids_and_key_are_those_it_had_and_no_amount_is_larger(older: Path) -> None:
    before, after = dump(older), dump(Ledger.open(older).store.path)
    now, then = spent_by(after), spent_by(before)
    assert now.keys() == then.keys()
    assert all(now[unit] <= then[unit] for unit in now)
    for table, size in (("releases", 9), ("batches", 2), ("notes", 2), ("people", 3), ("debits", 6)):
        assert [row[:size] for row in after[table]] == [row[:size] for row in before[table]]
    said = [(now, then) for (_, _, now, *_), (_, _, then, *_) in zip(after["notes"], before["notes"], strict=True)]
    (changed,) = [pair for pair in said if pair[0] != pair[1]]  # what was a layout is a reading, which nobody answered
    assert changed[0].startswith("declared to be other entries:")
    assert after["meta"][0][2:5] == before["meta"][0][2:5]


@pytest.mark.parametrize("version", [6], indirect=True)
def test_events_of_format_6_keep_their_ids_and_what_a_copy_said(older: Path) -> None:
    before, after = (dump(path)["events"] for path in (older, Ledger.open(older).store.path))
    assert [(*row[:4], row[5:7]) for row in after] == [(*row[:4], row[5:7]) for row in before]
    assert any(row[6] is not None for row in after)


EDITED = [
    (6, "update meta set counts = '[]'", "edited"),
    (6, "update events set body = '{}' where id = 40", "edited"),
    *((version, "update events set body = '{}' where id = 3", r"cannot be read|was edited") for version in (5, 6)),
]


@pytest.mark.parametrize(("version", "statement", "words"), EDITED, indirect=["version"])
def test_an_older_ledger_that_was_edited_stays_as_it_is(older: Path, statement: str, words: str) -> None:
    edit(older, statement)
    with unchanged(older), pytest.raises(LedgerError, match=words):
        Ledger.open(older)


@pytest.mark.parametrize("version", [6], indirect=True)
def test_what_is_computed_from_events_is_computed_anew(older: Path) -> None:
    edit(older, "update sources set budget_epsilon = '100'")
    budgets = {row.name: row.budget for row in Ledger.open(older).show()}
    assert budgets["weeks"] == Amount(Fraction(99), Fraction(0))


def test_copies_that_are_upgraded_apart_have_the_same_events(older: Path) -> None:
    copy = older.with_name("copy.db")
    shutil.copy(older, copy)
    events = [dump(Ledger.open(path).store.path)["events"] for path in (older, copy)]
    assert events[0] == events[1]


def test_a_copy_that_is_kept_is_never_replaced(older: Path, version: int) -> None:
    before, text, former = older.read_bytes(), b"an earlier one", older.with_name(f"ledger.db.format-{version}")
    former.write_bytes(text)
    Ledger.open(older)
    assert former.read_bytes() == text
    assert dump(former.with_name(f"{former.name}-2"))["meta"]
    assert before != older.read_bytes()


def test_a_long_ledger_is_upgraded_on_purpose(older: Path, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.open_store, "__defaults__", (3,))
    words = rf"is in format {version}, .*takes a while; run `takifugu ledger upgrade"
    with unchanged(older), pytest.raises(LedgerError, match=words):
        Ledger.open(older)
    assert Ledger.upgrade(older) == older.with_name(f"ledger.db.format-{version}")
    assert Ledger.upgrade(older) is None
    assert {row.name for row in Ledger.open(older).show()} >= SPENT.keys()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("step", ["keep", "apply", "check_parts"])
def test_an_upgrade_that_ends_in_its_middle_changes_nothing(
    older: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patched, unchanged(older):
        patched.setattr(opening, step, raising(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            Ledger.open(older)
    assert Ledger.open(older).check() == ()


def test_the_next_release_pays_what_it_paid(older: Path) -> None:
    ledger = Ledger.open(older)
    paid = ledger.reserve("new", [group_debit(one_thing(7), 1)], budget=1)
    assert paid.spent.epsilon == 1
    refused_unchanged(ledger, BudgetExceeded, None, "new", [group_debit(one_thing(7), 1)])
