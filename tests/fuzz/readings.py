"""Readings against enumeration: the same rows read in several ways are never charged less than what they reveal.

    python -m tests.fuzz.readings [MINUTES] [--seed N] [--first N] [--cases N]

One reading is that of the belief, a chain of two states for each person. Whatever any other one reads is known row by
row, so each release adds up states of steps of the belief, some of them often, and the true loss is enumerated: for
Laplace noise at outputs far out, where densities are exponential, in every direction. Nothing of the library is used
for it. What is read otherwise is refused first, and published as other entries then; edits that change no entry are
published as the same, and compared with the same releases without them. Exit code 1 if anything was charged less, or
an honest edit more.
"""

import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.fuzz.edits import ROWS, paid, published, windows
from tests.fuzz.walk import in_a_folder, judge_cases
from tests.support.release_files import EXPECT, believe, publish, release_text, section

import takifugu as tf
from takifugu.accounting.ledger import Ledger
from takifugu.core.errors import ReadingChanged

SLACK = 1e-6
ZONES = ("UTC", "Europe/Moscow", "Asia/Tokyo", "America/Bogota")
HOURS, DAY = 7, "2026-01-05"
#: How many of the cases with release files are published, files and all; the others are read, planned and paid for.
WHOLE = 0.1

#: A step of the belief: whose, and which.
Step = tuple[int, int]


@dataclass(frozen=True)
class Read:
    """One answer, as often as it counts each step of the belief, and the scale of its noise."""

    steps: Counter[Step]
    scale: float


@dataclass(frozen=True)
class Result:
    """What a case was charged and what is true; `said` is how to see it."""

    charged: float
    true: float
    said: str
    without_edits: float = math.inf

    @property
    def is_fault(self) -> bool:
        """Whether less was charged than is true, or more than without edits that change no entry."""
        return self.charged < self.true * (1 - SLACK) or self.charged > self.without_edits * (1 + 1e-9)


def walks(matrices: Sequence[Sequence[Sequence[float]]], start: Sequence[float]) -> Iterator[tuple[Any, float]]:
    """Yield every walk of two states with its probability."""
    for walk in itertools.product((0, 1), repeat=len(matrices) + 1):
        p = start[walk[0]]
        for matrix, (x, y) in zip(matrices, itertools.pairwise(walk), strict=True):
            p *= matrix[x][y]
        yield walk, p


def exact_loss(answers: Sequence[Read], people: int, law: Callable[[int], list[tuple[Any, float]]]) -> float:
    """Return the largest loss of a value of a step, over all directions in which outputs go far out."""
    worst = 0.0
    for person in range(people):
        seen = [(Counter({t: n for (p, t), n in a.steps.items() if p == person}), a.scale) for a in answers]
        seen = [(steps, scale) for steps, scale in seen if steps]
        known = law(person)
        for signs in itertools.product((1, -1), repeat=len(seen)):
            rate: Counter[int] = Counter()
            for sign, (steps, scale) in zip(signs, seen, strict=True):
                for t, n in steps.items():
                    rate[t] += sign * n / scale  # type: ignore[assignment]
            weighted = [(walk, p * math.exp(sum(r for t, r in rate.items() if walk[t]))) for walk, p in known]
            for t in range(len(known[0][0])):
                means = []
                for value in (0, 1):
                    mass = math.fsum(p for walk, p in known if walk[t] == value)
                    total = math.fsum(w for walk, w in weighted if walk[t] == value)
                    if mass > 0:
                        means.append(total / mass)
                if len(means) == 2:
                    worst = max(worst, abs(math.log(means[0] / means[1])))
    return worst


def in_python(c: random.Random, folder: Path) -> Result | None:
    stay, size = c.choice((0.5, 0.7, 0.9, 0.99)), c.randint(3, 8)
    sticky, other = [[stay, 1 - stay], [1 - stay, stay]], [[0.6, 0.4], [0.4, 0.6]]
    period, change = c.choice((1, 1, 3)), c.randrange(1, size)
    start = c.choice(("stationary", "stationary", "any"))
    clock = [t % period if t < change else (t - 1) % period for t in range(size)]  # an hour occurs twice
    steps = [sticky if hour == 0 else other for hour in clock[:-1]] if period > 1 else [sticky] * (size - 1)
    said = [f"chain {sticky}, {size} steps, period {period}, change {change}, {start}"]
    answers, path = [], folder / "a.db"
    is_known = False
    cut = c.choice((0, 0, 1, 2))  # the pieces of the belief: none, or so many steps each
    for number in range(c.randint(2, 4)):
        entries, lengths, at, rule = _described(c, size, cut if period == 1 else 0)
        place = 0 if at is None else at
        matrices = [other] * period if period > 1 else None
        if matrices:
            matrices[0] = sticky
            if at is None or any((clock[at] + n) % period != clock[at + n] for n in range(lengths[0])):
                continue  # a window over the change: the chain that can be declared for it is not what is true
            chain: Any = tf.PeriodicChain(matrices, lengths[0], start=clock[place], initial=start)
        else:
            chain = tf.MarkovChain(sticky, lengths[0], initial=start)
        belief = chain if len(lengths) == 1 else tf.IndependentPieces(chain, lengths)
        epsilon, mechanism = c.choice((0.5, 1, 2)), c.choice(("quilt-exact", "group-dp"))
        try:
            made = tf.calibrate(tf.Pufferfish(tf.every_entry(), belief), tf.Count(1), epsilon, mechanism=mechanism)
            data: Any = [0] * lengths[0] if len(lengths) == 1 else [[0] * n for n in lengths]
            account: dict[str, Any] = {"ledger": path, "source": "s", "unit": "ana", "budget": 10**6, "at": at}
            try:
                tf.release(made, data, **account, entries=rule, other_entries=rule is None)  # these have no other name
            except ReadingChanged:
                tf.release(made, data, **account, entries=rule, other_entries=True)
        except tf.TakifuguError as refused:
            said.append(f"{number}: refused: {str(refused)[:60]}")
            continue
        said.append(f"{number}: {mechanism} {epsilon}, {lengths} at {at} as {rule!r}, reads {entries}")
        # steps in their order are what the belief is about
        is_known = is_known or entries == list(range(entries[0], entries[0] + len(entries)))
        answers.append(Read(Counter((0, t) for t in entries), float(made.scale)))
    if not is_known:  # nobody was promised anything about these steps
        return None
    pieces = [range(n, min(n + cut, size)) for n in range(0, size, cut)] if cut and period == 1 else [range(size)]
    beginnings = ([0.5, 0.5],) if start == "stationary" else ([0.5, 0.5], [1.0, 0.0], [0.01, 0.99], [0.3, 0.7])
    worst = 0.0
    for begin in beginnings:
        for piece in pieces:  # one piece after the other: they are independent
            inside = [Read(Counter({(0, t - piece.start): n for (_, t), n in a.steps.items() if t in piece}), a.scale)
                      for a in answers]  # fmt: skip
            known = list(walks([steps[t] for t in piece[:-1]], begin))
            worst = max(worst, exact_loss(inside, 1, lambda _, known=known: known))  # type: ignore[misc]
    return Result(float(Ledger.open(path).spent("s").epsilon), worst, "\n".join(said))


def _described(c: random.Random, size: int, cut: int) -> tuple[list[int], list[int], int | None, str | None]:
    """Return which steps are read, and how they are described: pieces, place, name."""
    how, usual = c.randrange(4), [min(cut, size - n) for n in range(0, size, cut)] if cut else [size]
    if how == 0 and not cut:  # a window of the recording
        length = c.randint(1, size)
        at = c.randrange(size - length + 1)
        return list(range(at, at + length)), [length], at, c.choice((None, "hours"))
    if how <= 1:  # all of it, by the declared rule
        return list(range(size)), usual, None, c.choice((None, "hours"))
    lengths = [c.randint(1, 3) for _ in range(c.randint(1, 3))]
    chosen = [c.randrange(size) for _ in range(sum(lengths))]  # many entries may be one
    return chosen, lengths, None, f"another rule {c.random()}" if how == 2 else None


@dataclass(frozen=True)
class Row:
    """A row of the table: whose, in which bed, when, and of which step each column holds the state."""

    person: int
    bed: int
    hour: int
    quarter: int
    state: int
    lag: int


def with_edits(c: random.Random, folder: Path) -> Result | None:
    """Publish windows of one ward in several forms, or with edits that change no entry."""
    stay, is_honest = c.choice((0.5, 0.8, 0.95)), c.random() < 0.5
    is_whole = c.random() < WHOLE
    requested, said = list(windows(c, is_honest)), [f"chain {stay}"]
    charged, known = published(requested, folder / "edited", stay, said, is_whole, is_honest)
    if not any(one.form == "usual" for one, _ in known):
        return None
    without = math.inf
    if is_honest:
        plain = [replace(one, edits={}) for one, _ in known]
        without, again = published(plain, folder / "plain", stay, [], is_whole, is_honest)
        assert len(again) == len(known) == len(requested), said
    matrix = [[stay, 1 - stay], [1 - stay, stay]]
    law = list(walks([matrix] * (ROWS - 1), [0.5, 0.5]))
    answers = [Read(one.rows, scale) for one, scale in known]
    return Result(charged, exact_loss(answers, 1, lambda _: law), "\n".join(said), without)


def rows_of(people: int) -> list[Row]:
    """Four rows an hour; the last tells the state of the hour before, and beds are swapped every other hour."""
    return [
        Row(p, (p + hour // 2) % people, hour, quarter, max(hour - (quarter == 3), 0), max(hour - 1, 0))
        for p in range(people) for hour in range(HOURS) for quarter in range(4)
    ]  # fmt: skip


def in_files(c: random.Random, folder: Path) -> Result | None:
    stay, people, path = c.choice((0.5, 0.8, 0.95)), c.choice((1, 2)), folder / "a.db"
    rows = rows_of(people)
    lines = [f"p{r.person},b{r.bed},{DAY}T{r.hour:02}:00,{DAY}T{r.hour:02}:{15 * r.quarter:02},calm,calm" for r in rows]
    (folder / "d.csv").write_text("\n".join(["person,bed,hour,t,state,lag", *lines, ""]))
    usual = {"unit": "person", "value": "state", "order": "hour", "kept": "first", "zone": ""}
    ways = {"unit": ("bed", "none"), "value": ("lag",), "order": ("t",), "kept": ("last",), "zone": ZONES}
    answers, said, is_known = [], [f"chain {stay}, {people} people"], False
    is_whole = c.random() < WHOLE
    for number in range(c.randint(2, 4)):
        described = dict(usual)
        for key in c.sample(list(ways), c.choice((0, 0, 1, 1, 2))):
            described[key] = c.choice(ways[key])
        first = c.randrange(HOURS)
        last = c.randint(first + 1, HOURS)
        item = {"epsilon": c.choice((0.5, 1, 2)), "mechanism": c.choice(("quilt-exact", "group-dp")), "per": "pooled"}
        if described["unit"] == "none" and people > 1:
            continue
        text = toml(described, stay, first, last, item)
        (folder / "f.toml").write_text(text)
        try:
            scale = paid(folder, number, is_whole, same_entries=False)
        except tf.TakifuguError as refused:
            said.append(f"{number}: refused: {str(refused)[:60]}")
            continue
        is_known = is_known or described == usual
        read = read_by(rows, described, range(first, last))
        answers.append(Read(read, scale))
        said.append(f"{number}: {described} {first} to {last}, {item}")
    if not is_known:
        return None
    matrix = [[stay, 1 - stay], [1 - stay, stay]]
    known = list(walks([matrix] * (HOURS - 1), [0.5, 0.5]))
    return Result(
        float(Ledger.open(path).spent("s").epsilon), exact_loss(answers, people, lambda _: known), "\n".join(said)
    )


def read_by(rows: Sequence[Row], described: Mapping[str, str], hours: range) -> Counter[Step]:
    """Return which steps of the belief a reading reads in some hours, and how often."""
    by_key: dict[Any, Row] = {}
    for row in rows:
        if row.hour not in hours:
            continue
        whose = {"person": row.person, "bed": row.bed, "none": 0}[described["unit"]]
        step = (row.hour, row.quarter) if described["order"] == "t" else (row.hour,)
        key = (whose, step)
        if key not in by_key or described["kept"] == "last":
            by_key[key] = row
    return Counter((row.person, getattr(row, described["value"])) for row in by_key.values())


def toml(described: Mapping[str, str], stay: float, first: int, last: int, item: Mapping[str, Any]) -> str:
    has_units, order, select = described["unit"] != "none", described["order"], "from read_csv('d.csv')"
    unit, per = ({"unit": described["unit"]}, {"per": item["per"]}) if has_units else ({}, {})
    if order == "hour":
        way = "desc" if described["kept"] == "last" else "asc"
        whose = f"{described['unit']}, " if has_units else ""
        select += f" qualify row_number() over (partition by {whose}hour order by t {way}) = 1"
    zone = {"timezone": described["zone"]} if described["zone"] else {}
    return release_text(
        section("[source]", name="s", sql=select, rows="samples", budget=1000000, value=described["value"], **unit,
                order=f"{order}::timestamp AT TIME ZONE '{described['zone']}'" if zone else order,
                step="1h" if order == "hour" else "15min", **zone, from_=DAY, until="2026-01-06"),
        believe("markov-chain", states=["calm", "busy"], matrix=[[stay, 1 - stay], [1 - stay, stay]],
                units_independent=True),
        publish("t", "count", states=["busy"], epsilon=item["epsilon"], mechanism=item["mechanism"], **per,
                from_=f"{DAY}T{first:02}:00", to=f"{DAY}T{last:02}:00"),
        ledger="a.db", expect=EXPECT,
    )  # fmt: skip


def case(seed: str) -> Result | None:
    """Return what one case was charged; None where everything was refused."""
    return in_a_folder(seed, lambda c, folder: c.choice((in_python, in_python, in_files, with_edits))(c, folder))


def judged(seed: str) -> tuple[str, str]:
    outcome = case(seed)
    if outcome is None or not outcome.is_fault:
        return "without a promise" if outcome is None else "good", ""
    words = f"charged {outcome.charged:.6g}, true {outcome.true:.6g}, without edits {outcome.without_edits}"
    return "fault", f"{words}\n{outcome.said}"


def main(arguments: Sequence[str] | None = None) -> int:
    return judge_cases("readings", __doc__, judged, arguments)


if __name__ == "__main__":
    sys.exit(main())
