"""Thirteen tables as people export them of what began and ended, or happened: stays, one by lengths, and events."""

import json
import random
from datetime import datetime, timedelta
from typing import Any

from tests.support.made_tables import (
    DAY,
    MadeTable,
    flattened,
    histories,
    known,
    moment,
    names,
    of_courses,
    shares,
    stays,
    table,
)

ISO = "%Y-%m-%d %H:%M:%S"
GERMAN = "%d.%m.%Y %H:%M"
AMERICAN = "%m/%d/%Y %H:%M"


def at(when: datetime | None, form: str) -> str:
    """Return a moment in this format, and nothing for what has not come."""
    return "" if when is None else f"{when:{form}}"


def ward() -> MadeTable:
    """Return stays in a ward; who has not left has no end."""
    lasts, people = {"home": 300_000.0, "surgery": 60_000.0}, names("MRN", 60)
    courses = histories(31, lasts, people)
    every = stays(courses, "home")
    rows = [(name, state, at(first, AMERICAN), at(last, AMERICAN)) for first, last, name, state in every]
    right = {"rows": "stays", "whose": "Patient ID", "when": "Admitted, Discharged", "publish": "Unit"}
    content = table(["Patient ID", "Unit", "Admitted", "Discharged"], rows)
    return of_courses("ward.csv", content, right, courses, lasts, "1h")


def loans() -> MadeTable:
    """Return loans of bicycles: each has a number, a member, an end and a start."""
    lasts, people = {"none": 90_000.0, "city": 15_000.0, "cargo": 7000.0}, names("member-", 50)
    courses = histories(32, lasts, people)
    rows = [
        (9000 + k, name, state, at(last, ISO), at(first, ISO))
        for k, (first, last, name, state) in enumerate(stays(courses, "none"))
    ]
    right = {"rows": "stays", "whose": "member_id", "when": "taken_at, returned_at", "publish": "bike_type"}
    content = table(["loan_id", "member_id", "bike_type", "returned_at", "taken_at"], rows)
    return of_courses("loans.csv", content, right, courses, lasts, "30min")


def beds() -> MadeTable:
    """Return stays with a start and how many hours they lasted; who has not left has no length."""
    lasts, people = {"home": 300_000.0, "bed": 90_000.0}, names("P-", 60)
    by_hour = {
        name: [(second // 3600 * 3600, state) for second, state in states]
        for name, states in histories(36, lasts, people).items()
    }
    rows = [
        (name, at(first, AMERICAN), "" if last is None else int((last - first).total_seconds()) // 3600, state)
        for first, last, name, state in stays(by_hour, "home")
        if last != first
    ]
    right = {"rows": "stays", "whose": "patient_no", "when": "admitted, los_hours", "publish": "place"}
    content = table(["patient_no", "admitted", "los_hours", "place"], rows)
    return of_courses("beds.csv", content, right, by_hour, lasts, "1h")


def duties() -> MadeTable:
    """Return duties on a date, from a time of day to another, at night to one of the next day."""
    lasts, people = {"free": 60_000.0, "ward": 30_000.0, "on call": 20_000.0}, names("Nurse ", 40)
    courses = histories(37, lasts, people)
    rows = []
    for first, last, name, state in stays(courses, "free"):
        start = first
        while last is not None and last - start > timedelta(days=1):
            rows.append((name, f"{start:%d.%m.%Y}", f"{start:%H:%M:%S}", f"{start:%H:%M:%S}", state))
            start += timedelta(days=1)
        rows.append((name, f"{start:%d.%m.%Y}", f"{start:%H:%M:%S}", at(last, "%H:%M:%S"), state))
    right = {"rows": "stays", "whose": "Name", "when": "Datum, von, bis", "publish": "Dienst"}
    content = table(["Name", "Datum", "von", "bis", "Dienst"], rows, ";")
    return of_courses("dienstplan.csv", content, right, courses, lasts, "1h")


def cases() -> MadeTable:
    """Return stays in hospital by date, numbered; most patients have one."""
    lasts, people = {"home": 540_000.0, "surgery": 300_000.0, "medicine": 250_000.0}, names("P", 90)
    by_day = {
        name: [(second // DAY * DAY, state) for second, state in states]
        for name, states in histories(38, lasts, people).items()
    }
    rows = [
        (70_000 + k, name, state, at(first, "%d.%m.%Y"), at(last, "%d.%m.%Y"))
        for k, (first, last, name, state) in enumerate(stays(by_day, "home"))
        if last != first
    ]
    right = {"rows": "stays", "whose": "Patient", "when": "Aufnahme, Entlassung", "publish": "Station"}
    content = table(["FallNr", "Patient", "Station", "Aufnahme", "Entlassung"], rows)
    return of_courses("faelle.csv", content, right, by_day, lasts, "1d")


def hotel() -> MadeTable:
    """Return who was in which room of a hospice, below a title, with totals at the end."""
    lasts, people = {"away": 200_000.0, "single": 100_000.0, "double": 70_000.0}, names("Guest ", 60)
    courses = histories(33, lasts, people)
    rows = [
        (name, state, at(first, GERMAN), at(last, GERMAN), 1 + k % 3)
        for k, (first, last, name, state) in enumerate(stays(courses, "away"))
    ]
    header, total = ["Gast", "Zimmer", "Anreise", "Abreise", "Personen"], sum(row[4] for row in rows)
    content = table(header, [*rows, ("Summe", "", "", "", total)], ";", ["Belegung Januar 2026", ""])
    right = {"rows": "stays", "whose": "Gast", "when": "Anreise, Abreise", "publish": "Zimmer"}
    return of_courses("belegung.csv", content, right, courses, lasts, "1h", is_ugly=True)


def machines() -> MadeTable:
    """Return jobs of machines as JSON, from when to when; what runs has no end."""
    lasts, places = {"idle": 30_000.0, "milling": 9000.0, "turning": 6000.0}, names("cnc", 12)
    courses = histories(34, lasts, places)
    jobs = []
    for first, last, name, state in stays(courses, "idle"):
        times = {"start": first.isoformat(), "end": None if last is None else last.isoformat()}
        jobs.append({"machine": {"name": name}, "job": {"type": state}, **times})
    right = {"rows": "stays", "whose": "machine.name", "when": "start, end", "publish": "job.type", "timezone": "UTC"}
    content = json.dumps(jobs).encode()
    mended = ("jobs.csv", flattened(jobs))
    return of_courses("jobs.json", content, right, courses, lasts, "10min", mended=mended, is_ugly=True)


def visits_of_day_care() -> MadeTable:
    """Return from when to when children were in day care: a row for each, with its group."""
    lasts, people = {"home": 60_000.0, "care": 25_000.0}, names("child ", 45)
    courses = histories(35, lasts, people)
    rows = [(name, at(first, ISO), at(last, ISO), state) for first, last, name, state in stays(courses, "home")]
    right = {"rows": "stays", "whose": "child", "when": "checked_in, checked_out", "publish": "where"}
    content = table(["child", "checked_in", "checked_out", "where"], rows)
    return of_courses("care.csv", content, right, courses, lasts, "1h")


def _events(
    seed: int, gap: int, kinds: tuple[str, ...], people: tuple[str, ...], step: int, days: int = 14
) -> tuple[list[tuple[datetime, str, str]], dict[str, float]]:
    """Return what happened to whom, a row each, and in how many steps; of several in one step the first counts."""
    c, rows, first = random.Random(seed), list[tuple[float, str, str]](), dict[tuple[str, int], str]()
    for name in people:
        second = c.expovariate(1 / gap)
        while second < days * DAY:
            state = c.choices(kinds, range(1, len(kinds) + 1))[0]
            first.setdefault((name, int(second) // step), state)
            rows.append((second, name, state))
            second += c.expovariate(1 / gap)
    truth = shares(first.values())
    truth["none"] = len(people) * days * DAY / step - len(first)
    return [(moment(int(second)), name, state) for second, name, state in sorted(rows)], truth


def _of_events(
    file: str, content: bytes, right: dict[str, str], kinds: tuple[str, ...], gap: int, step: int,
    people: tuple[str, ...], truth: dict[str, float], **more: Any,
) -> MadeTable:
    """Return a table of events; a step's state lasts as long as if these are independent, and the first one counts."""
    some = 1 - 2.718281828 ** (-step / gap)
    each = {"none": 1 - some} | {kind: some * (k + 1) / sum(range(len(kinds) + 1)) for k, kind in enumerate(kinds)}
    stay = {state: 1 / (1 - share) * step for state, share in each.items()}
    knows = known(stay, people, otherwise="none", step=f"{step // 60}min")
    return MadeTable(file, content, right, knows, truth, {"source": 'overlap = "first"'}, **more)


def arrivals() -> MadeTable:
    """Return who came to an emergency room: nobody's name, a row each."""
    kinds, gap = ("urgent", "other"), 3000
    rows, truth = _events(41, gap, kinds, ("",), 1800, 14)
    written = [(f"{when:%Y-%m-%dT%H:%M:%SZ}", state, 20 + k * 7 % 60) for k, (when, _, state) in enumerate(rows)]
    right = {"rows": "events", "whose": "-", "when": "arrived_at", "publish": "triage", "timezone": "UTC"}
    content = table(["arrived_at", "triage", "age"], written)
    return _of_events("arrivals.csv", content, right, kinds, gap, 1800, (), truth)


def clicks() -> MadeTable:
    """Return what users of an app did, a row each."""
    kinds, people, gap = ("share", "open"), tuple(names("user", 40)), 20_000
    rows, truth = _events(42, gap, kinds, people, 3600)
    written = [(f"{when:{ISO}}", name, state) for when, name, state in rows]
    right = {"rows": "events", "whose": "user_id", "when": "event_time", "publish": "event"}
    content = table(["event_time", "user_id", "event"], written)
    return _of_events("clicks.csv", content, right, kinds, gap, 3600, people, truth)


def calls() -> MadeTable:
    """Return calls to a help line: a BOM, semicolons, German dates, totals at the end."""
    kinds, people, gap = ("lang", "kurz"), tuple(names("Linie ", 10)), 9000
    rows, truth = _events(43, gap, kinds, people, 1800)
    written = [(name, f"{when:{GERMAN}}:{when:%S}", state, 1 + k % 4) for k, (when, name, state) in enumerate(rows)]
    total = ("Gesamt", "", "", sum(row[3] for row in written))
    content = b"\xef\xbb\xbf" + table(["Leitung", "Anruf", "Art", "Anzahl"], [*written, total], ";")
    right = {"rows": "events", "whose": "Leitung", "when": "Anruf", "publish": "Art"}
    return _of_events("anrufe.csv", content, right, kinds, gap, 1800, people, truth, is_ugly=True)


def incidents() -> MadeTable:
    """Return incidents of elevators, whose dates are written in two ways."""
    kinds, people, gap = ("stuck", "noise"), tuple(names("lift ", 20)), 30_000
    rows, truth = _events(44, gap, kinds, people, 3600)
    written = [(name, f"{when:{ISO if k % 3 else AMERICAN}}", state) for k, (when, name, state) in enumerate(rows)]
    alike = [(name, f"{when:{ISO}}", state) for when, name, state in rows]
    header = ["lift", "reported", "what"]
    right = {"rows": "events", "whose": "lift", "when": "reported", "publish": "what"}
    content = table(header, written)
    mended = ("lifts.csv", table(header, alike))
    return _of_events("lifts.csv", content, right, kinds, gap, 3600, people, truth, mended=mended, is_ugly=True)


def doses() -> MadeTable:
    """Return which drug each patient was given when: the day and the time in two columns."""
    kinds, people, gap = ("opioid", "other"), tuple(names("patient ", 30)), 25_000
    rows, truth = _events(45, gap, kinds, people, 3600)
    written = [(name, f"{when:%Y-%m-%d}", f"{when:%H:%M}", state) for when, name, state in rows]
    right = {"rows": "events", "whose": "patient", "when": "date", "publish": "drug"}
    content = table(["patient", "date", "time", "drug"], written)
    return _of_events("doses.csv", content, right, kinds, gap, 3600, people, truth)


OF_HAPPENINGS = {
    "stays": (ward, cases, loans, beds, duties, hotel, machines, visits_of_day_care),
    "events": (arrivals, clicks, calls, incidents, doses),
}
