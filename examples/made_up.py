"""Write the made-up data of the examples: `python examples/made_up.py`. Drawn from a seed; nobody's life is in them."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
REAL = HERE / "real"
RACES, LEVELS = ("north", "south"), ("none", "school", "degree")
MASSES = {"north": (2, 5, 3), "south": (3, 5, 2)}

#: How often a boiler starts in each hour of the day, in starts an hour, and for how many minutes it runs on average.
STARTS = (
    0.04, 0.04, 0.04, 0.04, 0.04, 0.2, 0.6, 0.8, 0.6, 0.3, 0.2, 0.3, 0.35, 0.25, 0.2, 0.2, 0.3, 0.5, 0.8, 0.7, 0.6,
    0.4, 0.3, 0.1,
)  # fmt: skip
HEATING = 20

#: How many calls come in each hour of a working day for each agent, and how many minutes one lasts on average.
CALLS = {8: 3.5, 9: 4.5, 10: 5, 11: 4.5, 12: 3, 13: 3, 14: 4, 15: 3.5, 16: 3}
TALK = 6

#: How many hours a patient stays on each ward on average, and at home.
WARDS = {"surgery": 80, "medicine": 120}
AT_HOME = 400

#: Where people of a made-up city were on one evening: the middle of a quarter, how wide it is, and its share of them.
QUARTERS = (((2.5, 3.0), 0.9, 0.45), ((7.5, 7.0), 0.7, 0.35), ((3.0, 8.0), 0.5, 0.2))

#: How often visitors of three towns stop at each kilometre of a street, in tenths.
TOWNS = ((6, 2, 1, 1), (1, 6, 2, 1), (1, 1, 2, 6))

#: A network of our own: damp walls and smoke make people cough, and whoever coughs sees a doctor more often.
CLINIC = """\
network clinic { }
variable damp { type discrete [ 2 ] { yes, no }; }
variable smoker { type discrete [ 2 ] { yes, no }; }
variable cough { type discrete [ 2 ] { yes, no }; }
variable doctor { type discrete [ 2 ] { yes, no }; }
probability ( damp ) { table 0.3, 0.7; }
probability ( smoker ) { table 0.25, 0.75; }
probability ( cough | damp, smoker ) {
  (yes, yes) 0.7, 0.3;
  (yes, no) 0.4, 0.6;
  (no, yes) 0.5, 0.5;
  (no, no) 0.1, 0.9;
}
probability ( doctor | cough ) {
  (yes) 0.6, 0.4;
  (no) 0.2, 0.8;
}
"""

#: The variables of Lauritzen and Spiegelhalter 1988 with the same parents; the numbers are our own and mean nothing.
ASIA = """\
network made_up { }
variable asia { type discrete [ 2 ] { yes, no }; }
variable tub { type discrete [ 2 ] { yes, no }; }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable lung { type discrete [ 2 ] { yes, no }; }
variable bronc { type discrete [ 2 ] { yes, no }; }
variable either { type discrete [ 2 ] { yes, no }; }
variable xray { type discrete [ 2 ] { yes, no }; }
variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( asia ) { table 0.1, 0.9; }
probability ( smoke ) { table 0.3, 0.7; }
probability ( tub | asia ) { (yes) 0.2, 0.8; (no) 0.1, 0.9; }
probability ( lung | smoke ) { (yes) 0.6, 0.4; (no) 0.1, 0.9; }
probability ( bronc | smoke ) { (yes) 0.7, 0.3; (no) 0.2, 0.8; }
probability ( either | lung, tub ) { (yes, yes) 1, 0; (no, yes) 1, 0; (yes, no) 1, 0; (no, no) 0, 1; }
probability ( xray | either ) { (yes) 0.8, 0.2; (no) 0.3, 0.7; }
probability ( dysp | bronc, either ) { (yes, yes) 0.7, 0.3; (no, yes) 0.6, 0.4; (yes, no) 0.5, 0.5; (no, no) 0.2, 0.8; }
"""

#: How likely each level of education is for the columns of Adult; the masses are our own.
SCHOOLS = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
GROUPS = {
    "White": (1, 1, 1, 2, 1, 2, 2, 1, 10, 7, 2, 2, 6, 2, 1, 1),
    "Asian-Pac-Islander": (1, 1, 1, 1, 1, 1, 2, 1, 8, 7, 2, 2, 8, 3, 1, 1),
    "Black": (1, 1, 1, 2, 1, 2, 3, 1, 10, 8, 2, 2, 5, 2, 1, 1),
}

#: Of 10 pupils of each school those who pass; and where people are in kilometres, at home or out.
PASSES = {"evening": 6, "day": 7}
PLACES = {"home": (2.5, 3.5), "out": (3.5, 2.5)}

#: The share of all people who were at each venue of a festival.
VENUES = {
    "main stage": 0.5, "food court": 0.4, "beer garden": 0.3, "north gate": 0.25, "cinema": 0.1, "workshop": 0.03,
    "south gate": 0.02, "quiet room": 0.01, "museum": 0.01, "chapel": 0.01, "library": 0.005, "boat house": 0.005,
}  # fmt: skip


def write(folder: Path = HERE, real: Path = REAL) -> None:
    """Write every file into a folder, and those that stand in for real data into another; the same bytes everywhere."""
    _write_examples(folder)
    _write_stand_ins(real)
    boilers = sorted(_boilers(random.Random(2028)))
    _table(folder / "households.csv", ("since", "household", "boiler"), boilers)
    agents = [f"agent-{number:02}" for number in range(1, 31)]
    _table(folder / "calls.csv", ("at", "agent", "state"), sorted(_calls(agents, random.Random(2029))))
    _table(folder / "agents.csv", ("agent",), [(agent,) for agent in agents])
    patients = [f"p-{number:03}" for number in range(1, 181)]
    _table(folder / "ward.csv", ("admitted", "left", "patient", "ward"), sorted(_stays(patients, random.Random(2030))))
    _table(folder / "patients.csv", ("patient",), [(patient,) for patient in patients])
    _table(folder / "city.csv", ("person", "east", "north"), _evening(random.Random(2031)))
    _write_populations(folder, random.Random(2032))
    _table(folder / "hours.csv", ("person", "when", "east", "north"), sorted(_hours(random.Random(2033))))
    chance = random.Random(2034)
    visits = [(f"p{n}", place) for n in range(1, 401) for place, share in VENUES.items() if chance.random() < share]
    _table(folder / "venues.csv", ("person", "place"), visits)


def _write_examples(folder: Path) -> None:
    chance = random.Random(2026)
    _table(folder / "activity.csv", ("participant", "bout", "minute", "posture"), _activity(chance))
    people = [(race, level) for race in RACES for level in chance.choices(LEVELS, MASSES[race], k=50)]
    _table(folder / "census.csv", ("race", "education"), people)
    mine = [
        (f"p{i}", race, chance.choices(LEVELS, MASSES[race])[0]) for i, race in enumerate(chance.choices(RACES, k=5))
    ]
    _table(folder / "people.csv", ("person", "race", "education"), mine)
    (folder / "clinic.bif").write_text(CLINIC, encoding="utf-8", newline="\n")
    _table(folder / "patient.csv", ("damp", "smoker", "cough", "doctor"), [chance.choices(("yes", "no"), k=4)])
    pupils = [f"pupil-{i}" for i in range(1, 121)]
    met = [
        (a, b, chance.randint(5, 60))
        for i, a in enumerate(pupils)
        for j, b in enumerate(pupils[:i])
        if i // 4 == j // 4
    ]
    _table(folder / "meetings.csv", ("one", "other", "minutes"), met)
    ill = [(pupil, chance.choices(("well", "ill"), (10, 1))[0]) for pupil in pupils]
    _table(folder / "states.csv", ("pupil", "state"), ill)
    _table(folder / "answers.csv", ("answer",), [(chance.choices(("no", "yes"), (3, 1))[0],) for _ in range(400)])


def _write_populations(folder: Path, chance: random.Random) -> None:
    """Write pupils of two years, where some people and others were, and rounds of vans."""
    for name, pupils in (("last-year.csv", 900), ("exams.csv", 600)):
        _table(folder / name, ("school", "passed"), [_pupil(chance) for _ in range(pupils)])
    others = [(status, *_place(status, chance)) for status in chance.choices(list(PLACES), k=2500)]
    _table(folder / "others.csv", ("status", "east", "north"), others)
    people = [(f"p{number}", *_place(chance.choice(list(PLACES)), chance)) for number in range(1, 301)]
    _table(folder / "places.csv", ("person", "east", "north"), people)
    stops = [(chance.choices((0, 1, 2, 3), chance.choice(TOWNS))[0],) for _ in range(200)]
    _table(folder / "street.csv", ("kilometre",), stops)
    rounds = [(f"{chance.gauss(238, 32):.1f}",) for _ in range(120)]
    _table(folder / "rounds.csv", ("minutes",), rounds)


def _pupil(chance: random.Random) -> tuple[str, str]:
    school = "evening" if chance.random() < 0.4 else "day"
    return school, "yes" if chance.random() < PASSES[school] / 10 else "no"


def _place(status: str, chance: random.Random) -> list[float]:
    return [round(min(max(chance.gauss(middle, 1.5), 0), 5.99), 2) for middle in PLACES[status]]


def _write_stand_ins(folder: Path) -> None:
    chance = random.Random(2027)
    table = [(group, chance.choices(SCHOOLS, GROUPS[group])[0]) for group in GROUPS for _ in range(120)]
    _table(folder / "adult-made-up.csv", ("race", "education"), table)
    people = [(f"p{i}", group) for i, group in enumerate(chance.choices(list(GROUPS), k=5))]
    rows = [(who, group, chance.choices(SCHOOLS, GROUPS[group])[0]) for who, group in people]
    _table(folder / "people.csv", ("person", "race", "education"), rows)
    (folder / "asia-made-up.bif").write_text(ASIA, encoding="utf-8", newline="\n")
    names = [line.split()[1] for line in ASIA.splitlines() if line.startswith("variable")]
    patient = dict(zip(names, chance.choices(("yes", "no"), k=len(names)), strict=True))
    patient["either"] = "yes" if "yes" in (patient["lung"], patient["tub"]) else "no"
    _table(folder / "patient.csv", names, [list(patient.values())])
    met = [
        (i, j, chance.randint(15, 90) if (i - 1) // 5 == (j - 1) // 5 else chance.randint(1, 14))
        for i in range(1, 41)
        for j in range(i + 1, 41)
        if (i - 1) // 5 == (j - 1) // 5 or chance.random() < 0.2
    ]
    _table(folder / "contacts-made-up.csv", ("i", "j", "contacts_20s"), met)
    states = [(i, chance.choices(("well", "ill"), (3, 1))[0]) for i in range(1, 41)]
    _table(folder / "states.csv", ("pupil", "state"), states)


def _activity(chance: random.Random) -> Iterable[Sequence[object]]:
    follows = {"resting": (18, 1, 1), "standing": (2, 16, 2), "walking": (2, 2, 16)}
    for who in ("Ana", "Ben", "Chi"):
        for bout in (1, 2):
            state = "resting"
            for minute in range(60):
                yield who, bout, minute, state
                state = chance.choices(list(follows), follows[state])[0]


def _boilers(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield a week of changes of twenty boilers: since when each is in which state."""
    monday, week = datetime(2026, 1, 5), 7 * 24 * 60
    for number in range(1, 21):
        minute = 0
        while minute < week:
            minute += 1
            if chance.random() < STARTS[minute // 60 % 24] / 60:
                for state, lasts in (("heating", 5 + int(chance.expovariate(1 / HEATING))), ("off", 5)):
                    if minute < week:
                        yield f"{monday + timedelta(minutes=minute):%Y-%m-%d %H:%M}", f"home-{number}", state
                    minute += lasts


def _calls(agents: Sequence[str], chance: random.Random) -> Iterator[tuple[str, str, str]]:
    """Yield a Monday of changes of a call centre: since when each agent is away, ready or talking."""
    monday = datetime(2026, 1, 5)
    for agent in agents:
        minute, last = chance.uniform(8 * 60, 8 * 60 + 10), chance.uniform(17 * 60 - 10, 17 * 60 - 1)
        while minute < last:
            yield _clock(monday, minute), agent, "ready"
            minute = min(last, minute + 1 + chance.expovariate(CALLS[int(minute // 60)] / 60))
            if minute < last:
                yield _clock(monday, minute), agent, "talking"
                minute = min(17 * 60 - 1, minute + 1 + chance.expovariate(1 / TALK))
            if minute < last and chance.random() < 0.05:
                yield _clock(monday, minute), agent, "away"
                minute = min(last, minute + 10 + chance.expovariate(1 / 40))
        yield _clock(monday, minute), agent, "away"


def _stays(patients: Sequence[str], chance: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """Yield four weeks of stays in a hospital: from when to when who lay on which ward; the last may go on."""
    monday, month = datetime(2026, 1, 5), 28 * 24
    for patient in patients:
        # how much of the time a patient is at home, on the one ward, on the other
        hour, place = 0.0, chance.choices(("home", *WARDS), (4 * AT_HOME, *(3 * hours for hours in WARDS.values())))[0]
        while hour < month:
            end = hour + chance.expovariate(1 / {"home": AT_HOME, **WARDS}[place])
            if place != "home":
                yield _clock(monday, 60 * hour), _clock(monday, 60 * end) if end < month else "", patient, place
            others = [other for other in WARDS if other != place]
            place = chance.choice(others if place == "home" else ["home", "home", *others])
            hour = end


def _evening(chance: random.Random) -> Iterator[tuple[str, float, float]]:
    """Yield where each person of a made-up city was at eight on one evening, in kilometres."""
    shares = [share for _, _, share in QUARTERS]
    for number in range(1, 1201):
        (east, north), width, _ = chance.choices(QUARTERS, shares)[0]
        yield f"p{number}", *(round(min(max(chance.gauss(middle, width), 0), 9.99), 2) for middle in (east, north))


def _hours(chance: random.Random) -> Iterator[tuple[str, str, float, float]]:
    """Yield where people of a made-up city checked in on one evening, once an hour: they move to the second quarter."""
    for number in range(1, 401):
        for hour in range(21, 24):
            if chance.random() < 0.6:
                (east, north), width, _ = QUARTERS[chance.random() < (hour - 20) / 4]
                place = (round(min(max(chance.gauss(middle, width), 0), 9.99), 2) for middle in (east, north))
                yield f"p{number}", f"2026-01-09 {hour}:{chance.randrange(60):02}", *place


def _clock(day: datetime, minute: float) -> str:
    return f"{day + timedelta(minutes=minute):%Y-%m-%d %H:%M:%S}"


def _table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


if __name__ == "__main__":
    write()
