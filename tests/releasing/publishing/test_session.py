"""`takifugu session`: paid once, answered once, ended once; what was answered lies in the folder and in the ledger."""

import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import ended, invoke, json_of, succeed, words_of
from tests.support.crashing import FAULTS, Fault, run
from tests.support.failing import FULL, failing, raising
from tests.support.release_files import believe, changed, hide, publish, read_from, release_text
from tests.support.releases import put

from takifugu.accounting.ledger import Ledger
from takifugu.cli.group import BAD_INPUT, REFUSED, STOPPED, UNPUBLISHED
from takifugu.core.errors import LedgerError
from takifugu.releasing.certificates.checksum import read_certificate
from takifugu.releasing.file.loading import load
from takifugu.releasing.publishing import folder as folders
from takifugu.releasing.publishing import session as sessions
from takifugu.releasing.publishing.session import ask

#: Noise of mean 2^-60 or so: what is drawn is the count itself.
SURE = 60.0
FILE = release_text(
    read_from("evening", "visits.csv", unit="who", value="where", budget=SURE),
    believe("asymmetric", places=["bar", "gym", "inn", "pub"]), hide(visits="all"),
    publish("safe", "safe", at_most=2, limit=2, epsilon=SURE), output="out",
)  # fmt: skip
COUNTS = {"bar": 4, "gym": 7, "inn": 1}
ROWS = "who,where\n" + "".join(f"{place}{n},{place}\n" for place, count in COUNTS.items() for n in range(count))
#: Without the gym.
FEW = "\n".join(line for line in ROWS.splitlines() if "gym" not in line)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return put(tmp_path / "evening", {"evening.toml": FILE, "visits.csv": ROWS})


def spent(file: Path) -> str:
    return str(Ledger.open(file.parent / "ledger.db", create=False).spent("evening"))


def payments(file: Path) -> int:
    return len(Ledger.open(file.parent / "ledger.db", create=False).payments("evening"))


def answers(document: Any) -> list[tuple[str, int, object]]:
    return [(a["place"], a["at_most"], "safe" if a["is_safe"] else a["value"]) for a in document["answers"]]


@pytest.mark.mutants
def test_questions_come_one_a_call_or_several_and_the_first_pays_for_all(file: Path) -> None:
    said = words_of(succeed("session", file))
    assert "4 places may still be asked about, until 2 more numbers came out" in said
    assert "Nothing is paid yet" in said
    assert not [words for words in ("place at most answer", "written to") if words in said]
    assert not (file.parent / "ledger.db").exists()
    assert answers(json_of("session", file, "inn")) == [("inn", 2, "safe")]
    assert spent(file) == "epsilon 60"
    document = json_of("session", file, "bar", "pub")
    assert answers(document) == [("inn", 2, "safe"), ("bar", 2, 4), ("pub", 2, "safe")]
    assert (document["numbers_left"], document["has_ended"], payments(file)) == (1, False, 1)
    said = words_of(succeed("session", file))
    assert "inn 2 safe bar 2 4 pub 2 safe " in said
    assert "safe-session.csv, with its certificate" in said
    assert "Nothing is paid yet" not in said
    assert "1 place may still be asked about, until 1 more number came out" in said
    last = json_of("session", file, "gym", "--at-most", "6")
    assert answers(last)[-1] == ("gym", 6, 7)
    assert (last["numbers_left"], last["has_ended"], payments(file), spent(file)) == (0, True, 1, "epsilon 60")


@pytest.mark.mutants
def test_a_place_keeps_its_answer(file: Path) -> None:
    noisy = put(file.parent, {"noisy.toml": changed(FILE, ("epsilon = 60.0", "epsilon = 0.01"))})
    first = answers(json_of("session", noisy, "pub"))
    for _ in range(3):
        assert answers(json_of("session", noisy, "pub")) == first


def test_the_answers_so_far_are_a_table_with_a_certificate(file: Path) -> None:
    put(file.parent, {file.name: changed(FILE, ('"gym", "inn", "pub"', '"inn"')), "visits.csv": FEW})
    succeed("session", file, "inn")
    succeed("session", file, "bar", "--at-most", "3")
    table = (file.parent / "out" / "safe-session.csv").read_text()
    assert [line.split(",")[0] for line in table.splitlines()] == ["cell", "inn", "bar"]
    where = file.parent / "out" / "safe-session.certificate.json"
    certificate = read_certificate(where)
    assert dict(certificate.answers[0].values) == {"inn": "safe", "bar": "4"}
    assert certificate.epsilon == "60"
    assert any("never by a look at the data" in sentence for sentence in map(str, certificate.assumptions))
    assert "is the one that was certified" in words_of(succeed("verify", where))
    assert json_of("audit", where)["answers"][0]["verdict"] == "kept"
    assert json_of("audit", file)["answers"][0]["verdict"] == "kept"


def test_a_session_ends_with_its_last_number_and_says_so(file: Path) -> None:
    outcome = ended(REFUSED, "session", file, "bar", "gym", "inn", "pub")
    assert "the session has ended, and is silent about inn, pub" in words_of(outcome)
    failure = json.loads(ended(BAD_INPUT, "session", file, "inn", "--json").stdout)
    assert failure["error"]["kind"] == "ReleaseError"
    assert "the session 'safe-session' has ended" in words_of(ended(BAD_INPUT, "session", file, "inn"))
    assert "nothing is pending" in words_of(succeed("ledger", "resume", file.parent / "ledger.db"))
    assert "bar 2 4 gym 2 7 safe-session: the session has ended" in " ".join(words_of(succeed("session", file)).split())
    (file.parent / "out" / "safe-session.certificate.json").unlink()
    assert "its answers are in" in words_of(ended(BAD_INPUT, "session", file))


def test_a_session_is_ended_by_hand_and_gives_nothing_back(file: Path) -> None:
    assert not json_of("session", file, "--end")["has_ended"]  # there is none
    assert not ask(load(file), ["inn"]).has_ended
    assert ask(load(file), is_last=True).has_ended
    ended(BAD_INPUT, "session", file, "bar")
    assert spent(file) == "epsilon 60"


def test_a_session_paid_for_and_never_answered_is_ended_by_hand(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.numbers.noise.geometric", raising(KeyboardInterrupt()))
    ended(STOPPED, "session", file, "inn")
    document = json_of("session", file, "--end")
    assert (document["has_ended"], document["files"], spent(file)) == (True, [], "epsilon 60")
    ended(BAD_INPUT, "session", file, "bar")


def test_a_session_without_a_limit_ends_with_its_last_place(file: Path) -> None:
    put(file.parent, {file.name: changed(FILE, ("limit = 2\n", ""))})
    assert "4 places may still be asked about" in words_of(succeed("session", file))
    document = json_of("session", file, *COUNTS, "pub")
    assert (document["has_ended"], document["numbers_left"], document["not_answered"]) == (True, None, [])


@pytest.mark.parametrize("is_first", [True, False])
def test_the_table_itself_is_another_payment_and_ends_no_session(file: Path, is_first: bool) -> None:
    put(file.parent, {file.name: changed(FILE, ("budget = 60.0", "budget = 120.0"))})
    commands = [("session", file, "inn"), ("release", file)]
    for command in commands[::-1] if is_first else commands:
        succeed(*command)
    assert not json_of("session", file, "bar")["has_ended"]
    assert (payments(file), spent(file)) == (2, "epsilon 120")
    assert {path.stem for path in (file.parent / "out").glob("*.csv")} == {"safe", "safe-session"}


def test_an_answer_that_a_full_disk_refuses_is_published_later(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with failing(monkeypatch, folders.os, "replace", FULL):
        assert "make room or fix it" in words_of(ended(UNPUBLISHED, "session", file, "inn"))
    assert answers(json_of("session", file, "inn")) == [("inn", 2, "safe")]


def test_what_changed_is_refused_and_what_was_restored_goes_on(file: Path) -> None:
    succeed("session", file, "inn")
    rows = file.parent / "visits.csv"
    for name, text in ((rows, f"{ROWS}Zoe,pub\n"), (file, changed(FILE, ("at_most = 2", "at_most = 3")))):
        before = name.read_text()
        name.write_text(text)
        refused = words_of(ended(BAD_INPUT, "session", file, "pub"))
        assert "is not what the session 'safe-session' was paid for with" in refused
        name.write_text(before)
    assert answers(json_of("session", file, "pub")) == [("inn", 2, "safe"), ("pub", 2, "safe")]
    assert payments(file) == 1


def test_another_ledger_about_the_same_data_is_noticed(file: Path) -> None:
    succeed("session", file, "inn")
    changes = ('"ledger.db"', '"other.db"'), ('output = "out"', 'output = "other"')
    other = put(file.parent, {"other.toml": changed(FILE, *changes)})
    notices = json_of("session", other, "inn")["notices"]
    assert any("evening.toml" in notice for notice in notices), notices


@pytest.mark.mutants
def test_bad_questions_pay_nothing(file: Path) -> None:
    two = put(file.parent, {"two.toml": FILE + publish("more", "visitors", epsilon=1)})
    for words, said in [
        ((file, "bat"), "the table has no place 'bat'"), ((file, "bar", "--at-most", "-1"), "the threshold is '-1'"),
        ((file, "bar", "--at-most", "x"), "threshold"),
        ((file, "bar", "--only", "sage"), "no [[table]] named 'sage'"),
        ((two, "bar"), "the file has 2 tables"), ((two, "bar", "--only", "more"), "does not say which places are safe"),
        ((file.parent / "no.toml", "bar"), "no.toml"),
    ]:  # fmt: skip
        assert said in words_of(ended(BAD_INPUT, "session", *words))
        assert not (file.parent / "ledger.db").exists()
    put(file.parent, {"two.toml": FILE + publish("safe-session", "visitors", epsilon=1)})
    assert "has a table 'safe-session'" in words_of(ended(BAD_INPUT, "session", two, "bar", "--only", "safe"))
    put(file.parent / "out", {"safe-session.csv": "mine"})
    assert "safe-session.csv in" in words_of(ended(BAD_INPUT, "session", file, "inn"))
    assert not (file.parent / "ledger.db").exists()


def test_a_budget_that_is_too_small_and_one_that_is_missing(file: Path) -> None:
    put(file.parent, {file.name: changed(FILE, ("budget = 60.0", "budget = 59.0"))})
    assert "write budget = " in words_of(ended(REFUSED, "session", file, "inn"))
    assert not (file.parent / "out").exists()
    put(file.parent, {file.name: changed(FILE, ("budget = 60.0\n", ""))})
    assert not (file.parent / "ledger.db").exists()
    said = words_of(succeed("session", file, "inn", "--end"))
    assert "no budget is declared" in said
    assert "safe-session: the session has ended" in said
    file.write_text(f"require_ledger = true\n{file.read_text()}")
    (file.parent / "ledger.db").rename(file.parent / "away.db")
    shutil.rmtree(file.parent / "out")
    assert "there is no ledger" in words_of(ended(BAD_INPUT, "session", file, "pub"))
    assert not (file.parent / "ledger.db").exists()


def test_a_window_of_a_calendar_has_a_session_of_its_own(tmp_path: Path) -> None:
    spec = release_text(
        read_from("evening", "visits.csv", unit="who", value="where", rows="visits", order="when",
                  step="1h", from_="2026-01-05", until="2026-01-05T02:00", budget=2 * SURE),
        believe("asymmetric", places=["bar", "gym"], most=1), hide(visits="all"),
        publish("safe", "safe", at_most=1, epsilon=SURE, every="hour"), output="out",
    )  # fmt: skip
    rows = "who,where,when\nAna,bar,2026-01-05T00:10\nBen,bar,2026-01-05T00:20\nAna,gym,2026-01-05T01:30\n"
    file = put(tmp_path / "evening", {"hours.toml": spec, "visits.csv": rows})
    assert "the file has 2 tables" in words_of(ended(BAD_INPUT, "session", file, "bar", "--only", "safe"))
    document = json_of("session", file, "bar", "--window", "2026-01-05T00")
    assert (document["session"], answers(document)) == ("safe-2026-01-05T00-session", [("bar", 1, 2)])
    assert answers(json_of("session", file, "bar", "--only", "safe-2026-01-05T01")) == [("bar", 1, "safe")]
    assert answers(json_of("session", file, "gym", "--only", "safe-2026-01-05T00"))[1] == ("gym", 1, "safe")
    assert (payments(file), spent(file)) == (2, "epsilon 120")


@pytest.mark.mutants
def test_a_ledger_from_before_is_noticed(file: Path) -> None:
    succeed("session", file, "inn")
    ledger, copy = file.parent / "ledger.db", file.parent / "copy.db"
    shutil.copy(ledger, copy)
    succeed("session", file, "bar")
    newest = ledger.read_bytes()
    shutil.copy(copy, ledger)
    assert "has answers that the ledger" in words_of(ended(BAD_INPUT, "session", file, "gym"))
    put(file.parent, {file.name: changed(FILE, ('output = "out"', 'output = "elsewhere"'))})
    assert "has answers that the ledger" in words_of(ended(BAD_INPUT, "session", file, "gym"))
    ledger.write_bytes(newest)
    assert len(answers(json_of("session", file, "gym"))) == 3
    assert (file.parent / "elsewhere" / "safe-session.csv").exists()


@pytest.mark.mutants
def test_what_a_session_has_published_is_known_while_it_goes_on_and_after_its_end(file: Path) -> None:
    """It was once called a second draw, and the command that was printed charged the session again."""
    ledger, out, before = file.parent / "ledger.db", file.parent / "out", file.parent / "before"
    succeed("session", file, "inn")
    shutil.copytree(out, before)
    for words in (["bar"], ["--end"]):
        succeed("session", file, *words)
        for folder in (out, before):
            succeed("ledger", "verify", ledger, folder)
            assert "nothing to enter" in words_of(succeed("ledger", "import-certificates", ledger, folder, "--yes"))
    assert spent(file) == "epsilon 60"


def test_whoever_is_stopped_goes_on(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("takifugu.releasing.publishing.session.place", raising(KeyboardInterrupt()))
        outcome = ended(STOPPED, "session", file, "inn")
    assert "State of the release: drawn, not published" in words_of(outcome)
    said = words_of(ended(UNPUBLISHED, "ledger", "resume", file.parent / "ledger.db"))
    assert f"takifugu session {file}" in said
    assert answers(json_of("session", file)) == [("inn", 2, "safe")]
    assert payments(file) == 1


def test_a_question_after_the_last_answer_of_another_process_has_no_answer(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the file with another folder has another lock: "None" was kept, which no later call could read."""
    ask(load(file), ["bar"])
    book = Ledger.open(file.parent / "ledger.db")
    (paid,) = book.pending()

    def meanwhile(*_: Any) -> list[int]:
        book.answer(paid.group, 1, ('["gym", 2]', "7"))
        return [4, 7, 1, 0]

    monkeypatch.setattr(sessions, "answer_of", meanwhile)
    with pytest.raises(LedgerError, match="asked the last question"):
        ask(load(file), ["pub"])
    monkeypatch.undo()
    assert [reply.value for reply in ask(load(file), is_last=True).replies] == [4, 7]


def test_nobody_learns_a_count_from_what_goes_wrong(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.numbers.noise.geometric", raising(ValueError(COUNTS["gym"])))
    said = words_of(invoke("session", file, "gym"))
    assert "a fault of Takifugu itself (ValueError" in said
    assert "State of the release: paid, not drawn" in said
    monkeypatch.undo()
    assert answers(json_of("session", file, "gym")) == [("gym", 2, 7)]
    assert payments(file) == 1


SPEC = changed(
    FILE, ("budget = 60.0", "budget = 400"), (', "pub"', ""), ("at_most = 2", "at_most = 0"),
    ("epsilon = 60.0", "epsilon = 0.01"),
)
FEW_ROWS = "who,where\nAna,bar\nBen,bar\nBen,gym\n"
#: Somebody is at each, so none is safe; noise is far above two people: a second draw would be another number.
PLACES = ("bar", "gym")
Answers = list[tuple[str, str]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("prepared") / "new", {"evening.toml": SPEC, "visits.csv": FEW_ROWS}).parent


def in_ledger(folder: Path) -> tuple[list[str], Answers]:
    """Return the states of all payments, and the answers in the ledger, read without any of its code."""
    if not (folder / "ledger.db").exists():
        return [], []
    with closing(sqlite3.connect(f"file:{folder / 'ledger.db'}?mode=ro", uri=True)) as connection:
        events = [json.loads(body) for (body,) in connection.execute("select body from events order by number")]
        waiting = connection.execute("select body from waiting order by name, number").fetchall()
    answers: Answers = []
    for (body,) in waiting:
        question, answer, _ = json.loads(zlib.decompress(body))
        answers.append((json.loads(question)[0], answer))
    states = {event["group"]: "reserved" for event in events if event["kind"] == "paid"}
    states |= {event["group"]: "drawn" for event in events if event["kind"] == "kept"}
    states |= {event["group"]: "over" for event in events if event["kind"] == "over"}
    return [*states.values()], answers


def in_folder(folder: Path) -> Answers:
    """Return the answers in the folder; a table has its own certificate, or none is there."""
    certificate = folder / "out" / "safe-session.certificate.json"
    if not certificate.exists():
        assert not (folder / "out" / "safe-session.csv").exists()
        return []
    return [*json.loads(certificate.read_text())["answers"][0]["values"].items()]


def played(prepared: Path, folder: Path, fault: Fault) -> list[str]:
    """Break a call once, repeat it, and return the states that the break left."""
    shutil.copytree(prepared, folder)
    words = ["session", str(folder / "evening.toml"), *PLACES]
    broken = run(words, folder, fault)
    states, ledger = in_ledger(folder)
    out = in_folder(folder)
    assert len(states) <= 1, "paid twice"
    if ledger:
        assert out == ledger[: len(out)], "published before it was kept"
    again = run(words, folder)
    assert again.code == (0 if states != ["over"] else 2), (fault, broken, again)
    assert in_ledger(folder) == (["over"], [])
    last = in_folder(folder)
    assert last[: len(out)] == out
    assert last[: len(ledger)] == ledger, "answered twice"
    assert [place for place, _ in last] == [*PLACES]
    return states


def test_some_steps(prepared: Path, tmp_path: Path) -> None:
    played(prepared, tmp_path / "late", Fault("kill", len(steps(prepared, tmp_path / "whole")) * 3 // 4))


def steps(prepared: Path, folder: Path) -> str:
    shutil.copytree(prepared, folder)
    whole = run(["session", str(folder / "evening.toml"), *PLACES], folder)
    assert whole.code == 0, whole
    return whole.steps


@pytest.mark.slow
def test_a_kill_at_every_commit_and_rename_in_turn(prepared: Path, tmp_path: Path) -> None:
    taken = steps(prepared, tmp_path / "whole")
    chosen = [at for at, letter in enumerate(taken) if letter in "cr"]
    states = [played(prepared, tmp_path / str(at), Fault("kill", at)) for at in chosen]
    assert [["reserved"] in states, ["drawn"] in states, ["over"] in states] == [True] * 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAULTS)
def test_whatever_goes_wrong_at_some_steps(prepared: Path, tmp_path: Path, kind: str) -> None:
    taken = len(steps(prepared, tmp_path / "whole"))
    for at in range(3, taken, 20):
        played(prepared, tmp_path / str(at), Fault(kind, at))
