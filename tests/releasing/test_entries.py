"""Entries have names: what is not known to be about the same entries is asked about, with both prices, or refused."""

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.releasing.test_readings import release_file, ward
from tests.support.commands import ended, succeed, words_of
from tests.support.release_files import changed
from tests.support.releases import paid, refused

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.cli.group import BAD_INPUT
from takifugu.core.errors import Fault, InputError, PeopleUndeclared, ReadingChanged
from takifugu.releasing.file.loading import load

CHAIN = [[0.9, 0.1], [0.3, 0.7]]
WEEK = 168


def counted(query: Any = None, length: int = WEEK) -> Any:
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(CHAIN, length, initial="stationary"))
    return tf.calibrate(framework, query or tf.Count(1), "0.2", mechanism="influence")


def spent(where: Path, source: str = "data") -> Fraction:
    return Ledger.open(where).spent(source).epsilon


def release(where: Path, query: Any = None, **options: Any) -> None:
    tf.release(counted(query), [0] * WEEK, ledger=where, budget=99, **options)


# LEDGER's table of stories, in Python: weekly counts of 168 hours at epsilon 0.2, chain [[.9, .1], [.3, .7]].


def test_a_table_and_the_corrected_table_of_one_name(tmp_path: Path) -> None:
    for _ in range(2):
        release(tmp_path / "a.db", entries="week")
    assert 0.4 <= spent(tmp_path / "a.db") < 0.45


def test_a_count_and_a_later_histogram_of_named_entries(tmp_path: Path) -> None:
    release(tmp_path / "a.db", entries="week")
    release(tmp_path / "a.db", tf.Histogram(), entries="week")
    assert 0.4 <= spent(tmp_path / "a.db") < 0.45


def test_the_same_where_nothing_is_said_is_refused_with_both_remedies_and_prices(tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    release(where, entries="week")
    before = where.read_bytes()
    with pytest.raises(ReadingChanged) as caught:
        release(where, tf.Histogram())
    said = str(caught.value)
    assert "nothing names the entries" in said
    assert "entries='...' in Python" in said
    assert "--same-entries WHY (same_entries='...' in Python): 'data' goes from epsilon 0.2 to epsilon 0.4" in said
    assert "--other-entries (other_entries=True in Python): 'data' goes from epsilon 0.2 to epsilon 8.4" in said
    assert where.read_bytes() == before
    release(where, tf.Histogram(), same_entries="told")
    assert spent(where) < 0.45
    with pytest.raises(ReadingChanged):  # what was said of one release is not said of the next
        release(where)
    release(where, other_entries=True)
    assert spent(where) > 8
    assert Ledger.open(where).check() == ()


def test_the_first_release_has_a_name_too(tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    with pytest.raises(ReadingChanged, match="nothing names the entries"):
        release(where)
    with pytest.raises(InputError, match="nothing was released about the source"):
        release(where, same_entries="told")
    assert not Ledger.open(where).show()
    release(where, other_entries=True)
    assert spent(where) == Fraction("0.2")


def test_without_a_ledger_nothing_needs_a_name() -> None:
    with pytest.warns(UserWarning, match="nobody is counting"):
        tf.release(counted(), [0] * WEEK)


def test_weeks_of_one_recording_cost_what_the_first_one_cost(tmp_path: Path) -> None:
    for week in range(6):
        release(tmp_path / "a.db", entries="hours", at=WEEK * week)
    assert spent(tmp_path / "a.db") < 0.21


def test_both_answers_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the same, and others"):
        release(tmp_path / "a.db", entries="x", same_entries="told", other_entries=True)
    for odd in (None, 1, True, "WHY"):  # which stands in the printed line
        with pytest.raises(InputError, match="write why they are the same"):
            release(tmp_path / "a.db", entries="x", same_entries=odd)
    for odd in ("", "  ", 7):
        with pytest.raises(InputError, match="what is measured"):
            release(tmp_path / "a.db", entries=odd)


def test_a_payment_without_a_name_is_completed_and_not_paid_twice(tmp_path: Path, monkeypatch: Any) -> None:
    from takifugu.releasing.publishing import library

    where = tmp_path / "a.db"
    with monkeypatch.context() as patched:
        patched.setattr(library, "releases_of", lambda _: 1 / 0)
        with pytest.raises(Fault):
            release(where, other_entries=True)
    release(where, other_entries=True)
    assert len(Ledger.open(where).payments("data")) == 1


# Release files.


def minutes(folder: Path, name: str, start: int, count: int = 4, order: str = "n") -> None:
    rows = [f"{start + n},{dt.datetime(2026, 1, 5) + dt.timedelta(minutes=start + n)},calm" for n in range(count)]
    (folder / name).write_text("\n".join(["n,t,state", *rows, ""]))


def file_of(folder: Path, data: str, more: str = "", order: str = "n", step: str = "1") -> Path:
    source = f'value = "state"\norder = "{order}"\nstep = {step}\n{more}'
    return release_file(folder, data, source, "max_length = 100", 'states = ["busy"]\nmechanism = "quilt-exact"')


@pytest.mark.parametrize(("data", "more", "order", "step", "line"), [
    ("march.csv", "", "n", "1", "march.csv"),
    ("m-2026-03.csv", "", "n", "1", "m-2026-03.csv"),
    ("m-2026-03.csv", "", "t", '"1min"', "m-*.csv"),
    ("20260305_m.csv", "", "t", '"1min"', "*_m.csv"),
    ("m-2026-W07.csv", "", "t", '"1min"', "m-*.csv"),
    ("m-05.03.2026.csv", "", "t", '"1min"', "m-*.csv"),
    ("m-2026-03-05T0600Z.csv", "", "t", '"1min"', "m-*.csv"),
    ("room 2031x7.csv", "", "t", '"1min"', "room 2031x7.csv"),
    ("sensor-1987654321.csv", "", "t", '"1min"', "sensor-1987654321.csv"),
    ("2026-03-05_07.csv", "", "t", '"1min"', "*_07.csv"),
    ("7-2026-03-05.csv", "", "t", '"1min"', "7-*.csv"),
    ("sensor12.csv", "", "t", '"1min"', "sensor12.csv"),
    ("march.csv", 'entries = "posture"', "n", "1", "posture"),
])  # fmt: skip
def test_the_name_is_that_of_the_file(
    tmp_path: Path, data: str, more: str, order: str, step: str, line: str
) -> None:
    minutes(tmp_path, data, 0)
    assert load(file_of(tmp_path, data, more, order, step)).entries == line


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("one", "other"), [
    ("sensor-2031.csv", "sensor-2045.csv"), ("meter 1987654321.csv", "meter 2012345678.csv"),
    ("2026-01-05_07.csv", "2026-01-05_08.csv"), ("7-2026-01-05.csv", "8-2026-01-05.csv"),
])  # fmt: skip
def test_numbers_of_sensors_are_no_dates(tmp_path: Path, one: str, other: str) -> None:
    """What another sensor wrote at the same times was charged as the same entries, 2 steps for up to a whole file."""
    for name in (one, other):
        minutes(tmp_path, name, 0)
    assert paid(file_of(tmp_path, one, "", "t", '"1min"')) == 1
    error = refused(file_of(tmp_path, other, "", "t", '"1min"'), kind=ReadingChanged, idempotency_key="2", replace="t")
    assert f'now:    entries: "{_undated(other)}"' in str(error)


def _undated(name: str) -> str:
    return name.replace("2026-01-05", "*")


def test_the_name_of_a_select_is_that_of_the_files_that_it_reads(tmp_path: Path) -> None:
    minutes(tmp_path, "m.csv", 0)
    sql = "sql = \"from read_csv('m.csv', all_varchar = true)\""
    path = file_of(tmp_path, "", sql)
    assert load(path).entries == "m.csv"


@pytest.mark.mutants
def test_another_file_name_is_asked_about_once(tmp_path: Path) -> None:
    for name in ("march.csv", "april.csv", "may.csv"):
        minutes(tmp_path, name, 0)
    assert paid(file_of(tmp_path, "march.csv")) == 1
    once_more = {"replace": "t", "idempotency_key": "2"}
    error = refused(file_of(tmp_path, "april.csv"), kind=ReadingChanged, allow_useless=True, **once_more)
    assert 'before: entries: "march.csv"\n  now:    entries: "april.csv"' in str(error)
    assert str(error).count("'s' goes from epsilon 1 to epsilon") == 2
    assert paid(file_of(tmp_path, "april.csv"), same_entries="told", **once_more) == pytest.approx(2)
    assert paid(file_of(tmp_path, "april.csv"), idempotency_key="3", replace="t") == pytest.approx(3)
    assert paid(file_of(tmp_path, "may.csv"), other_entries=True, idempotency_key="4", replace="t") >= 12


@pytest.mark.mutants
@pytest.mark.parametrize(("order", "step"), [("n", "1"), ("t", '"1min"')])
def test_the_next_week_in_a_file_of_one_name_is_asked_about(tmp_path: Path, order: str, step: str) -> None:
    """Its sequences start elsewhere, and nothing tells where: no value of theirs is known to be one of before."""
    costs = list[Fraction]()
    for number, (start, weights) in enumerate(((0, [0, 0, 0, 1]), (4, [1, 0, 0, 0]))):
        minutes(tmp_path, "m.csv", start)
        path = file_of(tmp_path, "m.csv", "", order, step)
        linear = f'query = "linear"\nweights = {weights}\ncodes = {{ calm = 0, busy = 1 }}'
        path.write_text(changed(
            path.read_text(), ("[[0.5,0.5],[0.5,0.5]]", "[[0.99, 0.01], [0.01, 0.99]]"),
            ('query = "count"\nstates = ["busy"]', linear),
        ))  # fmt: skip
        if costs:
            error = refused(path, kind=ReadingChanged, allow_useless=True, force=True, idempotency_key="1", replace="t")
            assert "now:    sequences start: elsewhere" in str(error)
            assert "never the same entries" in str(error)
        costs.append(paid(path, idempotency_key=str(number), replace="t", other_entries=bool(costs)))
    assert costs[0] <= 1
    assert costs[1] > 1.9  # the last step of the one tells of the first of the other


@pytest.mark.mutants
def test_recordings_of_other_names_are_asked_about(tmp_path: Path) -> None:
    """Each starts at its step 0: the second of one export, and the first of the next, were taken for two."""
    for names, weights in (("bc", [0, 0, 1, 0]), ("cd", [1, 0, 0, 0])):
        rows = "".join(f"{name},{n},busy\n" for name in names for n in range(2))
        (tmp_path / "m.csv").write_text(f"bout,n,state\n{rows}")
        path = file_of(tmp_path, "m.csv", 'recording = "bout"')
        linear = f'query = "linear"\nweights = {weights}\ncodes = {{ calm = 0, busy = 1 }}'
        path.write_text(changed(
            path.read_text(), ('query = "count"\nstates = ["busy"]', linear),
            ("max_length = 100", "max_length = 9\nrecordings_independent = true"),
        ))  # fmt: skip
        if names == "bc":
            assert paid(path) == 1
    error = refused(path, kind=ReadingChanged, allow_useless=True, idempotency_key="2", replace="t")
    assert "now:    sequences start: elsewhere, or in recordings of other names" in str(error)
    assert "never the same entries" in str(error)
    assert "--other-entries (other_entries=True in Python): 's' goes from epsilon 1 to epsilon 2" in str(error)


@pytest.mark.mutants
def test_recordings_that_are_longer_and_shorter_are_read_where_they_are(tmp_path: Path) -> None:
    """Of 6 steps in two recordings the 2nd was the first of the one, and the 6th is: once charged as two steps."""
    costs = []
    for lengths, entry in (((1, 5), 1), ((5, 1), 5)):
        rows = "".join(f"{bout},{n},busy\n" for bout, length in zip("bc", lengths, strict=True) for n in range(length))
        (tmp_path / "m.csv").write_text(f"bout,n,state\n{rows}")
        path = file_of(tmp_path, "m.csv", 'recording = "bout"')
        weights = [int(number == entry) for number in range(6)]
        linear = f'query = "linear"\nweights = {weights}\ncodes = {{ calm = 0, busy = 1 }}'
        path.write_text(changed(
            path.read_text(), ('query = "count"\nstates = ["busy"]', linear),
            ("max_length = 100", "max_length = 9\nrecordings_independent = true"),
        ))  # fmt: skip
        costs.append(paid(path, idempotency_key=f"{lengths}", replace="t"))
    assert costs == [1, 2]


def test_an_appended_file_keeps_its_places(tmp_path: Path) -> None:
    costs = []
    for number, count in enumerate((4, 8)):
        minutes(tmp_path, "m.csv", 0, count)
        costs.append(paid(file_of(tmp_path, "m.csv"), idempotency_key=str(number), replace="t"))
    assert costs == [1, pytest.approx(2)]


@pytest.mark.mutants
def test_a_frame_needs_a_name_where_it_has_no_times(tmp_path: Path) -> None:
    frame = pd.DataFrame({"n": range(4), "state": ["calm"] * 4})
    path = file_of(tmp_path, "m.csv")
    assert load(path, frame).entries is None
    with pytest.raises(ReadingChanged, match=r"entries under \[source\]"):
        paid(path, data=frame)
    assert paid(path, data=frame, other_entries=True) == 1
    named = file_of(tmp_path, "m.csv", 'entries = "posture"')
    assert paid(named, data=frame, same_entries="told", idempotency_key="2", replace="t") == pytest.approx(2)
    assert paid(named, data=frame, idempotency_key="3", replace="t") == pytest.approx(3)


@pytest.mark.mutants
def test_a_weekly_run_under_yes_goes_on_without_a_word(tmp_path: Path) -> None:
    succeed("release", ward(tmp_path, 2), "--allow-useless", "--yes")
    for weeks in (3, 4):
        said = words_of(succeed("release", ward(tmp_path, weeks), "--allow-useless", "--yes"))
        assert "entries" not in said.replace("same-entries", "")
    (tmp_path / "w.csv").rename(tmp_path / "w-2026-02-02.csv")
    assert spent(tmp_path / "a.db", "s") == 0.5


@pytest.mark.mutants
def test_under_yes_a_change_that_nobody_declared_is_refused(tmp_path: Path) -> None:
    succeed("release", ward(tmp_path, 2), "--allow-useless", "--yes")
    file = ward(tmp_path, 3, 'value = "state"', "value = \"nullif(state, 'NA')\"")
    before = (tmp_path / "a.db").read_bytes()
    said = words_of(ended(BAD_INPUT, "release", file, "--allow-useless", "--yes"))
    assert "are these the same entries?" in said
    assert "--same-entries" in said
    assert "--other-entries" in said
    assert (tmp_path / "a.db").read_bytes() == before
    succeed("release", file, "--allow-useless", "--yes", "--same-entries", "blanks were cut")
    assert spent(tmp_path / "a.db", "s") == 0.5


@pytest.mark.mutants
def test_a_zone_moves_cells_and_no_steps(tmp_path: Path) -> None:
    moments = ('order = "t"', "order = \"t::timestamp AT TIME ZONE 'Europe/Berlin'\"\ntimezone = \"{}\"")
    paid(ward(tmp_path, 2, moments[0], moments[1].format("Europe/Berlin")))
    assert paid(ward(tmp_path, 3, moments[0], moments[1].format("Europe/Paris")), window="2026-W04") == 0.5


# A second source of one ledger.


@pytest.mark.parametrize("unit", [None, "Ana"])
def test_a_second_source_is_asked_about_with_the_price(tmp_path: Path, unit: str | None) -> None:
    where, about = tmp_path / "a.db", {"entries": "week", "unit": unit}
    release(where, source="sleep", **about)
    before = where.read_bytes()
    with pytest.raises(PeopleUndeclared) as caught:
        release(where, source="work", **about)
    assert "same_people=True): each release about the one counts for the other, too; 'work' goes" in str(caught.value)
    assert 'ledger = "NAME-ledger.db" (ledger=...): other people' in str(caught.value)
    assert where.read_bytes() == before
    release(where, source="work", same_people=True, **about)
    assert spent(where, "work") > 8
    release(where, source="work", **about)
