"""A glance says that a ledger knows no other reading of a source only where it certainly does not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.ledger_tools import edit

import takifugu as tf
from takifugu.accounting.ledger.disk.glancing import knows_no_other_reading
from takifugu.accounting.ledger.previewing import question_of

MADE, DAYS, WEEKS = (f'entries: "{name}"' for name in ("hours", "days", "weeks"))

#: What would be found if it were read to its end.
ENDLESS = """
    DROP TABLE IF EXISTS reservations; ALTER TABLE sources RENAME TO hidden;
    CREATE VIEW sources AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT CAST(i AS TEXT) AS name, 'x' AS public_id FROM n;
"""


def released(folder: Path, reading: str = "hours", **more: bool) -> Path:
    calibration = tf.calibrate(
        tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], 5)), tf.Count(1), 1
    )
    tf.release(calibration, [0] * 5, ledger=folder / "a.db", source="s", budget=99, entries=reading, **more)
    return folder / "a.db"


def test_a_glance_says_nothing_exactly_where_the_ledger_has_nothing_to_say(tmp_path: Path) -> None:
    """Against the words that a whole opening of the ledger finds, as readings of a source come one after the other."""
    assert knows_no_other_reading(tmp_path / "a.db", "s", lambda: MADE)
    where = released(tmp_path)
    assert knows_no_other_reading(f"sqlite:///{where}", " s ", lambda: MADE)
    assert knows_no_other_reading(where, "another", lambda: "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db"]
    for earlier, answer, silent in (("hours", {}, {MADE}), ("days", {"other_entries": True}, {MADE, DAYS})):
        released(tmp_path, earlier, **answer)
        for reading in (MADE, DAYS, WEEKS):
            assert knows_no_other_reading(where, "s", lambda reading=reading: reading) == (reading in silent), reading
            assert (question_of(where, "s", reading) is None) == (reading in silent), reading


def with_statements(where: Path) -> None:
    edit(where, "PRAGMA legacy_alter_table=ON", *ENDLESS.split(";"))


@pytest.mark.parametrize("harm", [
    with_statements,
    lambda where: where.write_text("no ledger"),
    lambda where: where.write_bytes(b""),
    lambda where: os.link(where, where.with_name("b.db")),
    lambda where: (where.unlink(), where.mkdir()),
    lambda where: (where.unlink(), os.mkfifo(where)),
])  # fmt: skip
def test_what_is_no_sound_ledger_is_left_to_whoever_opens_it(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    where = released(tmp_path)
    harm(where)
    assert not knows_no_other_reading(where, "another", lambda: MADE)


@pytest.mark.parametrize("where", ["postgresql://host/db", ":memory:", ""])
def test_where_no_ledger_can_be_a_glance_does_not_say(where: str) -> None:
    assert not knows_no_other_reading(where, "s", lambda: MADE)
