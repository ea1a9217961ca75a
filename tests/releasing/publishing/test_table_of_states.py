"""Every state of ledger and folder is made, and what each command does, says and exits with is what the table says."""

import re
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.releasing.publishing.test_crashes import SPEC
from tests.releasing.publishing.test_states import small
from tests.support.commands import ended, invoke, succeed, words_of
from tests.support.crashing import Seen, check_public
from tests.support.paying import copies_of_each_state

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.releasing.file.toml_words import in_toml
from takifugu.releasing.publishing import publish
from takifugu.releasing.publishing.states import RELEASE, RESUME, Does, InFolder, InLedger, Row, row_of

ONE = SPEC[: SPEC.index('[[table]]\nname = "walking"')]
STATES = list(product(InLedger, InFolder))
#: The state of the copy of the ledger that is taken, and the state of what was paid for after each thing that is done.
COPIES = {
    InLedger.NOTHING: "nothing", InLedger.PAID: "paid", InLedger.PAID_OTHER: "paid", InLedger.DRAWN: "drawn",
    InLedger.DRAWN_OTHER: "drawn", InLedger.LOST: "drawn", InLedger.LOST_OTHER: "drawn",
    InLedger.PUBLISHED: "published", InLedger.REKEYED: "published",
}  # fmt: skip
OTHER = (InLedger.PAID_OTHER, InLedger.DRAWN_OTHER, InLedger.LOST_OTHER)
BECOMES = {Does.DRAW: "over", Does.HAND_OUT: "over", Does.CLOSE: "over", Does.DRAW_ONLY: "drawn"}
PUBLISHES = (Does.PAY, Does.DRAW, Does.HAND_OUT)


@dataclass(frozen=True)
class Prepared:
    """The folder in which every state is made, copies of its ledger, and what it and two others published."""

    study: Path
    copies: Path

    def make(self, said: InLedger, there: InFolder) -> Path:
        """Make a state anew, and return its release file."""
        shutil.rmtree(self.study)
        toml = small(self.study, ONE, rows=41 if said in OTHER else 40)
        if said in COPIES:
            shutil.copy(self.copies / f"{COPIES[said]}.db", self.study / "ledger.db")
        if said in (InLedger.LOST, InLedger.LOST_OTHER):
            with closing(sqlite3.connect(self.study / "ledger.db")) as connection:
                connection.execute("delete from waiting")
                connection.commit()
        epsilon = "3.5" if said is InLedger.REKEYED else "4.0"
        output = "here" if there is InFolder.AWAY else "out"
        toml.write_text(ONE.replace('"out"', f'"{output}"').replace("epsilon = 4.0", f"epsilon = {epsilon}"))
        published = {InFolder.ANOTHER_LEDGER: "another", InFolder.ANOTHER_SOURCE: "else"}.get(there, "study")
        out = self.study / "out"
        if there is InFolder.STRANGE:
            out.mkdir()
            (out / "both.csv").write_text("mine")
        elif there is not InFolder.NOTHING:
            shutil.copytree(self.copies / published, out)
        if there is InFolder.PART:
            (out / "both.csv").unlink()
        if there is InFolder.ALTERED:
            (out / "both.csv").write_text("unit,cell\n")
        return toml


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    folder = tmp_path_factory.mktemp("states")
    made = Prepared(folder / "study", folder / "copies")
    toml = small(made.study, ONE)
    Ledger.open(made.study / "ledger.db")
    with copies_of_each_state(made.copies):
        tf.release_file(toml)
    shutil.copytree(made.study / "out", made.copies / "study")
    for name, source in (("another", "study"), ("else", "another study")):
        tf.release_file(small(folder / name, ONE.replace('"study"', f'"{source}"')))
        shutil.copytree(folder / name / "out", made.copies / name)
    return made


@contextmanager
def counted_draws() -> Iterator[list[int]]:
    draws: list[int] = []
    real = publish.draw

    def draw(*args: Any) -> Any:
        draws.append(1)
        return real(*args)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(publish, "draw", draw)
        yield draws


def payments(folder: Path) -> dict[str, str]:
    where = folder / "ledger.db"
    return {one.group: one.state for one in Ledger.open(where).payments("study")} if where.exists() else {}


def contents(folder: Path) -> dict[str, bytes]:
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in folder.glob("*/*") if path.is_file()}


def check(made: Prepared, words: list[str], row: Row, does: Does, exits: int) -> Result:
    """Run a command, and compare what it does, says and exits with with a row of the table."""
    before, files = payments(made.study), contents(made.study)
    with counted_draws() as draws:
        result = invoke(*words)
    after, now = payments(made.study), contents(made.study)
    assert result.exit_code == exits, result.output
    assert len(after) - len(before) == (does is Does.PAY)
    assert len(draws) == (does in (Does.PAY, Does.DRAW, Does.DRAW_ONLY))
    expected = {group: BECOMES.get(does, state) for group, state in before.items()}
    assert {group: after[group] for group in before} == expected
    assert all(after[group] == "over" for group in after.keys() - before.keys())
    if does in PUBLISHES:
        folder = "here" if (made.study / "here").exists() else "out"
        public = {path.name: path.read_bytes() for path in (made.study / folder).iterdir()}
        paid = Ledger.open(made.study / "ledger.db").payments("study")
        check_public(Seen({}, {release for one in paid for release in one.ids.values()}, public))
    else:
        assert now == files
    if does is Does.HAND_OUT:
        drawn = (made.copies / "study" / "both.csv").read_bytes()
        assert {content for path, content in now.items() if path.endswith("both.csv")} == {drawn}
    is_closed = does is Does.CLOSE
    assert is_closed == any("not drawn again" in one.why for one in closed(made.study)), "closed without a word"
    said = words_of(result)
    state = {1: "nothing happened", 2: "nothing happened", 4: "(paid, not drawn|drawn, not published)"}.get(exits)
    assert state is None or re.search(rf"State of the release: {state}\.", said)
    if does is row.does:
        assert not [part for part in re.split(r"\{[^}]*\}", in_toml(f"{row.words}{{}}{row.fix}")) if part not in said]
    return result


def closed(folder: Path) -> tuple[Any, ...]:
    where = folder / "ledger.db"
    return Ledger.open(where).payments("study") if where.exists() else ()


@pytest.mark.parametrize("table", [RELEASE, RESUME])
def test_each_state_stands_in_one_row(table: tuple[Row, ...]) -> None:
    assert sorted(state for row in table for state in product(row.ledger, row.folder)) == sorted(STATES)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("said", "there"), STATES)
def test_what_a_release_does(prepared: Prepared, said: InLedger, there: InFolder) -> None:
    """And each command that is printed as the remedy does what it says when it is pasted."""
    toml, row = prepared.make(said, there), row_of(said, there)
    result = check(prepared, ["release", str(toml)], row, row.does, row.exits)
    for command in re.findall(r"`takifugu ([^`]*)`", result.stderr):
        words = shlex.split(command)
        if words[1] == "import-certificates":
            succeed(*words, "--yes")
        elif words[0] == "release":
            succeed(*words)
            assert len(payments(prepared.study)) == 2
            assert invoke(*words).exit_code == 0  # and pays once
            assert len(payments(prepared.study)) == 2
        else:
            now = InLedger.DRAWN if row.does is Does.DRAW_ONLY else said
            check(prepared, words, (pending := row_of(now, there, RESUME)), pending.does, pending.exits)


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("said", "there", "options"), [
    *((said, there, ["--force"]) for said, there in STATES),
    *((said, there, ["--idempotency-key", "K"]) for said, there in STATES if row_of(said, there).keyed),
])  # fmt: skip
def test_what_force_or_a_key_does(prepared: Prepared, said: InLedger, there: InFolder, options: list[str]) -> None:
    toml, row = prepared.make(said, there), row_of(said, there)
    does = row.done("--force" in options, "--idempotency-key" in options)
    Ledger.open(prepared.study / "ledger.db")  # where there was none it is another one now
    check(prepared, ["release", *options, str(toml)], row, does, row.exits if does is row.does else 0)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("said", "there"), STATES)
def test_what_resuming_does(prepared: Prepared, said: InLedger, there: InFolder) -> None:
    prepared.make(said, there)
    ledger, row = prepared.study / "ledger.db", row_of(said, there, RESUME)
    Ledger.open(ledger)
    check(prepared, ["ledger", "resume", str(ledger)], row, row.does, row.exits)


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("said", "there"), STATES)
def test_what_a_release_under_a_key_does(prepared: Prepared, said: InLedger, there: InFolder) -> None:
    """A key pays for a table again, once, unless the ledger is not the one that paid for what lies there."""
    toml, row = prepared.make(said, there), row_of(said, there)
    before = payments(prepared.study)
    is_refused = there is InFolder.ANOTHER_LEDGER or (not before and row.forced is None and row.does is Does.REFUSE)
    for _ in range(2):
        ended(2 if is_refused else 0, "release", "--replace", "both", "--idempotency-key", "K", toml)
        assert len(payments(prepared.study)) - len(before) == (not is_refused)


@pytest.mark.slow
def test_a_wrong_row_is_noticed(prepared: Prepared) -> None:
    for said, there, wrong in (
        (InLedger.PUBLISHED, InFolder.WHOLE, Does.PAY), (InLedger.PAID, InFolder.WHOLE, Does.DRAW),
        (InLedger.DRAWN, InFolder.NOTHING, Does.DRAW), (InLedger.REKEYED, InFolder.NOTHING, Does.REFUSE),
        (InLedger.LOST, InFolder.NOTHING, Does.DRAW), (InLedger.LOST, InFolder.WHOLE, Does.HAND_OUT),
    ):  # fmt: skip
        toml, row = prepared.make(said, there), row_of(said, there)
        with pytest.raises(AssertionError):
            check(prepared, ["release", str(toml)], row, wrong, row.exits)
