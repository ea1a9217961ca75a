"""States and entries that a query names: how people write them, and how they are written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from takifugu.core.arrays import Fixed
from takifugu.core.columns import value_of
from takifugu.core.errors import InputError
from takifugu.core.rules import check_any, unwritable
from takifugu.model.queries.answer import Chosen, State
from takifugu.numbers.rationals import Number, as_fraction, is_whole, to_text

#: More entries are counted, not named.
MOST_NAMED = 3


def named_state(state: object) -> State:
    """Return a state in a query as a plain value.

    Raises InputError for a value such as a list, which cannot name one.
    """
    value = value_of(state)
    try:
        hash(value)
    except TypeError:
        raise unwritable("the query names the state", value).at("states") from None
    return value


def several(states: Iterable[object]) -> tuple[State, ...]:
    """Return states as a tuple without repeats, a set in sorted order."""
    in_order = sorted(states, key=str) if isinstance(states, set | frozenset) else states
    return tuple(dict.fromkeys(map(named_state, in_order)))


def state_or_states(states: object) -> tuple[State, ...]:
    """Return one state, or several, as a tuple without repeats."""
    return several(states if isinstance(states, list | tuple | set | frozenset) else [states])


def entry_tuple(entries: Iterable[int | str] | None) -> Chosen | None:
    """Return chosen entries, numbers before names, each in order and once.

    Raises InputError for none, and for anything but whole numbers from 0 and names.
    """
    if entries is None:
        return None
    try:
        chosen_entries = [entries] if isinstance(entries, str) else list(map(value_of, entries))
    except TypeError as error:
        raise InputError(
            f"entries is {entries!r}", rule="it must be a list of entry numbers, such as [0, 3]"
        ).at("entries") from error
    for i in chosen_entries:
        if not isinstance(i, str) and not is_whole(i):
            raise InputError(
                f"entries holds {i!r}", rule="entries are whole numbers, counted from 0, or names"
            ).at("entries")
    check_any(chosen_entries, "the query reads no entry", "entries")
    return tuple(sorted(set(chosen_entries), key=lambda entry: (isinstance(entry, str), entry)))


def runs(entries: Chosen) -> list[list[int] | str]:
    """Write sorted entries as short runs [first, last], and names.

    >>> runs((0, 1, 2, 7, "hiv")), unruns([[0, 2], [7, 7], "hiv"])
    ([[0, 2], [7, 7], 'hiv'], (0, 1, 2, 7, 'hiv'))
    """
    ranges: list[list[int]] = []
    for entry in entries:
        if isinstance(entry, str):
            continue
        if ranges and ranges[-1][1] == entry - 1:
            ranges[-1][1] = entry
        else:
            ranges.append([entry, entry])
    return [*ranges, *(entry for entry in entries if isinstance(entry, str))]


def unruns(ranges: Sequence[Sequence[int] | str]) -> Chosen:
    entries: list[int | str] = []
    for run in ranges:
        entries += [run] if isinstance(run, str) else range(run[0], run[1] + 1)
    return tuple(entries)


def copied_codes(codes: Mapping[State, Number] | None) -> Fixed[State, Number] | None:
    """Return a copy of the codes, which nobody changes.

    Raises InputError for no mapping.
    """
    if codes is not None and not isinstance(codes, Mapping):
        raise InputError(
            f"codes is {codes!r}", rule="it gives a number for each state", fix="write for example {'still': 0}"
        ).at("codes")
    return None if codes is None else Fixed(codes)


def codes_to(codes: Mapping[State, Number]) -> list[list[State]]:
    return [[value_of(s), to_text(as_fraction(c, f"the code of {s!r}", "codes"))] for s, c in codes.items()]


def codes_from(pairs: Iterable[tuple[State, str]]) -> dict[State, Number]:
    return {s: Fraction(c) for s, c in pairs}


def where(entries: Chosen | None) -> str:
    """Return the entries of a query in words."""
    if entries is None:
        return ""
    if len(entries) <= MOST_NAMED and all(isinstance(entry, str) for entry in entries):
        return f", of {' and '.join(map(repr, entries))}" + (" alone" if len(entries) == 1 else "")
    if len(entries) > 1:
        return f", in {len(entries):,} of the rows"
    return f", in place {entries[0]} alone"
