"""Ten tables as people export them whose rows say a state: samples and changes, five of each."""

import json
import random
from datetime import timedelta
from itertools import pairwise

from tests.support.made_tables import (
    START,
    MadeTable,
    changes,
    flattened,
    histories,
    moment,
    names,
    of_courses,
    of_samples,
    samples,
    table,
)

ISO = "%Y-%m-%d %H:%M:%S"
GERMAN = "%d.%m.%Y %H:%M"


def wearable() -> MadeTable:
    """Return what people did in each minute, by their watches; a few minutes are lost."""
    stay, people = {"still": 0.98, "walking": 0.92}, names("P", 12)
    rows = samples(11, stay, people, 400, lost=0.01)
    written = [(name, f"{START + timedelta(minutes=k):{ISO}}", state) for k, name, state in sorted(rows, key=_by_name)]
    right = {"rows": "samples", "whose": "participant", "when": "timestamp", "publish": "activity"}
    content = table(["participant", "timestamp", "activity"], written)
    return of_samples("watches.csv", content, right, "1min", "still 50 min, walking 12.5 min", rows)


def _by_name(row: tuple[int, str, str]) -> tuple[str, int]:
    return row[1], row[0]


def meters() -> MadeTable:
    """Return half hours of meters: a BOM, semicolons, decimal commas, German dates; some are lost for days."""
    stay, homes, c = {"low": 0.9, "high": 0.7}, names("Z", 15), random.Random(12)
    lost = {name: c.randrange(14 * 48) for name in homes}
    rows = [row for row in samples(12, stay, homes, 14 * 48, lost=0.002) if not 0 < row[0] - lost[row[1]] < 100]
    written = []
    for k, name, state in rows:
        used = c.uniform(*{"low": (0, 0.4), "high": (0.5, 3)}[state])
        written.append((name, f"{moment(1800 * k):{GERMAN}}", f"{used:.3f}".replace(".", ",")))
    right = {"rows": "samples", "whose": "Zähler-Nr", "when": "Zeitpunkt", "publish": "Verbrauch kWh"}
    content = b"\xef\xbb\xbf" + table(["Zähler-Nr", "Zeitpunkt", "Verbrauch kWh"], written, ";")
    lines = {"source": "bins = { low = [0, 0.45], high = [0.45, inf] }"}
    lasts = "low 5 h, high 100 min"
    return of_samples("lastgang.csv", content, right, "30min", lasts, rows, lines=lines, is_ugly=True)


def nested() -> MadeTable:
    """Return what motion sensors sent each 10 s, as lines of JSON with objects in objects."""
    stay, homes = {"idle": 0.97, "motion": 0.9}, names("room-", 6)
    rows = samples(13, stay, homes, 500)
    sent = [
        {"device": {"id": name, "fw": "1.2"}, "ts": int(moment(10 * k).timestamp()) * 1000, "reading": {"state": state}}
        for k, name, state in rows
    ]
    right = {"rows": "samples", "whose": "device.id", "when": "ts", "publish": "reading.state", "timezone": "UTC"}
    content = "\n".join(map(json.dumps, sent)).encode()
    mended = ("motion.csv", flattened(sent))
    lasts = "idle 330 s, motion 100 s"
    return of_samples("motion.jsonl", content, right, "10s", lasts, rows, mended=mended, is_ugly=True)


def titled() -> MadeTable:
    """Return a machine's states in each minute, below three lines of a title."""
    stay, machines = {"running": 0.97, "stopped": 0.9}, names("M", 8)
    rows = samples(14, stay, machines, 600)
    written = [(f"{START + timedelta(minutes=k):%Y-%m-%dT%H:%M}", name, state) for k, name, state in rows]
    above = ["Plant 4: state of machines", "Exported 2026-01-20 by SCADA 7.1", ""]
    right = {"rows": "samples", "whose": "machine", "when": "time", "publish": "state"}
    content = table(["time", "machine", "state"], written, above=above)
    return of_samples("plant.csv", content, right, "1min", "running 33 min, stopped 10 min", rows, is_ugly=True)


def diary() -> MadeTable:
    """Return a diary by the hour, without names: one person's."""
    stay = {"asleep": 0.9, "awake": 0.95}
    rows = samples(15, stay, ["me"], 24 * 120)
    written = [(f"{START + timedelta(hours=k):%m/%d/%Y %I:%M %p}", state, k % 7) for k, _, state in rows]
    right = {"rows": "samples", "whose": "-", "when": "When", "publish": "State"}
    content = table(["When", "State", "Mood"], written)
    return of_samples("diary.csv", content, right, "1h", "asleep 10 h, awake 20 h", rows)


def agents() -> MadeTable:
    """Return a call centre's log, the newest first: Windows' umlauts and ends of lines, clocks of Berlin."""
    lasts, people = {"Bereit": 1500.0, "Gespräch": 360.0, "Pause": 9000.0}, names("Müller ", 20)
    courses = histories(21, lasts, people)
    rows = [(f"{when:{GERMAN}}:{when:%S}", name, state) for when, name, state in reversed(changes(courses))]
    right = {"rows": "changes", "whose": "Mitarbeiter", "when": "seit", "publish": "Zustand"}
    content = table(["seit", "Mitarbeiter", "Zustand"], rows, ";").decode().replace("\n", "\r\n").encode("cp1252")
    lines = {"source": 'timezone = "Europe/Berlin"'}
    return of_courses("agents.csv", content, right, courses, lasts, "1min", lines=lines)


def bays() -> MadeTable:
    """Return what parking bays sent when they were taken or left, and each six hours: seconds since 1970, 0, 1."""
    lasts, places = {"free": 14_000.0, "taken": 2400.0}, names("B-", 25)
    courses = histories(22, lasts, places)
    sent = {(when, name): state for when, name, state in changes(courses)}
    for name, states in courses.items():
        for (first, state), (last, _) in pairwise(states):
            sent |= {(moment(at), name): state for at in range(-(-first // 21_600) * 21_600, last, 21_600)}
    rows = [(int(when.timestamp()), name, int(state == "taken")) for (when, name), state in sorted(sent.items())]
    right = {"rows": "changes", "whose": "bay", "when": "ts", "publish": "occupied", "timezone": "UTC"}
    content = table(["ts", "bay", "occupied"], rows)
    lines = {"belief": 'map = { 0 = "free", 1 = "taken" }'}
    return of_courses("bays.csv", content, right, courses, lasts, "1min", lines=lines)


def doors() -> MadeTable:
    """Return when doors were opened and closed, with two columns of one name."""
    lasts, places = {"closed": 7000.0, "open": 900.0}, names("D", 20)
    courses = histories(23, lasts, places)
    rows = [(f"{when:{ISO}}", name, state, "ok", "ok") for when, name, state in changes(courses)]
    right = {"rows": "changes", "whose": "sensor", "when": "changed_at", "publish": "state"}
    content = table(["changed_at", "sensor", "state", "check", "check"], rows)
    return of_courses("doors.csv", content, right, courses, lasts, "1min", is_ugly=True)


def joined() -> MadeTable:
    """Return two exports of machines' states that were joined, the header of the second in the middle."""
    lasts, machines = {"producing": 9000.0, "fault": 1200.0, "idle": 3000.0}, names("press ", 12)
    courses = histories(24, lasts, machines)
    rows = [(f"{when:{ISO}}", name, state) for when, name, state in changes(courses)]
    header, half = ("begin", "machine", "status"), len(rows) // 2
    right = {"rows": "changes", "whose": "machine", "when": "begin", "publish": "status"}
    content = table(header, [*rows[:half], header, *rows[half:]])
    return of_courses("presses.csv", content, right, courses, lasts, "1min", is_ugly=True)


def tickets() -> MadeTable:
    """Return when people went on and off duty, tabs between, with the zone of each time and a number of each row."""
    lasts, people = {"off": 40_000.0, "on duty": 20_000.0}, names("Nurse ", 40)
    courses = histories(25, lasts, people)
    said = enumerate(changes(courses))
    rows = [(7000 + k, name, f"{when:%Y-%m-%dT%H:%M:%SZ}", state) for k, (when, name, state) in said]
    right = {"rows": "changes", "whose": "nurse", "when": "at", "publish": "status", "timezone": "UTC"}
    return of_courses("duty.tsv", table(["event_id", "nurse", "at", "status"], rows, "\t"), right, courses, lasts, "1h")


OF_STATES = {"samples": (wearable, meters, nested, titled, diary), "changes": (agents, bays, doors, joined, tickets)}
