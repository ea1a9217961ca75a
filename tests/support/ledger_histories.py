"""Random histories of payments."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tests.mechanisms.local.test_together import charge as sent
from tests.support.ledger_tools import with_delta

import takifugu as tf
from kawamoto.channels import randomised_response
from takifugu.accounting.composition import Charge, charge_of
from takifugu.accounting.ledger import Amount, Debit, Ledger
from takifugu.accounting.ledger.certificates import certificate_of
from takifugu.core.errors import CompositionRefused, ReadingChanged, TakifuguError
from takifugu.mechanisms.local.senders import Sender
from takifugu.mechanisms.local.sent import Sending
from takifugu.model.frameworks import Framework

CHAINS = ([[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]], [[0.85, 0.15], [0.3, 0.7]])
LARGE = (10**6, "9/10")
TABLE = tf.JointTable([("a", 0), ("a", 1), ("b", 0), ("b", 1)], [0.4, 0.2, 0.1, 0.3], names=["group", "ill"])
HIDDEN = tf.Pufferfish(tf.dataset_property("group", "share", of="b"), tf.Records(TABLE, 12))


@dataclass(frozen=True)
class Payment:
    """What one payment reserves: each release with its charges of some units (None: of a source that names none)."""

    source: str
    releases: tuple[tuple[str, Framework, Charge, tuple[str, ...] | None], ...]
    entries: str | None = "hours"
    reading: str = ""
    is_adopted: bool = False
    same: str = ""


@cache
def released(chain: int, length: int, query: str, epsilon: float, mechanism: str) -> tuple[Framework, Charge] | None:
    """Return a framework and the charge of a release under it, None where there is no such release."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(CHAINS[chain], length=length))
    query_of: Any = {
        "count": tf.Count(1), "hist": tf.Histogram(), "part": tf.Count(1, entries=range(length // 2)),
        "all": tf.Count(0),
    }[query]  # fmt: skip
    return _charged(framework, query_of, epsilon, mechanism)


@cache
def attribute(query: str, epsilon: float, mechanism: str) -> tuple[Framework, Charge] | None:
    """Return a release that hides a property of records."""
    query_of: Any = tf.Count(1, entries=["ill"]) if query == "ill" else tf.Count("b", entries=["group"])
    return _charged(HIDDEN, query_of, epsilon, mechanism, single_release=True)


@cache
def series(query: str, epsilon: float, begins: bool) -> tuple[Framework, Charge] | None:
    """Return a normal release that begins a series, or one of it."""
    framework = tf.Pufferfish(tf.every_entry(), tf.MarkovChain(CHAINS[0], length=6))
    query_of: Any = tf.Count(1) if query == "count" else tf.Count(1, entries=range(3))
    made = _charged(framework, query_of, epsilon, "influence-gaussian", delta=1e-4)
    return made and (made[0], replace(made[1], begins_series=begins))


@cache
def rows(batch: str, strength: float) -> tuple[Framework, Charge]:
    """Return rows of a person that are sent, of a batch with a name or of any ("")."""
    laws = {"well": {0: Fraction(7, 10), 1: Fraction(3, 10)}, "ill": {0: Fraction(2, 5), 1: Fraction(3, 5)}}
    framework = tf.Pufferfish(tf.population_membership(), tf.FromPopulations(laws, 2, True, supports="align"))
    channel = randomised_response((0, 1), strength)
    return framework, sent(Sending(2, 0.0, 1.0, "", Sender(channel)), framework, Fraction(strength), batch)


def _charged(framework: Any, query: Any, epsilon: Any, mechanism: str | None, **options: Any) -> Any:
    try:
        made = tf.calibrate(framework, query, epsilon=epsilon, mechanism=mechanism, allow_zero_noise=True, **options)
    except TakifuguError:
        return None
    charge = charge_of(made)
    return None if charge.scale == 0 else (framework, charge)


def pooled(epsilon: float, mechanism: str, units: Sequence[str]) -> tuple[tuple[str, Framework, Charge, Any], ...]:
    """Return one answer over several people, charged to each of them."""
    everyone = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}] * len(units)))
    one = tf.Pufferfish(tf.every_entry(), tf.IndependentUsers([{0: 0.5, 1: 0.5}]))
    made = tf.calibrate(everyone, tf.Count(1), epsilon=epsilon, mechanism=mechanism, single_release=True)
    return (("pooled", one, charge_of(made, framework=one, scope="pooled"), tuple(units)),)


def of_other_kinds(r: random.Random) -> tuple[list[str], list[Payment]]:
    """Return people, and payments of one kind: attributes, rows of populations, a series, or pooled beside per unit."""
    people, payments = [f"p{number}" for number in range(r.randrange(2, 5))], list[Payment]()
    kind = r.choice(["attributes", "rows", "series", "pooled"])
    for number in range(r.randrange(1, 5)):
        some = tuple(r.sample(people, r.randrange(1, len(people) + 1)))
        entries, reading = r.choice(["these", "these", "those"]), r.choice(["", "", "value: a"])
        made, at = None, None
        if kind == "attributes":
            made = attribute(
                r.choice(["ill", "group"]), r.choice([0.3, 1.0]), r.choice(["wasserstein", "wasserstein", "group-dp"])
            )
        elif kind == "rows":
            made = rows(r.choice(["", "May", "June"]), r.choice([0.5, 1.0]))
        elif kind == "series":
            entries, at = "these", r.choice([0, 0, 0, 6])
            begins = number == 0 or r.random() < 0.3
            made = series(r.choice(["count", "part"]), r.choice([0.3, 0.5]), begins)
            if number and r.random() < 0.3:
                made = released(0, 6, "count", 0.3, "influence")
        releases = tuple(("one", *made, some) for made in [made] if made)
        if kind == "pooled":
            releases = pooled(r.choice([0.3, 1.0]), r.choice(["wasserstein", "group-dp"]), people)
            if r.random() < 0.5:
                framework = releases[0][1]
                each = _charged(framework, tf.Count(1), 0.3, r.choice(["wasserstein", "group-dp"]), single_release=True)
                releases = (("each", *each, some),) if each else ()
        if r.random() < 0.15 and kind in ("attributes", "rows"):
            other = released(0, 12, "count", 0.3, "influence")
            releases = (("one", *other, some),) if other else releases
        if releases:
            placed = tuple(
                (name, framework, replace(charge, at=at), units) for name, framework, charge, units in releases
            )
            payments.append(Payment("A", placed, entries, reading, r.random() < 0.1, r.choice(["", "", "told"])))
    return people, payments


def history(r: random.Random, placed_only: bool) -> tuple[list[str], list[Payment]]:
    """Return people, and payments about them: of windows of a calendar, and (unless `placed_only`) of all else."""
    people = [f"p{number}" for number in range(r.randrange(1, 6))]
    two, alone, deltas = r.random() < 0.35, r.random() < 0.3, r.random() < 0.4
    payments = []
    for _ in range(r.randrange(1, 6)):
        source, at = r.choice("AB") if two else "A", 12 * r.randrange(3) + r.choice([0, 0, 0, 6])
        entries: str | None = "hours"
        place: int | None = at
        if not placed_only and r.random() < 0.5:
            place, entries = None, r.choice(["cohort", "other", None])
        names: tuple[str, ...] | None = tuple(r.sample(people, r.randrange(1, len(people) + 1)))
        if not placed_only and not two and r.random() < 0.15:
            source, names = "N", None
        releases = []
        for number in range(r.choice([1, 1, 2])):
            mechanism = r.choice(["influence", "influence", "group-dp"])
            if alone and r.random() < 0.5:
                mechanism = r.choice(["wasserstein", "laplace-exact"])
            length = 12 if placed_only else r.choice([12, 12, 24])
            query, epsilon = r.choice(["count", "hist", "part", "all"]), r.choice([0.1, 0.3, 1.0])
            made = released(r.randrange(3) if r.random() < 0.3 else 0, length, query, epsilon, mechanism)
            if made is None:
                continue
            framework, charge = made
            if deltas and r.random() < 0.25:
                charge = with_delta(framework, "1/4")
            releases.append((f"r{number}", framework, replace(charge, at=place), names))
        reading = (
            "" if placed_only else r.choice(["", "", "value: a", "value: b\nunit: id", "value: b\nunit: lower(id)"])
        )
        if releases:
            adopted, same = False, ""
            if not placed_only:
                adopted, same = r.random() < 0.1, r.choice(["", "", "", "the export changed"])
            payments.append(Payment(source, tuple(releases), entries, reading, adopted, same))
    return people, payments


def paid(ledger: Ledger, payment: Payment, elsewhere: Callable[[], Ledger] | None = None) -> Amount:
    """Pay; an adopted one is paid elsewhere, and entered from its certificate."""
    if payment.is_adopted and elsewhere is not None:
        other = elsewhere()
        paid(other, replace(payment, is_adopted=False))
        (group,) = other.view().groups
        return ledger.adopt([certificate_of(other.view(), group)]).get(payment.source, Amount())
    debits = [Debit(framework, charge, units, name) for name, framework, charge, units in payment.releases]
    terms: dict[str, Any] = {"reading": payment.reading, "entries": payment.entries, "same_people": True}
    try:
        return ledger.reserve(payment.source, debits, LARGE, **terms).spent
    except ReadingChanged as question:
        same = bool(payment.same and question.before and payment.entries is not None)
    return ledger.reserve(payment.source, debits, LARGE, **terms, same_entries=same, why=payment.same or "-").spent


def fresh(folder: Path, name: str) -> Ledger:
    """Return a new ledger."""
    return Ledger.open(folder / f"{name}.db")


def attempted(action: Callable[[], Any]) -> str:
    """Do something; return why it is refused, or ""."""
    try:
        action()
    except CompositionRefused as refused:
        return f"refused: {refused.message}"
    except TakifuguError as error:
        return f"{type(error).__name__}: {error.message}"
    return ""
