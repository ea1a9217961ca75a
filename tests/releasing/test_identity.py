"""What is paid for is found again by the next version: identities stay, or those of earlier versions are known, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from takifugu.ledger import Ledger
from takifugu.releasing import run
from takifugu.releasing.planning import plan
from takifugu.releasing.resuming import resume
from takifugu.releasing.run import ordered, release_file
from takifugu.spec.file import load
from takifugu.spec.kind import Kind, Unit
from takifugu.spec.records.users import USERS

EXAMPLES = Path(__file__).parents[2] / "examples"

#: What each example was known by before users were counted.
BEFORE = {
    "activity": "192c017fb517723f3b7000ddc93553a4e4a46a4e5caec65e209b2d6187b6c4d3",
    "network": "ffffb68f0af93445eb9a90317eb94eb7645b98f86de1843ed6b84021c43a1c58",
    "people": "16511e4c1df4a3818b6c9763a8269250e0d1776ef46c3dbfd5208025a275870c",
    "school": "abe582c018574c83a5b0657c6f4bb73e1e1c4f9dcd6e515ebf34d5e5c8a07491",
    "survey": "d61cba2f3c7cd61ae1b16fee329e42441a412928b5573cb0a15487c1b93ce4bf",
}

GROUPS = """
ledger = "ledger.db"
output = "out"

[source]
name = "study"
file = "rows.csv"
value = "v"
group = "g"

[belief]
kind = "users"
source = "a test"
groups = [
  { name = "a", size = 3, values = ["n", "y"], probabilities = [0.5, 0.5] },
  { name = "b", size = 2, values = ["m", "y"], probabilities = [0.5, 0.5] },
]

[[release]]
name = "yes"
query = "count"
states = ["y"]
epsilon = 1.0
"""
ROWS = "g,v\nb,y\na,y\na,n\nb,m\na,y\n"


class Waiting:
    """A ledger that waits for one release."""

    def __init__(self, identity: str) -> None:
        self.identity = bytes.fromhex(identity)

    def pending(self, source: str, identity: bytes | None = None) -> tuple[str, ...]:
        return (source,) if identity in (None, self.identity) else ()


@pytest.mark.parametrize("name", BEFORE)
def test_a_release_is_known_by_what_it_was_known_by_before(name: str) -> None:
    book: Any = Waiting(BEFORE[name])
    order = ordered(plan(load(EXAMPLES / f"{name}.toml")), Path("out"))
    assert order.known_as(book).hex() == BEFORE[name]


class Crash(Exception):
    pass


@pytest.fixture
def paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of groups of users, paid for when users were known in the order of the rows."""
    (tmp_path / "rows.csv").write_text(ROWS)
    path = tmp_path / "release.toml"
    path.write_text(GROUPS)

    def crash(*args: object) -> None:
        raise Crash

    with monkeypatch.context() as before:
        before.setattr(type(USERS), "units", lambda self, file: (Unit(None, self.formerly(file)),))
        before.setattr(run, "_sealed", crash)
        with pytest.raises(Exception, match="Crash"):
            release_file(path, anyway=True)
    return path


def test_users_in_the_order_of_their_rows_are_completed_and_pay_nothing(paid: Path) -> None:
    book = Ledger.open(paid.parent / "ledger.db", create=False)
    spent = book.spent("study")
    assert release_file(paid, anyway=True).completed is not None
    assert book.spent("study") == spent
    assert not book.pending()


def test_users_in_the_order_of_their_rows_are_resumed(paid: Path) -> None:
    (found,) = resume(paid.parent / "ledger.db")
    assert (str(found.state), found.problem) == ("done", "")


def test_users_in_another_order_were_not_what_was_paid_for(paid: Path) -> None:
    (paid.parent / "rows.csv").write_text("g,v\nb,y\na,n\na,y\nb,m\na,y\n")
    (found,) = resume(paid.parent / "ledger.db")
    assert "is not what was paid for" in found.problem


def test_other_kinds_are_read_as_before() -> None:
    file: Any = None
    assert Kind().formerly(file) is None
