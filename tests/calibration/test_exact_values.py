"""No release file with a delta publishes an exact value: random files against the enumerated law of the outputs."""

import csv
import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support.drawn_noise import LEFT_OUT, Answer, read_off, rounded_to
from tests.support.failing import raising
from tests.support.release_files import EXPECT, believe, hide, publish, read_from, release_text
from tests.support.rounds import rounds

import takifugu as tf
from takifugu.core.errors import CalibrationRefused, ReleaseState
from takifugu.releasing.file.loading import load
from takifugu.releasing.planning.plan import calibrated
from takifugu.releasing.publishing import publish as publish_module

#: Entries as the answers that their values add; whether one is a secret.
Entries = list[tuple[bool, list[Answer]]]


Promise = dict[str, float]


def promised(chance: random.Random) -> Promise:
    epsilon = round(chance.choice([0.2, 0.5, 1, 1.5, 2, 3, 4, 8]) * chance.uniform(0.8, 1), 3)
    return {"epsilon": epsilon, "delta": float(f"{10 ** chance.uniform(-12, -2):.3g}")}


def limit(promise: Promise) -> float:
    """Return how often the exact answer may be what the output is rounded to (docs/theory/zero-noise.md, Theorem 2)."""
    epsilon, delta = promise["epsilon"], promise["delta"]
    return max(min(1 - math.exp(-epsilon) + delta, 0.95), math.tanh(epsilon / 2))


def about_people(chance: random.Random, folder: Path, promise: Promise) -> tuple[str, Entries]:
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
        read_from("people", "people.csv", unit="person", single_release=True),
        believe("joint-table", source="public", units_independent=True, fit=fit),
        hide(attribute="race", a="a", b="b"),
        publish("edu", "identity", attribute="edu", codes=dict(zip(levels, codes, strict=True)), **promise),
        expect=EXPECT,
    )
    return text, [(False, [(Fraction(code),) for code in codes])]


def about_findings(chance: random.Random, folder: Path, promise: Promise) -> tuple[str, Entries]:
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
        read_from("patient", "patient.csv", single_release=True),
        believe("network", file="net.bif", source="made up"),
        hide(variable=hidden),
        publish("findings", "count", states=["yes"], variables=counted, **promise),
        expect=EXPECT,
    )
    return text, [(name == hidden, [(Fraction(0),), (Fraction(1),)]) for name in counted]


def about_steps(chance: random.Random, folder: Path, promise: Promise) -> tuple[str, Entries]:
    """Every step of a short random chain is hidden, and time in a state, or in all, is published."""
    stay = [chance.randint(2, 98) / 100 for _ in range(2)]
    length = chance.randint(1, 9)
    write(folder / "walk.csv", [("minute", "state"), *((str(t), "out") for t in range(length))])
    query = chance.choice(["count", "histogram"])
    matrix = [[stay[0], round(1 - stay[0], 2)], [round(1 - stay[1], 2), stay[1]]]
    keys = {"states": ["out"]} if query == "count" else {}
    text = release_text(
        read_from("walk", "walk.csv", rows="samples", order="minute", step=1, value="state", single_release=True),
        believe("markov-chain", states=["in", "out"], matrix=matrix, source="assumed"),
        hide(kind="every-entry"),
        publish("time", query, **keys, **promise),
        expect=EXPECT,
    )
    if query == "count":
        return text, [(True, [(Fraction(0),), (Fraction(1),)])]
    return text, [(True, [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))])]


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)


KINDS = (about_people, about_findings, about_steps)


def published(number: int, folder: Path) -> tuple[Promise, dict[str, Any] | None, Entries]:
    """Return a random file's promise, the noise that it publishes with, and its entries."""
    chance, place = random.Random(number), folder / str(number)
    place.mkdir()
    promise = promised(chance)
    text, entries = KINDS[number % len(KINDS)](chance, place, promise)
    (place / "file.toml").write_text(text)
    try:
        (question,) = calibrated(load(place / "file.toml")).questions
    except CalibrationRefused:
        return promise, None, entries
    return promise, question.calibration.randomiser.to_dict(), entries


def most(read: Callable[[dict[str, Any], list[Answer]], float], noise: dict[str, Any], entries: Entries) -> float:
    """Return how often a secret entry's value is read, or any entry's where no secret one moves the answer."""
    secret = [answers for is_secret, answers in entries if is_secret]
    return max(read(noise, answers) for answers in secret or [answers for _, answers in entries])


def check(numbers: range, folder: Path) -> list[float]:
    """Return how often the exact answer is read off each file that publishes, which is never too often."""
    rates = []
    for number in numbers:
        promise, noise, entries = published(number, folder)
        if noise is None:
            continue
        allowed, rate = limit(promise), most(rounded_to, noise, entries)
        assert rate <= allowed + 2 * LEFT_OUT, (number, promise, noise)
        assert most(read_off, noise, entries) <= (1 + allowed) / 2 + 2 * LEFT_OUT, (number, promise, noise)
        if promise["epsilon"] <= math.log(39):
            assert rate <= 0.95 + 2 * LEFT_OUT, (number, promise, noise)
        rates.append(rate)
    return rates


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(2, 12, 500))
def test_no_exact_value_is_read_off_random_files(tmp_path: Path, seeds: range) -> None:
    assert len(check(seeds, tmp_path)) >= len(seeds) * 4 // 5


@pytest.mark.mutants
def test_what_was_paid_for_before_the_gate_is_not_drawn_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was paid and not drawn is drawn with the noise that passes now, or not at all."""
    text, _ = about_people(random.Random(0), tmp_path, {"epsilon": 1.0, "delta": 1e-6})
    (tmp_path / "file.toml").write_text(text)
    with monkeypatch.context() as before:
        before.setattr("takifugu.accounting.definitions.gate.change_to_hide", lambda *args: Fraction(0))
        before.setattr(publish_module, "answer_of", raising(KeyError("stopped")))
        with pytest.raises(Exception, match="paid, not drawn"):
            tf.release_file(tmp_path / "file.toml", allow_useless=True)
    (left,) = tf.resume(tmp_path / "ledger.db")
    assert left.state is ReleaseState.PAID
    assert "is not what was paid for" in left.problem
    assert not list(tmp_path.glob("*/*.json"))
