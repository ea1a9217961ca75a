"""Write the made-up data of the examples: `python examples/made_up.py`. Drawn from a seed; nobody's life is in them."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
RACES, LEVELS = ("north", "south"), ("none", "school", "degree")
MASSES = {"north": (2, 5, 3), "south": (3, 5, 2)}

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


def write(folder: Path = HERE) -> None:
    """Write every file into a folder; the same bytes everywhere."""
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
    pupils = [f"pupil-{i}" for i in range(1, 13)]
    met = [
        (a, b, chance.randint(5, 60))
        for i, a in enumerate(pupils)
        for j, b in enumerate(pupils[:i])
        if i // 4 == j // 4
    ]
    _table(folder / "meetings.csv", ("one", "other", "minutes"), met)
    _table(folder / "states.csv", ("pupil", "state"), [(p, chance.choices(("well", "ill"), (3, 1))[0]) for p in pupils])
    _table(folder / "answers.csv", ("answer",), [(chance.choices(("no", "yes"), (3, 1))[0],) for _ in range(40)])


def _activity(chance: random.Random) -> Iterable[Sequence[object]]:
    follows = {"resting": (18, 1, 1), "standing": (2, 16, 2), "walking": (2, 2, 16)}
    for who in ("Ana", "Ben", "Chi"):
        for bout in (1, 2):
            state = "resting"
            for minute in range(60):
                yield who, bout, minute, state
                state = chance.choices(list(follows), follows[state])[0]


def _table(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


if __name__ == "__main__":
    write()
