"""The part of a link that opens the explorer at the case of a release file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote, urlencode

from takifugu.core.errors import InputError
from takifugu.core.escaping import command
from takifugu.core.plain import Json
from takifugu.releasing.file.loading import load
from takifugu.releasing.file.relation_keys import UNOPENED
from takifugu.releasing.file.sections import Table
from takifugu.releasing.file.sequences.sections import ReleaseSpec
from takifugu.releasing.file.sharing import epsilon_of

#: What the page offers (settings.js): steps and runs by their minutes, stays in steps, epsilon, a name's length.
STEPS: dict[float | None, str] = {1: "1min", 5: "5min", 15: "15min", 60: "1h"}
RUNS = (15, 60)
STAYS, EPSILONS, LONGEST_NAME = (1.05, 1100.0), (0.05, 8.0), 24


@dataclass(frozen=True)
class Link:
    """The settings in a link, and what of the file the page does not show, in sentences."""

    settings: str
    differences: tuple[str, ...]


def link_of(file: str | Path) -> Link:
    """Return the link to the case of a release file: its belief, first table and epsilon; InputError for others."""
    spec = load(file, UNOPENED)
    described = spec.belief.to_dict()
    if described["kind"] != "markov-chain" or len(described["matrix"]) not in (2, 3):
        raise _unfit("its belief is no single Markov chain of two or three states")
    sections = spec.sections(ReleaseSpec)
    if sections.hide.kind == "one-entry":
        raise _unfit('its secret is one step, not every step (kind = "every-entry" in [hide])')
    table = spec.items[0]
    query, order, differences = _published(table, described["states"])
    length = spec.source.length
    minutes = length / timedelta(minutes=1) if isinstance(length, timedelta) else None
    if minutes not in STEPS:
        differences.append("The page has steps of 1, 5, 15 and 60 minutes: it shows minutes.")
    minutes_of_run = 1
    if sections.run > 1:
        minutes_of_run = sections.run * int(minutes if minutes in STEPS and minutes else 1)
        if minutes_of_run not in RUNS:
            raise _unfit(f"its runs last {minutes_of_run} minutes there, and the page has 15 minutes and an hour")
    epsilon = float(epsilon_of(spec, table))
    of_page = min(max(epsilon, EPSILONS[0]), EPSILONS[1])
    if of_page != epsilon:
        differences.append(f"The page has an epsilon from {EPSILONS[0]} to {EPSILONS[1]:g}: it shows {of_page:g}.")
    if len(spec.items) > 1:
        differences.append(f"The page shows the first table, {table.name!r}.")
    differences.append("The page assumes 100 people and a day: choose both there.")
    fields = _chain(described, order) | {
        "step": STEPS.get(minutes, "1min"), "span": "1440", "people": "100", "hide": str(minutes_of_run), "q": query,
        "e": f"{of_page:.12g}", "prior": "50",
    }  # fmt: skip
    return Link(urlencode(fields, quote_via=quote), tuple(differences))


def _published(table: Table, states: list[str]) -> tuple[str, list[int], list[str]]:
    """Return the page's query, the order of states (the page counts the last one), and what it leaves out."""
    order, differences = list(range(len(states))), list[str]()
    by = table.by  # type: ignore[attr-defined]
    if table.query == "histogram":
        query = "histogram"
    elif table.query == "count" and len(table.states) == 1:  # type: ignore[attr-defined]
        query = "hour" if by == "hour" else "count"
        counted = states.index(table.states[0])  # type: ignore[attr-defined]
        order.sort(key=lambda state: state == counted)
    else:
        raise _unfit(f"{table.name!r} is no count of one state and no histogram")
    if by is not None and query != "hour":
        differences.append(f"The page shows one table, and {table.name!r} has one for each {by}.")
    return query, order, differences


def _chain(described: Json, order: list[int]) -> dict[str, str]:
    """Return the states, how long each lasts, and which comes next, in the words of the link."""
    matrix = described["matrix"]
    if min(map(min, matrix)) <= 0:
        raise _unfit("its chain has a transition of probability 0")
    stays, shares = [], []
    for state in order:
        name, others = str(described["states"][state]), [matrix[state][other] for other in order if other != state]
        stay = 1 / sum(others)
        if not STAYS[0] <= stay <= STAYS[1]:
            raise _unfit(f"a state lasts {stay:.4g} steps on average, and the page has {STAYS[0]} to {STAYS[1]:g}")
        if "~" in name or len(name) > LONGEST_NAME:
            raise _unfit(f"a state's name has a ~, or more than {LONGEST_NAME} characters")
        stays.append(f"{name}~{stay:.12g}")
        shares.append(f"{others[0] / sum(others):.12g}")
    fields = {"s": "~".join(stays)}
    if len(order) == 3:
        fields["n"] = "~".join(shares)
    return fields


def _unfit(why: str) -> InputError:
    return InputError(f"the explorer cannot show this file: {why}", fix=f"run {command('explore')} alone").at("file")
