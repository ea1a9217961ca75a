"""Names of people are never in a ledger: not between draw and publication, and not in what SQLite leaves behind."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, succeed
from tests.support.failing import FULL, failing

import takifugu as tf
from takifugu.releasing.publishing import folder as folders

PEOPLE = {"Zoraida": (8, 9), "Bartholomew": (7,), "Wilhelmina": (8, 4)}


def contents(ledger: Path) -> Iterator[bytes]:
    """Yield all that a ledger holds: its files, and each value of each table, unpacked where it is packed."""
    for path in ledger.parent.glob(f"{ledger.name}*"):
        yield path.read_bytes()
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        for (table,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall():
            for row in connection.execute(f"select * from {table}"):
                for value in row:
                    content = value if isinstance(value, bytes) else str(value).encode()
                    yield content
                    with suppress(zlib.error):
                        yield zlib.decompress(content)


def named(ledger: Path) -> set[str]:
    return {name for content in contents(ledger) for name in PEOPLE if name.encode() in content}


def values(folder: Path) -> list[bytes]:
    return [zlib.decompress(path.read_bytes()) for path in folder.glob("*.values")]


@pytest.mark.parametrize("how", ["release", "resume"])
def test_no_name_is_in_the_ledger_between_draw_and_publication(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    toml = files.write(tmp_path, files.SPEC.replace("epsilon = 1.0", "epsilon = 4.0"), files.data(PEOPLE))
    ledger = tmp_path / "ledger.db"
    with failing(monkeypatch, folders.os, "replace", FULL):
        ended(4, "release", "--anyway", toml)
    assert named(ledger) == set()
    (waiting,) = values(tmp_path)
    assert all(name.encode() in waiting for name in PEOPLE)  # as they will be published, until they are
    (file,) = tmp_path.glob("*.values")
    assert file.stat().st_mode & 0o777 == 0o600
    if how == "release":
        succeed("release", "--anyway", toml)
    else:
        assert [one.problem for one in tf.resume(ledger)] == [""]
    assert named(ledger) == set()
    assert values(tmp_path) == []
