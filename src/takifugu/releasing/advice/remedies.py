"""What would make a table worth more: changes of the release file, each with the error that it promises.

A remedy changes what is published or what it may cost, never what is believed. Each is the file itself with a few keys
changed, read and calibrated as the file was: applying it gives the error that it names. One that costs more than the
declared budget changes that key, too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from takifugu.accounting.suspicion import percent, posterior
from takifugu.core.errors import TakifuguError
from takifugu.core.plain import Json, Plain
from takifugu.releasing.advice.advising import TableAdvice, advice_of, said
from takifugu.releasing.advice.bands import Joint, json_of
from takifugu.releasing.advice.budgets import larger_budget, room_of, said_to_ledger, two_digits
from takifugu.releasing.advice.changes import Change, applied, by_section, ideas, number_of, of_table, words_of
from takifugu.releasing.advice.worth import GOOD, Worth
from takifugu.releasing.file.loading import checked
from takifugu.releasing.planning.plan import Plan, calibrated

if TYPE_CHECKING:
    from takifugu.accounting.ledger import Preview

#: A search for remedies calibrates no more files: so many with one idea each, then two ideas together, then with
#: larger epsilons. It begins none after so many seconds of work, but for the first ones of a slow file.
MOST_TRIED, MOST_ALONE, MOST_TOGETHER, AT_LEAST, SECONDS = 10, 5, 2, 2, 10.0
#: No remedy asks for a larger epsilon: a suspicion of 1 % could become one of 60 %.
LARGEST_EPSILON = 5.0


@dataclass(frozen=True)
class Remedy:
    """Changes of the release file, and the worst table of each judged [[table]] with them, by its number."""

    changes: tuple[Change, ...]
    why: str
    worst: Mapping[int, TableAdvice]
    #: How often its cost fits into the budget, infinite without one, and 0 where none is worth it.
    room: float = math.inf
    #: How much weaker its promise is, in words.
    price: str = ""

    @property
    def advised(self) -> TableAdvice:
        """Return the advice on the worst of all tables."""
        return max(self.worst.values(), key=lambda table: table.ratio)

    @property
    def is_one(self) -> bool:
        return len(self.worst) == 1

    @property
    def ratio(self) -> float:
        return self.advised.ratio

    @property
    def ratios(self) -> dict[int, float]:
        return {index: table.ratio for index, table in self.worst.items()}

    @property
    def table(self) -> str:
        return self.advised.name

    @property
    def worth(self) -> Worth:
        worth = self.advised.judged
        assert worth is not None
        return worth

    @property
    def joint(self) -> Joint | None:
        """Return the ± that a release with the changes prints of the table."""
        return self.advised.joint

    @property
    def fits(self) -> bool:
        return self.room >= 1

    @property
    def words(self) -> str:
        """Write the changes in a sentence, each with its section."""
        return words_of(self.changes)

    @property
    def lines(self) -> list[str]:
        """Write the changes as lines of the file, under comments naming sections."""
        lines = list[str]()
        for section, changes in by_section(self.changes).items():
            lines += [f"# in {section}", *(change.line for change in changes)]
        return lines

    @property
    def sentence(self) -> str:
        """State the worst table's worth with them."""
        sentence = self.worth.sentence(self.advised.measured_in)
        if self.advised.worth is not None:
            sentence = self.advised.sentence
        return sentence if self.is_one else f"{self.table}: {sentence}"

    @property
    def promise(self) -> str:
        """State the worst table's worth with them, and its ± if different."""
        is_said = self.worth.difference is None and not self.worth.is_adjusted
        if self.joint is None or (is_said and self.joint.values == 1):
            return self.sentence
        return f"{self.sentence}; its ± is {self.joint}"

    def to_dict(self) -> Json:
        """Return plain data for JSON."""
        changes = [{"where": list(change.where), "value": change.value} for change in self.changes]
        return {
            "table": self.table, "changes": changes, "why": self.why, "verdict": said(self.advised.verdict),
            "ratio": self.worth.ratio_or_none, **json_of(self.joint),
            "error_of_a_difference": self.worth.error_of_a_difference,
            "fits_the_budget": self.fits,
        }  # fmt: skip


def remedies(
    raw: Plain, planned: Plan, tables: Sequence[TableAdvice], ends: float, units: int | None = None,
    account: Preview | None = None, left_out: str | None = None,
) -> tuple[Remedy, ...]:
    """Return the worst table's remedies, best first; those that need a budget are last."""
    # `units` and `left_out` as for `advice_of`; ten files are tried at most, after `ends` two
    measured = {index_of(raw, table) for table in tables if table.worth is not None or table.hopeless}
    now = _worst(raw, tables, measured)
    if not now:
        return ()
    now_made = Remedy((), "", now, room_of(planned, account))
    search = _Search(raw, planned, units, measured, now_made, ends, left_out)
    alone = _alone(search)
    _enough_epsilon(search, search.now)
    best = min([*alone, *_together(search, alone)], key=lambda attempt: attempt.ratio, default=None)
    if best is not None and best.ratio < search.now.ratio:
        _enough_epsilon(search, best)
    useful = [remedy for remedy in search.better if remedy.worth.verdict.is_useful]

    def rank(remedy: Remedy) -> tuple[bool, float, int]:
        # among equals those of fewest keys go first
        return not remedy.fits, remedy.ratio, len(remedy.changes)

    return tuple(sorted(useful or search.better, key=rank))


@dataclass(frozen=True, eq=False)
class _Search:
    """The changes that were tried, within the limits, and those that helped."""

    raw: Plain
    planned: Plan
    units: int | None
    measured: set[int]
    now: Remedy
    ends: float
    left_out: str | None
    done: list[frozenset[tuple[object, str]]] = field(default_factory=list)
    better: list[Remedy] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return len(self.done)

    def tries(self, changes: Sequence[Change], why: str, price: str = "") -> Remedy | None:
        """Return the file with these changes, unless none, refused or too late."""
        key = frozenset((change.where, repr(change.value)) for change in changes)
        is_over = time.process_time() > self.ends and self.tried >= AT_LEAST
        if not key or key in self.done or self.tried >= MOST_TRIED or is_over:
            return None
        self.done.append(key)
        planned = with_changes(self.raw, self.planned, changes)
        if planned is None:
            return None
        try:
            worst = _worst(self.raw, advice_of(planned, self.units, self.left_out), self.measured)
        except TakifuguError:
            return None  # what [expect] says of the table as it is contradicts this one
        if worst.keys() != self.measured:
            return None
        return Remedy(tuple(changes), why, worst, room_of(planned), price)

    def keeps(self, attempt: Remedy) -> None:
        """Remember a remedy, naming the budget that it needs."""
        if not attempt.ratio < self.now.ratio or not attempt.room:
            return
        changes, reasons = attempt.changes, [attempt.why, attempt.price]
        if attempt.room < 1:
            budget = larger_budget(self.raw, attempt.room)
            changes = (*changes, budget)
            reasons.append(said_to_ledger(self.planned, budget))
        self.better.append(replace(attempt, changes=changes, why="; ".join(filter(None, reasons))))


def _alone(search: _Search) -> list[Remedy]:
    """Try each idea by itself; return the accepted ones."""
    accepted = list[Remedy]()
    now = time.process_time()
    middle = now + (search.ends - now) / 2  # larger epsilons get their time, too
    for changes, why in ideas(search.raw, search.now.ratios):
        if search.tried >= MOST_ALONE or (accepted and time.process_time() > middle):
            break
        attempt = search.tries(changes, why)
        if attempt is not None:
            search.keeps(attempt)
            accepted.append(attempt)
    return accepted


def _together(search: _Search, alone: Sequence[Remedy]) -> list[Remedy]:
    """Try the best idea together with others, if none alone is enough."""
    ranked = sorted(alone, key=lambda attempt: attempt.ratio)
    if not ranked or ranked[0].ratio <= GOOD:
        return []
    best, accepted, keys = ranked[0], list[Remedy](), {change.where for change in ranked[0].changes}
    compatible = [idea for idea in ranked[1:] if keys.isdisjoint(change.where for change in idea.changes)]
    for other in compatible[:MOST_TOGETHER]:
        attempt = search.tries((*best.changes, *other.changes), f"{best.why}; {other.why}")
        if attempt is not None and attempt.ratio < best.ratio:
            search.keeps(attempt)
            accepted.append(attempt)
    return accepted


def _enough_epsilon(search: _Search, attempt: Remedy) -> None:
    """Try larger epsilons: one that fits the budget, then a sufficient one."""
    fitting = last = None
    if 1 < attempt.room < attempt.ratio:
        fitting = _with_epsilons(search, attempt, attempt.room)
    if fitting is not None and fitting.ratio <= GOOD:
        attempt = fitting
    # the error is not one over epsilon exactly, so several may be tried; the last is kept
    while attempt.ratio > GOOD:
        larger = _with_epsilons(search, attempt)
        if larger is None:
            break
        attempt = last = larger
    if fitting is not None and (last is None or last.room < 1 or last.ratio >= fitting.ratio):
        search.keeps(fitting)
    if last is not None:
        search.keeps(last)


def _with_epsilons(search: _Search, attempt: Remedy, at_most: float = math.inf) -> Remedy | None:
    """Return the file with larger epsilons, by the ratio of noise to importance; None for no change."""
    file = applied(search.raw, attempt.changes)
    values: dict[tuple[str | int, ...], Change] = {change.where: change for change in attempt.changes}
    grown, shared, epsilon_places = list[tuple[float, float]](), list[float](), list[tuple[Change, Any, float]]()
    for i, ratio in attempt.ratios.items():
        if ratio > GOOD and "epsilon" in file["table"][i]:
            epsilon_places.append((of_table(search.raw, i, "epsilon", None), file["table"][i]["epsilon"], ratio))
        elif ratio > GOOD:
            shared.append(ratio)
    if shared and "joint_epsilon" in file:
        epsilon_places.append((Change(("joint_epsilon",), None), file["joint_epsilon"], max(shared)))
    for change, old_epsilon, ratio in epsilon_places:
        epsilon = number_of(old_epsilon)
        # by no more than `at_most`, rounded down
        larger = min(two_digits(epsilon * min(ratio, at_most), at_most < ratio), LARGEST_EPSILON)
        if larger > epsilon:
            written: Any = search.raw
            keys: Sequence[Any] = change.where
            for key in keys:
                written = written[key] if isinstance(written, list) else written.get(key)
            grown.append((larger, number_of(written or old_epsilon)))
            values[change.where] = Change(change.where, larger, change.table)
    if not grown:
        return None
    return search.tries(tuple(values.values()), attempt.why, _weaker(*max(grown)))


def _weaker(epsilon: float, before: float) -> str:
    """State the price of a larger epsilon."""
    high, now = (percent(posterior(0.5, epsilons), up=True) for epsilons in (epsilon, before))
    return f"a weaker promise: who is 50 % sure of something hidden can become {high} sure, not {now}"


def with_changes(raw: Plain, planned: Plan, changes: Sequence[Change]) -> Plan | None:
    """Return the changed file's plan for the same window, unless refused."""
    file = planned.file
    try:
        return calibrated(checked(applied(raw, changes), file.path, file.given, file.window, bool(file.endless)))
    except TakifuguError:
        return None


def index_of(raw: Plain, table: TableAdvice) -> int:
    """Return the number of a table's [[table]], ignoring its window's name."""
    names = [str(item.get("name")) for item in raw["table"]]
    return max((i for i, name in enumerate(names) if table.name.startswith(name)), key=lambda i: len(names[i]))


def _worst(raw: Plain, tables: Sequence[TableAdvice], measured: set[int]) -> dict[int, TableAdvice]:
    """Return the worst table of each [[table]] with all tables judged."""
    worst, unjudged = dict[int, TableAdvice](), set[int]()
    for table in tables:
        index = index_of(raw, table)
        if table.judged is None:
            unjudged.add(index)
        elif index in measured and (index not in worst or table.ratio > worst[index].ratio):
            worst[index] = table
    return {key: value for key, value in worst.items() if key not in unjudged}
