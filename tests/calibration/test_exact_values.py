"""No release file with a delta publishes an exact value: random files against the enumerated law of the outputs."""

import csv
import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.drawn_noise import Answer, read_off
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text

from takifugu.core.errors import CalibrationRefused
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated

#: Up to this epsilon 1 - e^-epsilon is below 0.9, and the nearer of two answers is right at most 95 times in 100.
LARGEST_EPSILON = 2.25
#: Entries as the answers that their values add; whether one is a secret.
Entries = list[tuple[bool, list[Answer]]]


def promised(chance: random.Random) -> dict[str, Any]:
    epsilon = round(chance.choice([0.2, 0.5, 1, 1.5, 2, LARGEST_EPSILON]) * chance.uniform(0.8, 1), 3)
    return {"epsilon": epsilon, "delta": float(f"{10 ** chance.uniform(-12, -2):.3g}")}


def about_people(chance: random.Random, folder: Path) -> tuple[str, Entries]:
    """One attribute of a person is hidden, and the code of another one published."""
    levels = [f"level {number}" for number in range(chance.randint(2, 4))]
    codes = sorted(chance.sample(range(chance.choice([4, 8, 400])), len(levels)))
    rows = [("race", "edu")]
    for race in ("a", "b"):
        for level in levels:
            rows += [(race, level)] * chance.randint(1, 40)
    write(folder / "census.csv", rows)
    write(folder / "people.csv", [("person", "race", "edu"), ("1", "a", levels[0])])
    fit = {"file": "census.csv", "columns": ["race", "edu"]}
    text = release_text(
        read_from("people", "people.csv", unit="person", only_release=True),
        believe("table", source="public", units_independent=True, fit=fit),
        hide(attribute="race", a="a", b="b"),
        publish("edu", "identity", attribute="edu", codes=dict(zip(levels, codes, strict=True)), **promised(chance)),
        expect=EXPECT,
    )
    return text, [(False, [(Fraction(code),) for code in codes])]


def about_findings(chance: random.Random, folder: Path) -> tuple[str, Entries]:
    """One variable of a random network is hidden, and some are counted."""
    names, lines = ["a", "b", "c", "d"], ["network n {\n}"]
    lines += [f"variable {name} {{\n  type discrete [ 2 ] {{ no, yes }};\n}}" for name in names]
    for place, name in enumerate(names):
        parents = names[max(0, place - chance.randint(0, 2)) : place]
        rows = []
        for values in itertools.product(("no", "yes"), repeat=len(parents)):
            share = chance.randint(1, 99) / 100
            of = f"({', '.join(values)})" if parents else "table"
            rows.append(f"  {of} {share:.2f}, {1 - share:.2f};")
        given = f" | {', '.join(parents)}" if parents else ""
        lines.append(f"probability ( {name}{given} ) {{\n" + "\n".join(rows) + "\n}")
    (folder / "net.bif").write_text("\n".join(lines) + "\n")
    write(folder / "patient.csv", [tuple(names), ("no",) * 4])
    hidden, counted = chance.choice(names), sorted(chance.sample(names, chance.randint(1, 3)))
    text = release_text(
        read_from("patient", "patient.csv", only_release=True),
        believe("network", file="net.bif", source="made up"),
        hide(variable=hidden),
        publish("findings", "count", states=["yes"], variables=counted, **promised(chance)),
        expect=EXPECT,
    )
    return text, [(name == hidden, [(Fraction(0),), (Fraction(1),)]) for name in counted]


def about_steps(chance: random.Random, folder: Path) -> tuple[str, Entries]:
    """Every step of a short random chain is hidden, and time in a state, or in all, is published."""
    stay = [chance.randint(2, 98) / 100 for _ in range(2)]
    length = chance.randint(1, 9)
    write(folder / "walk.csv", [("minute", "state"), *((str(t), "out") for t in range(length))])
    query = chance.choice(["count", "histogram"])
    matrix = [[stay[0], round(1 - stay[0], 2)], [round(1 - stay[1], 2), stay[1]]]
    asked = {"states": ["out"]} if query == "count" else {}
    text = release_text(
        read_from("walk", "walk.csv", rows="samples", order="minute", value="state", only_release=True),
        believe("markov-chain", states=["in", "out"], matrix=matrix, source="assumed"),
        hide(kind="every-entry"),
        publish("time", query, **asked, **promised(chance)),
        expect=EXPECT,
    )
    if query == "count":
        return text, [(True, [(Fraction(0),), (Fraction(1),)])]
    return text, [(True, [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))])]


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def most_read(noise: dict[str, Any], entries: Entries) -> float:
    """Return how often the value of a secret entry is read off, or of the entry that is hidden best if none is read."""
    secret = [max(read_off(noise, answers)) for is_secret, answers in entries if is_secret]
    return max(secret) if secret else min(max(read_off(noise, answers)) for _, answers in entries)


def published(numbers: range, folder: Path) -> Iterator[tuple[int, dict[str, Any] | None, Entries]]:
    kinds = (about_people, about_findings, about_steps)
    for number in numbers:
        chance, place = random.Random(number), folder / str(number)
        place.mkdir()
        text, entries = kinds[number % len(kinds)](chance, place)
        (place / "file.toml").write_text(text)
        try:
            plan = calibrated(load(place / "file.toml"))
        except CalibrationRefused:
            yield number, None, entries
            continue
        for question in plan.questions:
            yield number, question.calibration.randomiser.to_dict(), entries


def check(numbers: range, folder: Path) -> int:
    """Return how many files publish; none may publish an exact value."""
    count = 0
    for number, noise, entries in published(numbers, folder):
        if noise is not None:
            count += 1
            assert most_read(noise, entries) <= 0.95, (number, noise)
    return count


def test_no_exact_value_is_read_off_24_random_files(tmp_path: Path) -> None:
    assert check(range(24), tmp_path) >= 19


@pytest.mark.slow
def test_no_exact_value_is_read_off_500_random_files(tmp_path: Path) -> None:
    assert check(range(500), tmp_path) >= 400


def test_without_the_gate_that_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takifugu.accounting.definitions.gate.change_to_hide", lambda *args: Fraction(0))
    with pytest.raises(AssertionError, match="discrete-laplace"):
        check(range(1), tmp_path)
