"""What `takifugu init` asks of a table: what is offered, what is clear, and what answers decide."""

import json
import random
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pandas
import pytest
from tests.releasing.file.test_guessing import HELD_OUT, write
from tests.support.commands import ended, succeed
from tests.support.starting import FLAGS, subject_of, table_in

from takifugu.core.errors import InputError
from takifugu.releasing.file.guessing.notes import notes
from takifugu.releasing.file.questions.decision import answered, answered_clearly, decision
from takifugu.releasing.file.questions.question import Question, Subject

START = datetime(2026, 1, 5)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def table(folder: Path, header: str, rows: Sequence[str]) -> Subject:
    return subject_of(table_in(folder, header, rows))


def begun(folder: Path, header: str, rows: Iterable[str], *words: str) -> list[object]:
    """Write a table, and return the words of a command that drafts a release file about it."""
    return ["init", table_in(folder, header, rows), "-o", folder / "r.toml", "--yes", *words]


def draft_in(folder: Path) -> str:
    return (folder / "r.toml").read_text(encoding="utf-8")


def questions(subject: Subject, **said: str) -> dict[str, Question]:
    """Return the questions about a table, of which those that were not said are answered with what is offered."""
    offers = list[Question]()

    def offered(question: Question, _: object) -> str | None:
        offers.append(question)
        return question.offered

    pairs = answered(subject, said, offered)
    return {question.name: question for question in (*offers, *(question for question, _ in pairs))}


@pytest.mark.slow
def test_held_out_files_are_decided_rightly_or_asked_about(tmp_path: Path) -> None:
    decided = 0
    for name, (kind, *_) in HELD_OUT.items():
        subject = subject_of(write(tmp_path, name))
        unclear = [each for each in questions(subject).values() if each.must_be_clear and not each.is_clear]
        said = {"timezone": "UTC"} if [each.name for each in unclear] == ["timezone"] else {}  # nobody sees it in rows
        unclear = [] if said else unclear
        if unclear:
            with pytest.raises(InputError, match=re.escape(f"--{FLAGS.get(unclear[0].name, unclear[0].name)} ")):
                answered_clearly(subject, {})
            assert {question.name for question in unclear} <= {"rows", "whose", "when", "secret", "publish", "timezone"}
        else:
            decided += 1
            assert decision(subject, answered_clearly(subject, said)).kind == kind, name
    assert decided * 3 >= len(HELD_OUT), "it asks nearly always"


BADGES = random.Random(3)
LOG = [f"{1 + minute // 60:02d}.04.2026;08:{minute % 60:02d};{badge:05d};{BADGES.choice(['IN', 'OUT'])}"
       for minute in range(900) for badge in BADGES.sample(range(30), 2)]  # fmt: skip
DRAW = random.Random(4)
CASES = [f"{at(n**1.9)},{'ab'[n * n % 7 < 3]} run,{'xy'[n * n % 5 < 2]},{n * 37 % 900},{n * 53 % 997}"
         for n in range(240)]  # fmt: skip
PLACES = [f"{n},o{n % 50},52.{n * 7919},4.{n * 7907}" for n in range(240)]
DAYS = [f"2026-03-{1 + n % 9:02},household {n % 4},{'on' if n % 3 else 'off'}" for n in range(40)]
#: Tables by what shows in them: their header, their rows, what is said, and a question, what it offers, if clearly.
OFFERS: dict[str, tuple[str, Sequence[str], dict[str, str], str, str | None, bool | None]] = {
    "a log of two people at a time, the newest first, whose names no list knows": (
        "Datum;Uhrzeit;Ausweis;Richtung", LOG[::-1], {}, "whose", "Ausweis", False),
    "of two ids, one inside the other, the larger": (
        "session_uid,card,minute,state",
        [f"s{k // 20},c{k // 20 % 7},{k % 20},{DRAW.choice('ab')}" for k in range(600)],
        {}, "whose", "card", False),
    "people and what they use": (
        "station_id,user_id,minute,state",
        [f"T{DRAW.randrange(9)},u{k % 30},{k // 30},{DRAW.choice('ab')}" for k in range(600)],
        {}, "whose", "user_id", False),
    "a thing and whose it is, in a word that no list knows": (
        "Sensor,Zeitpunkt,Bewohner,Aktivität",
        [f"{DRAW.randrange(9)},{at(7 * k + k % 3)},W-0{k % 4},{'BKS'[k * k % 3]}" for k in range(400)],
        {"rows": "changes"}, "whose", "Sensor", False),
    "a thing and its state": (
        "Sensor,Zeitpunkt,Zustand", [f"{k % 9},{at(7 * k + k % 3)},{'BKS'[k * k % 3]}" for k in range(400)],
        {"rows": "changes"}, "whose", "Sensor", True),
    "several rows of each are no separate cases": (
        "day,household,boiler", DAYS, {"rows": "answers"}, "whose", None, None),
    "several rows of each are samples": (
        "day,household,boiler", DAYS, {"rows": "samples"}, "whose", "household", None),
    "places are visits": ("id,owner,lat,lon", PLACES, {}, "rows", "visits", None),
    "all places of an owner are hidden together": ("id,owner,lat,lon", PLACES, {}, "whose", "owner", None),
    "cases with a time may be all of one person": (
        "Activity ID,Activity Date,Activity Name,Type,Distance,Height",
        [f"{7000 + n},{case}" for n, case in enumerate(CASES)], {}, "rows", "answers", False),
    "cases with a time of patients": (
        "patient_id,Date,Group,Type,Weight,Height", [f"{7000 + n},{case}" for n, case in enumerate(CASES)],
        {}, "rows", "answers", True),
    "what is published is neither everywhere the same nor whose it is": (
        "bike_type,started,ended,bike_id,member_casual",
        [f"classic,{at(60 * n)},{at(60 * n + 9)},W{n % 25},{'mc'[n * n % 3]}" for n in range(240)],
        {"rows": "stays", "whose": "bike_id"}, "publish", "member_casual", None),
}  # fmt: skip


@pytest.mark.parametrize("name", OFFERS)
def test_what_is_offered_and_whether_it_is_clear(tmp_path: Path, name: str) -> None:
    header, rows, said, subject, offered, is_clear = OFFERS[name]
    question = questions(table(tmp_path, header, rows), **said)[subject]
    if subject == "whose" and not question.is_clear:  # it comes first, and Enter asks again
        assert question.offered is None
        assert question.choices[0].name == (offered or "-")
    else:
        assert question.offered == offered
    assert is_clear in (None, question.is_clear)
    if name.startswith("of two ids"):
        assert "session_uid" in [choice.name for choice in question.choices]
    if name.endswith("all of one person"):
        assert "if one person has several rows, this protects too little" in question.why


@pytest.mark.parametrize("header", ["who,ended,minutes,ward", "who,started,minutes,ward"])
def test_a_time_beside_a_length_may_be_a_start_or_an_end(tmp_path: Path, header: str) -> None:
    days = [f"2026-01-{1 + k // 9:02d}T{8 + k % 9:02d}:{7 * k % 60:02d}" for k in range(180)]
    rows = [f"p{k % 9},{day},{20 + k % 7},{'ab'[k % 2]}" for k, day in enumerate(days)]
    subject = table(tmp_path, header, rows)
    when = questions(subject, rows="stays", whose="who")["when"]
    assert (when.offered, when.is_clear) == (f"{header.split(',')[1]}, minutes", False)
    with pytest.raises(InputError, match="is when it started; of an end make a start first"):
        answered_clearly(subject, {"rows": "stays", "whose": "who"})


def test_weeks_and_days_of_excel_must_become_times(tmp_path: Path) -> None:
    """What may order the rows is said, and not read over in silence."""
    weeks = [f"t{k % 9},2026-W{1 + k // 9:02d},{'ab'[k * k % 7 % 2]}" for k in range(180)]
    when = questions(table(tmp_path, "team,week,state", weeks), rows="samples", whose="team")["when"]
    assert (when.offered, when.is_clear) == ("-", False)
    assert [choice.words for choice in when.choices][1:] == ["its texts, in a format that you say"]
    assert "'week' may say when each row was, in no usual format" in when.why
    days = [f"w{k % 9},{46027 + k / 7:.4f},{46027.2 + k / 7:.4f},{'ab'[k % 2]}" for k in range(180)]
    with pytest.raises(InputError) as refused:
        questions(table(tmp_path, "worker,start,end,where", days), rows="stays", whose="worker")
    line = re.search(r"frame\['start'\] = pandas\.to_datetime\(.*?\)", str(refused.value))
    assert line is not None
    frame = pandas.read_csv(tmp_path / "d.csv")
    exec(line[0], {"pandas": pandas, "frame": frame})
    assert str(frame["start"].iloc[0]) == "2026-01-05 00:00:00"


def test_what_depends_on_an_unclear_answer_is_not_listed_as_the_only_choice(tmp_path: Path) -> None:
    rows = [f"w{k % 9},{k * k % 97 / 7:.4f},{'ab'[k % 2]}" for k in range(180)]
    subject = table(tmp_path, "worker,length,where", rows)
    with pytest.raises(InputError) as refused:
        answered_clearly(subject, {})
    assert "--rows answers" in str(refused.value)
    assert "--unit" not in str(refused.value)
    with pytest.raises(InputError, match='--unit "-"'):
        answered_clearly(subject, {"rows": "answers"})


@pytest.mark.parametrize(("said", "fix"), [
    ({"from": "2026-01-05"}, "leave it out"),  # samples have no start to ask for, whatever their states
    ({"stay": "still 2 h"}, "leave it out, or say --states, too"),
])  # fmt: skip
def test_an_option_that_nothing_asks_for_has_a_remedy(tmp_path: Path, said: dict[str, str], fix: str) -> None:
    rows = [f"2026-01-05T{hour:02d}:{minute:02d},s{s},low" for hour in range(9) for minute in range(60) for s in (1, 2)]
    subject = table(tmp_path, "time,sensor,state", rows)
    with pytest.raises(InputError) as refused:
        answered(subject, {"rows": "samples", **said}, lambda question, _: question.offered)
    assert refused.value.fix == fix


@pytest.mark.parametrize(("header", "row", "likely"), [
    ("trip,from_station,to_station,started,ended", "{k},S{a},S{b},2026-06-01T10:{m},2026-06-01T11:{m}", "contacts"),
    ("Student,Group,W1,W2,W3,W4,W5,W6", "student{k},G{b},P,A,P,P,P,A", "wide"),
    ("record_id,sex,pain_t1,pain_t2,pain_t3,pain_t4", "{k},{b},0,{b},1,2", "wide"),
    ("Respondent,Region,Wave 1,Wave 2,Wave 3", "R{k},N,Green,none,Red", "wide"),
])  # fmt: skip
def test_what_looks_like_two_things_is_asked(tmp_path: Path, header: str, row: str, likely: str) -> None:
    """Stations are no people who meet, and weeks beside names may be answers."""
    rows = [row.format(k=k, a=k % 25, b=(3 * k + 1) % 25, m=10 + k % 50) for k in range(90)]
    subject = table(tmp_path, header, rows)
    question = questions(subject)["rows"]
    assert (question.offered, question.is_clear) == (likely, False)
    with pytest.raises(InputError) as refused:
        answered_clearly(subject, {})
    assert refused.value.where == ("rows",)


def uneven(draw: random.Random) -> list[datetime]:
    return sorted(at(draw.uniform(0, 9000)) for _ in range(60))


@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize(("rows_of", "word", "is_clear"), [
    (lambda draw, _: [(at(5 * k), draw.choice("ab")) for k in range(60) if draw.random() > 0.1], "samples", True),
    (lambda draw, user: [(time, "abc"[(user + k) % 3]) for k, time in enumerate(uneven(draw))], "changes", False),
    (lambda draw, _: [(time, draw.choice("ab")) for time in uneven(draw)], "events", False),
    (lambda *_: [(at(5 * k), "ab"[k % 2]) for k in range(60)], "samples", False),
])  # fmt: skip
def test_what_a_row_says_shows_in_how_rows_follow(
    tmp_path: Path, rows_of: Callable[..., list[tuple[datetime, str]]], word: str, is_clear: bool, mixed: bool
) -> None:
    draw = random.Random(5)
    rows = [(time, f"u{user}", state) for user in range(9) for time, state in rows_of(draw, user)]
    rows = sorted(rows) if mixed else rows
    lines = [f"{time.isoformat(' ', 'seconds')},{user},{state}" for time, user, state in rows]
    question = questions(table(tmp_path, "when,user,state", lines))["rows"]
    assert (question.offered, question.is_clear) == (word, is_clear)
    assert question.must_be_clear
    assert question.why


def stays(tmp_path: Path) -> Subject:
    draw, lines = random.Random(2), []
    for k in range(200):
        start = START + timedelta(hours=draw.uniform(0, 900))
        end = "" if k % 9 == 0 else (start + timedelta(hours=draw.uniform(1, 90))).isoformat(" ", "seconds")
        lines.append(f"p{k % 40},{end},{start.isoformat(' ', 'seconds')},{draw.choice(['ward', 'icu'])}")
    return table(tmp_path, "patient,left,came,bed", lines)


def test_two_times_of_which_one_is_never_earlier_are_stays(tmp_path: Path) -> None:
    subject = stays(tmp_path)
    asks = questions(subject)
    assert (asks["rows"].offered, asks["rows"].is_clear) == ("stays", False)
    assert asks["when"].offered == "came, left"
    assert "left" not in [*asks["publish"].others, *(choice.name for choice in asks["publish"].choices)]


@pytest.mark.parametrize(("rows", "header", "row", "asks"), [
    (20, "visit_id,patient,score,smokes", lambda n, draw: f"v{n},p{n % 15},{n % 5},{draw('yn')}", "whose"),
    (20, "device_id,patient,result", lambda n, draw: f"d{n},p{n % 9},{draw('+-')}", "whose"),
    (240, "device_id,patient,result", lambda n, draw: f"d{n},p{n % 90},{draw('+-')}", "whose"),
    (240, "patient_id,doctor,result", lambda n, draw: f"p{n},Dr {n % 4},{draw('+-')}", "whose"),
    (240, "event_id,card,door", lambda n, draw: f"{n},c{n % 12},{draw('12')}", "whose"),
    (240, "comment,handle,smokes", lambda n, draw: f"text {n},h{n % 25},{draw('yn')}", "rows"),
    (240, "machine,operator,minute,state", lambda n, draw: f"M{n % 2},op{n % 47},{n // 2},{draw('ab')}", "whose"),
    (240, "customer,employee,minute,state", lambda n, draw: f"c{n % 6},e{n % 7},{n // 6},{draw('ab')}", "whose"),
    (240, "nr,state", lambda n, draw: f"{n},{'abc'[n % 3]}", "rows"),
    (240, "nr,state", lambda n, draw: f"{n},{draw('abc')}", None),
    (240, "respondent_id,city,smokes", lambda n, draw: f"r{n},city {n % 25},{draw('yn')}", None),
    (240, "user,minute,state", lambda n, draw: f"u{n % 5},{n // 5},{draw('ab')}", None),
    (20, "user,minute,state", lambda n, draw: f"u{n % 5},{n // 5},{draw('ab')}", None),
])  # fmt: skip
def test_of_two_columns_of_whose_a_person_decides(
    tmp_path: Path, rows: int, header: str, row: Callable[[int, Callable[[str], str]], str], asks: str | None
) -> None:
    subject = table(tmp_path, header, [row(n, random.Random(n).choice) for n in range(rows)])
    unclear = {name for name, each in questions(subject).items() if each.must_be_clear and not each.is_clear}
    assert asks in (unclear or {None})
    if unclear:
        with pytest.raises(InputError, match="the table does not tell"):
            answered_clearly(subject, {})


def test_ids_are_neither_starts_of_stays_nor_the_order_of_what_they_number(tmp_path: Path) -> None:
    runs = [f"{10**9 + n},{9000 + n % 5},2026-01-{1 + n % 28:02}T06:00:00,Run {n % 3},{600 + n}" for n in range(60)]
    subject = table(tmp_path, "Activity ID,Athlete ID,Activity Date,Activity Type,Elapsed Time", runs)
    assert all("Activity ID" not in stay for stay in subject.facts.stays)
    staff = [f"{10_000 + n},Dept {n // 20},{'E9' if n % 3 else 'E11'}" for n in range(120)]
    rows = questions(table(tmp_path, "PersNr,Dept,Grade", staff))["rows"]
    assert not rows.is_clear, "numbers of people are even, whatever their rows say"


def test_lessons_of_days_of_the_week_are_wide(tmp_path: Path) -> None:
    lessons = [f"{day} {number}" for day in ("Mon", "Tue", "Wed") for number in (1, 2, 3)]
    rows = [",".join([f"class {n}", *("math" if (n + k) % 3 else "art" for k in range(9))]) for n in range(30)]
    subject = table(tmp_path, ",".join(["Class", *lessons]), rows)
    assert subject.facts.across.moments == tuple(map(float, range(1, 10)))
    assert questions(subject)["rows"].offered == "wide"


def test_two_lines_of_names_are_joined_by_the_printed_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weeks = "".join(f",Week {number},,,," for number in (6, 7, 8))
    names = ",".join(["Pupil", "Form", *["Mo", "Tu", "We", "Th", "Fr"] * 3])
    rows = [",".join([f"pupil {n}", "ab"[n % 2], *("/A"[n * k % 7 == 3] for k in range(15))]) for n in range(40)]
    subject = table(tmp_path, f",{weeks}", [names, *rows])
    with pytest.raises(InputError, match="several columns are called 'Mo', 'Tu', 'We', 'Th', 'Fr'") as refused:
        answered_clearly(subject, {})
    (command,) = re.findall(r"in pandas: (.*)\)$", refused.value.rule)
    monkeypatch.chdir(tmp_path)
    exec(command, {"FILE": "d.csv", "pandas": pandas})
    subject = subject_of(tmp_path / "data.csv")
    assert list(subject.look.columns)[:4] == ["Pupil", "Form", "Week 6 Mo", "Week 6 Tu"]
    assert len(subject.facts.across.names) == 15
    assert questions(subject)["rows"].offered == "wide"


@pytest.mark.parametrize("pad", ["", ",,,"])
def test_a_title_is_none_of_the_rows_though_totals_are_short(tmp_path: Path, pad: str) -> None:
    rows = list[str]()
    for n in range(120):
        rows += [f"T{n},{n % 5},10:{n % 60:02},adult", *[f"Total {n},6,,"] * (n % 6 == 5)]
    subject = table(tmp_path, f"Boarding sheet{pad}", [f"printed{pad}", "Ticket,Deck,Boarded,Class", *rows])
    assert list(subject.look.columns) == ["Ticket", "Deck", "Boarded", "Class"]
    assert subject.look.written.lines == (3, 3)
    words = " ".join(notes(subject.look, {}, tmp_path / "d.csv", "answers"))
    (command,) = re.findall(r"look like totals, by 'Ticket'.* delete them: `(grep .*?)`", words)
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    assert len((tmp_path / "data.csv").read_text(encoding="utf-8").splitlines()) == 3 + 120
    assert "Among the rows" not in " ".join(notes(subject_of(tmp_path / "data.csv").look, {}, Path("d.csv"), "answers"))


@pytest.mark.parametrize("header", ["Pupil,Date,Period,Mark", "Guest,Date,Room,State"])
def test_names_that_stand_once_for_several_rows_are_filled_first(tmp_path: Path, header: str) -> None:
    """Else each row were somebody of its own, as where cells of a sheet were merged."""
    lines = [f"{'' if k % 12 else f'P{k}'},{START + timedelta(days=k % 12):%Y-%m-%d},{k % 6},{'xy'[k % 5 < 2]}"
             for k in range(360)]  # fmt: skip
    with pytest.raises(InputError, match=r"is empty in most rows.*\.ffill\(\)") as refused:
        answered_clearly(table(tmp_path, header, lines), {})
    assert "--rows samples" in refused.value.fix
    assert "--unit" in refused.value.fix


def test_all_that_is_unclear_is_asked_at_once(tmp_path: Path) -> None:
    lines = [f"c{n % 6},e{n % 7},{1 + n % 9:02}/{1 + n % 7:02}/2026,{'ab'[n * n % 7 < 3]}" for n in range(240)]
    with pytest.raises(InputError) as refused:
        answered_clearly(table(tmp_path, "customer,employee,day,state", lines), {"rows": "samples"})
    flags = re.findall(r"(?:write|; and) --(\w+)", refused.value.fix)
    assert (flags, refused.value.where) == (["unit", "dates"], ("whose",))
    said = {"rows": "samples", "whose": "customer", "dates": "%d/%m/%Y"}
    assert answered_clearly(table(tmp_path, "customer,employee,day,state", lines), said)


@pytest.mark.parametrize(("name", "is_clear"), [
    ("Activity Name", False), ("Event name", False), ("course_name", False),
    ("Name", True), ("Full Name", True), ("User full name", True), ("name_of_patient", True),
])  # fmt: skip
def test_the_name_of_something_is_not_whose_a_row_is(tmp_path: Path, name: str, is_clear: bool) -> None:
    lines = [f"{at(5 * (n // 6))},A{n % 6},{'xy'[n * n % 7 < 3]}" for n in range(240)]
    assert questions(table(tmp_path, f"time,{name},mode", lines), rows="samples")["whose"].is_clear == is_clear


def test_what_is_measured_side_by_side_at_a_time_is_not_wide(tmp_path: Path) -> None:
    lines = [f"{at(n)},{n % 2},{n % 3},{n % 5 // 3},{n % 4}" for n in range(240)]
    offer = questions(table(tmp_path, "time,valve1,valve2,valve3,valve4", lines))["rows"]
    assert "wide" not in [choice.name for choice in offer.choices]


def test_a_question_is_no_name_of_people(tmp_path: Path) -> None:
    lines = [f"p{n}@example.org,{'abc'[n % 3]},{'yn'[n % 5 < 2]}" for n in range(90)]
    assert answered_clearly(table(tmp_path, "Email Address,How old are you?,Do you own a car?", lines), {})


def test_an_answer_that_nothing_asks_for_is_left_out(tmp_path: Path) -> None:
    lines = [f"u{n % 5},2026-01-{1 + n // 5:02},{'ab'[n * n % 7 < 3]}" for n in range(100)]
    said = {"rows": "samples", "whose": "user", "dates": "%d/%m/%Y", "states": "a, b"}
    with pytest.raises(InputError, match="nothing asks for that") as refused:
        answered_clearly(table(tmp_path, "user,day,state", lines), said)
    assert refused.value.fix == "leave it out"


def test_a_question_is_data(tmp_path: Path) -> None:
    for question in questions(stays(tmp_path)).values():
        names = [choice.name for choice in question.choices]
        assert question.offered == names[0], "the likely answer comes first"
        assert question.words.endswith("?")
        assert all(question.answer(name) == name for name in (*names, *question.others))
        if question.form != "text":  # which the file that it drafts judges
            with pytest.raises(InputError):
                question.answer("none of these")


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["changes", "stays", "events"])
def test_a_draft_of_what_lasts_is_whole_with_all_answers(tmp_path: Path, rows: str) -> None:
    stays(tmp_path)
    when = "came, left" if rows == "stays" else "came"
    words = ["--rows", rows, "--unit", "patient", "--order", when, "--step", "1h", "--yes", "--otherwise", "ward"]
    words += ["--states", "ward, icu", "--stay", "ward 3 d, icu 20 h", "--from", "2026-01-05", "--until", "2026-02-12"]
    words += ["--roster", ", ".join(f"p{k}" for k in range(40)), "--independent", "yes", "--source", "a census"]
    done = succeed("init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", *words)
    assert "still missing" not in done.output
    succeed("check", tmp_path / "r.toml", "--anyway")


OF_BEDS = "--rows changes --unit patient --order came --step 1h"
OF_SMOKERS = "--rows answers --unit - --secret answers --publish smokes"
TWO = "--states 'ward, icu'"


@pytest.mark.parametrize(("about", "words", "place"), [
    *((OF_BEDS, *row) for row in [
        ("--stay 'ward 3 d, icu 20 h'", "stay"), ("--states ward", "states"), ("--states 'a, a'", "states"),
        (f"{TWO} --stay 'ward 3 d'", "stay"), (f"{TWO} --stay 'ward 3 d, icu x'", "stay.icu x"),
        (f"{TWO} --stay 'ward 3 d, bed 2 h'", "stay.bed"), (f"{TWO} --stay 'ward 3 d, icu 1 min'", "stay.icu"),
        (f"{TWO} --stay 'ward 3 d, icu 2 h' --next 'ward 1, icu 1'", "next"), (f"{TWO} --otherwise home", "otherwise"),
        ("--from soon", "from"), ("--from 2026-02-01 --until 2026-01-01", "until"), ("--independent no", "independent"),
        ("--size 3", "size"), ("--public yes", "public"), ("--dates %d", "dates"), ("--states ,", "states"),
        (f"{TWO} --source public.csv", "source"), ("--roster ,", "roster"), ("--roster nobody.csv", "roster"),
        ("--roster d.csv", "roster"), ("--from 2026-01-05 --until never", "until"),
    ]),
    *((OF_SMOKERS, *row) for row in [
        ("--size none", "size"), ("--size 0", "size"), ("--states 'y, y' --size 40 --next 'y 1'", "next"),
        ("--states 'y, n' --next 'y 0.5'", "next"), ("--states 'y, n' --next 'y 0.5, no 0.5'", "next"),
        ("--states 'y, n' --size 40 --next 'y 0.5, n 0.6'", "next"), ("--next 'y 0.5, n 0.5'", "next"),
    ]),
])  # fmt: skip
def test_answers_that_contradict_each_other_are_refused(tmp_path: Path, about: str, words: str, place: str) -> None:
    if about == OF_BEDS:
        stays(tmp_path)
    else:
        table_in(tmp_path, "respondent_id,smokes", (f"r{n},{'yn'[n % 2]}" for n in range(40)))
    said = shlex.split(f"{about} --yes --json {words}")
    done = ended(2, "init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", *said)
    where = json.loads(done.stdout)["error"]["where"]
    assert (where if about == OF_BEDS else where.partition("[")[0]) == place
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.slow
def test_a_chain_is_fitted_to_a_public_table_that_is_there(tmp_path: Path) -> None:
    lines = [f"u{n % 5},{n // 5},{random.Random(n).choice('ab')}" for n in range(240)]
    words = begun(tmp_path, "user,minute,state", lines, "--states", "a, b", "--source", "p.csv")
    assert "p.csv" in ended(2, *words).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
    others = [f"v{n % 7},{n // 7},{random.Random(n + 9).choice('aab')}" for n in range(280)]
    (tmp_path / "p.csv").write_text("\n".join(["user,minute,state", *others, ""]), encoding="utf-8")
    assert "belief.fit" not in succeed(*words).output


def runs_of(folder: Path, time: str) -> list[object]:
    lines = [f"u{n % 5},{START + timedelta(hours=n**1.1):{time}},{'ab'[n // 5 % 2]},{n}m 3s" for n in range(90)]
    return begun(folder, "user,seen,state,duration", lines, "--unit", "user", "--publish", "state")


@pytest.mark.parametrize("rows", ["changes", "events", "samples"])
def test_times_in_no_usual_format_need_one(tmp_path: Path, rows: str) -> None:
    words = [*runs_of(tmp_path, "%Y-%m-%d %H:%M:%S UTC"), "--rows", rows]
    assert "source.order " not in succeed(*words, "--order", "seen").output
    assert 'order_format = "FILL IN"' in draft_in(tmp_path)
    succeed(*words, "--order", "seen", "--dates", "%Y-%m-%d %H:%M:%S UTC", "--force")
    assert 'order_format = "%Y-%m-%d %H:%M:%S UTC"' in draft_in(tmp_path)
    without_times = ended(2, *words, "--dates", "%d", "--force").stderr
    assert ("--dates is" if rows == "samples" else "When was a row?") in without_times


def test_stays_need_an_end_or_a_number_that_says_how_long(tmp_path: Path) -> None:
    words = runs_of(tmp_path, "%Y-%m-%d %H:%M")
    assert "makes them of 1h 3m" in ended(2, *words, "--rows", "stays").stderr
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_a_reason_is_about_the_columns_of_the_draft(tmp_path: Path) -> None:
    lines = [f"u{n % 5},{START + timedelta(hours=n // 5)},{n // 5},{'ab'[n // 5 % 7 < 3]}" for n in range(90)]
    words = begun(tmp_path, "user,time,step,state", lines, "--force")
    assert "in the order of 'time'" in " ".join(succeed(*words).output.split())
    assert "in the order of" not in succeed(*words, "--order", "step").output


def test_empty_cells_of_a_sheet_need_a_state(tmp_path: Path) -> None:
    header = "pupil," + ",".join(f"{day:02}.01." for day in range(5, 25))
    lines = [f"P{n}," + ",".join("x" * (day % 7 != n % 7) for day in range(20)) for n in range(40)]
    words = begun(tmp_path, header, lines, "--rows", "wide", "--unit", "pupil")
    assert "source.empty" in succeed(*words).output
    succeed(*words, "--states", "x, absent", "--otherwise", "absent", "--force")
    assert 'empty = "absent"' in draft_in(tmp_path)


def test_measured_numbers_need_bins_and_each_piece_a_word(tmp_path: Path) -> None:
    speeds = [random.Random(n).random() for n in range(480)]
    lines = [f"u{n % 4},{n // 48},{at(n // 4)},{speed:.3f}" for n, speed in enumerate(speeds)]
    said = ["--publish", "speed", "--states", "slow, fast", "--independent", "yes", "--unit", "user"]
    missing = succeed(*begun(tmp_path, "user,trip,time,speed", lines, "--rows", "samples", *said)).output
    assert "write bins = {" in missing
    assert "belief.recordings_independent" in missing, "that people are independent says nothing about their trips"
    assert "belief.units_independent" not in missing


def test_answers_that_happen_to_come_evenly_are_no_samples_of_their_collector(tmp_path: Path) -> None:
    moments = [START + timedelta(minutes=17 * n) for n in range(120)]
    rows = [f"{1000 + 7 * n},{n % 2},{moment:%Y-%m-%d %H:%M},{'yes' if n % 5 < 3 else 'no'}"
            for n, moment in enumerate(moments)]  # fmt: skip
    subject = table(tmp_path, "Respondent ID,Collector ID,Start Date,Do you smoke?", rows)
    asks = questions(subject)["rows"]
    assert not asks.is_clear
    assert "another 'Respondent ID'" in asks.why
    with pytest.raises(InputError, match=r"--rows samples .* --rows answers"):
        answered_clearly(subject, {})
    assert dict(pairs_of(subject, rows="answers"))["whose"] == "-"


def pairs_of(subject: Subject, **said: str) -> list[tuple[str, str]]:
    return [(question.name, answer) for question, answer in answered_clearly(subject, said)]


def timesheet(folder: Path) -> Subject:
    rows = list[str]()
    for n in range(60):
        start = START + timedelta(hours=31 * n, minutes=7 * n)
        end = start + timedelta(hours=26 if n % 9 == 0 else 2)
        rows.append(f"u{n % 5},{'ab'[n % 2]},{start:%Y-%m-%d,%H:%M:%S},{end:%Y-%m-%d,%H:%M:%S},{end - start}")
    return table(folder, "user,project,Start date,Start time,End date,End time,Duration",
                 [row.replace("1 day, 2:", "26:") for row in rows])  # fmt: skip


def test_a_stay_of_two_dates_and_two_times_of_day_is_asked_about(tmp_path: Path) -> None:
    subject, four = timesheet(tmp_path), "Start date, Start time, End date, End time"
    asks = questions(subject, rows="stays", whose="user")["when"]
    assert asks.offered == four
    assert not any("Duration" in choice.name for choice in asks.choices), "how long it was is no time of day"
    with pytest.raises(InputError, match=f'--order "{four}"'):
        answered_clearly(subject, {"rows": "stays", "whose": "user"})
    words = ["init", tmp_path / "d.csv", "-o", tmp_path / "r.toml", "--rows", "stays", "--unit", "user", "--yes"]
    succeed(*words, "--order", four, "--publish", "project")
    draft = draft_in(tmp_path)
    assert 'order = ["Start date", "Start time"]' in draft
    assert 'end = ["End date", "End time"]' in draft


def test_the_end_of_stays_of_a_length_starts_none(tmp_path: Path) -> None:
    draw, rows = random.Random(4), list[str]()
    for n in range(60):
        start, hours = START + timedelta(hours=draw.uniform(0, 900)), draw.uniform(1, 20)
        end, booked = start + timedelta(hours=hours), start - timedelta(hours=draw.uniform(1, 90))
        times = [f"{at:%Y-%m-%d %H:%M}" for at in (end, start, booked)]
        rows.append(",".join([f"g{n % 9}", *times, f"{hours:.1f}", "x"]))
    asks = questions(table(tmp_path, "guest,Checked out,Checked in,Booked,Hrs,room", rows), rows="stays", whose="guest")
    whens = [choice.name for choice in asks["when"].choices]
    assert "Checked in, Hrs" in whens
    assert "Checked out, Hrs" not in whens
    assert "Checked in, Checked out" in whens


def test_which_of_several_columns_is_the_state_is_asked(tmp_path: Path) -> None:
    rows = list[str]()
    for n in range(90):
        before, state = "new" if n < 5 else "ab"[n // 5 % 2], "ba"[n // 5 % 2]
        rows.append(f"{n % 5},{before},{state},{START + timedelta(hours=n**1.1):%Y-%m-%dT%H:%M:%SZ}")
    subject = table(tmp_path, "ticket id,Previous value,Status,at", rows)
    with pytest.raises(InputError, match=r'--publish "Previous value" .* --publish Status'):
        answered_clearly(subject, {"rows": "changes", "whose": "ticket id", "timezone": "UTC"})
    said = {"rows": "changes", "whose": "ticket id", "publish": "Status", "timezone": "UTC"}
    assert ("publish", "Status") in pairs_of(subject, **said)


def test_measured_cells_of_a_sheet_need_bins(tmp_path: Path) -> None:
    header = "meter,day," + ",".join(f"{hour:02}:00" for hour in range(24))
    for name, cell in (("measured", "{:.3f}"), ("counted", "{:.0f}")):
        rows = list[str]()
        for n in range(40):
            cells = [cell.format(random.Random(n * 24 + hour).random()) for hour in range(24)]
            rows.append(f"{n % 4},2026-01-{1 + n // 4:02},{','.join(cells)}")
        words = begun(tmp_path, header, rows, "--unit", "meter", "--force")
        assert ("write bins = {" in succeed(*words).output) == (name == "measured")
