"""Notices: who counts and whose line they show; a missing ledger is announced, refused where it matters, or made."""

import json
import shutil
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, json_of, succeed, words_of
from tests.support.starting import begin, init

import takifugu as tf
from takifugu.accounting.amounts import Amount
from takifugu.accounting.ledger import Ledger
from takifugu.accounting.ledger.fitting import Charged
from takifugu.core.errors import BudgetExceeded, InputError, LedgerError
from takifugu.releasing.planning.notices import NOBODY_COUNTS, Notice, dearer_than_alone

NEWS = "it remembers nothing before today"
SMALL = files.SPEC.replace('per = "both"\n', "")
AGAIN = SMALL.replace('"time-use"', '"again"')
CALIBRATION = tf.calibrate(
    tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4)), tf.Count(1), 1
)
DATA = [0, 1, 0, 1]


def news(warned: list[Any]) -> list[str]:
    return [str(w.message) for w in warned if issubclass(w.category, Notice) and NEWS in str(w.message)]


@pytest.mark.slow
def test_a_new_ledger_is_announced_on_stderr_and_in_json(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    first = words_of(succeed("release", where))
    assert "new ledger at" in first
    assert NEWS in first
    files.write(tmp_path, AGAIN)
    assert not [n for n in json_of("release", where)["notices"] if NEWS in n]
    files.write(tmp_path, SMALL.replace('"ledger.db"', '"ledgre.db"').replace('"out"', '"elsewhere"'))
    (notice,) = [n for n in json_of("release", where)["notices"] if NEWS in n]
    assert str(tmp_path / "ledgre.db") in notice


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
    assert tf.release_file(where, new_ledger=True).reservation.spent.epsilon > 1


def test_a_refused_release_makes_no_ledger(tmp_path: Path) -> None:
    """A ledger is made with its first payment: a budget, a question or a fault before that leaves none."""
    where = files.write(tmp_path, SMALL.replace("budget = 10", "budget = 0.001"))
    refused = ended(1, "release", where)
    assert NEWS not in refused.stderr
    assert not list(tmp_path.glob("ledger*"))
    with pytest.raises(BudgetExceeded):
        tf.release(CALIBRATION, DATA, entries="values", ledger=tmp_path / "ledger.db", budget="0.001")
    with pytest.raises(InputError):
        tf.release(CALIBRATION, DATA, ledger=tmp_path / "ledger.db", budget=9)  # its entries have no name
    assert not list(tmp_path.glob("ledger*"))
    files.write(tmp_path, SMALL)
    assert NEWS in succeed("release", where).stderr
    assert Ledger.open(tmp_path / "ledger.db", create=False).show()


def test_a_release_file_that_requires_its_ledger(tmp_path: Path) -> None:
    where = files.write(tmp_path, f"require_ledger = true\n{SMALL}")
    assert "require_ledger" in ended(2, "release", where).stderr
    assert not (tmp_path / "ledger.db").exists()
    ended(2, "release", where, "--new-ledger")
    Ledger.open(tmp_path / "ledger.db")
    assert NEWS not in succeed("release", where).stderr


def test_init_makes_the_ledger_that_its_draft_requires(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("who,at,doing\n" + "".join(f"a,{t},{'xy'[t % 2]}\n" for t in range(50)), encoding="utf-8")
    assert "new ledger" in begin(data, "-o", tmp_path / "r.toml").stdout
    assert "require_ledger = true" in (tmp_path / "r.toml").read_text(encoding="utf-8")
    made = Ledger.open(tmp_path / "r-ledger.db", create=False).id
    again = json.loads(init(data, "-o", tmp_path / "r.toml", "--force", "--json").stdout)
    assert (again["ledger"], again["ledger_is_new"]) == (str(tmp_path / "r-ledger.db"), False)
    assert Ledger.open(tmp_path / "r-ledger.db", create=False).id == made


def test_init_takes_its_draft_back_where_no_ledger_can_be_made(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("who,at,doing\na,1,x\na,2,y\n", encoding="utf-8")
    (tmp_path / "r-ledger.db").write_text("not a ledger", encoding="utf-8")
    assert init(data, "-o", tmp_path / "r.toml").exit_code == 2
    assert not (tmp_path / "r.toml").exists()
    assert (tmp_path / "r-ledger.db").read_text(encoding="utf-8") == "not a ledger"


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
            assert len(news(warned)) == 1
        tf.release(CALIBRATION, DATA, **account, require_ledger=True)
        account["ledger"] = Ledger.open(tmp_path / "made.db")
        with pytest.raises(LedgerError, match="require_ledger"):
            tf.release(CALIBRATION, DATA, **account, require_ledger=True)
        for _ in range(2):
            tf.release(CALIBRATION, DATA, **account)
            assert len(news(warned)) == 2


PROGRAM = f"""
import takifugu as tf
chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4)
noise = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Count(1), 1, mechanism="group")
tf.release(noise, {DATA!r})
tf.release(noise, {DATA!r}, entries="values", ledger="ledger.db")
"""


def test_without_a_ledger_nobody_is_counting_and_that_is_said(tmp_path: Path) -> None:
    with pytest.warns(Notice) as seen:
        tf.release(CALIBRATION, DATA)
    assert [str(one.message) for one in seen] == [NOBODY_COUNTS]
    assert seen[0].filename == __file__
    with warnings.catch_warnings(record=True) as seen_with_ledger:
        warnings.simplefilter("always")
        tf.release(CALIBRATION, DATA, entries="values", ledger=tmp_path / "ledger.db", budget=5)
    assert NOBODY_COUNTS not in [str(one.message) for one in seen_with_ledger]


@pytest.mark.slow
def test_a_notice_shows_the_callers_line_and_no_file_of_ours(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PROGRAM, encoding="utf-8")
    made = subprocess.run([sys.executable, "mine.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "mine.py:5: Notice: no ledger is given" in made.stderr
    assert "mine.py:6: Notice: new ledger at" in made.stderr
    assert str(Path(tf.__file__).parent) not in made.stderr


def test_charges_are_told_once() -> None:
    """People of fifty lengths have fifty charges."""
    least, middle, most = (Amount(Fraction(epsilon), Fraction(0)) for epsilon in ("1", "1.25", "1.5"))
    charges = [Charged(2, least, most), Charged(7, least, least), Charged(1, least, middle)]
    account: Any = SimpleNamespace(charges=charges)
    assert dearer_than_alone(account) == (3, "epsilon 1.25 to epsilon 1.5", "epsilon 1")
    account.charges = charges[1:2]
    assert dearer_than_alone(account) is None
