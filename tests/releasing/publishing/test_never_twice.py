"""What was paid for is not paid for again, whatever is run: by the same command, a longer file, another key, after a
kill."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.releasing.publishing.test_crashes import SPEC
from tests.releasing.publishing.test_states import ANEW, counting, small
from tests.support.commands import ended, invoke, json_of, succeed, words_of
from tests.support.crashing import check_public, seen
from tests.support.failing import FULL, failing
from tests.support.release_files import believe, changed, publish, read_from, release_text

import takifugu as tf
from takifugu.accounting.composition import charge_of
from takifugu.accounting.ledger import Debit, Ledger
from takifugu.core.errors import InputError, LedgerError, ReleaseError, ReleaseState
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.identity import keys_of
from takifugu.releasing.publishing import folder as folders
from takifugu.releasing.publishing import publish as publishing

FIRST = SPEC[: SPEC.index('[[table]]\nname = "walking"')]


def paid(folder: Path) -> int:
    return len(Ledger.open(folder / "ledger.db").payments("study"))


@pytest.mark.mutants
def test_a_second_release_in_a_file_is_new_and_the_first_is_named(tmp_path: Path) -> None:
    toml = small(tmp_path, FIRST)
    tf.release_file(toml)
    before = seen(tmp_path).files
    small(tmp_path)
    foreseen = json_of("release", "--dry-run", toml)
    assert ([table["name"] for table in foreseen["forecast"]["tables"]], foreseen["there"]) == (["walking"], ["both"])
    said = words_of(succeed("release", toml))
    assert "already published: both (20" in said
    assert "needs a [[table]] of another name" in said
    assert paid(tmp_path) == 2
    assert {name: seen(tmp_path).files[name] for name in before} == before
    again = tf.release_file(toml)
    assert ([t.name for t in again.new], [t.name for t in again.there]) == ([], ["both", "walking"])
    assert [row["cell"] for row in again.tables[0].rows] == ["still", "walking"]
    assert "already published" in str(again)
    assert paid(tmp_path) == 2


@pytest.mark.mutants
def test_one_key_pays_once(tmp_path: Path) -> None:
    toml = small(tmp_path)
    first = tf.release_file(toml)
    with pytest.raises(InputError, match="such as --idempotency-key 2"):
        tf.release_file(toml, replace="walking")
    with pytest.raises(InputError, match="did you mean 'walking'"):
        tf.release_file(toml, replace="walkin", idempotency_key="K")
    second = tf.release_file(toml, replace="walking", idempotency_key="K")
    assert [t.name for t in second.new] == ["walking"]
    assert second.new[0].certificate.release_id != first.tables[1].certificate.release_id
    for options in ({"replace": "walking"}, {"replace": "walking", "force": True}, {}):
        assert tf.open_study(toml).release(idempotency_key="K", **options).new == ()
    small(tmp_path, rows=41)  # whether the data have changed is not asked
    assert tf.release_file(toml, replace="walking", idempotency_key="K").new == ()
    assert paid(tmp_path) == 2
    assert [t.name for t in tf.release_file(toml, replace="both", idempotency_key="K").new] == ["both"]
    assert paid(tmp_path) == 3


@pytest.mark.mutants
def test_a_scheduler_pays_once_wherever_the_files_are(tmp_path: Path) -> None:
    toml, folder = small(tmp_path), tmp_path / "today"
    for _ in range(3):
        succeed("release", toml, "--output", folder, "--idempotency-key", "2026-W07")
    shutil.rmtree(folder)
    for where in (folder, tmp_path / "elsewhere"):
        outcome = ended(2, "release", toml, "--output", where, "--idempotency-key", "2026-W07")
        assert "both was published with the key '2026-W07'" in outcome.stderr
        assert "--force" not in outcome.stderr
    assert paid(tmp_path) == 1
    succeed("release", toml, "--output", folder, "--idempotency-key", "2026-W08")
    assert paid(tmp_path) == 2


def test_the_ledger_itself_keeps_a_key(tmp_path: Path) -> None:
    """Two folders have two locks: where both processes found nothing under a key, the ledger lets one of them pay."""
    tf.release_file(small(tmp_path), idempotency_key="K")
    book = Ledger.open(tmp_path / "ledger.db")
    (one,) = book.payments("study")
    made = counting("still", "walking")
    ((reading, entries),) = book.view().source("study").tables
    debit = Debit(made.framework, charge_of(made), None, "walking")
    again = {"reading": book.view().content(reading).decode(), "entries": entries, "recipe": {"once": one.once}}
    with pytest.raises(LedgerError, match="one key pays once"):
        book.reserve("study", [debit], **again)
    assert paid(tmp_path) == 1


@pytest.mark.mutants
@pytest.mark.parametrize("more", [[], [*ANEW, "K"]])
@pytest.mark.parametrize("stop", ["answer_of", "keep", "replace", "publish"])
def test_a_retry_pays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: str, more: list[str]) -> None:
    room: Any = {"answer_of": publishing, "replace": folders.os}.get(stop, Ledger)
    error = {"answer_of": KeyError("x"), "replace": FULL}.get(stop, LedgerError("the ledger is locked"))
    toml = small(tmp_path)
    if more:
        tf.release_file(toml)
    before = len(seen(tmp_path).reservations) if more else 0
    with failing(monkeypatch, room, stop, error):
        assert invoke("release", *more, toml).exit_code in (3, 4, 5)
    check_public(seen(tmp_path))
    for words in ("completed the release of", "already published: both"):
        assert words in succeed("release", *more, toml).stdout
        check_public(now := seen(tmp_path))
        assert [state for state, _ in now.reservations.values()] == ["over"] * (before + 1)


@pytest.mark.mutants
@pytest.mark.parametrize(("second", "error", "code"), [
    ("0.001", None, 4), ("2.0", LedgerError("the ledger is locked"), 4), ("2.0", KeyError("x"), 3),
])  # fmt: skip
def test_no_exit_code_says_that_nothing_happened_after_a_publication(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str, error: Exception | None, code: int
) -> None:
    """What is added after a crash is paid for alone, and may be refused: for its noise, or by the ledger."""
    toml = small(tmp_path, FIRST)
    with failing(monkeypatch, folders.os, "replace", FULL):
        ended(4, "release", toml)
    small(tmp_path, SPEC.replace("epsilon = 2.0", f"epsilon = {second}"))
    with nullcontext() if error is None else failing(monkeypatch, Ledger, "pay", error):
        outcome = ended(code, "release", toml, "--json")
    assert json.loads(outcome.stdout)["error"]["published"] == ["both"]
    assert "Paid for by an earlier call, and published now: both." in outcome.stderr
    assert len(seen(tmp_path).files) == 5
    if error is None:
        assert "published now: both. Of the rest:" in outcome.stderr
        ended(1, "release", toml)
    succeed("release", "--allow-useless", toml)
    assert paid(tmp_path) == 2


@pytest.mark.mutants
def test_a_window_is_the_same_however_it_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.releasing.test_windows import written

    toml = written(tmp_path)
    with failing(monkeypatch, folders.os, "replace", FULL), pytest.raises(ReleaseError) as refusal:
        tf.release_file(toml, window="2026-W02")
    assert refusal.value.state is ReleaseState.DRAWN
    assert tf.release_file(toml).completed is not None
    book = Ledger.open(next(tmp_path.glob("*.db")))
    (source,) = book.show()
    names = [name for one in book.payments(source.name) for name in one.ids]
    assert len(names) == len(set(names)), "a window was paid for twice"
    assert tf.release_file(toml).new == ()


@pytest.mark.mutants
def test_spellings_of_a_key_that_look_alike_pay_once(tmp_path: Path) -> None:
    toml = small(tmp_path, FIRST)
    again = ("release", toml, "--replace", "both", "--idempotency-key")
    for key in ("Wo\u0301che 02", " W\u00f3che 02", "W\u00f3che  02 ", "W\u00f3che 02\u200b"):
        succeed(*again, key)
        assert paid(tmp_path) == 1
    for key in ("w\u00f3che 02", "W\u00d3CHE 02"):
        assert "looks like it: one key pays once" in ended(2, *again, key).stderr
        assert paid(tmp_path) == 1
    succeed(*again, "W\u00f3che 03")
    assert paid(tmp_path) == 2


CALENDAR = release_text(
    read_from("rows", "rows.csv", order="t", step="1h", value="state", from_="2026-01-05", until="2026-01-06"),
    believe("markov-chain", states=["busy", "free"], matrix=[[0.9, 0.1], [0.4, 0.6]]),
    publish("busy", "count", states=["busy"], epsilon=1),
)  # fmt: skip
#: Keys of [source] that change which rows count, as what, or of whom.
OTHERS = (
    'gaps = "public"', "where = \"t <> ''\"", 'nulls = "unobserved"',
)  # fmt: skip


def keys_with(folder: Path, *changes: tuple[str, str]) -> str:
    (folder / "rows.csv").write_text("t,state\n2026-01-05T01:00,busy\n")
    (folder / "rows.toml").write_text(changed(CALENDAR, *changes))
    file = load(folder / "rows.toml")
    return keys_of(file, file.items[0])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("change", [
    ("[source]\n", '[source]\ngaps = "hidden"\n'), ("[source]\n", '[source]\nencoding = "ascii"\n'),
    ("[source]\n", '[source]\nnulls = "refuse"\n'),
    ("[source]\n", "[source]\nbudget = 5\n"), ("rows.csv", "./rows.csv"), ('"1h"', '"60min"'),
    *(("epsilon = 1\n", f"epsilon = {number}\n") for number in ("1.0", '"1"', '"2/2"', "1e0")),
])  # fmt: skip
def test_what_is_meant_anyway_is_no_other_table(tmp_path: Path, change: tuple[str, str]) -> None:
    assert keys_with(tmp_path, change) == keys_with(tmp_path)


def test_every_key_that_a_reading_has_makes_another_table(tmp_path: Path) -> None:
    others = [("[source]\n", f"[source]\n{keys}\n") for keys in OTHERS]
    others += [('file = "rows.csv"', "sql = \"from read_csv('rows.csv', all_varchar = true)\"")]
    others += [('rows = "samples"', 'rows = "events"\ndefault_state = "free"'), ('"1h"', '"30min"')]
    others += [('"state"', '"lower(state)"'), ('"t"', '"t || \'\'"')]
    keys = [keys_with(tmp_path), *(keys_with(tmp_path, other) for other in others)]
    assert len(set(keys)) == len(keys)
