"""What a ledger says is what its events say: against a reference in plain Python, in pieces, and with one line more."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.support import ledger_histories as histories
from tests.support.ledger_reference import Given, Line, Pair, Reference
from tests.support.rounds import rounds

from takifugu.accounting.composition.by_noise import cost_by_noise
from takifugu.accounting.composition.losses import any_change, as_whole, steady_cost, whole_change, whole_cost
from takifugu.accounting.composition.series import in_a_series, series_joint
from takifugu.accounting.composition.views import View as Lens
from takifugu.accounting.ledger import Debit, Ledger, people, totals
from takifugu.accounting.ledger.events import in_chain, of_text, to_text
from takifugu.accounting.ledger.view import EVERYBODY, View
from takifugu.analysis.guarantee import Charge, Covers
from takifugu.core.errors import CompositionRefused, TakifuguError
from takifugu.model.frameworks import DEFINITIONS, Framework

CLOSE = Fraction(1, 10**6)


def whole_loss(line: Line) -> Pair:
    """Return what a line loses when all its data change."""
    charge = Charge.from_dict(line.charge)
    cost = any_change(charge)
    if cost is None or (charge.delta and charge.covers is not Covers.EVERYTHING):
        raise CompositionRefused("no cost")
    return max(cost, charge.epsilon if charge.covers is Covers.EVERYTHING else cost), charge.delta


def joint(plain: dict[str, Any], given: Sequence[Given], is_alone: bool) -> Pair:
    """Return the least of what is proved for the lines of a table, one by one and in no sums."""
    framework = Framework.from_dict(plain)
    name, charges = framework.fingerprint(), list[Charge]()
    lens, definition = Lens(framework, name), DEFINITIONS.find(framework.definition)
    for one in given:
        charge = Charge.from_dict(one.line.charge)
        if one.is_outside:
            epsilon, delta = whole_loss(one.line)
            charge = replace(
                charge, framework=name, definition=framework.definition, covers=Covers.EVERYTHING, scale=None,
                epsilon=one.times * epsilon, delta=one.times * delta, query={"kind": "elsewhere"}, entries=0,
                answers=(),
                scope="unit", names=(), lengths=(), phases=(), begins_series=False,
            )  # fmt: skip
        elif one.line.at is None:
            charge = replace(charge, reading=one.entries)
        else:
            charge = replace(charge, at=one.line.at)
        if one.continues and Charge.from_dict(given[0].line.charge).begins_series:
            charge = replace(charge, begins_series=False)
        if charge.definition not in (framework.definition, *definition.reads_alike):
            charge = replace(as_whole(charge, framework.definition, whole_change(lens, charge)), framework=name)
        charges.append(charge)
    if framework.definition not in ("pufferfish", "attribute"):
        promise = definition.joint(lens, charges, is_alone)
        return promise.epsilon, promise.delta
    delta = sum((charge.delta for charge in charges), Fraction(0))
    if in_a_series(charges):
        return series_joint(lens, charges).epsilon, delta
    bounds, refused = list[Fraction](), list[CompositionRefused]()
    if len(charges) == 1 and lens.is_native(charges[0]) and (is_alone or charges[0].covers is not Covers.OUTPUT):
        bounds.append(charges[0].epsilon)
    rules = [lambda: cost_by_noise(lens, charges)]
    if all(charge.covers in (Covers.EVERYTHING, Covers.COMPONENT) for charge in charges):
        rules.append(lambda: sum((steady_cost(lens, charge) for charge in charges), Fraction(0)))
    if not delta:  # never the least (docs/theory/composition.md, the third bound)
        rules.append(lambda: sum((whole_cost(lens, charge) for charge in charges), Fraction(0)))
    for rule in rules:
        try:
            bounds.append(rule())
        except CompositionRefused as error:
            refused.append(error)
    if not bounds:
        raise refused[0]
    return min(bounds), delta


def said(ledger: Ledger, source: str, unit: str | None) -> Pair | str:
    try:
        return tuple(ledger.spent(source, unit or ""))
    except CompositionRefused:
        return "refused"


def referred(reference: Reference, source: str, tag: int | None) -> Pair | str:
    try:
        return reference.totals(tag, joint, whole_loss).get(source, (Fraction(0), Fraction(0)))
    except CompositionRefused:
        return "refused"


def compare(ledger: Ledger, names: Sequence[str]) -> int:
    """Compare every total with the reference's; return how many there are."""
    reference, compared = Reference(ledger.store.after(0), ledger.view().content), 0
    for source in ledger.show():
        if not source.tables:
            continue
        worst = Fraction(0)
        for name in [*names, "nobody yet"] if source.names_units else [None]:
            tag = None if name is None else int(people.set_of(ledger.view().key, [name])[0])
            mine, theirs = said(ledger, source.name, name), referred(reference, source.name, tag)
            if name != "nobody yet":  # what was paid for can be told of everybody
                assert not isinstance(mine, str), (source.name, name)
            assert isinstance(mine, str) == isinstance(theirs, str), (source.name, name, mine, theirs)
            if not isinstance(mine, str) and not isinstance(theirs, str):
                assert abs(mine[0] - theirs[0]) <= CLOSE * theirs[0], (source.name, name, mine, theirs)
                assert mine[1] == theirs[1]
                worst = max(worst, theirs[0])
            compared += 1
        assert source.spent.epsilon >= worst * (1 - CLOSE)
        assert tuple(source.spent) == reference.noted[source.name]
    return compared


def written(folder: Path, seed: int) -> tuple[list[str], Ledger]:
    """Return people, and a ledger with a random history about them."""
    r = random.Random(seed)
    names, payments = histories.of_other_kinds(r) if seed % 3 == 0 else histories.history(r, placed_only=False)
    ledger = histories.fresh(folder, str(seed))
    for number, payment in enumerate(payments):
        histories.attempted(
            lambda payment=payment, number=number: histories.paid(
                ledger, payment, lambda: histories.fresh(folder, f"{seed} elsewhere {number}")
            )
        )
    return names, ledger


@pytest.mark.mutants
@pytest.mark.parametrize("seeds", rounds(4, 90, 1100, parts=10))
def test_totals_are_those_of_the_reference(tmp_path: Path, seeds: range) -> None:
    compared = 0
    for seed in seeds:
        names, ledger = written(tmp_path, seed)
        compared += compare(ledger, names)
        assert ledger.check() == ()
    assert compared > 2 * len(seeds)


def facts(view: View) -> object:
    """Return all that a view says, as it can be compared."""
    pasts = {}
    for tag in view.people.tags.tolist():
        number = view.people.class_of(tag)
        assert number is not None
        pasts[tag] = people.steps_of(view.people.pasts[number])
    steps = [(step.line, step.source, step.group, view.tables.find(step.table)) for step in view.steps]
    groups = {name: vars(group) for name, group in view.groups.items()}
    sources = {name: vars(source) for name, source in view.sources.items()}
    return view.id, view.head, view.number, sources, groups, steps, pasts, view.nobody, view.each


@pytest.mark.mutants
def test_reading_at_once_or_in_pieces_gives_the_same_view(tmp_path: Path) -> None:
    for seed in range(25):
        _, ledger = written(tmp_path, seed)
        r, rows = random.Random(seed), ledger.store.after(0)
        view, done = View(ledger.view().content), 0
        while done < len(rows):
            more = r.randrange(1, 4)
            for event, digest in in_chain(rows[done : done + more], view.key, view.head, view.number):
                view.apply(event, digest)
            copied = view.copy(ledger.view().content)  # a trial changes nothing of the view that it is made of
            for event, digest in in_chain(rows[done + more :], view.key, view.head, view.number):
                copied.apply(event, digest)
            assert facts(copied) == facts(ledger.view())
            done += more
        assert facts(view) == facts(ledger.view()) == facts(Ledger(ledger.store).view())


def test_every_text_reads_back_to_itself(tmp_path: Path) -> None:
    kinds = set[str]()
    for seed in range(12):
        _, ledger = written(tmp_path, seed)
        for text, _ in ledger.store.after(0):
            event = of_text(text)
            assert to_text(event) == text
            assert of_text(to_text(event)) == event
            kinds.add(event.kind)
    assert kinds >= {"began", "budget", "paid", "same"}


@pytest.mark.parametrize("seeds", rounds(8, 40, 760))
def test_one_line_more_never_lowers_a_total(tmp_path: Path, seeds: range) -> None:
    """Also where a search ends early: what is noted of a source never falls."""
    compared = 0
    for seed in seeds:
        _, ledger = written(tmp_path, seed)
        view = ledger.view()
        steps = [view.steps[number] for number in view.past(EVERYBODY, set())]
        named = [step for step in steps if step.is_named]
        if any(step.charge.begins_series for step in named):
            continue  # at a larger delta its epsilon is less (totals.longest)
        r = random.Random(seed)
        for _ in range(6):
            some = [step for step in named if r.random() < 0.7]
            if not some:
                continue
            fewer = [step for step in some if step is not r.choice(some)]
            try:
                more = totals.spent_by(view, some, False)
            except CompositionRefused:
                continue
            before = totals.spent_by(view, fewer, False) if fewer else {}
            compared += 1
            for name, amount in before.items():
                assert amount.epsilon <= more[name].epsilon * (1 + CLOSE), (seed, name)
                assert amount.delta <= more[name].delta
    assert compared > (2000 if len(seeds) > 40 else 2 * len(seeds))


def one_week(ledger: Ledger, week: int, units: Sequence[str], **options: Any) -> Any:
    framework, charge = histories.released(0, 12, "count", 0.1, "influence")  # type: ignore[misc]
    debits = [Debit(framework, replace(charge, at=12 * week), units)]
    return ledger.reserve("data", debits, 10**6, entries="hours", **options)


@pytest.mark.mutants
def test_so_many_pasts_cost_what_the_dearest_of_them_costs(tmp_path: Path) -> None:
    """A hundred and three people with a week each; one who was in all of their groups would pay for all weeks."""
    ledger = histories.fresh(tmp_path, "pasts")
    for week in range(103):
        spent = one_week(ledger, week, [f"p{week}"]).spent
    assert spent.epsilon <= Fraction("0.15")


def test_more_pasts_than_are_looked_at_cost_no_less_than_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = histories.fresh(tmp_path, "groups")
    for week in range(12):
        one_week(ledger, week, [f"p{week}", f"p{week + 1}"])
    view = ledger.view()
    one_by_one = totals.most_of(view, totals.longest(view, view.everyone()))["data"]
    monkeypatch.setattr(totals, "MANY", 3)
    monkeypatch.setattr(totals, "GROUPS", 3)
    together = totals.most_of(view, totals.longest(view, view.everyone()))["data"]
    assert one_by_one.epsilon < together.epsilon
    assert any(account.pasts > 1 for account in totals.longest(view, view.everyone()))


def test_what_no_view_is_made_of_is_refused(ledger: Ledger) -> None:
    one_week(ledger, 0, ["a"])
    rows = ledger.store.after(0)
    text = json.loads(rows[-1][0])
    for change in ({"kind": "gift"}, {"more": 1}, {"lines": [{}]}, {"lines": 3}, {"spent": {"data": "x"}}):
        with pytest.raises(TakifuguError, match=r"cannot be read|does not follow"):
            list(in_chain([*rows[:-1], (json.dumps({**text, **change}), rows[-1][1])], b"", "", 0))


# Mutants: what the tests above are for.


def with_every_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A promise about its own output counts beside other lines about other entries."""
    real = totals.joint
    monkeypatch.setattr(totals, "joint", lambda framework, charges, name, _: real(framework, charges, name, True))


def test_a_promise_about_its_own_output_counts_while_nothing_else_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    framework, charge = histories.attribute("ill", 0.3, "wasserstein")  # type: ignore[misc]
    ledger, by_noise = histories.fresh(tmp_path, "alone"), Fraction(12) / charge.scale
    for entries, total in (("these", charge.epsilon), ("those", 2 * by_noise)):
        histories.paid(ledger, histories.Payment("data", (("one", framework, charge, ("a",)),), entries))
        assert ledger.spent("data").epsilon == total
    assert charge.epsilon < by_noise
    compare(ledger, ["a"])
    with_every_promise(monkeypatch)
    with pytest.raises(AssertionError):
        compare(ledger, ["a"])
