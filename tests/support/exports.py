"""Six tables as people export them, made from scratch: their text, their release file, and the time that is true."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.release_files import believe, publish, read_from, release_text

START = datetime(2026, 1, 5, tzinfo=UTC)
#: Of somebody: states, each from a second on, until the next one; the last one ends the data.
History = list[tuple[int, str]]

Keys = dict[str, Any]


@dataclass(frozen=True)
class Export:
    """Files by name, of which one is "f.toml"; how many steps each state lasted, and how many rows say it.

    `are_lasting` says that states begin and end between two steps.
    """

    files: dict[str, bytes]
    steps: dict[str, float]
    rows: dict[str, int]

    @property
    def are_lasting(self) -> bool:
        return any(steps % 1 for steps in self.steps.values())


def made_history(c: random.Random, lasts: dict[str, float], seconds: int) -> History:
    """Return states in turn, which last so many seconds on average, from before the start until after the end."""
    at, state = -c.randrange(86_400), c.choice([*lasts])
    history = [(at, state)]
    while at < seconds:
        at += 1 + round(c.expovariate(1 / lasts[state]))
        state = c.choice([other for other in lasts if other != state])
        history.append((min(at, seconds), state))
    return history


def lasting(courses: Sequence[History], step: int, states: Sequence[str]) -> dict[str, float]:
    """Return for how many steps each state lasted since the start, parts of them counted as such."""
    total = dict.fromkeys(states, 0.0)
    for history in courses:
        for (first, state), (last, _) in pairwise(history):
            total[state] += max(0, last - max(0, first)) / step
    return total


def _rows(courses: Sequence[History], states: Sequence[str]) -> dict[str, int]:
    said = [state for history in courses for _, state in history[:-1]]
    return {state: said.count(state) for state in states}


def _export(
    files: dict[str, bytes], steps: dict[str, float], rows: dict[str, int], source: Keys, belief: Keys, **release: str
) -> Export:
    """Return an export whose first file is the data of a release file of these keys."""
    text = release_text(
        read_from("export", next(iter(files)), budget=50, from_="2026-01-05", **source),
        believe("markov-chain", **belief), publish("time", "histogram", epsilon=1, **release),
        output="out", expect={"source": "a test", "matters": 1000000},
    )  # fmt: skip
    return Export({**files, "f.toml": text.encode()}, steps, rows)


def moment(second: int) -> datetime:
    return START + timedelta(seconds=second)


def calls() -> Export:
    """Return a call centre's log, newest first: semicolons, Windows' umlauts, German clocks; a row is a change."""
    c, lasts = random.Random(1), {"Pause": 9000, "Bereit": 1500, "Gespräch": 360}
    berlin = ZoneInfo("Europe/Berlin")
    agents = ("Müller, Jörg", "Öz, Ayse", "Weiß", *(f"Agent {number}" for number in range(17)))
    courses = {agent: made_history(c, lasts, 14 * 86_400 - 3600) for agent in agents}
    changes = sorted((at, agent, state) for agent, history in courses.items() for at, state in history[:-1])
    lines = ["Zeitpunkt;Mitarbeiter;Status;Nr.", *(
        f"{moment(at - 3600).astimezone(berlin):%d.%m.%Y %H:%M:%S};{agent};{state};{number}"
        for number, (at, agent, state) in reversed([*enumerate(changes)])
    )]  # fmt: skip
    shifted = [[(max(at, 0), state) for at, state in history] for history in courses.values()]
    source = {"rows": "changes", "encoding": "cp1252", "unit": "Mitarbeiter", "roster": "agents.csv",
              "order": "Zeitpunkt", "order_format": "%d.%m.%Y %H:%M:%S", "timezone": "Europe/Berlin", "step": "1min",
              "until": "2026-01-18T23:00:00", "value": "Status"}  # fmt: skip
    belief = {"states": [*lasts], "stay": {"Pause": "150 min", "Bereit": "25 min", "Gespräch": "6 min"},
              "next": {"Pause": 0.34, "Bereit": 0.33, "Gespräch": 0.33}, "units_independent": True}  # fmt: skip
    roster = "\n".join(["Mitarbeiter", *(f'"{agent}"' for agent in agents)])
    files = {"calls.csv": "\r\n".join(lines).encode("cp1252"), "agents.csv": roster.encode("cp1252")}
    return _export(files, lasting(shifted, 60, [*lasts]), _rows([*courses.values()], [*lasts]), source, belief)


def parking() -> Export:
    """Return what sensors of parking bays sent: milliseconds, 0 and 1, the state again each six hours."""
    c, lasts = random.Random(2), {"free": 14_000, "taken": 2_400}
    courses, lines = [], ["ts,bay,occupied"]
    for bay in range(25):
        history = made_history(c, lasts, 7 * 86_400)
        again = sorted({*history, *_repeated(history)})
        courses.append(history)
        sent = [(int(moment(at).timestamp()) * 1000, int(state == "taken")) for at, state in again[:-1]]
        lines += [f"{at},B-{bay:03},{is_taken}" for at, is_taken in sent]
    source = {"rows": "changes", "unit": "bay", "roster": [f"B-{bay:03}" for bay in range(25)], "order": "ts",
              "order_format": "epoch_ms", "step": "1min", "until": "2026-01-12", "value": "occupied"}  # fmt: skip
    belief = {"states": [*lasts], "map": {0: "free", 1: "taken"}, "stay": {"free": "4 h", "taken": "40 min"},
              "units_independent": True}  # fmt: skip
    rows = {"free": sum(line.endswith(",0") for line in lines), "taken": sum(line.endswith(",1") for line in lines)}
    return _export({"bays.csv": "\n".join(lines).encode()}, lasting(courses, 60, [*lasts]), rows, source, belief)


def _repeated(history: History) -> Iterator[tuple[int, str]]:
    """Yield the states in force each six hours, except where one begins just then."""
    for (first, state), (last, _) in pairwise(history):
        for at in range(first // 21_600 * 21_600 + 21_600, last, 21_600):
            yield at, state


def ward() -> Export:
    """Return stays in a ward's beds, as American clocks write them; who has not left has no end."""
    c, lasts = random.Random(3), {"home": 700_000, "surgery": 60_000}
    names = [f"MRN{1000 + number}" for number in range(60)]
    courses = {name: made_history(c, lasts, 28 * 86_400) for name in names}
    form, lines = "%m/%d/%Y %I:%M:%S %p", ["Patient ID\tUnit\tAdmitted\tDischarged"]
    for name, history in courses.items():
        for (first, state), (last, _) in pairwise(history):
            left = "" if last == 28 * 86_400 else f"{moment(last):{form}}"
            if state != "home":
                lines.append(f"{name}\t{state}\t{moment(first):{form}}\t{left}")
    source = {"rows": "stays", "unit": "Patient ID", "roster": "patients.csv", "start": "Admitted",
              "end": "Discharged", "order_format": form, "otherwise": "home", "step": "1h", "until": "2026-02-02",
              "value": "Unit"}  # fmt: skip
    belief = {"states": [*lasts], "stay": {"home": "195 h", "surgery": "17 h"}, "units_independent": True}
    files = {"beds.tsv": "\n".join(lines).encode(), "patients.csv": "\n".join(["Patient ID", *names]).encode()}
    rows = {**_rows([*courses.values()], [*lasts]), "home": 0}
    return _export(files, lasting([*courses.values()], 3600, [*lasts]), rows, source, belief)


def arrivals() -> Export:
    """Return who came to an emergency room, a row each; of several in one step the first one counts."""
    c, at, lines = random.Random(4), 0.0, ["arrived_at,triage,age"]
    first: dict[int, str] = {}
    rows = {"quiet": 0, "urgent": 0, "other": 0}
    while (at := at + c.expovariate(1 / 3000)) < 56 * 86_400:
        state = c.choices(["urgent", "other"], [1, 4])[0]
        first.setdefault(int(at) // 1800, state)
        rows[state] += 1
        lines.append(f"{moment(int(at)):%Y-%m-%dT%H:%M:%SZ},{state},{c.randrange(90)}")
    steps = {state: float([*first.values()].count(state)) for state in rows}
    steps["quiet"] = 56 * 48.0 - len(first)
    source = {"rows": "events", "order": "arrived_at", "otherwise": "quiet", "overlap": "first", "step": "30min",
              "until": "2026-03-02", "value": "triage"}  # fmt: skip
    belief = {"states": [*rows], "matrix": [[0.55, 0.09, 0.36]] * 3}
    return _export({"arrivals.csv": "\n".join(lines).encode()}, steps, rows, source, belief, per="pooled")


def attendance() -> Export:
    """Return a school's sheet: a column for each day of school, an x for who was there."""
    c, days = random.Random(5), [START + timedelta(days) for days in range(56) if days % 7 < 5]
    lines, steps = [";".join(["Name", "Class", *(f"{day:%d/%m/%Y}" for day in days)])], {"absent": 0.0, "there": 0.0}
    for pupil in range(90):
        state, cells = "there", list[str]()
        for _ in days:
            state = c.choices(["absent", "there"], [0.6, 0.4] if state == "absent" else [0.06, 0.94])[0]
            steps[state] += 1
            cells.append("x" if state == "there" else c.choice(["", "absent"]))
        lines.append(";".join([f"Pupil {pupil}", "AB"[pupil % 2], *cells]))
    source = {"rows": "wide", "columns": "*/*/2026", "order_format": "%d/%m/%Y", "ignore": ["Class"],
              "empty": "absent", "unit": "Name", "order": "day", "step": "1d", "until": "2026-03-02",
              "value": "state"}  # fmt: skip
    belief = {"states": [*steps], "map": {"x": "there"}, "matrix": [[0.6, 0.4], [0.06, 0.94]],
              "units_independent": True}  # fmt: skip
    return _export({"sheet.csv": "\n".join(lines).encode()}, steps, {"absent": 0, "there": 90}, source, belief)


def meter() -> Export:
    """Return meters' half hours with decimal commas; some are lost, one by one and for days."""
    c, lines = random.Random(6), ["Zähler;Zeit;kWh"]
    steps, rows = {"low": 0.0, "high": 0.0}, {"low": 0, "high": 0}
    for name in range(20):
        state, lost = "low", -1
        for step in range(28 * 48):
            state = c.choices(["low", "high"], [0.9, 0.1] if state == "low" else [0.3, 0.7])[0]
            lost = step + c.randrange(48, 200) if c.random() < 0.002 else lost
            if step > lost and c.random() > 0.01:
                used = c.uniform(0, 0.4) if state == "low" else c.uniform(0.5, 3)
                lines.append(f"Z{name};{moment(1800 * step):%Y-%m-%d %H:%M};{used:.3f}".replace(".", ","))
                steps[state] += 1
                rows[state] += 1
    source = {"rows": "samples", "unit": "Zähler", "order": "Zeit", "step": "30min", "until": "2026-02-02",
              "decimal": ",", "bins": {"low": [0, 0.45], "high": [0.45, 1000]}, "value": "kWh"}  # fmt: skip
    belief = {"states": [*steps], "matrix": [[0.9, 0.1], [0.3, 0.7]], "units_independent": True}
    return _export({"meters.csv": "\n".join(lines).encode()}, steps, rows, source, belief)


EXPORTS = {
    "call centre": calls, "parking": parking, "ward": ward, "arrivals": arrivals, "attendance": attendance,
    "meter": meter,
}  # fmt: skip
