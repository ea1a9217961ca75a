"""A belief about the population: random parameters, and columns of records that each follow their own parameter.

The parameters have a finite joint distribution, a table or a Bayesian network. Given all of them the columns are
independent, and column j is n independent draws from the distribution that its parameter names (Zhang22 Section 5). So
entries are parameters, not data. Columns that depend on each other within a record are not covered: use `Records`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from takifugu.core.assumptions import Assumption, world
from takifugu.core.columns import value_of
from takifugu.core.entries import Undivided, listed
from takifugu.core.errors import InputError
from takifugu.core.plain import VALUES, ByValue, Json, Plain, PlainForm, form, set_fields, to_plain
from takifugu.core.registry import place_of
from takifugu.core.rules import check_known, check_written_apart, wrong_type
from takifugu.model.beliefs import from_dict, to_dict
from takifugu.model.beliefs.networks.network import BayesianNetwork
from takifugu.model.beliefs.networks.nodes import nodes_of_table
from takifugu.model.beliefs.states import State, as_law, checked_alphabet, first_few, in_order
from takifugu.model.beliefs.table import JointTable
from takifugu.model.queries import Query
from takifugu.model.queries.resolving.columns import ColumnAnswer, Record, over_columns
from takifugu.model.queries.tables.statistic import DeclaredAnswer, Statistic
from takifugu.model.secrets import Secret
from takifugu.model.secrets.properties import DatasetProperty
from takifugu.numbers.distributions.pmf import Pmf
from takifugu.numbers.rationals import Number, as_fraction, as_whole


@dataclass(frozen=True, eq=False)
class Column(PlainForm):
    """The states of a column and, for each value of its parameter, the probability of each state."""

    name: str
    entry: int = field(metadata=form(is_private=True))
    states: tuple[State, ...] = field(metadata=VALUES)
    laws: tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True, eq=False)
class Parameters(Undivided, ByValue):
    """Model records whose columns follow parameters that are random themselves (Zhang22 Section 5).

    Probabilities are read as the decimals that were typed, and kept exact.

    Args:
        prior: Joint distribution of the parameters, whose entries are named as the columns. A parameter without a
            column is one that nobody observes.
        columns: For each column the distribution of one value, for each value of its parameter.
        records: Number of records; it is public.
        source: Where the numbers come from, in words; None for the prior's source.

    Raises:
        InputError: For a column without a parameter, a parameter's value without a distribution, probabilities that do
            not sum to 1, fewer than one record, and columns that depend on each other.

    Examples:
        >>> prior = JointTable([("low", "short"), ("high", "tall")], [0.5, 0.5], names=["income", "height"])
        >>> chances = {"short": {1: "0.2", 0: "0.8"}, "tall": {1: "0.6", 0: "0.4"}}
        >>> belief = Parameters(prior, {"height": chances}, records=500)
        >>> belief.names, belief.columns, belief.alphabet(0)
        (('income', 'height'), ('height',), ('high', 'low'))
    """

    prior: JointTable | BayesianNetwork
    described: tuple[Column, ...]
    records: int
    source: str = "assumed"
    listed: tuple[Hashable, ...] = field(default=(), repr=False)

    answers: ClassVar = {
        "the distribution of the answer": "analysis.answer_laws.parameters:of_columns",
        "how data are read": "analysis.questions.evaluating:of_columns",
        "the mean of an answer": "analysis.expectations.columns:OfParameters",
        "what is known of quilts": "influence.quilts.network.columns:PARAMETERS",
        "the list of joint states": "audit.states:ParameterStates",
        "the moments of a count": "analysis.expectations.moments_of_rows:of_parameters",
        "the view of a secret": "model.beliefs.records.parameters:no_view",
    }

    def __init__(
        self,
        prior: JointTable | BayesianNetwork,
        columns: Mapping[str, Mapping[Any, Mapping[Any, Number] | Pmf]],
        records: int,
        source: str | None = None,
    ) -> None:
        fix = "give a JointTable or a BayesianNetwork"
        if not isinstance(prior, JointTable | BayesianNetwork) or not place_of(type(prior)):  # as for records
            raise wrong_type(prior, "a finite prior", fix).at("prior")
        if not isinstance(columns, Mapping) or not columns:
            fix = "write {name: {value of the parameter: {state: probability}}}"
            raise InputError("the records have no columns", fix=fix).at("columns")
        check_written_apart(columns, "there are the columns", "columns")
        count = as_whole(value_of(records), "the number of records", "records", least=1)
        set_fields(
            self, prior=prior, records=count,
            described=tuple(_column(prior, name, laws) for name, laws in columns.items()),
            source=prior.source if source is None else source, listed=tuple(listed(prior) or ()),
        )  # fmt: skip

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of the records' values."""
        return tuple(column.name for column in self.described)

    @property
    def entry_of(self) -> tuple[int, ...]:
        """The parameter of each column."""
        return tuple(column.entry for column in self.described)

    @cached_property
    def record(self) -> Record:
        """One record, as queries read it."""
        return Record(self.columns, tuple(column.states for column in self.described))

    @property
    def size(self) -> int:
        return self.prior.size

    @property
    def names(self) -> tuple[Hashable, ...]:
        return self.prior.names

    @property
    def one_alphabet(self) -> bool:
        return self.prior.one_alphabet

    @property
    def table(self) -> JointTable | None:
        """Return the prior if it is a table, else None."""
        return self.prior if isinstance(self.prior, JointTable) else None

    def alphabet(self, entry: int) -> tuple[State, ...]:
        return self.prior.alphabet(entry)

    def position(self, name: Hashable) -> int:
        return self.prior.position(name)

    def possible(self, entry: int) -> tuple[bool, ...]:
        return self.prior.possible(entry)

    def resolve(self, query: Query) -> ColumnAnswer | DeclaredAnswer:
        """Return the answer of a query about the columns.

        Args:
            query: The query.

        Returns:
            The answer, without data.

        Raises:
            InputError: For a query that does not fit the columns.
        """
        if isinstance(query, Statistic):
            for name in query.columns:
                self.record.position(name)
            return DeclaredAnswer(query, self.columns, self.record.alphabets, self.records, self.entry_of, self.size)
        return over_columns(query, self.record, self.records, self.entry_of, self.size)

    @cached_property
    def network(self) -> BayesianNetwork:
        """Return the parameters as a Bayesian network, converting a table.

        In a network of a table each parameter depends on all before. Raises Unsupported for a table with too many
        combinations of values, or with tiny probabilities.
        """
        if isinstance(self.prior, BayesianNetwork):
            return self.prior
        return BayesianNetwork(nodes_of_table(self.prior), self.prior.source)

    @property
    def network_error(self) -> float:
        """Bound the relative error of converting a table to a network."""
        if isinstance(self.prior, BayesianNetwork):
            return 0.0
        return sum(2.0**-52 * (len(self.alphabet(entry)) + 4) for entry in range(self.size))

    def assumptions(self) -> tuple[Assumption, ...]:
        return (
            world("The parameters of the population follow the stated joint distribution."),
            world(
                f"Given the parameters, the {self.records} records are independent of each other, and so are the "
                "columns of a record. Each column follows its own parameter."
            ),
        )

    def to_dict(self) -> Json:
        return {
            "kind": "parameters", "prior": to_dict(self.prior), "records": self.records, "source": self.source,
            "columns": to_plain(self.described),
        }  # fmt: skip

    @staticmethod
    def from_dict(data: Plain) -> Parameters:
        prior = from_dict(data["prior"])
        if not isinstance(prior, JointTable | BayesianNetwork):
            raise wrong_type(prior, "a finite prior", "give a JointTable or a BayesianNetwork").at("prior")
        columns = columns_from(data["columns"], prior)
        return Parameters(prior, columns, data["records"], data.get("source", "assumed"))

    def describe(self) -> str:
        words = f"{self.records} records with the columns {first_few(self.columns)}, whose parameters follow "
        words += self.prior.describe()
        if self.source == self.prior.source:
            return words
        return f"{words} ({self.source})"


def no_view(belief: object, secret: Secret) -> None:
    """Return None, as parameters are entries, read as they are; refuse a property of the records at hand."""
    if isinstance(secret, DatasetProperty):
        raise InputError(
            f"the secret is {secret.describe()}, and this belief is about parameters of the population",
            rule="a property of the records at hand requires Records(table, n) or MultivariateNormal(...)",
            fix="hide the parameter: distribution_parameter(column)",
        ).at("secrets")


def columns_from(described: Iterable[Plain], prior: JointTable | BayesianNetwork) -> dict[str, dict[State, Any]]:
    """Return the columns of `Parameters` from their plain data."""
    columns = {}
    for description in described:
        values = prior.alphabet(prior.position(description["name"]))
        laws = [dict(zip(description["states"], map(Fraction, law), strict=True)) for law in description["laws"]]
        columns[description["name"]] = dict(zip(values, laws, strict=True))
    return columns


def _column(prior: JointTable | BayesianNetwork, name: object, laws: object) -> Column:
    """Read a column's distributions, one for each value of its parameter."""
    place = ("columns", str(name))
    check_known([name], prior.names, "each column follows the parameter of its name, and there is none", *place)
    entry = prior.position(name)
    if isinstance(laws, JointTable | BayesianNetwork) or not isinstance(laws, Mapping):
        raise InputError(
            f"the column {name!r} follows a {type(laws).__name__}",
            rule="a column depends on its own parameter only: given all parameters, columns are independent",
            fix="write {value of the parameter: {state: probability}}; columns that depend on each other within a "
            "record are what Records(table, n) is for",
        ).at(*place)
    values = prior.alphabet(entry)
    unknown = [law for law in laws if law not in values]
    if unknown:
        raise InputError(
            f"the column {name!r} has a distribution given {unknown[0]!r}",
            rule="a column depends on the value of its own parameter only, not on other columns",
            fix=f"give one for each of {list(map(str, values))}",
        ).at(*place)
    missing = [value for value in values if value not in laws]
    if missing:
        raise InputError(
            f"the column {name!r} has no distribution for the value {missing[0]!r} of its parameter", fix="add it"
        ).at(*place)
    law_of = {value: _read(name, laws[value]) for value in values}
    states = checked_alphabet(in_order(set().union(*law_of.values())), f"the column {name!r}", "columns")
    title, laws_read = f"a distribution of the column {name!r}", list[tuple[Fraction, ...]]()
    for value in values:
        masses = as_law(law_of[value], title, *place)
        laws_read.append(tuple(masses.get(state, Fraction(0)) for state in states))
    return Column(str(name), entry, states, tuple(laws_read))


def _read(name: object, law: object) -> dict[State, Fraction]:
    if isinstance(law, Pmf):
        return {state: as_fraction(mass, "a probability") for state, mass in law.items()}
    if not isinstance(law, Mapping) or not law:
        raise InputError(
            f"a distribution of the column {name!r} is a {type(law).__name__}",
            rule="one draw of it is a Pmf, or {state: probability}",
        ).at("columns", str(name))
    if any(isinstance(mass, Mapping | Pmf) for mass in law.values()):
        raise InputError(
            f"the column {name!r} has distributions inside distributions",
            rule="a column depends on its own parameter only: given all parameters, columns are independent",
            fix="columns that depend on each other within a record are what Records(table, n) is for",
        ).at("columns", str(name))
    return {state: as_fraction(mass, "a probability", "columns", str(name)) for state, mass in law.items()}
