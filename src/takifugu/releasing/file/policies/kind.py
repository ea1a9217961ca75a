"""Release files under a policy: their domain, policy and queries, and how private visits become counts.

Every person is counted once at a place, or has one declared value; nobody is named.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from takifugu.calibration import Calibration
from takifugu.core.arrays import IntArray
from takifugu.core.assumptions import limit, public, reading
from takifugu.core.cache import cached
from takifugu.core.errors import TakifuguError
from takifugu.core.sections import written
from takifugu.data.relation.source import Table
from takifugu.data.relation.visits import Grid
from takifugu.data.values.bins import Known
from takifugu.mechanisms.one_sided.safe_cells import SafeCells
from takifugu.model.beliefs.domain import Domain
from takifugu.model.frameworks import Framework
from takifugu.model.policies.framework import Asymmetric
from takifugu.model.policies.places import Visits
from takifugu.model.policies.policy import Policy
from takifugu.model.policies.predicates import EachOf, Predicate, any_of, none_of
from takifugu.model.queries.sections import POLICY
from takifugu.numbers.rationals import as_fraction
from takifugu.releasing.certificates.facts import Fact
from takifugu.releasing.file.calendars import (
    Windowed,
    calendar_faults,
    expanded,
    facts_of,
    source_faults,
    window_of,
    windowed,
)
from takifugu.releasing.file.keys import ROWS, names_of
from takifugu.releasing.file.kind import Kind, ReleaseFile, Unit
from takifugu.releasing.file.policies.sections import PolicyReleaseSpec, PolicySourceSpec, PriorSpec
from takifugu.releasing.file.problems import blaming, broken, fault
from takifugu.releasing.file.reading import are_degrees, misplaced, placed_at, wrong
from takifugu.releasing.file.sections import Table as Item
from takifugu.releasing.file.sections import numbered
from takifugu.releasing.file.shape import Shape


def read_by(spec: Any, belief: object) -> tuple[dict[str, Any], Sequence[Hashable], tuple[str, ...]]:
    """Return the keys that rows are read by; what a row is follows from the belief."""
    rows = "answers" if spec.belief.meant.values is not None else "visits"
    return {"rows": rows, **spec.source.read()}, (), ()


def known(spec: Any, belief: Domain | Visits) -> Sequence[Known]:
    """Return how the value of a row is counted: by declared values or places, or by the edges of boxes."""
    if isinstance(belief, Domain):
        return [tuple(map(str, belief.alphabets[0]))]
    counted = _counted(belief, names_of(spec.source.value))
    if not isinstance(counted, Grid):
        return [counted]
    return counted.bins if isinstance(spec.source.value, tuple) else ()


def _counted(domain: Visits, values: Sequence[str]) -> Grid | tuple[str, ...]:
    """Return the places that visits are counted at: their names, or the boxes of two coordinates."""
    if domain.boxes is None:
        return tuple(map(str, domain.places))
    return Grid(*domain.boxes.edges(), in_degrees=len(values) == 2 and are_degrees(values))


def visited(table: Table, domain: Visits, window: range | None) -> IntArray:
    """Return the number of people at each place in a window of steps, shape (1, places)."""
    # DataError, with the key and nobody's name, for rows against a rule, and for a person at too many places
    with placed_at():
        counted = _counted(domain, table.opened.source.values)  # once for all windows
        grid = counted if isinstance(counted, Grid) else None
        visits = cached(table, ("visits", grid), lambda: table.visits(grid))
        if window is not None:
            visits = visits.within(window)
    with placed_at("file"):
        domain.check_sizes([visits.most])
    return visits.people(domain.size)[None]


def valued(table: Table, values: Sequence[Hashable], people: int) -> list[Hashable]:
    """Return one value per person, in an order independent of the data; DataError for rows against a rule."""
    with placed_at():
        table.refuse_lookalikes(values, "value")
        groups = table.answers()
    if groups.rows.sum() != people:
        raise wrong("file", "the data have another number of rows than belief.people says", fix="check both")
    by_value = list[Hashable]()
    for (code,), rows in zip(groups.codes.tolist(), groups.rows.tolist(), strict=True):
        by_value += [values[code]] * rows
    return by_value


class UnderPolicy(Kind):
    """People and the places where they were, or one declared value for each person; hidden is what a policy says."""

    facts = Shape(
        POLICY, PolicyReleaseSpec, Windowed,
        is_one_unit=True, believes_from=("belief",), tables=expanded, read_by=read_by, known=known,
    )

    def shape(self, spec: PolicyReleaseSpec, folder: Path, data: object) -> Iterator[TakifuguError]:
        source, hide, forms = spec.source, spec.hide, spec.belief.meant.forms
        form = forms[0] if len(forms) == 1 else ""
        yield from _column_faults(source, form)
        if not form:
            return
        yield from source_faults(read_by(spec, None)[0])
        right = {"values": "answers"}.get(form, "visits")
        if source.rows not in (None, right):
            problem = f"is {source.rows!r}, {ROWS[source.rows]}, and with belief.{form} a row is {ROWS[right]}"
            yield fault(("source", "rows"), problem, f'write rows = "{right}"')
        hide_keys = written(hide, ("visits", "policy"))
        yield from broken(
            (not hide_keys, "hide", "hides nothing", "write one of them"),
            (len(hide_keys) > 1, "hide", "hides visits and a policy", "write one of them"),
            (hide.visits is not None and form == "values", "hide.visits", "is about places",
             'write policy = [{ none_of = ["ill"] }]'),
        )  # fmt: skip
        for number, predicate in enumerate(hide.policy or ()):
            if (predicate.none_of is None) is (predicate.any_of is None):
                yield fault(("hide", "policy", number), "is no predicate", "write one of none_of and any_of")
        if (grid := spec.belief.meant.grid) is not None and isinstance(source.value, tuple):
            ends = (("belief", "grid", "x"), ("belief", "grid", "y"))
            yield from misplaced(source.value, (grid.x, grid.y), ends)
        if spec.prior is not None:
            yield from _prior_faults(spec.prior)
        yield from calendar_faults(source, spec.table)

    def part(self, file: ReleaseFile, item: Windowed) -> ReleaseFile:
        spec = file.sections(PolicyReleaseSpec)
        if (calendar := spec.source.calendar) is None:
            return file
        places = window_of(item, calendar)
        domain, part = replace(file.belief, steps=len(places)), windowed(file, item, calendar, places)
        return replace(part, belief=domain, framework=self.framework_of(spec, domain))

    def certificate_words(self, file: ReleaseFile, item: Windowed, calibration: Calibration) -> tuple[Fact, ...]:
        return facts_of(file, item, calibration)

    def framework_of(self, spec: PolicyReleaseSpec, belief: Visits | Domain) -> Framework:
        hide, key, rules = spec.hide, "policy", list[Predicate | EachOf]()
        for predicate in hide.policy or ():
            if predicate.none_of:
                rules.append(none_of(*predicate.none_of))
            else:
                rules.append(any_of(*(predicate.any_of or ())))
        if hide.visits == "all":
            key, rules = "visits", [EachOf(None)]
        elif hide.visits is not None:
            key, rules = "visits", [EachOf(tuple(hide.visits))]
        with blaming("hide", key):
            return Asymmetric(Policy(tuple(rules)), belief)

    def misfits(self, spec: PolicyReleaseSpec, belief: Visits | Domain) -> Iterator[TakifuguError]:
        of_values, foreign_query, foreign_key = isinstance(belief, Domain), "count", "states"
        problem, fix = "is about values", 'publish "visitors" or "safe", with places'
        if of_values:
            foreign_query, foreign_key = "visitors", "places"
            problem, fix = "is about places", 'publish "count" or "safe", with states'
        for number, item in numbered(spec.table):
            item_keys = written(item, ("places", "states"))
            if item.query == foreign_query:
                yield fault(("table", number, "query"), problem, fix)
            elif foreign_key in item_keys:
                yield fault(("table", number, foreign_key), problem, fix)
            elif of_values and not item_keys:
                yield fault(("table", number, "states"), "is missing", 'write the values to count, states = ["ill"]')

    def units(self, file: ReleaseFile) -> tuple[Unit, ...]:
        if isinstance(file.belief, Domain):
            return (Unit(None, valued(file.table, file.belief.alphabets[0], file.belief.size)),)
        return (Unit(None, visited(file.table, file.belief, file.places)),)

    def assumptions(self, file: ReleaseFile) -> Iterator[Fact]:
        spec = file.sections(PolicyReleaseSpec)
        if spec.belief.values is not None:
            yield public(f"How many {file.people.many} there are is public.")
            return
        yield public("The list of places is public, and so are the thresholds.")
        yield reading(
            f'The data are complete: "safe" is about the visits in them, each {file.people.one} counted once at a '
            "place, and about no others."
        )
        yield limit("That the file has a row: without any it is refused, which epsilon does not count.")
        when = ""
        if spec.source.calendar is not None:
            when = f" in {spec.source.calendar.length}"
            yield reading("A visit counts in the step of its row. A table says nothing about other steps.")
        if spec.source.timezone is not None:
            yield reading(f"Times are those of clocks in {spec.source.timezone}.")
        if spec.belief.most is not None:
            yield limit(
                f"That nobody was at more than {spec.belief.most} of the places{when}: such data are refused, so a "
                "published table reveals it, which epsilon does not count."
            )

    def remarks(self, file: ReleaseFile, item: Item, mechanism: str, noise: object = None) -> Iterator[str]:
        """Yield the expected share of safe places found, by public [prior]."""
        spec = file.sections(PolicyReleaseSpec)
        if spec.prior is None or not isinstance(noise, SafeCells):
            return
        threshold = min(noise.thresholds)
        safe, dangerous = noise.expected_shares(spec.prior.by_count, threshold)
        if math.isnan(safe):
            yield f"{item.name}: no place is safe, if the counts are as [prior] says"
        else:
            yield (
                f"{item.name}: if the counts are as [prior] says, {100 * safe:.3g} % of the places with at most "
                f"{threshold} are expected to be called safe, and {100 * (1 - safe):.3g} % missed; none is called "
                "safe wrongly"
            )
        if noise.alpha is not None and not math.isnan(dangerous):
            yield (
                f"{item.name}: if the counts are as [prior] says, {100 * dangerous:.3g} % of the places with more are "
                "expected to be called dangerous"
            )


def _column_faults(source: PolicySourceSpec, form: str) -> Iterator[TakifuguError]:
    """Yield the faults of the columns of visits, or of values, by the form of the belief, "" for none or several."""
    two, is_two, of_values = 'value = ["east", "north"]', isinstance(source.value, tuple), form == "values"
    yield from broken(
        (source.unit is not None and of_values, "source.unit", "is not used with belief.values", "write value alone"),
        (source.value is None, "source.value", "is missing",
         "write the column of the place, two of coordinates, or of each person's value"),
        (form == "grid" and source.value is not None and not is_two, "source.value",
         "is one column, and in a grid a place has two coordinates", f"write {two}"),
        (form in ("places", "values") and is_two, "source.value",
         f"is two columns, and with belief.{form} it is in one", "name the one"),
    )  # fmt: skip


def _prior_faults(prior: PriorSpec) -> Iterator[TakifuguError]:
    counts, shares = prior.counts, [as_fraction(share, "a share") for share in prior.shares]
    if len(counts) != len(shares) or len({*counts}) != len(counts):
        yield fault(("prior", "shares"), "is not one share for each count", "give each count once, with one share")
    elif min(counts) < 0:
        yield fault(("prior", "counts"), "holds a negative count", "counts are 0 or more")
    elif min(shares) < 0 or sum(shares) != 1:
        yield fault(("prior", "shares"), f"adds up to {float(sum(shares)):g}", "shares are 0 or more, and 1 together")
