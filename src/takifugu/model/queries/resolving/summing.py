"""What a query is resolved from and to: entries with values, and a sum.

Noise is made for what an answer's tables say, under each belief of a framework and those that a ledger registers later.
So a query is shown the entries and their values, never how likely these are. And its answer is of our own types, since
a type that derives from them may compute something else from the data than its tables say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn, TypeGuard

from takifugu.core.cache import cached, memoised
from takifugu.core.entries import Entries
from takifugu.core.errors import InputError
from takifugu.core.plain import made_of, writes_all
from takifugu.core.plugins import package_of
from takifugu.model.queries.answer import Additive
from takifugu.model.queries.choices.candidates import Candidates
from takifugu.model.queries.coding import spelled
from takifugu.model.queries.forms import Query, QueryReader
from takifugu.model.queries.registry import check_is_query, from_dict
from takifugu.model.queries.tables.each_value import RowCodes
from takifugu.numbers.runs import Runs, different, in_one_turn

#: What a query reads of the entries of data: `core.entries`, and how users are absent, places lie and rows are alike.
_READ = (
    "size", "names", "listed", "one_alphabet", "alphabet", "position", "entry_word", "letters", "letters_of", "columns",
    "resolve", "places", "populations", "nearest",
)  # fmt: skip


class _Unread(AttributeError):
    """What no query reads."""


class _Read(SimpleNamespace):
    """The entries of data, and nothing else of a belief."""

    def __getattr__(self, name: str) -> NoReturn:
        raise _Unread(name=name)


def resolved(query: Query, entries: Entries) -> Additive:
    """Return the query's answer, made once for each belief."""
    return cached(entries, (resolved, key_of(query)), lambda: _resolve(query, entries))


def key_of(query: Query) -> Hashable:
    """Return a key of a query, equal for queries of equal text."""
    return type(query), _written(query)


@memoised
def _written(query: Query) -> Hashable:
    """Return a query as text, or a key where text loses something."""
    try:
        text = json.dumps(query.to_dict(), sort_keys=True)
        if is_all_written(query):
            return text
        again = from_dict(json.loads(text))
        if again == query and _held(again) == _held(query):  # also with what its type leaves out of equality
            return text
        return object()
    except Exception:  # of somebody else's type: what is not read back is no key
        return object()


def _held(query: Query) -> list[dict[str, object]]:
    """Return what a query and those that it is made of have, but for what is kept on them."""
    return [{name: value for name, value in vars(part).items() if name != "_cached"} for part in made_of(query, Query)]


def is_chosen_from(answer: object) -> TypeGuard[Candidates]:
    """Return whether an answer's counts choose among candidates to publish."""
    return isinstance(answer, Additive) and answer.is_chosen_from


def _resolve(query: Query, entries: Entries) -> Additive:
    check_is_query(query)
    if isinstance(entries, QueryReader):
        resolved: Additive = entries.resolve(query)
        if query.is_choice and not is_chosen_from(resolved):
            raise InputError(
                f"{query.describe()} cannot be chosen by columns of records",
                fix="publish a histogram or a cross table, and read it off there",
            ).at("query")
        if isinstance(resolved, Additive):
            check_sum(resolved, query, entries)
        return resolved
    return summed(query, entries)


def summed(query: Query, entries: Entries) -> Additive:
    """Resolve a query from entries and their values alone, to a sum over them."""
    answer = answer_of_entries(query.resolve, entries)
    check_sum(answer, query, entries)
    if not is_all_written(query):
        again = answer_of_entries(query.resolve, entries)
        check_sum(again, query, entries)
        if (again.grid, again.labels, again.key) != (answer.grid, answer.labels, answer.key):
            raise InputError(
                f"{type(query).__name__}.resolve returned two different answers",
                rule="noise is made for one of them, so it must be the same at each question",
            ).at("query")
    return answer


def is_all_written(query: Query) -> bool:
    """Return whether equal texts mean equal queries: known of ours, as others may have more than their fields."""
    return all(not package_of(part) and writes_all(type(part)) for part in made_of(query, Query))


def answer_of_entries(resolve: Callable[[Any], Additive], entries: Entries) -> Additive:
    """Return a query's answer to the entries; refuse a query that reads anything else of a belief."""
    read = dict[str, Any]()
    for name in filter(partial(hasattr, entries), _READ):
        read[name] = getattr(entries, name)
    try:
        return resolve(_Read(**read))
    except _Unread as unread:
        raise InputError(
            f"{resolve.__qualname__} reads {unread.name!r} of a belief",
            rule="its answer must be the same under every belief",
            fix="read nothing but the entries: their size, names, alphabet(entry) and position(name)",
        ).at("query") from None  # fmt: skip


def check_sum(answer: Any, query: Query, entries: Entries) -> None:
    """Raise InputError unless an answer is a sum over some entries."""
    if type(answer) not in (Additive, Candidates, RowCodes) or answer.size != entries.size:
        raise InputError(
            f"{type(query).__name__}.resolve returned {answer!r}",
            rule="a query is resolved to an Additive with one weight per entry",
        )
    if isinstance(answer, RowCodes):
        return
    if len({*map(str, answer.labels)}) < len(answer.labels) or not all(isinstance(x, str) for x in answer.labels):
        raise InputError(
            f"{type(query).__name__} labels its cells {answer.labels!r}", rule="labels are different texts"
        ).at("labels")
    spellings, kind_of = spelled(entries)
    weights, tables = answer.in_runs
    alike = Runs.alike(0, answer.size)
    rows = (weights, alike if tables is None else tables, alike if kind_of is None else Runs.of(kind_of))
    kinds, _ = different(*in_one_turn(*rows)[0])
    for weight, table, kind in kinds.T.tolist():
        values, absence = spellings[kind]
        height, expected = len(answer.tables[table]), len(values) + bool(absence)
        if weight and height != expected:
            raise InputError(
                f"a table of {type(query).__name__} has {height} rows, for entries of {expected} values",
                rule="a table has a row for each value of an entry, in their order",
            ).at("tables")
