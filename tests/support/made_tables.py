"""Tables as people export them, with what is right about each and the truth: what they are made of."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pandas

START = datetime(2026, 1, 5, tzinfo=UTC)
#: Of somebody: states, each from a second on, until the next one; the last one ends the data.
History = list[tuple[int, str]]
#: Recordings of two weeks, in seconds.
DAY, TWO_WEEKS = 86_400, 14 * 86_400
FIRST, LAST = "2026-01-05", "2026-01-19"
SECONDS = {"1min": 60, "10min": 600, "30min": 1800, "1h": 3600, "1d": DAY}


@dataclass(frozen=True)
class MadeTable:
    """A file and its bytes, the answers that are right, what only its author knows, and how often each state was true.

    `fillings` are answers that no table has, `lines` are keys that a person writes into a section, and `others` are
    files beside it. Of what cannot be read as it is `mended` are the name and bytes after what the refusal says.
    """

    file: str
    content: bytes
    right: Mapping[str, str]
    fillings: Mapping[str, str]
    truth: Mapping[str, float]
    lines: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    mended: tuple[str, bytes] | None = None
    is_ugly: bool = False


def table(header: Sequence[str], rows: Iterable[Sequence[object]], sign: str = ",", above: Sequence[str] = ()) -> bytes:
    """Return a CSV file of rows, with lines above its header."""
    lines = [*above, sign.join(header), *(sign.join(map(str, row)) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def flattened(records: Sequence[Mapping[str, object]]) -> bytes:
    """Return records as a CSV file, with a column for each value in an object, as pandas makes them."""
    return pandas.json_normalize(list(records)).to_csv(index=False).encode()


def names(start: str, number: int) -> list[str]:
    return [f"{start}{1 + k:02}" for k in range(number)]


def moment(second: int) -> datetime:
    return START + timedelta(seconds=second)


def history(c: random.Random, lasts: Mapping[str, float]) -> History:
    """Return states in turn, which last so many seconds on average, in two weeks from the start on."""
    second, state = -c.randrange(DAY), c.choice([*lasts])
    states = [(0, state)]
    while second < TWO_WEEKS:
        second += 1 + round(c.expovariate(1 / lasts[state]))
        state = c.choice([other for other in lasts if other != state])
        states = [(0, state)] if second <= 0 else [*states, (min(second, TWO_WEEKS), state)]
    return states


def histories(seed: int, lasts: Mapping[str, float], people: Sequence[str]) -> dict[str, History]:
    """Return the states of each person in two weeks, from the start on."""
    c = random.Random(seed)
    return {name: history(c, lasts) for name in people}


def changes(courses: Mapping[str, History]) -> list[tuple[datetime, str, str]]:
    """Return when each person began which state, in the order of time."""
    every = ((second, name, state) for name, states in courses.items() for second, state in states[:-1])
    return [(moment(second), name, state) for second, name, state in sorted(every)]


def stays(courses: Mapping[str, History], but: str) -> list[tuple[datetime, datetime | None, str, str]]:
    """Return from when to when each person was in which state, but for one; no end where it has not ended."""
    every = list[tuple[int, int, str, str]]()
    for name, states in courses.items():
        for (first, state), (last, _) in pairwise(states):
            every += [(first, last, name, state)] if state != but else []
    return [(moment(a), None if b == TWO_WEEKS else moment(b), name, state) for a, b, name, state in sorted(every)]


def samples(
    seed: int, stays_on: Mapping[str, float], people: Sequence[str], steps: int, lost: float = 0
) -> list[tuple[int, str, str]]:
    """Return the number of the step, the name and the state of each row, in the order of time; some are lost."""
    c, rows = random.Random(seed), list[tuple[int, str, str]]()
    for name in people:
        state = c.choice([*stays_on])
        for step in range(steps):
            if c.random() > stays_on[state]:
                state = c.choice([other for other in stays_on if other != state])
            if c.random() >= lost:
                rows.append((step, name, state))
    return sorted(rows)


def shares(states: Iterable[str]) -> dict[str, float]:
    return {state: float(number) for state, number in Counter(states).items()}


def spent(courses: Mapping[str, History], step: int, states: Iterable[str]) -> dict[str, float]:
    """Return for how many steps each state lasted, parts of them counted as such."""
    total = dict.fromkeys(states, 0.0)
    for history in courses.values():
        for (first, state), (last, _) in pairwise(history):
            total[state] += (last - first) / step
    return total


def in_minutes(lasts: Mapping[str, float]) -> str:
    return ", ".join(f"{state} {last / 60:.4g} min" for state, last in lasts.items())


def equally(states: Iterable[str]) -> str:
    """Return shares of states that add up to one.

    >>> equally("abc")
    'a 0.34, b 0.33, c 0.33'
    """
    some = [*states]
    rest = round(1 / len(some), 2)
    return ", ".join(f"{state} {rest if k else 1 - rest * (len(some) - 1):.2g}" for k, state in enumerate(some))


def known(lasts: Mapping[str, float], people: Sequence[str], **more: str) -> dict[str, str]:
    """Return what the author of a table in time knows of it."""
    said = {"states": ", ".join(lasts), "stay": in_minutes(lasts), "source": "a test", "from": FIRST, "until": LAST}
    said |= {"next": equally(lasts)} if len(lasts) > 2 else {}
    said |= {"roster": ", ".join(people), "independent": "yes"} if people else {}
    return {**said, **more}


def of_samples(
    file: str, content: bytes, right: Mapping[str, str], step: str, stay: str, rows: Sequence[tuple[int, str, str]],
    **more: Any,
) -> MadeTable:
    """Return a table of samples whose author knows their step and how long states last, by their names."""
    states = ", ".join(words.split()[0] for words in stay.split(", "))
    knows = {"step": step, "states": states, "stay": stay, "source": "a test"}
    if right["whose"] != "-":
        knows["independent"] = "yes"
    return MadeTable(file, content, right, knows, shares(state for *_, state in rows), **more)


def of_courses(
    file: str, content: bytes, right: Mapping[str, str], courses: Mapping[str, History], lasts: Mapping[str, float],
    step: str, **more: Any,
) -> MadeTable:
    """Return a table of changes, or of stays in all states but the first one."""
    otherwise = {"otherwise": next(iter(lasts))} if right["rows"] == "stays" else {}
    knows = known(lasts, [*courses], step=step, **otherwise)
    return MadeTable(file, content, right, knows, spent(courses, SECONDS[step], lasts), **more)
