"""Notices: who counts and whose line they show; a missing ledger is announced, refused where it matters, or made."""

import os
import shutil
import warnings
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, succeed

import takifugu as tf
from takifugu.accounting.amounts import Amount
from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.fitting import Charged
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError, Notice
from takifugu.releasing.planning.notices import NOBODY_COUNTS, WHY_DEARER, dearer_than_alone

NEWS = "it remembers nothing before today"
SMALL = files.SPEC.replace('per = "both"\n', "")
AGAIN = SMALL.replace('"time-use"', '"again"')
CALIBRATION = tf.calibrate(
    tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4)), tf.Count(1), 1
)
DATA = [0, 1, 0, 1]


@pytest.mark.mutants
def test_a_ledger_that_was_deleted_or_mistyped_is_refused(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    succeed("release", where)
    for text in (AGAIN, AGAIN.replace('"ledger.db"', '"ledgre.db"'), AGAIN.replace('"study"', '" study\u00a0"')):
        files.write(tmp_path, text)
        (tmp_path / "ledger.db").rename(tmp_path / "away.db")
        refused = ended(2, "release", where)
        assert "was paid for by a ledger other than" in refused.stderr
        assert "--new-ledger" in refused.stderr
        assert not list(tmp_path.glob("ledg*.db"))
        (tmp_path / "away.db").rename(tmp_path / "ledger.db")
    (tmp_path / "ledger.db").unlink()
    Ledger.open(tmp_path / "ledger.db")  # an empty one that is made on purpose does not know the certificates either
    files.write(tmp_path, AGAIN)
    with pytest.raises(LedgerError, match="was paid for by a ledger other than"):
        tf.release_file(where)


@pytest.mark.slow
def test_whoever_goes_on_with_a_new_ledger_goes_on(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    tf.release_file(where)
    shutil.move(tmp_path / "ledger.db", tmp_path / "old.db")
    files.write(tmp_path, AGAIN)
    succeed("release", where, "--new-ledger")
    files.write(tmp_path, SMALL.replace('"time-use"', '"third"'))
    assert tf.release_file(where).reservation.spent.epsilon > 1  # the new ledger has paid for the newest certificate
    files.write(tmp_path, SMALL.replace('"time-use"', '"fourth"').replace('"ledger.db"', '"old.db"'))
    with pytest.raises(LedgerError, match="by a ledger other than"):
        tf.release_file(where)


@pytest.mark.parametrize("later", ["time-use", "again"])
def test_no_clock_decides_which_ledger_goes_on(tmp_path: Path, later: str) -> None:
    """The newest certificate did: where the clock went back the old ledger passed, and the new one was refused."""
    where = files.write(tmp_path, SMALL)
    tf.release_file(where)
    shutil.move(tmp_path / "ledger.db", tmp_path / "old.db")
    files.write(tmp_path, AGAIN)
    tf.release_file(where, new_ledger=True)
    os.utime(tmp_path / "out" / f"{later}.certificate.json", (2e9, 2e9))
    files.write(tmp_path, SMALL.replace('"time-use"', '"third"').replace('"ledger.db"', '"old.db"'))
    with pytest.raises(LedgerError, match=r"again.certificate.json .* by a ledger other than"):
        tf.release_file(where)
    files.write(tmp_path, SMALL.replace('"time-use"', '"third"'))
    assert tf.dry_run(where).tables
    (paid,) = Ledger.open(tmp_path / "ledger.db").payments()
    assert [*paid.recipe["beside"]] == [*Ledger.open(tmp_path / "old.db").view().releases]
    files.write(tmp_path, SMALL.replace('"time-use"', '"third"').replace('"ledger.db"', '"old.db"'))
    tf.release_file(where, new_ledger=True)  # both go on, and neither knows what the other pays from now on
    files.write(tmp_path, SMALL.replace('"time-use"', '"fourth"'))
    with pytest.raises(LedgerError, match=r"third.certificate.json .* by a ledger other than"):
        tf.release_file(where)


@pytest.mark.mutants
def test_a_refused_release_makes_no_ledger(tmp_path: Path) -> None:
    """A ledger is made with its first payment: a budget, a question or a fault before that leaves none."""
    where, ledger = files.write(tmp_path, SMALL.replace("budget = 10", "budget = 0.001")), tmp_path / "ledger.db"
    assert NEWS not in ended(1, "release", where).stderr
    with pytest.raises(BudgetExceeded):
        tf.release(CALIBRATION, DATA, entries="values", ledger=ledger, budget="0.001")
    with pytest.raises(InputError):
        tf.release(CALIBRATION, DATA, ledger=ledger, budget=9)  # its entries have no name
    files.write(tmp_path, f"require_ledger = true\n{SMALL}")
    assert "require_ledger" in ended(2, "release", where).stderr
    ended(2, "release", where, "--new-ledger")
    assert not list(tmp_path.glob("ledger*"))
    files.write(tmp_path, SMALL)
    assert NEWS in succeed("release", where).stderr
    assert Ledger.open(ledger, create=False).show()


def test_the_library_announces_and_requires_too(tmp_path: Path) -> None:
    account: dict[str, Any] = {"entries": "values", "ledger": tmp_path / "ledger.db", "budget": 9}
    with pytest.raises(LedgerError, match="require_ledger"):
        tf.release(CALIBRATION, DATA, **account, require_ledger=True)
    with pytest.raises(LedgerError, match="none is given"):
        tf.release(CALIBRATION, DATA, require_ledger=True)
    assert not (tmp_path / "ledger.db").exists()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(2):
            tf.release(CALIBRATION, DATA, **account)
        tf.release(CALIBRATION, DATA, **account, require_ledger=True)
        account["ledger"] = Ledger.open(tmp_path / "made.db")
        with pytest.raises(LedgerError, match="require_ledger"):
            tf.release(CALIBRATION, DATA, **account, require_ledger=True)
        for _ in range(2):
            tf.release(CALIBRATION, DATA, **account)
        tf.release(CALIBRATION, DATA)
    said = [one for one in warned if NEWS in str(one.message) or str(one.message) == NOBODY_COUNTS]
    assert [NEWS in str(one.message) for one in said] == [True, True, False]
    assert {one.category for one in said} == {Notice}
    assert {one.filename for one in said} == {__file__}  # the line of the caller, and no file of ours


def test_charges_are_told_once() -> None:
    """People of fifty lengths have fifty charges."""
    least, middle, most = (Amount(Fraction(epsilon), Fraction(0)) for epsilon in ("1", "1.25", "1.5"))
    charges = [Charged(2, least, most), Charged(7, least, least), Charged(1, least, middle)]
    account: Any = SimpleNamespace(charges=charges)
    assert dearer_than_alone(account) == (3, "epsilon 1.25 to epsilon 1.5", "epsilon 1")
    account.charges = charges[1:2]
    assert dearer_than_alone(account) is None
    assert "published before" not in WHY_DEARER  # two tables of a first file are dearer together, too
