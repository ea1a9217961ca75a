"""The sections of a release file of records as beliefs, secrets and queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from takifugu.beliefs.contacts import CliqueInfection
from takifugu.beliefs.estimate import checked_source
from takifugu.beliefs.network import BayesianNetwork
from takifugu.beliefs.network_files import read_network
from takifugu.beliefs.table import JointTable
from takifugu.beliefs.users import IndependentUsers
from takifugu.entries import positions
from takifugu.errors import InputError, did_you_mean
from takifugu.frames import open_frame, totals
from takifugu.frameworks import Framework, Pufferfish
from takifugu.laws.rationals import Number, as_fraction
from takifugu.names import normalised
from takifugu.queries import Count, Histogram, Identity, Mean, Query, State, Sum
from takifugu.secrets import Secret, attribute, every_entry, presence
from takifugu.spec.records.contacts import contacts_of
from takifugu.spec.records.sections import (
    ContactsSpec,
    NetworkSpec,
    RecordHideSpec,
    RecordItemSpec,
    TableFitSpec,
    TableSpec,
    UsersSpec,
)

RecordBelief = BayesianNetwork | JointTable | IndependentUsers | CliqueInfection
RecordBeliefSpec = NetworkSpec | TableSpec | UsersSpec | ContactsSpec


def belief_of(spec: RecordBeliefSpec, missing: Sequence[str], folder: Path) -> RecordBelief:
    """Return the belief about one record, or about all users or people; reads the public file that it names.

    Raises InputError for what is not a belief, and DataError for a public file that cannot be read.
    """
    if isinstance(spec, NetworkSpec):
        return read_network(folder / spec.file, spec.source)
    if isinstance(spec, UsersSpec):
        return _users(spec)
    if isinstance(spec, ContactsSpec):
        return contacts_of(spec, folder)
    if spec.fit is not None:
        return counted(spec.fit, spec.source, missing, folder)
    rows = spec.rows or ()
    if spec.counts is not None:
        return JointTable.from_counts(rows, spec.counts, spec.columns, source=spec.source)
    return JointTable(rows, _masses(spec.probabilities or ()), spec.columns, spec.source)


def counted(fit: TableFitSpec, source: str, missing: Sequence[str], folder: Path) -> JointTable:
    """Return the empirical distribution of some columns of a file of records, with exact masses count / total."""
    groups = totals(open_frame(folder / fit.file, missing), [], by=fit.columns)
    origin = checked_source(f"{source}; counted in {fit.file}", fit.private)
    rows, counts = [group.key for group in groups], [group.rows for group in groups]
    return JointTable.from_counts(rows, counts, fit.columns, source=origin)


def _users(spec: UsersSpec) -> IndependentUsers:
    if spec.groups is not None:
        groups = [(g.size, _law(g.values, g.probabilities), _mass(g.presence)) for g in spec.groups]
    else:
        law = _law(spec.values or (), spec.probabilities or ())
        groups = [(spec.size or 0, law, _mass(spec.presence))]
    return IndependentUsers.groups(groups, spec.absence, spec.source)


def _law(values: Sequence[State], probabilities: Sequence[Number]) -> dict[State, Any]:
    if len(values) != len(probabilities) or len(set(values)) != len(values):
        raise InputError(
            f"there are {len(values)} values and {len(probabilities)} probabilities",
            fix="give each value once, with one probability",
        )
    return dict(zip(values, _masses(probabilities), strict=True))


def _masses(given: Iterable[Number]) -> list[Any]:
    return [_mass(p) for p in given]


def _mass(given: Number) -> Number:
    """Return a probability as it was written: floats stay floats, fractions written as text are exact."""
    return as_fraction(given, "a probability") if isinstance(given, str) else given


def spelled(values: Iterable[State]) -> dict[str, State]:
    """Return values by their text, as a file of records has them.

    Raises InputError for two values that are written alike.
    """
    listed = list(values)
    found = {str(value): value for value in listed}
    if len(found) != len(listed):
        raise InputError(
            f"two values are written alike in {[str(v) for v in listed]}", fix="name each value differently"
        )
    return found


def framework_of(hide: RecordHideSpec, belief: RecordBelief) -> Framework:
    """Return the framework of a release file of records; InputError for a secret that the belief does not know."""
    if isinstance(belief, IndependentUsers):
        secrets: list[Secret] = [presence()] if hide.presence else []
        return Pufferfish([*secrets, *([every_entry()] if hide.kind or not secrets else [])], belief)
    name = hide.variable or hide.attribute or (normalised(hide.person) if hide.person else None)
    if name is None:
        return Pufferfish(every_entry(), belief)
    values = spelled(belief.alphabet(belief.position(name)))
    if hide.a is None or hide.b is None:
        return Pufferfish(every_entry(name), belief)
    return Pufferfish(attribute(name, _known(hide.a, values), _known(hide.b, values)), belief)


def _known(given: Any, values: dict[str, State]) -> Any:
    if str(given) not in values:
        raise InputError(
            f"{given!r} is a value that the belief does not know{did_you_mean(given, values)}",
            fix=f"write one of {list(values)}",
        )
    return values[str(given)]


def record_query(item: RecordItemSpec, belief: RecordBelief) -> Query:
    """Return the query of one release; names of states become the belief's own.

    Raises InputError for columns and values that the belief does not know.
    """
    entries = None if item.variables is None else tuple(item.variables)
    read = range(belief.size) if entries is None else positions(belief, entries)
    if item.attribute is not None:
        read = (belief.position(item.attribute),)
    named = {str(s): s for alphabet in _alphabets(belief, read) for s in alphabet}
    codes = None if item.codes is None else {_known(s, named): as_fraction(c, "a code") for s, c in item.codes.items()}
    states = None if item.states is None else tuple(_known(s, named) for s in item.states)
    if item.query == "identity":
        return Identity(item.attribute, item.grid, codes)
    if item.query == "histogram":
        return Histogram(states, item.total, entries)
    if item.query == "count":
        return Count(states or (), entries)
    kind = Sum if item.query == "sum" else Mean
    return kind(item.attribute, codes, entries, item.grid)


def _alphabets(belief: RecordBelief, entries: Iterable[int]) -> list[tuple[State, ...]]:
    if isinstance(belief, IndependentUsers):
        return [letters.values for letters in belief.letters]
    return [belief.alphabet(entry) for entry in entries]
