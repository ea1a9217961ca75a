"""The commands about a ledger: what they print, their JSON, how they end, and bad input, which harms nothing."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.support import postgresql
from tests.support.commands import ended, invoke, json_of, refused, succeed, widest, words_of
from tests.support.ledger_edits import debit, pay, published
from tests.support.ledger_tools import one_thing, with_delta
from tests.support.release_files import believe, read_from, release_text
from tests.support.release_files import publish as publish_table
from tests.support.releases import put
from tests.support.statements import publish, written

from takifugu.accounting.ledger import Debit, Ledger
from takifugu.accounting.ledger.events.sqlite import Sqlite
from takifugu.releasing.certificates.facts import checksum_of

TOP = {"format", "command", "file"}
TENTH = {"epsilon": "0.1", "delta": "0"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a ledger of two sources: published, declared to be the same, waiting; and what it published."""
    monkeypatch.chdir(tmp_path)
    book = Ledger.open("l.db")
    publish(book, pay(book, debit(name="minutes"), budget=9), Path("out"))
    pay(book, debit(name="again"), entries="other", same_entries=True, why="the export was corrected")
    weekly = debit(["x"], "3/10", name="weekly")
    publish(book, pay(book, weekly, source="friends", same_people=True, budget=9), Path("out"))
    return tmp_path


def restored(place: Path) -> None:
    """Put a ledger in its place that knows the first release alone."""
    (place / "l.db").unlink()
    book = Ledger.open(place / "l.db")
    book.adopt([json.loads((place / "out" / "minutes.certificate.json").read_text())["ledger"]])


# show


def test_show_says_what_is_spent_what_waits_and_what_was_declared(place: Path) -> None:
    outcome = succeed("ledger", "show", "l.db")
    assert widest(outcome.output) <= 80
    for words in (
        "source 'data' spent epsilon 0.2 budget epsilon 9 releases 2, 1 of them not published",
        "0.1 published minutes", "0.1 reserved again", "source 'friends'", "0.3 published weekly",
        "declared to be the same entries, 'these' and 'other': the export was corrected",
        "the sources of a ledger are about the same people",
        "their epsilon counts as spent, and `takifugu ledger resume l.db` finishes them",
    ):  # fmt: skip
        assert words in words_of(outcome), words
    document = json_of("ledger", "show", "l.db")
    assert (document["file"], document["id"]) == ("l.db", Ledger.open("l.db").id)
    data, friends = document["sources"]
    assert (data["spent"]["epsilon"], data["budget"]["epsilon"], data["budget_is_implied"]) == ("0.2", "9", False)
    assert (data["unpublished"], friends["unpublished"]) == (1, 0)
    (said,) = data["declarations"]
    assert (said["same_entries"], said["why"]) == (["these", "other"], "the export was corrected")
    assert [(one["name"], one["state"], one["promised"]) for one in data["releases"]] == [
        ("minutes", "published", TENTH), ("again", "reserved", TENTH)
    ]  # fmt: skip


def test_show_of_every_state(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "l.db")
    assert words_of(succeed("ledger", "show", tmp_path / "l.db")) == "the ledger has no sources yet"
    other = Ledger.open(tmp_path / "other.db")
    groups = [pay(book, debit(name=name), budget=9).group for name in ("a", "b", "c")]
    book.keep(groups[1], b"values")
    book.finish(groups[2], "nobody wants it")
    framework = one_thing()
    debits = Debit(framework, with_delta(framework, "1/4"), ["ann"], "d")
    book.adopt([published(other, debits, source="other")])
    data, adopted = json_of("ledger", "show", tmp_path / "l.db")["sources"]
    assert [one["state"] for one in data["releases"]] == ["reserved", "drawn", "closed"]
    assert [one["state"] for one in adopted["releases"]] == ["adopted"]
    said = words_of(succeed("ledger", "show", tmp_path / "l.db"))
    assert "(what the first release cost: none was declared)" in said
    assert "date epsilon delta state release" in said
    assert "0.25 0.001 adopted d" in said


def test_long_names_fit_into_the_tables(tmp_path: Path) -> None:
    book = Ledger.open(tmp_path / "l.db")
    pay(book, debit(name="t" * 64), source="a very long study " * 6, entries="an entry " * 9)
    assert widest(succeed("ledger", "show", tmp_path / "l.db").stdout, tmp_path, "t" * 64) <= 80


@pytest.mark.mutants
def test_a_command_opens_a_ledger_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, real = list[str](), Sqlite._opened

    def counted(store: Sqlite) -> sqlite3.Connection:
        opened.append(Path(store.name).name)
        return real(store)

    put(place, STEPS)
    monkeypatch.setattr(Sqlite, "_opened", counted)
    for words in (
        "ledger show l.db", "ledger verify l.db out", "ledger set-budget l.db data 10", "ledger resume l.db",
        "ledger import-certificates l.db out --yes", "release steps.toml --allow-useless",
        "release steps.toml --allow-useless", "cost steps.toml", "advise steps.toml",
    ):  # fmt: skip
        opened.clear()
        invoke(*words.split())
        assert opened == ["steps.db" if "steps" in words else "l.db"], words
    assert len(Ledger.open("steps.db").payments("steps")) == 1


STEPS = {
    "steps.toml": release_text(
        read_from("steps", "steps.csv", order="minute", value="doing", step="1min", from_="2026-01-05",
                  until="2026-01-06", budget=9),
        believe("markov-chain", states=[0, 1], matrix=[[0.9, 0.1], [0.4, 0.6]], source="made up"),
        publish_table("busy", "count", states=[1], every="day", epsilon=1), ledger="steps.db",
    ),
    "steps.csv": "minute,doing\n2026-01-05T00:00,0\n2026-01-05T00:01,1\n",
}  # fmt: skip


# set-budget


def test_a_budget_is_set_on_purpose(place: Path) -> None:
    raised = json_of("ledger", "set-budget", "l.db", "data", "12.5", "--delta", "1e-6")
    assert set(raised) == {*TOP, "source", "spent", "before", "budget"}
    assert (raised["before"]["epsilon"], raised["budget"]) == ("9", {"epsilon": "12.5", "delta": "1/1000000"})
    said = words_of(succeed("ledger", "set-budget", "l.db", " data ", "11"))
    assert said == (
        "the source 'data' may spend epsilon 11 (before: epsilon 12.5, delta 1e-6); it has spent epsilon 0.2"
    )
    assert [source.budget.epsilon for source in Ledger.open("l.db").show() if source.budget] == [11, 9]


@pytest.mark.parametrize(("words", "says"), [
    (("set-budget", "{}", "data", "0.1"), "has spent"),
    (("set-budget", "{}", "data", "none"), "the budget's epsilon"),
    (("set-budget", "{}", "dta", "5"), "no source 'dta'"),
    (("set-budget", "{}", "data", "5", "--delta", "2"), "delta"),
    (("set-budget", "none.db", "data", "5"), "there is no ledger 'none.db'"),
    (("show", "none.db"), "there is no ledger 'none.db'"),
    (("show", "out"), "is no file"),
    (("show", "out/minutes.certificate.json"), "is not a ledger"),
    (("show", "mysql://me:secret@host/x"), "a ledger on 'mysql' is not supported"),
    (("show", ":memory:"), "a ledger must outlive the program"),
    (("verify", "none.db"), "there is no ledger 'none.db'"),
    (("verify", "{}", "none"), "'none' is not a folder"),
    (("import-certificates", "{}", "none"), "'none' is not a folder"),
    (("import-certificates", "out", "out"), "is no file"),
])  # fmt: skip
def test_a_ledger_refuses_what_is_wrong(place: Path, words: tuple[str, ...], says: str) -> None:
    before = Path("l.db").read_bytes()
    said = refused("ledger", *(word.format("l.db") for word in words))
    assert says in said
    assert "secret" not in said
    assert Path("l.db").read_bytes() == before
    assert not Path("none.db").exists()


# verify


def test_verify_finds_nothing_in_what_is_whole(place: Path) -> None:
    assert words_of(succeed("ledger", "verify", "l.db")).startswith("the ledger is what its events say")
    said = words_of(succeed("ledger", "verify", "l.db", "out"))
    assert said.endswith("it knows every release that a certificate there says a ledger paid for")
    assert json_of("ledger", "verify", "l.db", "out") == {
        "format": "takifugu-cli/1", "command": "ledger verify", "file": "l.db",
        "differences": [], "missing": [], "unpaid": [],
    }  # fmt: skip


def test_verify_names_totals_that_are_too_low(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "check", lambda _: ("event 3: 'data' had spent epsilon 2, and epsilon 1 is noted",))
    outcome = ended(2, "ledger", "verify", "l.db")
    assert "'data' had spent epsilon 2" in outcome.stdout
    said = words_of(outcome)
    assert "the ledger 'l.db' was edited or damaged (differences: 1): nothing is to be paid with it" in said
    assert "import the certificates of what was published since" in said
    assert json.loads(ended(2, "ledger", "verify", "l.db", "--json").stdout)["differences"]


def test_verify_names_what_certificates_know_and_the_ledger_does_not(place: Path) -> None:
    restored(place)
    written(place / "out", "free", None)
    outcome = ended(2, "ledger", "verify", "l.db", "out")
    said = words_of(outcome)
    assert "weekly: this ledger does not know that it was paid for" in said
    assert "without a ledger, and counted nowhere: free" in said
    assert "minutes:" not in said
    assert "enter them: `takifugu ledger import-certificates l.db out`" in said
    assert json.loads(ended(2, "ledger", "verify", "l.db", "out", "--json").stdout)["unpaid"] == ["free"]
    succeed("ledger", "import-certificates", "l.db", "out", "--yes")
    succeed("ledger", "verify", "l.db", "out")


# import-certificates


def test_what_a_ledger_lacks_is_entered_after_its_price_was_agreed_to(place: Path) -> None:
    restored(place)
    before = Path("l.db").read_bytes()
    entering = ("ledger", "import-certificates", "l.db", "out")
    said = words_of(ended(2, *entering))
    assert "source 'friends', which has spent epsilon 0, would have spent with release epsilon delta" in said
    assert "weekly 0.4 0" in said
    assert "the sources of a ledger are about the same people" in said
    assert "nobody is there to be asked: look at the prices, and add --yes" in said
    assert Path("l.db").read_bytes() == before
    document = json_of(*entering, "--yes")
    assert set(document) == {*TOP, "sources", "unpaid"}
    assert document["sources"] == [{
        "name": "friends", "releases": ["weekly"], "before": {"epsilon": "0", "delta": "0"},
        "after": [{"epsilon": "0.4", "delta": "0"}], "spent": {"epsilon": "0.4", "delta": "0"},
    }]  # fmt: skip
    assert json_of(*entering)["sources"] == []
    assert "nothing to enter: the ledger knows every release" in words_of(succeed(*entering))
    assert Ledger.open("l.db").check() == ()


def test_a_ledger_that_is_lost_is_made_anew_from_certificates(place: Path) -> None:
    Path("l.db").unlink()
    entering = ("ledger", "import-certificates", "l.db", "out")
    said = words_of(ended(2, *entering))
    assert "there is no ledger 'l.db': a new one will know these releases alone" in said
    assert not Path("l.db").exists()
    done = words_of(succeed(*entering, "--yes"))
    assert "entered as spent: weekly about 'friends'; the source has now spent epsilon 0.4" in done
    assert [str(one.spent) for one in Ledger.open("l.db").show()] == ["epsilon 0.4"] * 2
    succeed("ledger", "verify", "l.db", "out")


@pytest.mark.parametrize("agreed", [True, False])
def test_whoever_reads_the_price_decides(place: Path, monkeypatch: pytest.MonkeyPatch, agreed: bool) -> None:
    from takifugu.cli import ledgers

    restored(place)
    monkeypatch.setattr(ledgers, "agreed", lambda _: agreed)
    said = words_of(succeed("ledger", "import-certificates", "l.db", "out"))
    assert ("nothing was entered" in said) is not agreed
    assert len(Ledger.open("l.db").show()) == 1 + agreed


def test_an_altered_certificate_with_a_checksum_of_its_own_is_taken_at_its_word(place: Path) -> None:
    """Nothing is signed: the words say what is believed, before anything is entered."""
    restored(place)
    path = place / "out" / "weekly.certificate.json"
    data = json.loads(path.read_text())
    for line in data["ledger"]["lines"]:
        line["charge"].update(epsilon="0.01", scale="600")
    path.write_text(json.dumps(data))
    for words in (("import-certificates", "l.db", "out", "--yes"), ("verify", "l.db", "out")):
        assert "weekly.certificate.json: this file was changed after it was written" in refused("ledger", *words)
    path.write_text(json.dumps({**data, "checksum": checksum_of(data)}))
    said = words_of(ended(2, "ledger", "import-certificates", "l.db", "out"))
    assert "weekly 0.11 0" in said  # and 0.4 it was
    believed = "Each certificate is taken at its word, with the noise, the beliefs and the entries"
    assert believed in said
    assert "An altered one can cost less than its release did" in said
    assert believed not in words_of(succeed("ledger", "import-certificates", "l.db", "out", "--yes", "--json"))
    assert believed not in words_of(succeed("ledger", "import-certificates", "l.db", "out"))  # nothing is to be entered


# Addresses


def test_an_address_is_shown_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://ann:secret@127.0.0.1:1/study?ledger=nights&connect_timeout=1"
    for command in (("show", address), ("show", address, "--json"), ("verify", address), ("resume", address)):
        outcome = ended(2, "ledger", *command)
        assert "secret" not in outcome.output
        if "--json" in command:
            assert json.loads(outcome.stdout)["file"].startswith("postgresql://127.0.0.1:1/study?ledger=nights")


@pytest.mark.slow
@postgresql.needed
def test_a_ledger_in_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same commands, with an address in the place of a path."""
    monkeypatch.chdir(tmp_path)
    with postgresql.cluster() as url:
        one, other = f"{url}&ledger=one", f"{url}&ledger=other"
        with closing(Ledger.open(one)) as book:
            publish(book, pay(book, debit(name="minutes"), budget=9), Path("out"))
            pay(book, debit(name="again"))
        said = words_of(succeed("ledger", "show", one))
        assert "0.1 published minutes" in said
        assert "user=owner" not in said
        assert "ledger=one" in said  # in the command that finishes what waits
        assert "may spend epsilon 12" in words_of(succeed("ledger", "set-budget", one, "data", "12"))
        for words in (("show", other), ("verify", other), ("import-certificates", other, "out")):
            assert "there is no ledger" in words_of(ended(2, "ledger", *words))
        succeed("ledger", "import-certificates", other, "out", "--yes")
        succeed("ledger", "verify", other, "out")
        assert json_of("ledger", "show", other)["sources"][0]["spent"] == TENTH
