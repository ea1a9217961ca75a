"""A chain in words: how long each state lasts at a time, and what follows it.

A state that is left with probability q at each step lasts 1/q steps on average. So a mean stay of L steps is
P(i, i) = 1 - 1/L, and the rest, 1/L, goes to the other states by their shares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from functools import partial

from takifugu.core.errors import InputError, within
from takifugu.core.nearest import FEW, did_you_mean, nearest
from takifugu.core.sections import Number
from takifugu.model.beliefs.states import State, as_law
from takifugu.numbers.rationals import as_fraction

#: Units of time by how they are written, in seconds; the first of each is how we write them.
UNITS = {
    ("second", "seconds", "s", "sec"): 1,
    ("minute", "minutes", "min"): 60,
    ("hour", "hours", "h"): 3600,
    ("day", "days", "d"): 86_400,
    ("week", "weeks", "w"): 604_800,
}
SECONDS: dict[str, int] = {}
for _names, _length in UNITS.items():
    SECONDS |= dict.fromkeys(_names, _length)

Step = int | timedelta | None
#: How long each state lasts: a time, or a number of steps.
Stay = Mapping[str, Number]
#: Which share of what follows a state each of the others has.
Shares = Mapping[str, Number | Fraction]
#: How often each state comes, or for each state the shares of those that follow it.
Following = Mapping[str, Number | dict[str, Number]]


def matrix_of(states: Sequence[State], stay: Stay, following: Following, step: Step) -> list[list[float]]:
    """Return the transition matrix for stays and successors, as rows."""
    for fault in faults(states, stay, following, step):
        raise fault
    place_of, rows = {value: place for place, value in enumerate(map(str, states))}, []
    shares = _following(following, place_of)
    for name, place in place_of.items():
        leaving = 1 / _steps(stay[name], name, step)
        row = [leaving * share for share in _shares(name, shares, place_of)]
        row[place] = 1 - leaving
        rows.append(list(map(float, row)))
    return rows


def faults_by(
    states: Sequence[State], stays: Mapping[str, Stay], following: Following, step: Step
) -> Iterator[InputError]:
    """Yield the faults of stays by hour or weekday, at their keys; those of successors once."""
    for number, (name, stay) in enumerate(stays.items()):
        for error in faults(states, stay, following, step):
            if error.where[:1] == ("mean_duration",):
                error.where = ("mean_durations", name, *error.where[1:])
                yield error
            elif number == 0:  # what follows states is the same everywhere
                yield error


def faults(states: Sequence[State], stay: Stay, following: Following, step: Step) -> Iterator[InputError]:
    """Yield the faults of stays and of successors, at their keys."""
    place_of = {value: place for place, value in enumerate(map(str, states))}
    yield from _strangers(stay, place_of, ("mean_duration",))
    wrong = [*_strangers(following, place_of, ("next_state",)), *_proportion_faults(following, place_of)]
    yield from wrong
    shares = {} if wrong else _following(following, place_of)
    if wrong or len(place_of) < 3:
        unsaid = []
    else:
        unsaid = [state for state in place_of if state not in shares]
    yield from _unsaid(place_of, [state for state in place_of if state not in stay], unsaid)
    for name in place_of:
        others = [other for other in place_of if other != name]
        strangers = list(_strangers(shares.get(name, {}), others, ("next_state", name)))
        yield from strangers
        checks: list[Callable[[], object]] = []
        if name in stay:
            checks.append(partial(_steps, stay[name], name, step))
        if not strangers and not wrong and name not in unsaid:
            checks.append(partial(_shares, name, shares, place_of))
        for check in checks:
            try:
                check()
            except InputError as fault:
                yield fault


def _unsaid(states: Collection[str], lasting: Sequence[str], followed: Sequence[str]) -> Iterator[InputError]:
    """Yield states without a duration, and without successors, in one fault each."""
    if lasting:
        verb = "lasts" if len(lasting) == 1 else "last"
        message = f"does not say how long {_together(lasting)} {verb}"
        yield InputError(message, fix="write a duration for each state").at("mean_duration")
    if followed:
        others = [state for state in states if state != followed[0]]
        name, second, third = map(_as_key, (followed[0], *others[:2]))
        yield InputError(
            f"does not say what follows {_together(followed)}",
            fix=f"write {name} = {{ {second} = 0.7, {third} = 0.3 }} under next_state, or for each state how often "
            "it comes when another ends",
        ).at("next_state")


def _together(names: Sequence[str]) -> str:
    """Return names in a sentence, of many the first ones."""
    quoted = list(map(repr, names))
    *first, last = quoted if len(names) <= FEW else [*quoted[:3], f"{len(names) - 3} more"]
    return f"{', '.join(first)} and {last}" if first else last


def _as_key(name: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_-]+", name):
        return name
    return json.dumps(name, ensure_ascii=False)


def _strangers(names: Iterable[str], states: Collection[str], key: tuple[str, ...]) -> Iterator[InputError]:
    for name in names:
        if name not in states:
            message = f"{name!r} is no state that there can be{did_you_mean(name, list(states))}"
            yield InputError(message, fix=f"write {nearest(name, states)}").at(*key, name)


def _steps(stay: Number, name: str, step: Step) -> Fraction:
    """Return how many steps a stay is, at least 1."""
    key = ("mean_duration", name)
    match = None
    if isinstance(stay, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\s*", stay)
    if isinstance(stay, str) and (match is None or match[2] not in ("", *SECONDS)):
        raise InputError(f"{stay!r} is no duration", fix='write for example "100 min" or "1.5 h"').at(*key)
    with within("mean_duration"):
        number = as_fraction(stay if match is None else match[1], "the duration", name)
    if match is not None and match[2]:
        if not isinstance(step, timedelta):
            raise InputError(
                f"{stay!r} is a time, and nothing says how long a step is",
                fix='write step = "1min" (or what it is) under [source], or a number of steps here',
            ).at(*key)
        number = number * SECONDS[match[2]] / Fraction(step // timedelta(microseconds=1), 10**6)
    if number < 1:
        raise InputError(
            f"{stay!r} is shorter than one step", rule="a state lasts one step at least", fix="write a longer stay"
        ).at(*key)
    return number


def _proportion_faults(declared: Following, place_of: Mapping[str, int]) -> Iterator[InputError]:
    """Yield the faults of `next_state` as one share for each state."""
    numbers = _numbers(declared)
    if not numbers:
        return
    if len(numbers) < len(declared):
        yield InputError(
            "says how often some states come, and what follows others",
            fix="write a number for each state, or for each state what follows it",
        ).at("next_state")
        return
    weights: dict[str, Fraction] = {}
    for name, proportion in numbers.items():
        try:
            with within("next_state"):
                weights[name] = as_fraction(proportion, "the proportion", name)
        except InputError as error:
            yield error
    if len(weights) < len(numbers):
        return
    missing = [state for state in place_of if state not in weights]
    if missing:
        problem = f"does not say how often {missing[0]!r} comes"
        yield InputError(problem, fix="write a number for each state").at("next_state")
    elif min(weights.values()) < 0 or sum(weights.values()) in weights.values():
        yield InputError(
            "leaves a state that nothing follows", rule="proportions are at least 0, and two of them are above 0"
        ).at("next_state")


def _numbers(declared: Following) -> dict[str, Number]:
    return {name: number for name, number in declared.items() if not isinstance(number, dict)}


def _following(declared: Following, place_of: Mapping[str, int]) -> Mapping[str, Shares]:
    """Return each state's share among the successors of each: declared, or in proportion whatever was before."""
    shares = {name: value for name, value in declared.items() if isinstance(value, dict)}
    if shares or not declared:
        return shares
    weights = {name: as_fraction(value, "the proportion", name) for name, value in _numbers(declared).items()}
    rest_of = {name: sum(weights.values()) - weight for name, weight in weights.items()}
    following = {}
    for name in place_of:
        following[name] = {other: weight / rest_of[name] for other, weight in weights.items() if other != name}
    return following


def _shares(name: str, following: Mapping[str, Shares], place_of: Mapping[str, int]) -> Iterator[Fraction]:
    """Yield the share of each state among the successors of one."""
    key, declared_shares = ("next_state", name), following.get(name)
    if declared_shares is None:  # of two states, where the other one follows
        declared_shares = {next(other for other in place_of if other != name): 1}
    with within(*key):
        shares = {other: as_fraction(share, "the share", other) for other, share in declared_shares.items()}
    law = as_law(shares, f"what follows {name!r}", *key)
    return (law.get(other, Fraction(0)) for other in place_of)
