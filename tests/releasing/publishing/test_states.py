"""What a release says of itself, what completes it, and what is the same release; and several at once in one folder."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.releasing.publishing.test_crashes import SPEC as SMALL
from tests.releasing.publishing.test_crashes import small
from tests.support.commands import ended, invoke, json_of, succeed
from tests.support.crashing import check_public, seen
from tests.support.failing import FULL, failing, raising
from tests.support.processes import FAST
from tests.support.release_files import changed

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.cli import main
from takifugu.core.errors import LedgerError, PeopleUndeclared, ReleaseError, ReleaseState
from takifugu.releasing.certificates.checksum import read_certificate, table_state
from takifugu.releasing.publishing import folder as folders
from takifugu.releasing.publishing import library, orders, publish, resuming
from takifugu.releasing.publishing.folder import alone_in
from takifugu.releasing.publishing.resuming import Resumed

ROOT = Path(__file__).parents[3]


def stopped(toml: Path, monkeypatch: pytest.MonkeyPatch, state: ReleaseState) -> Result:
    """Release until a state is reached, and no further."""
    room, name, error = {
        ReleaseState.PAID: (publish, "answer_of", KeyError("x")),
        ReleaseState.DRAWN: (folders.os, "replace", FULL),
        ReleaseState.UNRECORDED: (Ledger, "publish", LedgerError("the ledger is locked")),
    }[state]
    code = {"paid, not drawn": 3, "drawn, not published": 4, "published, not recorded": 5}[state]
    with failing(monkeypatch, room, name, error):
        outcome = ended(code, "release", toml)
    assert f"State of the release: {state}." in outcome.stderr
    return outcome


def counting(*states: Any) -> Any:
    """Return a count of the second of two states, in a sequence of four steps."""
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=4, states=states or [0, 1])
    framework = tf.Pufferfish(tf.every_entry(), chain)
    return tf.calibrate(framework, tf.Count((states or (0, 1))[1]), 1, mechanism="group-dp")


@pytest.mark.slow
def test_json_says_the_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml, ledger = small(tmp_path), tmp_path / "ledger.db"
    stopped(toml, monkeypatch, ReleaseState.PAID)
    small(tmp_path, rows=41)
    one = json.loads(ended(4, "ledger", "resume", ledger, "--json", "--source", "study").stdout)["releases"][0]
    assert (one["state"], one["releases"], one["files"]) == ("paid, not drawn", ["both", "walking"], [])
    assert "is not what was paid for: restore both" in one["problem"]
    ended(2, "ledger", "resume", ledger, "--source", "studdy")
    small(tmp_path)
    document = json_of("release", toml)
    assert (document["state"], document["completed"][:2]) == ("done", "20")


@pytest.mark.slow
def test_what_is_the_same_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is another one stands in the table of states."""
    toml = small(tmp_path)
    stopped(toml, monkeypatch, ReleaseState.DRAWN)
    same = changed(SMALL, ("budget = 400\n", ""), ('file = "data.csv"', 'file = "moved.csv"'))
    small(tmp_path, f"# a comment\n{same}")
    (tmp_path / "data.csv").rename(tmp_path / "moved.csv")
    outcome = tf.release_file(toml, output=tmp_path / "elsewhere")
    assert outcome.completed is not None
    assert {p.parent.name for p in outcome.tables[0].files} == {"elsewhere"}
    assert Ledger.open(tmp_path / "ledger.db").pending() == ()


@pytest.mark.slow
def test_frames_come_again_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas

    toml = small(tmp_path, changed(SMALL, ("[source]\n", '[source]\nentries = "minutes"\n')))
    frame = pandas.read_csv(tmp_path / "data.csv")
    with failing(monkeypatch, publish, "answer_of", KeyError("x")), pytest.raises(tf.errors.Fault):
        tf.release_file(toml, data=frame)
    assert "came as a frame" in tf.resume(tmp_path / "ledger.db")[0].problem
    assert tf.release_file(toml, data=frame).completed is not None


@pytest.mark.slow
def test_files_of_another_release_are_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = small(tmp_path)
    tf.release_file(toml)
    first = seen(tmp_path).files
    with failing(monkeypatch, folders.os, "replace", FULL):
        ended(4, "release", *ANEW, "K", toml)
    table = tmp_path / "out" / "both.csv"
    table.write_text("somebody's own")
    one = tf.resume(tmp_path / "ledger.db")[0]
    assert one.state is ReleaseState.DRAWN
    assert "both.csv" in one.problem
    assert table.read_text() == "somebody's own"
    table.write_bytes(first["both.csv"])  # what was to be overwritten may be
    assert tf.resume(tmp_path / "ledger.db")[0].state is ReleaseState.DONE
    second = seen(tmp_path).files
    for name in ("both.certificate.json", "walking.certificate.json"):  # two noisy counts may be the same
        assert second[name] != first[name]


def test_the_library_is_completed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=9, states=["still", "walking"])
    made = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), 1, mechanism="group-dp")
    book, data = Ledger.open(tmp_path / "ledger.db"), ["still", "walking", "walking"] * 3
    locked, broken = (Ledger, "publish", LedgerError("locked")), (publish, "answer_of", KeyError("x"))

    def ask(data: Any = data) -> tf.releasing.postprocess.release.Release:
        return tf.release(made, data, entries="v", ledger=book, source="s", unit="Ana", budget=9)

    with failing(monkeypatch, *locked), pytest.raises(LedgerError) as refusal:
        ask()
    assert refusal.value.state is ReleaseState.DRAWN
    assert "tf.resume(ledger)" in ended(4, "ledger", "resume", tmp_path / "ledger.db").stderr
    completed: Any = tf.resume(book)[0].outcome
    assert completed.certificate.units == ("Ana",)
    assert [completed.certificate.release_id] == [*book.payments("s")[0].ids.values()]
    with failing(monkeypatch, *locked), pytest.raises(LedgerError):
        ask()
    assert ask(["still"] * 9).completed is None  # other data
    (drawn,) = json.loads(book.pending()[0].values or "")["tables"][0]["files"].values()
    again = ask()
    assert again.completed is not None
    assert [str(v) for v in again.values] == list(json.loads(drawn)["answers"][0]["values"].values())
    with failing(monkeypatch, *broken), pytest.raises(tf.errors.Fault):
        ask()
    assert "call it again with the same data" in tf.resume(book)[0].problem
    assert ask().completed is not None
    assert [len(paid.ids) for paid in book.payments("s")] == [1] * 4  # one release per payment


def test_equal_values_of_other_entries_are_another_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day that was paid for and not drawn was taken for the next one, with equal values, for which nobody paid."""
    chain = tf.MarkovChain([[0.9, 0.1], [0.4, 0.6]], length=9, states=["still", "walking"])
    made = tf.calibrate(tf.Pufferfish(tf.every_entry(), chain), tf.Histogram(), 1, mechanism="group-dp")
    book = Ledger.open(tmp_path / "ledger.db")

    def ask(day: str | None, others: bool = True) -> Any:
        where: Any = {"ledger": book, "source": "s", "budget": 99}
        return tf.release(made, ["still"] * 9, entries=day, other_entries=others, **where)

    with failing(monkeypatch, publish, "answer_of", KeyError("x")), pytest.raises(tf.errors.Fault):
        ask("monday", others=False)
    assert ask("tuesday").completed is None
    assert ask(None).completed is None
    assert ask("monday", others=False).completed is not None
    assert [paid.entries for paid in book.payments("s")] == ["monday", "tuesday", None]
    assert book.spent("s").epsilon > 2  # all values of the others may change


#: Standard outputs that nobody reads, each for lines and for JSON; a process takes a second or two, so some are slow.
UNREAD = ["| true", "> /dev/full", ">&-", "> /dev/full 2>&1", ">&- 2>&-", "2>&-"]
SOON = {("", "> /dev/full")}


@pytest.mark.mutants
@pytest.mark.parametrize(("options", "where"), [
    pytest.param(options, where, marks=() if (options, where) in SOON else pytest.mark.slow)
    for options in ("", "--json") for where in UNREAD
])  # fmt: skip
def test_a_standard_output_that_nobody_reads(tmp_path: Path, options: str, where: str) -> None:
    toml = small(tmp_path)
    command = f"set -o pipefail; '{sys.executable}' -m takifugu release {options} '{toml}' {where}"
    place = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=place)
    assert done.returncode == 0, done.stderr
    now = seen(tmp_path)
    assert [state for state, _ in now.reservations.values()] == ["over"]
    assert len(now.files) == 10
    if where == "> /dev/full":
        assert "State of the release: done. Everything is published, paid and recorded." in done.stderr


ANEW = ["--replace", "both", "--replace", "walking", "--idempotency-key"]


def _alone(folder: str, name: str, more: list[str], locks: bool) -> None:
    """Release into a shared folder; without `locks` as on a file system that has none."""
    if not locks:
        folders.fcntl = None  # type: ignore[assignment]
    words = ["release", *more, str(Path(folder) / "release.toml")]
    sys.stdout = sys.stderr = open(Path(folder) / f"said-{name}", "w")  # noqa: SIM115
    main(words, prog_name="takifugu")


@pytest.mark.parametrize(("how", "paid", "locks"), [
    ("", 1, True),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in (
        ("", 1, False), ("--force", 1, True), ("--force", 1, False), ("one key", 1, True), ("one key", 1, False),
        ("a key each", 5, True), ("a key each", 5, False),
    )),
])  # fmt: skip
def test_many_releases_into_one_folder(tmp_path: Path, how: str, paid: int, locks: bool) -> None:
    small(tmp_path)
    children = []
    for i in range(5):
        more = {"one key": [*ANEW, "K"], "a key each": [*ANEW, str(i)]}.get(how, how.split())
        children.append(FAST.Process(target=_alone, args=(str(tmp_path), str(i), more, locks)))
        children[-1].start()
    assert [child.join() or child.exitcode or 0 for child in children] == [0] * 5
    now = seen(tmp_path)
    assert [state for state, _ in now.reservations.values()] == ["over"] * paid
    assert len(now.files) == 10
    for name in now.files:
        if name.endswith(".certificate.json"):
            assert table_state(tmp_path / "out" / name, read_certificate(tmp_path / "out" / name)) == "the same"
            assert read_certificate(tmp_path / "out" / name).release_id in now.releases
    said = [(tmp_path / f"said-{i}").read_text() for i in range(5)]
    assert sum("already published: both" in words for words in said) == 5 - paid


def test_leftovers_are_swept_and_nothing_else(tmp_path: Path) -> None:
    mine = [".takifugu-0123456789abcdef.unfinished", ".takifugu.lock"]
    others = [".takifugu-0123.unfinished", ".unfinished-x", "x.unfinished", ".takifugu-0123456789abcdef.unfinished.bak"]
    for name in (*mine, *others):
        (tmp_path / name).write_text("x")
    link = tmp_path / ".takifugu-0123456789abcdee.unfinished"
    link.symlink_to(tmp_path / "x.unfinished")
    with alone_in(tmp_path):
        pass
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*others, link.name])


def _dead() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_claims_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "fcntl", None)
    host = folders.hashlib.sha256(folders.socket.gethostname().encode()).hexdigest()[:8]
    dead = tmp_path / f".takifugu-{host}-{_dead()}-0123456789abcdef.claim"
    dead.touch()
    with alone_in(tmp_path, patience=0):
        assert not dead.exists()
    living = tmp_path / f".takifugu-{host}-{os.getpid()}-0123456789abcdef.claim"
    living.touch()
    with pytest.raises(ReleaseError, match=rf"another release writes.*delete {living.name}"), alone_in(tmp_path, 0):
        raise AssertionError
    assert [p.name for p in tmp_path.iterdir()] == [living.name]


def test_waiting_too_long_is_told_and_missing_locks_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with alone_in(tmp_path), pytest.raises(ReleaseError, match="has not ended: wait for it"), alone_in(tmp_path, 0):
        raise AssertionError
    with alone_in(tmp_path / "new"):
        pass
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(folders.fcntl, "flock", raising(OSError(errno.ENOLCK, "no locks")))
    with alone_in(tmp_path):
        assert [p.suffix for p in tmp_path.iterdir()] == [".claim"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("in_the_way", "options", "words"), [
    (lambda out: (out / "both.csv").mkdir(parents=True), ["--force"], "is a folder where a file belongs"),
    (lambda out: (out.mkdir(), os.mkfifo(out / "both.csv")), [], "both.csv"),  # it is not waited for
    (lambda out: out.write_text("a file, not a folder"), [], "cannot be written to"),
])  # fmt: skip
def test_what_is_in_the_way_is_found_before_it_is_paid(
    tmp_path: Path, in_the_way: Callable[[Path], object], options: list[str], words: str
) -> None:
    toml = small(tmp_path)
    in_the_way(tmp_path / "out")
    assert words in ended(2, "release", *options, toml).stderr
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("renamed", range(8))
def test_an_old_table_has_no_new_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int) -> None:
    tf.release_file(toml := small(tmp_path))
    check_public(seen(tmp_path))
    real, targets = os.replace, list[str]()

    def full(source: Any, target: Any) -> None:
        targets.append(str(target))
        if len(targets) > renamed:
            raise FULL
        real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(folders.os, "replace", full)
        code = invoke("release", *ANEW, "K", toml).exit_code
    assert code == (4 if len(targets) > renamed else 0)  # a table whose noise is the same by chance is not replaced
    check_public(seen(tmp_path))
    succeed("ledger", "resume", tmp_path / "ledger.db")
    check_public(seen(tmp_path))
    assert len(seen(tmp_path).files) == 10


def test_a_ledger_that_has_forgotten_the_release_is_not_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml, ledger = small(tmp_path), tmp_path / "ledger.db"
    Ledger.open(ledger)
    empty, real = ledger.read_bytes(), Ledger.publish

    def restored(book: Ledger, group: str, certificates: Any) -> None:
        for path in tmp_path.glob("ledger.db*"):
            path.unlink()
        ledger.write_bytes(empty)
        real(book, group, certificates)

    monkeypatch.setattr(Ledger, "publish", restored)
    assert "has no reservation" in ended(5, "release", toml).stderr


@pytest.mark.slow
def test_resume_draws_only_on_the_ledger_that_the_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml = small(tmp_path)
    stopped(toml, monkeypatch, ReleaseState.PAID)
    (tmp_path / "ledger.db").rename(tmp_path / "moved.db")
    for _ in range(2):  # the file's own is not there; and it holds the same release, pending
        one = tf.resume(tmp_path / "moved.db")[0]
        assert one.state is ReleaseState.PAID
        assert "names the ledger" in one.problem
        if not (tmp_path / "ledger.db").exists():
            stopped(toml, monkeypatch, ReleaseState.PAID)
    small(tmp_path, SMALL.replace("ledger.db", "moved.db"))
    assert tf.resume(tmp_path / "moved.db")[0].state is ReleaseState.DONE


@pytest.mark.slow
def test_what_another_process_completes_meanwhile_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml, real = small(tmp_path), resuming.plan
    stopped(toml, monkeypatch, ReleaseState.PAID)

    def slow(*args: Any) -> Any:
        succeed("release", toml)
        return real(*args)

    monkeypatch.setattr(resuming, "plan", slow)
    outcome = succeed("ledger", "resume", tmp_path / "ledger.db")
    assert "completed: both, walking about 'study'" in outcome.stdout
    assert "State" not in outcome.stderr
    assert len(seen(tmp_path).reservations) == 1


@pytest.mark.slow
def test_what_others_publish_elsewhere_is_no_success_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toml, real, others = small(tmp_path), publish.draw, []
    stopped(toml, monkeypatch, ReleaseState.PAID)

    def slow(*args: Any) -> Any:
        if not others:
            others.append("there")
            succeed("release", toml, "--output", tmp_path / "there")
        return real(*args)

    monkeypatch.setattr(publish, "draw", slow)
    outcome = ended(4, "release", toml, "--output", tmp_path / "here")
    assert not (tmp_path / "here").exists()
    assert "is published or closed: a second draw would pay nothing for it" in outcome.stderr
    assert "State of the release: done." in outcome.stderr
    assert len(seen(tmp_path).reservations) == 1


@pytest.mark.slow
def test_values_of_the_library_stay_until_they_can_be_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, book = counting(), Ledger.open(tmp_path / "ledger.db")
    account: dict[str, Any] = {"ledger": book, "source": "by hand", "budget": 1000}
    with failing(monkeypatch, library, "library_of", KeyError("x")), pytest.raises(tf.errors.Fault) as refusal:
        tf.release(made, [0, 1, 1, 0], entries="v", **account)
    assert refusal.value.state is ReleaseState.DRAWN  # type: ignore[attr-defined]
    both = changed(SMALL, ("[source]\n", "[source]\nsame_people = true\n"))
    stopped(small(tmp_path, both), monkeypatch, ReleaseState.PAID)
    with failing(monkeypatch, resuming, "plan", KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        tf.resume(book)
    assert len(book.pending()) == 2
    with failing(monkeypatch, resuming, "plan", KeyError("walking")):
        by_hand, of_a_file = tf.resume(book)
    assert (by_hand.state, by_hand.source) == (ReleaseState.DONE, "by hand")
    assert of_a_file.state is ReleaseState.PAID
    assert "a fault of Takifugu itself (KeyError at" in of_a_file.problem
    assert [one.state for one in tf.resume(book, "study")] == [ReleaseState.DONE]


def test_a_second_source_is_declared_before_it_is_paid_for_and_completed_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Ledger.open(tmp_path / "ledger.db")
    made, account = counting(), {"entries": "v", "ledger": book, "unit": "Ana", "budget": 9}
    tf.release(made, [0, 1, 1, 0], source="clinic", **account)

    def ask(**declared: bool) -> Any:
        return tf.release(made, [1, 1, 1, 0], source="school", **account, **declared)

    with pytest.raises(PeopleUndeclared):
        ask()
    with failing(monkeypatch, publish, "answer_of", KeyError("x")), pytest.raises(tf.errors.Fault):
        ask(same_people=True)
    assert ask(same_people=True).completed is not None
    assert book.spent("clinic").epsilon > 1  # charged there, too, as it was declared
    assert "The people of the source 'clinic' are the same people" in " ".join(ask().certificate.text().split())


def test_a_ledger_that_fails_once_published_takes_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 4 would send a scheduler to complete what is complete."""
    toml, real = small(tmp_path), orders.handed_out

    def and_then_gone(*args: Any) -> Any:
        tables = real(*args)
        monkeypatch.setattr(Ledger, "open", raising(LedgerError("it cannot be read")))
        return tables

    monkeypatch.setattr(orders, "handed_out", and_then_gone)
    assert "Files     " in succeed("release", toml).stdout


def test_the_system_ends_it_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(monkeypatch, publish, "answer_of", SystemExit(143)):
        assert "State of the release: paid, not drawn." in ended(143, "release", small(tmp_path)).stderr


def test_resumed_says_nothing_private() -> None:
    one = Resumed("study", ("both",), "2026-01-01T00:00:00+00:00", ReleaseState.PAID, None, "why")
    assert "outcome" not in repr(one)
