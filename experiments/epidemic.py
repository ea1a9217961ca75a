"""A made-up epidemic over synthetic copies of the persons in the Foursquare check-ins: seeded, stated, ours.

The map is 78 x 78 boxes over fixed public bounds, of which the 5,835 nearest to its middle are places. A synthetic
person takes the weekdays and hours of one week of check-ins of one real person, drawn at random; each of the boxes in
it is replaced by a box of the same block (6 x 6 boxes, 3.8 km), drawn in proportion to how many persons ever checked in
there, among boxes where at least three did. So times, bustle and the length of days are real; no place of a single
person, and nobody's track, is in it. Whoever checks in stays for up to three hours, or until the next check-in: at one
place an hour, at most 24 a day. An infection passes from person to person who are in one box in one hour. The records
are those of the first 10,338 who are infected, in the week after.
"""

from __future__ import annotations

import csv
import gzip
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

FILE = "checkins/foursquare_nyc.csv.gz"
#: Fixed, public bounds: latitude and longitude of two corners, rounded away from the city.
SOUTH_WEST, NORTH_EAST = (40.55, -74.27), (40.99, -73.68)
SIDE, PLACES, BLOCK = 78, 5_835, 6
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = 24 * len(WEEKDAYS)
#: The model of movement and infection.
PEOPLE, STAY, FEWEST, FIRST_CASES, CHANCE, INFECTED, SEED = 40_000, 3, 3, 20, 0.02, 10_338, 20_210_303

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Epidemic:
    """Which place each infected synthetic person is at, by hour of the week: shape (persons, 168), -1 for nowhere."""

    at: Integers

    def hour(self, hour: int) -> Integers:
        """Return how many are at each place in an hour, shape (places,): the hourly case, everybody at one at most."""
        column = self.at[:, hour]
        return np.bincount(column[column >= 0], minlength=PLACES)

    def day(self, day: int) -> Integers:
        """Return how many are at each place at some time of a day, each person once, shape (places,)."""
        column = self.at[:, 24 * day : 24 * (day + 1)]
        person, _ = np.nonzero(column >= 0)
        seen = np.unique(person * PLACES + column[column >= 0])
        return np.bincount(seen % PLACES, minlength=PLACES)


def places() -> Integers:
    """Return the number of each place on the map, shape (78 * 78,), -1 outside: those nearest to the middle."""
    row, column = np.divmod(np.arange(SIDE * SIDE), SIDE)
    middle = (SIDE - 1) / 2
    nearest = np.argsort((row - middle) ** 2 + (column - middle) ** 2, kind="stable")[:PLACES]
    numbers = np.full(SIDE * SIDE, -1)
    numbers[np.sort(nearest)] = np.arange(PLACES)
    return numbers


def box(latitude: float, longitude: float) -> tuple[int, int]:
    """Return the row (from the south) and column (from the west) of a point, clipped to the map."""
    point, shares = (latitude, longitude), zip(SOUTH_WEST, NORTH_EAST, strict=True)
    row, column = (
        min(SIDE - 1, max(0, int((x - low) / (high - low) * SIDE)))
        for x, (low, high) in zip(point, shares, strict=True)
    )
    return row, column


@dataclass(frozen=True)
class Weeks:
    """The check-ins: the weeks of each person as sorted (hour of the week, box), and how many persons each box has."""

    of_person: list[list[list[tuple[int, int]]]]
    persons: Integers

    @staticmethod
    def read(file: Path) -> Weeks:
        people: dict[str, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
        seen: dict[int, set[str]] = defaultdict(set)
        with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
            for line in csv.DictReader(lines):
                row, column = box(float(line["lat"]), float(line["lon"]))
                hour = 24 * WEEKDAYS.index(line["day"]) + int(line["hour"])
                people[line["user"]][line["tid"]].append((hour, row * SIDE + column))
                seen[row * SIDE + column].add(line["user"])
        persons = np.array([len(seen[place]) for place in range(SIDE * SIDE)])
        return Weeks([[sorted(week) for week in weeks.values()] for weeks in people.values()], persons)


def simulate(weeks: Weeks, number: int = INFECTED, seed: int = SEED) -> Epidemic:
    """Return the first so many who are infected, of a seed."""
    draw = np.random.default_rng(seed)
    at = _population(weeks, draw)
    infected = np.zeros(PEOPLE, dtype=bool)
    infected[draw.choice(PEOPLE, FIRST_CASES, replace=False)] = True
    order = np.flatnonzero(infected).tolist()
    while len(order) < number:
        for hour in range(HOURS):
            order += _meet(at[:, hour], infected, draw)
    return Epidemic(at[order[:number]])


def as_dense(all_infected: Epidemic, hour: int, least: int, wanted: int) -> Epidemic:
    """Return the fewest of the first infected with which so many places have `least` people or more in an hour."""
    numbers = range(len(all_infected.at) + 1)
    few = bisect_left(numbers, wanted, key=lambda n: int((Epidemic(all_infected.at[:n]).hour(hour) >= least).sum()))
    return Epidemic(all_infected.at[:few])


def _population(weeks: Weeks, draw: np.random.Generator) -> Integers:
    """Return where everybody is, shape (people, 168)."""
    numbers, blocks = places(), _blocks(weeks.persons)
    at = np.full((PEOPLE, HOURS), -1)
    for person in range(PEOPLE):
        chosen = weeks.of_person[draw.integers(len(weeks.of_person))]
        moved: dict[int, int] = {}
        for hour, place in chosen[draw.integers(len(chosen))]:
            if place not in moved:
                boxes, shares = blocks[_block(place)]
                moved[place] = int(numbers[boxes[np.searchsorted(shares, draw.random())]]) if len(boxes) else -1
            stay = min(HOURS, hour + STAY)
            at[person, hour:stay] = moved[place]  # a later check-in overwrites the rest of this stay
    return at


def _blocks(persons: Integers) -> list[tuple[Integers, npt.NDArray[np.float64]]]:
    """Return for each block the boxes where enough persons checked in, and their cumulated shares of persons."""
    numbers = places()
    by_block = np.array([_block(place) for place in range(SIDE * SIDE)])
    blocks = []
    for block in range(by_block.max() + 1):
        boxes = np.flatnonzero((by_block == block) & (persons >= FEWEST) & (numbers >= 0))
        blocks.append((boxes, np.cumsum(persons[boxes]) / max(1, persons[boxes].sum())))
    return blocks


def _block(place: int) -> int:
    return place // SIDE // BLOCK * (SIDE // BLOCK) + place % SIDE // BLOCK


def _meet(where: Integers, infected: npt.NDArray[np.bool_], draw: np.random.Generator) -> list[int]:
    """Infect those who meet infected people in one hour, and return them."""
    present = np.flatnonzero((where >= 0) & ~infected)
    near = np.bincount(where[infected & (where >= 0)], minlength=PLACES)[where[present]]
    caught = present[draw.random(len(present)) < 1 - (1 - CHANCE) ** near]
    infected[caught] = True
    return [int(person) for person in caught]
