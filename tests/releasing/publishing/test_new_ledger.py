"""A missing ledger: announced, refused where it matters, and created deliberately."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.releasing import files
from tests.support.commands import ended, json_of, succeed
from tests.support.starting import begin, init

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import LedgerError
from takifugu.releasing.planning.notices import Notice

NEWS = "it remembers nothing before today"
SMALL = files.SPEC.replace('per = "both"\n', "")
AGAIN = SMALL.replace('"time-use"', '"again"')
CALIBRATION = tf.calibrate(
    tf.Pufferfish(tf.every_entry(), tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4)), tf.Count(1), 1
)


def news(warned: list[Any]) -> list[str]:
    return [str(w.message) for w in warned if issubclass(w.category, Notice) and NEWS in str(w.message)]


@pytest.mark.slow
def test_a_new_ledger_is_announced_on_stderr_and_in_json(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL)
    first = succeed("release", where)
    assert "new ledger at" in first.stderr
    assert NEWS in " ".join(first.stderr.split())
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


def test_a_release_file_that_requires_its_ledger(tmp_path: Path) -> None:
    where = files.write(tmp_path, f"require_ledger = true\n{SMALL}")
    refused = ended(2, "release", where)
    assert "require_ledger" in refused.stderr
    assert not (tmp_path / "ledger.db").exists()
    ended(2, "release", where, "--new-ledger")
    made = succeed("ledger", "init", tmp_path / "ledger.db")
    assert NEWS in " ".join(made.stdout.split())
    done = succeed("release", where)
    assert NEWS not in done.stderr


def test_init_of_a_ledger_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    assert json_of("ledger", "init", path)["made"] == str(path)
    before = path.read_bytes()
    again = ended(2, "ledger", "init", path)
    assert "exists already" in again.stderr
    assert path.read_bytes() == before


def test_init_makes_the_ledger_that_its_draft_requires(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("who,at,doing\n" + "".join(f"a,{t},{'xy'[t % 2]}\n" for t in range(50)), encoding="utf-8")
    made = begin(data, "-o", tmp_path / "r.toml")
    assert "new ledger" in made.stdout
    assert "require_ledger = true" in (tmp_path / "r.toml").read_text(encoding="utf-8")
    tag = Ledger.open(tmp_path / "r-ledger.db", create=False).unit_tag("a")
    again = json.loads(init(data, "-o", tmp_path / "r.toml", "--force", "--json").stdout)
    assert (again["ledger"], again["ledger_is_new"]) == (str(tmp_path / "r-ledger.db"), False)
    assert Ledger.open(tmp_path / "r-ledger.db", create=False).unit_tag("a") == tag


def test_init_takes_its_draft_back_where_no_ledger_can_be_made(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("who,at,doing\na,1,x\na,2,y\n", encoding="utf-8")
    (tmp_path / "r-ledger.db").write_text("not a ledger", encoding="utf-8")
    assert init(data, "-o", tmp_path / "r.toml").exit_code == 2
    assert not (tmp_path / "r.toml").exists()
    assert (tmp_path / "r-ledger.db").read_text(encoding="utf-8") == "not a ledger"


def test_the_library_announces_and_requires_too(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with pytest.raises(LedgerError, match="require_ledger"):
        tf.release(CALIBRATION, [0, 1, 0, 1], ledger=path, require_ledger=True)
    with pytest.raises(LedgerError, match="none is given"):
        tf.release(CALIBRATION, [0, 1, 0, 1], require_ledger=True)
    assert not path.exists()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(2):
            tf.release(CALIBRATION, [0, 1, 0, 1], ledger=path, budget=9)
            assert len(news(warned)) == 1
        tf.release(CALIBRATION, [0, 1, 0, 1], ledger=path, budget=9, require_ledger=True)
        book = Ledger.open(tmp_path / "made.db")
        with pytest.raises(LedgerError, match="require_ledger"):
            tf.release(CALIBRATION, [0, 1, 0, 1], ledger=book, require_ledger=True)
        for _ in range(2):
            tf.release(CALIBRATION, [0, 1, 0, 1], ledger=book, budget=9)
            assert len(news(warned)) == 2
