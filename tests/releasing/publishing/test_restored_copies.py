"""A ledger that is restored from a copy: whatever the copy has forgotten, nothing is granted or drawn a second time."""

import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from tests.releasing import files
from tests.support.commands import ended, succeed, words_of
from tests.support.paying import copied, copies_of_each_state, restored
from tests.support.release_files import EXPECT, believe, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import LedgerError, ReadingChanged, ReleaseError, ReleaseState
from takifugu.numbers.noise import InsecureSeededEntropyForTests
from takifugu.releasing.publishing import run
from takifugu.releasing.publishing.adopting import adopt, certificates_in
from takifugu.releasing.publishing.standing import close, public_of
from takifugu.releasing.report.outcomes import Outcome

SMALL = files.SPEC.replace('per = "both"\n', "")
AGAIN = SMALL.replace('"time-use"', '"again"')
THIRD = SMALL.replace('"time-use"', '"third"')
TWO = f'{SMALL}\n[[table]]\nname = "walks"\nquery = "count"\nstates = ["walking"]\nepsilon = 0.5\n'
WEEKS = release_text(
    read_from("study", "data.csv", value="state", order="t", step="6h", from_="2026-01-05", budget=3) + "\n{unit}",
    believe("markov-chain", states=["calm", "busy"], matrix=[[0.9, 0.1], [0.4, 0.6]], units_independent=True),
    publish("busy", "count", states=["busy"], epsilon=0.5, every="week") + "\n{per}",
    output="out", expect=EXPECT,
)  # fmt: skip
WARD = WEEKS.format(unit="", per="").replace("units_independent = true\n", "")
POOLED, EACH = (WEEKS.format(unit='unit = "m"', per=f'per = "{per}"') for per in ("pooled", "unit"))


def weeks(meters: int) -> str:
    """Return four weeks of so many meters, every six hours."""
    times = [f"2026-{1 + (d + 4) // 31:02}-{1 + (d + 4) % 31:02}T{h:02}:00" for d in range(28) for h in (0, 6, 12, 18)]
    if not meters:
        return "t,state\n" + "".join(f"{t},{'busy' if n % 5 else 'calm'}\n" for n, t in enumerate(times))
    rows = [f"{t},{'busy' if (n + m) % 5 else 'calm'},m{m}\n" for m in range(meters) for n, t in enumerate(times)]
    return "t,state,m\n" + "".join(rows)


def forgotten(folder: Path) -> Path:
    """Publish a file, and restore the ledger from a copy of before; return the file's path."""
    where = files.write(folder, SMALL)
    Ledger.open(folder / "ledger.db").close()
    copy = copied(folder / "ledger.db", folder / "copy.db")
    tf.release_file(where)
    restored(folder / "ledger.db", copy)
    return where


def importing(folder: Path) -> tuple[object, ...]:
    return ("ledger", "import-certificates", folder / "ledger.db", folder / "out")


def copies_of_a_release(folder: Path, spec: str) -> dict[str, Path]:
    """Publish, and return a copy of the ledger at each state that it went through."""
    with copies_of_each_state(folder / "copies") as copies:
        tf.release_file(files.write(folder, spec))
    return copies


def drawn_by_another_copy(folder: Path) -> tuple[Path, Path]:
    """Draw one payment twice, from two copies of its ledger; return the release file, and where the first draw lies."""
    where, theirs = files.write(folder, SMALL), folder / "theirs"
    copies = copies_of_a_release(folder, SMALL)
    shutil.move(folder / "out", theirs)
    restored(folder / "ledger.db", copies["paid"])
    tf.release_file(where)
    return where, theirs


def public(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("state", ["nothing", "paid", "drawn", "published"])
def test_a_copy_at_any_state_grants_another_table_nothing_twice(tmp_path: Path, state: str) -> None:
    """What it does with the table itself stands in the table of states."""
    where = files.write(tmp_path, THIRD)
    tf.release_file(where)
    copies = copies_of_a_release(tmp_path, SMALL)
    before = public(tmp_path)
    restored(tmp_path / "ledger.db", copies[state])
    files.write(tmp_path, AGAIN)
    said = words_of(ended(2 if state == "nothing" else 0, "release", where))
    now = public(tmp_path)
    if state == "nothing":
        assert "a copy from before" in said
        assert "ledger import-certificates" in said
        assert now == before
        return
    assert {name: now[name] for name in before} == before
    book = Ledger.open(tmp_path / "ledger.db")
    assert book.spent("study").epsilon > 2  # all three are counted together
    assert len(book.payments("study")) == 3


def test_what_is_drawn_meanwhile_is_not_closed(tmp_path: Path) -> None:
    """Certificates that appear after the ledger was read are of a draw here: its values once left the ledger."""
    where = files.write(tmp_path, SMALL)
    with copies_of_each_state(tmp_path / "copies") as copies:
        tf.release_file(where)
    restored(tmp_path / "ledger.db", copies["drawn"])
    book = Ledger.open(tmp_path / "ledger.db")
    (reserved,), (drawn,) = Ledger.open(copies["paid"]).pending(), book.pending()
    with pytest.raises(LedgerError, match="another process has drawn it: run the same command again"):
        close(book, reserved, public_of(reserved))
    assert book.pending()[0].values == drawn.values


@pytest.mark.slow
def test_what_lies_there_is_listed_when_a_reservation_is_closed(tmp_path: Path) -> None:
    copies = copies_of_a_release(tmp_path, TWO)
    (tmp_path / "out" / "walks.csv").unlink()  # its values cannot be had again, and are not drawn again
    restored(tmp_path / "ledger.db", copies["paid"])
    (one,) = tf.resume(tmp_path / "ledger.db")
    assert one.state is ReleaseState.DONE
    assert isinstance(one.outcome, Outcome)
    assert [table.name for table in one.outcome.tables] == ["time-use"]
    book = Ledger.open(tmp_path / "ledger.db")
    assert not book.pending()
    assert [payment.state for payment in book.payments()] == ["over"]
    assert book.spent("study").epsilon > 1


@pytest.mark.slow
def test_a_copy_is_noticed_in_the_folder_of_the_file_too(tmp_path: Path) -> None:
    where = forgotten(tmp_path)
    files.write(tmp_path, AGAIN)
    for more in ({}, {"output": tmp_path / "elsewhere"}, {"new_ledger": True}, {"force": True}):
        with pytest.raises(LedgerError, match="a copy from before"):
            tf.release_file(where, **more)  # type: ignore[arg-type]
    assert not (tmp_path / "elsewhere").exists()
    said = words_of(ended(2, "release", where, "--dry-run"))
    assert "a copy from before" in said
    assert said.index("restore the newest copy") < said.index("ledger import-certificates")
    assert "the source 'study' would have spent epsilon" in said


@pytest.mark.slow
@pytest.mark.parametrize("lost", [AGAIN, files.SPEC.replace('"time-use"', '"again"')])
def test_what_is_adopted_counts_for_every_unit(tmp_path: Path, lost: str) -> None:
    """At least as it did for those that it was paid for: where their recordings start no certificate says."""
    where, ledger = files.write(tmp_path, SMALL), tmp_path / "ledger.db"
    tf.release_file(where)
    copied(ledger, tmp_path / "copy.db")
    files.write(tmp_path, lost)
    tf.release_file(where, allow_useless=True)
    whole = Ledger.open(copied(ledger, tmp_path / "whole.db"))
    restored(ledger, tmp_path / "copy.db")
    assert "entered as spent" in words_of(succeed(*importing(tmp_path), "--yes"))
    book = Ledger.open(ledger)
    assert book.spent("study").epsilon >= whole.spent("study").epsilon
    assert book.spent("study", "nobody yet").epsilon >= 1
    for unit in files.LENGTHS:
        assert whole.spent("study", unit).fits(book.spent("study", unit))
    succeed("ledger", "verify", ledger, tmp_path / "out")
    before = book.spent("study").epsilon
    book.budget("study", 1000)
    files.write(tmp_path, THIRD.replace("budget = 10\n", ""))
    with pytest.raises(ReadingChanged, match="sequences start: elsewhere"):
        tf.release_file(where)
    tf.release_file(where, other_entries=True)
    assert book.spent("study").epsilon > before


@pytest.mark.slow
def test_a_source_that_the_copy_does_not_know_at_all_is_made(tmp_path: Path) -> None:
    Ledger.open(tmp_path / "ledger.db").close()
    copy = copied(tmp_path / "ledger.db", tmp_path / "copy.db")
    where = files.write(tmp_path, SMALL.replace("budget = 10\n", ""))
    tf.release_file(where)
    (paid,) = Ledger.open(tmp_path / "ledger.db").show()
    restored(tmp_path / "ledger.db", copy)
    succeed(*importing(tmp_path), "--yes")
    (row,) = Ledger.open(tmp_path / "ledger.db").show()
    assert row.spent.epsilon >= paid.spent.epsilon
    assert row.budget == row.spent  # none was declared
    files.write(tmp_path, AGAIN.replace("budget = 10\n", ""))
    with pytest.raises(LedgerError, match="nothing more"):
        tf.release_file(where, other_entries=True)


@pytest.mark.slow
def test_the_same_people_in_another_source_are_charged_for_what_was_adopted(tmp_path: Path) -> None:
    where = files.write(tmp_path, SMALL.replace("budget = 10", "budget = 1000"))
    tf.release_file(where)
    friends = AGAIN.replace('"study"', '"friends"').replace("budget = 10", "budget = 1000\nsame_people = true")
    files.write(tmp_path, friends)
    tf.release_file(where)
    book = Ledger.open(tmp_path / "ledger.db")
    before = {source.name: source.spent.epsilon for source in book.show()}
    copy = copied(tmp_path / "ledger.db", tmp_path / "copy.db")
    files.write(tmp_path, THIRD.replace("budget = 10\n", ""))
    tf.release_file(where)
    restored(tmp_path / "ledger.db", copy)
    succeed(*importing(tmp_path), "--yes")
    for name, spent in before.items():
        assert book.spent(name).epsilon > spent + 1
    files.write(tmp_path, friends.replace('"again"', '"more"'), files.data({"somebody new": (30,)}))
    tf.release_file(where, allow_useless=True)
    assert book.spent("friends", "somebody new").epsilon > 2


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "meters"), [(WARD, 0), (POOLED, 12), (EACH, 12)])
def test_weeks_of_a_calendar_cost_the_same_and_the_study_goes_on(tmp_path: Path, spec: str, meters: int) -> None:
    """As cheap as what was lost: the calendar says at which step each of them starts."""
    where, ledger = files.write(tmp_path, spec, weeks(meters)), tmp_path / "ledger.db"
    for week in ("2026-W02", "2026-W03", "2026-W04"):
        if ledger.exists():
            copied(ledger, tmp_path / "copy.db")
        tf.release_file(where, window=week)
    whole = Ledger.open(copied(ledger, tmp_path / "whole.db"))
    restored(ledger, tmp_path / "copy.db")
    succeed(*importing(tmp_path), "--yes")
    book, before = Ledger.open(ledger), (tmp_path / "out" / "busy-2026-W04.csv").read_bytes()
    assert book.spent("study") == whole.spent("study")
    for week in ("2026-W04", "2026-W05"):
        tf.release_file(where, window=week)
    assert (tmp_path / "out" / "busy-2026-W04.csv").read_bytes() == before
    assert book.spent("study").epsilon < Fraction("0.501")
    assert book.check() == ()


@pytest.mark.mutants
def test_two_copies_that_draw_equal_values_have_drawn_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one day their certificates were once equal, and counted as one draw."""
    monkeypatch.setattr(run, "SystemEntropy", lambda: InsecureSeededEntropyForTests(7))
    theirs = drawn_by_another_copy(tmp_path)[1]
    ledger, out = tmp_path / "ledger.db", tmp_path / "out"
    assert (theirs / "time-use.csv").read_bytes() == (out / "time-use.csv").read_bytes()
    before = Ledger.open(ledger).spent("study").epsilon
    succeed("ledger", "verify", ledger, out)
    assert "drawn twice, from two copies of the ledger" in words_of(ended(2, "ledger", "verify", ledger, out, theirs))
    succeed("ledger", "import-certificates", ledger, theirs, "--yes")
    assert Ledger.open(ledger).spent("study").epsilon > before
    succeed("ledger", "verify", ledger, out, theirs)


@pytest.mark.mutants
@pytest.mark.parametrize(("damaged", "charged"), [
    ((r'"epsilon": "1"', '"epsilon": "0.001"'), 0), ((r'("checksum": "[^"]*)\w"', r'\1-"'), 1),
])  # fmt: skip
def test_a_damaged_certificate_that_closes_a_payment_is_known_when_it_is_brought_back(
    tmp_path: Path, damaged: tuple[str, str], charged: int
) -> None:
    """What another copy drew is charged, also where it is entered first: it was once taken for what lay there.

    With a damaged checksum it names no draw, and is charged again: known for nothing, both would be free.
    """
    where, theirs = drawn_by_another_copy(tmp_path)
    path, ledger = tmp_path / "out" / "time-use.certificate.json", tmp_path / "ledger.db"
    ours = path.read_text()
    restored(ledger, tmp_path / "copies" / "paid.db")
    path.write_text(re.sub(*damaged, ours))
    with pytest.raises(ReleaseError, match="is not what was published"):
        tf.release_file(where)
    book = Ledger.open(ledger)
    before = book.spent("study")
    assert book.pending() == ()
    path.write_text(ours)
    if charged:
        said = words_of(ended(2, "ledger", "verify", ledger, tmp_path / "out"))
        assert "or the same ones, if the certificate that was noted had a damaged checksum" in said
    assert len(adopt(book, certificates_in([tmp_path / "out"]), lambda _: True)) == charged
    assert len(adopt(book, certificates_in([theirs]), lambda _: True)) == 1
    assert book.spent("study").epsilon > before.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("state", ["paid", "drawn"])
def test_a_copy_that_waits_publishes_nothing_free_after_it_was_told_of_other_values(tmp_path: Path, state: str) -> None:
    """It once called the release known, and drew it anew: two tables for one payment."""
    where, theirs = files.write(tmp_path, SMALL), tmp_path / "theirs"
    with copies_of_each_state(tmp_path / "copies") as copies:
        tf.release_file(where)
    shutil.move(tmp_path / "out", theirs)
    if state == "drawn":  # with other values than those that come to be known
        restored(tmp_path / "ledger.db", copies["paid"])
        with copies_of_each_state(tmp_path / "others") as copies:
            tf.release_file(where)
        shutil.rmtree(tmp_path / "out")
    restored(tmp_path / "ledger.db", copies[state])
    book = Ledger.open(tmp_path / "ledger.db")
    before = book.spent("study")
    assert (adopt(book, certificates_in([theirs]), lambda _: True) == ()) == (state == "paid")
    if state == "paid":
        assert (book.pending(), book.spent("study")) == ((), before)
        with pytest.raises(ReleaseError, match="its files are not there any more"):
            tf.release_file(where)
        return
    assert book.spent("study").epsilon > before.epsilon
    tf.release_file(where)
    succeed("ledger", "verify", tmp_path / "ledger.db", tmp_path / "out", theirs)


@pytest.mark.mutants
@pytest.mark.parametrize("state", ["paid", "drawn"])
def test_a_folder_that_was_moved_is_not_made_again_where_it_was(tmp_path: Path, state: str) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with copies_of_each_state(tmp_path / "copies") as copies:
        tf.release_file(files.write(old, SMALL))
    shutil.rmtree(old / "out")
    restored(old / "ledger.db", copies[state])
    old.rename(new)
    said = words_of(ended(4, "ledger", "resume", new / "ledger.db"))
    assert f"{str(old)!r}, where its tables go, is not there any more" in said
    assert not old.exists()
    tf.release_file(new / "release.toml")
    book = Ledger.open(new / "ledger.db")
    assert [payment.state for payment in book.payments()] == ["over"]
    assert public(new)
